//! Does it offer a choice? Rows of which one is pointed at, buttons, and steps with room for an answer.

use super::waiting::{View, Wait, inside, without_default};

/// Signs that point at the chosen line of a menu.
const POINTERS: [char; 12] = ['❯', '›', '>', '●', '▶', '➤', '→', '◉', '»', '➜', '▸', '◆'];

/// Signs before a choice that is not taken.
const UNCHOSEN: [char; 5] = ['○', '◯', '◻', '☐', '◇'];

/// A menu: one choice pointed at among others of its kind, and either numbers, a word on the keys, or a question.
pub(super) fn menu(view: View<'_>) -> Option<Wait> {
    let last = view.rows.iter().rposition(|row| !row.is_empty())?;
    let from = last.saturating_sub(20);
    let choices: Vec<&str> = view.rows[from..=last].iter().map(|row| inside(row)).collect();
    let keys = choices.iter().rev().filter(|row| !row.is_empty()).take(3).any(|row| names_keys(row));
    for (index, choice) in choices.iter().enumerate().rev() {
        let Some(text) = choice.strip_prefix(POINTERS).map(str::trim_start).filter(|text| !text.is_empty()) else {
            continue;
        };
        let menu = || Wait::Menu(text.to_owned(), from + index);
        let siblings = || choices[index + 1..].iter().take(4).chain(choices[..index].iter().rev().take(4));
        if let Some(number) = ordinal(text)
            && siblings().any(|other| ordinal(other).is_some_and(|other| other.abs_diff(number) == 1))
        {
            return Some(menu());
        }
        let row = from + index;
        let among = [row.wrapping_sub(1), row + 1]
            .into_iter()
            .any(|other| view.rows.get(other).is_some_and(|other| is_sibling(&view.rows[row], other)));
        if !among {
            continue;
        }
        let radio = |other: usize| choices.get(other).is_some_and(|other| other.starts_with(UNCHOSEN));
        if radio(index + 1) || radio(index.wrapping_sub(1)) {
            return Some(Wait::List(text.to_owned()));
        }
        let above = &choices[index.saturating_sub(8)..index];
        if keys {
            return Some(menu());
        }
        if above.iter().any(|row| without_default(row).ends_with('?'))
            || above.last().is_some_and(|row| row.starts_with("? ") || tells_to_choose(row))
        {
            return Some(Wait::List(text.to_owned()));
        }
    }
    if let Some(offer) = choices.last().filter(|row| offers_keys(row)) {
        return Some(Wait::Menu((*offer).to_owned(), last));
    }
    if let Some(step) = open_step(&choices, &view.rows[last]) {
        return Some(Wait::Question(step.to_owned()));
    }
    let (lowest, buttons) = choices.iter().enumerate().rev().take(8).find(|(_, row)| offers_both(row))?;
    let above = choices[..lowest].iter().rev().filter(|row| !row.is_empty()).take(1);
    let answers = || buttons.split_whitespace().count() == 2 && above.clone().any(|row| row.ends_with('?'));
    (keys || is_of_buttons(buttons) || answers()).then(|| Wait::Menu((*buttons).to_owned(), from + lowest))
}

/// `Choose a flavour:` above the choices.
fn tells_to_choose(row: &str) -> bool {
    let first = row.split([' ', ':']).next().unwrap_or_default().to_lowercase();
    row.ends_with(':') && matches!(first.as_str(), "choose" | "select" | "pick")
}

/// `<Yes>   <No>` and nothing else.
fn is_of_buttons(row: &str) -> bool {
    let mut within = false;
    let blank = row.chars().all(|c| {
        let outside = !within && c != '<';
        within = c == '<' || within && c != '>';
        !outside || c.is_whitespace()
    });
    blank && row.matches('<').count() > 1
}

/// The step of a series that is not answered yet: it is marked, with room for the answer, and the line along the series
/// ends below it.
fn open_step<'r>(rows: &[&'r str], last: &str) -> Option<&'r str> {
    let at = rows.iter().rposition(|row| row.starts_with('◆'))?;
    let room = rows[at + 1..].iter().any(|row| !row.is_empty());
    (room && last.trim() == "└").then(|| rows[at].trim_start_matches('◆').trim())
}

/// Whether `other` is a choice beside the chosen one: its text begins in the same column.
fn is_sibling(chosen: &str, other: &str) -> bool {
    let begins = |row: &str| row.chars().position(char::is_alphanumeric);
    begins(chosen).is_some() && begins(chosen) == begins(other)
}

/// A row of buttons: one to agree and one to refuse.
fn offers_both(row: &str) -> bool {
    let lower = row.to_lowercase();
    let has = |wanted: &[&str]| lower.split(|c: char| !c.is_alphanumeric()).any(|word| wanted.contains(&word));
    has(&["yes", "allow", "approve", "accept", "ok", "run"])
        && has(&["no", "reject", "deny", "decline", "cancel", "skip"])
        && row.len() < 100
}

/// The number of a numbered choice.
fn ordinal(text: &str) -> Option<u32> {
    let text = text.trim_start_matches(['[', '(', ' ']);
    let end = text.find(|c: char| !c.is_ascii_digit()).filter(|end| (1..=2).contains(end))?;
    let mark = text[end..].chars().next()?;
    matches!(mark, '.' | ')' | ':' | ']').then(|| text[..end].parse().ok()).flatten()
}

/// A row that says which keys choose. What a key does while a turn is in progress is no choice.
fn names_keys(row: &str) -> bool {
    let lower = row.to_lowercase();
    let keys = ["enter", "⏎", "↑", "esc", "tab", "arrow"].iter().filter(|key| lower.contains(**key)).count();
    let chooses = ["select", "confirm", "submit", "navigate", "choose", "toggle"];
    let cancels = lower.contains("esc to cancel") && keys > 1;
    keys > 0 && (cancels || chooses.iter().any(|verb| lower.contains(verb)))
}

/// `Enter to go on · Esc to cancel`, at the very bottom: an answer is wanted, and these are the only two.
fn offers_keys(row: &str) -> bool {
    let lower = row.to_lowercase();
    lower.starts_with("enter to ") && lower.contains("esc to cancel")
}
