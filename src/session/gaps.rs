//! Time that nobody could watch: the machine was suspended, or we did not get to run. It is no silence.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::watch::Moment;

/// How late a wake-up may be before the time since is taken as time that nobody could watch.
const LATE: Duration = Duration::from_secs(5);

/// A suspension that is shorter than this is none.
const SUSPENDED: Duration = Duration::from_secs(1);

/// What is known from before the wait that is under way.
#[derive(Debug)]
pub struct Gaps {
    /// When the one before it ended: then we ran for certain.
    pub alive: Moment,
    /// How long we were stopped since that was last told.
    pub stopped: Duration,
    /// How long the machine had been suspended by then.
    suspended: Duration,
}

/// One that was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The machine was suspended for this long, and our clock stood still meanwhile.
    Suspended(Duration),
    /// Our clock ran on, and we did not since this moment.
    Missed(Moment),
}

impl Gaps {
    /// Begins, with how long the machine has been suspended so far.
    pub const fn new(suspended: Duration) -> Self {
        Self { alive: Moment::START, stopped: Duration::ZERO, suspended }
    }

    /// Whether something was missed in a wait that should have ended at `wake` and did at `now`.
    pub fn noticed(&mut self, now: Moment, wake: Option<Moment>, suspended: Duration) -> Option<Gap> {
        let slept = suspended.saturating_sub(std::mem::replace(&mut self.suspended, suspended));
        if slept > SUSPENDED {
            return Some(Gap::Suspended(slept));
        }
        wake.is_some_and(|wake| now.since(wake) > LATE).then_some(Gap::Missed(self.alive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::after_start(Duration::from_secs(seconds))
    }

    #[test]
    fn a_wait_that_ends_in_time_has_no_gap() {
        let mut gaps = Gaps::new(Duration::from_hours(7));
        assert_eq!(gaps.noticed(at(61), Some(at(60)), Duration::from_hours(7)), None);
        assert_eq!(gaps.noticed(at(86_400), None, Duration::from_hours(7)), None);
    }

    #[test]
    fn a_suspended_machine_is_noticed_once() {
        let mut gaps = Gaps::new(Duration::from_hours(7));
        let found = gaps.noticed(at(60), Some(at(60)), Duration::from_hours(15));
        assert_eq!(found, Some(Gap::Suspended(Duration::from_hours(8))));
        assert_eq!(gaps.noticed(at(61), Some(at(61)), Duration::from_hours(15)), None);
    }

    #[test]
    fn a_process_that_was_not_let_run_has_missed_everything_since_it_went_to_sleep() {
        let mut gaps = Gaps::new(Duration::ZERO);
        gaps.alive = at(50);
        assert_eq!(gaps.noticed(at(300), Some(at(60)), Duration::ZERO), Some(Gap::Missed(at(50))));
    }
}
