//! Programs that become another user, as `sudo` does: they cannot be signalled, and are not seen everywhere.

use std::fs;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;

use crate::exhaustion::can_fail;
use crate::support::{Leftover, Run, has, program, state, stderr, until, until_gone, without_terminal};

/// A folder with idlewatch, and with a program that becomes root; both for somebody who is not.
struct Stage(tempfile::TempDir);

/// How a script is run by somebody who is not root.
const NOBODY: [&str; 8] = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c"];

impl Stage {
    fn new() -> Option<Self> {
        if !nix::unistd::geteuid().is_root() || !has("setpriv") {
            eprintln!("skipped: only root can do this");
            return None;
        }
        let stage = Self(tempfile::tempdir().unwrap());
        let found = std::env::var_os("PATH").unwrap();
        let setpriv = std::env::split_paths(&found).map(|folder| folder.join("setpriv")).find(|file| file.exists());
        for (from, to, mode) in [(PathBuf::from(program()), "idlewatch", 0o755), (setpriv?, "setpriv", 0o4755)] {
            let copy = stage.0.path().join(to);
            fs::copy(from, &copy).unwrap();
            fs::set_permissions(copy, PermissionsExt::from_mode(mode)).unwrap();
        }
        fs::set_permissions(stage.0.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let becomes_root = stage.run(&[], "$ROOT sh -c 'exit 3'").output().status.code() == Some(3);
        if !becomes_root {
            eprintln!("skipped: no program becomes another user here");
        }
        becomes_root.then_some(stage)
    }

    /// Runs `before` and then this script, as somebody who is not root: `$ROOT` before a command makes it root's.
    fn run(&self, before: &[&str], script: &str) -> Run {
        let folder = self.0.path().display();
        Run::bare(&[before, &NOBODY, &[script]].concat())
            .folder("/")
            .variable("IW", format!("{folder}/idlewatch"))
            .variable("ROOT", format!("{folder}/setpriv --reuid 0 --regid 0 --clear-groups"))
    }

    /// The same where `/proc` shows nobody but who is one's own.
    fn hidden(&self, script: &str) -> Run {
        self.run(
            &["unshare", "-m", "sh", "-c", "mount -t proc -o hidepid=2 proc /proc || exit 99; exec \"$@\"", "sh"],
            script,
        )
    }
}

#[test]
fn a_command_that_we_may_not_signal_is_hung_up_on_and_not_waited_for() {
    let Some(stage) = Stage::new() else { return };
    let script =
        "exec $IW --timeout 200ms --kill-after 100ms --relaunch any -- $ROOT sh -c 'echo \"pid=$$;\"; exec sleep 300'";
    for mut run in stage.run(&[], script).both_ways() {
        let pid = run.number("pid");
        let left = Leftover(pid);
        let (text, status) = run.finish_bytes();
        let text = String::from_utf8_lossy(&text);
        assert_eq!(status.code(), Some(124), "{text}");
        assert!(!text.contains("still there"), "{text}");
        until_gone(pid);
        std::mem::forget(left);
    }
}

#[test]
fn a_command_that_nothing_ends_is_named_and_left() {
    let Some(stage) = Stage::new() else { return };
    let script = "exec 3>&2; exec $IW --timeout 200ms --kill-after 100ms --relaunch any --preserve-status --events fd:3 \
                  --record $OUT -- \
                  $ROOT sh -c 'trap \"\" HUP; echo \"p\"id=$$\";\"; exec sleep 300'";
    let out = tempfile::tempdir().unwrap();
    fs::set_permissions(out.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let recording = out.path().join("cast");
    for mut run in stage.run(&[], script).variable("OUT", recording.display().to_string()).both_ways() {
        let pid = run.number("pid");
        let _left = Leftover(pid);
        let (text, status) = run.finish_bytes();
        let text = String::from_utf8_lossy(&text);
        assert_eq!(status.code(), Some(124), "{text}");
        assert!(text.contains(&format!("could not be killed and still running: {pid} (sleep)")), "{text}");
        // Nobody knows how it will end, so nobody says so.
        assert!(text.contains(r#""reason":"timeout","childStatus":null,"childSignal":null"#), "{text}");
        let recorded = fs::read_to_string(&recording).unwrap();
        assert!(recorded.lines().last().is_some_and(|end| end.contains(r#""x", "124""#)), "{recorded}");
    }
}

#[test]
fn a_program_that_is_not_shown_is_ended_with_the_others() {
    let Some(stage) = Stage::new().filter(|_| has("unshare")) else { return };
    // It keeps its real user, so that it may be signalled; and nobody sees it.
    let script = "exec $IW --timeout 200ms --kill-after 10s -- ";
    for (command, processes) in [("$HIDDEN sleep 300", 1), ("sh -c '$HIDDEN sleep 300; :'", 2)] {
        let output = stage
            .hidden(&format!(
                "export HIDDEN=\"{}/setpriv --bounding-set -chown\"; {script}{command}",
                stage.0.path().display()
            ))
            .output();
        if output.status.code() == Some(99) || stderr(&output).starts_with("unshare:") {
            eprintln!("skipped: no file system can be mounted here");
            return;
        }
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(124), "{command}: {said}");
        let signaled = format!("SIGTERM to {processes} process");
        assert!(said.contains(&signaled) && !said.contains("SIGKILL"), "{command}: {said}");
    }
}

#[test]
fn a_program_that_is_neither_shown_nor_to_be_signalled_is_named() {
    let Some(stage) = Stage::new().filter(|_| has("unshare")) else { return };
    let script =
        "exec $IW --timeout 200ms --kill-after 100ms -- sh -c '$ROOT sh -c \"trap \\\"\\\" HUP; exec sleep 60\"; :'";
    let output = stage.hidden(script).output();
    if output.status.code() == Some(99) || stderr(&output).starts_with("unshare:") {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(124), "{said}");
    let (_, named) = said.split_once("still running: ").expect(&said);
    let (pid, name) = named.trim_end().lines().next().unwrap().split_once(' ').unwrap();
    let _left = Leftover(pid.parse().unwrap());
    assert_eq!(name, "(hidden)");
}

#[test]
fn a_guard_that_cannot_be_ended_does_not_hold_up_the_end() {
    let Some(stage) = Stage::new() else { return };
    let at = stage.0.path().join("guard");
    let script = format!(
        "exec $IW --idle 100ms --guard \"cmd:exec $ROOT sh -c 'echo \\$\\$ >{0}.new; mv {0}.new {0}; exec sleep 300'\" -- \
         sh -c 'while [ ! -e {0} ]; do sleep 0.02; done; exit 3'",
        at.display()
    );
    let status = stage.run(&[], &script).output().status;
    let _left = Leftover(fs::read_to_string(&at).unwrap().trim().parse().unwrap());
    assert_eq!(status.code(), Some(3));
}

#[test]
fn a_pipe_of_another_user_that_somebody_else_fills_does_not_hold_us_up() {
    let Some(stage) = Stage::new().filter(|_| can_fail()) else { return };
    // Between having found that there is room and writing.
    let calls = ["-e", "trace=write,pwritev2", "-e", "inject=write,pwritev2:delay_enter=300000"];
    let slow = [&["strace", "-qq", "-o", "/dev/null"], &calls[..]].concat();
    let (mut reader, writer) = std::io::pipe().unwrap();
    // A place to write from that is not shared with it.
    let name = format!("/proc/self/fd/{}", writer.as_raw_fd());
    let mut other = fs::OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(name).unwrap();
    let mut command = stage.run(&slow, "exec $IW -q --timeout 2s --kill-after 1s -- yes").command();
    let mut child = without_terminal(&mut command).stdout(writer).spawn().unwrap();
    let _group = Leftover(-i32::try_from(child.id()).unwrap());
    reader.read_exact(&mut [0]).unwrap();
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    until("it stands before the next write", || {
        let traced = fs::read_to_string(&children).unwrap().split_whitespace().next().and_then(|pid| pid.parse().ok());
        // Before other calls it does not stand for so long.
        (0..50).all(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            traced.and_then(state) == Some('t')
        })
    });
    while other.write(&[b'x'; 4096]).is_ok() {}
    until("it has ended", || child.try_wait().unwrap().is_some());
}
