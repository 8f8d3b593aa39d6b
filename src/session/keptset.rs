//! Descriptors that are waited for again and again. The kernel keeps them, so that a wait takes no longer for many than for
//! one: `poll` takes hold of each of them anew, every time.

use std::os::fd::BorrowedFd;
use std::time::Duration;

#[cfg(target_os = "linux")]
use self::linux::Kept;
#[cfg(not(target_os = "linux"))]
use self::other::Kept;

/// What is waited for: that there is something to read. `T` says what a descriptor means.
#[derive(Debug)]
pub struct KeptSet<T> {
    meanings: Vec<T>,
    kept: Kept,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard<T> {
    /// This one is ready and no other.
    One(T),
    /// Several are, or a signal has ended the wait.
    Several,
    /// The time is over.
    Nothing,
    /// The kernel does not let us wait like this.
    Refused,
}

impl<T: Copy> KeptSet<T> {
    /// These. They have to stay the same open files for as long as they are waited for.
    pub fn new<'fd>(fds: impl IntoIterator<Item = (T, BorrowedFd<'fd>)>) -> nix::Result<Self> {
        let (mut meanings, kept) = (Vec::new(), Kept::new()?);
        for (meaning, fd) in fds {
            kept.add(meanings.len(), fd)?;
            meanings.push(meaning);
        }
        Ok(Self { meanings, kept })
    }

    /// Waits until one is ready, at most this long.
    pub fn wait(&self, limit: Option<Duration>) -> Heard<T> {
        match self.kept.wait(limit) {
            Heard::One(place) => self.meanings.get(place).map_or(Heard::Several, |meaning| Heard::One(*meaning)),
            Heard::Several => Heard::Several,
            Heard::Nothing => Heard::Nothing,
            Heard::Refused => Heard::Refused,
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::errno::Errno;
    use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};

    use super::{BorrowedFd, Duration, Heard};
    use crate::session::pollset::rounded_up;

    /// Known by their places.
    #[derive(Debug)]
    pub struct Kept(Epoll);

    impl Kept {
        pub fn new() -> nix::Result<Self> {
            Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map(Self)
        }

        pub fn add(&self, place: usize, fd: BorrowedFd<'_>) -> nix::Result<()> {
            self.0.add(fd, EpollEvent::new(EpollFlags::EPOLLIN, place as u64))
        }

        pub fn wait(&self, limit: Option<Duration>) -> Heard<usize> {
            // Two: whether there is another one has to be known.
            let mut ready = [EpollEvent::empty(); 2];
            let limit = EpollTimeout::try_from(i32::from(rounded_up(limit))).unwrap_or(EpollTimeout::MAX);
            match self.0.wait(&mut ready, limit) {
                Ok(0) => Heard::Nothing,
                Ok(1) => usize::try_from(ready[0].data()).map_or(Heard::Several, Heard::One),
                Ok(_) | Err(Errno::EINTR) => Heard::Several,
                // Filters of system calls may allow all of the others.
                Err(_) => Heard::Refused,
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use super::{BorrowedFd, Duration, Heard};

    /// The kernel keeps none.
    #[derive(Debug)]
    pub enum Kept {}

    impl Kept {
        pub fn new() -> nix::Result<Self> {
            Err(nix::errno::Errno::ENOSYS)
        }

        pub fn add(&self, _: usize, _: BorrowedFd<'_>) -> nix::Result<()> {
            match *self {}
        }

        pub fn wait(&self, _: Option<Duration>) -> Heard<usize> {
            match *self {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{Read, Write, pipe};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn one_that_is_ready_is_told_by_what_it_means_each_time_until_it_is_read() {
        let ((mut one, mut to_one), (other, mut to_other)) = (pipe().unwrap(), pipe().unwrap());
        let set = KeptSet::new([("one", one.as_fd()), ("other", other.as_fd())]).unwrap();
        assert_eq!(set.wait(Some(Duration::ZERO)), Heard::Nothing);
        to_one.write_all(b"x").unwrap();
        assert_eq!([set.wait(None), set.wait(None)], [Heard::One("one"); 2]);
        to_other.write_all(b"x").unwrap();
        assert_eq!(set.wait(None), Heard::Several);
        one.read_exact(&mut [0]).unwrap();
        assert_eq!(set.wait(None), Heard::One("other"));
    }

    #[test]
    fn whose_other_side_is_gone_is_ready() {
        let (reader, writer) = pipe().unwrap();
        let set = KeptSet::new([((), reader.as_fd())]).unwrap();
        drop(writer);
        assert_eq!(set.wait(None), Heard::One(()));
    }
}
