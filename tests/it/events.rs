//! Events as JSON lines: what is told, to whom, and that nobody is held up by it.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::schema::check;
use crate::support::{Run, without_terminal};

fn read(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the events were written");
    text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).inspect(check).collect()
}

fn of_type<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn a_run_is_told_from_its_start_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events");
    let options = ["--events", "events", "--idle", "2s", "--max-idle", "3s", "--progress-every", "500ms"];
    let output = Run::sh(&options, "echo hello; while :; do :; done").folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(121));
    let events = read(&file);
    let run = events[0]["run"].as_str().unwrap();
    for event in &events {
        assert_eq!(event["v"], 1);
        assert_eq!(event["run"], run);
        assert!(event["at"].as_str().unwrap().ends_with('Z') && event["elapsed"].is_u64(), "{event}");
    }
    assert_eq!(events[0]["type"], "start");
    assert_eq!(events[0]["command"][0], "sh");
    assert!(of_type(&events, "progress").iter().all(|event| event["sinceActivity"].is_u64()));
    assert!(!of_type(&events, "progress").is_empty());
    assert!(of_type(&events, "state").iter().any(|event| event["to"] == "stalled" && event["evidence"].is_string()));
    assert!(
        of_type(&events, "guard_deferred").iter().all(|event| event["guard"] == "cpu" && event["capLeft"].is_u64())
    );
    assert!(!of_type(&events, "guard_deferred").is_empty());
    assert_eq!(of_type(&events, "signaled")[0]["signal"], "SIGTERM");
    let exit = events.last().unwrap();
    assert_eq!((&exit["type"], &exit["code"], &exit["reason"]), (&"exit".into(), &121.into(), &"idle_timeout".into()));
    assert_eq!(exit["childSignal"], "SIGTERM");
}

#[test]
fn a_command_that_ends_by_itself_is_told_with_its_own_status() {
    let folder = tempfile::tempdir().unwrap();
    for (script, status, signal) in
        [("exit 7", Value::from(7), Value::Null), ("kill -9 $$", Value::Null, "SIGKILL".into())]
    {
        let file = folder.path().join("events");
        let _ = fs::remove_file(&file);
        Run::sh(&["--events", "events"], script).folder(folder.path()).output();
        let exit = read(&file).pop().unwrap();
        assert_eq!((&exit["reason"], &exit["childStatus"], &exit["childSignal"]), (&"exited".into(), &status, &signal));
    }
}

#[test]
fn a_descriptor_can_take_them_and_the_command_does_not_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let script = "$IW --events fd:5 -- sh -c 'echo x >&5' 5>events 2>/dev/null; echo $?";
    let output = Run::script("sh", script).folder(folder.path()).output();
    assert_ne!(output.stdout, b"0\n", "the command could write to it");
    assert_eq!(of_type(&read(&folder.path().join("events")), "start").len(), 1);
    let output = Run::sh(&["--events", "fd:77"], "touch started").folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("fd:77"));
    assert!(!folder.path().join("started").exists());
}

#[test]
fn a_file_that_cannot_be_written_is_said_once_and_the_run_goes_on() {
    for path in ["/nowhere/at/all", "/dev/full"] {
        let output = Run::sh(&["--events", path], "echo done; exit 3").output();
        assert_eq!(output.status.code(), Some(3), "{path}");
        assert_eq!(output.stdout, b"done\n", "{path}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.matches("events").count(), 1, "{path}: {said}");
    }
}

#[test]
fn a_reader_that_never_reads_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let script = "exec 5>&1 >/dev/null; $IW --events fd:5 --progress-every 1ms -- sh -c 'i=0; while [ $i -lt 400 ]; do \
                  i=$((i+1)); sleep 0.005; done; echo done >out'";
    let mut command = Run::script("sh", script).folder(folder.path()).command();
    let status = without_terminal(&mut command).stdin(Stdio::null()).stdout(writer).stderr(Stdio::null()).status();
    assert!(status.unwrap().success());
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "done\n");
    drop(reader);
}

#[test]
fn a_nudge_that_was_submitted_is_told_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--events", "events", "--idle", "2s", "--no-guard", "--on-waiting", "nudge:you,wait:5s,stop"];
    let mut command =
        Run::sh(&options, "printf 'Name? '; read name; echo \"hello $name\"").folder(folder.path()).command();
    let output = without_terminal(&mut command).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let events = read(&folder.path().join("events"));
    let nudged = of_type(&events, "nudged");
    assert_eq!((&nudged[0]["text"], &nudged[0]["submitted"]), (&"you".into(), &true.into()));
}
