//! A point in the time that was watched.

use std::ops::{Add, Sub};
use std::time::Duration;

/// Time since watching began, on a clock that stands still while the run is stopped.
///
/// The core never reads a clock: whoever calls it says what time it is, so hours pass in a test in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(Duration);

impl Moment {
    /// When watching began.
    pub const START: Self = Self(Duration::ZERO);

    /// The moment this long after the start.
    pub const fn after_start(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// How long the run had been watched by then.
    pub const fn since_start(self) -> Duration {
        self.0
    }

    /// How long before this one `earlier` was; zero if it was not.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, later: Duration) -> Self {
        Self(self.0.saturating_add(later))
    }
}

impl Sub<Duration> for Moment {
    type Output = Self;

    fn sub(self, earlier: Duration) -> Self {
        Self(self.0.saturating_sub(earlier))
    }
}
