//! Recordings: what is in them, and that a replay sees what the run saw.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Run, has, program, stderr, without_terminal};

/// How much later than in the replay a state may be told in the run. A replay wakes up exactly when something is due; the
/// run is told the time when it got to run, and the machine may be busy.
const LATE: u64 = 1500;

struct Recording {
    header: Value,
    entries: Vec<(f64, String, String)>,
}

impl Recording {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a recording");
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let header = lines.next().expect("a header");
        let entry = |line: Value| {
            let word = |index: usize| line[index].as_str().expect("text").to_owned();
            (line[0].as_f64().expect("a time"), word(1), word(2))
        };
        Self { header, entries: lines.map(entry).collect() }
    }

    fn of(&self, code: &str) -> Vec<&str> {
        self.entries.iter().filter(|(_, own, _)| own == code).map(|(.., data)| data.as_str()).collect()
    }

    fn output(&self) -> String {
        self.of("o").concat()
    }
}

/// The states in lines of events, with their times. That the command ended is told by another event where we ended it.
fn states(lines: &str) -> Vec<(String, u64)> {
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    events
        .filter(|event| event["type"] == "state" && event["to"] != "exited")
        .map(|event| (event["to"].as_str().unwrap().to_owned(), event["elapsed"].as_u64().unwrap()))
        .collect()
}

/// Runs a script with a recording, in pipes and in a terminal, and compares what was seen with what a replay sees.
fn compare(options: &[&str], script: &str, expected: &[&str]) {
    compare_in(&[false, true], options, script, expected);
}

fn compare_in(terminals: &[bool], options: &[&str], script: &str, expected: &[&str]) {
    for terminal in terminals {
        let folder = tempfile::tempdir().unwrap();
        let mut all = vec!["--record", "run.cast", "--events", "events", "--no-guard"];
        all.extend(options);
        let run = Run::sh(&all, script).folder(folder.path());
        if *terminal {
            run.in_terminal().finish();
        } else {
            let mut command = run.command();
            without_terminal(&mut command).stdin(Stdio::null()).output().unwrap();
        }
        let limits: Vec<&str> = options
            .chunks(2)
            .filter(|pair| !pair[0].starts_with("--on-") && pair[0] != "--stdin")
            .flatten()
            .copied()
            .collect();
        check(folder.path(), &limits, expected);
    }
}

/// Compares the states of a run with those that a replay of its recording sees.
fn check(folder: &Path, limits: &[&str], expected: &[&str]) {
    let live = states(&fs::read_to_string(folder.join("events")).unwrap());
    let mut replay = Command::new(program());
    replay.args(["replay", "--json"]).args(limits).arg(folder.join("run.cast")).env("XDG_CONFIG_HOME", "/dev/null");
    let replay = replay.output().unwrap();
    assert!(replay.status.success(), "{}", String::from_utf8_lossy(&replay.stderr));
    let replayed = states(&String::from_utf8(replay.stdout).unwrap());
    let names = |states: &[(String, u64)]| states.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&live), expected);
    assert_eq!(names(&replayed), expected);
    for ((name, run), (_, replay)) in live.iter().zip(&replayed) {
        // A millisecond is lost where times are cut to milliseconds.
        assert!(run + 1 >= *replay && *run <= replay + LATE, "{name}: {run} in the run, {replay} in the replay");
    }
}

#[test]
fn a_terminal_that_knows_no_size_is_passed_on_as_it_is_and_recorded_as_programs_take_it() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::sh(&["--record", "run.cast"], "stty size").folder(folder.path());
    assert_eq!(run.in_terminal_of(0, 0).finish().0, "0 0\r\n");
    let recording = Recording::read(&folder.path().join("run.cast"));
    assert_eq!((&recording.header["width"], &recording.header["height"]), (&Value::from(80), &Value::from(24)));
    assert_eq!(recording.of("r"), Vec::<&str>::new());
}

#[test]
fn a_spinner_that_hangs_is_seen_again() {
    let script =
        "echo begin; while :; do for c in '|' / - '\\'; do printf '\\r%s working' \"$c\"; sleep 0.1; done; done";
    compare(&["--idle", "4s"], script, &["quiet", "stalled"]);
}

#[test]
fn silence_after_a_pause_is_seen_again() {
    let script = "echo one; until grep -q '\"to\":\"quiet\"' events; do sleep 0.05; done; echo two; exec sleep 300";
    compare(&["--idle", "4s"], script, &["quiet", "active", "quiet", "stalled"]);
}

#[test]
fn a_loop_is_seen_again() {
    let script = "echo start; while :; do echo 'error: try again'; sleep 0.1; done";
    compare(&["--idle", "off", "--loop-for", "3s", "--on-loop", "stop"], script, &["looping"]);
}

#[test]
fn a_drawn_screen_is_seen_again() {
    let script = "printf '\\033[?1049h\\033[2J\\033[5;1HTask: build'; i=0; while [ $i -lt 20 ]; do i=$((i+1)); \
                  printf '\\033[2;3Hstep %s\\033[7;1H' $i; sleep 0.1; done; \
                  while :; do printf '\\033[7;1H⠋ 1s'; sleep 0.1; printf '\\033[7;1H⠙ 2s'; sleep 0.1; done";
    compare(&["--idle", "4s"], script, &["quiet", "stalled"]);
}

#[test]
fn a_program_that_reads_is_seen_to_wait_again() {
    // Only a look at the processes tells: nothing on the screen asks.
    // And only without a terminal: a command that waits for a person who is there is not ended.
    compare_in(&[false], &["--idle", "8s", "--stdin", "pty"], "echo begin; exec cat", &["waiting"]);
}

#[test]
fn a_new_size_is_recorded_and_is_no_activity() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--record", "run.cast", "--events", "events", "--idle", "5s", "--no-guard", "--on-idle", "stop"];
    let script = "trap 'printf \"\\033[H\\033[Jdrawn again\"' WINCH; echo drawn; while :; do sleep 0.05; done";
    let mut run = Run::sh(&options, script).folder(folder.path()).in_terminal();
    run.wait_for("drawn").resize(100, 30).wait_for("drawn again");
    run.finish();
    let recording = Recording::read(&folder.path().join("run.cast"));
    assert_eq!((&recording.header["width"], &recording.header["height"]), (&80.into(), &24.into()));
    assert_eq!(recording.of("r"), ["100x30"]);
    check(folder.path(), &["--idle", "5s"], &["quiet", "stalled"]);
}

#[test]
fn a_recording_says_what_and_where_and_is_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.cast");
    let script = "printf 'a\\342\\234'; sleep 0.3; printf '\\273b\\377\\n'; exit 7";
    let run = Run::sh(&["--record", "run.cast"], script).folder(folder.path()).variable("TERM", "xterm-x");
    let run = run.variable("SHELL", "/bin/sh").variable("SECRET", "hidden");
    assert_eq!(run.output().status.code(), Some(7));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let recording = Recording::read(&file);
    assert_eq!(recording.header["version"], 2);
    assert_eq!(recording.header["env"], serde_json::json!({ "SHELL": "/bin/sh", "TERM": "xterm-x" }));
    assert!(recording.header["timestamp"].as_u64().is_some_and(|seconds| seconds > 1_600_000_000));
    assert!(recording.header["command"].as_str().unwrap().starts_with("sh -c 'printf"));
    assert_eq!(recording.output(), "a✻b\u{fffd}\r\n");
    assert_eq!(recording.of("x"), ["7"]);
    assert_eq!(recording.entries.last().unwrap().1, "x");
    // A second run begins anew.
    Run::sh(&["--record", "run.cast"], "echo two").folder(folder.path()).output();
    assert_eq!(Recording::read(&file).output(), "two\r\n");
}

#[test]
fn what_is_typed_is_never_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let script = "stty -echo; echo Password; read x; stty echo; echo got ${#x}; read y; echo bye";
    let mut run = Run::sh(&["--record", "run.cast"], script).folder(folder.path()).in_terminal();
    run.wait_for("Password").enter("hunter2\n").wait_for("got 7").enter("shown\n").wait_for("bye");
    run.finish();
    let text = fs::read_to_string(folder.path().join("run.cast")).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    let recording = Recording::read(&folder.path().join("run.cast"));
    assert!(recording.of("i").is_empty());
    // The terminal's echo is output.
    assert!(recording.output().contains("shown"), "{text}");
}

#[test]
fn both_streams_are_recorded_as_they_come_and_nothing_of_what_idlewatch_says() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo one; sleep 0.3; echo two >&2; sleep 0.3; echo three; exec sleep 300";
    let options = ["--record", "run.cast", "--idle", "3s", "--no-guard"];
    let output = Run::sh(&options, script).folder(folder.path()).output();
    assert!(String::from_utf8_lossy(&output.stderr).contains("idlewatch: signaled"));
    let recording = Recording::read(&folder.path().join("run.cast"));
    assert_eq!(recording.output(), "one\r\ntwo\r\nthree\r\n");
    assert!(recording.of("m").iter().any(|mark| mark.starts_with("stalled: screen unchanged for 3s")));
    assert!(recording.of("m").iter().any(|mark| mark.starts_with("signaled: SIGTERM")));
    assert_eq!(recording.of("x"), ["143"]);
}

#[test]
fn after_a_relaunch_the_recording_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--record", "run.cast", "--relaunch", "crash", "--relaunch-delay", "400ms", "--max-relaunches", "1"];
    Run::sh(&options, "echo begin; exit 3").folder(folder.path()).output();
    let recording = Recording::read(&folder.path().join("run.cast"));
    assert_eq!(recording.output(), "begin\r\nbegin\r\n");
    assert_eq!(recording.of("x"), ["3"]);
    assert_eq!(recording.of("m").iter().filter(|mark| mark.starts_with("relaunched")).count(), 1);
    let times: Vec<f64> = recording.entries.iter().map(|(at, ..)| *at).collect();
    assert!(times.is_sorted(), "{times:?}");
    let again = recording.entries.iter().find(|(_, _, data)| data.contains("relaunch\"")).unwrap().0;
    assert!(again >= 0.4, "{again}");
    let replay = Command::new(program()).arg("replay").arg(folder.path().join("run.cast")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&replay.stdout).matches("exited").count(), 1);
}

#[test]
fn a_character_that_an_end_has_cut_off_does_not_go_on_after_a_relaunch() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--record", "run.cast", "--relaunch", "crash", "--relaunch-delay", "10ms"];
    let script = r"if [ -e second ]; then printf '\273b'; exit 0; fi; : >second; printf 'a\342\234'; exit 3";
    assert_eq!(Run::sh(&options, script).folder(folder.path()).output().stdout, b"a\xe2\x9c\xbbb");
    assert_eq!(Recording::read(&folder.path().join("run.cast")).output(), "a\u{fffd}\u{fffd}b");
}

#[test]
fn asciinema_plays_it() {
    if !has("asciinema") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "printf 'h\\303\\244llo \\033[31mred\\033[m\\n'; printf 'Name? '; sleep 4; echo end";
    let run = Run::sh(&["--record", "run.cast", "--idle", "3s", "--no-guard", "--on-waiting", "warn"], script);
    assert!(run.folder(folder.path()).output().status.success());
    let asciinema = Run::bare(&["asciinema", "cat", "run.cast"]).folder(folder.path());
    let played = asciinema.variable("ASCIINEMA_CONFIG_HOME", folder.path()).in_terminal().finish();
    assert!(played.1.success(), "{}", played.0);
    assert!(played.0.contains("hällo \x1b[31mred\x1b[m\r\nName? end\r\n"), "{:?}", played.0);
}

#[test]
fn what_cannot_be_recorded_is_said_once_and_the_run_goes_on() {
    for path in ["/nowhere/run.cast", "/proc/run.cast", "/dev/full", "/"] {
        let output = Run::sh(&["--record", path], "echo one; sleep 0.2; echo two; exit 3").output();
        assert_eq!(output.status.code(), Some(3), "{path}");
        assert_eq!(output.stdout, b"one\ntwo\n", "{path}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.matches("recording").count(), 1, "{path}: {said}");
        let quiet = Run::sh(&["-q", "--record", path], "exit 3").output();
        assert_eq!((quiet.status.code(), quiet.stderr.len()), (Some(3), 0), "{path}");
    }
}

#[test]
fn a_reader_of_a_recording_that_has_stopped_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    // Open for both, so that there is a reader that never reads.
    let reader = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let output = Run::sh(&["--record", "pipe"], "seq 100000; exit 3").folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(output.stdout.len(), 588_895);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.matches("dropping parts of the recording").count(), 1, "{said}");
    assert_eq!(said.matches("were dropped").count(), 1, "{said}");
    drop(reader);
}

#[test]
fn a_recording_of_a_run_that_was_killed_can_be_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::sh(&["--record", "run.cast"], "echo begin; exec sleep 300").folder(folder.path()).in_pipes();
    run.wait_for("begin");
    let file = folder.path().join("run.cast");
    crate::support::until("the recording", || fs::read_to_string(&file).is_ok_and(|text| text.contains("begin\\r\\n")));
    run.signal(libc::SIGKILL);
    run.finish();
    // As if the disk had been full in the middle of a line.
    let text = fs::read_to_string(&file).unwrap() + "[99.5, \"o\", \"ha";
    fs::write(&file, text).unwrap();
    let replay = Command::new(program()).arg("replay").arg(&file).output().unwrap();
    assert!(replay.status.success(), "{}", String::from_utf8_lossy(&replay.stderr));
}

#[test]
fn a_recording_is_not_emptied_for_a_command_that_cannot_be_started() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("keep.cast"), "precious").unwrap();
    for command in [&["there-is-no-such-command"][..], &["--stdin", "null", "--nudge", "x", "--", "true"]] {
        let argv = [&[program(), "--record", "keep.cast"][..], command].concat();
        let output = Run::bare(&argv).folder(folder.path()).output();
        assert!(matches!(output.status.code(), Some(2 | 127)), "{}", stderr(&output));
        assert_eq!(fs::read_to_string(folder.path().join("keep.cast")).unwrap(), "precious");
    }
}
