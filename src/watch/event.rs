//! What is worth telling: the watcher says it once, whoever reports it chooses the form.

use std::time::Duration;

use super::loops::Repetition;
use super::state::State;

/// Something that happened in the run, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The state changed.
    StateChanged {
        /// What it was.
        from: State,
        /// What it is.
        to: State,
        /// Why, in words.
        evidence: String,
    },
    /// A share of the idle limit has passed in silence.
    IdleWarning {
        /// How long nothing that counts has changed.
        since_activity: Duration,
        /// The limit.
        limit: Duration,
    },
    /// A share of the running time has passed.
    TimeoutWarning {
        /// The limit.
        limit: Duration,
    },
    /// It seems to loop.
    LoopWarning {
        /// What repeats.
        what: Repetition,
        /// 0 to 100.
        suspicion: u8,
    },
    /// The screen can no longer be read; from now on any byte counts as activity.
    AnalysisLost,
}
