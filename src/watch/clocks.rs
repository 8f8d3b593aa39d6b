//! The clocks, kept apart: a byte is not a change, and a change is not progress.

use std::time::Duration;

use super::Moment;

/// Something that turned this recently is still turning.
const TURNING: Duration = Duration::from_millis(2500);

/// Ticks that are further apart are no turn: what is `3 minutes ago` becomes `4 minutes ago` by itself.
const TICKING: Duration = Duration::from_secs(15);

/// When what last happened.
#[derive(Debug, Clone, Default)]
pub(super) struct Clocks {
    /// The last byte; none: nothing was ever printed.
    pub(super) byte: Option<Moment>,
    /// The last visible change.
    pub(super) change: Option<Moment>,
    /// The last progress, or the start.
    pub(super) progress: Moment,
    /// What made that progress.
    pub(super) progressed_by: String,
    /// The last turn of a spinner or tick of a time, on the screen or in the title.
    turn: Option<Moment>,
    /// The last one that came soon after another.
    turning: Option<Moment>,
    /// The same in the title alone.
    pub(super) title: Option<Moment>,
}

impl Clocks {
    /// Something that counts has changed.
    pub(super) fn progressed(&mut self, at: Moment, by: &str) {
        self.progress = self.progress.max(at);
        self.progressed_by.clear();
        self.progressed_by.push_str(by);
    }

    /// How long nothing that counts has changed.
    pub(super) fn silence(&self, now: Moment) -> Duration {
        now.since(self.progress)
    }

    /// Whether something turns or times.
    pub(super) fn turns(&self, now: Moment) -> bool {
        self.turn.is_some_and(|at| now.since(at) < TURNING)
    }

    /// Something has turned or ticked.
    pub(super) fn turned(&mut self, at: Moment) {
        if self.turn.replace(at).is_some_and(|last| at.since(last) <= TICKING) {
            self.turning = Some(at);
        }
    }

    /// When what turns, and does not only tick once in a while, is at rest.
    pub(super) fn rest(&self) -> Option<Moment> {
        self.turning.map(Self::rest_after)
    }

    /// When something that turned at this moment for the last time is at rest.
    pub(super) fn rest_after(turn: Moment) -> Moment {
        turn + TURNING
    }
}
