//! Time that nobody could watch is no silence.

use std::fs;

use serde_json::Value;

use crate::support::{Run, until};

#[test]
fn a_suspended_machine_starts_a_fresh_period() {
    let folder = tempfile::tempdir().unwrap();
    let (told, events) = (folder.path().join("suspended"), folder.path().join("events"));
    fs::write(&told, "100").unwrap();
    let read = || -> Vec<Value> {
        let text = fs::read_to_string(&events).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let options = ["--idle", "3s", "--no-guard", "--events", "events"];
    let run = Run::sh(&options, "echo hello; exec sleep 300").folder(folder.path());
    let mut child = run.variable("IDLEWATCH_TEST_SUSPENDED", &told).command().spawn().unwrap();
    until("the warning", || read().iter().any(|event| event["type"] == "idle_warning"));
    // The lid was closed for an hour.
    fs::write(&told, "3700").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(121));
    let events = read();
    let gap = events.iter().find(|event| event["type"] == "gap").expect("a gap");
    assert_eq!(gap["length"], 3_600_000);
    let stalled: Vec<&Value> = events.iter().filter(|event| event["to"] == "stalled").collect();
    assert_eq!(stalled.len(), 1);
    let (gap, stalled) = (gap["elapsed"].as_u64().unwrap(), stalled[0]["elapsed"].as_u64().unwrap());
    assert!(stalled >= gap + 3000, "{gap} {stalled}");
}
