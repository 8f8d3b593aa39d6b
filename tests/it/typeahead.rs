//! What was typed too early, or is left unread, is not lost.

use std::fs;
#[cfg(target_os = "linux")]
use std::{io::Read, os::unix::fs::OpenOptionsExt, path::PathBuf, process::Command};

use crate::exhaustion::can_fail;
use crate::support::Run;
#[cfg(target_os = "linux")]
use crate::support::{reads, until};

#[test]
fn what_was_typed_before_the_start_reaches_the_command() {
    for script in ["read x; echo [$x]", "stty -icanon; head -c 6", "cat"] {
        let typed = Run::both(&[], &["sh", "-c", script]).map(|run| run.typed("hello\n\x04"));
        let [bare, wrapped] = typed.map(|run| run.in_terminal().finish().0);
        assert_eq!(wrapped, bare, "{script}");
    }
}

#[test]
fn half_a_line_typed_before_the_start_can_be_finished() {
    let mut run = Run::sh(&[], "echo ready; read x; echo [$x]").typed("hel").in_terminal();
    run.wait_for("ready").enter("lo\n").wait_for("[hello]");
    assert!(run.finish().1.success());
}

/// Whether text can be put back into a terminal: since Linux 6.2 that takes a privilege or a setting.
pub fn can_be_returned() -> bool {
    let setting = fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").unwrap_or_else(|_| "1".to_owned());
    let can = setting.trim() == "1" || nix::unistd::geteuid().is_root();
    if !can {
        eprintln!("skipped: the kernel does not let unread text be returned (dev.tty.legacy_tiocsti)");
    }
    can
}

#[test]
fn what_the_command_leaves_unread_is_there_for_the_next() {
    if !can_be_returned() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for prefix in ["", "$IW --"] {
        let script = format!(
            "{prefix} sh -c 'echo ready; while [ ! -e go ]; do sleep 0.01; done'; read x; read y; echo [$x][$y]"
        );
        let mut run = Run::script("sh", &script).folder(folder.path()).in_terminal();
        run.wait_for("ready").enter("one\ntwo\n").wait_for("two");
        fs::write(folder.path().join("go"), "").unwrap();
        run.wait_for("[one][two]");
        let text = run.finish().0;
        assert_eq!(text.matches("two").count(), 2, "echoed once: {text}");
        fs::remove_file(folder.path().join("go")).unwrap();
    }
}

#[test]
fn a_command_that_reads_one_line_leaves_the_others() {
    if !can_be_returned() {
        return;
    }
    let script = "P sh -c 'echo ready; read x; echo first $x'; read y; echo second $y";
    for prefix in ["", "$IW --"] {
        let mut run = Run::script("sh", &script.replace('P', prefix)).in_terminal();
        run.wait_for("ready").enter("one\ntwo\n").wait_for("first one").wait_for("second two");
        assert!(run.finish().1.success());
    }
}

#[test]
fn a_signal_that_comes_while_it_is_returned_loses_none_of_it() {
    if !can_be_returned() || !can_fail() {
        return;
    }
    let sweep = |first: usize| {
        for when in (first..20).step_by(4) {
            let interrupted = format!("strace -qq -o /dev/null -e trace=poll -e inject=poll:error=EINTR:when={when}");
            let script =
                format!("{interrupted} $IW -- sh -c 'echo ready; read x; echo first $x'; read y; echo second $y");
            let mut run = Run::script("sh", &script).in_terminal();
            run.wait_for("ready").enter("one\ntwo\n").wait_for("first one").wait_for("second two");
            assert!(run.finish().1.success(), "poll {when}");
        }
    };
    std::thread::scope(|scope| (1..5).for_each(|first| drop(scope.spawn(move || sweep(first)))));
}

#[test]
fn more_than_a_terminal_holds_can_be_typed_ahead() {
    // The shell reads the first line and starts the command; the others are on their way by then.
    let script = "stty -echo; echo ready; read first; $IW -- awk '/the last one/ { print \"lines=\" NR \";\"; exit }'";
    let mut run = Run::script("sh", script).in_terminal();
    let line = "a line that was pasted together with the command before it\n";
    run.wait_for("ready").enter("first\n".to_owned() + &line.repeat(400) + "the last one\n");
    assert_eq!(run.number("lines"), 401);
    assert!(run.finish().1.success());
}

#[test]
#[cfg(target_os = "linux")]
fn what_another_reader_was_faster_to_take_is_not_waited_for() {
    if !can_fail() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "echo \"tty=$(tty | tr -dc 0-9);\"; until [ -e go ]; do sleep 0.02; done";
    let mut run = Run::sh(&[], script).folder(folder.path()).in_terminal();
    let name = PathBuf::from(format!("/dev/pts/{}", run.number("tty")));
    // Between having been told that there is something and reading it.
    let mut slow = Command::new("strace");
    slow.args(["-qq", "-o", "/dev/null", "-e", "inject=read:delay_enter=1s", "-P"]).arg(&name);
    let mut slow = slow.args(["-p", &run.pid().to_string()]).spawn().unwrap();
    let pid = run.pid();
    until("the tracer", || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        !status.contains("TracerPid:\t0\n")
    });
    run.enter("one\n").wait_for("one");
    fs::write(folder.path().join("go"), "").unwrap();
    until("its read", || reads(pid, &name));
    let mut other = fs::File::options().read(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK).open(&name).unwrap();
    assert_eq!(other.read(&mut [0; 16]).ok(), Some(4));
    let (_, status) = run.finish_bytes();
    assert!(status.success() && slow.wait().unwrap().success());
    assert_eq!(run.settings(), run.found());
}

#[test]
fn what_we_typed_is_not_left_for_the_shell() {
    if !can_be_returned() {
        return;
    }
    let script = format!("$IW {NUDGED} -- sh -c 'echo ready; sleep 300'; echo over; read x; echo [$x]");
    let mut run = Run::script("sh", &script).in_terminal();
    run.wait_for("nudged").wait_for("over").enter("mine\n").wait_for("[mine]");
    assert!(run.finish().1.success());
}

#[test]
fn what_we_typed_is_not_left_for_the_next_run() {
    if !can_be_returned() {
        return;
    }
    let script = format!(
        "$IW {NUDGED} --relaunch stuck --relaunch-delay 10ms --relaunch-with 'echo again; read x; echo [$x]' -- \
         sh -c 'echo ready; sleep 300'"
    );
    let mut run = Run::script("sh", &script).in_terminal();
    run.wait_for("nudged").wait_for("again").enter("mine\n").wait_for("[mine]");
    assert!(run.finish().1.success());
}

/// Nudged once, and then ended.
const NUDGED: &str = "--idle 300ms --no-guard --nudge 'touch evil' --max-nudges 1 --nudge-wait 300ms";
