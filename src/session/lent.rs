//! Our own terminal, where the command reads from it directly: it has none of its own to read from, and may wait for a
//! person all the same.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::stat::fstat;
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, tcgetpgrp};

/// Our terminal in the hands of the command.
#[derive(Debug)]
pub struct Lent {
    fd: OwnedFd,
    /// The settings it had before.
    found: Option<Termios>,
    /// Nobody else in a pipeline has it as well.
    alone: bool,
}

impl Lent {
    /// The terminal that is `stdin`, which was `found` with these settings; `alone` is whether nobody else in a pipeline has it as well.
    pub fn new(stdin: BorrowedFd<'_>, found: Option<Termios>, alone: bool) -> io::Result<Self> {
        Ok(Self { fd: stdin.try_clone_to_owned()?, found, alone })
    }

    /// Puts its settings back, for a command that was killed before it could.
    pub fn give_back(&self) {
        let is_ours = self.foreground() == Some(getpgrp().as_raw());
        if let (Some(found), true) = (&self.found, self.alone && is_ours)
            && self.settings().is_some_and(|now| now != *found)
        {
            // A terminal that is gone needs no settings.
            let _ = tcsetattr(&self.fd, SetArg::TCSANOW, found);
        }
    }

    /// Its device number.
    pub fn device(&self) -> Option<u64> {
        fstat(&self.fd).ok().map(|about| about.st_rdev)
    }

    /// Its settings.
    pub fn settings(&self) -> Option<Termios> {
        tcgetattr(&self.fd).ok()
    }

    /// Whether it showed what is typed.
    pub fn echoed(&self) -> bool {
        self.found.as_ref().is_none_or(|found| found.local_flags.contains(LocalFlags::ECHO))
    }

    /// The process group in its foreground.
    pub fn foreground(&self) -> Option<i32> {
        match tcgetpgrp(&self.fd) {
            Ok(group) => Some(group.as_raw()),
            // One that does not control us has no such notion: whoever reads it reads it.
            Err(Errno::ENOTTY) => Some(getpgrp().as_raw()),
            Err(_) => None,
        }
    }
}
