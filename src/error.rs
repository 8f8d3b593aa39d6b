//! What went wrong, said so that a person can do something about it.
#![forbid(unsafe_code)]

use std::{fmt, io};

use crate::exit::Reason;
use crate::signal::Signal;

/// An error with the exit status it ends the program with.
#[derive(Debug)]
pub struct Error {
    message: String,
    code: u8,
    /// What the code stands for, where that is a way for a run to end.
    reason: Option<Reason>,
}

impl Error {
    /// The arguments, the environment or a file say something that cannot be meant. Nothing was started.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: crate::exit::USAGE, reason: None }
    }

    /// What was asked of a run could not be done: there is no such run, or it refused.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1, reason: None }
    }

    /// idlewatch itself failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::because(Reason::Error, message)
    }

    /// The same, for a call that said why.
    pub fn failed(what: &'static str) -> impl Fn(io::Error) -> Self {
        move |error| Self::internal(format!("{what}: {error}"))
    }

    /// A signal told us to end before there was a command to pass it on to.
    pub fn told(signal: Signal, message: impl Into<String>) -> Self {
        let code = u8::try_from(128 + signal.number()).unwrap_or(Reason::Error.code());
        Self { message: message.into(), code, reason: None }
    }

    /// The time was over before there was a command.
    pub fn late(message: impl Into<String>) -> Self {
        Self::because(Reason::Timeout, message)
    }

    /// The command was not found.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::because(Reason::NotFound, message)
    }

    /// The command was found but cannot run.
    pub fn cannot_run(message: impl Into<String>) -> Self {
        Self::because(Reason::CannotRun, message)
    }

    fn because(reason: Reason, message: impl Into<String>) -> Self {
        Self { message: message.into(), code: reason.code(), reason: Some(reason) }
    }

    /// The same with the code that was chosen for the reason.
    #[must_use]
    pub fn with_code_of(self, chosen: impl Fn(Reason) -> u8) -> Self {
        Self { code: self.reason.map_or(self.code, chosen), ..self }
    }

    /// Why a run ends with this.
    pub fn reason(&self) -> Reason {
        self.reason.unwrap_or(Reason::Error)
    }

    /// The status to exit with.
    pub const fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
