//! Options in layers: the command line beats the environment beats the configuration file beats the profile beats the
//! default.
//!
//! What the lower layers say is written in front of what was typed, as arguments, and read by the same parser: one
//! option has one meaning. An option comes wholly from the highest layer that has it, also one that may be repeated.
#![forbid(unsafe_code)]

mod conflict;
mod effect;
mod environment;
mod file;
mod nearest;
mod print;
mod setting;
mod table;

pub use environment::variable;
pub use nearest::nearest;
pub use print::print;
pub use setting::{Given, Origin, Place, Setting};
pub use table::{Source, entries, setting};

use std::path::PathBuf;

use environment::Environment;
use file::ConfigFile;

use crate::cli::{Arguments, Known, RunCli, Typed, known, visible};
use crate::error::Error;
use crate::profiles::{self, Own};
use crate::watch::Profile;

/// A command line with all layers in it.
#[derive(Debug)]
pub struct Resolved<C> {
    /// The command line.
    pub typed: Typed<C>,
    own: Option<Own>,
    settings: Vec<Setting>,
    flags: Vec<String>,
    /// The configuration file that was read.
    file: Option<PathBuf>,
}

impl<C> Resolved<C> {
    /// What is known of the program.
    pub fn profile(&self) -> Option<Profile> {
        self.own.as_ref().map(|own| own.profile.clone())
    }

    /// Where the value of an option comes from.
    pub fn origin(&self, name: &str) -> Origin {
        if self.flags.iter().any(|flag| flag == name) {
            return Origin::Flag;
        }
        self.settings.iter().find(|setting| setting.name == name).map_or(Origin::Default, |found| found.origin.clone())
    }

    /// An option as it was written, with the place of its value number `which`, for a message.
    pub fn named(&self, name: &str, which: usize) -> String {
        let below = self.settings.iter().find(|setting| setting.name == name);
        below.map_or_else(|| format!("--{name}"), |setting| setting.named(which))
    }
}

/// Whether no layer below the command line says anything about a command of these words.
pub fn are_empty<'w>(words: impl IntoIterator<Item = &'w str>) -> bool {
    environment::is_empty() && !file::is_in_usual_place() && !profiles::knows(words)
}

/// Puts all layers together for a command of these words.
pub fn resolve<'w, C: Arguments>(
    typed: Typed<C>,
    words: impl IntoIterator<Item = &'w str> + Clone,
) -> Result<Resolved<C>, Error> {
    let flags = typed.names();
    if typed.cli.config().is_none() && typed.cli.profile() == "auto" && are_empty(words.clone()) {
        return Ok(Resolved { typed, own: None, settings: Vec::new(), flags, file: None });
    }
    let mine = typed.options();
    let all = if C::HAS_ALL { mine.clone() } else { known::<RunCli>() };
    let environment = Environment::read(&all, std::env::vars_os())?;
    let file = match typed.cli.config().or(environment.config.as_deref()) {
        Some(path) => ConfigFile::named(path, &all)?,
        None => ConfigFile::usual(&all)?,
    };

    let mut stack = Stack::new(&mine, &flags);
    stack.add(environment.settings);
    stack.add(file.settings);
    let own = {
        let chosen = stack.taken.iter().find(|setting| setting.name == "profile");
        let name = match chosen.map(|setting| &setting.given) {
            Some(Given::Values(values)) => values.first().cloned().unwrap_or_default(),
            _ => typed.cli.profile().to_owned(),
        };
        profiles::find(&name, words, file.profiles, &all).map_err(|reason| match chosen {
            Some(setting) => setting.refused(0, &reason),
            None => Error::usage(format!("--profile '{}': {reason}", visible(&name))),
        })?
    };
    stack.add(own.iter().flat_map(|own| own.options.clone()).collect());
    let settings = stack.taken;
    Ok(Resolved { typed: typed.with(&settings)?, own, settings, flags, file: file.path })
}

/// The layers that were looked at so far, the highest first.
struct Stack<'k> {
    known: &'k [Known],
    taken: Vec<Setting>,
    /// The options that nothing lower can change any more.
    settled: Vec<String>,
}

impl<'k> Stack<'k> {
    fn new(known: &'k [Known], flags: &[String]) -> Self {
        let mut stack = Self { known, taken: Vec::new(), settled: Vec::new() };
        for flag in flags {
            stack.settle(flag, true);
        }
        stack
    }

    /// Takes from the next lower layer what no higher one has.
    fn add(&mut self, layer: Vec<Setting>) {
        let open = |setting: &Setting| {
            !self.settled.contains(&setting.name) && self.known.iter().any(|option| option.name == setting.name)
        };
        let taken: Vec<Setting> = layer.into_iter().filter(open).collect();
        for setting in &taken {
            self.settle(&setting.name, setting.is_on());
        }
        self.taken.extend(taken);
    }

    /// Lower layers can no longer set this option, nor what would contradict it.
    fn settle(&mut self, name: &str, on: bool) {
        self.settled.push(name.to_owned());
        if let Some(option) = self.known.iter().find(|option| option.name == name && on) {
            self.settled.extend(option.rivals.iter().cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, given: Given) -> Setting {
        Setting { name: name.to_owned(), given, origin: Origin::Default, lines: Vec::new() }
    }

    fn taken(flags: &[&str], layers: Vec<Vec<Setting>>) -> Vec<String> {
        let known = known::<RunCli>();
        let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
        let mut stack = Stack::new(&known, &flags);
        for layer in layers {
            stack.add(layer);
        }
        stack.taken.iter().flat_map(Setting::arguments).map(|argument| argument.into_string().unwrap()).collect()
    }

    fn value(text: &str) -> Given {
        Given::Values(vec![text.to_owned()])
    }

    #[test]
    fn the_highest_layer_that_has_an_option_has_it_wholly() {
        let high = vec![set("ignore", value("a"))];
        let low = vec![set("ignore", value("b")), set("idle", value("1m")), set("warn", value("5"))];
        assert_eq!(taken(&["warn"], vec![high, low]), ["--ignore=a", "--idle=1m"]);
    }

    #[test]
    fn what_contradicts_a_higher_layer_is_left_out() {
        assert!(taken(&["guard"], vec![vec![set("no-guard", Given::Switch(true))]]).is_empty());
        assert!(taken(&["no-guard"], vec![vec![set("guard", value("io"))]]).is_empty());
        let (off, on) = (vec![set("quiet", Given::Switch(false))], vec![set("quiet", Given::Switch(true))]);
        assert!(taken(&[], vec![off.clone(), on]).is_empty());
        assert_eq!(taken(&[], vec![off, vec![set("verbose", Given::Switch(true))]]), ["--verbose"]);
    }
}
