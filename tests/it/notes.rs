//! What idlewatch says to the person leaves what the command shows alone.

use std::fs;

use crate::support::{Run, until};

#[test]
fn our_own_words_wait_until_a_sequence_of_the_command_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let script = "stty raw -echo; printf 'start\\r\\n'; while [ ! -e go ]; do sleep 0.02; done; \
                  printf 'new text\\r\\n\\033[38;2;1'; while [ ! -e on ]; do sleep 0.02; done; printf '0;20;30mX\\r\\n'";
    let options = ["--idle", "500ms", "--no-guard", "--on-idle", "warn,wait:20s,term", "--events", "events"];
    let mut run = Run::sh(&options, script).folder(folder.path()).in_terminal();
    run.wait_for("screen unchanged");
    fs::write(folder.path().join("go"), "").unwrap();
    let events = || fs::read_to_string(folder.path().join("events")).unwrap();
    until("it is active again", || events().contains("\"to\":\"active\""));
    fs::write(folder.path().join("on"), "").unwrap();
    let (text, status) = run.finish();
    assert!(status.success());
    assert!(text.contains("\x1b[38;2;10;20;30mX"), "{text:?}");
    assert!(text.contains("\x1b[23;2t"), "{text:?}");
}

#[test]
fn what_is_said_last_is_no_part_of_a_sequence_that_was_cut_off() {
    let options = ["--idle", "300ms", "--no-guard", "-k", "300ms"];
    let run = Run::sh(&options, "printf 'hello\\r\\n\\033]0;half a title'; sleep 300").in_terminal();
    let (text, status) = run.finish();
    assert_eq!(status.code(), Some(121));
    let (_, after) = text.split_once("half a title").unwrap();
    assert!(after.starts_with('\x18') && after.contains("silent for too long"), "{text:?}");
}

#[test]
fn a_message_shows_what_it_quotes_and_does_not_obey_it() {
    let folder = tempfile::tempdir().unwrap();
    let name = "evil\x1b]0;title\x07.cast";
    fs::write(
        folder.path().join(name),
        "{\"version\": 2, \"width\": 80, \"height\": 24}\n[0.1, \"r\", \"\\u001b[31m\"]\n",
    )
    .unwrap();
    let output = Run::bare(&[crate::support::program(), "replay", name]).folder(folder.path()).output();
    let said = crate::support::stderr(&output);
    assert!(!output.status.success() && !said.contains('\x1b') && said.contains("<U+001B>"), "{said:?}");
}
