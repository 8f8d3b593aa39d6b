//! Stops that nobody at a keyboard caused: of the command, and of those that mind it.

use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use crate::support::{Run, Running, send, state, until};

/// Says who it is and who minds it, and ends when a file appears.
const WORKS: &str = "echo pid=$$';' monitor=$PPID';'; while [ ! -e go ]; do sleep 0.05; done; echo has en''ded";

fn parent(pid: i32) -> i32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap()
}

/// A job of a shell, stopped together with its command: that and idlewatch.
fn stopped_job(run: &mut Running) -> (i32, i32) {
    run.enter("$IW -- sh works\n");
    let (command, idlewatch) = (run.number("pid"), parent(run.number("monitor")));
    run.until_in_front(idlewatch);
    send(command, libc::SIGSTOP);
    until("its stop", || state(idlewatch) == Some('T'));
    (command, idlewatch)
}

#[test]
fn whoever_continues_or_kills_the_command_alone_does_not_leave_idlewatch_behind() {
    for signal in [libc::SIGCONT, libc::SIGKILL] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("works"), WORKS).unwrap();
        let mut run = Run::shell("bash").folder(folder.path()).in_terminal();
        let (command, idlewatch) = stopped_job(&mut run);
        fs::write(folder.path().join("go"), "").unwrap();
        send(command, signal);
        until("the end", || state(idlewatch).is_none_or(|state| state == 'Z'));
        if signal == libc::SIGCONT {
            run.wait_for("has ended");
        }
        run.enter("exit\n").finish_bytes();
    }
}

#[test]
fn in_a_script_only_the_command_stands_still_and_limits_hold() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s"), "$IW -t 500ms -- sh -c 'kill -STOP $$'; echo status=$?';'").unwrap();
    let mut run = Run::shell("bash").folder(folder.path()).in_terminal();
    assert_eq!(run.enter("sh s\n").number("status"), 124);
    run.enter("exit\n").finish_bytes();
}

#[test]
fn a_monitor_that_was_stopped_does_not_stop_the_watchdog() {
    for mut run in Run::sh(&["--timeout", "1s", "--kill-after", "300ms"], WORKS).both_ways() {
        send(run.number("monitor"), libc::SIGSTOP);
        assert_eq!(run.finish_bytes().1.code(), Some(124));
    }
}

#[test]
fn a_monitor_that_was_killed_is_said_to_be_why() {
    for mut run in Run::sh(&[], WORKS).both_ways() {
        let command = run.number("pid");
        send(run.number("monitor"), libc::SIGKILL);
        let (text, status) = run.finish_bytes();
        assert_eq!(status.code(), Some(125));
        let text = String::from_utf8_lossy(&text);
        assert!(!run.has_terminal() || text.contains("the monitor process was killed from outside"), "{text}");
        until("the end of the command", || state(command).is_none());
    }
}

/// The processes that have this variable.
#[cfg(target_os = "linux")]
fn with_variable(variable: &str) -> Vec<i32> {
    let has = |pid: &i32| {
        let all = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        all.split(|byte| *byte == 0).any(|one| one == variable.as_bytes())
    };
    let all = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    all.filter(has).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn where_the_monitor_was_killed_nobody_stays_who_was_started_meanwhile() {
    // Each goes on to start others until it is killed itself, and all survive the hangup of their terminal.
    let starts = "trap '' HUP; n=0; while [ $n -lt 300 ]; do sleep 300 & n=$((n + 1)); done; wait";
    let script = "for i in 1 2 3 4 5 6; do setsid sh -c \"$STARTS\" & done; sleep 0.05; echo monitor=$PPID';'; wait";
    let folder = tempfile::tempdir().unwrap();
    for mut run in Run::sh(&[], script).variable("STARTS", starts).variable("MARK", folder.path()).both_ways() {
        send(run.number("monitor"), libc::SIGKILL);
        assert_eq!(run.finish_bytes().1.code(), Some(125));
        assert!(with_variable(&format!("MARK={}", folder.path().display())).is_empty());
    }
}

#[test]
fn a_reader_that_takes_nothing_does_not_keep_alive_what_was_killed() {
    let run = Run::new(&[], &["yes"]);
    let mut child = run.command().stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let output = child.stdout.take().unwrap();
    until("a full pipe", || {
        let mut waiting: libc::c_int = 0;
        // SAFETY: FIONREAD writes one number, and `waiting` is one.
        unsafe { libc::ioctl(output.as_fd().as_raw_fd(), libc::FIONREAD, &raw mut waiting) };
        waiting >= 32 * 1024
    });
    send(child.id().try_into().unwrap(), libc::SIGTERM);
    until("its end", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
}
