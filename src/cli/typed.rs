//! A command line as it was typed, which can be read again with options from elsewhere in front of it.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, Parser};

use super::refusal::{reason, refusal};
use super::{ReplayCli, RunCli};
use crate::error::Error;
use crate::layers::{Origin, Setting};

/// A command line: that of a run, or that of `replay`.
pub trait Arguments: Parser {
    /// Whether it has every option there is.
    const HAS_ALL: bool;

    /// The options that lower layers may set here.
    fn shared(option: &Known) -> bool;

    /// The configuration file that was named.
    fn config(&self) -> Option<&Path>;

    /// The profile that was asked for.
    fn profile(&self) -> &str;
}

impl Arguments for RunCli {
    const HAS_ALL: bool = true;

    fn shared(_: &Known) -> bool {
        true
    }

    fn config(&self) -> Option<&Path> {
        self.source.config.as_deref()
    }

    fn profile(&self) -> &str {
        &self.detect.profile
    }
}

impl Arguments for ReplayCli {
    const HAS_ALL: bool = false;

    /// Limits and detection. Its switches say how to print, which a run's do not.
    fn shared(option: &Known) -> bool {
        option.kind != Kind::Switch
    }

    fn config(&self) -> Option<&Path> {
        self.source.config.as_deref()
    }

    fn profile(&self) -> &str {
        &self.detect.profile
    }
}

/// An option, as far as the layers have to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name, without the dashes.
    pub name: String,
    /// What it takes.
    pub kind: Kind,
    /// The options it cannot stand together with.
    pub rivals: Vec<String>,
    /// Whether it has a value where nobody gives one.
    pub has_default: bool,
    /// A value as it may be written; of a switch, nothing.
    pub example: String,
    /// The heading it stands under in the help.
    pub heading: String,
    id: String,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing: it is on or off.
    Switch,
    /// One value.
    One,
    /// Any number of values.
    Many,
}

/// Options that only the command line can have: they say where to read from, or to do something else instead.
const ONLY_TYPED: [&str; 4] = ["config", "print-config", "help", "version"];

/// The options that can be set in any layer.
pub fn known<C: Arguments>() -> Vec<Known> {
    describe::<C>(&C::command())
}

fn is_settable(arg: &Arg) -> bool {
    arg.get_long().is_some_and(|name| !ONLY_TYPED.contains(&name))
}

fn describe<C: Arguments>(command: &Command) -> Vec<Known> {
    let long = |arg: &Arg| arg.get_long().map(ToOwned::to_owned);
    let mut all: Vec<Known> = command
        .get_arguments()
        .filter(|arg| is_settable(arg))
        .map(|arg| Known {
            name: long(arg).unwrap_or_default(),
            kind: match arg.get_action() {
                ArgAction::SetTrue => Kind::Switch,
                ArgAction::Append => Kind::Many,
                _ => Kind::One,
            },
            rivals: command.get_arg_conflicts_with(arg).into_iter().filter_map(long).collect(),
            has_default: !arg.get_default_values().is_empty(),
            example: example(arg),
            heading: arg.get_help_heading().unwrap_or_default().to_owned(),
            id: arg.get_id().to_string(),
        })
        .filter(C::shared)
        .collect();
    // A conflict is declared on one side and holds for both.
    let declared: Vec<(String, Vec<String>)> =
        all.iter().map(|option| (option.name.clone(), option.rivals.clone())).collect();
    for option in &mut all {
        let others = declared.iter().filter(|(_, rivals)| rivals.contains(&option.name));
        option.rivals.extend(others.map(|(name, _)| name.clone()));
    }
    all
}

/// A value as it may be written for this option.
fn example(arg: &Arg) -> String {
    let name = arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    let default = arg.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
    match name {
        "DUR" => "5m".to_owned(),
        "REGEX" => "^all done".to_owned(),
        "STEPS" => "warn,stop".to_owned(),
        "TEXT" => "go on".to_owned(),
        "CMD" => "claude --continue".to_owned(),
        "REASON=N" => "timeout=75".to_owned(),
        "COLSxROWS" => "80x24".to_owned(),
        "FILE.cast" => "run.cast".to_owned(),
        "FILE.json" => "tasks.json".to_owned(),
        "FILE" if arg.get_id() == "report" => "report.html".to_owned(),
        "FILE" => "events.jsonl".to_owned(),
        "N" => default.unwrap_or_else(|| "2".to_owned()),
        _ => default.unwrap_or_else(|| name.to_ascii_lowercase()),
    }
}

/// A command line that was understood.
pub struct Typed<C> {
    /// What it says.
    pub cli: C,
    args: Vec<OsString>,
    matches: ArgMatches,
    command: Command,
}

impl<C: fmt::Debug> fmt::Debug for Typed<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed").field("cli", &self.cli).finish_non_exhaustive()
    }
}

impl<C: Arguments> Typed<C> {
    /// Reads `args`, of which the first is the name of the program.
    pub fn new(args: Vec<OsString>) -> Result<Self, Error> {
        Self::read(C::command(), args).map_err(|error| refusal(&error))
    }

    fn read(mut command: Command, args: Vec<OsString>) -> Result<Self, clap::Error> {
        let matches = command.try_get_matches_from_mut(&args)?;
        let cli = C::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        Ok(Self { cli, args, matches, command })
    }

    /// The options that lower layers may set.
    pub fn options(&self) -> Vec<Known> {
        describe::<C>(&self.command)
    }

    /// The names of the options that were typed, of those that lower layers have too.
    pub fn names(&self) -> Vec<String> {
        let typed = |arg: &&Arg| self.matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        let options = self.command.get_arguments().filter(|arg| is_settable(arg)).filter(typed);
        options.filter_map(|arg| arg.get_long().map(ToOwned::to_owned)).collect()
    }

    /// The values of this option, typed or by default, as they are written.
    pub fn values(&self, option: &Known) -> Vec<String> {
        let raw = self.matches.get_raw(&option.id).into_iter().flatten();
        raw.map(|value| value.to_string_lossy().into_owned()).collect()
    }

    /// Whether this switch is on.
    pub fn is_on(&self, option: &Known) -> bool {
        option.kind == Kind::Switch && self.matches.get_flag(&option.id)
    }

    /// Reads the command line again with `settings` in front of what was typed.
    pub fn with(self, settings: &[Setting]) -> Result<Self, Error> {
        let mut args: Vec<OsString> = self.args[..1].to_vec();
        args.extend(settings.iter().flat_map(Setting::arguments));
        if args.len() == 1 {
            return Ok(self);
        }
        args.extend_from_slice(&self.args[1..]);
        // The command is built by now, which is most of the work of a first reading.
        Self::read(self.command, args)
            .map_err(|error| blame::<C>(settings, &self.args[..1]).unwrap_or_else(|| refusal(&error)))
    }
}

/// Refuses the first value in `layers` that is none, whether or not this run goes by it. Each layer is read by itself:
/// what contradicts something in another one stands for another run.
pub fn check_values<'s>(layers: impl IntoIterator<Item = &'s [Setting]>) -> Result<(), Error> {
    let mut command = RunCli::command();
    let program = [OsString::from("idlewatch")];
    for settings in layers {
        let values = settings.iter().flat_map(Setting::arguments);
        let args = program.iter().cloned().chain(values).chain(["--", "x"].map(OsString::from));
        if let Err(error) = command.try_get_matches_from_mut(args) {
            return Err(blame::<RunCli>(settings, &program).unwrap_or_else(|| refusal(&error)));
        }
    }
    Ok(())
}

/// Finds the setting that was refused, so that the message can say where it stands.
fn blame<C: Arguments>(settings: &[Setting], program: &[OsString]) -> Option<Error> {
    let refused = |arguments: &[OsString]| {
        let mut args = program.to_vec();
        args.extend_from_slice(arguments);
        // Something for the command or the recording that the command line cannot be without.
        args.extend(["--", "x"].map(OsString::from));
        Typed::<C>::read(C::command(), args).err()
    };
    let options = known::<C>();
    let many = |setting: &Setting| {
        matches!(setting.origin, Origin::Environment(_))
            && options.iter().any(|option| option.name == setting.name && option.kind == Kind::Many)
    };
    settings.iter().enumerate().find_map(|(index, setting)| {
        let arguments = setting.arguments();
        let value = arguments.iter().enumerate().find_map(|(which, argument)| {
            refused(std::slice::from_ref(argument)).map(|error| {
                let hint = if many(setting) { "; put several values on separate lines" } else { "" };
                setting.refused(which, &format!("{}{hint}", reason(&error)))
            })
        });
        let rival = || {
            settings[..index].iter().find_map(|other| {
                let mut both = other.arguments();
                both.extend_from_slice(&arguments);
                refused(&both).map(|_| {
                    let reason = format!("cannot be used with {}; remove one of them", other.shown(0));
                    setting.refused(0, &reason)
                })
            })
        };
        value.or_else(rival)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_known_by_name_kind_and_rivals() {
        let all = known::<RunCli>();
        let find = |name: &str| all.iter().find(|option| option.name == name).unwrap();
        assert_eq!(find("idle").kind, Kind::One);
        assert_eq!(find("loop").kind, Kind::One);
        assert_eq!(find("nudge").kind, Kind::Many);
        assert_eq!(find("quiet").kind, Kind::Switch);
        assert_eq!(find("guard").rivals, ["no-guard"]);
        assert_eq!(find("no-guard").rivals, ["guard"]);
        assert_eq!(find("verbose").rivals, ["quiet"]);
        assert!(all.iter().all(|option| !ONLY_TYPED.contains(&option.name.as_str())));
    }

    #[test]
    fn every_example_of_a_value_is_one() {
        for option in known::<RunCli>().iter().filter(|option| option.kind != Kind::Switch) {
            let argument = format!("--{}={}", option.name, option.example);
            let args = ["idlewatch", &argument, "--", "true"].map(OsString::from).to_vec();
            assert!(Typed::<RunCli>::new(args).is_ok(), "{argument}");
        }
    }

    #[test]
    fn the_command_lines_are_sound() {
        RunCli::command().debug_assert();
        ReplayCli::command().debug_assert();
        super::super::whole_command().debug_assert();
    }
}
