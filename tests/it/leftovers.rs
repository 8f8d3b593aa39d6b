//! What the command leaves running in the background lives on, and delays nothing.

use std::fs;
use std::path::Path;

use crate::support::{Leftover, Run, send, state, until};

/// idlewatch in a script that stays until a line is entered: the end of what leads a session is a hangup for everybody.
fn within_a_script(options: &[&str], command: &str) -> Run {
    Run::script("sh", &format!("$IW {} -- sh -c '{command}'; echo code=$?\";\"; read x", options.join(" ")))
}

#[test]
fn a_grandchild_that_holds_the_terminal_does_not_delay_the_end() {
    for mut run in within_a_script(&[], "sleep 300 & echo pid=$!\";\"; exit 5").both_ways() {
        let grandchild = Leftover(run.number("pid"));
        assert_eq!(run.number("code"), 5);
        assert!(state(grandchild.0).is_some(), "in a terminal: {}", run.has_terminal());
        run.enter("\n").finish_bytes();
    }
}

#[test]
fn a_chatty_grandchild_does_not_delay_the_end() {
    for mut run in within_a_script(&[], "yes >/dev/tty & echo pid=$!\";\"; exit 5").both_ways() {
        let _grandchild = Leftover(run.number("pid"));
        assert_eq!(run.number("code"), 5);
        run.enter("\n").finish_bytes();
    }
}

/// A script that stays in the background and tells, in files, which signals it got.
fn background(folder: &Path) {
    let script = "trap 'touch hup' HUP; trap 'touch term' TERM; trap 'touch here' USR1; touch begun; \
                  while :; do sleep 0.02; done";
    fs::write(folder.join("background"), script).unwrap();
}

#[test]
fn background_children_live_on_and_are_not_signalled() {
    for start in
        ["sh background &", "setsid sh background &", "(sh background &);", "nohup sh background >/dev/null 2>&1 &"]
    {
        for options in [&[][..], &["--pty", "never"]] {
            let folder = tempfile::tempdir().unwrap();
            background(folder.path());
            let script = format!("{start} while [ ! -e begun ]; do sleep 0.01; done; exit 3");
            for mut run in within_a_script(options, &script).folder(folder.path()).both_ways() {
                let in_terminal = run.has_terminal();
                assert_eq!(run.number("code"), 3);
                let found = find(folder.path());
                assert!(found.is_some(), "{start} {options:?} in a terminal: {in_terminal}");
                let grandchild = Leftover(found.unwrap());
                send(grandchild.0, libc::SIGUSR1);
                until(
                    &format!("an answer, {:?}, {start} {options:?} in a terminal: {in_terminal},", state(grandchild.0)),
                    || folder.path().join("here").exists(),
                );
                assert!(!folder.path().join("hup").exists(), "{start} {options:?} in a terminal: {in_terminal}");
                assert!(!folder.path().join("term").exists());
                run.enter("\n").finish_bytes();
                drop(grandchild);
                let _ = fs::remove_file(folder.path().join("hup"));
                for file in ["begun", "here"] {
                    fs::remove_file(folder.path().join(file)).unwrap();
                }
            }
        }
    }
}

/// The process whose folder this is.
fn find(folder: &Path) -> Option<i32> {
    fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).find(
        |pid: &i32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line == b"sh\0background\0" && fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|path| path == folder)
        },
    )
}
