//! Events as JSON lines: what is told, to whom, and that nobody is held up by it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::schema::check;
use crate::support::{Run, stderr, without_terminal};

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
    // A guard that speaks however busy the machine is.
    let mut options = vec!["--events", "events", "--idle", "2s", "--max-idle", "3s", "--progress-every", "500ms"];
    options.extend(["--guard", "cmd:true"]);
    let output = Run::sh(&options, "echo hello; exec sleep 300").folder(folder.path()).output();
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
        of_type(&events, "guard_deferred")
            .iter()
            .all(|event| event["guard"] == "cmd:true" && event["capLeft"].is_u64())
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

fn named_pipe(folder: &Path) -> PathBuf {
    let path = folder.join("pipe");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    path
}

/// Reads whole lines from a pipe, as `cat` would, in a thread of its own: opening it waits for a writer.
fn lines_of(path: PathBuf) -> std::sync::mpsc::Receiver<Value> {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let reader = BufReader::new(fs::File::open(path).unwrap());
        for line in reader.lines() {
            let event = serde_json::from_str(&line.unwrap()).expect("one object a line");
            if send.send(event).is_err() {
                return;
            }
        }
    });
    receive
}

const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn a_named_pipe_is_read_from_the_start_whoever_opens_it_first() {
    for reader_first in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let pipe = named_pipe(folder.path());
        let early = reader_first.then(|| lines_of(pipe.clone()));
        let mut run = Run::sh(&["--events", "pipe"], "echo begin; read go; exit 4").folder(folder.path()).in_pipes();
        run.wait_for("begin");
        let events = early.unwrap_or_else(|| lines_of(pipe));
        assert_eq!(events.recv_timeout(PATIENCE).unwrap()["type"], "start");
        run.enter("\n");
        let (text, status) = run.finish();
        assert_eq!((text.as_str(), status.code()), ("begin\n", Some(4)), "reader first: {reader_first}");
        let rest: Vec<Value> = events.iter().inspect(check).collect();
        assert_eq!(rest.last().unwrap()["type"], "exit");
    }
}

#[test]
fn a_reader_of_a_named_pipe_may_go_and_another_come() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = named_pipe(folder.path());
    let options = ["--events", "pipe", "--progress-every", "50ms"];
    let mut run = Run::sh(&options, "echo begin; read go; echo more; read go").folder(folder.path()).in_pipes();
    run.wait_for("begin");
    let mut line = String::new();
    BufReader::new(fs::File::open(&pipe).unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("\"type\":\"start\""), "{line}");
    run.enter("\n").wait_for("more");
    let reader = BufReader::new(fs::File::open(&pipe).unwrap());
    run.enter("\n");
    let (text, status) = run.finish();
    assert!(status.success() && text == "begin\nmore\n", "{text}");
    // It may begin in the middle of a line that the first one took a part of.
    let last = reader.lines().map_while(Result::ok).last().unwrap();
    assert!(last.contains("\"type\":\"exit\""), "{last}");
}

#[test]
fn a_named_pipe_that_nobody_reads_holds_nobody_up_and_that_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    named_pipe(folder.path());
    for (options, words) in [
        (&["--events", "pipe"] as &[&str], "the last events were not read"),
        (&["--record", "pipe"], "the end of the recording was not read"),
    ] {
        let output = Run::sh(options, "echo done; exit 3").folder(folder.path()).output();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), b"done\n".as_slice()));
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("idlewatch: {words}\n"));
    }
}

#[test]
fn a_slow_reader_of_a_named_pipe_gets_what_waits_as_soon_as_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = named_pipe(folder.path());
    // Far more than a pipe holds, but not more than waits in addition.
    let words = "x".repeat(90_000);
    let script = "echo begin; read go";
    let mut run = Run::new(&["--events", "pipe"], &["sh", "-c", script, &words]).folder(folder.path()).in_pipes();
    run.wait_for("begin");
    let events = lines_of(pipe);
    // Nothing else happens that would make it write.
    let start = events.recv_timeout(PATIENCE).unwrap();
    assert_eq!(start["command"][3].as_str().unwrap().len(), 90_000);
    run.enter("\n");
    assert!(run.finish().1.success());
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

#[test]
fn a_command_that_cannot_be_started_leaves_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::new(&["--events", "e"], &["there-is-no-such-command"]).folder(folder.path());
    assert_eq!(run.output().status.code(), Some(127));
    let told = read(&folder.path().join("e"));
    assert_eq!(
        (told.len(), &told[0]["type"], &told[0]["reason"]),
        (1, &"exit".into(), &"not_found".into()),
        "{told:?}"
    );
}

#[test]
fn events_that_go_where_the_output_goes_write_over_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for to in ["/dev/stdout", "log"] {
        let script = format!("$IW --events {to} -- sh -c 'echo one; echo two' >log");
        assert!(Run::script("sh", &script).folder(folder.path()).output().status.success());
        let text = fs::read_to_string(folder.path().join("log")).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('{')).collect();
        assert_eq!(lines, ["one", "two"], "{text}");
        let events: Vec<&str> = text.lines().filter(|line| line.starts_with('{')).collect();
        assert!(events[0].contains("\"start\"") && events[events.len() - 1].contains("\"exit\""), "{text}");
    }
}

#[test]
fn the_first_event_does_not_go_on_the_line_that_another_run_left_unfinished() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events");
    fs::write(&file, "{\"v\":1,\"type\":\"pro").unwrap();
    assert!(Run::sh(&["--events", "events"], "true").folder(folder.path()).output().status.success());
    let text = fs::read_to_string(&file).unwrap();
    let (unfinished, ours) = text.split_once('\n').unwrap();
    assert_eq!(unfinished, "{\"v\":1,\"type\":\"pro");
    fs::write(&file, ours).unwrap();
    assert_eq!(read(&file)[0]["type"], "start");
}

#[test]
fn a_step_that_outlives_the_run_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--events", "events", "--idle", "300ms", "--no-guard", "--on-idle", "run:sleep 5,stop"];
    assert_eq!(Run::new(&options, &["sleep", "300"]).folder(folder.path()).output().status.code(), Some(121));
    let text = fs::read_to_string(folder.path().join("events")).unwrap();
    assert!(text.lines().any(|line| line.contains("\"ran\"") && line.contains("still running")), "{text}");
}

#[test]
fn a_command_that_never_was_has_no_status() {
    let folder = tempfile::tempdir().unwrap();
    let output = Run::new(&["--events", "events"], &["no-such-command"]).folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(127));
    let text = fs::read_to_string(folder.path().join("events")).unwrap();
    assert!(text.contains("\"code\":127") && text.contains("\"childStatus\":null"), "{text}");
}

#[test]
fn a_reader_of_events_and_output_in_one_that_leaves_ends_the_command() {
    let script = "$IW --events /dev/stdout -- yes | head -1 >/dev/null; echo through";
    let output = Run::script("sh", script).output();
    assert!(String::from_utf8_lossy(&output.stdout).contains("through"), "{}", stderr(&output));
}
