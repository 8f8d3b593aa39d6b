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

    /// Its name with the place of the value number `which`, for a message.
    pub fn named(&self, which: usize) -> String {
        match &self.origin {
            Origin::Flag | Origin::Default => format!("--{}", self.name),
            Origin::Environment(variable) => variable.clone(),
            Origin::File(place) | Origin::Profile(_, Some(place)) => {
                let line = self.lines.get(which).copied().unwrap_or(place.line);
                format!("{}:{line}: {}", place.path, self.name)
            }
            Origin::Profile(name, None) => format!("profile {name}: {}", self.name),
        }
    }

    /// The same with the value.
    pub fn shown(&self, which: usize) -> String {
        let named = self.named(which);
        match &self.given {
            Given::Values(values) if which < values.len() => format!("{named} '{}'", visible(&values[which])),
            _ => named,
        }
    }

    /// The error that this value was refused for `reason`.
    pub fn refused(&self, which: usize, reason: &str) -> Error {
        Error::usage(format!("{}: {reason}", self.shown(which)))
    }
}
