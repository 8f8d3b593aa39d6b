//! A system call that a thread is blocked in, and the descriptors it waits for.

use std::fs;
use std::io::IoSliceMut;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// A blocked system call.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Its number.
    pub number: i64,
    /// Its first arguments.
    pub arguments: [u64; 5],
}

impl Call {
    /// `number 0xarg 0xarg …`, or `running`, or `-1 …` for a thread that is blocked in no call.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let number = words.next()?.parse().ok().filter(|number| *number >= 0)?;
        let mut arguments = [0; 5];
        for argument in &mut arguments {
            *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(Self { number, arguments })
    }

    /// The descriptor it is blocked in writing to, if it is.
    pub fn writes_to(&self) -> Option<u64> {
        matches!(self.number, libc::SYS_write | libc::SYS_writev).then_some(self.arguments[0])
    }

    /// The descriptors it waits to read from; none if that cannot be seen.
    pub fn reads_from(&self, pid: i32) -> Option<Vec<u64>> {
        let [first, second, third, ..] = self.arguments;
        match self.number {
            libc::SYS_read | libc::SYS_readv | libc::SYS_recvfrom | libc::SYS_recvmsg => Some(vec![first]),
            libc::SYS_ppoll => polled(pid, first, second),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => polled(pid, first, second),
            libc::SYS_pselect6 => selected(pid, first, second),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => selected(pid, first, second),
            libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => registered(pid, first),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => registered(pid, first),
            // A call that a stop has interrupted and a continue has begun again: its name is lost, its arguments are not.
            // With no limit in time it was a poll.
            libc::SYS_restart_syscall => {
                let is_endless = third & u64::from(u32::MAX) == u64::from(u32::MAX);
                if is_endless && second > 0 { polled(pid, first, second) } else { None }
            }
            // What was handed to the kernel before may be anything.
            libc::SYS_io_uring_enter => None,
            _ => Some(Vec::new()),
        }
    }
}

/// The descriptors in an array of pollfd.
fn polled(pid: i32, address: u64, count: u64) -> Option<Vec<u64>> {
    let count = usize::try_from(count).ok().filter(|count| *count <= 1024)?;
    if count == 0 {
        return Some(Vec::new());
    }
    let bytes = memory(pid, address, count * 8)?;
    let waiting = bytes.chunks_exact(8).filter_map(|entry| {
        let fd = i32::from_ne_bytes(entry[..4].try_into().ok()?);
        let events = i16::from_ne_bytes(entry[4..6].try_into().ok()?);
        (fd >= 0 && events & libc::POLLIN != 0).then(|| u64::from(fd.unsigned_abs()))
    });
    Some(waiting.collect())
}

/// The descriptors in the first set, those to read from.
fn selected(pid: i32, count: u64, address: u64) -> Option<Vec<u64>> {
    let count = usize::try_from(count).ok().filter(|count| *count <= 1024)?;
    if address == 0 || count == 0 {
        return Some(Vec::new());
    }
    let bytes = memory(pid, address, count.div_ceil(64) * 8)?;
    let is_set = |fd: &usize| bytes[fd / 8] & (1 << (fd % 8)) != 0;
    Some((0..count).filter(is_set).map(|fd| fd as u64).collect())
}

/// The descriptors that were added to an epoll instance.
pub fn registered(pid: i32, fd: u64) -> Option<Vec<u64>> {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).ok()?;
    let fds = info.lines().filter_map(|line| line.strip_prefix("tfd:")?.split_ascii_whitespace().next()?.parse().ok());
    Some(fds.collect())
}

fn memory(pid: i32, address: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    let remote = [RemoteIoVec { base: usize::try_from(address).ok()?, len: length }];
    let read = process_vm_readv(Pid::from_raw(pid), &mut [IoSliceMut::new(&mut bytes)], &remote).ok()?;
    (read == length).then_some(bytes)
}
