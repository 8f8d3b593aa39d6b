//! A machine that has run out of something: nothing is started, and what is missing is said.

use std::fmt::Display;
use std::process::Output;

use crate::support::{Run, has, program, stderr};
#[cfg(target_os = "linux")]
use crate::weight::until_asleep;

fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("skipped: only root can do this");
    }
    root
}

/// Whether it failed as it should: the code for our own failure, one line that says why.
fn refused(output: &Output, code: i32, what: &str) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{what}: {said}");
    assert!(output.stdout.is_empty(), "{what}");
    assert!(said.starts_with("idlewatch: cannot ") && said.lines().count() == 1, "{what}: {said}");
}

/// This, with a system call that fails when it is made for the `when`th time (with a `+`: from then on), in idlewatch and
/// in each of its `processes`.
fn failing(processes: bool, call: &str, error: &str, when: impl Display, command: &str) -> Run {
    let (trace, fault) = (format!("trace={call}"), format!("inject={call}:error={error}:when={when}"));
    let mut words = vec!["strace", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &fault];
    words.extend(processes.then_some("-f"));
    Run::bare(&[&words[..], &[program(), "--", "sh", "-c", command]].concat())
}

/// Whether system calls can be made to fail, or to take long.
pub fn can_fail() -> bool {
    if !has("strace") {
        return false;
    }
    let allowed = failing(true, "setsid", "EIO", 9, "exit 3").output().status.code() == Some(3);
    if !allowed {
        eprintln!("skipped: nobody may trace here");
    }
    allowed
}

#[test]
fn a_kernel_without_memory_for_a_message_holds_nobody_up() {
    if can_fail() {
        for when in 1..4 {
            for mut run in failing(true, "sendto", "ENOBUFS", when, "exit 3").both_ways() {
                assert_eq!(run.finish_bytes().1.code(), Some(3), "message {when}");
            }
        }
    }
}

#[test]
fn a_kernel_without_memory_for_what_is_printed_loses_none_of_it() {
    if can_fail() {
        for when in 1..4 {
            for mut run in failing(false, "write", "ENOMEM", when, "echo one; echo two; exit 3").both_ways() {
                let (text, status) = run.finish_bytes();
                assert_eq!(String::from_utf8_lossy(&text).replace('\r', ""), "one\ntwo\n", "write {when}");
                assert_eq!(status.code(), Some(3));
            }
        }
    }
}

#[test]
fn what_we_cannot_do_before_a_command_is_no_fault_of_it() {
    if can_fail() {
        let output = failing(true, "setsid", "EPERM", 1, "echo started").output();
        refused(&output, 125, "no session");
        let output = Run::new(&[], &["/"]).output();
        assert_eq!(output.status.code(), Some(126));
    }
}

#[test]
fn a_start_that_takes_longer_than_its_time_ends_with_the_code_that_was_chosen_for_that() {
    if can_fail() {
        let slow = ["strace", "-qq", "-f", "-o", "/dev/null", "-e", "inject=execve:delay_enter=1s"];
        let folder = tempfile::tempdir().unwrap();
        for (options, code) in
            [(&[][..], 124), (&["--exit-code", "timeout=77"], 77), (&["--exit-code", "timeout=2"], 2)]
        {
            let limit = [program(), "--timeout", "100ms", "--events", "events"];
            let late = [&slow[..], &limit, options, &["--", "true"]].concat();
            let output = Run::bare(&late).folder(folder.path()).output();
            assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
            let events = std::fs::read_to_string(folder.path().join("events")).unwrap();
            assert!(events.contains(&format!("\"code\":{code}")), "{events}");
        }
    }
}

#[test]
fn a_terminal_that_refuses_its_settings_once_is_given_back() {
    if can_fail() {
        let sweep = |first: usize| {
            for when in (first..48).step_by(4) {
                let mut run = failing(true, "ioctl", "EINTR", when, "exit 3").in_terminal();
                run.finish_bytes();
                assert!(run.settings() == run.found(), "ioctl {when}");
            }
        };
        std::thread::scope(|scope| (1..5).for_each(|first| drop(scope.spawn(move || sweep(first)))));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_kernel_that_has_no_timer_or_keeps_no_descriptors_is_done_without() {
    if can_fail() {
        for call in ["timerfd_create", "epoll_create1", "epoll_ctl", "?epoll_wait,epoll_pwait", "signalfd4"] {
            let mut run = failing(false, call, "ENOSYS", "1+", "echo ready; read line; echo got $line").in_terminal();
            run.wait_for("ready\r\n");
            for key in ["a", "b", "c"] {
                run.enter(key).wait_for(key);
            }
            let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", run.pid())).unwrap();
            until_asleep(children.trim().parse().expect("the one that is traced"));
            assert!(run.enter("\r").wait_for("got abc").finish_bytes().1.success(), "{call}");
        }
    }
}

#[test]
fn without_descriptors_nothing_is_started() {
    let mut started = false;
    for most in 4..40 {
        let script = format!("ulimit -n {most}; exec $IW --exit-code error=77 -- echo started");
        let output = Run::script("sh", &script).output();
        started = output.status.success() && output.stdout == b"started\n";
        if !started {
            refused(&output, 77, &format!("{most} descriptors"));
        }
    }
    assert!(started, "it needs no more than forty");
}

#[test]
fn without_processes_nothing_is_started() {
    if !is_root() || !has("setpriv") || !has("bash") {
        return;
    }
    // Nobody may reach the folder of the build.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("idlewatch");
    std::fs::copy(program(), &copy).unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = format!("ulimit -u 1; exec {} -- echo started", copy.display());
    let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let output = Run::bare(&[&nobody[..], &["bash", "-c", &script]].concat()).folder("/").output();
    refused(&output, 125, "no processes");
}

#[test]
fn without_pseudo_terminals_nothing_is_started() {
    if !is_root() || !has("unshare") {
        return;
    }
    let own = "mount -t devpts -o newinstance,max=1,ptmxmode=0666 devpts /dev/pts && \
               mount --bind /dev/pts/ptmx /dev/ptmx || exit 99; exec $IW -- echo started";
    let output = Run::bare(&["unshare", "-m", "sh", "-c", own]).output();
    if output.status.code() == Some(99) || stderr(&output).starts_with("unshare:") {
        eprintln!("skipped: no file system can be mounted here");
        return;
    }
    refused(&output, 125, "no pseudo-terminals");
    assert!(stderr(&output).contains("in use"));
}
