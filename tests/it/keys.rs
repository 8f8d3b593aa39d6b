//! The keys that mean something to a terminal mean the same under idlewatch.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use crate::support::Run;

#[test]
fn interrupt_and_quit_end_the_command() {
    for (key, signal) in [("\x03", libc::SIGINT), ("\x1c", libc::SIGQUIT)] {
        let script = "ulimit -c 0; echo ready; exec sleep 300";
        for mut run in Run::both(&[], &["sh", "-c", script]).into_iter().map(|run| run.in_terminal()) {
            // The key throws away what is not yet read: the whole line has to be.
            let (text, status) = run.wait_for("ready\r\n").enter(key).finish_bytes();
            assert_eq!(status.signal(), Some(signal));
            assert_eq!(
                String::from_utf8_lossy(&text),
                if signal == libc::SIGINT { "ready\r\n^C" } else { "ready\r\n^\\" }
            );
        }
    }
}

#[test]
fn a_command_can_catch_an_interrupt_and_gets_it_once() {
    let script = "trap 'echo caught' INT; trap 'exit 7' QUIT; echo ready; while :; do sleep 0.02; done";
    for mut run in Run::both(&[], &["sh", "-c", script]).into_iter().map(|run| run.in_terminal()) {
        run.wait_for("ready").enter("\x03").wait_for("caught").enter("\x03").wait_for("caught").enter("\x1c");
        let (text, status) = run.finish_bytes();
        assert_eq!(String::from_utf8_lossy(&text).matches("caught").count(), 2);
        assert_eq!(status.code(), Some(7));
    }
}

#[test]
fn an_interrupt_reaches_the_script_that_runs_it() {
    for shell in ["bash", "sh"] {
        for prefix in ["", "$IW --", "$IW --pty mirror --", "$IW --pty never --"] {
            let script = format!("{prefix} sh -c 'echo ready; exec sleep 300'; echo not stopped");
            let (text, status) =
                Run::script(shell, &script).in_terminal().wait_for("ready").enter("\x03").finish_bytes();
            assert!(!String::from_utf8_lossy(&text).contains("not stopped"), "{shell} {prefix}");
            assert_eq!(status.signal(), Some(libc::SIGINT), "{shell} {prefix}");
        }
    }
}

#[test]
fn an_interrupt_that_the_command_handles_lets_the_script_go_on() {
    for prefix in ["", "$IW --"] {
        let command = "trap 'echo caught; exit 0' INT; echo ready; while :; do sleep 0.02; done";
        let script = format!("{prefix} sh -c \"{command}\"; echo went on");
        let (text, status) = Run::script("bash", &script).in_terminal().wait_for("ready").enter("\x03").finish_bytes();
        assert!(String::from_utf8_lossy(&text).contains("went on"), "{prefix}");
        assert!(status.success());
    }
}

#[test]
fn an_interrupt_ends_a_whole_pipeline() {
    for prefix in ["", "$IW --"] {
        for pipeline in
            ["P sh -c 'echo ready >&2; exec sleep 300' | cat", "sleep 300 | P sh -c 'echo ready >&2; exec sleep 300'"]
        {
            let script = format!("{}; echo not stopped", pipeline.replace('P', prefix));
            let mut run = Run::script("bash", &script).in_terminal();
            let (text, status) = run.wait_for("ready").enter("\x03").finish_bytes();
            assert!(!String::from_utf8_lossy(&text).contains("not stopped"), "{script}");
            assert_eq!(status.signal(), Some(libc::SIGINT), "{script}");
        }
    }
}

#[test]
fn the_end_of_file_key_ends_input() {
    for mut run in Run::both(&[], &["sh", "-c", "echo ready; cat; echo after; read x || echo none"])
        .into_iter()
        .map(|run| run.in_terminal())
    {
        run.wait_for("ready").enter("line\n\x04").wait_for("after").enter("\x04").wait_for("none");
        assert!(run.finish().1.success());
    }
}

#[test]
fn output_can_be_held_and_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo ready; read x; touch read; echo after";
    for mut run in Run::both(&[], &["sh", "-c", script]).into_iter().map(|run| run.folder(folder.path()).in_terminal())
    {
        run.wait_for("ready").enter("\x13").enter("line\n");
        run.until("the line", |_| folder.path().join("read").exists());
        assert!(!run.text().contains("after"));
        run.enter("\x11").wait_for("after");
        assert!(run.finish().1.success());
        fs::remove_file(folder.path().join("read")).unwrap();
    }
}

#[test]
fn lines_are_edited_and_echoed_as_without() {
    let script = "echo ready; read x; echo [$x]; read -r y; echo [$y]";
    let [bare, wrapped] = Run::both(&[], &["sh", "-c", script]).map(|run| {
        let mut run = run.in_terminal();
        run.wait_for("ready")
            .enter("wrogn\x7f\x7fng\x1bé\x7f\x01\n")
            .wait_for("]")
            .enter("all gone\x15some words\x17x\\\n");
        run.finish().0
    });
    assert_eq!(wrapped, bare);
}

#[test]
fn a_key_that_is_taken_literally_is_no_signal() {
    for prefix in ["", "$IW --"] {
        let mut run = Run::script("sh", &format!("{prefix} cat -v; echo \"after $?\"")).in_terminal();
        for key in ["a", "\x16", "\x03", "b", "\n"] {
            run.enter(key);
        }
        run.wait_for("\na^Cb\r\n").enter("\x04").wait_for("after 0");
        assert!(run.finish().1.success());
    }
}

#[test]
fn letters_and_other_keys_arrive_in_the_order_in_which_they_were_typed() {
    let script = "stty raw -echo; printf ready; exec dd bs=1 count=1200 2>/dev/null";
    let mut run = Run::sh(&[], script).in_terminal();
    run.wait_for("ready");
    let mut all = Vec::new();
    // Bursts of letters, of other keys, and of both, every third without waiting for what comes back.
    for burst in 0..300_usize {
        let typed = match burst % 5 {
            0 | 3 => b"abcd",
            1 => b"\x1b[A\r",
            2 => b"e\x03f\t",
            _ => b"wxyz",
        };
        run.enter(typed);
        all.extend_from_slice(typed);
        if burst % 3 != 0 {
            run.wait_for(typed);
        }
    }
    let (text, status) = run.finish_bytes();
    assert!(status.success());
    assert!(text.strip_prefix(b"ready").is_some_and(|back| back == all), "{}", String::from_utf8_lossy(&text));
}
