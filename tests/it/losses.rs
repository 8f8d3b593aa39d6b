//! Records that cannot be written: the run goes on, and the loss is said once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::support::{Run, without_terminal};

const SCRIPT: &str = "echo one; sleep 0.2; echo two; exit 3";

/// Every record that takes a file, and what is said when it is lost.
const RECORDS: [(&str, &str); 2] = [("--events", "events"), ("--record", "recording")];

fn is_undisturbed(output: &Output, what: &str) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{what}: {said}");
    assert_eq!(output.stdout, b"one\ntwo\n", "{what}: {said}");
    said
}

#[test]
fn a_place_where_nothing_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let below_a_file = file.join("record");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&link, &link).unwrap();
    for (option, word) in RECORDS {
        for path in ["/nowhere/at/all", "/proc/record", "/", below_a_file.to_str().unwrap(), link.to_str().unwrap()] {
            let output = Run::sh(&[option, path], SCRIPT).output();
            let said = is_undisturbed(&output, path);
            assert_eq!((said.lines().count(), said.matches(word).count()), (1, 1), "{option} {path}: {said}");
        }
    }
}

#[test]
fn a_full_disk() {
    for (option, word) in RECORDS {
        let said = is_undisturbed(&Run::sh(&[option, "/dev/full"], SCRIPT).output(), option);
        assert_eq!((said.lines().count(), said.matches(word).count()), (1, 1), "{option}: {said}");
        assert!(said.contains("No space left"), "{said}");
        let said = is_undisturbed(&Run::sh(&["-q", option, "/dev/full"], SCRIPT).output(), option);
        assert_eq!(said, "");
    }
}

#[test]
fn a_disk_that_becomes_full_in_the_middle() {
    for (option, word) in RECORDS {
        let folder = tempfile::tempdir().unwrap();
        // A limit of the size of files is as good as a disk of that size.
        // Not more than a pipe holds: to a reader that is behind nothing is said.
        let command = format!("sh -c 'seq 2000 >&2; sleep 1; {SCRIPT}'");
        let script = format!("ulimit -f 8; $IW {option} record --progress-every 1ms -- {command}");
        let output = Run::script("sh", &script).folder(folder.path()).output();
        let all = is_undisturbed(&output, option);
        let said: Vec<&str> = all.lines().filter(|line| line.starts_with("idlewatch:")).collect();
        assert!(said.len() == 1 && said[0].contains(word), "{option}: {said:?}");
        assert_eq!(all.lines().count(), 2001);
        let kept = fs::read_to_string(folder.path().join("record")).unwrap();
        assert!(kept.ends_with('\n'), "{option}: {kept}");
        assert!(kept.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{option}: {kept}");
    }
}

#[test]
fn a_history_on_a_full_disk_keeps_whole_lines() {
    let state = tempfile::tempdir().unwrap();
    let one = |limit: &str, options: &str| {
        let script = format!("{limit} $IW {options} -- sh -c '{SCRIPT}'");
        Run::script("sh", &script).variable("XDG_STATE_HOME", state.path()).output()
    };
    assert_eq!(is_undisturbed(&one("", ""), "at first"), "");
    let file = state.path().join("idlewatch/history.jsonl");
    let before = fs::read(&file).unwrap();
    // Blocks are of 512 bytes: part of the next line would still fit.
    fs::write(&file, [before.as_slice(), &[b' '; 100], b"\n"].concat()).unwrap();
    let before = fs::read(&file).unwrap();
    assert!(before.len() < 1024);
    let limit = format!("ulimit -f {};", before.len().div_ceil(512));
    assert_eq!(is_undisturbed(&one(&limit, ""), "full"), "");
    assert_eq!(fs::read(&file).unwrap(), before);
    let said = is_undisturbed(&one(&limit, "-v"), "full and verbose");
    assert_eq!(said.matches("cannot write the history").count(), 1, "{said}");
}

/// Runs it as somebody who may not write here: root may write everywhere.
fn as_nobody(run: &Run, folder: &Path) -> Option<Output> {
    const NOBODY: u32 = 65534;
    let mut command = run.command();
    command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if nix::unistd::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    match without_terminal(&mut command).spawn() {
        Ok(child) => Some(child.wait_with_output().unwrap()),
        Err(error) => {
            // The build is in a folder that others may not look into.
            eprintln!("skipped: nobody cannot run it: {error}");
            None
        }
    }
}

#[test]
fn a_folder_and_a_file_that_are_read_only() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("there"), "precious").unwrap();
    fs::create_dir(folder.path().join("idlewatch")).unwrap();
    for name in ["there", "idlewatch", ""] {
        let mode = if name == "there" { 0o444 } else { 0o555 };
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    for (option, word) in RECORDS {
        for path in ["fresh", "there"] {
            let Some(output) = as_nobody(&Run::sh(&[option, path], SCRIPT), folder.path()) else { return };
            let said = is_undisturbed(&output, path);
            assert_eq!((said.lines().count(), said.matches(word).count()), (1, 1), "{option} {path}: {said}");
            assert!(said.contains("Permission denied"), "{said}");
        }
    }
    for (options, lines) in [(&[] as &[&str], 0), (&["-v"], 1)] {
        let run = Run::sh(options, SCRIPT).variable("XDG_STATE_HOME", folder.path());
        let said = is_undisturbed(&as_nobody(&run, folder.path()).unwrap(), "history");
        assert_eq!(said.matches("cannot write the history").count(), lines, "{said}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("there")).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn everything_at_once() {
    let options = ["--events", "/dev/full", "--record", "/dev/full", "--heartbeat", "1h"];
    let output =
        Run::sh(&options, SCRIPT).variable("XDG_STATE_HOME", "/dev/full").variable("NOTIFY_SOCKET", "/dev/full");
    let said = is_undisturbed(&output.output(), "all");
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn a_recording_that_another_run_is_writing_is_left_to_it() {
    let folder = tempfile::tempdir().unwrap();
    // The command inherits the variable.
    let script = "echo one; $IW -- sh -c 'echo two'; sleep 0.2; echo three; exit 3";
    let output = Run::sh(&[], script).variable("IDLEWATCH_RECORD", "run.cast").folder(folder.path()).output();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &b"one\ntwo\nthree\n"[..]));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("cannot write the recording: run.cast: another run is writing to it"), "{said}");
    let recording = fs::read_to_string(folder.path().join("run.cast")).unwrap();
    assert!(recording.contains("three") && !recording.contains('\0'), "{recording}");
    let again = Run::sh(&["--record", "run.cast"], "echo four").folder(folder.path()).output();
    assert_eq!(String::from_utf8_lossy(&again.stderr), "");
}
