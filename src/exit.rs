//! Every way a run can end, and the status that says so.
#![forbid(unsafe_code)]

use std::fmt;

/// Why idlewatch ended a run, where the command did not end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A person chose "kill and abort".
    Aborted,
    /// A person chose "kill and skip", or `ctl stop`.
    Stopped,
    /// Silent, and no guard spoke for it.
    IdleTimeout,
    /// Looping, and the policy says to end it.
    Loop,
    /// It asks, and nobody is there to answer.
    WaitingInput,
    /// Total running time.
    Timeout,
    /// idlewatch itself failed, or what the command printed could not be written.
    Error,
    /// The command was found but cannot run.
    CannotRun,
    /// The command was not found.
    NotFound,
    /// It had said it was finished and did not exit, or `ctl complete`.
    Completed,
}

impl Reason {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 10] = [
        Self::Completed,
        Self::Aborted,
        Self::Stopped,
        Self::IdleTimeout,
        Self::Loop,
        Self::WaitingInput,
        Self::Timeout,
        Self::Error,
        Self::CannotRun,
        Self::NotFound,
    ];

    /// Those that stand for something we did, for which another code can be chosen.
    pub const OURS: [Self; 8] = [
        Self::Completed,
        Self::Aborted,
        Self::Stopped,
        Self::IdleTimeout,
        Self::Loop,
        Self::WaitingInput,
        Self::Timeout,
        Self::Error,
    ];

    /// Whether it means that the command was stuck.
    pub const fn is_stuck(self) -> bool {
        matches!(self, Self::IdleTimeout | Self::Loop | Self::WaitingInput)
    }

    /// The exit status that stands for it.
    pub const fn code(self) -> u8 {
        match self {
            Self::Completed => 0,
            Self::Aborted => 118,
            Self::Stopped => 119,
            Self::IdleTimeout => 121,
            Self::Loop => 122,
            Self::WaitingInput => 123,
            Self::Timeout => 124,
            Self::Error => 125,
            Self::CannotRun => 126,
            Self::NotFound => 127,
        }
    }

    /// The word that stands for it in events, options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Aborted => "aborted",
            Self::Stopped => "stopped",
            Self::IdleTimeout => "idle_timeout",
            Self::Loop => "loop",
            Self::WaitingInput => "waiting_input",
            Self::Timeout => "timeout",
            Self::Error => "error",
            Self::CannotRun => "cannot_run",
            Self::NotFound => "not_found",
        }
    }

    /// What it means, in words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Completed => "the command was done, and was ended as a success",
            Self::Aborted => "the command was killed with 'kill and abort'",
            Self::Stopped => "the command was stopped with 'kill and skip' or ctl stop",
            Self::IdleTimeout => "the command was silent for too long",
            Self::Loop => "the command repeated itself for too long",
            Self::WaitingInput => "the command asked for input and nobody was there to answer",
            Self::Timeout => "the command ran for too long",
            Self::Error => "idlewatch failed, or the command's output could not be written",
            Self::CannotRun => "the command was found but cannot be run",
            Self::NotFound => "the command was not found",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A usage error: nothing was started.
pub const USAGE: u8 = 2;
