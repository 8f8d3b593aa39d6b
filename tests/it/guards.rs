//! Who speaks for a silent command, with real processes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use crate::support::{Run, has, state, stderr, until, until_gone};

#[test]
fn a_silent_command_that_works_lives_until_the_cap() {
    let output = Run::sh(&["--idle", "500ms", "--max-idle", "2s", "-v"], "while :; do :; done").output();
    assert_eq!(output.status.code(), Some(121));
    assert!(stderr(&output).contains("guard cpu"), "{}", stderr(&output));
}

#[test]
fn who_prints_nothing_does_not_draw_and_may_work_with_less() {
    if !has("python3") {
        return;
    }
    // A fifth of a core, as what waits for a slow disk most of the time uses it.
    let program = "import sys, time\nend = time.time() + 6\nwhile time.time() < end:\n\
                   \x20 t = time.time()\n  while time.time() < t + 0.02: pass\n\
                   \x20 sys.stdout.write(sys.argv[1]); sys.stdout.flush(); time.sleep(0.08)";
    for (prints, code) in [("", 0), ("\r", 121)] {
        let command = ["python3", "-c", program, prints];
        let output = Run::new(&["--idle", "2s", "--guard", "cpu", "-v"], &command).output();
        assert_eq!(output.status.code(), Some(code), "{prints:?}: {}", stderr(&output));
        assert_eq!(stderr(&output).contains("guard cpu"), code == 0, "{prints:?}: {}", stderr(&output));
    }
}

#[test]
fn a_tenth_of_a_core_is_work_of_one_that_stays_and_not_of_those_who_come_and_go() {
    if !has("python3") {
        return;
    }
    let stays = "import time\nfor _ in range(40):\n\
                 \x20 t = time.process_time()\n  while time.process_time() < t + 0.02: pass\n  time.sleep(0.14)";
    let output = Run::new(&["--idle", "2s", "--guard", "cpu", "-v"], &["python3", "-c", stays]).output();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // The same for a shell that asks again and again: what it uses is what its processes take to start.
    let asks = "while ! test -e /nowhere/at/all; do sleep 0.05; done";
    let output = Run::sh(&["--idle", "2s", "--guard", "cpu", "-v"], asks).output();
    assert_eq!(output.status.code(), Some(121), "{}", stderr(&output));
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_moved_from_or_to_a_disk_speaks_for_a_silent_command_and_what_is_in_memory_does_not() {
    // Where temporary files lie there may be no disk.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let written = || {
        let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
        io.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse::<u64>().ok()).unwrap_or_default()
    };
    let before = written();
    fs::write(folder.path().join("kept"), vec![b'x'; 1 << 20]).unwrap();
    if written() < before + (1 << 20) {
        return;
    }
    let writes = "for i in $(seq 30); do head -c 1000000 /dev/zero >new$i; sleep 0.2; done";
    let reads = "while :; do cat kept >/dev/null; sleep 0.2; done";
    for (script, code) in [(writes, 0), (reads, 121)] {
        let output = Run::sh(&["--idle", "2s", "--guard", "disk", "-v"], script).folder(folder.path()).output();
        assert_eq!(output.status.code(), Some(code), "{script}: {}", stderr(&output));
        assert_eq!(stderr(&output).contains("did disk I/O"), code == 0, "{script}: {}", stderr(&output));
    }
}

#[test]
fn a_program_that_is_known_to_draw_busily_does_not_speak_for_itself_but_its_tools_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c.toml");
    fs::write(&file, "[profile.draws]\ncommands = ['sh']\nbusy = 'tools'\n").unwrap();
    let config = file.to_str().unwrap();
    let options = ["--config", config, "--idle", "2s", "--guard", "cpu", "-v"];
    let output = Run::sh(&options, "while :; do :; done").output();
    assert_eq!(output.status.code(), Some(121), "{}", stderr(&output));
    assert!(!stderr(&output).contains("guard cpu"), "{}", stderr(&output));
    let tool = "timeout 5 sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1; exit 0";
    let output = Run::sh(&options, tool).output();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("guard cpu"), "{}", stderr(&output));
}

#[test]
fn what_we_write_into_a_folder_does_not_speak_for_a_command_that_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let options = "--idle 1s --max-idle off --timeout 20s --heartbeat 200ms --progress-every 200ms";
    let spins = "while :; do printf '\\r/'; sleep 0.1; printf '\\r-'; sleep 0.1; done";
    for records in
        ["--guard file:. --events events", "--guard file:. --record run.cast", "--guard file:.", "--guard file:log"]
    {
        let script = format!("$IW {options} {records} -- sh -c \"$0\" >log 2>&1");
        let output = Run::bare(&["sh", "-c", &script, spins]).folder(folder.path()).output();
        assert_eq!(
            output.status.code(),
            Some(121),
            "{records}: {}",
            fs::read_to_string(folder.path().join("log")).unwrap()
        );
    }
}

#[test]
fn a_file_that_grows_and_a_command_that_agrees_speak_for_a_silent_command() {
    let folder = tempfile::tempdir().unwrap();
    let grows = "i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo x >>log; sleep 0.08; done";
    let quick = ["--idle", "2s", "-v", "--guard"];
    for guard in ["file:log", "cmd:test -e log"] {
        fs::write(folder.path().join("log"), "").unwrap();
        let options = [&quick[..], &[guard]].concat();
        let output = Run::sh(&options, grows).folder(folder.path()).output();
        assert_eq!(output.status.code(), Some(0), "{guard}: {}", stderr(&output));
        assert!(stderr(&output).contains("deferred"), "{guard}: {}", stderr(&output));
    }
    let output = Run::sh(&[&quick[..], &["cmd:false"]].concat(), "sleep 300").output();
    assert_eq!(output.status.code(), Some(121));
}

#[test]
fn processes_that_come_and_go_and_bytes_that_move_speak_for_a_silent_command() {
    let comes_and_goes = "i=0; while [ $i -lt 50 ]; do i=$((i+1)); sleep 0.08; done";
    for (guard, script, says) in [
        ("children", comes_and_goes, "started and"),
        ("io", "timeout 4 cat /dev/zero >/dev/null; exit 0", "did I/O at"),
    ] {
        let output = Run::sh(&["--idle", "2s", "-v", "--guard", guard], script).output();
        assert_eq!(output.status.code(), Some(0), "{guard}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{guard}: {}", stderr(&output));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_began_or_changed_early_in_a_silence_speaks_for_the_command_too() {
    let folder = tempfile::tempdir().unwrap();
    for (guard, script, says) in [
        ("children", "sleep 0.8; sleep 1.8; echo finished", "1 processes started"),
        ("file:made", "sleep 0.8; echo x >made; sleep 1.8; echo finished", "made changed"),
    ] {
        let options = ["--idle", "2s", "-v", "--guard", guard];
        let output = Run::sh(&options, script).folder(folder.path()).output();
        assert_eq!(output.status.code(), Some(0), "{guard}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{guard}: {}", stderr(&output));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn processes_that_are_gone_before_anybody_looks_speak_for_a_silent_command() {
    let script = "timeout 2.5 sh -c 'while :; do /bin/true; done'; echo finished";
    let output = Run::sh(&["--idle", "1s", "-v", "--guard", "children"], script).output();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn guards_that_had_no_time_to_measure_do_not_defer() {
    for options in [&["--idle", "300ms"][..], &["--idle", "1s", "--warn", "100"]] {
        let output = Run::sh(&[options, &["--guard", "net", "-v"]].concat(), "exec sleep 300").output();
        assert_eq!(output.status.code(), Some(121), "{options:?}: {}", stderr(&output));
        assert!(!stderr(&output).contains("deferred"), "{options:?}: {}", stderr(&output));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_streams_in_over_the_network_speaks_for_a_silent_command() {
    if !has("python3") {
        return;
    }
    // Received in a way that the counters of a process leave out.
    let client =
        "import socket, sys\ns = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\nwhile s.recv(4096): pass";
    for (streams, code) in [(true, 0), (false, 121)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let server = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().unwrap();
            // Three times the limit, then it is done.
            for _ in 0..if streams { 120 } else { 0 } {
                client.write_all(&[b'x'; 200]).unwrap();
                std::thread::sleep(Duration::from_millis(50));
            }
            if !streams {
                // Until the client is ended.
                let _ = client.read(&mut [0]);
            }
        });
        let output = Run::new(&["--idle", "2s", "-v"], &["python3", "-c", client, &port]).output();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("its processes received"), streams, "{}", stderr(&output));
        server.join().unwrap();
    }
}

#[test]
fn a_guard_that_hangs_holds_nobody_up_and_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let spins =
        "i=0; while :; do i=$((i+1)); case $((i%2)) in 0) printf '\\r/';; *) printf '\\r-';; esac; sleep 0.05; done";
    let guard = "cmd:sleep 300 & echo $! >held; wait";
    let options = ["--idle", "1s", "--guard", guard, "--on-idle", "stop", "-k", "1s"];
    let mut run = Run::sh(&options, spins).folder(folder.path()).in_terminal();
    let held = folder.path().join("held");
    run.until("the guard", |_| fs::read_to_string(&held).is_ok_and(|pid| pid.ends_with('\n')));
    let sleeping: i32 = fs::read_to_string(&held).unwrap().trim().parse().unwrap();
    // The relay goes on meanwhile.
    run.wait_for("\r/").wait_for("\r-").wait_for("\r/");
    let (_, status) = run.finish_bytes();
    assert_eq!(status.code(), Some(121));
    until_gone(sleeping);
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_guard_leaves_behind_is_buried() {
    let folder = tempfile::tempdir().unwrap();
    let guard = "cmd:echo x >>asked; sh -c 'sleep 0.01; exit 0' & true";
    let mut run = Run::sh(&["--idle", "200ms", "--guard", guard], "sleep 300").folder(folder.path()).in_pipes();
    let asked = || fs::read_to_string(folder.path().join("asked")).map_or(0, |text| text.lines().count());
    until("three questions", || asked() >= 3);
    let pid = run.pid();
    until("all buried", || {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        // The dead have no state here.
        children.split_whitespace().all(|child| state(child.parse().unwrap()).is_some())
    });
    run.signal(libc::SIGTERM).finish_bytes();
}

#[test]
fn a_file_on_a_file_system_that_does_not_answer_holds_nobody_up() {
    if !nix::unistd::geteuid().is_root() || !has("unshare") {
        eprintln!("skipped: only root can do this");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Whoever has opened the device is to answer, and does not.
    let script = "mkdir at; { exec 3<>/dev/fuse && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none at; } || exit 99
        $IW --idle 100ms --guard file:at/log --timeout 1s -- sh -c 'echo ready; exec sleep 300' 3>&-";
    let output = Run::bare(&["unshare", "-m", "sh", "-c", script]).folder(folder.path()).output();
    if output.status.code() == Some(99) || stderr(&output).starts_with("unshare:") {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    assert_eq!((output.status.code(), &*output.stdout), (Some(124), &b"ready\n"[..]), "{}", stderr(&output));
}
