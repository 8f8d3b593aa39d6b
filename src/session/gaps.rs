//! Time that nobody could watch: the machine was suspended, or we did not get to run. It is no silence.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

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
    /// Known once somebody has continued us: until then nobody need count.
    sleeps: Option<Sleeps>,
}

/// How often we gave the processor away. In a wait that is once, and once more where we were stopped in it.
#[derive(Debug)]
struct Sleeps {
    /// Between the two waits, where nothing is waited for, or hardly.
    before: i64,
    /// In the last wait.
    within: i64,
    /// All of them by then.
    total: i64,
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
        Self { alive: Moment::START, stopped: Duration::ZERO, suspended, sleeps: None }
    }

    /// A wait begins.
    pub fn wait_begins(&mut self) {
        if let Some(sleeps) = &mut self.sleeps {
            let total = sleeps_so_far();
            (sleeps.before, sleeps.within, sleeps.total) = (total - sleeps.total, 0, total);
        }
    }

    /// The wait is over.
    pub fn wait_ends(&mut self) {
        if let Some(sleeps) = &mut self.sleeps {
            let total = sleeps_so_far();
            (sleeps.within, sleeps.total) = (total - sleeps.total, total);
        }
    }

    /// Whether we have been stopped, since somebody has continued us: not everybody who does so has stopped us before, and
    /// whoever does it again and again is not to hold up the clock. The first time that is taken for granted.
    pub fn were_stopped(&mut self) -> bool {
        let Some(sleeps) = &self.sleeps else {
            let (before, within, total) = (0, 0, sleeps_so_far());
            self.sleeps = Some(Sleeps { before, within, total });
            return true;
        };
        sleeps.before > 0 || sleeps.within > 1 || sleeps_so_far() > sleeps.total || !cfg!(target_os = "linux")
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

/// How often we have given the processor away of our own accord, to wait or because we were stopped.
fn sleeps_so_far() -> i64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.voluntary_context_switches())
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
