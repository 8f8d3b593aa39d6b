//! The one clock of a run. It stands still while the run is stopped.

use std::time::{Duration, Instant, SystemTime};

use crate::watch::Moment;

/// Turns the system's monotonic clock, which does not count a suspended machine, into watched time.
#[derive(Debug)]
pub struct Clock {
    began: Instant,
    stopped: Duration,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self { began: Instant::now(), stopped: Duration::ZERO }
    }

    /// How much time has been watched.
    pub fn now(&self) -> Moment {
        Moment::after_start(self.began.elapsed().saturating_sub(self.stopped))
    }

    /// The time of day.
    pub fn time_of_day() -> SystemTime {
        SystemTime::now()
    }

    /// Leaves out the time since `moment`: the run was stopped meanwhile.
    pub fn rewind_to(&mut self, moment: Moment) -> Duration {
        let gap = self.now().since(moment);
        self.stopped += gap;
        gap
    }
}
