//! Things that go wrong around a run, and what still has to hold.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Run, program, until, until_gone, without_terminal};
use crate::typeahead::can_be_returned;

#[test]
fn an_unwritable_standard_error_changes_no_exit_status() {
    for (options, command, code) in [
        (&["--timeout", "300ms"] as &[&str], &["sleep", "300"] as &[&str], 124),
        (&[], &["no-such-command"], 127),
        (&["--relaunch", "crash", "--relaunch-delay", "1ms", "--max-relaunches", "1"], &["false"], 1),
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = Run::new(options, command).command();
        let status = without_terminal(&mut command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(full).status();
        assert_eq!(status.unwrap().code(), Some(code), "{options:?}");
    }
}

#[test]
fn readers_that_have_stopped_do_not_stop_the_watchdog() {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = Run::new(&["--timeout", "1s", "-v"], &["yes"]).command();
    let stderr = writer.try_clone().unwrap();
    let status = without_terminal(&mut command).stdin(Stdio::null()).stdout(writer).stderr(stderr).status();
    assert_eq!(status.unwrap().code(), Some(124));
    drop(reader);
}

#[test]
fn what_is_printed_while_the_reader_has_paused_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    // More than a pipe holds, then a line now and then.
    let script = "yes | head -c 66000; for word in one two three four five six seven eight nine ten eleven twelve; do \
                  echo \"and $word\"; sleep 0.2; done; : >done";
    let mut command = Run::sh(&["--idle", "1s", "--no-guard"], script).folder(folder.path()).command();
    let child = without_terminal(&mut command).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    until("its last word", || folder.path().join("done").exists());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.ends_with(b"and twelve\n"));
}

#[test]
fn what_a_person_ended_is_not_started_again() {
    let options = ["--relaunch", "any", "--relaunch-delay", "1ms"];
    let mut run = Run::sh(&options, "echo ready; exec sleep 300").in_terminal();
    run.wait_for("ready").enter("\x03");
    let (text, status) = run.finish();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(libc::SIGINT), "{text}");
    let mut run = Run::sh(&options, "echo ready; exec sleep 300").in_terminal();
    run.wait_for("ready").signal(libc::SIGTERM);
    assert_eq!(run.finish().0.matches("ready").count(), 1);
}

#[test]
fn a_stop_from_outside_is_neither_silence_nor_running_time() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ >pid; i=0; while [ ! -e go ]; do sleep 0.02; done; exit 5";
    for limit in [&["--idle", "2s", "--no-guard"] as &[&str], &["--idle", "off", "--timeout", "2s"]] {
        let _ = fs::remove_file(folder.path().join("go"));
        let _ = fs::remove_file(folder.path().join("pid"));
        let mut command = Run::sh(limit, script).folder(folder.path()).command();
        let mut child = without_terminal(&mut command).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("the start", || folder.path().join("pid").exists());
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        kill(pid, Signal::SIGSTOP).unwrap();
        // Longer than the limit: that this time does not count is what is tested.
        std::thread::sleep(Duration::from_millis(2300));
        fs::write(folder.path().join("go"), "").unwrap();
        kill(pid, Signal::SIGCONT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(5), "{limit:?}");
    }
}

#[test]
fn whoever_is_continued_again_and_again_and_was_never_stopped_keeps_its_limits() {
    for (limit, code) in [
        (&["--idle", "500ms", "--no-guard"] as &[&str], 121),
        (&["--idle", "off", "--timeout", "500ms", "--kill-after", "100ms"], 124),
    ] {
        for mut run in Run::sh(limit, "trap '' TERM; echo ready; while :; do sleep 1; done").both_ways() {
            run.wait_for("ready");
            let begun = Instant::now();
            while !run.has_ended() {
                assert!(begun.elapsed() < Duration::from_secs(30), "{limit:?}");
                run.signal(libc::SIGCONT);
                std::thread::sleep(Duration::from_millis(20));
            }
            assert_eq!(run.finish_bytes().1.code(), Some(code), "{limit:?}");
        }
    }
}

#[test]
fn whoever_is_stopped_again_and_again_is_not_held_responsible_for_it() {
    for mut run in Run::sh(&["--idle", "off", "--timeout", "2s"], "echo ready; sleep 2.5; exit 5").both_ways() {
        run.wait_for("ready");
        // Stopped for most of the time, which is longer than the limit.
        for _ in 0..25 {
            run.signal(libc::SIGSTOP);
            std::thread::sleep(Duration::from_millis(100));
            run.signal(libc::SIGCONT);
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(run.finish_bytes().1.code(), Some(5));
    }
}

#[test]
fn a_ladder_without_a_stop_still_leaves_nobody_behind() {
    let folder = tempfile::tempdir().unwrap();
    let script = "setsid sh -c 'trap \"\" TERM; echo $$ >pid; while :; do sleep 0.05; done' & exec sleep 300";
    let options = ["--idle", "1s", "--no-guard", "--on-idle", "term", "--kill-after", "200ms"];
    let output = Run::sh(&options, script).folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(121));
    let pid: i32 = fs::read_to_string(folder.path().join("pid")).unwrap().trim().parse().unwrap();
    assert!(kill(Pid::from_raw(pid), None).is_err(), "it is still there");
}

#[test]
fn without_a_kill_what_ignores_the_signal_is_left_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let script = "setsid sh -c 'trap \"\" TERM; echo $$ >pid; while [ ! -e go ]; do sleep 0.05; done' & exec sleep 300";
    let options = ["--idle", "1s", "--no-guard", "--kill-after", "off"];
    let output = Run::sh(&options, script).folder(folder.path()).output();
    assert_eq!(output.status.code(), Some(121));
    let pid = fs::read_to_string(folder.path().join("pid")).unwrap().trim().to_owned();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("left running") && said.contains(&pid), "{said}");
    let pid = pid.parse().unwrap();
    assert!(kill(Pid::from_raw(pid), None).is_ok());
    fs::write(folder.path().join("go"), "").unwrap();
    // The folder goes with this test, and with it what it is told by.
    until_gone(pid);
}

#[test]
fn text_typed_ahead_outlives_a_command_that_cannot_start() {
    if !can_be_returned() {
        return;
    }
    let script = "echo ready; read go; $IW -- no-such-command 2>/dev/null; read x; echo \"got $x\"";
    let mut run = Run::script("sh", script).in_terminal();
    run.wait_for("ready").enter("go\nahead\n").wait_for("got ahead");
    assert!(run.finish().1.success());
}

#[test]
fn a_mark_of_the_end_counts_also_when_it_has_scrolled_away() {
    let script = "echo ALL DONE; seq 60; sleep 300";
    let output = Run::sh(&["--done", "ALL DONE", "--done-idle", "500ms"], script).output();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_signal_that_was_not_meant_to_end_the_command_is_no_reason() {
    let script = "trap 'exit 0' USR1; while :; do sleep 0.05; done";
    let output = Run::sh(&["--idle", "1s", "--no-guard", "--on-idle", "signal:USR1"], script).output();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_was_printed_below_the_prompt_is_seen_after_it() {
    let script = "sleep 2; echo IMPORTANT";
    let mut run = Run::sh(&["--timeout", "500ms", "--on-timeout", "prompt,stop"], script).in_terminal();
    run.wait_for("kill and abort").wait_for("\x1b[?1049l").wait_for("IMPORTANT");
    assert_eq!(run.finish().1.code(), Some(0));
}

#[test]
fn a_terminal_that_nobody_reads_holds_nobody_up_in_whatever_way_it_is_written_to() {
    for options in [&[][..], &["--pty", "never"]] {
        let options = [&["--timeout", "500ms", "--kill-after", "200ms"][..], options].concat();
        let mut run = Run::new(&options, &["yes"]).in_terminal();
        until("its end", || run.has_ended());
        assert_eq!(run.finish_bytes().1.code(), Some(124), "{options:?}");
    }
}

/// More than a pipe holds, and less than would keep the command itself from its end.
const TOO_MUCH: &str = "head -c 100000 /dev/zero | tr '\\0' x";

#[test]
fn what_waits_for_its_reader_after_the_end_answers_and_keeps_its_limit() {
    let mut run = Run::sh(&[], TOO_MUCH).in_pipes();
    let pid = run.pid().to_string();
    until("an answer", || {
        let status = Run::bare(&[program(), "ctl", "status", "--json", &pid]).output();
        String::from_utf8_lossy(&status.stdout).contains(r#""state":"exited""#)
    });
    run.signal(libc::SIGTERM);
    until("its end", || run.has_ended());
    let mut run = Run::sh(&["--timeout", "1s"], TOO_MUCH).in_pipes();
    until("its end", || run.has_ended());
    assert_eq!(run.finish_bytes().1.code(), Some(124));
}

#[test]
fn a_terminal_with_less_room_than_a_line_of_ours_needs_does_not_hold_us_up() {
    // How much room that makes is the kernel's affair: none, enough, or too little.
    for read in [100, 1000, 2000, 4000] {
        let pty = nix::pty::openpty(None, None).unwrap();
        let (mut master, slave) = (File::from(pty.master), File::from(pty.slave));
        let flags = OFlag::from_bits_retain(fcntl(&slave, FcntlArg::F_GETFL).unwrap());
        fcntl(&slave, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).unwrap();
        while (&slave).write(&[b'x'; 100]).is_ok() {}
        fcntl(&slave, FcntlArg::F_SETFL(flags)).unwrap();
        // Somebody reads a little, and stops.
        master.read_exact(&mut vec![0; read]).unwrap();
        let mut command = Run::new(&[], &["/no/".repeat(900)]).command();
        let command = without_terminal(&mut command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(slave);
        let mut child = command.spawn().unwrap();
        until("its end", || child.try_wait().unwrap().is_some());
        assert_eq!(child.wait().unwrap().code(), Some(127), "{read}");
    }
}
