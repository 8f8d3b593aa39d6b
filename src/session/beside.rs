//! New processes that do not stay what they are: one becomes the command, another only waits.
//!
//! A fork copies the table of every page, and afterwards each page that either side writes to. For a process that makes
//! a few system calls that is most of its cost, so on Linux these live in the memory of the one that starts them.
#![allow(unsafe_code, reason = "nothing wraps clone(2) without a copy of the memory")]

use std::io;

use nix::sys::wait::waitpid;
use nix::unistd::{Pid, setpgid};

use super::spawn::Failure;

/// Runs `work` in a new process, which is to become another program in there. Gives its process id once it has; what
/// comes back from `work` is why it could not.
///
/// `work` may only make system calls, and need at most `stack` bytes of stack. Every signal has to be blocked, and
/// there must be one thread.
pub fn become_another(stack: usize, work: impl Fn() -> Failure) -> Result<i32, Failure> {
    match system::become_another(stack, || work().to_number())? {
        (pid, 0) => Ok(pid),
        (pid, number) => {
            let _ = waitpid(Pid::from_raw(pid), None);
            Err(Failure::from_number(number))
        }
    }
}

/// A process group that a process can join, held open by a process that does nothing until it is dismissed.
pub struct StandIn {
    pid: Pid,
    /// What the process stands on.
    _stack: system::Stack,
}

impl StandIn {
    /// Every signal has to be blocked, and there must be one thread.
    pub fn new() -> io::Result<Self> {
        let (pid, stack) = system::stand_in()?;
        let stand_in = Self { pid: Pid::from_raw(pid), _stack: stack };
        setpgid(stand_in.pid, stand_in.pid)?;
        Ok(stand_in)
    }

    /// Its group has others by now. Who waits for any child waits for this one too.
    pub fn leave(self) {
        if cfg!(target_os = "linux") {
            // It ends by itself, and may still be at it.
            std::mem::forget(self);
        }
    }

    /// The process group.
    pub fn group(&self) -> Pid {
        self.pid
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // A child that was not waited for is there, so the id is its own.
        let _ = nix::sys::signal::kill(self.pid, nix::sys::signal::Signal::SIGKILL);
        let _ = waitpid(self.pid, None);
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::sync::atomic::{AtomicI32, Ordering};

    /// What system calls and the C library need of a stack besides what was asked for, and as much again: there is no
    /// guard below it.
    const SPARE: usize = 64 * 1024;

    /// A stack for another process in our memory.
    pub struct Stack {
        low: *mut libc::c_void,
        size: usize,
    }

    impl Stack {
        fn new(size: usize) -> io::Result<Self> {
            let size = (size + SPARE).next_multiple_of(SPARE);
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
            // SAFETY: a new mapping at a place that the kernel chooses touches nothing that is there.
            let low = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, flags, -1, 0) };
            if low == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self { low, size }) }
        }

        fn top(&self) -> *mut libc::c_void {
            // SAFETY: the end of the mapping, which is as far as a pointer into it may go. It is a multiple of 16.
            unsafe { self.low.byte_add(self.size) }
        }
    }

    impl Drop for Stack {
        fn drop(&mut self) {
            // SAFETY: the mapping is ours, and whoever stood on it is gone.
            unsafe { libc::munmap(self.low, self.size) };
        }
    }

    struct Task<W> {
        work: W,
        failure: AtomicI32,
    }

    /// Where the new process begins.
    extern "C" fn begin<W: Fn() -> i32>(task: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the pointer is to the task of `become_another`, which stands still meanwhile.
        let task = unsafe { &*task.cast_const().cast::<Task<W>>() };
        task.failure.store((task.work)(), Ordering::SeqCst);
        // SAFETY: _exit ends the new process alone and runs no code of ours.
        unsafe { libc::_exit(127) }
    }

    /// Gives the process id, and 0 or why it did not become another program.
    pub fn become_another<W: Fn() -> i32>(stack: usize, work: W) -> io::Result<(i32, i32)> {
        let stack = Stack::new(stack)?;
        let task = Task { work, failure: AtomicI32::new(0) };
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let argument = (&raw const task).cast_mut().cast();
        // SAFETY: with CLONE_VFORK we go on only when the new process has left our memory, so the stack and the task
        // outlive it there. It runs no handler of ours: the monitor has none in place yet, and signals are let through only
        // right before exec. It only makes system calls.
        match unsafe { libc::clone(begin::<W>, stack.top(), flags, argument) } {
            -1 => Err(io::Error::last_os_error()),
            pid => Ok((pid, task.failure.load(Ordering::SeqCst))),
        }
    }

    extern "C" fn leave(_: *mut libc::c_void) -> libc::c_int {
        // SAFETY: _exit ends the new process alone and runs no code of ours.
        unsafe { libc::_exit(0) }
    }

    /// A process that ends at once, and what it stands on until then. As long as nobody waits for it, it is there for the
    /// kernel, also to lead a group; and nobody has to wait for it before.
    pub fn stand_in() -> io::Result<(i32, Stack)> {
        let stack = Stack::new(0)?;
        let flags = libc::CLONE_VM | libc::SIGCHLD;
        // SAFETY: the new process has a stack of its own, which the caller keeps until it is gone, and makes one system
        // call.
        match unsafe { libc::clone(leave, stack.top(), flags, std::ptr::null_mut()) } {
            -1 => Err(io::Error::last_os_error()),
            pid => Ok((pid, stack)),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io::{self, Read, Write};

    use nix::unistd::{ForkResult, fork};

    /// Processes stand on copies of our own.
    pub struct Stack;

    /// Gives the process id, and 0 or why it did not become another program.
    pub fn become_another<W: Fn() -> i32>(_: usize, work: W) -> io::Result<(i32, i32)> {
        let (mut read, mut write) = io::pipe()?;
        // SAFETY: there is one thread, and the new process only makes system calls.
        match unsafe { fork() }? {
            ForkResult::Child => {
                let _ = write.write_all(&work().to_ne_bytes());
                // SAFETY: _exit ends the new process and runs no code of ours.
                unsafe { libc::_exit(127) }
            }
            ForkResult::Parent { child } => {
                drop(write);
                let mut failure = [0; 4];
                // The pipe closes by itself when the process has become another program.
                let failed = read.read_exact(&mut failure).is_ok();
                Ok((child.as_raw(), if failed { i32::from_ne_bytes(failure) } else { 0 }))
            }
        }
    }

    /// A process that waits to be killed.
    pub fn stand_in() -> io::Result<(i32, Stack)> {
        // SAFETY: there is one thread, and the new process only waits to be killed.
        match unsafe { fork() }? {
            ForkResult::Child => loop {
                // SAFETY: pause waits for a signal and touches no memory of ours. Every signal that could end it early
                // is blocked.
                unsafe { libc::pause() };
            },
            ForkResult::Parent { child } => Ok((child.as_raw(), Stack)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_become_is_said_and_leaves_no_process() {
        for failure in [Failure::Running(libc::ENOEXEC), Failure::Preparing(libc::EIO)] {
            assert_eq!(become_another(0, || failure), Err(failure));
        }
    }

    #[test]
    fn a_stand_in_holds_its_group_until_it_is_dismissed() {
        let stand_in = StandIn::new().unwrap();
        let group = stand_in.group();
        assert_eq!(nix::unistd::getpgid(Some(group)), Ok(group));
        drop(stand_in);
        assert_eq!(nix::unistd::getpgid(Some(group)), Err(nix::errno::Errno::ESRCH));
    }
}
