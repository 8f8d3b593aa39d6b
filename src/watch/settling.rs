//! When a picture that is being drawn is whole.

use std::time::Duration;

use super::Moment;

/// Output that has paused this long is a whole picture.
const SETTLED: Duration = Duration::from_millis(30);
/// Output that never pauses is looked at this often.
const UNSETTLED: Duration = Duration::from_millis(250);
/// A synchronized update that is never completed is looked at after this long.
const UNFINISHED: Duration = Duration::from_millis(500);
/// Output that was not looked at yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unseen {
    first: Moment,
    pub(super) last: Moment,
}

impl Unseen {
    /// What came `now`, after what came `before`.
    pub(super) fn with(before: Option<Self>, now: Moment) -> Self {
        Self { first: before.map_or(now, |unseen| unseen.first), last: now }
    }

    /// When it can be looked at; `in_frame`: a synchronized update has begun and is not completed.
    pub(super) fn settles(self, in_frame: bool) -> Moment {
        if in_frame { self.first + UNFINISHED } else { (self.last + SETTLED).min(self.first + UNSETTLED) }
    }
}
