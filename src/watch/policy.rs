//! What the watcher was told: limits and how to end a command.

use std::time::Duration;

use crate::signal::Signal;

/// Everything the watcher goes by, resolved and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Silence that ends the command; none: never.
    pub idle: Option<Duration>,
    /// How a command is ended.
    pub ending: Ending,
}

/// How a command is ended: ask, wait, insist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// What asks.
    pub signal: Signal,
    /// How long to wait before SIGKILL; none: only ask.
    pub kill_after: Option<Duration>,
}
