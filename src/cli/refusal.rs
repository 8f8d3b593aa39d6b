//! What clap says of a wrong command line, in our words: the value, the reason, and what would be right.

use std::borrow::Cow;
use std::ffi::OsString;
use std::process::exit;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::Error;
use crate::report::taken;

/// The error as one line. Help and the version are no errors: they are printed, and the process ends.
pub(super) fn refusal(error: &clap::Error) -> Error {
    if error.use_stderr() {
        return Error::usage(words(error));
    }
    match taken("the help", error.print()) {
        Ok(()) => exit(0),
        Err(error) => error,
    }
}

/// Why a single value was refused, without the name of its option.
pub(super) fn reason(error: &clap::Error) -> String {
    match error.kind() {
        ErrorKind::ValueValidation => source(error),
        ErrorKind::InvalidValue => not_one_of(error),
        _ => words(error),
    }
}

fn words(error: &clap::Error) -> String {
    let (option, value) = (option(error), visible(&context(error, ContextKind::InvalidValue)));
    match error.kind() {
        ErrorKind::InvalidValue | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues if value.is_empty() => {
            let written = context(error, ContextKind::InvalidArg);
            let choice = choice(error);
            let choice = if choice.is_empty() { "see idlewatch --help".to_owned() } else { choice };
            format!("{option} needs a value, as in '{}'; {choice}", written.replace(['<', '>'], ""))
        }
        ErrorKind::InvalidValue => format!("{option} '{value}': {}", not_one_of(error)),
        ErrorKind::ValueValidation => format!("{option} '{value}': {}", source(error)),
        ErrorKind::UnknownArgument => unknown(error),
        ErrorKind::ArgumentConflict => {
            let other = context(error, ContextKind::PriorArg);
            format!("{option} cannot be used with {}; remove one of them", first(&other))
        }
        ErrorKind::TooManyValues => format!("{option} takes no value, but got '{value}'; write {option} alone"),
        ErrorKind::InvalidUtf8 => not_utf8(std::env::args_os().skip(1)),
        ErrorKind::MissingRequiredArgument if context(error, ContextKind::InvalidArg).contains("FILE.cast") => {
            "no recording given; put it last, as in: idlewatch replay --idle 5m run.cast".to_owned()
        }
        ErrorKind::MissingRequiredArgument if context(error, ContextKind::InvalidArg).contains("<DUR>") => {
            "no duration given; put it last, as in: idlewatch ctl extend 15m".to_owned()
        }
        ErrorKind::MissingRequiredArgument if context(error, ContextKind::InvalidArg).contains("<TEXT>") => {
            "no text given; put it last, as in: idlewatch ctl nudge 'go on'".to_owned()
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            let command = super::ctl_command();
            let verbs: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            format!("ctl needs a verb; use one of {}", verbs.join(", "))
        }
        ErrorKind::InvalidSubcommand => {
            let near = context(error, ContextKind::SuggestedSubcommand);
            let hint = if near.is_empty() {
                "see idlewatch ctl --help".to_owned()
            } else {
                format!("did you mean '{}'?", near.replace(", ", "' or '"))
            };
            format!("ctl has no verb '{}'; {hint}", visible(&context(error, ContextKind::InvalidSubcommand)))
        }
        ErrorKind::MissingRequiredArgument => {
            "no command given; put it last, as in: idlewatch --idle 5m -- make all".to_owned()
        }
        _ => {
            let text = error.to_string();
            text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    }
}

/// The first word that is not UTF-8 has to be the value of an option, or one of those that `ctl` takes: the command's own
/// words may be anything, and come last. The parser does not say which.
fn not_utf8(words: impl Iterator<Item = OsString>) -> String {
    let words: Vec<OsString> = words.collect();
    let words: Vec<Cow<'_, str>> = words.iter().map(|word| word.to_string_lossy()).collect();
    let Some(at) = words.iter().position(|word| matches!(word, Cow::Owned(_))) else {
        return "the value of an option is not valid UTF-8; write it in UTF-8".to_owned();
    };
    let (before, word) = words[..at].split_last().map_or(("", &*words[at]), |(before, _)| (&**before, &*words[at]));
    let taken = taken_by_ctl(&words, at);
    let (name, value) = match (word.split_once('='), word.split_at_checked(2), &taken) {
        (Some((option, value)), ..) if option.starts_with("--") => (option, value),
        (_, Some((option, value)), _) if option.starts_with('-') => (option, value),
        (.., Some(name)) => (name.as_str(), word),
        _ => (before, word),
    };
    format!("{name} '{}': not valid UTF-8; write it in UTF-8", visible(value))
}

/// What the help of `ctl` calls the word in this place, such as RUN or TEXT. Where some are left out, they are the first.
fn taken_by_ctl(words: &[Cow<'_, str>], at: usize) -> Option<String> {
    let command = super::ctl_command();
    let (_, after) = words.split_first().filter(|(first, _)| *first == "ctl")?;
    let place = after.iter().position(|word| !word.starts_with('-'))?;
    let verb = command.find_subcommand(&*after[place])?;
    let takes: Vec<&clap::Arg> = verb.get_positionals().collect();
    let behind = words[at + 1..].iter().filter(|word| !word.starts_with('-')).count();
    let index = takes.len().checked_sub(behind + 1)?;
    takes[index].get_value_names()?.first().map(ToString::to_string)
}

/// Something that has no place there: an option that does not exist, or a word too many.
fn unknown(error: &clap::Error) -> String {
    let word = visible(&context(error, ContextKind::InvalidArg));
    if !word.starts_with('-') || word == "-" {
        return format!("unexpected argument '{word}'; usage: {}", usage(error));
    }
    if word[1..].starts_with(|letter: char| letter.is_ascii_digit()) {
        return match verb(error) {
            Some("ctl") => {
                format!("unknown option '{word}'; neither a run nor a duration starts with -, write 3f2a or 15m")
            }
            _ => format!("unknown option '{word}'; no value can be negative, write 90s, 5m or 3"),
        };
    }
    let hint = match context(error, ContextKind::SuggestedArg) {
        near if near.is_empty() => match verb(error) {
            Some(verb) => format!("see idlewatch {verb} --help"),
            None => "see idlewatch --help, and put -- before a command that starts with -".to_owned(),
        },
        near => format!("did you mean '{near}'?"),
    };
    format!("unknown option '{word}'; {hint}")
}

/// How it is written, as the help has it.
fn usage(error: &clap::Error) -> String {
    context(error, ContextKind::Usage).trim_start_matches("Usage: ").trim().to_owned()
}

/// The verb, where it is not a run.
fn verb(error: &clap::Error) -> Option<&'static str> {
    let usage = usage(error);
    ["ctl", "replay"].into_iter().find(|verb| usage.split(' ').nth(1) == Some(verb))
}

fn not_one_of(error: &clap::Error) -> String {
    format!("not a valid value; {}", choice(error))
}

/// Which values there are, and which was probably meant.
fn choice(error: &clap::Error) -> String {
    let valid = context(error, ContextKind::ValidValue);
    match context(error, ContextKind::SuggestedValue) {
        _ if valid.is_empty() => String::new(),
        near if near.is_empty() => format!("use one of {valid}"),
        near => format!("did you mean '{near}'? Use one of {valid}"),
    }
}

fn source(error: &clap::Error) -> String {
    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
}

/// The name of what was refused: an option, or a word such as DUR.
fn option(error: &clap::Error) -> String {
    first(&context(error, ContextKind::InvalidArg)).trim_matches(['<', '>', '[', ']']).to_owned()
}

/// `--idle` of `--idle <DUR>`.
fn first(written: &str) -> &str {
    written.split([' ', '=']).next().unwrap_or(written)
}

fn context(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        Some(ContextValue::StyledStr(text)) => text.to_string(),
        _ => String::new(),
    }
}

/// A value as it can be shown: in one line, not too long, and without anything a terminal would obey.
pub(crate) fn visible(value: &str) -> String {
    const MOST: usize = 120;
    let plain =
        |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() };
    let mut shown: String = value.chars().take(MOST).map(plain).collect();
    if value.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}
