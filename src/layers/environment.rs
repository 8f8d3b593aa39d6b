//! Options from `IDLEWATCH_<NAME>` variables.

use std::ffi::OsString;
use std::path::PathBuf;

use super::nearest::nearest;
use super::setting::{Given, Origin, Setting};
use crate::cli::{Kind, Known};
use crate::error::Error;
use crate::variables;

const PREFIX: &str = "IDLEWATCH_";

/// The variable that stands for an option.
pub fn variable(option: &str) -> String {
    format!("{PREFIX}{}", option.to_ascii_uppercase().replace('-', "_"))
}

/// Whether the environment says nothing, as far as a look without the options can tell.
pub fn is_empty() -> bool {
    !variables::all().any(|variable| variable.to_bytes().starts_with(PREFIX.as_bytes()))
}

/// What the environment says.
#[derive(Debug, Default)]
pub struct Environment {
    /// The options it sets.
    pub settings: Vec<Setting>,
    /// The configuration file it names.
    pub config: Option<PathBuf>,
}

impl Environment {
    /// Reads `variables`. One that is empty counts as not set, as everywhere in a shell.
    pub fn read(known: &[Known], variables: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self, Error> {
        let mut found = Self::default();
        for (name, value) in variables {
            let Some(word) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
            if value.is_empty() {
                continue;
            }
            if word == "CONFIG" {
                found.config = Some(value.into());
                continue;
            }
            if word == "PRINT_CONFIG" {
                return Err(Error::usage(format!(
                    "{PREFIX}{word} has no effect; use --print-config, which works on the command line only"
                )));
            }
            let option = word.to_ascii_lowercase().replace('_', "-");
            match known.iter().find(|known| known.name == option && variable(&known.name).ends_with(word)) {
                Some(known) => found.settings.push(setting(known, &value)?),
                None => refuse_slip(&option, word, known)?,
            }
        }
        Ok(found)
    }
}

/// A variable we do not know may be somebody else's; one that is nearly ours is a slip, and the limit it was meant to
/// set would silently not be there.
fn refuse_slip(option: &str, word: &str, known: &[Known]) -> Result<(), Error> {
    match nearest(option, known.iter().map(|known| known.name.as_str())) {
        Some(near) => {
            Err(Error::usage(format!("{PREFIX}{word}: unknown option '{option}'; did you mean {}?", variable(near))))
        }
        None => Ok(()),
    }
}

fn setting(known: &Known, value: &OsString) -> Result<Setting, Error> {
    let mut setting = Setting {
        name: known.name.clone(),
        given: Given::Values(vec![value.to_string_lossy().into_owned()]),
        origin: Origin::Environment(variable(&known.name)),
        lines: Vec::new(),
    };
    let Some(text) = value.to_str() else {
        return Err(setting.refused(0, "not valid UTF-8; write it in UTF-8"));
    };
    setting.given = match known.kind {
        Kind::One => Given::Values(vec![text.to_owned()]),
        // A comma may be part of any of these values; the end of a line is part of none.
        Kind::Many => Given::Values(text.lines().filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect()),
        Kind::Switch => match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Given::Switch(true),
            "0" | "false" | "no" | "off" => Given::Switch(false),
            _ => return Err(setting.refused(0, "not a switch value; use 1, true, yes or on, or 0, false, no or off")),
        },
    };
    Ok(setting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{RunCli, known};

    fn read(name: &str, value: &str) -> Result<Environment, Error> {
        Environment::read(&known::<RunCli>(), [(name.into(), value.into())])
    }

    #[test]
    fn a_variable_is_an_option() {
        let setting = |name: &str, value: &str| read(name, value).unwrap().settings.remove(0);
        assert_eq!(setting("IDLEWATCH_MAX_IDLE", "1h").arguments(), ["--max-idle=1h"]);
        assert_eq!(setting("IDLEWATCH_NUDGE", "a, b\nc").arguments(), ["--nudge=a, b", "--nudge=c"]);
        assert_eq!(setting("IDLEWATCH_QUIET", "Yes").given, Given::Switch(true));
        assert_eq!(setting("IDLEWATCH_QUIET", "0").given, Given::Switch(false));
    }

    #[test]
    fn a_slip_is_refused_and_a_stranger_is_not() {
        assert!(read("IDLEWATCH_IDEL", "1h").unwrap_err().to_string().contains("did you mean IDLEWATCH_IDLE?"));
        for stranger in ["IDLEWATCH_BLESS", "IDLEWATCH_TEST_REQUIRE_ALL", "IDLEWATCH_RUN", "OTHER_IDLE", "IDLEWATCH_"] {
            assert!(read(stranger, "1").unwrap().settings.is_empty(), "{stranger}");
        }
        assert!(read("IDLEWATCH_IDLE", "").unwrap().settings.is_empty());
    }

    #[test]
    fn a_switch_has_its_words() {
        let error = read("IDLEWATCH_QUIET", "maybe").unwrap_err().to_string();
        assert!(error.contains("IDLEWATCH_QUIET 'maybe'") && error.contains("yes"), "{error}");
    }
}
