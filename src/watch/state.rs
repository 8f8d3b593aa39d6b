//! What the command is doing: one type for events, options and reports.

use std::fmt;

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum State {
    /// Something that counts has changed not long ago.
    #[default]
    Active,
    /// Nothing that counts has changed for a share of the limit.
    Quiet,
    /// It waits for a person.
    Waiting,
    /// Nothing that counts has changed for the whole limit.
    Stalled,
    /// It keeps printing, and nothing is new.
    Looping,
    /// It has run for longer than it may.
    Overtime,
    /// It has ended.
    Exited,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Active, Self::Quiet, Self::Waiting, Self::Stalled, Self::Looping, Self::Overtime, Self::Exited];

    /// The word that stands for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Quiet => "quiet",
            Self::Waiting => "waiting",
            Self::Stalled => "stalled",
            Self::Looping => "looping",
            Self::Overtime => "overtime",
            Self::Exited => "exited",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
