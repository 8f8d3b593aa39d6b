//! Starting the command again, with real processes.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use crate::support::{Run, has, stderr};

/// How often the command was started: it writes a line each time.
fn runs(folder: &Path) -> usize {
    fs::read_to_string(folder.join("runs")).map_or(0, |text| text.lines().count())
}

#[test]
fn a_command_that_crashes_is_started_again_and_the_last_status_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo x >>runs; [ $(wc -l <runs) -ge 3 ] && exit 5; exit 1";
    let options = ["--relaunch", "crash", "--relaunch-delay", "10ms", "--max-relaunches", "2"];
    let output = Run::sh(&options, script).folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(folder.path().join("runs")).unwrap().lines().count(), 3);
}

#[test]
fn a_command_that_was_stuck_is_resumed_with_another() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--idle", "300ms", "--no-guard", "--relaunch", "stuck", "--relaunch-delay", "10ms"];
    let options = [&options[..], &["--relaunch-with", "echo resumed; exit 4"]].concat();
    let output = Run::sh(&options, "echo first; sleep 300").folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("first") && text.contains("resumed"), "{text:?}");
}

#[test]
fn three_deaths_within_seconds_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--relaunch", "any", "--relaunch-delay", "1ms", "--max-relaunches", "50"];
    let output = Run::sh(&options, "echo x >>runs; exit 9").folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(9), "{}", stderr(&output));
    assert_eq!(runs(folder.path()), 3);
    let said = stderr(&output);
    assert!(said.contains("not relaunching: it exited with 9, within 5 seconds for the 3rd time in a row"), "{said}");
}

#[test]
fn the_limit_on_the_whole_holds_for_all_starts_together() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--timeout", "2s", "--relaunch", "crash", "--relaunch-delay", "10ms", "--events", "events"];
    let script = "echo x >>runs; sleep 1.2; exit 9";
    let output = Run::sh(&options, script).folder(folder.path()).output();
    assert_eq!((output.status.code(), runs(folder.path())), (Some(124), 2), "{}", stderr(&output));
    let said = stderr(&output);
    assert_eq!(said.matches("60% of the time limit (2s) has passed").count(), 1, "{said}");
    let events = fs::read_to_string(folder.path().join("events")).unwrap();
    assert!(events.lines().last().is_some_and(|exit| exit.contains("\"reason\":\"timeout\"")), "{events}");
}

#[test]
fn that_its_time_is_running_out_is_said_also_if_it_comes_to_that_in_a_pause() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--timeout", "4s", "--warn", "10", "--relaunch", "crash", "--relaunch-delay", "2s"];
    let script = "test -e begun && exec sleep 300; touch begun; exit 9";
    let output = Run::sh(&options, script).folder(folder.path()).output();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(124), "{said}");
    let warnings: Vec<&str> = said.lines().filter(|line| line.contains("of the time limit (4s) has passed")).collect();
    assert!(matches!(*warnings, [warning] if !warning.contains("100 %")), "{said}");
}

#[test]
fn a_start_for_which_no_time_is_left_is_not_promised() {
    let options = ["--timeout", "2s", "--relaunch", "crash", "--relaunch-delay", "30s"];
    let output = Run::sh(&options, "exit 9").output();
    assert_eq!(output.status.code(), Some(9), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.contains("not relaunching") && said.contains("its time would be over") && !said.contains("relaunching '"),
        "{said}"
    );
}

#[test]
fn a_step_that_starts_it_again_gives_it_its_time_again() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        ["--timeout", "300ms", "--on-timeout", "relaunch", "--max-relaunches", "2", "--relaunch-delay", "1ms"];
    let output = Run::sh(&options, "echo x >>runs; exec sleep 300").folder(folder.path()).output();
    assert_eq!((output.status.code(), runs(folder.path())), (Some(124), 3), "{}", stderr(&output));
}

#[test]
fn a_resume_that_fails_at_once_is_followed_by_a_fresh_start() {
    let folder = tempfile::tempdir().unwrap();
    // Stuck the first time; started afresh it finds its way.
    let script = "echo x >>runs; [ -e tried ] && exit 0; exec sleep 300";
    let options =
        ["--idle", "300ms", "--no-guard", "--relaunch", "any", "--relaunch-delay", "1ms", "--events", "events"];
    let options = [&options[..], &["--relaunch-with", "touch tried; echo no session to continue; exit 1"]].concat();
    let output = Run::sh(&options, script).folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(runs(folder.path()), 2);
    let events = fs::read_to_string(folder.path().join("events")).unwrap();
    let told: Vec<&str> = events.lines().filter(|line| line.contains("\"relaunched\"")).collect();
    assert_eq!(told.len(), 2, "{events}");
    assert!(told[0].contains("no session to continue") && told[1].contains("sleep 300"), "{told:?}");
}

#[test]
fn a_person_can_end_the_pause_and_stop_it() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--relaunch", "crash", "--relaunch-delay", "1m"];
    let mut run = Run::sh(&options, "echo x >>runs; exit 9").folder(folder.path()).in_terminal();
    run.wait_for("in 1m").enter("\x03");
    let (_, status) = run.finish_bytes();
    assert_eq!(status.signal(), Some(libc::SIGINT));
    assert_eq!(runs(folder.path()), 1);

    if !has("bash") {
        return;
    }
    // In files, so that what is waited for is not in what is typed.
    let start = "echo pid=$$';'; exec $IW --relaunch crash --relaunch-delay 1m -- sh -c 'exit 9'";
    fs::write(folder.path().join("start"), start).unwrap();
    fs::write(folder.path().join("code"), "echo code=$?';'").unwrap();
    let mut run = Run::shell("bash").folder(folder.path()).in_terminal();
    let pid = run.enter("sh start\n").number("pid");
    run.wait_for("in 1m").enter("\x1a").wait_for("Stopped");
    run.enter("fg\n").until_in_front(pid).enter("\x03").enter(". ./code\n");
    assert_eq!(run.number("code"), 130);
    run.enter("exit\n").finish_bytes();
}

#[test]
fn a_signal_in_the_pause_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--relaunch", "crash", "--relaunch-delay", "1m"];
    let mut run = Run::sh(&options, "echo x >>runs; exit 9").folder(folder.path()).in_terminal();
    run.wait_for("in 1m").signal(libc::SIGTERM);
    assert_eq!(run.finish_bytes().1.signal(), Some(libc::SIGTERM));
    assert_eq!(runs(folder.path()), 1);
}

/// The last line of the history, and the events.
fn told(folder: &Path) -> (serde_json::Value, Vec<serde_json::Value>) {
    let lines = |path: &Path| -> Vec<serde_json::Value> {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect()
    };
    let history = lines(&folder.join("idlewatch/history.jsonl")).pop().unwrap_or_default();
    (history, lines(&folder.join("events")))
}

#[test]
fn an_end_in_the_pause_is_the_one_that_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--relaunch", "crash", "--relaunch-delay", "1m", "--events", "events", "--record", "cast"];
    let run = Run::sh(&options, "exit 7").folder(folder.path()).variable("XDG_STATE_HOME", folder.path());
    let mut run = run.in_terminal();
    run.wait_for("in 1m").signal(libc::SIGTERM);
    assert_eq!(run.finish_bytes().1.signal(), Some(libc::SIGTERM));
    let (history, events) = told(folder.path());
    assert_eq!((&history["childSignal"], &history["relaunches"]), (&"SIGTERM".into(), &0.into()), "{history}");
    assert!(history["elapsed"].as_u64().is_some_and(|elapsed| elapsed < 50_000), "{history}");
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["childSignal"]), (&"exit".into(), &"SIGTERM".into()));
    let times: Vec<u64> = events.iter().map(|event| event["elapsed"].as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    assert!(fs::read_to_string(folder.path().join("cast")).unwrap().lines().last().unwrap().contains("\"x\""));
}

#[test]
fn a_relaunch_that_cannot_be_started_is_recorded_too() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("vanishes");
    fs::write(&script, "#!/bin/sh\nrm vanishes\nexit 7\n").unwrap();
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let options = ["--relaunch", "crash", "--relaunch-delay", "1ms", "--events", "events", "--record", "cast"];
    let options = [&options[..], &["--report", "report.json"]].concat();
    let run = Run::new(&options, &["./vanishes"]).folder(folder.path()).variable("XDG_STATE_HOME", folder.path());
    let output = run.output();
    assert_eq!(output.status.code(), Some(127), "{}", stderr(&output));
    let (history, events) = told(folder.path());
    assert_eq!((&history["code"], &history["relaunches"]), (&127.into(), &1.into()), "{history}");
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["reason"]), (&"exit".into(), &"not_found".into()));
    assert!(folder.path().join("report.json").exists(), "{}", stderr(&output));
    assert!(fs::read_to_string(folder.path().join("cast")).unwrap().lines().last().unwrap().contains("\"x\", \"127\""));
}

#[test]
fn whoever_takes_silence_for_death_hears_something_in_the_pause() {
    let options = ["--relaunch", "crash", "--relaunch-delay", "2s", "--max-relaunches", "1", "--heartbeat", "500ms"];
    let output = Run::sh(&options, "exit 7").output();
    assert_eq!(output.status.code(), Some(7));
    assert!(stderr(&output).contains("relaunching the command in 1s"), "{}", stderr(&output));
}

#[test]
fn a_signal_while_a_stuck_command_is_being_ended_is_the_last_word() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap 'echo asked' TERM; echo x >>runs; echo ready; while :; do sleep 0.02; done";
    let options = ["--idle", "1s", "--no-guard", "-k", "3s", "--relaunch", "stuck", "--relaunch-delay", "1ms"];
    let mut run = Run::sh(&options, script).folder(folder.path()).in_terminal();
    run.wait_for("asked").signal(libc::SIGTERM);
    assert_eq!(run.finish_bytes().1.code(), Some(121));
    assert_eq!(runs(folder.path()), 1);
}

#[test]
fn the_command_gets_its_signals_also_the_second_time() {
    let script = "[ -e again ] && exec grep -E 'Sig(Ign|Cgt|Blk)' /proc/self/status; touch again; exit 1";
    let folder = tempfile::tempdir().unwrap();
    let options = ["--relaunch", "crash", "--relaunch-delay", "1ms"];
    let output = Run::sh(&options, script).folder(folder.path()).output();
    let bare = Run::bare(&["grep", "-E", "Sig(Ign|Cgt|Blk)", "/proc/self/status"]).output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&bare.stdout), "{}", stderr(&output));
}

#[test]
fn a_signal_between_two_starts_is_not_lost() {
    let options = ["--relaunch", "crash", "--relaunch-delay", "0s", "--max-relaunches", "9"];
    let script = "echo x >>runs; read -r _ _ _ watch _ </proc/$PPID/stat; kill -TERM $watch; kill -KILL $$";
    for _ in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        Run::sh(&options, script).folder(folder.path()).output();
        assert_eq!(runs(folder.path()), 1);
    }
}

#[test]
fn a_step_has_none_of_the_descriptors_that_are_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let script = "exec 9>lock; $IW --relaunch crash --idle 300ms --no-guard \
                  --on-idle 'run:ls /proc/self/fd >fds,stop' -- sh -c ': >&9; sleep 300'";
    Run::script("sh", script).folder(folder.path()).output();
    let open = fs::read_to_string(folder.path().join("fds")).unwrap();
    assert!(!open.is_empty() && !open.lines().any(|fd| fd == "9"), "{open}");
}
