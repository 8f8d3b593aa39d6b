//! Which system call every thread is blocked in, and on what, from /proc.

use std::fs;
use std::path::Path;

use nix::unistd::Pid;

use super::super::tree;
use super::call::{Call, registered};
use super::memory::Memory;
use super::sockets::{End, Sockets};

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

/// Whether a process in the terminal's foreground waits for the keyboard, or one that need not be there.
pub fn keyboard(root: i32, foreground: i32, terminals: &[u64]) -> Keyboard {
    let Some(family) = tree::descendants(root) else { return Keyboard::Unknown };
    let (mut answer, mut sockets) = (None, Sockets::default());
    for process in family {
        let in_front = nix::unistd::getpgid(Some(Pid::from_raw(process.pid))).is_ok_and(|g| g.as_raw() == foreground);
        let may_read = in_front || is_apart(process.pid, foreground) && reads(process.pid, terminals);
        if !may_read {
            continue;
        }
        answer = match (waits_for_keyboard(process.pid, terminals, &mut sockets), answer) {
            (Keyboard::Awaited, _) => return Keyboard::Awaited,
            (Keyboard::Unknown, _) | (_, Some(Keyboard::Unknown)) => Some(Keyboard::Unknown),
            (Keyboard::Heard, _) => Some(Keyboard::Heard),
            (Keyboard::Ignored, before) => before.or(Some(Keyboard::Ignored)),
        }
    }
    // A foreground with nobody of ours in it is somebody else's.
    answer.unwrap_or(Keyboard::Unknown)
}

/// Whether a process is in another session than the foreground: `su -c` starts one for what it runs, and `screen` for
/// itself. The terminal does not control them, so that nobody stops them from reading it.
fn is_apart(pid: i32, foreground: i32) -> bool {
    let session = |pid: i32| nix::unistd::getsid(Some(Pid::from_raw(pid))).ok();
    session(foreground).is_some_and(|in_front| session(pid).is_some_and(|other| other != in_front))
}

/// Whether the terminal is among what a process waits for. `/dev/tty` would be another one.
fn reads(pid: i32, terminals: &[u64]) -> bool {
    let memory = Memory::of(pid);
    let mut read = calls(pid).filter_map(|call| call.reads_from(&memory)).flatten();
    read.any(|fd| tree::device_of(pid, fd).is_ok_and(|found| found.is_some_and(|found| terminals.contains(&found))))
}

/// What the threads of a process are blocked in, as far as it can be seen.
fn calls(pid: i32) -> impl Iterator<Item = Call> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| Call::parse(&fs::read_to_string(thread.path().join("syscall")).ok()?))
}

/// Whether a process is blocked in a write to the terminal. We take whatever comes out of it, so somebody has stopped its
/// output, as Ctrl-S does.
pub fn is_stopped(root: i32, terminals: &[u64]) -> bool {
    let is_blocked =
        |pid: i32| calls(pid).filter_map(|call| call.writes_to()).any(|fd| is_terminal(pid, fd, terminals));
    tree::descendants(root).is_some_and(|family| family.iter().any(|process| is_blocked(process.pid)))
}

fn waits_for_keyboard(pid: i32, terminals: &[u64], sockets: &mut Sockets) -> Keyboard {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Keyboard::Unknown };
    let (mut targets, mut hidden, mut runs, memory) = (Vec::new(), false, false, Memory::of(pid));
    for thread in threads.flatten() {
        // Denied for a process of another user, such as sudo.
        let Ok(call) = fs::read_to_string(thread.path().join("syscall")) else { return Keyboard::Unknown };
        match Call::parse(&call).map(|call| call.reads_from(&memory)) {
            Some(Some(more)) => targets.extend(more.into_iter().map(|fd| target(pid, fd, terminals, sockets))),
            Some(None) => hidden = true,
            None => runs = true,
        }
    }
    let others = targets.contains(&Target::Other) || targets.contains(&Target::Neighbour);
    match (targets.contains(&Target::Terminal), others) {
        // A timer may be among it, so it need not be the person that it waits for.
        (true, false) if targets.contains(&Target::ToItself) || targets.contains(&Target::Guests) => Keyboard::Heard,
        (true, false) => Keyboard::Awaited,
        // An event loop has both whether it waits for the person or for a server, in one thread or in two.
        (true, true) => Keyboard::Unknown,
        // The clients of tmux, of a shared ssh and of emacs wait for a process that reads the terminal in their place.
        (false, _) if hidden || targets.contains(&Target::Neighbour) => Keyboard::Unknown,
        // An event loop that is on its way round, or waits for a processor, will be back at the keyboard.
        (false, _) if runs && is_to_hear(pid, terminals) => Keyboard::Unknown,
        (false, _) => Keyboard::Ignored,
    }
}

/// Whether the terminal is among what a process has asked the kernel to be told of, whatever it does now.
fn is_to_hear(pid: i32, terminals: &[u64]) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let is_loop = |to: &Path| to.as_os_str() == "anon_inode:[eventpoll]";
    let loops = descriptors.filter(|entry| fs::read_link(entry.path()).is_ok_and(|to| is_loop(&to)));
    let loops = loops.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    loops.filter_map(|fd| registered(pid, fd)).flatten().any(|fd| is_terminal(pid, fd, terminals))
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
    /// Those who come to be served: it has asked them nothing, and so waits for no answer of theirs.
    Guests,
    /// A process of this machine, at the other end of a socket.
    Neighbour,
    /// Somebody else: a server, a pipe, another file.
    Other,
}

fn target(pid: i32, fd: u64, terminals: &[u64], sockets: &mut Sockets) -> Target {
    if is_terminal(pid, fd, terminals) {
        return Target::Terminal;
    }
    let Ok(link) = fs::read_link(format!("/proc/{pid}/fd/{fd}")) else { return Target::Other };
    match link.to_string_lossy().split_once(':') {
        Some(("anon_inode", _)) => Target::Own,
        Some(("pipe", _)) if has_twice(pid, &link) => Target::ToItself,
        Some(("socket", inode)) => {
            let inode = inode.trim_matches(['[', ']']).parse().ok();
            match inode.and_then(|inode| sockets.find(pid, inode)).map(|socket| socket.end) {
                Some(End::Guest) => Target::Guests,
                Some(End::Host) => Target::Other,
                Some(End::Neighbour) | None => Target::Neighbour,
            }
        }
        _ => Target::Other,
    }
}

/// Whether two descriptors of this process lead there.
fn has_twice(pid: i32, link: &Path) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.filter(|entry| fs::read_link(entry.path()).is_ok_and(|other| other == link)).nth(1).is_some()
}

/// Whether a descriptor of this process is one of the terminals with these device numbers.
pub fn is_terminal(pid: i32, fd: u64, terminals: &[u64]) -> bool {
    // /dev/tty stands for whichever terminal controls the process, and only ours does.
    let is_one = |found: u64| terminals.contains(&found) || found == libc::makedev(5, 0);
    tree::device_of(pid, fd).is_ok_and(|found| found.is_some_and(is_one))
}
