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

    /// How long the machine has been suspended since it was started. The monotonic clock does not count that.
    #[cfg(target_os = "linux")]
    pub fn suspended() -> Duration {
        #[cfg(debug_assertions)]
        if let Some(told) = suspended_in_a_test() {
            return told;
        }
        read(libc::CLOCK_BOOTTIME).saturating_sub(read(libc::CLOCK_MONOTONIC))
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

#[cfg(target_os = "linux")]
fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec, and `time` is one.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanoseconds.unwrap_or(0))
}
