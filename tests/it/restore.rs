//! However a run ends, the terminal is as it was: its settings, and exactly the modes that were left on.

use crate::support::{Run, Running};

/// What a command switches on, and what undoes it.
const MODES: &[(&str, &str)] = &[
    ("\\033[?1049h", "\x1b[?1049l"),
    ("\\033[?47h", "\x1b[?47l"),
    ("\\033[?1000h\\033[?1006h", "\x1b[?1000l\x1b[?1006l"),
    ("\\033[?1002;1003;1015h", "\x1b[?1002l\x1b[?1003l\x1b[?1015l"),
    ("\\033[?2004h", "\x1b[?2004l"),
    ("\\033[?1004h", "\x1b[?1004l"),
    ("\\033[>1u", "\x1b[<1u"),
    ("\\033[>1u\\033[>5u", "\x1b[<2u"),
    ("\\033[?25l", "\x1b[?25h"),
    ("\\033[1;31m", "\x1b[m"),
    ("\\033[?2026h", "\x1b[?2026l"),
    ("\\033[?1049h\\033[?25l\\033[?2004h", "\x1b[?1049l\x1b[?2004l\x1b[?25h"),
    // As apt does for its progress bar, and cargo for that of the terminal.
    ("\\0337\\033[0;5r\\0338", "\x1b7\x1b[r\x1b8"),
    ("\\033]9;4;1;30\\033\\\\", "\x1b]9;4;0\x1b\\"),
    ("\\033]8;;file:///\\033\\\\", "\x1b]8;;\x1b\\"),
    ("\\033[4h", "\x1b[4l"),
    ("\\033[4h\\033[3;5r\\033[0m", "\x1b[4l\x1b7\x1b[r\x1b8"),
];

fn wait_for_end(run: &mut Running, expected: &str, what: &str) {
    let (text, _) = run.finish_bytes();
    let text = String::from_utf8_lossy(&text).into_owned();
    let (_, after) = text.rsplit_once("ready").expect("it began");
    assert_eq!(after, expected, "{what}");
}

#[test]
fn exactly_the_modes_left_on_are_undone() {
    for (on, off) in MODES {
        let mut run = Run::sh(&[], &format!("stty raw -echo; printf '{on}ready'")).in_terminal();
        let before = run.found();
        wait_for_end(&mut run, off, on);
        assert_eq!(run.settings(), before);
    }
}

#[test]
fn a_setting_that_somebody_changed_meanwhile_does_not_leave_the_terminal_raw() {
    let script = "outer=$(tty) $IW -- sh -c 'stty iutf8 -ixany <$outer; echo ready'";
    let mut run = Run::script("sh", script).in_terminal();
    let before = run.found();
    wait_for_end(&mut run, "\r\n", "iutf8");
    assert_eq!(run.settings(), before);
}

#[test]
fn modes_are_undone_after_a_crash() {
    for signal in ["SEGV", "ABRT", "KILL"] {
        let script =
            format!("ulimit -c 0; stty raw -echo; printf '\\033[?1049h\\033[?1003h\\033[?25lready'; kill -{signal} $$");
        let mut run = Run::sh(&[], &script).in_terminal();
        let before = run.found();
        wait_for_end(&mut run, "\x1b[?1049l\x1b[?1003l\x1b[?25h", signal);
        assert_eq!(run.settings(), before);
    }
}

#[test]
fn modes_are_undone_after_a_signal_to_idlewatch() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
        let script =
            "ulimit -c 0; stty raw -echo; printf '\\033[?1049h\\033[?2004h\\033[>1u\\033[31mready'; exec sleep 300";
        let mut run = Run::sh(&[], script).in_terminal();
        let before = run.found();
        run.wait_for("ready").signal(signal);
        wait_for_end(&mut run, "\x1b[<1u\x1b[?1049l\x1b[?2004l\x1b[m", &signal.to_string());
        assert_eq!(run.settings(), before);
    }
}

#[test]
fn modes_are_undone_after_idleness() {
    let script = "stty raw -echo; printf '\\033[?1049h\\033[?25lready'; exec sleep 300";
    for (options, ends) in [
        (&["--idle", "500ms"] as &[&str], "\x1b[?1049l\x1b[?25hidlewatch: "),
        (&["--idle", "500ms", "-q"], "ready\x1b[?1049l\x1b[?25h"),
    ] {
        let mut run = Run::sh(options, script).in_terminal();
        let before = run.found();
        let (text, status) = run.finish_bytes();
        // The message comes when the screen is as it was.
        assert!(String::from_utf8_lossy(&text).contains(ends), "{:?}", String::from_utf8_lossy(&text));
        assert_eq!(status.code(), Some(121));
        assert_eq!(run.settings(), before);
    }
}

#[test]
fn nothing_is_added_for_a_command_that_cleans_up() {
    for tidy in [
        "\\033[?1049h\\033[?25l\\033[?1049l\\033[?25h",
        "\\033[?1000;1006h\\033[?1000;1006l",
        "\\033[>1u\\033[<u",
        "\\033[31mred\\033[0m",
        "\\033[31mred\\033[39m",
        "\\033[?2026h\\033[?2026l",
        "\\033]0;title\\007",
        "\\033[2J\\033[1;1H",
        "\\033[2;5r\\033[4h\\033[r\\033[4l",
        "\\033]8;;file:///\\007link\\033]8;;\\007\\033]9;4;3\\007\\033]9;4;0\\007",
        // Programs that draw set it to the whole screen, and leave it so.
        "\\033[1;24r",
        "plain",
    ] {
        let command = ["sh", "-c", &format!("printf '{tidy}ready'")];
        let [bare, wrapped] = Run::both(&[], &command).map(|run| run.in_terminal().finish().0);
        assert_eq!(wrapped, bare, "{tidy}");
    }
}

#[test]
fn modes_are_noticed_however_they_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    for cut in 1..8 {
        let sequence = "\x1b[?1049h";
        let script = format!(
            "printf '{}'; while [ ! -e go{cut} ]; do sleep 0.01; done; printf '{}ready'",
            sequence[..cut].replace('\x1b', "\\033"),
            &sequence[cut..]
        );
        let mut run = Run::sh(&[], &script).folder(folder.path()).in_terminal();
        run.wait_for(&sequence[..cut]);
        std::fs::write(folder.path().join(format!("go{cut}")), "").unwrap();
        wait_for_end(&mut run, "\x1b[?1049l", &cut.to_string());
    }
}

#[test]
fn nothing_is_added_where_the_output_goes_elsewhere() {
    for options in [&[][..], &["--pty", "mirror"], &["--pty", "never"]] {
        let output = Run::sh(options, "printf '\\033[?1049h\\033[31mleft on'").output();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "\x1b[?1049h\x1b[31mleft on");
    }
}

#[test]
fn the_settings_are_back_when_the_command_cannot_be_run() {
    let mut run = Run::new(&[], &["no-such-command"]).in_terminal();
    let before = run.found();
    let (text, status) = run.finish_bytes();
    assert_eq!(status.code(), Some(127));
    assert!(String::from_utf8_lossy(&text).ends_with("\r\n"));
    assert_eq!(run.settings(), before);
}

#[test]
fn settings_that_a_killed_command_has_changed_in_our_own_terminal_are_put_back() {
    for words in ["--stdin inherit", "--pty never"] {
        let script = format!(
            "stty -ixon; before=$(stty -g); $IW {words} -q -- sh -c 'stty raw -echo; echo ready; kill -KILL $$'; \
             echo status=$?; test \"$before\" = \"$(stty -g)\" && echo sa''me"
        );
        let (text, _) = Run::script("sh", &script).in_terminal().finish();
        assert!(text.contains("ready") && text.contains("status=137") && text.contains("same"), "{words}: {text}");
    }
}
