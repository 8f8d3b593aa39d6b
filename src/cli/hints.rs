//! What the completions offer for values that are more than one of a few words.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

use crate::exit::Reason;
use crate::profiles;
use crate::signal::Signal;

/// Reads with `parse`, and tells the completions of the words in `words`.
pub(super) fn hinted<P>(parse: P, words: fn() -> Vec<&'static str>) -> Hinted<P> {
    Hinted { parse, words }
}

/// A parser of values with words to offer, which are not all that it takes.
#[derive(Debug, Clone)]
pub(super) struct Hinted<P> {
    parse: P,
    words: fn() -> Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for Hinted<P> {
    type Value = P::Value;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &std::ffi::OsStr) -> Result<P::Value, Error> {
        self.parse.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.words)().into_iter().map(PossibleValue::new)))
    }
}

pub(super) fn profiles() -> Vec<&'static str> {
    profiles::names().chain(["auto", "none"]).collect()
}

pub(super) fn guards() -> Vec<&'static str> {
    ["cpu", "disk", "net", "turn", "io", "children", "file:", "cmd:"].to_vec()
}

pub(super) fn reasons() -> Vec<&'static str> {
    Reason::OURS.map(Reason::name).to_vec()
}

/// Every way a run can have ended.
pub(super) fn endings() -> Vec<&'static str> {
    Reason::OURS.map(Reason::name).into_iter().chain(["exited"]).collect()
}

pub(super) fn signals() -> Vec<&'static str> {
    Signal::names().collect()
}

pub(super) fn steps() -> Vec<&'static str> {
    let words = ["warn", "nudge", "wait:", "key:", "int", "term", "hup", "quit", "kill", "signal:", "run:"];
    words.into_iter().chain(["prompt", "relaunch", "stop"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::{Guard, Step};

    #[test]
    fn every_word_that_is_offered_is_known() {
        let whole = |word: &&str| !word.ends_with(':');
        assert!(guards().iter().filter(|word| whole(word)).all(|word| word.parse::<Guard>().is_ok()));
        assert!(steps().iter().filter(|word| whole(word)).all(|word| word.parse::<Step>().is_ok()));
        assert!(signals().iter().all(|word| word.parse::<Signal>().is_ok()));
        assert!(
            steps()
                .iter()
                .filter(|word| !whole(word))
                .all(|word| { !word.trim_end_matches(':').parse::<Step>().unwrap_err().contains("unknown step") })
        );
    }
}
