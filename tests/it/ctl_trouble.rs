//! `idlewatch ctl` among runs that say too much or nothing, things that are no runs, and terminals that go away.

use std::fs::{self, DirBuilder};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use serde_json::Value;

use crate::control::{Client, Runtime};
use crate::ctl::{STAYS, fails, shown};
use crate::support::{Run, Running, has, program, send, state, stderr, until, until_gone};

impl Runtime {
    /// The folder of the sockets, made before any run does.
    fn make_folder(&self) {
        DirBuilder::new().recursive(true).mode(0o700).create(self.folder()).expect("a folder");
    }

    /// Something that is called like the socket of a run and lets nobody in.
    fn mute(&self, name: &str) -> UnixListener {
        self.make_folder();
        UnixListener::bind(self.folder().join(format!("{name}.sock"))).expect("a socket")
    }

    /// Something that is called like the socket of a run, says this to everybody and hangs up.
    fn talker(&self, name: &str, words: Vec<u8>) {
        let listener = self.mute(name);
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let _ = stream.write_all(&words);
            }
        });
    }

    /// `ctl` with no more than so many descriptors.
    fn ctl_with_few(&self, descriptors: usize, arguments: &[&str]) -> Run {
        let script = format!("ulimit -n {descriptors}; exec \"$@\"");
        let argv: Vec<&str> =
            ["sh", "-c", &script, "sh", program(), "ctl"].into_iter().chain(arguments.iter().copied()).collect();
        self.with(Run::bare(&argv))
    }

    /// The line of a list that is about this run.
    fn row(&self, id: &str) -> String {
        let list = self.told(&["list"]);
        list.lines().find(|line| line.starts_with(id)).unwrap_or_else(|| panic!("{id}: {list}")).to_owned()
    }
}

#[test]
fn a_run_with_a_huge_command_line_is_listed() {
    let runtime = Runtime::new();
    let big = "x".repeat(100_000);
    let mut command = vec!["sh", "-c", STAYS];
    command.resize(15, big.as_str());
    let mut run = runtime.with(Run::new(&[], &command)).in_pipes();
    run.wait_for("ready");
    until("the run", || runtime.told(&["list"]).contains("sh -c 'echo ready; read line' 'xxx"));
    let stats = runtime.client().stats();
    assert_eq!(stats["command"][2], STAYS);
    assert!(stats["command"][3].as_str().is_some_and(|word| word.ends_with('…')), "{stats}");
    assert!(stats.to_string().len() < 50_000);
    drop(run);
}

#[test]
fn a_run_with_too_many_clients_is_listed_and_says_so() {
    let runtime = Runtime::new();
    let (run, id) = runtime.start(&[], STAYS);
    let clients: Vec<Client> = (0..128).map(|_| runtime.client()).collect();
    let why = "too many clients";
    let row = runtime.row(&id);
    assert!(row.contains("not answering") && row.contains(why) && row.contains(&run.pid().to_string()), "{row}");
    let status = runtime.told(&["status", &id]);
    assert!(status.contains("not answering") && status.contains(why), "{status}");
    let json: Value = serde_json::from_str(&runtime.told(&["list", "--json"])).unwrap();
    assert_eq!((&json["type"], &json["message"]), (&"not_answering".into(), &why.into()));
    for verb in ["watch", "stop", "explain"] {
        fails(&runtime.ctl(&[verb, &id]).output(), 1, why);
    }
    let (text, status) = runtime.ctl(&["watch", &id]).variable("TERM", "xterm").in_terminal().finish();
    assert!(status.code() == Some(1) && text.contains(why), "{text:?}");
    let mut all = runtime.ctl(&["watch"]).in_pipes();
    all.wait_for(&id).wait_for(why);
    drop((run, clients, all));
}

#[test]
fn what_says_too_much_is_listed_and_what_says_nothing_has_ended() {
    let runtime = Runtime::new();
    runtime.talker("aaaa", vec![b'x'; 2 << 20]);
    runtime.talker("bbbb", Vec::new());
    assert!(runtime.row("aaaa").ends_with("it sent a line of more than 1048576 bytes"));
    assert_eq!(runtime.told(&["list"]).lines().count(), 2);
    fails(&runtime.ctl(&["watch", "aaaa"]).output(), 1, "it sent a line of more than");
    assert!(runtime.ctl(&["watch", "bbbb"]).output().status.success());
}

#[test]
fn what_a_run_says_reaches_the_terminal_only_as_escapes() {
    let runtime = Runtime::new();
    let words = "{\"type\":\"error\",\t\"message\":\"a\u{202e}b\u{9b}31m\u{7f}\"}\r\n";
    runtime.talker("aaaa", words.as_bytes().to_vec());
    runtime.talker("bbbb", b"\x1b[2J\n".to_vec());
    for arguments in [&["list", "--json"][..], &["status", "aaaa", "--json"], &["stop", "aaaa", "--json"], &["list"]] {
        let text = String::from_utf8(runtime.ctl(arguments).output().stdout).unwrap();
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{arguments:?}: {text:?}");
        if arguments.contains(&"--json") {
            let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            assert_eq!(line["message"], "a\u{202e}b\u{9b}31m\u{7f}", "{arguments:?}");
        }
    }
    fails(&runtime.ctl(&["stop", "bbbb", "--json"]).output(), 1, "not JSON");
}

#[test]
fn events_reach_the_terminal_only_with_escapes() {
    let evil = "a\u{202e}b\u{9b}31m\u{7f}";
    let folder = tempfile::tempdir().unwrap();
    let run = Run::new(&["--events", "events"], &["sh", "-c", "exit 3", evil]).folder(folder.path());
    assert_eq!(run.output().status.code(), Some(3));
    let text = fs::read_to_string(folder.path().join("events")).unwrap();
    assert!(text.contains("a\\u202eb\\u009b31m\\u007f") && !text.contains(evil), "{text:?}");
}

#[test]
fn a_run_of_a_session_without_a_runtime_folder_is_found() {
    let runtime = Runtime::new();
    let mut run = runtime.with(Run::sh(&[], STAYS)).variable("XDG_RUNTIME_DIR", "").in_pipes();
    run.wait_for("ready");
    until("the run", || runtime.told(&["list", "--ids"]).lines().count() == 1);
    assert!(runtime.sockets().is_empty(), "it is in the other folder");
    let (other, id) = runtime.start(&[], STAYS);
    assert_eq!(runtime.told(&["list"]).lines().count(), 3);
    let pid = run.pid().to_string();
    assert!(runtime.told(&["status", &pid]).contains(&pid));
    runtime.told(&["stop", &pid]);
    assert_eq!(run.finish().1.code(), Some(119));

    // One that somebody else could have prepared holds no run, and keeps nobody from the others.
    let prepared = runtime.folder().with_file_name(format!("idlewatch-{}", nix::unistd::geteuid()));
    fs::set_permissions(&prepared, PermissionsExt::from_mode(0o777)).unwrap();
    let listener = UnixListener::bind(prepared.join("aaaa.sock")).unwrap();
    assert_eq!(runtime.told(&["list", "--ids"]), format!("{id}\n"));
    drop((other, listener));
}

#[test]
fn what_is_no_run_keeps_nobody_from_the_runs() {
    let runtime = Runtime::new();
    let (run, id) = runtime.start(&["--timeout", "1h"], STAYS);
    let long = "x".repeat(150);
    symlink("loop.sock", runtime.folder().join("loop.sock")).unwrap();
    fs::write(runtime.folder().join(format!("{long}.sock")), "").unwrap();
    assert!(runtime.told(&["list"]).contains(&id));
    assert!(runtime.told(&["status"]).contains(&id));
    for (name, why) in [("loop", "loop.sock: "), (long.as_str(), "the socket path has")] {
        for verb in ["status", "stop", "watch"] {
            fails(&runtime.ctl(&[verb, name]).output(), 1, why);
        }
    }
    let mut drawn = runtime.ctl(&["watch"]).variable("TERM", "xterm").in_terminal();
    drawn.until("the run", |watch| shown(&watch.text(), 80, 24).iter().any(|line| line.starts_with(&id)));
    let mut told = runtime.ctl(&["watch"]).in_pipes();
    // It may not listen yet: told again until it has heard it.
    told.until("the event", |watch| {
        runtime.told(&["extend", &id, "5m"]);
        watch.text().contains("timeout_extended")
    });
    drop((run, drawn, told));
}

#[test]
fn a_file_that_is_no_socket_is_not_removed() {
    let runtime = Runtime::new();
    runtime.make_folder();
    let file = runtime.folder().join("notes.sock");
    fs::write(&file, "mine").unwrap();
    let old = TimeSpec::new(1_000_000, 0);
    utimensat(nix::fcntl::AT_FDCWD, &file, &old, &old, UtimensatFlags::NoFollowSymlink).unwrap();
    assert_eq!(runtime.told(&["list"]), "no run is in progress\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn more_runs_than_descriptors_are_asked_one_part_after_the_other() {
    let runtime = Runtime::new();
    let mutes: Vec<UnixListener> = (0..30).map(|number| runtime.mute(&format!("!{number:02}"))).collect();
    let (run, id) = runtime.start(&["--timeout", "1h"], STAYS);
    let list = runtime.ctl_with_few(24, &["list"]).output();
    let text = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(text.lines().count() == 32 && text.contains(&id), "{text}{}", stderr(&list));
    let mut drawn = runtime.ctl_with_few(24, &["watch"]).variable("TERM", "xterm").in_terminal_of(80, 50);
    drawn.until("all runs", |watch| {
        let rows = shown(&watch.text(), 80, 50);
        rows[0].starts_with("idlewatch: 31 runs") && rows.iter().any(|row| row.starts_with(&id))
    });
    // Those that come first are followed, and the last when they have ended.
    let mut told = runtime.ctl_with_few(24, &["watch"]).in_pipes();
    told.wait_for("not all runs can be followed");
    drop(mutes);
    told.until("the event", |watch| {
        runtime.told(&["extend", &id, "5m"]);
        watch.text().contains("timeout_extended")
    });
    assert_eq!(told.text().matches("not all runs").count(), 1);
    drop((run, drawn, told));
}

/// Suspends what is drawn in a terminal.
/// `ctl watch` as the job of a shell, and its process id, once it shows this.
fn watched_from_shell(runtime: &Runtime, arguments: &str, shows: impl Fn(&str) -> bool) -> (Running, i32) {
    let mut shell = runtime.with(Run::shell("bash")).in_terminal();
    shell.wait_for("> ").enter(format!("sh -c 'echo \"pid=$$;\"; exec $IW ctl watch {arguments}'\n"));
    // Its own line is echoed first.
    shell.until("its start", |shell| shell.text().matches("pid=").count() == 2);
    let pid = shell.text().rsplit_once("pid=").unwrap().1.split_once(';').unwrap().0.parse().unwrap();
    shell.until("what it shows", |shell| shows(&shell.text()));
    (shell, pid)
}

fn suspend(shell: &mut Running, pid: i32) {
    shell.enter("\u{1a}");
    shell.until("a stop", |_| state(pid) == Some('T'));
}

#[test]
fn watching_goes_on_after_it_was_suspended() {
    if !has("bash") {
        return;
    }
    let runtime = Runtime::new();
    let (run, id) = runtime.start(&[], STAYS);
    let because = |text: &str| shown(text, 80, 24).iter().any(|line| line.starts_with("because"));
    let (mut shell, pid) = watched_from_shell(&runtime, &id, because);
    suspend(&mut shell, pid);
    let elapsed = || {
        let stats: Value = serde_json::from_str(&runtime.told(&["status", &id, "--json"])).unwrap();
        stats["elapsed"].as_u64().unwrap()
    };
    // Longer than a run has to answer.
    let begun = elapsed();
    until("some time", || elapsed() > begun + 3500);
    let before = shell.text().len();
    shell.enter("fg\n").until("its figures again", |shell| because(&shell.text()[before..]));
    shell.enter("q").until("its end", |_| state(pid).is_none());
    shell.enter("exit $?\n");
    assert!(shell.finish().1.success());
    drop(run);
}

#[test]
fn suspended_watching_ends_with_its_terminal() {
    if !has("bash") {
        return;
    }
    let runtime = Runtime::new();
    for signal in [libc::SIGHUP, libc::SIGTERM] {
        let (mut shell, pid) = watched_from_shell(&runtime, "", |text| text.contains("no run is in progress"));
        suspend(&mut shell, pid);
        match signal {
            libc::SIGHUP => drop(shell.hang_up()),
            signal => [signal, libc::SIGCONT].into_iter().for_each(|signal| send(pid, signal)),
        }
        until_gone(pid);
    }
}

#[test]
fn watching_is_not_suspended_where_nobody_could_continue_it() {
    let runtime = Runtime::new();
    let mut watch = runtime.ctl(&["watch"]).variable("TERM", "xterm").in_terminal();
    watch.wait_for("no run is in progress");
    watch.enter("\u{1a}").signal(libc::SIGTSTP);
    // It goes on to draw, and to hear.
    let before = watch.text().len();
    watch.until("another picture", |watch| watch.text()[before..].contains("no run is in progress"));
    watch.enter("q");
    assert!(watch.finish().1.success());
}
