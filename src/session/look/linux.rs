//! Which system call every thread is blocked in, and on what, from /proc.

use std::fs;
use std::path::Path;

use nix::unistd::Pid;

use super::super::tree;
use super::call::Call;

/// What is found out about the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyboard {
    /// Somebody waits for it and for nothing else.
    Awaited,
    /// An event loop listens to it, and to nobody else who is there.
    Heard,
    /// Nobody could tell.
    Unknown,
    /// Nobody waits for it.
    Ignored,
}

/// Whether a process in the terminal's foreground waits for the keyboard.
pub fn keyboard(root: i32, foreground: i32, device: u64) -> Keyboard {
    let Some(family) = tree::descendants(root) else { return Keyboard::Unknown };
    let mut answer = Keyboard::Ignored;
    for process in family {
        let in_front = nix::unistd::getpgid(Some(Pid::from_raw(process.pid))).is_ok_and(|g| g.as_raw() == foreground);
        if !in_front {
            continue;
        }
        match (waits_for_keyboard(process.pid, device), answer) {
            (Keyboard::Awaited, _) => return Keyboard::Awaited,
            (Keyboard::Unknown, _) | (_, Keyboard::Unknown) => answer = Keyboard::Unknown,
            (Keyboard::Heard, _) => answer = Keyboard::Heard,
            (Keyboard::Ignored, _) => {}
        }
    }
    answer
}

fn waits_for_keyboard(pid: i32, device: u64) -> Keyboard {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Keyboard::Unknown };
    let (mut targets, mut hidden) = (Vec::new(), false);
    for thread in threads.flatten() {
        // Denied for a process of another user, such as sudo.
        let Ok(call) = fs::read_to_string(thread.path().join("syscall")) else { return Keyboard::Unknown };
        match Call::parse(&call).map_or_else(|| Some(Vec::new()), |call| call.reads_from(pid)) {
            Some(more) => targets.extend(more.into_iter().map(|fd| target(pid, fd, device))),
            None => hidden = true,
        }
    }
    match (targets.contains(&Target::Terminal), targets.contains(&Target::Other)) {
        // A timer may be among it, so it need not be the person that it waits for.
        (true, false) if targets.contains(&Target::ToItself) => Keyboard::Heard,
        (true, false) => Keyboard::Awaited,
        // An event loop has both whether it waits for the person or for a server, in one thread or in two.
        (true, true) => Keyboard::Unknown,
        (false, _) if hidden => Keyboard::Unknown,
        (false, _) => Keyboard::Ignored,
    }
}

/// What a descriptor is to somebody who waits on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// The terminal we look at.
    Terminal,
    /// Something of the process's own: an event, a timer, a signal.
    Own,
    /// A pipe of which it has both ends, as the event loop of node has it to wake itself up.
    ToItself,
    /// Somebody else: a socket, a pipe, another file.
    Other,
}

fn target(pid: i32, fd: u64, device: u64) -> Target {
    if is_terminal(pid, fd, device) {
        return Target::Terminal;
    }
    match fs::read_link(format!("/proc/{pid}/fd/{fd}")) {
        Ok(link) if link.to_string_lossy().starts_with("anon_inode:") => Target::Own,
        Ok(link) if link.to_string_lossy().starts_with("pipe:") && has_twice(pid, &link) => Target::ToItself,
        _ => Target::Other,
    }
}

/// Whether two descriptors of this process lead there.
fn has_twice(pid: i32, link: &Path) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.filter(|entry| fs::read_link(entry.path()).is_ok_and(|other| other == link)).nth(1).is_some()
}

/// Whether a descriptor of this process is the terminal with this device number.
pub fn is_terminal(pid: i32, fd: u64, device: u64) -> bool {
    // /dev/tty stands for whichever terminal controls the process, and only ours does.
    tree::device_of(pid, fd).is_ok_and(|found| found == Some(device) || found == Some(libc::makedev(5, 0)))
}
