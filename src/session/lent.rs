//! Our own terminal, where the command reads from it directly: it has none of its own to read from, and may wait for a
//! person all the same.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::stat::fstat;
use nix::sys::termios::{LocalFlags, Termios, tcgetattr};
use nix::unistd::{getpgrp, tcgetpgrp};

/// Our terminal in the hands of the command.
#[derive(Debug)]
pub struct Lent(OwnedFd);

impl Lent {
    /// The terminal that is `stdin`.
    pub fn new(stdin: BorrowedFd<'_>) -> io::Result<Self> {
        stdin.try_clone_to_owned().map(Self)
    }

    /// Its device number.
    pub fn device(&self) -> Option<u64> {
        fstat(&self.0).ok().map(|about| about.st_rdev)
    }

    /// Its settings.
    pub fn settings(&self) -> Option<Termios> {
        tcgetattr(&self.0).ok()
    }

    /// Whether it shows what is typed.
    pub fn echoes(&self) -> bool {
        self.settings().is_none_or(|settings| settings.local_flags.contains(LocalFlags::ECHO))
    }

    /// The process group in its foreground.
    pub fn foreground(&self) -> Option<i32> {
        match tcgetpgrp(&self.0) {
            Ok(group) => Some(group.as_raw()),
            // One that does not control us has no such notion: whoever reads it reads it.
            Err(Errno::ENOTTY) => Some(getpgrp().as_raw()),
            Err(_) => None,
        }
    }
}
