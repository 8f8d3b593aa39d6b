//! Does it wait for a person? What any program does when it asks, before anything is known of this one.

use super::menu::menu;
use super::prompts::prompt;
use super::screen::Cursor;

/// The screen as it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) rows: &'a [String],
    pub(super) cursor: Cursor,
    /// A full-screen program has the screen for itself.
    pub(super) alternate: bool,
}

impl<'a> View<'a> {
    /// The last `count` rows that are not blank, the lowest first.
    pub(super) fn bottom(self, count: usize) -> impl Iterator<Item = &'a str> {
        self.rows.iter().rev().map(|row| row.trim()).filter(|row| !row.is_empty()).take(count)
    }

    /// The cursor's row up to the cursor.
    pub(super) fn before_cursor(self) -> &'a str {
        let Some(row) = self.rows.get(self.cursor.row) else { return "" };
        // Wide characters make this a column too far at worst, which trimming forgives.
        let end = row.char_indices().nth(self.cursor.col).map_or(row.len(), |(index, _)| index);
        row[..end].trim()
    }
}

/// How the command waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wait {
    /// It asks: a question at the cursor, a pager.
    Question(String),
    /// It offers a choice, the row of which, from 0, is the second part: whatever moves above it is no work.
    Menu(String, usize),
    /// It offers a choice, or lists what is done and to be done: what moves above it may be work.
    List(String),
    /// It sits at a prompt.
    Prompt(String),
    /// It has sent a person elsewhere, as to a browser, and hears of it from there.
    Elsewhere(String),
    /// A full-screen program with nothing under way.
    FullScreen,
}

/// What the screen alone says.
pub(super) fn wait(view: View<'_>) -> Option<Wait> {
    question(view)
        .or_else(|| prompt(view).map(Wait::Prompt))
        .or_else(|| elsewhere(view).map(Wait::Elsewhere))
        .or_else(|| (view.alternate && view.rows.iter().any(|row| !row.is_empty())).then_some(Wait::FullScreen))
}

/// What a command says last that lets a person sign in or agree with a browser: `open https://… and enter the code …`. A
/// server that says where on this machine it can be seen waits for nobody.
fn elsewhere(view: View<'_>) -> Option<String> {
    /// The address of a page to sign in at may be as long as this, with what is said around it.
    const ROWS: usize = 10;
    const SAYS: [&str; 17] = [
        "enter the code",
        "enter this code",
        "enter code",
        "one-time code",
        "device code",
        "verification code",
        "confirmation code",
        "to sign in",
        "to log in",
        "to authenticate",
        "to authorize",
        "in your browser",
        "in the browser",
        "in a browser",
        "in a web browser",
        "your default browser",
        "a web browser to open",
    ];
    const HERE: [&str; 5] = ["localhost", "127.", "0.0.0.0", "[::", "192.168."];
    let leads_away = |row: &str| {
        let hosts = row.match_indices("://").map(|(at, sign)| &row[at + sign.len()..]);
        let host =
            |host: &str| host.starts_with(char::is_alphanumeric) && !HERE.iter().any(|own| host.starts_with(own));
        hosts.into_iter().any(host)
    };
    let says = |row: &str| {
        let lower = row.to_lowercase();
        SAYS.iter().any(|words| lower.contains(words))
    };
    view.bottom(ROWS).find(|row| says(row)).filter(|_| view.bottom(ROWS).any(leads_away)).map(str::to_owned)
}

fn question(view: View<'_>) -> Option<Wait> {
    if let Some(menu) = menu(view) {
        return Some(menu);
    }
    let head = view.before_cursor();
    let row = view.rows.get(view.cursor.row).map_or("", |row| row.trim());
    // Text right of the cursor means that the cursor rests on something, unless that is a suggested answer.
    if !head.is_empty()
        && (row.len() == head.len() || row[head.len()..].trim_start().starts_with(['(', '[', '…']))
        && (is_pager(head) || asks(head))
    {
        return Some(Wait::Question(head.to_owned()));
    }
    if head.is_empty() || is_pager(row) {
        let last =
            view.rows[..view.rows.len().min(view.cursor.row + 1)].iter().rev().find(|row| !row.is_empty())?.trim();
        if is_pager(last) && view.cursor.row + 1 >= view.rows.len() || is_request(last) {
            return Some(Wait::Question(last.to_owned()));
        }
    }
    None
}

/// `line` with the signs of other scripts as those of ours they stand for: the wide ones of Chinese and Japanese, the question
/// marks of Arabic and Greek.
fn narrow(line: &str) -> String {
    let sign = |c: char| match c {
        '？' | '؟' | '\u{37e}' => '?',
        '：' => ':',
        '（' => '(',
        '）' => ')',
        other => other,
    };
    line.chars().map(sign).collect()
}

/// A line that ends as a question does.
fn asks(line: &str) -> bool {
    let lower = narrow(line).to_lowercase();
    let bare = without_default(&lower);
    wants_key(&lower)
        || letters_to_choose(&lower) > 1
        || ["y/n", "yes/no", "(y)es", "[yes]", "[no]", "y/n/", "yes / no"]
            .iter()
            .any(|choice| last_part(&lower).contains(choice))
        || bare.ends_with('?')
        || bare.ends_with(':') && bare.chars().any(char::is_alphabetic) && !reports(bare)
        || lower.starts_with("? ")
}

/// `Downloading the model weights:` says what is being done, and `please wait` that nobody is asked. What is asked for in
/// such a way, as in `billing address:`, has fewer words.
fn reports(lower: &str) -> bool {
    let said = lower.strip_prefix("remote: ").unwrap_or(lower);
    let mut words = said.split_whitespace();
    let does = words.next().is_some_and(|first| first.len() > 5 && first.ends_with("ing") && first != "existing");
    lower.contains("please wait") || does && (words.count() > 1 || said.len() < lower.len())
}

/// How many choices the line names by their letters: `(e)dit, (a)bort`.
fn letters_to_choose(lower: &str) -> usize {
    let chars: Vec<char> = lower.chars().collect();
    let is_one = |part: &&[char]| {
        matches!((part[0], part[2]), ('(', ')') | ('[', ']')) && part[1].is_alphabetic() && part[3].is_alphabetic()
    };
    chars.windows(4).filter(is_one).count()
}

/// The same words in other languages: German, Chinese, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian,
/// Japanese, Korean.
const KEYS_ELSEWHERE: [&str; 39] = [
    "beliebige taste",
    "beliebiger taste",
    "beliebigen taste",
    "eingabetaste",
    "任意键",
    "回车",
    "appuyez sur une touche",
    "appuyer sur une touche",
    "importe quelle touche",
    "appuyez sur entrée",
    "appuyer sur entrée",
    "touche entrée",
    "presione una tecla",
    "presione cualquier tecla",
    "pulse una tecla",
    "pulse cualquier tecla",
    "presione entrar",
    "presione intro",
    "presione enter",
    "pulse intro",
    "pulse enter",
    "qualquer tecla",
    "pressione enter",
    "tecla enter",
    "premere un tasto",
    "premi un tasto",
    "premere invio",
    "premi invio",
    "druk op een toets",
    "willekeurige toets",
    "druk op enter",
    "dowolny klawisz",
    "naciśnij enter",
    "любую клавишу",
    "нажмите enter",
    "нажмите ввод",
    "キーを押し",
    "아무 키",
    "enter 키",
];

/// A line that asks for a key, whichever, or for the one that ends a line.
fn wants_key(lower: &str) -> bool {
    let after = |verb: &str, at: usize| {
        let rest = lower[at + verb.len()..].trim_start_matches([' ', '<', '[']);
        let keys = ["any key", "any other key", "enter", "return"];
        let key = keys.iter().find_map(|key| rest.strip_prefix(key));
        let apart = rest.len() < lower.len() - at - verb.len();
        apart && (key.is_some_and(|end| !end.starts_with(is_of_name)) || names_letter(rest))
    };
    // In the midst of a line `hit` is mostly something else.
    let begins =
        |at: usize| lower[..at].trim_end().chars().next_back().is_none_or(|c| matches!(c, '.' | ',' | ';' | '('));
    lower.match_indices("press").any(|(at, verb)| !lower[..at].ends_with(is_of_name) && after(verb, at))
        || lower.match_indices("hit").any(|(at, verb)| begins(at) && after(verb, at))
        || KEYS_ELSEWHERE.iter().any(|words| lower.contains(words))
}

/// `h to show help`: a program that has done its work, and watches files, says so. Other keys, as the one that stops it,
/// are named by programs at work as well.
fn names_letter(rest: &str) -> bool {
    let (key, what) = rest.split_once(' ').unwrap_or_default();
    key.chars().filter(|c| c.is_alphanumeric()).count() == 1 && what.trim_start().starts_with("to show ")
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '=')
}

/// The end of a line, where the choices stand.
fn last_part(line: &str) -> &str {
    let start = line.char_indices().rev().nth(31).map_or(0, |(index, _)| index);
    &line[start..]
}

/// `package name: (demo)` without the answer it suggests, or what it says of the answers.
pub(super) fn without_default(line: &str) -> &str {
    let mut line = line.trim_end_matches([' ', '>', '›', '»']);
    loop {
        let open = match line.chars().next_back() {
            Some(')') => line.rfind('('),
            Some(']') => line.rfind('['),
            _ => None,
        };
        match open {
            Some(at) if at > 0 => line = line[..at].trim_end(),
            _ => return line,
        }
    }
}

fn is_pager(line: &str) -> bool {
    line == ":"
        || line.ends_with("(END)")
        || line.starts_with("--More--")
        || line.starts_with("-- More --")
        || line.starts_with("lines ") && line.contains('-') && line.len() < 40
        || line.starts_with("Manual page ")
        || line.ends_with("(press h for help or q to quit)")
}

/// A line of its own that asks for something to be typed below it.
fn is_request(line: &str) -> bool {
    let line = narrow(line);
    let lower = line.to_lowercase();
    let first = lower.trim_start_matches(|c: char| !c.is_alphanumeric()).split(' ').next().unwrap_or("");
    let asks = !reports(&lower)
        && matches!(
            first,
            "type"
                | "enter"
                | "input"
                | "choose"
                | "select"
                | "pick"
                | "provide"
                | "specify"
                | "paste"
                | "please"
                | "what"
                | "which"
                | "who"
                | "where"
                | "how"
                | "do"
                | "are"
                | "is"
                | "should"
                | "would"
                | "continue"
                | "proceed"
                | "password"
                | "name"
        );
    wants_key(&lower)
        || line.ends_with('?')
        || asks && without_default(&lower).ends_with([':', '?'])
        || matches!(first, "please" | "paste") && lower.contains("paste ") && lower.ends_with(" below")
}

/// A row without the frame around it.
pub(super) fn inside(row: &str) -> &str {
    row.trim_matches(|c: char| c.is_whitespace() || ('\u{2500}'..='\u{257f}').contains(&c) || c == '|')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cursor stands where `¶` is, else after the last row.
    fn look(screen: &str, alternate: bool) -> Option<Wait> {
        let mut cursor = Cursor { row: screen.lines().count(), col: 0 };
        let mut rows: Vec<String> = screen.lines().map(str::to_owned).collect();
        for (row, text) in rows.iter_mut().enumerate() {
            if let Some(at) = text.find('¶') {
                cursor = Cursor { row, col: text[..at].chars().count() };
                *text = text.replace('¶', "").trim_end().to_owned();
            }
        }
        rows.resize(24, String::new());
        wait(View { rows: &rows, cursor, alternate })
    }

    #[test]
    fn questions_at_the_cursor_are_seen() {
        for screen in [
            "Do you want to continue? [Y/n] ¶",
            "Overwrite? (y/N) ¶",
            "(me@host) Password: ¶",
            "Enter passphrase for key '/x': ¶",
            "Project name: ¶",
            "package name: (demo) ¶",
            "Run it? (Y)es/(N)o/(D)on't ask again [Yes]: ¶",
            "Are you sure you want to continue connecting (yes/no/[fingerprint])? ¶",
            "Press any key to continue . . . ¶",
            "Weiter mit beliebiger Taste . . . ¶",
            "按回车键继续...¶",
            "Appuyez sur une touche pour continuer...¶",
            "Presione una tecla para continuar . . . ¶",
            "Premere un tasto per continuare...¶",
            "Pressione qualquer tecla para continuar...¶",
            "Druk op een toets om door te gaan . . .¶",
            "Aby kontynuować, naciśnij dowolny klawisz . . .¶",
            "Нажмите любую клавишу для продолжения...¶",
            "続行するには何かキーを押してください . . .¶",
            "계속하려면 아무 키나 누르십시오 . . .¶",
            "[sudo] me 的密码：¶",
            "是否继续？（y/n） ¶",
            "Overwrite /x/y.rb? (enter \"h\" for help) [Ynaqdhm] ¶",
            "Press RETURN/ENTER to continue or any other key to abort:",
            "please paste the token found on https://example.org/me below",
            "┌  create-app\n│\n◆  Where should it be?\n│  ./my-app_\n└",
            "┌  create-app\n│\n◆  Install it?\n│  ● Yes / ○ No\n└",
            "Do you want this?  [Use arrows to move, type to filter]\n  yes\n> no\n  details",
            "Type the name of the release:",
            "Billing address: ¶",
            "Existing password of the key: ¶",
            "What now? (e)dit, (a)bort, (c)ontinue ¶",
            "Ran all test suites.\n\nWatch Usage: Press w to show more.¶",
            " PASS  Waiting for file changes...\n       press h to show help, press q to quit",
            "Delete everything?",
            "text\n:¶",
            "text\n(END)¶",
            "text\n--More--(5%)¶",
        ] {
            assert!(
                matches!(look(screen, false), Some(Wait::Question(_) | Wait::List(_))),
                "{screen:?}: {:?}",
                look(screen, false)
            );
        }
    }

    #[test]
    fn menus_are_seen_with_the_cursor_anywhere() {
        for screen in [
            " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel",
            "│ Allow it?      │\n│ ● 1. Allow once │\n│   2. No         │",
            "? Which framework?\n❯ react\n  vue\n\n↑↓ navigate • ⏎ select",
            "Choose a thing:\n> one\n  two\n  three\n\n←↓↑→ navigate • enter submit",
            "Choose:\n> one\n  two\n  three",
            "Are you sure?\n\n   Yes        No",
            "◆  May it call the tool?\n│  ● Allow\n│  ○ Always allow\n│  ○ Deny\n└",
            "  Permission required\n  Allow once   Allow always   Reject\n  ⇆ select  enter confirm",
            "  Would you like to run it?\n› 1. Yes (y)\n  2. No (esc)\n  Press enter to confirm or esc to cancel",
        ] {
            assert!(
                matches!(look(screen, false), Some(Wait::Menu(..) | Wait::List(_) | Wait::Question(_))),
                "{screen:?}"
            );
        }
    }

    #[test]
    fn a_menu_is_told_by_its_keys() {
        for screen in [
            " Do you want to proceed?\n ❯ No\n   Yes\n\n Esc to cancel · Tab to amend",
            "  It cannot be checked here\n\n  Enter to stay · shift+Tab to leave and stop · Esc to cancel",
        ] {
            assert!(matches!(look(screen, false), Some(Wait::Menu(..))), "{screen:?}: {:?}", look(screen, false));
        }
        for screen in ["✻ Thinking… (esc to cancel, 3s)\n> one\n  two", "> a\n  b\n  esc to interrupt · tab to queue"]
        {
            assert_eq!(look(screen, false), None, "{screen:?}");
        }
    }

    #[test]
    fn prompts_are_seen() {
        for screen in [
            ">>> ¶",
            "... ¶",
            "==> ¶",
            "sqlite> ¶",
            "╭──────── 12% ───╮\n│ ¶              │\n│                │\n╰────────────────╯\n  help",
            "~/proj〉¶",
            "* ¶",
            "?- ¶",
            "🪿 ¶",
            "db=> ¶",
            "    -> ¶",
            "  DB<1> ¶",
            "me@host:~$ ¶",
            "(gdb) ¶",
            "➜  proj git:(main) ✗ ¶",
            "────────────\n❯ \n────────────\n  ? for shortcuts",
        ] {
            assert!(matches!(look(screen, false), Some(Wait::Prompt(_))), "{screen:?}: {:?}", look(screen, false));
        }
    }

    #[test]
    fn a_full_screen_program_at_rest_waits_for_its_user() {
        assert_eq!(look("~\n~\n\"file\" 2 lines", true), Some(Wait::FullScreen));
    }

    #[test]
    fn a_row_of_buttons_is_a_menu() {
        assert!(matches!(look("│ Restart now?        │\n│   <Yes>      <No>   │", false), Some(Wait::Menu(..))));
    }

    #[test]
    fn work_is_not_a_question() {
        for screen in [
            "Optimising (this can take a minute) ...",
            "Blocking waiting for file lock on artifact directory",
            "Cloning into 'x'...",
            "Downloading 45%¶",
            "- ¶",
            ".. ¶",
            "⠋ ¶",
            "*¶",
            "[=====>¶",
            "[=>¶",
            "---->¶",
            "copying a ->¶",
            "<p>¶",
            "##########¶",
            "-=O=-      #  # #¶",
            "Waiting for <host>¶",
            "    Building [=======>     ] 6/9: crate-3(build)\r",
            "12:00:01 listening on http://localhost:8080",
            "compress returned 0",
            "cache: hit, return 200",
            "HIT return=1",
            "not hit, any pending",
            "Downloading the model weights:¶",
            "Waiting for the lock on /var/lib/x: ¶",
            "remote: Resolving deltas: ¶",
            "Please wait while the image is built:",
            "Scanning...\nPress q to abort",
            "Press s to stop, or wait",
            "press r to run",
            "Please wait, the results will appear below",
            "➜ Building the docker image ... ¶",
            "Cloning <yes> from <no>",
            "◆  Project created\n└",
            "◆  Which framework?\n│  Vue\n│\n◇  Installing",
            "",
        ] {
            assert_eq!(look(screen, false), None, "{screen:?}");
        }
    }
}
