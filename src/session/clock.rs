//! The one clock of a run. It stands still while the run is stopped.

use std::time::{Duration, Instant, SystemTime};

#[cfg(target_os = "linux")]
use nix::time::ClockId;

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

    /// How long the machine has been suspended since it was started. The monotonic clock does not count that.
    #[cfg(target_os = "linux")]
    pub fn suspended() -> Duration {
        #[cfg(debug_assertions)]
        if let Some(told) = suspended_in_a_test() {
            return told;
        }
        read(ClockId::CLOCK_BOOTTIME).saturating_sub(read(ClockId::CLOCK_MONOTONIC))
    }

    /// How long ago the machine was started, the time included in which it was suspended.
    #[cfg(target_os = "linux")]
    pub fn since_boot() -> Duration {
        read(ClockId::CLOCK_BOOTTIME)
    }

    /// How long the machine has been suspended, which nobody can tell here.
    #[cfg(not(target_os = "linux"))]
    pub fn suspended() -> Duration {
        Duration::ZERO
    }

    /// Leaves out the time since `moment`: the run was stopped meanwhile.
    pub fn rewind_to(&mut self, moment: Moment) -> Duration {
        let gap = self.now().since(moment);
        self.stopped += gap;
        gap
    }
}

/// A test cannot suspend the machine, so it says in a file for how many seconds it would have been.
#[cfg(all(target_os = "linux", debug_assertions))]
fn suspended_in_a_test() -> Option<Duration> {
    let told = std::fs::read_to_string(std::env::var_os("IDLEWATCH_TEST_SUSPENDED")?).ok()?;
    told.trim().parse().ok().map(Duration::from_secs)
}

/// What this clock of the system shows; nothing where there is none.
#[cfg(target_os = "linux")]
fn read(clock: ClockId) -> Duration {
    clock.now().map_or(Duration::ZERO, Duration::from)
}
