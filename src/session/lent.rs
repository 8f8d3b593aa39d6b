//! Our own terminal, where the command reads from it directly: it has none of its own to read from, and may wait for a
//! person all the same.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::errno::Errno;
use nix::sys::stat::fstat;
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{getpgrp, tcgetpgrp};

use super::clock::Clock;
use super::ground::duplicate;
use super::terminal::Borrowed;
use crate::error::Error;

/// Our terminal in the hands of the command.
#[derive(Debug)]
pub struct Lent {
    fd: OwnedFd,
    /// The settings it had before.
    found: Option<Termios>,
    /// Nobody else in a pipeline has it as well.
    alone: bool,
    /// When it was read, as far as we have asked.
    read: SystemTime,
}

impl Lent {
    /// The terminal that is `stdin`, before the command has it; `alone` is whether nobody else in a pipeline has it as well.
    pub fn new(stdin: BorrowedFd<'_>, alone: bool) -> io::Result<Self> {
        let found = tcgetattr(stdin).ok();
        let fd = stdin.try_clone_to_owned()?;
        let read = last_read(&fd).unwrap_or(UNIX_EPOCH);
        Ok(Self { fd, found, alone, read })
    }

    /// How long ago somebody typed what was read from it since this was asked for the last time. The kernel tells that
    /// only in steps of eight seconds, so that nobody can tell what was typed.
    pub fn typed(&mut self) -> Option<Duration> {
        let read = last_read(&self.fd)?;
        let is_news = std::mem::replace(&mut self.read, read) != read;
        is_news.then(|| Clock::time_of_day().duration_since(read).unwrap_or_default())
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

    /// What whoever outlives us needs to do the same.
    pub fn to_give_back(&self) -> Result<Option<Borrowed>, Error> {
        let found = self.found.clone().filter(|_| self.alone);
        found.map(|found| Ok(Borrowed { fd: duplicate(&self.fd)?, found, lent: true })).transpose()
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

/// When a terminal was read for the last time, as `w` tells it.
fn last_read(terminal: impl AsFd) -> Option<SystemTime> {
    let seconds = fstat(terminal).ok()?.st_atime;
    UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::io::{Read, Write};

    use portable_pty::PtySize;

    use super::super::pty::Pty;
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_somebody_typed_and_the_command_has_read_is_noticed_once() {
        let (pty, reader) = Pty::open(PtySize::default(), None).unwrap();
        let (mut keyboard, mut reader) = (File::from(pty.as_fd().try_clone_to_owned().unwrap()), File::from(reader));
        reader.set_times(FileTimes::new().set_accessed(UNIX_EPOCH + Duration::from_hours(1000))).unwrap();
        let mut lent = Lent::new(reader.as_fd(), true).unwrap();
        assert_eq!(lent.typed(), None);
        keyboard.write_all(b"Bob\n").unwrap();
        assert_eq!(lent.typed(), None, "nobody has read it");
        assert_eq!(reader.read(&mut [0; 9]).unwrap(), 4);
        assert!(lent.typed().unwrap() < Duration::from_mins(15));
        assert_eq!(lent.typed(), None);
    }
}
