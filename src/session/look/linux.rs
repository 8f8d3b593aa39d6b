//! Which system call every thread is blocked in, and on what, from /proc.

use std::fs;
use std::io::IoSliceMut;
use std::os::unix::fs::MetadataExt;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

use super::super::tree;
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
        match Call::parse(&call).map_or_else(|| Some(Vec::new()), |call| call.targets(pid, device)) {
            Some(more) => targets.extend(more),
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

/// A blocked system call.
struct Call {
    number: i64,
    arguments: [u64; 5],
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

impl Call {
    /// `number 0xarg 0xarg …`, or `running`, or `-1 …` for a thread that is blocked in no call.
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let number = words.next()?.parse().ok().filter(|number| *number >= 0)?;
        let mut arguments = [0; 5];
        for argument in &mut arguments {
            *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(Self { number, arguments })
    }

    /// What it waits to read from; none if that cannot be seen.
    fn targets(&self, pid: i32, device: u64) -> Option<Vec<Target>> {
        let [first, second, ..] = self.arguments;
        match self.number {
            libc::SYS_read | libc::SYS_readv => Some(vec![target(pid, first, device)]),
            libc::SYS_ppoll => polled(pid, first, second, device),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => polled(pid, first, second, device),
            libc::SYS_pselect6 => selected(pid, first, second, device),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => selected(pid, first, second, device),
            libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => registered(pid, first, device),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => registered(pid, first, device),
            _ => Some(Vec::new()),
        }
    }
}

fn target(pid: i32, fd: u64, device: u64) -> Target {
    let path = format!("/proc/{pid}/fd/{fd}");
    match fs::metadata(&path) {
        Ok(metadata) if metadata.rdev() == device => return Target::Terminal,
        // /dev/tty stands for whichever terminal controls the process, and only ours does.
        Ok(metadata) if metadata.rdev() == libc::makedev(5, 0) => return Target::Terminal,
        _ => {}
    }
    match fs::read_link(path) {
        Ok(link) if link.to_string_lossy().starts_with("anon_inode:") => Target::Own,
        _ => Target::Other,
    }
}

/// The descriptors in an array of pollfd.
fn polled(pid: i32, address: u64, count: u64, device: u64) -> Option<Vec<Target>> {
    let count = usize::try_from(count).ok().filter(|count| *count <= 1024)?;
    let bytes = memory(pid, address, count * 8)?;
    let waiting = bytes.chunks_exact(8).filter_map(|entry| {
        let fd = i32::from_ne_bytes(entry[..4].try_into().ok()?);
        let events = i16::from_ne_bytes(entry[4..6].try_into().ok()?);
        (fd >= 0 && events & libc::POLLIN != 0).then(|| target(pid, u64::from(fd.unsigned_abs()), device))
    });
    Some(waiting.collect())
}

/// The descriptors in the first set, those to read from.
fn selected(pid: i32, count: u64, address: u64, device: u64) -> Option<Vec<Target>> {
    let count = usize::try_from(count).ok().filter(|count| *count <= 1024)?;
    if address == 0 {
        return Some(Vec::new());
    }
    let bytes = memory(pid, address, count.div_ceil(64) * 8)?;
    let is_set = |fd: &usize| bytes[fd / 8] & (1 << (fd % 8)) != 0;
    Some((0..count).filter(is_set).map(|fd| target(pid, fd as u64, device)).collect())
}

/// The descriptors that were added to an epoll instance.
fn registered(pid: i32, fd: u64, device: u64) -> Option<Vec<Target>> {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).ok()?;
    let fds = info.lines().filter_map(|line| line.strip_prefix("tfd:")?.split_ascii_whitespace().next()?.parse().ok());
    Some(fds.map(|fd: u64| target(pid, fd, device)).collect())
}

fn memory(pid: i32, address: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    let remote = [RemoteIoVec { base: usize::try_from(address).ok()?, len: length }];
    let read = process_vm_readv(Pid::from_raw(pid), &mut [IoSliceMut::new(&mut bytes)], &remote).ok()?;
    (read == length).then_some(bytes)
}
