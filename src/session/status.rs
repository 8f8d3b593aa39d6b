//! How the program itself ends: with a code, or of the signal that ended the command.
#![allow(unsafe_code, reason = "to end of a signal, or without running anything more")]

use std::fmt;
use std::io::Write;

use crate::signal::Signal;

/// How a command ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code.
    Code(u8),
    /// This signal ended it.
    Signal(Signal),
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => write!(f, "{signal}"),
        }
    }
}

impl Status {
    /// From what `waitpid` gave.
    pub fn from_raw(status: i32) -> Self {
        let signal = if libc::WIFSIGNALED(status) { Signal::from_number(libc::WTERMSIG(status)) } else { None };
        match signal {
            Some(signal) => Self::Signal(signal),
            None => Self::Code(u8::try_from(libc::WEXITSTATUS(status) & 0xff).unwrap_or(u8::MAX)),
        }
    }

    /// Ends this process in the same way.
    pub fn leave(self) -> ! {
        match self {
            Self::Code(code) => {
                // What was printed and is not written yet. Nothing else of ours is to be done at the end, and what the
                // C library does there is for those who have something.
                let _ = std::io::stdout().flush();
                // SAFETY: _exit does not return and runs no code of ours.
                unsafe { libc::_exit(code.into()) }
            }
            Self::Signal(signal) => die_of(signal),
        }
    }
}

/// The shell looks at how we died to tell a Ctrl-C from an exit, so a code of 128+n would not do.
fn die_of(signal: Signal) -> ! {
    use nix::sys::resource::{Resource, setrlimit};
    // The command has dumped its core already; a second one of ours would only hide it.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_dumpable(false);
    // SAFETY: an all-zero sigset_t is a valid value for sigemptyset to overwrite.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` outlives the calls, the default action runs no code of ours, and the rest are numbers.
    #[allow(clippy::multiple_unsafe_ops_per_block, reason = "one thing: let the signal through and send it")]
    unsafe {
        libc::sigemptyset(&raw mut set);
        libc::signal(signal.number(), libc::SIG_DFL);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut());
        libc::kill(libc::getpid(), signal.number());
    }
    // Not reached, unless the signal does not end a process on this system.
    std::process::exit(128 + signal.number());
}
