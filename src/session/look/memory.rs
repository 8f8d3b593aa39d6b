//! What is in the memory of another process. While that is being changed whoever looks has to wait; and where the change
//! waits for a file system that does not answer, which may be what the process hangs in, so would we.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io::{IoSliceMut, Read};

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

use super::super::stat::Stat;
use super::call::{Call, UNKNOWN};

/// So much of a command line is kept.
const LONGEST: u64 = 1000;

/// Calls that change what memory a process has.
const CHANGES: &[i64] = &[
    #[cfg(target_pointer_width = "64")]
    libc::SYS_mmap,
    #[cfg(target_pointer_width = "32")]
    libc::SYS_mmap2,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_msync,
    libc::SYS_mlock,
    libc::SYS_mlockall,
    libc::SYS_munlock,
    libc::SYS_munlockall,
    libc::SYS_execve,
    libc::SYS_execveat,
    UNKNOWN,
];

/// The memory of a process, during one look at it.
#[derive(Debug)]
pub struct Memory {
    /// Whose.
    pub pid: i32,
    /// Whether it cannot be had now: a process may have many threads, and this is asked for each that waits.
    held: OnceCell<bool>,
}

impl Memory {
    /// Of this process.
    pub fn of(pid: i32) -> Self {
        Self { pid, held: OnceCell::new() }
    }

    /// So many bytes from this address on; none where they cannot be had, or not at once.
    pub fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        if self.is_held() {
            return None;
        }
        let mut bytes = vec![0; length];
        let remote = [RemoteIoVec { base: usize::try_from(address).ok()?, len: length }];
        let read = process_vm_readv(Pid::from_raw(self.pid), &mut [IoSliceMut::new(&mut bytes)], &remote).ok()?;
        (read == length).then_some(bytes)
    }

    /// The words that it was started with, which are in there too.
    pub fn command_line(&self) -> Option<String> {
        if self.is_held() {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(format!("/proc/{}/cmdline", self.pid)).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
        let cut = bytes.len() as u64 == LONGEST;
        let words: Vec<_> = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        let line = words.join(" ");
        let line = line.trim_end();
        (!line.is_empty()).then(|| if cut { format!("{line}…") } else { line.to_owned() })
    }

    fn is_held(&self) -> bool {
        *self.held.get_or_init(|| is_held(self.pid))
    }
}

/// Whether one of its threads cannot be woken up in the middle of a change of its memory.
fn is_held(pid: i32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok()).any(|thread: i32| {
        let state = Stat::read(thread).map(|stat| stat.state);
        // A disk keeps a thread waiting as well; what that is in is asked only then.
        state == Some('D')
            && holds(&fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall")).unwrap_or_default())
    })
}

/// Whether a thread that cannot be woken up in there has the memory of its process: in a call that changes it; or in none,
/// since then it waits for a page.
fn holds(syscall: &str) -> bool {
    Call::parse(syscall).is_none_or(|call| CHANGES.contains(&call.number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_page_or_changes_memory_has_it() {
        let rest = "0x0 0x1000 0x1 0x0 0x0 0x0 0x7ffc01020304 0x7f0001020304";
        for (call, has) in [
            (format!("{} {rest}", libc::SYS_mprotect), true),
            (format!("{} {rest}", libc::SYS_read), false),
            (format!("{} {rest}", libc::SYS_clone), false),
            ("-1 0x7ffc01020304 0x7f0001020304".to_owned(), true),
            (String::new(), true),
        ] {
            assert_eq!(holds(&call), has, "{call}");
        }
    }

    #[test]
    fn memory_that_nobody_changes_can_be_read() {
        let own = i32::try_from(std::process::id()).unwrap();
        let (memory, text) = (Memory::of(own), *b"what is here");
        assert_eq!(memory.read(text.as_ptr() as u64, text.len()).as_deref(), Some(&text[..]));
        assert!(memory.command_line().is_some());
    }
}
