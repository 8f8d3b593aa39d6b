//! The history: a line for each run, and how it is shown.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::exhaustion::can_fail;
use crate::support::{Run, program};

fn lines(state: &Path) -> Vec<Value> {
    let text = fs::read_to_string(state.join("idlewatch/history.jsonl")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn history(state: &Path, options: &[&str]) -> Output {
    let mut argv = vec![program(), "ctl", "history"];
    argv.extend(options);
    Run::bare(&argv).variable("XDG_STATE_HOME", state).variable("LC_ALL", "C.UTF-8").output()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_run_leaves_a_line_that_says_how_it_went() {
    let state = tempfile::tempdir().unwrap();
    let script = "echo one; sleep 1.2; echo two; exec sleep 300";
    let options = ["--idle", "3s", "--no-guard", "--events", "events"];
    let run = Run::sh(&options, script).folder(state.path()).variable("XDG_STATE_HOME", state.path());
    assert_eq!(run.output().status.code(), Some(121));
    let all = lines(state.path());
    assert_eq!(all.len(), 1);
    let line = &all[0];
    let event: Value =
        serde_json::from_str(fs::read_to_string(state.path().join("events")).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!((&line["v"], &line["run"], &line["pid"]), (&1.into(), &event["run"], &event["pid"]));
    assert_eq!(
        (&line["command"][2], &line["reason"], &line["code"]),
        (&script.into(), &"idle_timeout".into(), &121.into())
    );
    assert_eq!(
        (&line["childStatus"], &line["childSignal"], &line["signals"]),
        (&Value::Null, &"SIGTERM".into(), &1.into())
    );
    assert_eq!(line["cwd"], fs::canonicalize(state.path()).unwrap().to_str().unwrap());
    let elapsed = line["elapsed"].as_u64().unwrap();
    let states: u64 = line["states"].as_object().unwrap().values().map(|time| time.as_u64().unwrap()).sum();
    assert!(elapsed >= 4000 && states <= elapsed && states + 20 >= elapsed, "{line}");
    let counts: Vec<u64> = line["activity"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect();
    assert!(counts[1] >= 1 && counts.last() == Some(&0), "{line}");
    let mode = |name: &str| fs::metadata(state.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("idlewatch"), mode("idlewatch/history.jsonl")), (0o700, 0o600));
}

#[test]
fn where_the_file_system_knows_no_locks_there_is_a_history_all_the_same() {
    if can_fail() {
        let state = tempfile::tempdir().unwrap();
        for count in 1..3 {
            let no_locks = ["strace", "-qq", "-f", "-o", "/dev/null", "-e", "inject=flock:error=ENOSYS"];
            let run = Run::bare(&[&no_locks[..], &[program(), "--", "true"]].concat());
            assert!(run.variable("XDG_STATE_HOME", state.path()).output().status.success());
            assert_eq!(lines(state.path()).len(), count);
        }
    }
}

#[test]
fn it_can_be_switched_off_in_every_layer() {
    let state = tempfile::tempdir().unwrap();
    let config = state.path().join("config.toml");
    fs::write(&config, "no-history = true\n").unwrap();
    let run = |options: &[&str]| Run::new(options, &["true"]).variable("XDG_STATE_HOME", state.path());
    run(&["--no-history"]).output();
    run(&[]).variable("IDLEWATCH_NO_HISTORY", "1").output();
    run(&["--config", config.to_str().unwrap()]).output();
    assert!(!state.path().join("idlewatch").exists());
    run(&[]).output();
    assert_eq!(lines(state.path()).len(), 1);
}

#[test]
fn without_a_home_there_is_none_and_no_harm_is_done() {
    let folder = tempfile::tempdir().unwrap();
    for (state, home) in [("", ""), ("relative", "relative"), ("/proc/nowhere", ""), ("/dev/full", "")] {
        let run = Run::sh(&[], "echo done; exit 3").folder(folder.path());
        let output = run.variable("XDG_STATE_HOME", state).variable("HOME", home).output();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(3), b"".as_slice()), "{state}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let verbose = Run::sh(&["-v"], "exit 3").variable("XDG_STATE_HOME", "/dev/full").output();
    let said = String::from_utf8_lossy(&verbose.stderr).into_owned();
    assert_eq!(said.matches("history").count(), 1, "{said}");
}

#[test]
fn the_past_is_shown_as_a_table_or_as_lines() {
    let state = tempfile::tempdir().unwrap();
    assert_eq!(text(&history(state.path(), &[])), "");
    for script in ["exit 0", "exit 3", "kill -9 $$", "echo 'h\u{1b}[31m\u{202e}idden'; exit 0", "sleep 300"] {
        Run::sh(&["--timeout", "2s"], script).variable("XDG_STATE_HOME", state.path()).output();
    }
    let table = text(&history(state.path(), &[]));
    let ends: Vec<&str> = table.lines().map(|line| line.split_whitespace().nth(3).unwrap_or_default()).collect();
    assert_eq!(ends[1..], ["ok", "exit", "SIGKILL", "ok", "timeout"], "{table}");
    assert!(table.starts_with("WHEN") && table.contains('▁') && table.contains("s ago"), "{table}");
    assert!(!table.contains('\u{1b}') && !table.contains('\u{202e}'), "{table}");
    let count = |options: &[&str]| text(&history(state.path(), options)).lines().count();
    assert_eq!(count(&["--json"]), 5);
    assert_eq!(count(&["--json", "--reason", "timeout"]), 1);
    assert_eq!(count(&["--json", "--command", "exit"]), 3);
    assert_eq!(count(&["--json", "-n", "2"]), 2);
    assert_eq!(count(&["--json", "--since", "1h"]), 5);
    assert_eq!(count(&["--json", "--since", "0s"]), 0);
    let argv = [program(), "ctl", "history"];
    let plain = Run::bare(&argv).variable("XDG_STATE_HOME", state.path()).variable("LC_ALL", "C").output();
    assert!(text(&plain).is_ascii());
    let wrong = history(state.path(), &["--reason", "tired"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("idle_timeout"));
}

#[test]
fn many_runs_at_once_leave_a_line_each() {
    let state = tempfile::tempdir().unwrap();
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do $IW -- sh -c 'exit 1' & done; wait";
    Run::script("sh", script).variable("XDG_STATE_HOME", state.path()).output();
    assert_eq!(lines(state.path()).len(), 10);
}
