//! How a run ends: the command's own status, and the codes that are ours.

use std::os::unix::process::ExitStatusExt;

use crate::support::{Run, stderr};

#[test]
fn the_exit_code_is_the_commands_own() {
    for code in [0, 1, 2, 42, 118, 121, 124, 125, 126, 127, 255] {
        let run = Run::sh(&[], &format!("exit {code}"));
        assert_eq!(run.output().status.code(), Some(code));
        assert_eq!(run.in_terminal().finish().1.code(), Some(code));
    }
}

#[test]
fn a_command_killed_by_a_signal_is_a_death_by_that_signal() {
    for signal in [1, 2, 3, 6, 9, 10, 11, 12, 13, 14, 15, 34, 64] {
        let run = Run::sh(&[], &format!("kill -{signal} $$"));
        assert_eq!(run.output().status.signal(), Some(signal));
        assert_eq!(run.in_terminal().finish().1.signal(), Some(signal));
    }
}

#[test]
fn a_command_that_does_not_exist_is_127_and_one_that_cannot_run_is_126() {
    let in_quotes = ("no-such command", 127, "use sh -c 'no-such command'");
    for (command, code, says) in [("no-such-command", 127, "no-such-command"), in_quotes, ("/", 126, "'/'")] {
        let output = Run::new(&[], &[command]).output();
        assert_eq!(output.status.code(), Some(code));
        assert!(String::from_utf8_lossy(&output.stderr).contains(says));
        assert_eq!(Run::new(&[], &[command]).in_terminal().finish().1.code(), Some(code));
    }
}

#[test]
fn a_limit_that_ends_nothing_does_not_end_the_waiting_for_a_reader() {
    // More than fits between the two, so that it has to be waited for until the limit is long over.
    let script =
        "$IW --timeout 300ms --on-timeout warn -- sh -c 'sleep 0.4; seq 1 18000; echo end' | { sleep 1.5; tail -n 1; }";
    let output = Run::script("sh", script).output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "end\n", "{}", stderr(&output));
}
