//! What follows from a verdict: ask, wait, insist.

use super::{Action, Ending, Moment, State};
use crate::exit::Reason;
use crate::signal::Signal;

/// How far the ending has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Ladder {
    /// Nothing was done.
    #[default]
    Untouched,
    /// Asked at this moment, for this reason.
    Asked(Moment, Reason),
    /// Killed: nothing is left to do.
    Killed,
}

impl Ladder {
    /// When the next step is due.
    pub(super) fn deadline(self, ending: Ending) -> Option<Moment> {
        match self {
            Self::Asked(at, _) => Some(at + ending.kill_after?),
            Self::Untouched | Self::Killed => None,
        }
    }

    /// The next step, if it is due. A command that was asked to end is not let off by its last words.
    pub(super) fn step(&mut self, now: Moment, state: State, ending: Ending) -> Option<Action> {
        match *self {
            Self::Untouched => {
                let reason = match state {
                    State::Stalled => Reason::IdleTimeout,
                    State::Overtime => Reason::Timeout,
                    State::Active | State::Quiet | State::Waiting | State::Looping | State::Exited => return None,
                };
                *self = Self::Asked(now, reason);
                Some(Action::Signal { signal: ending.signal, reason })
            }
            Self::Asked(_, reason) if self.deadline(ending).is_some_and(|deadline| now >= deadline) => {
                *self = Self::Killed;
                (state != State::Exited).then_some(Action::Signal { signal: Signal::KILL, reason })
            }
            Self::Asked(..) | Self::Killed => None,
        }
    }
}
