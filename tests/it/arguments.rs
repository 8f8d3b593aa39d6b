//! The command's arguments arrive as they were given, and ours are checked.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use crate::support::{Run, program};

#[test]
fn arguments_arrive_as_they_were_given() {
    let print = r#"for word; do printf '[%s]' "$word"; done"#;
    let words =
        ["", " ", "a b", "-", "--", "-x", "--idle", "--help", "ünï→🦀", "two\nlines", "tab\t", "$HOME", "'", "\"", "*"];
    let mut command: Vec<OsString> = ["sh", "-c", print, "sh"].iter().map(Into::into).collect();
    command.extend(words.iter().map(Into::into));
    command.push(OsStr::from_bytes(b"not\xff\xfeutf8").to_owned());
    let [bare, wrapped] = Run::both(&[], &command);
    assert_eq!(wrapped.output().stdout, bare.output().stdout);
    assert_eq!(wrapped.in_terminal().finish().0, bare.in_terminal().finish().0);
}

#[test]
fn the_command_needs_no_dashes_before_it_and_keeps_its_own_options() {
    let output = Run::bare(&[program(), "sh", "-c", "echo $0 $1", "--idle", "-x"]).output();
    assert_eq!(output.stdout, b"--idle -x\n");
    assert!(output.status.success());
}

#[test]
fn a_wrong_argument_is_named_together_with_what_would_be_right() {
    for (options, says) in [
        (&["--idle", "banana"][..], &["banana", "90s"][..]),
        (&["--idle", "0s"], &["0s", "off"]),
        (&["--kill-after", "soon"], &["soon", "90s"]),
        (&["--size", "0x0"], &["0x0", "80x24"]),
        (&["--size", "80"], &["80", "80x24"]),
        (&["--size", "99999x24"], &["99999x24", "1000"]),
        (&["--signal", "BANANA"], &["BANANA", "TERM"]),
        (&["--pty", "sometimes"], &["sometimes", "mirror"]),
        (&["--stdin", "nowhere"], &["nowhere", "inherit"]),
        (&["--no-such-option"], &["--no-such-option"]),
    ] {
        let output = Run::new(options, &["true"]).output();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(output.stdout.is_empty());
        for word in says {
            assert!(message.contains(word), "{options:?} gives {message:?}");
        }
    }
}

#[test]
fn no_command_is_a_usage_error() {
    for arguments in [&[program()][..], &[program(), "--"], &[program(), "--idle", "1m"]] {
        let output = Run::bare(arguments).output();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains("no command given"));
    }
}

#[test]
fn help_and_version_are_printed_and_succeed() {
    for (option, says) in [("--help", "--kill-after"), ("--version", env!("CARGO_PKG_VERSION"))] {
        let output = Run::bare(&[program(), option]).output();
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains(says));
    }
}

#[test]
fn help_is_printed_whole_and_a_reader_that_left_is_no_failure() {
    let output = Run::script("bash", "set -o pipefail; $IW --help | tail -1").output();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).trim_end().ends_with("beats the file."), "{output:?}");
    // The reader is gone before anything is written.
    let gone = "exec 3> >(:); wait $!; \"$IW\" --help >&3; echo $?; \"$IW\" --print-config >&3 2>&1; echo $?";
    let output = Run::script("bash", gone).output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n0\n");
}

#[test]
fn what_is_said_before_a_command_runs_does_not_go_to_what_it_opened() {
    // Where a standard stream is closed, the next that is opened would take its place.
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "\"$IW\" --events events --idle nonsense -- true {closed}; \"$IW\" --events events -- true {closed}; cat events"
        );
        let output = Run::script("sh", &script).folder(folder.path()).output();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.lines().count() > 1 && text.lines().all(|line| line.starts_with("{\"v\":1")), "{closed}: {text}");
    }
}
