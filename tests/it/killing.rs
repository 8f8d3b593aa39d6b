//! When idlewatch ends a command, nothing of it stays.

use std::os::unix::process::ExitStatusExt;

use crate::support::{Run, Running, has, send, state, stderr, until_gone};

/// A command with a child, one in a session of its own, and one whose parent is gone; all say who they are.
const FAMILY: &str = "echo self=$$';'; sleep 300 & echo child=$!';'; \
    setsid sh -c 'echo session=$$\";\"; exec sleep 300' & \
    (setsid sh -c 'echo orphan=$$\";\"; trap \"\" HUP TERM INT; while :; do sleep 1; done' &) ; ";

fn family(run: &mut Running) -> Vec<i32> {
    let mut seen = Vec::new();
    for name in ["self", "child", "session", "orphan"] {
        run.until("the whole family", |run| run.text().contains(&format!("{name}=")));
        let text = run.text();
        let (_, rest) = text.split_once(&format!("{name}=")).unwrap();
        seen.push(rest.split_once(';').unwrap().0.parse().unwrap());
    }
    seen
}

#[test]
fn an_idle_command_is_ended_with_all_of_its_tree() {
    for options in
        [&["--idle", "1s", "--kill-after", "300ms"][..], &["--idle", "1s", "--kill-after", "300ms", "--pty", "never"]]
    {
        for mut run in Run::sh(options, &format!("{FAMILY} wait; sleep 300")).both_ways() {
            let family = family(&mut run);
            assert_eq!(run.finish_bytes().1.code(), Some(121));
            for pid in family {
                assert_eq!(state(pid), None);
            }
        }
    }
}

#[test]
fn a_command_that_ignores_the_signal_is_killed() {
    let script = "trap '' TERM; echo ready; while :; do sleep 0.1; done";
    for mut run in Run::sh(&["--idle", "500ms", "--kill-after", "200ms"], script).both_ways() {
        assert_eq!(run.wait_for("ready").finish_bytes().1.code(), Some(121));
    }
}

#[test]
fn an_idle_command_may_say_goodbye() {
    // Without guards: on a busy machine a shell that starts so many processes is busy itself.
    for (options, signal) in [(&[][..], "TERM"), (&["--signal", "USR1"], "USR1")] {
        let options = &[&["--idle", "500ms", "--no-guard"], options].concat();
        let script = format!("trap 'echo goodbye; exit 0' {signal}; echo ready; while :; do sleep 0.02; done");
        for mut run in Run::sh(options, &script).both_ways() {
            let (text, status) = run.finish_bytes();
            assert!(String::from_utf8_lossy(&text).contains("goodbye"));
            assert_eq!(status.code(), Some(121));
        }
    }
}

#[test]
fn a_stopped_member_of_the_tree_is_ended_too() {
    let script = "sh -c 'echo pid=$$\";\"; kill -STOP $$' & while :; do sleep 0.1; done";
    for mut run in Run::sh(&["--idle", "500ms"], script).both_ways() {
        let pid = run.number("pid");
        assert_eq!(run.finish_bytes().1.code(), Some(121));
        assert_eq!(state(pid), None);
    }
}

#[test]
fn a_command_that_stops_itself_where_nobody_could_continue_it_is_ended_in_time() {
    for (options, code) in [(&["--timeout", "500ms"][..], 124), (&["--idle", "500ms"], 121)] {
        for mut run in Run::sh(options, "kill -STOP $$; exit 3").both_ways() {
            assert_eq!(run.finish_bytes().1.code(), Some(code), "{options:?}");
        }
    }
}

#[test]
fn output_keeps_a_command_alive() {
    let script = "i=0; while [ $i -lt 15 ]; do echo tick; sleep 0.1; i=$((i+1)); done; exit 9";
    for mut run in Run::sh(&["--idle", "1s"], script).both_ways() {
        assert_eq!(run.finish_bytes().1.code(), Some(9));
    }
}

#[test]
fn no_limit_means_no_limit() {
    for mut run in Run::sh(&["--idle", "off"], "sleep 0.5; exit 9").both_ways() {
        assert_eq!(run.finish_bytes().1.code(), Some(9));
    }
}

#[test]
fn nothing_is_left_when_idlewatch_itself_is_killed() {
    for options in [&[][..], &["--pty", "never"]] {
        for mut run in Run::sh(options, &format!("stty raw -echo 2>/dev/null; {FAMILY} wait; sleep 300")).both_ways() {
            let family = family(&mut run);
            run.signal(libc::SIGKILL);
            assert_eq!(run.finish_bytes().1.signal(), Some(libc::SIGKILL));
            for pid in family {
                until_gone(pid);
            }
        }
    }
}

#[test]
fn the_terminal_is_given_back_when_idlewatch_is_killed() {
    for options in [&[][..], &["--stdin", "inherit"], &["--pty", "never"]] {
        let mut run = Run::sh(options, "stty raw -echo; echo ready; exec sleep 300").in_terminal();
        run.wait_for("ready").signal(libc::SIGKILL);
        run.until("the settings", |run| run.settings() == run.found());
    }
    // Where the command has it from us, whatever it has changed.
    let kill = "stty -echo -icanon; read -r _ _ _ watch _ </proc/$PPID/stat; kill -KILL $watch; sleep 300";
    let back = "while test \"$before\" != \"$(stty -g)\"; do sleep 0.05; done; echo ba''ck";
    let script = format!("stty -ixon; before=$(stty -g); $IW --pty never -- sh -c \"$COMMAND\"; {back}");
    let mut run = Run::script("sh", &script).variable("COMMAND", kill.to_owned()).in_terminal();
    run.wait_for("back");
    assert!(run.finish().1.success());
}

#[test]
fn the_terminal_is_given_back_when_idlewatch_is_killed_as_soon_as_it_has_it() {
    for _ in 0..10 {
        let mut run = Run::new(&[], &["sleep", "300"]).in_terminal();
        // Without a pause in between: it is about the first moment.
        while run.settings() == run.found() && !run.has_ended() {}
        run.signal(libc::SIGKILL);
        run.until("the settings", |run| run.settings() == run.found());
    }
}

#[test]
fn the_same_holds_where_a_script_that_leads_the_session_runs_it() {
    let command = format!(
        "read -r _ _ _ watch _ </proc/$PPID/stat; echo watch=$watch\";\"; stty raw -echo; {FAMILY} wait; sleep 300"
    );
    let mut run = Run::script("sh", "$IW -- sh -c \"$COMMAND\"; read rest").variable("COMMAND", command).in_terminal();
    let watch = run.number("watch");
    let family = family(&mut run);
    send(watch, libc::SIGKILL);
    for pid in family {
        until_gone(pid);
    }
    run.until("the settings", |run| run.settings() == run.found());
}

#[test]
fn a_core_is_dumped_once() {
    let folder = tempfile::tempdir().unwrap();
    let [bare, wrapped] = Run::both(&[], &["sh", "-c", "ulimit -c unlimited; kill -QUIT $$"]);
    if !bare.folder(folder.path()).output().status.core_dumped() {
        eprintln!("skipped: no core is dumped here");
        return;
    }
    for mut run in wrapped.folder(folder.path()).both_ways() {
        let status = run.finish_bytes().1;
        assert_eq!(status.signal(), Some(libc::SIGQUIT));
        assert!(!status.core_dumped(), "the command's own is enough");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_monitor_that_somebody_stops_goes_on() {
    for mut run in Run::sh(&[], "kill -STOP $PPID; sleep 0.1; exit 3").both_ways() {
        assert_eq!(run.finish_bytes().1.code(), Some(3));
    }
    // Whoever wants to pause the command and meets its parent does not make it immortal.
    let mut run = Run::sh(&[], "kill -STOP $PPID; echo self=$$';'; sleep 300").in_terminal();
    let pid = run.number("self");
    send(run.pid(), libc::SIGKILL);
    until_gone(pid);
    run.finish_bytes();
}

#[test]
fn a_process_group_that_has_got_the_number_of_one_that_is_gone_is_left_alone() {
    if !nix::unistd::geteuid().is_root() || !has("unshare") {
        eprintln!("skipped: only root can do this");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // The command has ended, its output waits for a reader, and somebody of its tree is still there, in another group.
    let script = r#"
        [ -w /proc/sys/kernel/ns_last_pid ] || exit 99
        mkfifo fifo; sleep 300 <fifo &
        $IW -- sh -c 'setsid sh -c "echo \$\$ >rest; exec sleep 300" &
            until [ -s rest ]; do sleep 0.01; done
            cut -d " " -f 5 /proc/$$/stat >group; head -c 100000 /dev/zero' >fifo 2>/dev/null &
        idlewatch=$!
        until [ -s group ]; do sleep 0.01; done
        group=$(cat group) rest=$(cat rest)
        while cut -d " " -f 5 /proc/[0-9]*/stat 2>/dev/null | grep -qx "$group"; do sleep 0.01; done
        echo $((group - 1)) >/proc/sys/kernel/ns_last_pid; setsid sleep 300 &
        [ "$!" = "$group" ] || exit 98
        until [ "$(cut -d " " -f 5 /proc/$group/stat)" = "$group" ]; do sleep 0.01; done
        kill -KILL $idlewatch
        while kill -0 "$rest" 2>/dev/null; do sleep 0.01; done
        grep -q "^State:.[ZX]" /proc/$group/status && exit 1
        kill -0 "$group"
    "#;
    let run = Run::bare(&["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script]).folder(folder.path());
    let output = run.output();
    if matches!(output.status.code(), Some(98 | 99)) || stderr(&output).starts_with("unshare:") {
        eprintln!("skipped: nobody chooses the number of a process here");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
