//! Real programs, used as people use them.

use std::fs;

use tempfile::TempDir;

use crate::support::{Run, has};

fn numbered(lines: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = (1..=lines).map(|line| format!("line <{line}>\n")).collect::<Vec<_>>().concat();
    fs::write(folder.path().join("file"), text).unwrap();
    folder
}

fn xterm(options: &[&str], command: &[&str], folder: &TempDir) -> Run {
    Run::new(options, command).folder(folder.path()).variable("HOME", folder.path()).variable("TERM", "xterm")
}

#[test]
fn vim_edits_a_file() {
    if !has("vim") {
        return;
    }
    let folder = numbered(3);
    let mut run = xterm(&[], &["vim", "-u", "NONE", "-i", "NONE", "-n", "file"], &folder).in_terminal();
    let before = run.found();
    run.wait_for("line <3>").resize(60, 20).enter("ggOfirst\x1b:wq\r");
    let (text, status) = run.finish_bytes();
    assert!(
        status.success() && fs::read_to_string(folder.path().join("file")).unwrap().starts_with("first\nline <1>\n")
    );
    assert!(String::from_utf8_lossy(&text).contains("\x1b[?1049l"));
    assert_eq!(run.settings(), before);
}

#[test]
fn vim_can_be_stopped_and_brought_back() {
    if !has("vim") {
        return;
    }
    let folder = numbered(3);
    let mut run = Run::shell("bash").folder(folder.path()).variable("TERM", "xterm").in_terminal();
    run.enter("$IW -- vim -u NONE -i NONE -n file\n").wait_for("line <3>").enter("\x1a").wait_for("Stopped");
    run.enter("echo $((40+2))x\n")
        .wait_for("42x")
        .enter("fg\n")
        .wait_for("line <3>")
        .enter("ddZZ")
        .wait_for("\x1b[?1049l")
        .wait_for("> ");
    run.enter("echo $((50+2))x\n").wait_for("52x").enter("exit\n").finish_bytes();
    assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "line <2>\nline <3>\n");
}

#[test]
fn less_shows_a_file() {
    if !has("less") {
        return;
    }
    let folder = numbered(100);
    let run = xterm(&[], &["less", "file"], &folder).variable("LESS", "");
    let mut run = run.in_terminal();
    run.wait_for("line <1>").enter("G").wait_for("line <100>").enter("?<50>\n").wait_for("line <51>").enter("q");
    assert!(run.finish().1.success());
    // From a pipe, with the keyboard as its terminal.
    let script = "seq 1000 | $IW -- less";
    let run = Run::script("bash", script).variable("LESS", "").variable("TERM", "xterm");
    let mut run = run.in_terminal();
    run.wait_for("12").enter("G").wait_for("1000").enter("q");
    assert!(run.finish().1.success());
}

#[test]
fn python_computes() {
    if !has("python3") {
        return;
    }
    let folder = numbered(1);
    let mut run = xterm(&[], &["python3", "-q"], &folder).in_terminal();
    run.wait_for(">>> ").enter("print(40 + 1002)\r").wait_for("1042").wait_for(">>> ").enter("exit(7)\r");
    assert_eq!(run.finish().1.code(), Some(7));
}

#[test]
fn node_computes() {
    if !has("node") {
        return;
    }
    let folder = numbered(1);
    let mut run = xterm(&[], &["node", "-i"], &folder).in_terminal();
    run.wait_for("> ").enter("40 + 1002\r").wait_for("1042").enter(".exit\r");
    assert!(run.finish().1.success());
}

#[test]
fn shells_edit_lines_and_have_a_history() {
    for (shell, argv) in [
        ("bash", &["bash", "--norc", "--noprofile", "-i"][..]),
        ("zsh", &["zsh", "-f", "-i"]),
        ("fish", &["fish", "--no-config", "-i"]),
    ] {
        if !has(shell) {
            continue;
        }
        let folder = numbered(1);
        fs::write(folder.path().join("say"), "echo \"said [$*]\"").unwrap();
        let run = Run::new(&[], argv).folder(folder.path()).variable("HOME", folder.path());
        let mut run = run.variable("TERM", "vt100").variable("PS1", "> ").in_terminal();
        run.enter("sh say one\n").wait_for("said [one]");
        run.enter("sh say wto\x7f\x7f\x7ftwo\n").wait_for("said [two]");
        run.enter("sh say hree\x02\x02\x02\x02t\n").wait_for("said [three]");
        run.enter("\x10\x10\n").wait_for("said [two]");
        run.enter("exit 4\n");
        assert_eq!(run.finish().1.code(), Some(4), "{shell}");
    }
}

#[test]
fn tmux_runs_inside() {
    if !has("tmux") {
        return;
    }
    let folder = numbered(1);
    fs::write(folder.path().join("inside"), "stty size; read x; echo got $x; read y").unwrap();
    let command = ["tmux", "-f", "/dev/null", "-L", "idlewatch-test", "new-session", "sh inside"];
    let mut run = xterm(&[], &command, &folder).variable("TMUX_TMPDIR", folder.path()).in_terminal();
    run.wait_for("23 80").enter("hello\r").wait_for("got hello").enter("\r");
    let (text, status) = run.finish_bytes();
    assert!(status.success() && String::from_utf8_lossy(&text).contains("[exited]"));
}

#[test]
fn fzf_chooses_from_a_pipe() {
    if !has("fzf") {
        return;
    }
    let script = "chosen=$(printf 'alpha\\nbeta\\ngamma\\n' | $IW -- fzf); echo chosen=$chosen";
    let mut run = Run::script("bash", script).variable("TERM", "xterm").in_terminal();
    run.wait_for("alpha").enter("bet").wait_for("1/3").enter("\r").wait_for("chosen=beta");
    assert!(run.finish().1.success());
}

#[test]
fn htop_shows_itself_and_leaves() {
    if !has("htop") {
        return;
    }
    let folder = numbered(1);
    let mut run = xterm(&[], &["htop"], &folder).in_terminal();
    run.wait_for("Quit").enter("q");
    assert!(run.finish().1.success());
}

/// A repository with one commit whose message is longer than a screen.
fn repository() -> TempDir {
    let folder = numbered(40);
    let script = "git init -q . && git config user.name n && git config user.email e@x && git config color.ui false && git config log.decorate no && \
                  git config core.pager 'touch paged; less' && git config commit.gpgsign false && \
                  git commit -q --allow-empty -F file && printf 'changed\\n' >tracked && git add tracked && \
                  git commit -qm second && printf 'again\\n' >>tracked";
    let output = git(Run::script("sh", script), &folder).output();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

fn git(run: Run, folder: &TempDir) -> Run {
    let run = run.folder(folder.path()).variable("HOME", folder.path()).variable("TERM", "xterm");
    run.variable("GIT_CONFIG_NOSYSTEM", "1").variable("GIT_CONFIG_GLOBAL", "/dev/null")
}

#[test]
fn git_starts_no_pager_where_the_output_goes_elsewhere() {
    if !has("git") {
        return;
    }
    let folder = repository();
    let [bare, wrapped] = Run::both(&[], &["git", "log"]).map(|run| git(run, &folder).output().stdout);
    assert_eq!(String::from_utf8_lossy(&wrapped), String::from_utf8_lossy(&bare));
    let script = "$IW -- git log >out; git log >plain; cmp out plain";
    assert!(git(Run::script("sh", script), &folder).in_terminal().finish().1.success());
    assert!(!folder.path().join("paged").exists());
}

#[test]
fn git_pages_in_a_terminal() {
    if !has("git") || !has("less") {
        return;
    }
    let folder = repository();
    let mut run = git(Run::new(&[], &["git", "log"]), &folder).in_terminal();
    run.wait_for("line <5>").enter("G").wait_for("line <40>").enter("q");
    assert!(run.finish().1.success());
    assert!(folder.path().join("paged").exists());
}

#[test]
fn git_adds_by_pieces() {
    if !has("git") || !has("perl") {
        return;
    }
    let folder = repository();
    let mut run = git(Run::new(&[], &["git", "add", "-p"]), &folder).in_terminal();
    run.wait_for("Stage this hunk").enter("y\n");
    assert!(run.finish().1.success());
    let output = git(Run::bare(&["git", "diff", "--cached", "--stat"]), &folder).output();
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 insertion"));
}

#[test]
fn a_password_is_not_echoed_and_what_follows_is() {
    if !has("python3") {
        return;
    }
    let program =
        "import getpass\nsecret = getpass.getpass('Password: ')\nname = input('Name: ')\nprint(len(secret), name)";
    let [bare, wrapped] = Run::both(&[], &["python3", "-c", program]).map(|run| {
        let mut run = run.in_terminal();
        run.wait_for("Password: ").enter("hush\n").wait_for("Name: ").enter("visible\n").wait_for("4 visible");
        run.finish().0
    });
    assert_eq!(wrapped, bare);
    assert!(!wrapped.contains("hush") && wrapped.matches("visible").count() == 2);
}

/// A program of 32 bits that reads one key from its terminal and exits with 7.
#[cfg(target_arch = "x86_64")]
fn narrow_reader() -> Vec<u8> {
    const AT: u32 = 0x0804_8000;
    const HEAD: u16 = 52;
    const PART: u16 = 32;
    // read(0, stack, 1), exit(7).
    let code: &[u8] = b"\xb8\x03\0\0\0\x31\xdb\x89\xe1\xba\x01\0\0\0\xcd\x80\xb8\x01\0\0\0\xbb\x07\0\0\0\xcd\x80";
    let entry = u32::from(HEAD + PART);
    let length = entry + u32::try_from(code.len()).unwrap();
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let halves = |halves: &[u16]| halves.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<u8>>();
    let head = [
        b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec(),
        halves(&[2, 3]),
        words(&[1, AT + entry, u32::from(HEAD), 0, 0]),
        halves(&[HEAD, PART, 1, 0, 0, 0]),
    ];
    [head.concat(), words(&[1, 0, AT, AT, length, length, 5, 0x1000]), code.to_vec()].concat()
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_program_of_32_bits_that_reads_its_terminal_waits_for_its_user() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("narrow");
    fs::write(&file, narrow_reader()).unwrap();
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let options = ["--idle", "300ms", "--no-guard", "--events", "events"];
    let mut run = Run::new(&options, &[&file]).folder(folder.path()).in_terminal();
    let events = || fs::read_to_string(folder.path().join("events")).unwrap_or_default();
    run.until("an answer", |run| {
        run.has_ended() || ["\"waiting\"", "\"signaled\""].iter().any(|known| events().contains(known))
    });
    if run.has_ended() && run.text().contains("cannot run") {
        eprintln!("skipped: there are no programs of 32 bits here");
        return;
    }
    assert!(events().contains("\"to\":\"waiting\""), "{}", events());
    run.enter("x\r");
    assert_eq!(run.finish().1.code(), Some(7));
}
