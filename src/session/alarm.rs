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

/// To ring so much too early, and be set again then, costs less than to be put off each time: in a flood waits end within
/// this. Whoever waits longer is not to be woken up for nothing.
const TOO_EARLY: Duration = Duration::from_millis(2);

/// A timer that is only set anew when it has to ring earlier or much later, or has rung.
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
        if self.rings.get().is_none_or(|rings| until < rings || until.since(rings) > TOO_EARLY) {
            let is_set = timer.set(until.since(now));
            self.rings.set(is_set.then_some(until));
        }
        self.rings.get().map(|_| timer.as_fd())
    }

    /// What is ready once it has rung. None where there can be none.
    pub fn bell(&self) -> Option<BorrowedFd<'_>> {
        self.timer.as_ref().map(Timer::as_fd)
    }

    /// It was ready, and is not until it rings again.
    pub fn rang(&self) {
        self.rings.set(None);
        if let Some(timer) = &self.timer {
            timer.hush();
        }
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

        /// Has it be silent until it rings again. It does not block.
        pub fn hush(&self) {
            let _ = self.0.wait();
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

        pub fn hush(&self) {
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
    fn it_is_set_to_ring_earlier_or_much_later() {
        let (alarm, hour) = (Alarm::new(), Moment::START + Duration::from_hours(1));
        let rings = |until| {
            assert!(alarm.ready_by(until, Moment::START).is_some());
            alarm.rings.get()
        };
        let (little, much) = (hour + TOO_EARLY, hour + TOO_EARLY * 2);
        assert_eq!(rings(much), Some(much));
        assert_eq!(rings(hour), Some(hour));
        assert_eq!(rings(little), Some(hour));
        assert_eq!(rings(much), Some(much));
        alarm.rang();
        assert_eq!(rings(hour + TOO_EARLY), Some(little));
    }

    #[test]
    fn once_it_was_heard_it_is_silent_until_it_is_set_again() {
        let alarm = Alarm::new();
        let rings = || {
            let mut set = PollSet::new();
            set.add((), alarm.bell().unwrap(), nix::poll::PollFlags::POLLIN);
            set.wait(Some(Duration::from_millis(1))) != Waited::Over
        };
        let set = || {
            let now = alarm.now();
            assert!(alarm.ready_by(now, now).is_some());
            while !rings() {}
        };
        set();
        alarm.rang();
        assert!(!rings());
        set();
    }

    #[test]
    fn where_there_can_be_no_timer_waits_have_limits_of_their_own() {
        let alarm = Alarm { timer: None, ..Alarm::new() };
        assert_eq!(PollSet::<()>::new().wait_by(&alarm, Some(Duration::from_millis(1))), Waited::Over);
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
