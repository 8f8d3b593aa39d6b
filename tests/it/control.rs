//! The socket of a run, spoken to as any program may.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Run, Running, send, until};

/// A place for sockets that only this test uses.
pub struct Runtime(tempfile::TempDir);

impl Runtime {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// A run whose socket is here.
    pub fn with(&self, run: Run) -> Run {
        run.variable("XDG_RUNTIME_DIR", self.0.path()).variable("IDLEWATCH_TEST_TMP", self.0.path())
    }

    /// Where the sockets are.
    pub fn folder(&self) -> PathBuf {
        self.0.path().join("idlewatch")
    }

    pub fn sockets(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        found.sort();
        found
    }

    /// A connection to the only run there is, once it listens.
    pub fn client(&self) -> Client {
        let mut client = None;
        until("a run that listens", || {
            client = self.sockets().first().and_then(|path| UnixStream::connect(path).ok());
            client.is_some()
        });
        Client::new(client.expect("a connection"))
    }
}

/// Somebody who speaks to a run.
pub struct Client {
    reader: BufReader<UnixStream>,
}

impl Client {
    fn new(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        Self { reader: BufReader::new(stream) }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).expect("it is taken");
    }

    /// The next line; none at the end.
    pub fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            // A connection that was closed with something unread in it is reset.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("nothing came: {error}"),
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).expect("one object a line")),
        }
    }

    /// Asks this, and gives the answer.
    pub fn ask(&mut self, request: &str) -> Value {
        self.send(format!("{request}\n").as_bytes());
        self.line().expect("an answer")
    }

    pub fn stats(&mut self) -> Value {
        let stats = self.ask(r#"{"type":"get_session_stats"}"#);
        crate::schema::check(&stats);
        stats
    }

    /// Reads on to an event of this type.
    fn event(&mut self, kind: &str) -> Value {
        loop {
            let event = self.line().unwrap_or_else(|| panic!("no {kind} came"));
            if event["type"] == kind {
                return event;
            }
        }
    }
}

fn is_error(answer: &Value, words: &str) {
    let fits = answer["type"] == "error" && answer["message"].as_str().is_some_and(|text| text.contains(words));
    assert!(fits, "{answer} is not about {words}");
}

/// A command that stays until a line is entered.
const STAYS: &str = "echo ready; read line";

fn staying(runtime: &Runtime, options: &[&str]) -> Running {
    let mut run = runtime.with(Run::sh(options, STAYS)).in_pipes();
    run.wait_for("ready");
    run
}

#[test]
fn a_run_tells_how_it_stands_and_is_given_more_time() {
    let runtime = Runtime::new();
    let run = staying(&runtime, &["--timeout", "1h", "--idle", "10m"]);
    let mut client = runtime.client();
    let stats = client.stats();
    assert_eq!((&stats["v"], &stats["type"]), (&1.into(), &"session_stats".into()));
    assert_eq!(stats["command"], serde_json::json!(["sh", "-c", STAYS]));
    assert_eq!(stats["idlewatchPid"], run.pid());
    assert!(stats["pid"].as_i64().is_some_and(|pid| pid > 0) && stats["elapsed"].is_u64(), "{stats}");
    assert_eq!(stats["outputBytes"], 6);
    assert_eq!((&stats["limits"]["idle"], &stats["limits"]["timeout"]), (&600_000.into(), &3_600_000.into()));
    assert!(stats["evidence"].as_str().is_some_and(|evidence| !evidence.is_empty()), "{stats}");
    let socket = runtime.sockets().remove(0);
    assert_eq!(socket.file_stem().and_then(|name| name.to_str()), stats["run"].as_str());
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(runtime.folder()).unwrap().permissions().mode() & 0o777, 0o700);

    let answer = client.ask(r#"{"type":"extend_timeout","by":900000,"because":"it works"}"#);
    assert_eq!((&answer["type"], &answer["request"]), (&"ok".into(), &"extend_timeout".into()));
    assert_eq!(client.stats()["limits"]["timeout"], 4_500_000);
    let explained = client.ask(r#"{"type":"explain"}"#);
    assert!(explained["text"].as_str().is_some_and(|text| text.contains("last progress")), "{explained}");
    drop(run);
}

#[test]
fn a_run_is_stopped_or_completed() {
    for (request, code) in [("force_stop", 119), ("force_complete", 0)] {
        let runtime = Runtime::new();
        let run = staying(&runtime, &[]);
        let answer = runtime.client().ask(&format!(r#"{{"type":"{request}"}}"#));
        assert_eq!(answer["type"], "ok");
        assert_eq!(run.finish().1.code(), Some(code), "{request}");
        assert_eq!(runtime.sockets(), [""; 0].map(PathBuf::from));
    }
}

#[test]
fn what_is_being_ended_takes_no_more_orders() {
    let runtime = Runtime::new();
    let script = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
    let mut run = runtime.with(Run::sh(&["--kill-after", "10m"], script)).in_pipes();
    run.wait_for("ready");
    let mut client = runtime.client();
    let pid = client.stats()["pid"].as_i64().unwrap();
    assert_eq!(client.ask(r#"{"type":"force_stop"}"#)["type"], "ok");
    for request in [r#"{"type":"force_complete"}"#, r#"{"type":"extend_timeout","by":1000}"#] {
        is_error(&client.ask(request), "already being ended");
    }
    let stats = client.stats();
    assert_eq!((&stats["ending"], &stats["signals"]), (&"stopped".into(), &1.into()));
    send(i32::try_from(pid).unwrap(), libc::SIGKILL);
    assert_eq!(run.finish().1.code(), Some(119));
}

#[test]
fn a_nudge_is_answered_when_it_was_taken() {
    let runtime = Runtime::new();
    let mut run = runtime.with(Run::sh(&[], "echo ready; read line; echo \"got $line.\"; read line")).in_terminal();
    run.wait_for("ready\r\n");
    let mut client = runtime.client();
    // Two at once: the second is read when the first is done.
    client.send(b"{\"type\":\"nudge\",\"text\":\"go on\"}\n{\"type\":\"get_session_stats\"}\n");
    let answer = client.line().unwrap();
    assert_eq!((&answer["type"], &answer["request"]), (&"ok".into(), &"nudge".into()));
    assert_eq!(client.line().unwrap()["nudges"], 1);
    run.wait_for("got go on.");
    run.enter("x\n");
    assert_eq!(run.finish().1.code(), Some(0));
}

#[test]
fn a_nudge_that_cannot_be_typed_is_refused_with_the_reason() {
    let nudge = r#"{"type":"nudge","text":"go on"}"#;
    let runtime = Runtime::new();
    let run = staying(&runtime, &[]);
    is_error(&runtime.client().ask(nudge), "does not read from its terminal");
    is_error(&runtime.client().ask(r#"{"type":"nudge","text":"\u001b[A"}"#), "control character");
    drop(run);
    for (script, why) in [
        ("stty -echo; printf 'Password: '; read line", "password"),
        ("stty -icanon; printf 'Do you want this?\\n❯ 1. Yes\\n  2. No\\n\\nEsc to cancel'; read line", "menu"),
        ("stty -icanon; printf '? Delete all? (Use arrow keys)\\n❯ Yes, delete\\n  No, cancel'; read line", "menu"),
        ("stty -icanon; printf 'Delete all\\n● Yes\\n○ No, cancel'; read line", "menu"),
    ] {
        let runtime = Runtime::new();
        let mut run = runtime.with(Run::sh(&[], script)).in_terminal();
        run.wait_for(if why == "menu" { "cancel" } else { ": " });
        is_error(&runtime.client().ask(nudge), why);
        drop(run);
    }
}

#[test]
fn those_who_subscribe_are_told_what_happens_and_others_do_not_disturb_them() {
    let runtime = Runtime::new();
    let run = staying(&runtime, &[]);
    let mut follower = runtime.client();
    assert_eq!(follower.ask(r#"{"type":"subscribe"}"#)["type"], "ok");
    // Half a request, a request without waiting for the answer, and nothing at all.
    runtime.client().send(b"{\"type\":\"force_");
    runtime.client().send(b"{\"type\":\"extend_timeout\",\"by\":1000}\n");
    drop(runtime.client());
    let run_id = runtime.client().stats()["run"].clone();
    let extended = follower.event("timeout_extended");
    assert_eq!((&extended["by"], &extended["run"]), (&1000.into(), &run_id));
    // The last line may lack its end.
    let mut last = runtime.client();
    last.send(br#"{"type":"force_stop"}"#);
    last.reader.get_ref().shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(last.line().unwrap()["type"], "ok");
    assert_eq!(follower.event("force_stopped")["reason"], "stopped");
    assert_eq!(follower.event("exit")["code"], 119);
    assert_eq!(follower.line(), None);
    assert_eq!(run.finish().1.code(), Some(119));
}

#[test]
fn a_follower_is_told_the_progress_as_well() {
    let runtime = Runtime::new();
    let run = staying(&runtime, &["--progress-every", "50ms"]);
    let mut follower = runtime.client();
    follower.ask(r#"{"type":"subscribe"}"#);
    assert!(follower.event("progress")["sinceActivity"].is_u64());
    drop(run);
}

#[test]
fn garbage_is_answered_and_shown_out_and_a_wrong_request_is_only_answered() {
    let runtime = Runtime::new();
    let run = staying(&runtime, &[]);
    for garbage in [&b"hello\n"[..], b"\x00\xff\xfe\n", b"{}\n", b"[]\n", b"GET / HTTP/1.1\r\n\r\n"] {
        let mut client = runtime.client();
        client.send(garbage);
        is_error(&client.line().unwrap(), "not a request");
        assert_eq!(client.line(), None, "{garbage:?}");
    }
    let mut client = runtime.client();
    is_error(&client.ask(r#"{"type":"dance"}"#), "unknown request 'dance'");
    is_error(&client.ask(r#"{"type":"extend_timeout","by":"long"}"#), "'by'");
    client.send(b"\r\n\n");
    assert_eq!(client.stats()["type"], "session_stats");

    let mut endless = runtime.client();
    // It may be shown out before it has said everything.
    let _ = endless.reader.get_mut().write_all(&vec![b'x'; 1 << 20]);
    is_error(&endless.line().unwrap(), "a line of more than");
    assert_eq!(endless.line(), None);
    assert_eq!(client.stats()["type"], "session_stats");
    drop(run);
}

#[test]
fn a_hundred_clients_are_answered_and_too_many_are_told_so() {
    let runtime = Runtime::new();
    let run = staying(&runtime, &[]);
    let mut clients: Vec<Client> = (0..100).map(|_| runtime.client()).collect();
    for client in &mut clients {
        client.send(b"{\"type\":\"get_session_stats\"}\n");
    }
    for client in &mut clients {
        assert_eq!(client.line().unwrap()["type"], "session_stats");
    }
    clients.extend((0..28).map(|_| runtime.client()));
    is_error(&runtime.client().line().unwrap(), "too many");
    clients.truncate(3);
    until("room", || {
        let mut client = runtime.client();
        // It may have been shown out before it says anything.
        let _ = client.reader.get_mut().write_all(b"{\"type\":\"get_session_stats\"}\n");
        client.line().is_some_and(|answer| answer["type"] == "session_stats")
    });
    drop(run);
}

#[test]
fn a_follower_that_does_not_read_loses_events_and_is_told_how_many() {
    const MANY: u64 = 3000;
    let runtime = Runtime::new();
    let run = staying(&runtime, &["--progress-every", "off"]);
    let mut slow = runtime.client();
    slow.ask(r#"{"type":"subscribe"}"#);
    let mut other = runtime.client();
    let extend = |client: &mut Client| {
        assert_eq!(client.ask(r#"{"type":"extend_timeout","by":1000}"#)["type"], "ok");
    };
    (0..MANY).for_each(|_| extend(&mut other));
    let (mut told, mut dropped, mut sent) = (0, 0, MANY);
    while dropped == 0 {
        // There is room for more after each line that is read.
        let event = slow.line().unwrap();
        match event["type"].as_str() {
            Some("timeout_extended") => told += 1,
            Some("dropped") => dropped += event["count"].as_u64().unwrap(),
            _ => {}
        }
        extend(&mut other);
        sent += 1;
    }
    assert!(told > 0 && told + dropped <= sent, "{told} and {dropped} of {sent}");
    other.ask(r#"{"type":"force_stop"}"#);
    assert_eq!(run.finish().1.code(), Some(119));
}

#[test]
fn the_socket_stays_the_same_across_a_relaunch() {
    let (runtime, folder) = (Runtime::new(), tempfile::tempdir().unwrap());
    let options = ["--relaunch", "crash", "--max-relaunches", "1", "--relaunch-delay", "10ms"];
    let script = "wait_for() { while ! [ -e $1 ]; do sleep 0.02; done; }; ls -l /proc/$$/fd >&2; \
                  if [ -e again ]; then echo second; wait_for two; else touch again; echo first; wait_for one; exit 3; fi";
    let mut run = runtime.with(Run::sh(&options, script)).folder(folder.path()).in_pipes();
    run.wait_for("first");
    let mut client = runtime.client();
    client.ask(r#"{"type":"subscribe"}"#);
    let sockets = runtime.sockets();
    fs::write(folder.path().join("one"), "").unwrap();
    assert_eq!(client.event("exit")["code"], 3);
    assert_eq!(client.event("relaunched")["count"], 1);
    client.event("start");
    run.wait_for("second");
    assert_eq!(runtime.sockets(), sockets);
    assert_eq!(client.stats()["relaunches"], 1);
    fs::write(folder.path().join("two"), "").unwrap();
    let (text, status) = run.finish();
    assert_eq!(status.code(), Some(0));
    assert!(!text.contains("socket:"), "the command has one of ours: {text}");
}

#[test]
fn the_pause_between_two_starts_can_be_ended() {
    for (request, code) in [("force_stop", 119), ("force_complete", 0)] {
        let (runtime, folder) = (Runtime::new(), tempfile::tempdir().unwrap());
        let options = ["--relaunch", "crash", "--relaunch-delay", "1h", "--idle", "10m", "--timeout", "2h"];
        let script = "echo ready; while ! [ -e over ]; do sleep 0.02; done; exit 3";
        let mut run = runtime.with(Run::sh(&options, script)).folder(folder.path()).in_pipes();
        run.wait_for("ready");
        let mut client = runtime.client();
        let quiet = |stats: &Value| stats["sinceActivity"].as_u64().unwrap();
        until("a silence", || quiet(&client.stats()) >= 100);
        fs::write(folder.path().join("over"), "").unwrap();
        run.wait_for("; relaunching '");
        let stats = client.stats();
        assert_eq!(stats["state"], "exited");
        assert!(stats["evidence"].as_str().unwrap().contains("relaunching in"), "{stats}");
        // What it is held to goes on, and so does the time since it did something.
        assert_eq!((&stats["limits"]["idle"], &stats["limits"]["timeout"]), (&600_000.into(), &7_200_000.into()));
        let left = stats["limits"]["timeoutLeft"].as_u64().unwrap();
        assert!((1..=7_200_000 - 100).contains(&left) && quiet(&stats) >= 100, "{stats}");
        is_error(&client.ask(r#"{"type":"nudge","text":"x"}"#), "not running");
        assert_eq!(client.ask(&format!(r#"{{"type":"{request}"}}"#))["type"], "ok");
        assert_eq!(run.finish().1.code(), Some(code));
        assert!(runtime.sockets().is_empty());
    }
}

#[test]
fn no_socket_stays_after_any_end_but_a_kill() {
    let runtime = Runtime::new();
    for (script, variable) in [("exit 7", "NONE"), ("kill -9 $$", "NONE"), ("echo x", "IDLEWATCH_TEST_PANIC")] {
        runtime.with(Run::sh(&[], script)).variable(variable, "1").output();
        assert!(runtime.sockets().is_empty(), "{script}");
    }
    assert!(runtime.folder().is_dir(), "there was none at all");
    let mut run = staying(&runtime, &[]);
    runtime.client();
    run.signal(libc::SIGTERM);
    run.finish_bytes();
    assert!(runtime.sockets().is_empty());
}

#[test]
fn a_folder_that_others_could_have_prepared_is_not_used() {
    type Prepare = fn(&Runtime);
    let mut cases: Vec<(Prepare, &str)> = vec![
        (|runtime| symlink("/tmp", runtime.folder()).unwrap(), "not a directory"),
        (|runtime| fs::write(runtime.folder(), "").unwrap(), "not a directory"),
        (
            |runtime| {
                fs::create_dir(runtime.folder()).unwrap();
                fs::set_permissions(runtime.folder(), Permissions::from_mode(0o750)).unwrap();
            },
            "other users can access it",
        ),
    ];
    if nix::unistd::geteuid().is_root() {
        cases.push((
            |runtime| {
                fs::create_dir(runtime.folder()).unwrap();
                fs::set_permissions(runtime.folder(), Permissions::from_mode(0o700)).unwrap();
                std::os::unix::fs::chown(runtime.folder(), Some(65534), None).unwrap();
            },
            "another user",
        ));
    }
    for (prepare, why) in cases {
        let runtime = Runtime::new();
        prepare(&runtime);
        let output = runtime.with(Run::sh(&["-v"], "echo done; exit 3")).output();
        assert_eq!((output.status.code(), &*output.stdout), (Some(3), &b"done\n"[..]), "{why}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("no control socket") && said.contains(why), "{said}");
        let output = runtime.with(Run::sh(&[], "exit 3")).output();
        assert_eq!(output.stderr, b"", "it is said only where somebody wants to know");
        let list = runtime.with(Run::bare(&[crate::support::program(), "ctl", "list"])).output();
        assert_eq!(list.status.code(), Some(1), "{why}");
        assert!(String::from_utf8_lossy(&list.stderr).contains(why), "{list:?}");
    }
}

#[test]
fn a_name_that_is_too_long_for_a_socket_costs_only_the_socket() {
    let runtime = Runtime::new();
    let deep = runtime.0.path().join("x".repeat(120));
    fs::create_dir(&deep).unwrap();
    let output = Run::sh(&["-v"], "exit 3").variable("XDG_RUNTIME_DIR", &deep).output();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("use a shorter XDG_RUNTIME_DIR"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn another_user_is_not_let_in() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: only root can be somebody else");
        return;
    }
    let runtime = Runtime::new();
    let run = staying(&runtime, &[]);
    runtime.client().stats();
    // The way in is opened wide, so that only the question who it is stands in it.
    let socket = runtime.sockets().remove(0);
    for (path, mode) in [(runtime.0.path(), 0o755), (&runtime.folder(), 0o755), (&socket, 0o666)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let stranger = std::thread::spawn(move || {
        // The call itself, without the library around it, changes this thread alone.
        // SAFETY: it takes three numbers and does not touch our memory.
        assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, -1, 65534, -1) }, 0);
        let mut stream = UnixStream::connect(socket).expect("a connection");
        let _ = stream.write_all(b"{\"type\":\"force_stop\"}\n");
        let mut heard = Vec::new();
        let _ = stream.read_to_end(&mut heard);
        heard
    });
    assert_eq!(stranger.join().unwrap(), b"");
    assert_eq!(runtime.client().stats()["ending"], Value::Null);
    drop(run);
}
