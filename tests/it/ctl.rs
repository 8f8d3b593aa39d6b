//! `idlewatch ctl`, as a person or a script uses it.

use std::fs;
use std::process::Output;
use std::time::Instant;

use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;

use crate::control::Runtime;
use crate::support::{Run, Running, program, send, until, until_gone};

impl Runtime {
    pub fn ctl(&self, arguments: &[&str]) -> Run {
        let argv: Vec<&str> = [program(), "ctl"].into_iter().chain(arguments.iter().copied()).collect();
        self.with(Run::bare(&argv))
    }

    pub fn told(&self, arguments: &[&str]) -> String {
        let output = self.ctl(arguments).output();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Starts a run that stays, and gives it once it can be listed, with its id.
    pub fn start(&self, options: &[&str], script: &str) -> (Running, String) {
        let before = self.sockets();
        let mut run = self.with(Run::sh(options, script)).in_pipes();
        run.wait_for("ready");
        let mut id = None;
        until("its socket", || {
            let new = self.sockets().into_iter().find(|socket| !before.contains(socket));
            id = new.and_then(|new| Some(new.file_stem()?.to_str()?.to_owned()));
            id.as_ref().is_some_and(|id| self.told(&["list", "--ids"]).lines().any(|line| line == id))
        });
        (run, id.expect("an id"))
    }
}

pub fn fails(output: &Output, code: i32, words: &str) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(said.contains(words), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// A command that stays until a line is entered.
pub const STAYS: &str = "echo ready; read line";

#[test]
fn runs_are_listed_and_shown() {
    let runtime = Runtime::new();
    assert_eq!(runtime.told(&["list"]), "no run is in progress\n");
    assert_eq!(runtime.told(&["list", "--json"]), "");
    let (run, id) = runtime.start(&["--timeout", "1h"], STAYS);
    let list = runtime.told(&["list"]);
    assert!(list.starts_with("RUN ") && list.contains(&id) && list.contains("sh -c 'echo ready; read line'"), "{list}");
    let json: serde_json::Value = serde_json::from_str(&runtime.told(&["list", "--json"])).unwrap();
    assert_eq!((&json["run"], &json["type"]), (&id.as_str().into(), &"session_stats".into()));
    let status = runtime.told(&["status"]);
    assert!(status.contains(&id) && status.contains("because") && status.contains("timeout 1h 00m"), "{status}");
    assert_eq!(runtime.told(&["--json", "status", &id]).matches("session_stats").count(), 1);
    assert!(runtime.told(&["explain"]).contains("last progress"));
    drop(run);
}

#[test]
fn a_run_is_named_by_its_id_a_beginning_a_process_or_as_the_last() {
    let runtime = Runtime::new();
    let (one, first) = runtime.start(&[], STAYS);
    let (other, second) = runtime.start(&[], STAYS);
    let is = |name: &str, id: &str| {
        assert!(runtime.told(&["status", name]).contains(&format!("run        {id}\n")), "{name} is not {id}");
    };
    is(&first, &first);
    is(&one.pid().to_string(), &first);
    is(&other.pid().to_string(), &second);
    is("last", &second);
    // All but the last letter: another run can only share that by a chance of one in a hundred million.
    is(&first[..7], &first);
    for verb in [&["status"][..], &["stop"], &["extend", "5m"], &["explain"]] {
        fails(&runtime.ctl(verb).output(), 1, &first);
        fails(&runtime.ctl(verb).output(), 1, "name one of");
    }
    fails(&runtime.ctl(&["status", "nobody"]).output(), 1, "no run 'nobody'");
    drop((one, other));
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let runtime = Runtime::new();
    fails(&runtime.ctl(&["stop"]).output(), 1, "no run is in progress");
    fails(&runtime.ctl(&["stop", "x\u{1b}[2J"]).output(), 1, "no run 'x");
    fails(&runtime.ctl(&[]).output(), 2, "list, status, watch");
    fails(&runtime.ctl(&["lst"]).output(), 2, "no verb 'lst'");
    fails(&runtime.ctl(&["extend"]).output(), 2, "no duration");
    fails(&runtime.ctl(&["extend", "soon"]).output(), 2, "not a duration");
    fails(&runtime.ctl(&["extend", "0s"]).output(), 2, "zero would change nothing");
    fails(&runtime.ctl(&["nudge"]).output(), 2, "no text");
    fails(&runtime.ctl(&["nudge", "\u{3}"]).output(), 2, "control character");
    fails(&runtime.ctl(&["list", "--what"]).output(), 2, "unknown option");
}

#[test]
fn a_verb_is_one_only_as_the_first_word() {
    let folder = tempfile::tempdir().unwrap();
    let tool = folder.path().join("ctl");
    fs::write(&tool, "#!/bin/sh\necho this is ctl $1\n").unwrap();
    fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    for options in [&["--", "ctl", "list"][..], &["--idle", "1m", "ctl", "list"]] {
        let argv: Vec<&str> = [program()].into_iter().chain(options.iter().copied()).collect();
        let output = Run::bare(&argv).variable("PATH", &path).output();
        assert_eq!(output.stdout, b"this is ctl list\n", "{options:?}");
    }
}

#[test]
fn a_run_is_steered() {
    let runtime = Runtime::new();
    let (run, id) = runtime.start(&["--timeout", "1h"], STAYS);
    let command = "sh -c 'echo ready; read line'";
    assert_eq!(runtime.told(&["extend", "15m"]), format!("run {id} will be left alone for 15m 00s: {command}\n"));
    assert_eq!(runtime.told(&["extend", "1m", "--json"]).matches("\"ok\"").count(), 1);
    assert!(runtime.told(&["status", &id]).contains("timeout 1h 16m"));
    let refused = runtime.ctl(&["nudge", &id, "go on"]).output();
    fails(&refused, 1, "does not read from its terminal");
    let refused = runtime.ctl(&["nudge", &id, "go on", "--json"]).output();
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stdout).contains("\"type\":\"error\""));
    assert_eq!(runtime.told(&["stop", &id]), format!("run {id} is being ended: {command}\n"));
    assert_eq!(run.finish().1.code(), Some(119));

    let (run, id) = runtime.start(&["--stdin", "pty"], "echo ready; read line; echo \"got $line\"; sleep 600");
    assert!(runtime.told(&["nudge", &id, "go on"]).starts_with(&format!("run {id} has accepted the text: sh -c ")));
    assert!(runtime.told(&["complete"]).starts_with(&format!("run {id} is being ended as a success: sh -c ")));
    let (text, status) = run.finish();
    assert!(text.contains("got go on") && status.code() == Some(0), "{text}");
}

#[test]
fn runs_that_are_all_the_same_do_not_disturb_each_other() {
    let runtime = Runtime::new();
    let (one, first) = runtime.start(&[], STAYS);
    let (other, second) = runtime.start(&[], STAYS);
    runtime.told(&["stop", &first]);
    assert_eq!(one.finish().1.code(), Some(119));
    assert_eq!(runtime.told(&["list", "--ids"]), format!("{second}\n"));
    runtime.told(&["complete"]);
    assert_eq!(other.finish().1.code(), Some(0));
}

#[test]
fn fifty_runs_are_listed() {
    let runtime = Runtime::new();
    let mut runs: Vec<Running> = (0..50).map(|_| runtime.with(Run::sh(&[], STAYS)).in_pipes()).collect();
    for run in &mut runs {
        run.wait_for("ready");
    }
    until("all of them", || {
        let lines = runtime.told(&["list"]);
        lines.lines().count() == 51 && !lines.contains("not answering")
    });
    assert_eq!(runtime.told(&["list", "--json"]).lines().count(), 50);
    for run in runs {
        run.finish();
    }
    assert_eq!(runtime.told(&["list"]), "no run is in progress\n");
}

#[test]
fn a_run_that_was_killed_does_not_stay_in_the_list() {
    let runtime = Runtime::new();
    let (mut run, _) = runtime.start(&[], STAYS);
    run.signal(libc::SIGKILL);
    let pid = run.pid();
    run.finish_bytes();
    until_gone(pid);
    until("an empty list", || runtime.told(&["list"]) == "no run is in progress\n");
    let [socket] = &runtime.sockets()[..] else { panic!("a socket without a run is young enough to stay") };
    let old = TimeSpec::new(1_000_000, 0);
    utimensat(nix::fcntl::AT_FDCWD, socket, &old, &old, UtimensatFlags::NoFollowSymlink).unwrap();
    runtime.told(&["list"]);
    assert!(runtime.sockets().is_empty());
}

#[test]
fn a_run_that_is_stopped_does_not_answer_and_holds_nobody_up() {
    let runtime = Runtime::new();
    let (stopped, id) = runtime.start(&[], STAYS);
    let (run, other) = runtime.start(&[], STAYS);
    send(stopped.pid(), libc::SIGSTOP);
    let begun = Instant::now();
    let list = runtime.told(&["list"]);
    assert!(begun.elapsed().as_secs() < 20, "it took {:?}", begun.elapsed());
    let line = |id: &str| list.lines().find(|line| line.starts_with(id)).unwrap_or_else(|| panic!("{id}: {list}"));
    assert!(line(&id).contains("not answering") && line(&id).contains(&stopped.pid().to_string()), "{list}");
    assert!(!line(&other).contains("not answering"), "{list}");
    assert!(runtime.told(&["list", "--json"]).contains("\"type\":\"not_answering\""));
    assert!(runtime.told(&["status", &id]).contains("not answering"));
    fails(&runtime.ctl(&["stop", &id]).output(), 1, "does not answer");
    send(stopped.pid(), libc::SIGCONT);
    drop((stopped, run));
}

#[test]
fn names_that_are_meant_to_harm_are_harmless() {
    let runtime = Runtime::new();
    let evil = "x\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}y\nz";
    let mut run = runtime.with(Run::new(&[], &["sh", "-c", STAYS, evil])).in_pipes();
    run.wait_for("ready");
    until("the run", || runtime.told(&["list"]).contains("sh -c"));
    let verbs = ["list", "status", "explain"];
    for verb in verbs.map(|verb| vec![verb]).into_iter().chain(verbs.map(|verb| vec![verb, "--json"])) {
        let text = runtime.told(&verb);
        let harmful = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!text.contains(harmful), "{text:?}");
    }
    assert_eq!(runtime.told(&["list"]).lines().count(), 2);
    let json: serde_json::Value = serde_json::from_str(&runtime.told(&["list", "--json"])).unwrap();
    assert_eq!(json["command"][3], evil, "it is what it was");
    drop(run);
}

#[test]
fn the_table_fits_the_terminal_and_is_coloured_only_there() {
    let runtime = Runtime::new();
    let (mut run, _) = runtime.start(&["--idle", "1s", "--no-guard", "--on-idle", "warn"], STAYS);
    run.wait_for("screen unchanged");
    until("a stalled run", || runtime.told(&["list"]).contains("stalled"));
    assert!(!runtime.told(&["list"]).contains('\u{1b}'));
    let list = |name: &str, value: &str, cols: u16| {
        runtime.ctl(&["list"]).variable("TERM", "xterm").variable(name, value).in_terminal_of(cols, 24).finish().0
    };
    let text = list("NONE", "1", 60);
    assert!(text.contains("\u{1b}[31mstalled"), "{text:?}");
    assert!(!list("NO_COLOR", "1", 60).contains('\u{1b}'));
    assert!(!list("TERM", "dumb", 60).contains('\u{1b}'));
    for cols in [5, 20, 44, 60] {
        for line in list("NO_COLOR", "1", cols).lines() {
            assert!(line.trim_end().chars().count() <= cols.into(), "{cols}: {line:?}");
        }
    }
    drop(run);
}

/// What a terminal of this size shows after all this.
pub fn shown(bytes: &str, cols: usize, rows: usize) -> Vec<String> {
    let mut terminal = avt::Terminal::new(cols, rows).unwrap();
    terminal.feed([bytes]);
    (0..rows).map(|row| terminal.screen().line(row).map(avt::Line::text).unwrap_or_default()).collect()
}

#[test]
fn all_runs_are_watched_in_place_until_q() {
    let runtime = Runtime::new();
    let (run, id) = runtime.start(&[], STAYS);
    let mut watch = runtime.ctl(&["watch"]).variable("TERM", "xterm").in_terminal_of(80, 10);
    watch.until("the list", |watch| shown(&watch.text(), 80, 10).iter().any(|line| line.starts_with(&id)));
    let (second_run, second) = runtime.start(&[], STAYS);
    watch.until("the new run", |watch| {
        let rows = shown(&watch.text(), 80, 10);
        rows[0].starts_with("idlewatch: 2 runs") && rows.iter().any(|line| line.starts_with(&second))
    });
    assert_ne!(watch.settings(), watch.found());
    let before = watch.text().len();
    watch.resize(30, 10).signal(libc::SIGWINCH);
    watch.until("a narrower list", |watch| {
        let rows = shown(&watch.text()[before..], 80, 10);
        rows.iter().any(|line| line.starts_with(&id)) && rows.iter().all(|line| line.trim_end().chars().count() <= 30)
    });
    watch.enter("q");
    watch.until("its end", Running::has_ended);
    assert_eq!(watch.settings(), watch.found());
    let (text, status) = watch.finish();
    assert!(status.success());
    assert!(text.starts_with("\u{1b}[?1049h") && text.ends_with("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"), "{text:?}");
    drop((run, second_run));
}

#[test]
fn one_run_is_watched_with_its_events_to_its_end() {
    let runtime = Runtime::new();
    let (run, id) = runtime.start(&[], STAYS);
    let mut watch = runtime.ctl(&["watch", &id]).variable("TERM", "xterm").in_terminal();
    watch.until("its figures", |watch| shown(&watch.text(), 80, 24).iter().any(|line| line.starts_with("because")));
    runtime.told(&["extend", &id, "5m"]);
    watch.until("the event", |watch| {
        shown(&watch.text(), 80, 24).iter().any(|line| line.contains("timeout_extended by=300000"))
    });
    runtime.told(&["stop", &id]);
    watch.until("its end", Running::has_ended);
    assert_eq!(watch.settings(), watch.found());
    let (text, status) = watch.finish();
    assert!(status.success() && text.trim_end().ends_with("reason='stopped'"), "{text:?}");
    run.finish();
}

#[test]
fn a_signal_ends_watching_and_the_terminal_is_given_back() {
    use std::os::unix::process::ExitStatusExt;
    let runtime = Runtime::new();
    for (key, signal) in [(Some("\u{3}"), libc::SIGINT), (None, libc::SIGTERM), (None, libc::SIGHUP)] {
        let mut watch = runtime.ctl(&["watch"]).variable("TERM", "xterm").in_terminal();
        watch.wait_for("no run is in progress");
        match key {
            Some(key) => watch.enter(key),
            None => watch.signal(signal),
        };
        watch.until("its end", Running::has_ended);
        assert_eq!(watch.settings(), watch.found());
        let (text, status) = watch.finish();
        assert!(text.ends_with("\u{1b}[?1049l"), "{text:?}");
        assert_eq!(status.signal(), key.map_or(Some(signal), |_| None));
    }
}

#[test]
fn where_nothing_can_be_drawn_events_are_printed() {
    let runtime = Runtime::new();
    let (run, id) = runtime.start(&["--timeout", "1h"], STAYS);
    let mut words = runtime.ctl(&["watch", &id]).in_pipes();
    let mut all = runtime.ctl(&["watch"]).in_pipes();
    let mut json = runtime.ctl(&["watch", "--json"]).in_terminal();
    let mut heard = [false; 3];
    // They may not listen yet: told again until all have heard it.
    until("the event", || {
        runtime.told(&["extend", &id, "5m"]);
        for (heard, watch) in heard.iter_mut().zip([&mut words, &mut all, &mut json]) {
            let mut once = false;
            watch.until("a look", |_| std::mem::replace(&mut once, true));
            *heard |= watch.text().contains("timeout_extended");
        }
        heard == [true; 3]
    });
    runtime.told(&["stop", &id]);
    run.finish();
    let (text, status) = words.finish();
    assert!(status.success() && text.contains("  exit  ") && !text.contains('\u{1b}'), "{text}");
    all.wait_for(format!("{id}  ")).wait_for("code=119");
    json.wait_for("\"type\":\"exit\"");
    json.signal(libc::SIGTERM);
    drop(all);
}

#[test]
fn the_commands_own_tasks_are_quoted() {
    let (runtime, folder) = (Runtime::new(), tempfile::tempdir().unwrap());
    let list = folder.path().join("tasks.json");
    let (run, id) = runtime.start(&["--checkpoint", list.to_str().unwrap()], STAYS);
    assert!(runtime.told(&["status", &id]).contains("unreadable: "), "there is none yet");
    std::fs::write(&list, r#"{"done":["a","b"],"current":"write\u001b[31m it","remaining":["c"]}"#).unwrap();
    let status = runtime.told(&["status", &id]);
    assert!(status.contains("2 done, 1 left; now: write<U+001B>[31m it"), "{status}");
    let status: serde_json::Value = serde_json::from_str(&runtime.told(&["status", &id, "--json"])).unwrap();
    assert_eq!((&status["tasks"]["done"], &status["tasks"]["remaining"]), (&2.into(), &1.into()), "{status}");
    runtime.told(&["stop", &id]);
    run.finish();
}
