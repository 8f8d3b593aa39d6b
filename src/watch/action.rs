//! What the watcher wants done. The session performs it and decides nothing.

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
    /// Send this signal to the whole process tree; if the command ends, this is why.
    Signal {
        /// Which.
        signal: Signal,
        /// Why the run ends.
        reason: Reason,
    },
}
