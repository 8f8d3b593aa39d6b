//! Interruptions, readers that take little, output that is meant to hurt, and a fault of our own.

use std::fs;
use std::io::Read;
use std::os::fd::AsFd;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::support::{Run, Running, send, until, until_gone, without_terminal};
use crate::weight::held;

#[test]
fn a_storm_of_signals_costs_no_byte() {
    let numbers = "i=0; while [ $i -lt 40 ]; do i=$((i+1)); seq 1 5000; done";
    let expected: String = (0..40).flat_map(|_| (1..=5000).map(|n| format!("{n}\r\n"))).collect();
    let mut run = Run::sh(&[], numbers).in_terminal();
    let (pid, over) = (run.pid(), AtomicBool::new(false));
    let text = std::thread::scope(|scope| {
        // Every system call that can be interrupted is, most of them more than once.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                send(pid, libc::SIGWINCH);
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
        });
        // Not waited for yet, so that the process id stays its own.
        run.until("the last number", |run| run.text().len() >= expected.len());
        over.store(true, Ordering::Relaxed);
        run.text()
    });
    assert!(text == expected);
    assert!(run.finish_bytes().1.success());
}

#[test]
fn a_reader_that_takes_little_at_a_time_gets_everything() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    // The smallest pipe there is, and one that never waits: nearly every write is refused once.
    #[cfg(target_os = "linux")]
    fcntl(&writer, FcntlArg::F_SETPIPE_SZ(4096)).unwrap();
    let flags = fcntl(&writer, FcntlArg::F_GETFL).map(OFlag::from_bits_retain).unwrap();
    fcntl(writer.as_fd(), FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).unwrap();
    let mut command = Run::sh(&[], "seq 1 40000").command();
    let mut child = without_terminal(&mut command).stdin(Stdio::null()).stdout(writer).spawn().unwrap();
    drop(command);
    let (mut text, mut portion) = (Vec::new(), [0; 97]);
    loop {
        match reader.read(&mut portion).unwrap() {
            0 => break,
            count => text.extend_from_slice(&portion[..count]),
        }
    }
    let expected: Vec<u8> = (1..=40000).flat_map(|n| format!("{n}\n").into_bytes()).collect();
    assert!(text == expected);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_parent_that_dies_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let script = "($IW -- sh -c 'while [ ! -e go ]; do sleep 0.01; done; echo done >out' ; echo $? >code) \
                  </dev/null >/dev/null 2>&1 & echo started";
    let output = Run::script("sh", script).folder(folder.path()).output();
    assert_eq!(output.stdout, b"started\n");
    fs::write(folder.path().join("go"), "").unwrap();
    until("its end", || fs::read_to_string(folder.path().join("code")).is_ok_and(|code| code == "0\n"));
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "done\n");
}

#[test]
fn output_that_is_meant_to_hurt_costs_little_memory_and_the_relay_goes_on() {
    let osc = "printf '\\033]0;'; head -c 8000000 /dev/zero | tr '\\0' t; printf '\\007'";
    let repeats = "awk 'BEGIN { for (i = 0; i < 20000; i++) printf \"x\\033[65535b\" }'";
    let marks = "awk 'BEGIN { for (i = 0; i < 1000000; i++) printf \"\\314\\201\" }'";
    let update = "printf '\\033[?2026h'; awk 'BEGIN { for (i = 0; i < 200000; i++) printf \"\\033[%d;1Hrow %d\", i % 24 + 1, i }'";
    let sequence = "printf '\\033['; head -c 8000000 /dev/zero | tr '\\0' 1; printf m";
    let clears =
        "awk 'BEGIN { for (i = 0; i < 200000; i++) printf \"\\033[2J\\033[?1049hx\\033#8\\033[?1049l\\033c\" }'";
    for (name, hurts) in [
        ("osc", osc),
        ("sequence", sequence),
        ("rep", repeats),
        ("marks", marks),
        ("update", update),
        ("clears", clears),
    ] {
        let script =
            format!("stty -echo; echo ready; read go; {hurts}; printf '\\033[?2026l'; echo; echo still there; read go");
        let mut run = Run::sh(&[], &script).in_terminal();
        run.wait_for("ready\r\n");
        let (before, open) = held(run.pid());
        run.enter("\n").wait_for("still there\r\n");
        let (after, still_open) = held(run.pid());
        assert!(after < before + 4096, "{name}: {before} KiB before, {after} KiB after");
        assert_eq!(open, still_open, "{name}");
        run.enter("\n");
        assert!(run.finish().1.success(), "{name}");
    }
}

#[test]
fn a_storm_of_resizes_arrives_at_the_last_size() {
    let script = "stty -echo; echo ready; read go; stty size";
    let mut run = Run::sh(&[], script).in_terminal();
    run.wait_for("ready\r\n");
    for step in 0..500_u16 {
        run.resize(20 + step % 100, 10 + step % 40);
    }
    run.resize(77, 33).until("the size", |run| {
        let device = fs::read_link(format!("/proc/{}/fd/0", command_of(run.pid()))).expect("a terminal");
        let terminal = fs::File::open(device).expect("a terminal");
        size(&terminal) == (77, 33)
    });
    run.enter("\n").wait_for("33 77");
    assert!(run.finish().1.success());
}

fn size(terminal: &fs::File) -> (u16, u16) {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes one winsize, and `size` is one.
    unsafe { libc::ioctl(std::os::fd::AsRawFd::as_raw_fd(terminal), libc::TIOCGWINSZ, &raw mut size) };
    (size.ws_col, size.ws_row)
}

/// The command below idlewatch and its monitor.
fn command_of(idlewatch: i32) -> i32 {
    let child = |pid: i32| -> i32 {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        children.split_whitespace().next().expect("a child").parse().expect("a number")
    };
    child(child(idlewatch))
}

#[test]
fn a_fault_in_the_analysis_is_said_once_and_any_byte_counts_from_then_on() {
    let spinner =
        "i=0; while :; do i=$((i+1)); printf '\\r%s' $((i%2)); sleep 0.05; [ -e silent ] && exec sleep 300; done";
    let folder = tempfile::tempdir().unwrap();
    let run = Run::sh(&["--idle", "2s", "--no-guard", "--events", "events"], spinner).folder(folder.path());
    let mut child = without_terminal(&mut run.variable("IDLEWATCH_TEST_PANIC", "analysis").command())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let events = || fs::read_to_string(folder.path().join("events")).unwrap_or_default();
    until("the loss", || events().contains("analysis_lost"));
    // Twice the limit: what would have been a spinner is now activity, since nobody can read it any more.
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert!(!events().contains("stalled"), "{}", events());
    fs::write(folder.path().join("silent"), "").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(121));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said.matches("can no longer be read").count(), 1, "{said}");
    assert_eq!(events().matches("analysis_lost").count(), 1);
}

#[test]
fn a_fault_of_our_own_gives_the_terminal_back_and_leaves_nobody_behind() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ >pid; printf '\\033[?1049h\\033[?1000h'; exec sleep 300";
    let run = Run::sh(&[], script).folder(folder.path()).variable("IDLEWATCH_TEST_PANIC", "relay");
    let mut run = run.in_terminal();
    run.until("its end", Running::has_ended);
    assert_eq!(run.settings(), run.found());
    let (text, status) = run.finish();
    assert_eq!(status.code(), Some(125), "{text}");
    assert_eq!(text.matches("internal error").count(), 1, "{text}");
    assert!(text.contains("\x1b[?1000l") && text.contains("\x1b[?1049l"), "{text:?}");
    until_gone(fs::read_to_string(folder.path().join("pid")).unwrap().trim().parse().unwrap());
}

#[test]
fn a_fault_of_our_own_takes_the_prompt_off_the_screen() {
    let options = ["--timeout", "500ms", "--on-timeout", "prompt,stop"];
    let run = Run::sh(&options, "sleep 1; echo later; sleep 300").variable("IDLEWATCH_TEST_PANIC", "prompt");
    let (text, status) = run.in_terminal().finish();
    assert_eq!(status.code(), Some(125), "{text}");
    let (asked, gone) = (text.find("kill and abort"), text.rfind("\x1b[?1049l"));
    assert!(asked.is_some() && asked < gone && gone < text.find("internal error"), "{text:?}");
}
