//! Which system call every thread is blocked in, and on what, from /proc.

use std::fs;

use nix::unistd::Pid;

use super::super::tree;
use super::call::Call;
use crate::watch::Known;

/// Whether a process in the terminal's foreground waits for the keyboard and for nothing else.
pub fn reads_terminal(root: i32, foreground: i32, device: u64) -> Known {
    let Some(family) = tree::descendants(root) else { return Known::Unknown };
    let mut answer = Known::No;
    for process in family {
        let in_front = nix::unistd::getpgid(Some(Pid::from_raw(process.pid))).is_ok_and(|g| g.as_raw() == foreground);
        if !in_front {
            continue;
        }
        match waits_for_keyboard(process.pid, device) {
            Known::Yes => return Known::Yes,
            Known::Unknown => answer = Known::Unknown,
            Known::No => {}
        }
    }
    answer
}

fn waits_for_keyboard(pid: i32, device: u64) -> Known {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Known::Unknown };
    let (mut targets, mut hidden) = (Vec::new(), false);
    for thread in threads.flatten() {
        // Denied for a process of another user, such as sudo.
        let Ok(call) = fs::read_to_string(thread.path().join("syscall")) else { return Known::Unknown };
        match Call::parse(&call).map_or_else(|| Some(Vec::new()), |call| call.reads_from(pid)) {
            Some(more) => targets.extend(more.into_iter().map(|fd| target(pid, fd, device))),
            None => hidden = true,
        }
    }
    match (targets.contains(&Target::Terminal), targets.contains(&Target::Other)) {
        (true, false) => Known::Yes,
        // An event loop has both whether it waits for the person or for a server, in one thread or in two.
        (true, true) => Known::Unknown,
        (false, _) if hidden => Known::Unknown,
        (false, _) => Known::No,
    }
}

/// What a descriptor is to somebody who waits on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// The terminal we look at.
    Terminal,
    /// Something of the process's own: an event, a timer, a signal.
    Own,
    /// Somebody else: a socket, a pipe, another file.
    Other,
}

fn target(pid: i32, fd: u64, device: u64) -> Target {
    if is_terminal(pid, fd, device) {
        return Target::Terminal;
    }
    match fs::read_link(format!("/proc/{pid}/fd/{fd}")) {
        Ok(link) if link.to_string_lossy().starts_with("anon_inode:") => Target::Own,
        _ => Target::Other,
    }
}

/// Whether a descriptor of this process is the terminal with this device number.
pub fn is_terminal(pid: i32, fd: u64, device: u64) -> bool {
    // /dev/tty stands for whichever terminal controls the process, and only ours does.
    tree::device_of(pid, fd).is_ok_and(|found| found == Some(device) || found == Some(libc::makedev(5, 0)))
}
