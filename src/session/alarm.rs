//! The end of a wait, which is cheap to put off.
//!
//! A wait with a limit of its own sets a timer and takes it back, and the processor has to be told of both: in the middle of
//! much output that takes longer than the wait. A timer that stays set until it rings is told of once for all of them.

use std::cell::Cell;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use super::clock::Clock;
use crate::watch::Moment;

#[cfg(target_os = "linux")]
use self::linux::Timer;
#[cfg(not(target_os = "linux"))]
use self::other::Timer;

/// A timer that is only set anew when it has to ring earlier, or has rung.
#[derive(Debug)]
pub struct Alarm {
    /// None where there can be none.
    timer: Option<Timer>,
    /// A clock of its own, since the run's can be put back.
    clock: Clock,
    rings: Cell<Option<Moment>>,
}

impl Alarm {
    /// Not set.
    pub fn new() -> Self {
        Self { timer: Timer::new(), clock: Clock::start(), rings: Cell::new(None) }
    }

    /// What time it is, to an alarm.
    pub fn now(&self) -> Moment {
        self.clock.now()
    }

    /// What will be ready at this moment, or before. None if that cannot be had.
    pub fn ready_by(&self, until: Moment, now: Moment) -> Option<BorrowedFd<'_>> {
        let timer = self.timer.as_ref()?;
        if self.rings.get().is_none_or(|rings| until < rings) {
            let is_set = timer.set(until.since(now));
            self.rings.set(is_set.then_some(until));
        }
        self.rings.get().map(|_| timer.as_fd())
    }

    /// It was ready.
    pub fn rang(&self) {
        self.rings.set(None);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::sys::time::TimeSpec;
    use nix::sys::timer::{Expiration, TimerSetTimeFlags};
    use nix::sys::timerfd::{ClockId, TimerFd, TimerFlags};

    use super::{AsFd, BorrowedFd, Duration};

    #[derive(Debug)]
    pub struct Timer(TimerFd);

    impl Timer {
        pub fn new() -> Option<Self> {
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK).ok().map(Self)
        }

        /// Has it ring after this long. If it has rung, it is silent until then.
        pub fn set(&self, after: Duration) -> bool {
            // Zero would be never.
            let after = TimeSpec::from(after.max(Duration::from_nanos(1)));
            self.0.set(Expiration::OneShot(after), TimerSetTimeFlags::empty()).is_ok()
        }
    }

    impl AsFd for Timer {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use super::{AsFd, BorrowedFd, Duration};

    /// There are none.
    #[derive(Debug)]
    pub enum Timer {}

    impl Timer {
        pub fn new() -> Option<Self> {
            None
        }

        pub fn set(&self, _: Duration) -> bool {
            match *self {}
        }
    }

    impl AsFd for Timer {
        fn as_fd(&self) -> BorrowedFd<'_> {
            match *self {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::session::pollset::{PollSet, Waited};

    #[test]
    fn it_is_only_set_to_ring_earlier() {
        let (alarm, now) = (Alarm::new(), Moment::START);
        let [soon, later] = [1, 2].map(|hours| now + Duration::from_secs(hours * 3600));
        assert!(alarm.ready_by(later, now).is_some());
        assert!(alarm.ready_by(soon, now).is_some());
        assert!(alarm.ready_by(later, now).is_some());
        assert_eq!(alarm.rings.get(), Some(soon));
        alarm.rang();
        assert!(alarm.ready_by(later, now).is_some());
        assert_eq!(alarm.rings.get(), Some(later));
    }

    #[test]
    fn a_wait_that_was_put_off_lasts_to_its_end() {
        let alarm = Alarm::new();
        let now = alarm.now();
        assert!(alarm.ready_by(now + Duration::from_millis(1), now).is_some());
        let limit = Duration::from_millis(20);
        assert_eq!(PollSet::<()>::new().wait_by(&alarm, Some(limit)), Waited::Over);
        assert!(alarm.now().since(now) >= limit);
    }
}
