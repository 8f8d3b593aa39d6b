//! A signal sent to idlewatch is one sent to the command.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use crate::support::{Run, has, send, until_gone, without_terminal};

#[test]
fn a_signal_reaches_the_command_once() {
    let signals = [
        libc::SIGTERM,
        libc::SIGINT,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGWINCH,
        libc::SIGALRM,
        libc::SIGTTIN,
        libc::SIGRTMIN(),
    ];
    let mut script = signals.map(|signal| format!("trap 'echo got-{signal}-' {signal}; ")).concat();
    script += "trap 'exit 4' IO; echo ready; while :; do sleep 0.02; done";
    for options in [&[][..], &["--pty", "never"]] {
        for mut run in Run::sh(options, &script).both_ways() {
            run.wait_for("ready");
            for signal in signals {
                run.signal(signal).wait_for(format!("got-{signal}-"));
            }
            let (text, status) = run.signal(libc::SIGIO).finish_bytes();
            let text = String::from_utf8_lossy(&text).into_owned();
            for signal in signals {
                assert_eq!(text.matches(&format!("got-{signal}-")).count(), 1, "{text}");
            }
            assert_eq!(status.code(), Some(4));
        }
    }
}

#[test]
fn a_signal_to_a_process_group_that_it_shares_with_us_reaches_the_command_once() {
    if !has("python3") {
        return;
    }
    // Held back and taken one by one, since two of a kind that wait are one.
    let script = "import signal as s\n\
                  caught = {s.SIGTERM, s.SIGUSR1, s.SIGUSR2, s.SIGRTMIN, s.SIGRTMAX}\n\
                  s.pthread_sigmask(s.SIG_BLOCK, caught)\n\
                  print('ready', flush=True)\n\
                  while (number := s.sigwaitinfo(caught).si_signo) != s.SIGUSR2: print(number, flush=True)";
    for options in [&[][..], &["--pty", "never"]] {
        let mut command = Run::new(options, &["python3", "-c", script]).command();
        let mut run = without_terminal(&mut command).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert_eq!(lines.next().as_deref(), Some("ready"));
        let pid = i32::try_from(run.id()).unwrap();
        let (mark, end) = (libc::SIGRTMAX(), libc::SIGRTMAX().to_string());
        for signal in [libc::SIGTERM, libc::SIGUSR1, libc::SIGRTMIN()] {
            // To all, and then to idlewatch alone.
            for target in [-pid, pid] {
                send(target, signal);
                send(pid, mark);
                let got: Vec<String> = lines.by_ref().take_while(|line| *line != end).collect();
                assert_eq!(got, [signal.to_string()], "{options:?}, to {target} of {pid}");
            }
        }
        send(pid, libc::SIGUSR2);
        assert!(run.wait().unwrap().success());
    }
}

#[test]
fn a_signal_that_ends_the_command_ends_us_the_same_way() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGRTMIN()] {
        for options in [&[][..], &["--pty", "never"]] {
            for mut run in Run::sh(options, "ulimit -c 0; echo ready; exec sleep 300").both_ways() {
                let status = run.wait_for("ready").signal(signal).finish_bytes().1;
                assert_eq!(status.signal(), Some(signal));
            }
        }
    }
}

#[test]
fn only_the_command_is_signalled_and_not_its_children() {
    // Both traps before the child, which says that all is ready.
    let script = "trap 'echo parent' USR1; trap 'kill $!; wait $!; exit 0' TERM; \
                  sh -c \"trap 'echo child' USR1; echo ready; while :; do sleep 0.02; done\" & while :; do wait; done";
    for mut run in Run::sh(&[], script).both_ways() {
        run.wait_for("ready").signal(libc::SIGUSR1).wait_for("parent").signal(libc::SIGTERM);
        let (text, status) = run.finish_bytes();
        assert!(!String::from_utf8_lossy(&text).contains("child"));
        assert_eq!(status.code(), Some(0));
    }
}

#[test]
fn a_hangup_of_the_terminal_reaches_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap 'touch hup; exit 3' HUP; echo ready; while :; do sleep 0.02; done";
    for run in Run::both(&[], &["sh", "-c", script]) {
        let mut run = run.folder(folder.path()).in_terminal();
        let status = run.wait_for("ready").hang_up().finish_bytes().1;
        assert_eq!(status.code(), Some(3));
        std::fs::remove_file(folder.path().join("hup")).unwrap();
    }
}

#[test]
fn a_hangup_of_the_terminal_ends_a_command_that_reads_it() {
    let script = "trap '' HUP; echo ready; cat; exit 6";
    for run in Run::both(&[], &["sh", "-c", script]) {
        assert_eq!(run.in_terminal().wait_for("ready").hang_up().finish_bytes().1.code(), Some(6));
    }
}

#[test]
fn a_command_that_outlives_its_terminal_has_nobody_to_wait_for() {
    let script = "trap '' HUP; echo pid=$$';'; printf 'Continue? [y/N] '; exec sleep 300";
    let mut run = Run::sh(&["--idle", "2s", "--no-guard"], script).in_terminal();
    let pid = run.number("pid");
    run.wait_for("[y/N]").hang_up();
    crate::support::until_gone(pid);
    assert_eq!(run.finish_bytes().1.code(), Some(123));
}

#[test]
fn what_ends_the_command_ends_those_it_has_started() {
    // As `timeout`, `kill %1` and a shell that leaves do: they signal a process group, and only we are in ours.
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        for mut run in Run::sh(&[], "sh -c 'echo child=$$\";\"; exec sleep 300'; :").both_ways() {
            let child = run.number("child");
            run.signal(signal).finish_bytes();
            crate::support::until_gone(child);
        }
    }
}

#[test]
fn a_hangup_reaches_the_command_of_a_script_too() {
    for command in ["exec sleep 300", "exec cat"] {
        for prefix in ["", "$IW --"] {
            let script = format!("{prefix} sh -c 'echo pid=$$\";\"; {command}'; :");
            let mut run = Run::script("sh", &script).in_terminal();
            let pid = run.number("pid");
            run.hang_up();
            crate::support::until_gone(pid);
            run.finish_bytes();
        }
    }
}

#[test]
fn a_signal_reaches_a_command_that_has_left_its_process_group() {
    if !has("perl") {
        return;
    }
    // As `timeout` does, and a shell that runs jobs.
    let leaves = "perl -e 'setpgrp(0, 0); $| = 1; print \"pid=$$;\"; sleep 300'";
    let mut run = Run::script("sh", &format!("$IW -- {leaves} & echo \"idlewatch=$!;\"; wait")).in_pipes();
    let (idlewatch, pid) = (run.number("idlewatch"), run.number("pid"));
    send(idlewatch, libc::SIGTERM);
    until_gone(pid);
    run.finish_bytes();
}

#[test]
#[cfg(target_os = "linux")]
fn a_limit_on_processor_time_that_only_we_have_reached_is_not_the_commands() {
    // What the command itself does is little: others print for it, and to look at that takes us longer than the limit.
    let command = "trap \"touch told\" XCPU; until [ -e go ]; do seq 300000; done; exit 4";
    let folder = tempfile::tempdir().unwrap();
    let script = format!("ulimit -S -t 1; exec $IW -- sh -c '{command}' >/dev/null");
    let mut run = Run::script("sh", &script).folder(folder.path()).in_pipes();
    let limits = format!("/proc/{}/limits", run.pid());
    run.until("the limit", |_| {
        let limits = std::fs::read_to_string(&limits).unwrap();
        let time = limits.lines().find_map(|line| line.strip_prefix("Max cpu time")).unwrap();
        // The kernel grants another second to whom it has told.
        time.split_whitespace().next().unwrap().parse::<u64>().is_ok_and(|seconds| seconds > 1)
    });
    std::fs::write(folder.path().join("go"), "").unwrap();
    assert_eq!(run.finish().1.code(), Some(4));
    assert!(!folder.path().join("told").exists());
}
