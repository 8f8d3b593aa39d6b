//! The post-mortem: what is in it, when it is written, and that it never changes how a run ends.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::{Run, fixture, has, without_terminal};

/// What ends a silent command soon, in a test.
const SOON: [&str; 4] = ["--idle", "2s", "--no-guard", "--warn=50"];

fn options<'o>(more: &[&'o str]) -> Vec<&'o str> {
    SOON.iter().chain(more).copied().collect()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a report")).expect("one object")
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn lines(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|line| line.as_str().expect("a text")).collect()
}

#[test]
fn every_process_is_shown_with_what_it_waits_for() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = fixture("tree/hang.py");
    let more = ["--idle", "4s", "--report", "r.json"];
    let output = Run::new(&options(&more), &["python3", script.to_str().unwrap()]).folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(121), "{}", said(&output));
    let port = String::from_utf8_lossy(&output.stdout).trim().replace("port=", "").replace(';', "");
    let report = json(&folder.path().join("r.json"));
    assert_eq!((&report["v"], &report["exit"]["code"]), (&1.into(), &121.into()));
    assert_eq!(report["exit"]["reason"], "idle_timeout");
    assert_eq!(report["verdict"]["state"], "stalled");
    assert!(report["verdict"]["evidence"].as_str().unwrap().contains("4s"), "{}", report["verdict"]);
    let processes = report["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 6, "{processes:#?}");
    let parent = &processes[0]["pid"];
    let doing = |kinds: &[&str]| -> &Value {
        let does = |process: &&Value| {
            let all = process["doing"].as_array().unwrap();
            all.iter().map(|doing| doing["kind"].as_str().unwrap()).eq(kinds.iter().copied())
        };
        processes.iter().find(does).unwrap_or_else(|| panic!("{kinds:?} is not in {processes:#?}"))
    };
    assert_eq!(doing(&["socket"])["doing"][0]["detail"], format!("tcp to 127.0.0.1:{port}"));
    assert_eq!(doing(&["socket", "terminal"])["parent"], *parent);
    let waiting = doing(&["child"]);
    let paused = doing(&["signal"]);
    assert_eq!(paused["parent"], waiting["pid"]);
    assert_eq!(waiting["doing"][0]["detail"], paused["pid"].to_string());
    let busy = doing(&["running"]);
    assert!(busy["cpuPercent"].is_u64() && busy["cpu"].as_u64().unwrap() > 0, "{busy}");
    assert_eq!(doing(&["pipe"])["pid"], *parent);
    assert!(processes.iter().all(|process| process["command"].as_str().unwrap().contains("hang.py")));
    assert!(lines(&report["screen"]["rows"]).contains(&format!("port={port};").as_str()));
    assert_eq!(report["screen"]["taken"], "signal");
    assert!(report["tried"].as_array().unwrap().iter().any(|tried| tried["what"] == "signaled"));
    assert_eq!(report["policy"]["idle"], "4s");
    assert!(report["events"].as_array().unwrap().iter().any(|event| event["type"] == "exit"));
}

#[test]
fn a_process_that_reads_the_terminal_is_shown_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let output = Run::sh(&options(&["--report", "r.json"]), "printf 'Name? '; head -n 1 </dev/tty")
        .folder(folder.path())
        .output();
    assert_eq!(output.status.code(), Some(123), "{}", said(&output));
    let report = json(&folder.path().join("r.json"));
    assert_eq!(report["verdict"]["state"], "waiting");
    let reads = |process: &Value| process["doing"][0]["kind"] == "terminal";
    assert!(report["processes"].as_array().unwrap().iter().any(reads), "{}", report["processes"]);
}

#[test]
fn what_a_program_printed_stays_text_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"printf '\033]0;<b>title</b>\007\033[31m<script>alert(1)</script>\033[m " & '"'"'\n'
        printf '````\n| a | b |\n# head\n\342\200\256evil\342\201\246 \342\200\213 \302\233x\n'
        exec sleep 1000"#;
    for name in ["r.html", "r.md", "r.json"] {
        let output = Run::sh(&options(&["--report", name]), script).folder(folder.path()).output();
        assert_eq!(output.status.code(), Some(121), "{}", said(&output));
        assert!(said(&output).contains(&format!("report written to {name}")), "{}", said(&output));
        let path = folder.path().join(name);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
        let text = fs::read_to_string(&path).unwrap();
        let hidden = |letter: char| {
            letter.is_control() && letter != '\n' || ['\u{200b}', '\u{202e}', '\u{2066}'].contains(&letter)
        };
        assert!(!text.contains(hidden), "{name}: {text}");
    }
    assert_eq!(names(folder.path()), ["r.html", "r.json", "r.md"]);

    let page = fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(!page.contains("<script") && !page.contains("<b>"), "{page}");
    assert!(page.contains(">&lt;script&gt;alert(1)&lt;/script&gt;</span> &quot; &amp; &#39;\n"), "{page}");
    assert!(page.contains("title “&lt;b&gt;title&lt;/b&gt;”") && page.contains("&lt;U+202E&gt;evil&lt;U+2066&gt;"));
    for word in ["http://", "https://", "src=", "url(", "@import", "href="] {
        assert!(!page.contains(word), "{word} is in the page");
    }

    let text = fs::read_to_string(folder.path().join("r.md")).unwrap();
    let screen = text.split("## Last screen").nth(1).unwrap();
    assert!(screen.contains("\n`````text\n<script>alert(1)</script> \" & '\n````\n| a | b |\n# head\n"), "{text}");

    let report = json(&folder.path().join("r.json"));
    let rows = lines(&report["screen"]["rows"]);
    assert_eq!(rows[0], "<script>alert(1)</script> \" & '");
    assert_eq!(rows[4], "\u{202e}evil\u{2066} \u{200b} x");
    assert_eq!(report["screen"]["title"], "<b>title</b>");
}

#[test]
fn a_full_screen_program_is_shown_before_it_cleared_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let full =
        r"printf 'before\n\033[?1049h\033[H\033[44mFULL SCREEN\033[m'; trap 'printf \\033[?1049lbye; exit 1' TERM";
    let stuck = format!("{full}; while :; do sleep 0.1; done");
    let output = Run::sh(&options(&["--report", "r.json"]), &stuck).folder(folder.path()).output();
    assert!(matches!(output.status.code(), Some(121 | 123)), "{}", said(&output));
    let report = json(&folder.path().join("r.json"));
    assert_eq!(lines(&report["screen"]["rows"]), ["FULL SCREEN"]);
    assert!(matches!(report["verdict"]["state"].as_str(), Some("stalled" | "waiting")), "{}", report["verdict"]);

    let ends = format!("{full}; printf '\\033[?1049lafter\\n'; exit 3");
    let output = Run::sh(&["--report", "r.json", "--report-always"], &ends).folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let report = json(&folder.path().join("r.json"));
    assert_eq!(lines(&report["screen"]["rows"]), ["FULL SCREEN"]);
    assert_eq!((&report["screen"]["taken"], &report["verdict"]), (&"end".into(), &Value::Null));
}

#[test]
fn a_normal_end_leaves_a_report_only_where_it_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for script in ["exit 0", "exit 3", "kill -9 $$"] {
        let output = Run::sh(&["--report", "r.json"], script).folder(folder.path()).output();
        let always = Run::sh(&["--report", "a.json", "--report-always"], script).folder(folder.path()).output();
        assert_eq!((output.status, said(&output)), (always.status, said(&always)), "{script}");
        assert_eq!(names(folder.path()), ["a.json"]);
        let exit = &json(&folder.path().join("a.json"))["exit"];
        assert_eq!(exit["reason"], "exited");
        assert_eq!(exit["code"].as_i64(), output.status.code().map(i64::from));
    }
    let exit = &json(&folder.path().join("a.json"))["exit"];
    assert_eq!((&exit["code"], &exit["childSignal"]), (&Value::Null, &"SIGKILL".into()));
}

#[test]
fn a_timeout_and_the_last_of_several_launches_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let output = Run::sh(&["--timeout", "1s", "--report", "r.json"], "exec sleep 1000").folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(124), "{}", said(&output));
    assert_eq!(json(&path)["verdict"]["state"], "overtime");
    fs::remove_file(&path).unwrap();

    let again = ["--relaunch", "crash", "--max-relaunches", "1", "--relaunch-delay", "10ms", "--report", "r.json"];
    let output = Run::sh(&again, "echo once more; exit 3").folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let report = json(&path);
    assert_eq!((&report["exit"]["relaunches"], &report["exit"]["relaunchLimitReached"]), (&1.into(), &true.into()));
    let started = report["events"].as_array().unwrap().iter().filter(|event| event["type"] == "start");
    assert_eq!(started.count(), 2);
}

#[test]
fn it_goes_by_the_time_that_was_watched_also_after_a_relaunch() {
    let folder = tempfile::tempdir().unwrap();
    let again = ["--relaunch", "crash", "--max-relaunches", "1", "--relaunch-delay", "10ms", "--report", "r.json"];
    // Somebody stops it in the first launch, for a second by the clocks of the day.
    let script = "[ -e second ] && exit 3; >second; kill -STOP $WATCH; sleep 1; kill -CONT $WATCH; exit 3";
    let watched = format!("WATCH=$$ exec $IW {} -- sh -c \"$SCRIPT\"", again.join(" "));
    let run = Run::script("sh", &watched).folder(folder.path()).variable("SCRIPT", script);
    assert_eq!(run.variable("XDG_STATE_HOME", folder.path()).output().status.code(), Some(3));
    let past = fs::read_to_string(folder.path().join("idlewatch/history.jsonl")).unwrap();
    let (report, past) = (json(&folder.path().join("r.json")), serde_json::from_str::<Value>(&past).unwrap());
    assert_eq!((&report["elapsed"], &past["relaunches"]), (&past["elapsed"], &1.into()));
}

#[test]
fn what_scrolled_off_is_there_up_to_a_hundred_lines() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::sh(&["--report", "r.json", "--report-always", "--size", "80x24"], "seq 1 30000");
    let output = run.folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let report = json(&folder.path().join("r.json"));
    let (above, rows) = (lines(&report["linesAbove"]), lines(&report["screen"]["rows"]));
    let expected: Vec<String> = (29_878..=30_000).map(|number| number.to_string()).collect();
    assert_eq!([above, rows].concat(), expected);
}

#[test]
fn a_report_that_cannot_be_written_is_said_at_both_ends_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder.md")).unwrap();
    for path in ["/nowhere/at/all/r.md", "folder.md", "/proc/r.html", "/sys/r.json"] {
        let run = Run::sh(&["--report-always", "--report", path], "echo done; exit 3").folder(folder.path());
        let output = run.output();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &b"done\n"[..]), "{path}");
        let said = said(&output);
        let (before, after) = said.split_once('\n').unwrap_or_default();
        assert!(before.contains("the report cannot be written") && before.contains(path), "{path}: {said}");
        assert!(after.contains("cannot write the report") && after.lines().count() == 1, "{path}: {said}");
    }
    // No file may grow: the disk might as well be full.
    let script = "ulimit -f 0; exec $IW --report-always --report r.md -- sh -c 'exit 3'";
    let output = Run::script("sh", script).folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert_eq!(said(&output).matches("cannot write the report").count(), 1, "{}", said(&output));
    assert_eq!(names(folder.path()), ["folder.md"], "nothing is left behind");
    let quiet = Run::sh(&["-q", "--report-always", "--report", "/nowhere/r.md"], "exit 3").output();
    assert_eq!((quiet.status.code(), said(&quiet).as_str()), (Some(3), ""));
}

#[test]
fn the_commands_own_tasks_are_quoted_or_it_is_said_why_not() {
    let folder = tempfile::tempdir().unwrap();
    nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let tasks = |checkpoint: &str, script: &str| {
        let always = ["--report", "r.json", "--report-always", "--checkpoint", checkpoint];
        let output = Run::sh(&always, script).folder(folder.path()).output();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        json(&folder.path().join("r.json"))["tasks"].clone()
    };
    let written = r#"echo '{"tasks":[{"name":"a","status":"done"},{"name":"b","status":"in_progress"},"c"]}' >t.json"#;
    let found = tasks("t.json", written);
    assert_eq!(
        (&found["done"][0], &found["current"][0], &found["remaining"][0]),
        (&"a".into(), &"b".into(), &"c".into())
    );
    for (checkpoint, script, says) in [
        ("missing.json", ":", "No such file"),
        ("pipe", ":", "not a regular file"),
        ("/dev/zero", ":", "not a regular file"),
        ("half.json", "echo '{\"tasks\":' >half.json", "not JSON"),
    ] {
        let found = tasks(checkpoint, script);
        assert!(found["error"].as_str().unwrap().contains(says), "{checkpoint}: {found}");
    }
}

#[test]
fn how_to_go_on_is_said_where_it_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let always = ["--report", "r.json", "--report-always"];
    let resume = |more: &[&str]| {
        let all: Vec<&str> = always.iter().chain(more).copied().collect();
        Run::sh(&all, "exit 0").folder(folder.path()).output();
        json(&folder.path().join("r.json"))["resume"]["command"].clone()
    };
    assert_eq!(resume(&[]), Value::Null);
    assert_eq!(resume(&["--profile", "claude"]), "claude --continue");
    assert_eq!(resume(&["--profile", "codex", "--relaunch-with", "mine"]), "mine");
}

#[test]
fn the_options_are_checked_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    for (options, says) in [
        (&["--report", "r.txt"][..], ".md, .json or .html"),
        (&["--report", ""], ".md, .json or .html"),
        (&["--report-always"], "--report FILE"),
    ] {
        let output = Run::sh(options, "touch started").folder(folder.path()).output();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(said(&output).contains(says), "{options:?}: {}", said(&output));
    }
    let run = Run::sh(&[], "exit 0").folder(folder.path()).variable("IDLEWATCH_REPORT_ALWAYS", "1");
    assert_eq!(run.output().status.code(), Some(0), "it stands for runs with a report");
    let output = run.variable("IDLEWATCH_REPORT", "e.md").output();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(names(folder.path()), ["e.md"]);
}

#[test]
fn a_nudge_and_its_result_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let nudges = ["--nudge", "go on", "--max-nudges", "1", "--nudge-wait", "2s", "--report", "r.json"];
    let script = "printf 'working'; stty -echo </dev/tty; while :; do sleep 1000; done";
    let mut command = Run::sh(&options(&nudges), script).folder(folder.path()).command();
    let output = without_terminal(&mut command).stdin(std::process::Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(121), "{}", said(&output));
    let report = json(&folder.path().join("r.json"));
    let tried = report["tried"].as_array().unwrap();
    let what: Vec<&str> = tried.iter().map(|tried| tried["what"].as_str().unwrap()).collect();
    assert_eq!(what, ["nudged", "signaled"], "{tried:#?}");
    assert!(tried[1]["result"].as_str().unwrap().starts_with("it ended after"), "{tried:#?}");
}

#[test]
fn a_crowd_is_shown_in_part_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let script = "i=0; while [ $i -lt 120 ]; do sleep 1000 & i=$((i+1)); done; echo ready; wait";
    let run = Run::sh(&options(&["--idle", "4s", "--report", "r.json"]), script);
    let output = run.folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(121), "{}", said(&output));
    let report = json(&folder.path().join("r.json"));
    assert_eq!(report["processes"].as_array().unwrap().len(), 100);
    assert_eq!(report["processesLeftOut"], 21);
}
