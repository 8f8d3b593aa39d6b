//! An option that was set outside of the command line, and where.

use std::ffi::OsString;
use std::fmt;

use crate::cli::visible;
use crate::error::Error;

/// An option, what it was set to, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The name of the option, without dashes.
    pub name: String,
    /// What it was set to.
    pub given: Given,
    /// Where.
    pub origin: Origin,
    /// The line of each value, where they stand in a file.
    pub lines: Vec<usize>,
}

/// What an option was set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// A switch: on or off.
    Switch(bool),
    /// Values, as they would be typed.
    Values(Vec<String>),
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// This variable.
    Environment(String),
    /// The configuration file.
    File(Place),
    /// The profile of this name, and where that stands if a user wrote it.
    Profile(String, Option<Place>),
    /// Nobody said anything.
    Default,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: String,
    /// The line, counted from one.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path, self.line)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment(variable) => write!(f, "environment, {variable}"),
            Self::File(place) => write!(f, "{place}"),
            Self::Profile(name, _) => write!(f, "profile {name}"),
            Self::Default => f.write_str("default"),
        }
    }
}

impl Origin {
    /// How far up its layer is; what is higher beats what is lower.
    pub(super) const fn height(&self) -> u8 {
        match self {
            Self::Flag => 4,
            Self::Environment(_) => 3,
            Self::File(_) => 2,
            Self::Profile(..) => 1,
            Self::Default => 0,
        }
    }
}

impl Setting {
    /// What one would type for it.
    pub fn arguments(&self) -> Vec<OsString> {
        match &self.given {
            Given::Switch(true) => vec![format!("--{}", self.name).into()],
            Given::Switch(false) => Vec::new(),
            Given::Values(values) => values.iter().map(|value| format!("--{}={value}", self.name).into()).collect(),
        }
    }

    /// Whether it says anything that a rival would contradict.
    pub fn is_on(&self) -> bool {
        self.given != Given::Switch(false)
    }

    /// The value number `which` with its place, for a message.
    pub fn shown(&self, which: usize) -> String {
        let value = match &self.given {
            Given::Switch(_) => String::new(),
            Given::Values(values) => {
                values.get(which).map(|value| format!(" '{}'", visible(value))).unwrap_or_default()
            }
        };
        let at = |place: &Place| {
            let line = self.lines.get(which).copied().unwrap_or(place.line);
            format!("{}:{line}: {}{value}", place.path, self.name)
        };
        match &self.origin {
            Origin::Flag | Origin::Default => format!("--{}{value}", self.name),
            Origin::Environment(variable) => format!("{variable}{value}"),
            Origin::File(place) | Origin::Profile(_, Some(place)) => at(place),
            Origin::Profile(name, None) => format!("profile {name}: {}{value}", self.name),
        }
    }

    /// The error that this value was refused for `reason`.
    pub fn refused(&self, which: usize, reason: &str) -> Error {
        Error::usage(format!("{}: {reason}", self.shown(which)))
    }
}
