//! `idlewatch replay`, as a person runs it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings").join(format!("{name}.cast"))
}

fn replay(options: &[&str], file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_idlewatch")).arg("replay").args(options).arg(file).output().unwrap()
}

/// The states of a recording, with the second each began, as `--json` gives them.
fn states(name: &str) -> Vec<String> {
    let out = replay(&["--json", "--idle", "30s", "--loop-for", "20s"], &recording(name));
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let lines = String::from_utf8(out.stdout).unwrap();
    let events = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let states = events.filter(|event| event["type"] == "state").inspect(|event| {
        assert_eq!(event["v"], 1);
        assert!(event["at"].as_str().is_some_and(|at| at.starts_with("2023-11-14T")), "{event}");
        assert!(event["evidence"].as_str().is_some_and(|evidence| !evidence.is_empty()), "{event}");
    });
    states
        .map(|event| format!("{} {}", event["elapsed"].as_u64().unwrap() / 1000, event["to"].as_str().unwrap()))
        .collect()
}

#[test]
fn recordings_are_read_as_a_person_would() {
    assert_eq!(states("spinner-stall"), ["18 quiet", "30 stalled"]);
    assert_eq!(states("spinner-works"), [""; 0]);
    assert_eq!(states("agent-hang"), ["18 quiet", "30 stalled"]);
    assert_eq!(states("agent-asks"), ["6 waiting"]);
    assert_eq!(states("log-loop"), ["20 looping"]);
    assert_eq!(states("log-works"), [""; 0]);
    assert_eq!(states("question"), ["2 waiting", "20 active", "40 exited"]);
}

#[test]
fn a_recording_in_which_nothing_is_found_says_so() {
    let text = timeline(&[], "[1.0, \"o\", \"hello\"]\n[62.5, \"o\", \"world\"]");
    assert_eq!(text, "  0:01:02.5  active    until the end of the recording; nothing would have been done\n");
}

#[test]
fn the_limit_on_the_whole_is_one_for_all_starts() {
    let lines: String = (1..100).fold(String::new(), |mut lines, n| {
        let _ = writeln!(lines, "[{n}.0, \"o\", \"line {n}\\r\\n\"]");
        if n == 40 {
            lines.push_str("[40.5, \"w\", \"\\\"relaunch\\\"\"]\n");
        }
        lines
    });
    let text = timeline(&["--timeout", "1m"], lines.trim_end());
    assert!(text.contains("0:01:00.0  ended"), "{text}");
}

#[test]
fn the_timeline_is_for_people() {
    let out = replay(&["--idle", "30s"], &recording("agent-hang"));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("0:00:30.2  stalled   screen unchanged for 30s except spinner"), "{text}");
    let verbose = String::from_utf8(replay(&["--idle", "30s", "-v"], &recording("agent-hang")).stdout).unwrap();
    assert!(verbose.contains("last visible change"), "{verbose}");
    let explained = verbose.lines().filter(|line| line.trim_start().starts_with("stalled: ")).count();
    assert_eq!(explained, 1, "{verbose}");
}

/// What a recording of these lines gives.
fn timeline(options: &[&str], lines: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("some.cast");
    std::fs::write(&file, format!("{{\"version\":2,\"width\":80,\"height\":24}}\n{lines}\n")).unwrap();
    let out = replay(options, &file);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn it_says_where_a_run_would_have_been_ended() {
    let silent = "[1.0,\"o\",\"working\\r\\n\"]\n[100.0,\"o\",\"more\\r\\n\"]";
    let text = timeline(&["--idle", "30s"], silent);
    assert!(text.contains("0:00:31.0  ended     would have been ended here: idle_timeout, exit status 121"), "{text}");
    assert_eq!(text.matches("would have been ended").count(), 1, "{text}");
    let text = timeline(&["--timeout", "20s"], silent);
    assert!(text.contains("0:00:20.0  ended     would have been ended here: timeout, exit status 124"), "{text}");
    let text = timeline(&["--done", "^working", "--done-idle", "10s"], silent);
    assert!(text.contains("0:00:11.0  ended     would have been ended here: completed, exit status 0"), "{text}");
    let text = timeline(&["--idle", "2m"], silent);
    assert!(!text.contains("would have been ended"), "{text}");
    let events = timeline(&["--idle", "30s", "--json"], silent);
    let ended = events.lines().find(|line| line.contains("\"signaled\"")).expect("the signal");
    let ended: serde_json::Value = serde_json::from_str(ended).unwrap();
    assert_eq!((&ended["elapsed"], &ended["reason"]), (&31_000.into(), &"idle_timeout".into()));
    assert_eq!((&ended["signal"], &ended["processes"]), (&"SIGTERM".into(), &0.into()));
}

#[test]
fn a_turn_that_is_under_way_defers_in_a_replay_too() {
    let turn = "[1.0,\"o\",\"Thinking (esc to interrupt)\\r\\n\"]\n[300.0,\"x\",\"0\"]";
    let text = timeline(&["--idle", "30s", "--profile", "claude"], turn);
    assert!(text.contains("deferred  guard turn"), "{text}");
    assert!(!text.contains("0:00:31.0  ended") && text.contains("would have been ended here: idle_timeout"), "{text}");
}

#[test]
fn after_a_relaunch_what_is_explained_counts_from_it() {
    let again = "[1.0,\"o\",\"one\\r\\n\"]\n[50.0,\"w\",\"\\\"relaunch\\\"\"]\n\
                 [51.0,\"o\",\"two\\r\\n\"]\n[100.0,\"x\",\"0\"]";
    let text = timeline(&["--idle", "40s", "-v"], again);
    assert!(text.contains("0:01:31.0  stalled"), "{text}");
    assert_eq!(text.matches("last visible change 40s ago").count(), 2, "{text}");
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_line_and_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.cast");
    std::fs::write(&file, "{\"version\":2,\"width\":80,\"height\":24}\n[0.1,\"o\",\"x\"]\n[0.2,\"o\"\n").unwrap();
    for (path, words) in [
        (file.as_path(), "broken.cast: line 3: not an event"),
        (Path::new("/no/such.cast"), "/no/such.cast: No such file"),
        (folder.path(), ": it is a directory; name a recording"),
        (Path::new(env!("CARGO_BIN_EXE_idlewatch")), "line 1: not an asciicast: it is not text; the first line should"),
    ] {
        let out = replay(&[], path);
        let error = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{error}");
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_recording_that_no_one_can_have_made_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("long.cast");
    // A question is looked at again and again, for as long as it is there.
    std::fs::write(&file, "{\"version\":2,\"width\":80,\"height\":24}\n[0.1,\"o\",\"Name? \"]\n[1e11,\"o\",\"x\"]\n")
        .unwrap();
    let out = replay(&[], &file);
    let error = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{error}");
    assert!(error.contains("long.cast: line 3: the time 100000000000 makes it longer than a hundred years"), "{error}");
    assert!(error.contains("times are in seconds"), "{error}");
}

#[test]
fn wrong_options_are_refused_with_a_reason() {
    for (options, words) in [
        (["--ignore", "("], "--ignore '(': not a regular expression"),
        (["--profile", "nobody"], "--profile 'nobody': no such profile; use one of claude"),
        (["--warn", "0"], "--warn '0': not a number from 1 to 100"),
    ] {
        let out = replay(&options, &recording("question"));
        let error = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{error}");
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_day_replays_in_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("day.cast");
    let mut cast = "{\"version\":2,\"width\":80,\"height\":24}\n".to_owned();
    for second in (0..86_400).step_by(20) {
        let _ = writeln!(cast, "[{second}.0,\"o\",\"\\r{} busy ({second}s)\"]", second % 4);
    }
    std::fs::write(&file, cast).unwrap();
    let started = std::time::Instant::now();
    assert!(replay(&["--json"], &file).status.success());
    assert!(started.elapsed().as_secs() < 10, "it took {:?}", started.elapsed());
}

#[test]
fn a_profile_can_be_tried_on_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config.toml");
    let own = "[profile.mine]\ncommands = ['mine']\n[[profile.mine.turn]]\ntext = 'esc to stop'\n\
               [[profile.mine.question]]\ntext = 'never printed'";
    std::fs::write(&config, own).unwrap();
    let options = ["--marks", "--config", config.to_str().unwrap(), "--profile", "mine"];
    let out = replay(&options, &recording("agent-hang"));
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.contains("turn      'esc to stop' appeared in: "), "{text}");
    assert!(text.contains("never seen: the question 'never printed'"), "{text}");
    let none = replay(&["--marks", "--profile", "none"], &recording("agent-hang"));
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("--profile NAME"));
}
