//! Descriptors to wait for, each with what it means.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::alarm::Alarm;

/// What is waited for. `T` says what a descriptor means.
pub struct PollSet<'fd, T> {
    meanings: Vec<T>,
    fds: Vec<PollFd<'fd>>,
}

/// How a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Waited<T> {
    /// These are ready, in the order in which they were added.
    Ready(Vec<(T, PollFlags)>),
    /// The time is over.
    Over,
}

impl<T> Waited<T> {
    /// What is ready, if anything is.
    pub fn ready(self) -> Vec<(T, PollFlags)> {
        match self {
            Self::Ready(ready) => ready,
            Self::Over => Vec::new(),
        }
    }
}

impl<'fd, T> PollSet<'fd, T> {
    /// Nothing yet.
    pub fn new() -> Self {
        // A run waits for some five.
        Self { meanings: Vec::with_capacity(8), fds: Vec::with_capacity(8) }
    }

    /// Waits for this one too.
    pub fn add(&mut self, meaning: T, fd: BorrowedFd<'fd>, flags: PollFlags) {
        self.meanings.push(meaning);
        self.fds.push(PollFd::new(fd, flags));
    }

    /// Waits until something is ready, at most this long. A signal ends the wait as well: then whatever is ready is, its
    /// own pipe among it.
    pub fn wait(mut self, timeout: Option<Duration>) -> Waited<T> {
        match self.poll(rounded_up(timeout)) {
            Some(0) => Waited::Over,
            Some(_) => self.ready(),
            None => Waited::Ready(Vec::new()),
        }
    }

    /// The same, with an alarm for all such waits.
    pub fn wait_by(mut self, alarm: &'fd Alarm, timeout: Option<Duration>) -> Waited<T> {
        let mut now = alarm.now();
        let Some(until) = timeout.map(|timeout| now + timeout) else { return self.wait(None) };
        while now < until {
            let Some(fd) = alarm.ready_by(until, now) else { break };
            self.fds.push(PollFd::new(fd, PollFlags::POLLIN));
            let count = self.poll(PollTimeout::NONE);
            let rang = self.fds.pop().is_some_and(|fd| fd.any().unwrap_or(false));
            if rang {
                alarm.rang();
            }
            match count {
                Some(1) if rang => {
                    now = alarm.now();
                    if now >= until {
                        return Waited::Over;
                    }
                    // It was set for a wait that has ended before.
                }
                Some(_) => return self.ready(),
                None => return Waited::Ready(Vec::new()),
            }
        }
        self.wait(Some(until.since(now)))
    }

    /// How many are ready; none is known to be if that failed.
    fn poll(&mut self, timeout: PollTimeout) -> Option<i32> {
        match poll(&mut self.fds, timeout) {
            // To be seen now, before anything is concluded from how late it is.
            Err(Errno::EINTR) => poll(&mut self.fds, PollTimeout::ZERO).ok().map(|count| count.max(1)),
            // Out of memory for the moment.
            result => result.ok(),
        }
    }

    fn ready(self) -> Waited<T> {
        let ready = self.meanings.into_iter().zip(self.fds).filter_map(|(meaning, fd)| {
            fd.revents().filter(|events| !events.is_empty()).map(|events| (meaning, events))
        });
        Waited::Ready(ready.collect())
    }
}

/// Whole milliseconds: a wake-up before the deadline would only have to wait again.
pub fn rounded_up(timeout: Option<Duration>) -> PollTimeout {
    timeout.map_or(PollTimeout::NONE, |timeout| {
        let whole = timeout.saturating_add(Duration::from_micros(999)).as_millis();
        i32::try_from(whole).ok().and_then(|whole| PollTimeout::try_from(whole).ok()).unwrap_or(PollTimeout::MAX)
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn what_is_ready_is_told_by_what_it_means() {
        let ((quiet, _kept), (full, mut writer)) = (pipe().unwrap(), pipe().unwrap());
        writer.write_all(b"x").unwrap();
        let mut set = PollSet::new();
        set.add("quiet", quiet.as_fd(), PollFlags::POLLIN);
        set.add("full", full.as_fd(), PollFlags::POLLIN);
        assert_eq!(set.wait(None), Waited::Ready(vec![("full", PollFlags::POLLIN)]));
    }

    #[test]
    fn a_wait_that_is_over_is_told_from_one_that_found_nothing() {
        let (quiet, _kept) = pipe().unwrap();
        let mut set = PollSet::new();
        set.add((), quiet.as_fd(), PollFlags::POLLIN);
        assert_eq!(set.wait(Some(Duration::ZERO)), Waited::Over);
    }

    #[test]
    fn no_wait_ends_before_its_time() {
        let millis = |timeout| i32::from(rounded_up(Some(timeout)));
        assert_eq!(millis(Duration::ZERO), 0);
        assert_eq!(millis(Duration::from_micros(1)), 1);
        assert_eq!(millis(Duration::from_micros(1001)), 2);
        assert_eq!(millis(Duration::MAX), i32::MAX);
        assert_eq!(rounded_up(None), PollTimeout::NONE);
    }
}
