//! What the watcher wants done. The session performs it and decides nothing.

use std::time::Duration;

use super::event::Event;
use crate::exit::Reason;
use crate::signal::Signal;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Look at the command's processes and terminal, and answer with
    /// [`Observation::Looked`](super::Observation::Looked). A replay cannot look and answers that nothing is known.
    Look,
    /// Tell whoever listens.
    Report(Event),
    /// Let the guards see how things are, for them to compare with when they are asked.
    Measure,
    /// Ask the guards, and answer with [`Observation::Answered`](super::Observation::Answered).
    Ask,
    /// Tell the person.
    Warn {
        /// What the command would be ended for.
        about: Reason,
        /// Why it is thought so.
        evidence: String,
        /// The limit that has passed.
        limit: Option<Duration>,
        /// The state has just changed for the same reason, and whoever heard that knows it.
        known: bool,
    },
    /// Type this into the command's terminal.
    Type(Vec<u8>),
    /// Run this in a shell.
    Run(String),
    /// Ask the person what to do, and answer with [`Observation::Told`](super::Observation::Told).
    Prompt {
        /// What the command would be ended for.
        about: Reason,
        /// Why it is thought so.
        evidence: String,
    },
    /// The question to the person is void.
    ClosePrompt,
    /// Send this signal to the whole process tree; if the command ends, this is why.
    Signal {
        /// Which.
        signal: Signal,
        /// Why the run ends.
        reason: Reason,
    },
}

/// What a person says to do, at the prompt or from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Leave it alone for this long, and let it run this much longer.
    Extend(Duration),
    /// End it.
    Stop,
    /// End it, and everything that it is a part of should end too.
    Abort,
    /// End it as a success.
    Complete,
    /// Type this into it and submit it.
    Nudge(String),
}
