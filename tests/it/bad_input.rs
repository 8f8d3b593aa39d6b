//! Bad input: what is wrong, why, and what would be right, in one or two lines; nothing is started.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Output;

use crate::support::{Run, has, program, stderr};

const STARTED: &str = "the command was started";

/// The message, after checking that it is short, on stderr, and that nothing ran.
fn refused(run: &Run, what: &str) -> String {
    let Output { status, stdout, stderr } = run.output();
    let message = String::from_utf8_lossy(&stderr).into_owned();
    assert_eq!(status.code(), Some(2), "{what}: {message}");
    assert!(stdout.is_empty(), "{what}: {}", String::from_utf8_lossy(&stdout));
    assert!(message.starts_with("idlewatch: "), "{what}: {message}");
    assert!((1..=2).contains(&message.lines().count()), "{what}: {message}");
    message
}

fn says(message: &str, words: &[&str]) {
    for word in words {
        assert!(message.contains(word), "'{word}' is not in: {message}");
    }
}

#[test]
fn a_wrong_option_is_named_with_the_reason_and_what_would_be_right() {
    let large = format!("({})", r"\w{1000}".repeat(20));
    let cases: [(&[&str], &[&str]); 49] = [
        (&["--idle", "banana"], &["--idle 'banana'", "not a duration", "90s", "off"]),
        (&["-i", "0s"], &["--idle '0s'", "zero", "'off'"]),
        (&["--kill-after", "5 parsecs"], &["--kill-after '5 parsecs'", "unit", "90s"]),
        (&["--done-idle", "off"], &["--done-idle 'off'", "90s"]),
        (&["--guard", "x"], &["--guard 'x'", "unknown guard 'x'", "cpu, disk, net, turn, io, children, file:PATH"]),
        (&["--on-idle", "fly"], &["--on-idle 'fly'", "unknown step 'fly'", "warn, nudge"]),
        (&["--on-idle", "warn,stop,run:date"], &["'run:date' would never run", "'stop' ends the ladder"]),
        (&["--exit-code", "foo=300"], &["--exit-code 'foo=300'", "unknown reason 'foo'", "idle_timeout"]),
        (&["--exit-code", "loop=5", "--exit-code", "loop=6"], &["--exit-code", "loop", "5 and 6", "remove one"]),
        (&["--exit-code", "idle_timeout=300"], &["'300' is not an exit code", "1 to 255"]),
        (&["--exit-code", "idle_timeout=0"], &["--exit-code 'idle_timeout=0'", "success", "1 to 255"]),
        (&["--ignore", "("], &["--ignore '('", "unclosed group", "\\"]),
        (&["--done", "[a"], &["--done '[a'", "unclosed", "\\"]),
        (&["--done", ""], &["--done ''", "the pattern is empty", "'^all done'"]),
        (&["--ignore", ""], &["--ignore ''", "the pattern is empty"]),
        (&["--only", "x*"], &["--only 'x*'", "every line", "x+"]),
        (&["--waiting", ""], &["--waiting ''", "the pattern is empty"]),
        (&["--waiting", "(yes)?"], &["--waiting '(yes)?'", "every line"]),
        (&["--loop-pattern", "(.*)"], &["--loop-pattern '(.*)'", "every line"]),
        (&["--relaunch-with", " "], &["--relaunch-with ' '", "the command is empty", "claude --continue"]),
        (&["--waiting", &large], &["--waiting", "too large", "smaller"]),
        (&["--signal", "NOPE"], &["--signal 'NOPE'", "unknown signal", "TERM"]),
        (&["--warn", "0"], &["--warn '0'", "from 1 to 100"]),
        (&["--loop", "1"], &["--loop '1'", "from 2 to"]),
        (&["--max-nudges", "many"], &["--max-nudges 'many'", "not a number"]),
        (&["--max-nudges", "4294967295"], &["--max-nudges '4294967295'", "from 0 to 1000"]),
        (&["--heartbeat", "1ns"], &["--heartbeat '1ns'", "1ms or more"]),
        (&["--on-idle", "wait:soon"], &["--on-idle 'wait:soon'", "not a duration", "wait:30s"]),
        (&["--record", "a.json", "--report", "a.json"], &["--report and --record are the same file", "'a.json'"]),
        (&["--events", "a", "--checkpoint", "a"], &["--events and --checkpoint are the same file", "'a'"]),
        (&["--size", "80"], &["--size '80'", "80x24"]),
        (&["--pty", "alwys"], &["--pty 'alwys'", "did you mean 'always'?", "mirror", "never"]),
        (&["--profile", "nope"], &["--profile 'nope'", "no such profile", "claude", "auto or none"]),
        (&["--no-guard", "--guard", "cpu"], &["--no-guard", "--guard", "cannot be used with", "remove one"]),
        (&["--quiet", "--explain"], &["--quiet", "--explain", "cannot be used with"]),
        (&["--idel", "5m"], &["unknown option '--idel'", "did you mean '--idle'?"]),
        (&["--idle", "-5"], &["unknown option '-5'", "no value can be negative", "5m"]),
        (&["--heartbeat", "0s"], &["--heartbeat '0s'", "1ms or more, or 'off'"]),
        (&["--idle=-5"], &["--idle '-5': not a duration; write 90s"]),
        (&["--idle", "5"], &["--idle '5': not a duration: a number needs a unit; write 90s"]),
        (&["-i", "5M"], &["--idle '5M'", "'m' is minutes, 'month' is months", "90s"]),
        (&["--on-idle", "wait:1M,stop"], &["'wait:1M'", "'m' is minutes"]),
        (&["--guard", "cpu,io"], &["--guard 'cpu,io'", "--guard cpu --guard io", "guard = [\"cpu\", \"io\"]"]),
        (&["--guard", "none"], &["--guard 'none'", "--no-guard"]),
        (&["--quiet=yes"], &["--quiet takes no value", "'yes'"]),
        (&["--nudge", " "], &["--nudge ' '", "nothing to type", "go on"]),
        (&["--on-idle", "warn,nudge: "], &["--on-idle 'warn,nudge: '", "nudge: nothing to type", "go on"]),
        (&["--on-loop", "nudge:a\x03b"], &["--on-loop", "nudge: it contains the control character", "key:esc"]),
        (&["--config", "/nonexistent.toml"], &["/nonexistent.toml", "no such file", "/dev/null"]),
    ];
    for (options, words) in cases {
        let message = refused(&Run::sh(options, &format!("echo {STARTED}")), &options.join(" "));
        says(&message, words);
    }
}

#[test]
fn an_option_without_its_value_is_told_so() {
    let message = refused(&Run::bare(&[crate::support::program(), "--idle"]), "--idle");
    says(&message, &["--idle needs a value", "--idle DUR"]);
    let message = refused(&Run::bare(&[crate::support::program(), "--pty"]), "--pty");
    says(&message, &["--pty needs a value", "always, mirror, never"]);
}

#[test]
fn a_word_too_many_is_told_what_there_is_room_for() {
    for (words, says_too) in [
        (&["ctl", "status", "a", "b"][..], "unexpected argument 'b'; usage: idlewatch ctl status [OPTIONS] [RUN]"),
        (&["ctl", "list", "foo"], "unexpected argument 'foo'; usage: idlewatch ctl list"),
        (&["replay", "a.cast", "extra"], "unexpected argument 'extra'; usage: idlewatch replay"),
        (&["ctl", "status", "-1"], "unknown option '-1'; neither a run nor a duration starts with -"),
        (&["ctl", "list", "--bogus"], "unknown option '--bogus'; see idlewatch ctl --help"),
        (&["ctl", "extend", "foo"], "DUR 'foo': not a duration; write 90s"),
    ] {
        let argv: Vec<&str> = [crate::support::program()].into_iter().chain(words.iter().copied()).collect();
        says(&refused(&Run::bare(&argv), &words.join(" ")), &[says_too]);
    }
    let help = Run::bare(&[crate::support::program(), "ctl", "stop", "--help"]).output();
    says(&String::from_utf8_lossy(&help.stdout), &["Usage: idlewatch ctl stop"]);
    let help = Run::bare(&[crate::support::program(), "replay", "--help"]).output();
    says(&String::from_utf8_lossy(&help.stdout), &["Usage: idlewatch replay"]);
}

#[test]
fn no_command_is_told_how_to_write_one() {
    for argv in [vec![], vec!["--idle", "5m"], vec!["--"]] {
        let argv: Vec<&str> = [crate::support::program()].into_iter().chain(argv).collect();
        says(&refused(&Run::bare(&argv), "no command"), &["no command given", "idlewatch --idle 5m -- make"]);
    }
    let message = refused(&Run::bare(&[crate::support::program(), "replay"]), "no recording");
    says(&message, &["no recording given", "idlewatch replay"]);
}

#[test]
fn a_value_cannot_write_to_the_terminal() {
    let message = refused(&Run::sh(&["--idle", "\x1b]0;title\x07"], "true"), "escape");
    assert!(!message.contains('\x1b') && !message.contains('\x07'), "{message:?}");
}

#[test]
fn an_option_that_would_do_nothing_is_told_what_is_missing() {
    let cases: [(&[&str], &[&str]); 21] = [
        (&["--report-always"], &["--report-always", "--report FILE.html"]),
        (&["--relaunch-with", "x"], &["--relaunch-with", "--relaunch stuck"]),
        (&["--max-relaunches", "5"], &["--max-relaunches", "--relaunch stuck"]),
        (&["--relaunch-delay", "5s"], &["--relaunch-delay", "--relaunch stuck"]),
        (&["--on-timeout", "warn"], &["--on-timeout", "--timeout 2h"]),
        (&["--done-idle", "5s"], &["--done-idle", "--done REGEX"]),
        (&["--idle", "off", "--on-idle", "warn,stop"], &["--on-idle", "--idle is off"]),
        (&["--idle", "off", "--on-waiting", "stop"], &["--on-waiting", "--idle is off"]),
        (&["--idle", "off", "--stdin", "pty", "--nudge", "x"], &["--nudge", "--idle is off"]),
        (&["--loop-for", "off", "--on-loop", "stop"], &["--on-loop", "--loop-for is off"]),
        (&["--activity", "bytes", "--only", "x"], &["--only", "--activity bytes"]),
        (&["--activity", "bytes", "--ignore", "x"], &["--ignore", "--activity bytes"]),
        (&["--nudge-wait", "5s"], &["--nudge-wait", "--nudge TEXT"]),
        (&["--nudge", "x", "--on-idle", "nudge,stop", "--nudge-wait", "5s"], &["--nudge-wait", "wait:DUR"]),
        (&["--max-nudges", "3"], &["--max-nudges", "--nudge TEXT"]),
        (&["--idle", "off", "--max-idle", "1h"], &["--max-idle", "--idle is off"]),
        (&["--idle", "off", "--guard", "io"], &["--guard", "--idle is off"]),
        (&["--relaunch", "any", "--max-relaunches", "0"], &["--relaunch would", "--max-relaunches is 0"]),
        (&["--on-idle", "relaunch", "--max-relaunches", "0", "--relaunch-delay", "1s"], &["--relaunch-delay", "is 0"]),
        (&["--preserve-status", "--exit-code", "loop=5"], &["--exit-code", "--preserve-status keeps"]),
        (&["--preserve-status", "--exit-code", "error=5", "--exit-code", "timeout=6"], &["--exit-code", "keeps"]),
    ];
    for (options, words) in cases {
        let message = refused(&Run::sh(options, &format!("echo {STARTED}")), &options.join(" "));
        says(&message, &[words, &["would have no effect"]].concat());
    }
    // What does something after all.
    let options: [&[&str]; 7] = [
        &["--max-nudges", "3", "--on-loop", "nudge:x"],
        &["--nudge", "x", "--max-nudges", "0"],
        &["--max-idle", "1h", "--no-guard"],
        &["--idle", "off", "--first-output", "5s", "--guard", "io", "--max-idle", "6s"],
        &["--idle", "off", "--waiting", "sure"],
        &["--loop-for", "off", "--loop", "3"],
        &["--preserve-status", "--exit-code", "error=5"],
    ];
    for options in options {
        let options = [options, &["--stdin", "pty"]].concat();
        assert_eq!(Run::sh(&options, "exit 3").output().status.code(), Some(3), "{options:?}");
    }
    // In the environment it stands for runs that come.
    let run = Run::sh(&["--no-guard"], "exit 3").variable("IDLEWATCH_DONE_IDLE", "5s");
    assert_eq!(run.output().status.code(), Some(3));
}

#[test]
fn a_ceiling_below_the_limit_is_refused() {
    let cases: [(&[&str], &str); 2] = [
        (&["--max-idle", "1m"], "--max-idle 1m is less than --idle 5m"),
        (&["--max-idle", "1s", "--first-output", "2s"], "--max-idle 1s is less than --first-output 2s"),
    ];
    for (options, words) in cases {
        let message = refused(&Run::sh(options, &format!("echo {STARTED}")), &options.join(" "));
        says(&message, &[words, "--no-guard"]);
    }
    let lower = Run::sh(&["--idle", "1h"], "exit 3").variable("IDLEWATCH_MAX_IDLE", "1m");
    assert_eq!(lower.output().status.code(), Some(3));
}

#[test]
fn a_value_that_is_not_utf8_is_shown_with_its_option() {
    let bytes = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    for (words, named) in [
        ([bytes(b"--done"), bytes(b"a\xff"), bytes(b"--")], "--done 'a\u{fffd}': not valid UTF-8"),
        ([bytes(b"-q"), bytes(b"--nudge=\xffb"), bytes(b"--")], "--nudge '\u{fffd}b': not valid UTF-8"),
        ([bytes(b"-q"), bytes(b"-i\xff"), bytes(b"--")], "-i '\u{fffd}': not valid UTF-8"),
    ] {
        let line = [&[OsStr::new(program())], &words[..], &[OsStr::new("echo"), bytes(b"\xfe")]].concat();
        says(&refused(&Run::bare(&line), named), &[named]);
    }
}

#[test]
fn the_name_of_a_file_does_not_break_the_line_that_says_what_is_wrong_with_it() {
    let name = "no\nsuch\u{1b}[31m";
    for line in [&["--config", name, "--", "true"] as &[&str], &["replay", name]] {
        let line: Vec<&str> = [program()].into_iter().chain(line.iter().copied()).collect();
        let message = refused(&Run::bare(&line), name);
        says(&message, &["no<U+000A>such<U+001B>[31m"]);
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    for option in ["--events", "--record"] {
        let output = Run::sh(&[option, "/nowhere\nat/all"], "exit 3").output();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), message.lines().count()), (Some(3), 1), "{message}");
    }
}

#[test]
fn a_word_of_ctl_that_is_not_utf8_is_shown_as_the_help_calls_it() {
    let bad = OsStr::from_bytes(b"a\xff");
    for (words, named) in [
        ([Some("nudge"), Some("3f2a")], "TEXT 'a\u{fffd}': not valid UTF-8"),
        ([Some("nudge"), None], "TEXT 'a\u{fffd}': not valid UTF-8"),
        ([Some("extend"), Some("--json")], "DUR 'a\u{fffd}': not valid UTF-8"),
        ([Some("status"), None], "RUN 'a\u{fffd}': not valid UTF-8"),
        ([Some("history"), Some("--command")], "--command 'a\u{fffd}': not valid UTF-8"),
    ] {
        let before = words.into_iter().flatten().map(OsStr::new);
        let line: Vec<&OsStr> = [program(), "ctl"].map(OsStr::new).into_iter().chain(before).chain([bad]).collect();
        says(&refused(&Run::bare(&line), named), &[named]);
    }
    let line = [program(), "ctl", "nudge"].map(OsStr::new);
    let line = [&line[..], &[bad, OsStr::new("go on")]].concat();
    says(&refused(&Run::bare(&line), "a run"), &["RUN 'a\u{fffd}': not valid UTF-8"]);
}

#[test]
fn a_wrong_variable_is_named() {
    for (name, value, words) in [
        ("IDLEWATCH_IDLE", "banana", ["IDLEWATCH_IDLE 'banana'", "90s"]),
        ("IDLEWATCH_TIMEOUT", "2M", ["IDLEWATCH_TIMEOUT '2M'", "'m' is minutes"]),
        ("IDLEWATCH_GUARD", "cpu\nx,io", ["IDLEWATCH_GUARD 'x,io'", "several values on separate lines"]),
        ("IDLEWATCH_QUIET", "maybe", ["IDLEWATCH_QUIET 'maybe'", "yes or on"]),
        ("IDLEWATCH_DONE", "x*", ["IDLEWATCH_DONE 'x*'", "every line"]),
        ("IDLEWATCH_RELAUNCH_WITH", " ", ["IDLEWATCH_RELAUNCH_WITH ' '", "the command is empty"]),
        ("IDLEWATCH_PTY", "no", ["IDLEWATCH_PTY 'no'", "always, mirror, never"]),
        ("IDLEWATCH_PROFILE", "nope", ["IDLEWATCH_PROFILE 'nope'", "claude"]),
        ("IDLEWATCH_IDEL", "5m", ["IDLEWATCH_IDEL", "did you mean IDLEWATCH_IDLE?"]),
        ("IDLEWATCH_PRINT_CONFIG", "1", ["IDLEWATCH_PRINT_CONFIG", "on the command line only"]),
        ("IDLEWATCH_ON_IDLE", "nudge", ["IDLEWATCH_ON_IDLE has the step 'nudge' without a text", "nudge:TEXT"]),
        ("IDLEWATCH_EVENTS", "fd:77", ["IDLEWATCH_EVENTS fd:77: no such descriptor", "77>FILE"]),
        ("IDLEWATCH_EVENTS", "fd:0", ["IDLEWATCH_EVENTS fd:0", "the command's input"]),
        ("IDLEWATCH_EXIT_CODE", "loop=3\nloop=4", ["IDLEWATCH_EXIT_CODE gives loop two codes", "3 and 4"]),
        ("IDLEWATCH_CONFIG", "/", ["configuration file /", "directory"]),
    ] {
        let run = Run::sh(&[], &format!("echo {STARTED}")).variable(name, value);
        says(&refused(&run, name), &words);
    }
}

#[test]
fn a_fault_in_a_configuration_file_is_named_with_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("my.toml");
    let path = path.to_str().expect("a name");
    for (text, words) in [
        ("\nidel = '5m'", ["my.toml:2", "unknown option 'idel'", "did you mean 'idle'?"]),
        ("\n\nidle = 'banana'", ["my.toml:3: idle 'banana'", "not a duration", "90s"]),
        ("nudge-wait = '3M'", ["my.toml:1: nudge-wait '3M'", "'m' is minutes", "90s"]),
        ("ignore = [\n 'a',\n '(',\n]", ["my.toml:3: ignore '('", "unclosed group", "\\"]),
        ("\ndone = ''", ["my.toml:2: done ''", "the pattern is empty", "all done"]),
        ("only = ['a', '.*']", ["my.toml:1: only '.*'", "every line", "x+"]),
        ("quiet = true\nverbose = true", ["my.toml:2: verbose", "my.toml:1: quiet", "remove one"]),
        (
            "exit-code = [\n 'timeout=3',\n 'timeout=4']",
            ["my.toml:3: exit-code gives timeout two codes", "3 and 4", "remove one"],
        ),
        (
            "events = 'a.x'\nrecord = 'a.x'",
            ["my.toml:1: events and ", "my.toml:2: record are the same file, 'a.x'", "give each its own"],
        ),
        ("\non-loop = 'nudge'", ["my.toml:2: on-loop has the step 'nudge'", "without a text", "nudge:TEXT"]),
        ("events = 'fd:77'", ["my.toml:1: events fd:77", "no such descriptor", "77>FILE"]),
        ("idle = '5m'\n= 3", ["my.toml:2", "invalid TOML", "idle = \"5m\""]),
        ("on-idle = 'fly'", ["my.toml:1: on-idle 'fly'", "unknown step 'fly'", "warn"]),
        ("profile = 'nope'", ["my.toml:1: profile 'nope'", "no such profile", "claude"]),
        ("[profile.x.options]\nidle = 'banana'\n[profile.x]\ncommands = ['sh']", ["my.toml:2", "'banana'", "90s"]),
    ] {
        std::fs::write(path, text).expect("a file");
        let run = Run::sh(&["--config", path], &format!("echo {STARTED}"));
        says(&refused(&run, text), &words);
    }
}

#[test]
fn one_file_is_recognised_by_each_of_its_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    std::fs::create_dir(place("sub")).expect("a folder");
    std::fs::write(place("there"), "").expect("a file");
    std::fs::hard_link(place("there"), place("linked")).expect("a link");
    std::os::unix::fs::symlink("sub", place("way")).expect("a link");
    std::fs::write(place("c.toml"), "events = 'c.toml'").expect("a file");
    let started = format!("echo {STARTED}");
    let options: [&[&str]; 6] = [
        &["--events", "a.x", "--record", "./a.x"],
        &["--events", "sub/a.x", "--record", "way/../sub/a.x"],
        &["--events", "sub/a.x", "--record", "way/a.x"],
        &["--events", "there", "--record", "linked"],
        &["--config", "c.toml"],
        &["--config", "c.toml", "--events", "e", "--record", "./sub/../c.toml"],
    ];
    for options in options {
        let message = refused(&Run::sh(options, &started).folder(folder.path()), &options.join(" "));
        let words = if options[0] == "--config" { "the configuration file itself" } else { "are the same file" };
        says(&message, &[words]);
    }
    // A device may be shared, and a file that is not there yet is no other that is.
    for options in [["--events", "/dev/null", "--record", "/dev/null"], ["--events", "there", "--record", "new"]] {
        let output = Run::sh(&options, "exit 3").folder(folder.path()).output();
        assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn two_profiles_of_one_name_or_for_one_command_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("my.toml");
    let path = path.to_str().expect("a name");
    for (text, words) in [
        ("[profile.x]\n[profiles.x]", ["my.toml:2: profile x is already defined at", "my.toml:1"]),
        (
            "[profile.a]\ncommands = ['m', 'n']\n[profile.b]\ncommands = ['n']",
            ["my.toml:3: profile b is for the command 'n', and so is profile a", "my.toml:1"],
        ),
        (
            "[profile.a]\ncommands = ['b']\n[profiles.b]",
            ["my.toml:3: profile b is for the command 'b', and so is profile a", "my.toml:1"],
        ),
    ] {
        std::fs::write(path, text).expect("a file");
        says(&refused(&Run::sh(&["--config", path], &format!("echo {STARTED}")), text), &words);
    }
}

#[test]
fn a_value_that_this_run_does_not_go_by_is_checked_all_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("my.toml");
    let path = path.to_str().expect("a name");
    for (text, words) in [
        ("[profile.other]\noptions = { idle = 'foo' }", ["my.toml:2: idle 'foo'", "not a duration"]),
        ("[profile.other.options]\nidle = '5m'\nguard = ['cpu',\n 'x']", ["my.toml:4: guard 'x'", "unknown guard"]),
        ("[profile.other.options]\nquiet = true\nverbose = true", ["my.toml:3: verbose", "my.toml:2: quiet"]),
        ("idle = 'foo'", ["my.toml:1: idle 'foo'", "not a duration"]),
    ] {
        std::fs::write(path, text).expect("a file");
        let run = Run::sh(&["--config", path, "--idle", "5m"], &format!("echo {STARTED}"));
        says(&refused(&run, text), &words);
    }
    // What one profile says may contradict another, or what holds for all.
    std::fs::write(path, "quiet = true\n[profile.a.options]\nverbose = true\n[profile.b.options]\nexplain = true")
        .expect("a file");
    assert_eq!(Run::sh(&["--config", path], "exit 3").output().status.code(), Some(3));
}

#[test]
fn help_and_version_are_no_errors() {
    for (argument, says) in [("--help", "--print-config"), ("-h", "IDLEWATCH_"), ("--version", "idlewatch ")] {
        let output = Run::bare(&[crate::support::program(), argument]).output();
        assert_eq!(output.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&output.stdout).contains(says), "{argument}");
        assert!(output.stderr.is_empty());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_cannot_be_printed_is_an_error_and_a_reader_that_has_seen_enough_is_none() {
    if !has("bash") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cast = folder.path().join("a.cast");
    std::fs::write(&cast, "{\"version\": 2, \"width\": 80, \"height\": 24}\n[1.0, \"o\", \"hello\"]\n").unwrap();
    for words in ["--help", "--version", "ctl --help", "ctl list", "ctl history", "--print-config", "replay a.cast"] {
        let words = words.replace("a.cast", &cast.to_string_lossy());
        let script = format!("$IW -- true; $IW {words} >/dev/full; echo $?; $IW {words} | true");
        let run = Run::script("bash", &format!("set -o pipefail; {script}; echo $?"));
        let output = run.variable("XDG_STATE_HOME", folder.path()).output();
        let (said, codes) = (stderr(&output), String::from_utf8_lossy(&output.stdout).into_owned());
        assert_eq!(codes, "125\n0\n", "{words}: {said}");
        assert!(said.contains("idlewatch: cannot print ") && said.contains("No space left"), "{words}: {said}");
    }
}
