//! A system call that a thread is blocked in, and the descriptors it waits for.

use std::fs;

use super::memory::Memory;

/// A blocked system call.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Its number.
    pub number: i64,
    /// Its first arguments.
    pub arguments: [u64; 5],
}

/// A call that is not known: it may wait for anything.
pub const UNKNOWN: i64 = i64::MAX;

impl Call {
    /// `number 0xarg … 0xstack 0xplace`, or `running`, or `-1 …` for a thread that is blocked in no call.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let number = words.next()?.parse().ok().filter(|number| *number >= 0)?;
        let mut rest = [0; 8];
        for word in &mut rest {
            *word = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        let [first, second, third, fourth, fifth, _, stack, place] = rest;
        // Nobody else has both down there.
        let is_narrow = size_of::<usize>() == 8 && u32::try_from(stack.max(place)).is_ok();
        let number = if is_narrow { as_ours(number) } else { number };
        Some(Self { number, arguments: [first, second, third, fourth, fifth] })
    }

    /// The descriptor it is blocked in writing to, if it is.
    pub fn writes_to(&self) -> Option<u64> {
        matches!(self.number, libc::SYS_write | libc::SYS_writev).then_some(self.arguments[0])
    }

    /// The descriptors it waits to read from; none if that cannot be seen.
    pub fn reads_from(&self, memory: &Memory) -> Option<Vec<u64>> {
        let [first, second, third, ..] = self.arguments;
        match self.number {
            libc::SYS_read | libc::SYS_readv | libc::SYS_recvfrom | libc::SYS_recvmsg => Some(vec![first]),
            libc::SYS_ppoll => polled(memory, first, second),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => polled(memory, first, second),
            libc::SYS_pselect6 => selected(memory, first, second),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => selected(memory, first, second),
            libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => registered(memory.pid, first),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => registered(memory.pid, first),
            // A call that a stop has interrupted and a continue has begun again: its name is lost, its arguments are not.
            // With no limit in time it was a poll.
            libc::SYS_restart_syscall => {
                let is_endless = third & u64::from(u32::MAX) == u64::from(u32::MAX);
                if is_endless && second > 0 { polled(memory, first, second) } else { None }
            }
            // What was handed to the kernel before may be anything.
            libc::SYS_io_uring_enter | UNKNOWN => None,
            _ => Some(Vec::new()),
        }
    }
}

/// Programs of 32 bits number their calls otherwise: those of x86 and of ARM alike, as far as they are known here.
fn as_ours(number: i64) -> i64 {
    match number {
        3 => libc::SYS_read,
        145 => libc::SYS_readv,
        4 => libc::SYS_write,
        146 => libc::SYS_writev,
        168 => libc::SYS_ppoll,
        142 => libc::SYS_pselect6,
        114 => libc::SYS_wait4,
        162 => libc::SYS_nanosleep,
        240 => libc::SYS_futex,
        _ => UNKNOWN,
    }
}

/// The descriptors in an array of pollfd.
fn polled(memory: &Memory, address: u64, count: u64) -> Option<Vec<u64>> {
    let count = usize::try_from(count).ok().filter(|count| *count <= 1024)?;
    if count == 0 {
        return Some(Vec::new());
    }
    let bytes = memory.read(address, count * 8)?;
    let waiting = bytes.chunks_exact(8).filter_map(|entry| {
        let fd = i32::from_ne_bytes(entry[..4].try_into().ok()?);
        let events = i16::from_ne_bytes(entry[4..6].try_into().ok()?);
        (fd >= 0 && events & libc::POLLIN != 0).then(|| u64::from(fd.unsigned_abs()))
    });
    Some(waiting.collect())
}

/// The descriptors in the first set, those to read from.
fn selected(memory: &Memory, count: u64, address: u64) -> Option<Vec<u64>> {
    let count = usize::try_from(count).ok().filter(|count| *count <= 1024)?;
    if address == 0 || count == 0 {
        return Some(Vec::new());
    }
    let bytes = memory.read(address, count.div_ceil(64) * 8)?;
    let is_set = |fd: &usize| bytes[fd / 8] & (1 << (fd % 8)) != 0;
    Some((0..count).filter(is_set).map(|fd| fd as u64).collect())
}

/// The descriptors that were added to an epoll instance.
pub fn registered(pid: i32, fd: u64) -> Option<Vec<u64>> {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).ok()?;
    let fds = info.lines().filter_map(|line| line.strip_prefix("tfd:")?.split_ascii_whitespace().next()?.parse().ok());
    Some(fds.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_32_bits_is_not_taken_at_its_number() {
        let call = |text: &str| Call::parse(text).expect("a call");
        let (wide, narrow) = ("0x7ffc01020304 0x7f0001020304", "0xffb01020 0xf7fc0549");
        let own = call(&format!("{} 0x0 0x1000 0x10 0x0 0x0 0x0 {wide}", libc::SYS_read));
        assert_eq!(own.reads_from(&Memory::of(1)), Some(vec![0]));
        let read = call(&format!("3 0x0 0xffb01020 0x10 0x0 0x0 0x0 {narrow}"));
        assert_eq!((read.reads_from(&Memory::of(1)), read.writes_to()), (Some(vec![0]), None));
        let write = call(&format!("4 0x1 0xffb01020 0x10 0x0 0x0 0x0 {narrow}"));
        assert_eq!((write.reads_from(&Memory::of(1)), write.writes_to()), (Some(Vec::new()), Some(1)));
        // One that is not known waits for who knows what, and so does one of x32.
        for number in ["0", "256", "1073741824"] {
            assert_eq!(
                call(&format!("{number} 0x0 0x1000 0x10 0x0 0x0 0x0 {narrow}")).reads_from(&Memory::of(1)),
                None,
                "{number}"
            );
        }
        // A program that lies low has its stack elsewhere.
        assert_eq!(call("35 0x0 0x0 0x0 0x0 0x0 0x0 0x7ffc01020304 0x401000").number, 35);
        assert!(Call::parse("running").is_none() && Call::parse("-1 0x7ffc01020304 0x401000").is_none());
    }
}
