//! How each value is written, and what to say where it is not.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::exit::Reason;
use crate::report::Format;
use crate::signal::Signal;
use crate::span;
use crate::watch::{Guard, Pattern, Size, Step, parse_ladder, typeable};

/// A duration, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub Option<Duration>);

/// A ladder, as one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LadderArg(pub Vec<Step>);

/// A reason and the code to use for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode {
    /// The reason.
    pub reason: Reason,
    /// The code.
    pub code: u8,
}

impl FromStr for ExitCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Reason::OURS.map(Reason::name).join(", ");
        let (name, code) = text.split_once('=').ok_or("write REASON=N, as in idle_timeout=75")?;
        let reason = Reason::OURS.into_iter().find(|reason| reason.name() == name);
        let reason = reason.ok_or_else(|| format!("unknown reason '{name}'; use one of {}", names()))?;
        let least = u8::from(reason != Reason::Completed);
        let use_one = format!("use a number from {least} to 255");
        let code = code.parse().map_err(|_| format!("'{code}' is not an exit code; {use_one}"))?;
        if code < least {
            return Err(format!("0 would report '{name}' as a success; {use_one}"));
        }
        Ok(Self { reason, code })
    }
}

/// Where the events go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventsTo {
    /// To this file, at its end.
    File(PathBuf),
    /// To this descriptor, which idlewatch was started with.
    Descriptor(i32),
}

/// Only a configuration file can hold a null byte, and no program and no file can be given one.
fn can_be_passed(text: &str) -> Result<(), String> {
    if text.contains('\0') {
        return Err("it contains a null byte; remove it".to_owned());
    }
    Ok(())
}

pub(super) fn events(text: &str) -> Result<EventsTo, String> {
    can_be_passed(text)?;
    match text.strip_prefix("fd:") {
        None if text.is_empty() => Err("name a file or a descriptor, as in events.jsonl or fd:3".to_owned()),
        None => Ok(EventsTo::File(text.into())),
        Some(number) => match number.parse() {
            Ok(number) if number >= 0 => Ok(EventsTo::Descriptor(number)),
            _ => Err(format!("'{number}' is not a descriptor; write fd:N, as in fd:3")),
        },
    }
}

/// Where the report goes, and in which form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportTo {
    /// The file.
    pub path: PathBuf,
    /// The form that its name asks for.
    pub format: Format,
}

pub(super) fn report(text: &str) -> Result<ReportTo, String> {
    can_be_passed(text)?;
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| Format::of(extension.to_str()?)) {
        Some(format) => Ok(ReportTo { path, format }),
        None => Err("the extension chooses the format; use .md, .json or .html".to_owned()),
    }
}

pub(super) fn exit_code(text: &str) -> Result<ExitCode, String> {
    text.parse()
}

pub(super) fn guard(text: &str) -> Result<Guard, String> {
    can_be_passed(text)?;
    if text == "none" || text == "off" {
        return Err(format!("unknown guard '{text}'; to disable guards, use --no-guard (in a file: no-guard = true)"));
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let several = parts.len() > 1 && parts.iter().all(|part| part.parse::<Guard>().is_ok());
    text.parse().map_err(|error| {
        if several {
            let (typed, listed) = (parts.join(" --guard "), parts.join("\", \""));
            format!("give each guard separately, as in --guard {typed} (in a file: guard = [\"{listed}\"])")
        } else {
            error
        }
    })
}

pub(super) fn signal(text: &str) -> Result<Signal, String> {
    text.parse()
}

pub(super) fn ladder(text: &str) -> Result<LadderArg, String> {
    can_be_passed(text)?;
    parse_ladder(text).map(LadderArg).map_err(|error| {
        // What comes after a comma in the text of another step is taken for a step.
        let in_a_text = error.starts_with("unknown step") && (text.contains("nudge:") || text.contains("run:"));
        if in_a_text { format!("{error}; write a comma within a text as \\,") } else { error }
    })
}

/// A ladder that is over with its first stop. Only where a person is waited for is that step left out, and the next taken.
pub(super) fn final_ladder(text: &str) -> Result<LadderArg, String> {
    let LadderArg(steps) = ladder(text)?;
    let end = steps.iter().position(|step| matches!(step, Step::Stop | Step::Relaunch));
    match end.and_then(|end| Some((&steps[end], steps.get(end + 1)?))) {
        Some((end, never)) => {
            Err(format!("'{never}' would never run: '{end}' ends the ladder; move it before '{end}', or remove it"))
        }
        None => Ok(LadderArg(steps)),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it stands where every parser of a value stands")]
pub(super) fn text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// A regular expression by which something is recognised: one that is found everywhere would recognise everything.
pub(super) fn regex(text: &str) -> Result<Pattern, String> {
    match any_regex(text)? {
        pattern if pattern.is_anywhere() => {
            Err("it matches the empty string, and so every line; make it require something, as in x+ for x*".to_owned())
        }
        pattern => Ok(pattern),
    }
}

/// Compiled here and now: what a person wrote is checked before anything starts.
pub(super) fn any_regex(text: &str) -> Result<Pattern, String> {
    if text.is_empty() {
        return Err("the pattern is empty; write a regular expression such as '^all done'".to_owned());
    }
    Pattern::checked(text).map_err(|error| {
        // The message comes with a drawing of several lines; what is wrong is in the last.
        let reason = error.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let reason = reason.trim().trim_start_matches("error: ").trim_end_matches('.');
        if reason.contains("size limit") {
            return "the regular expression is too large; use smaller repetition counts".to_owned();
        }
        format!("not a regular expression: {reason}; to match a character such as ( or [ itself, put \\ before it")
    })
}

pub(super) fn shell(text: &str) -> Result<String, String> {
    can_be_passed(text)?;
    if text.trim().is_empty() {
        return Err("the command is empty; write one such as 'claude --continue', or omit the option".to_owned());
    }
    Ok(text.to_owned())
}

pub(super) fn nudge_text(text: &str) -> Result<String, String> {
    typeable(text)
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    span::parse(text).map_err(|error| format!("{error}; write 90s, 5m or '1h 30m'"))
}

pub(super) fn positive(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("zero would change nothing; write 90s, 5m or '1h 30m'".to_owned()),
        some => Ok(some),
    }
}

pub(super) fn limit(text: &str) -> Result<Limit, String> {
    match text {
        "off" => Ok(Limit(None)),
        _ => match span::parse(text) {
            Ok(Duration::ZERO) => Err("a limit of zero would expire at once; use 'off' for no limit".to_owned()),
            Ok(duration) => Ok(Limit(Some(duration))),
            Err(error) => Err(format!("{error}; write 90s, 5m, '1h 30m' or off")),
        },
    }
}

/// How often something is done again and again, or `off`.
pub(super) fn period(text: &str) -> Result<Limit, String> {
    if span::parse(text).is_ok_and(|period| period < SHORTEST_PERIOD) {
        return Err("too short; use 1ms or more, or 'off' for never".to_owned());
    }
    limit(text)
}

/// The shortest of them.
const SHORTEST_PERIOD: Duration = Duration::from_millis(1);

pub(super) fn size(text: &str) -> Result<Size, String> {
    let parts = text.split_once(['x', 'X']).and_then(|(cols, rows)| Some((cols.parse().ok()?, rows.parse().ok()?)));
    match parts {
        Some((cols, rows)) if (1..=1000).contains(&cols) && (1..=1000).contains(&rows) => Ok(Size { cols, rows }),
        _ => Err("not a size; write COLSxROWS, as in 80x24, each from 1 to 1000".to_owned()),
    }
}

pub(super) fn percent(text: &str) -> Result<u8, String> {
    within(text, 1, 100)
}

pub(super) fn cycles(text: &str) -> Result<u16, String> {
    within(text, 2, u16::MAX)
}

pub(super) fn number(text: &str) -> Result<u32, String> {
    within(text, 0, u32::MAX)
}

/// How many nudges: each is a step of a ladder.
pub(super) fn nudges(text: &str) -> Result<u32, String> {
    within(text, 0, 1000)
}

fn within<N: FromStr + PartialOrd + Copy + std::fmt::Display>(text: &str, least: N, most: N) -> Result<N, String> {
    match text.parse() {
        Ok(number) if number >= least && number <= most => Ok(number),
        _ => Err(format!("not a number from {least} to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_value_is_told_what_would_be_right() {
        assert!(limit("banana").unwrap_err().contains("write 90s"));
        assert!(limit("9999999999999999999s").unwrap_err().contains("hundred years"));
        assert!(duration("101years").unwrap_err().contains("hundred years"));
        assert!(limit("0s").unwrap_err().contains("'off'"));
        assert!(percent("0").unwrap_err().contains("from 1 to 100"));
        assert!(cycles("1").unwrap_err().contains("from 2 to"));
        assert!(nudges("4294967295").unwrap_err().contains("from 0 to 1000"));
        assert!(period("1ns").unwrap_err().contains("1ms") && period("off") == Ok(Limit(None)));
        assert!(period("0s").unwrap_err().contains("1ms or more, or 'off' for never"));
        for wrong in [shell("a\0b").unwrap_err(), ladder("run:a\0b").unwrap_err(), guard("file:a\0b").unwrap_err()] {
            assert!(wrong.contains("null byte"), "{wrong}");
        }
        assert!(number("-1").unwrap_err().contains("from 0 to"));
        assert!(ladder("nudge:yes, go on,stop").unwrap_err().ends_with(r"write a comma within a text as \,"));
        assert!(!ladder("warn,fly").unwrap_err().contains("comma"));
        assert!(final_ladder("warn,stop,kill").unwrap_err().contains("'kill' would never run: 'stop' ends the ladder"));
        assert!(final_ladder("relaunch,stop").unwrap_err().contains("'relaunch' ends the ladder"));
        assert!(final_ladder("term,wait:1s,kill,stop").is_ok() && ladder("stop,warn").is_ok());
        assert!(size("80").unwrap_err().contains("80x24"));
        assert!(nudge_text(" ").unwrap_err().contains("nothing to type"));
        for wrong in ["report", "report.txt", ".md", "", "folder/"] {
            assert!(report(wrong).unwrap_err().contains(".md, .json or .html"));
        }
        assert_eq!(report("a/b.HTML").unwrap().format, Format::Html);
        assert!(exit_code("foo=300").unwrap_err().contains("idle_timeout"));
        assert!(exit_code("loop=300").unwrap_err().contains("from 1 to 255"));
        assert!(exit_code("completed=300").unwrap_err().contains("from 0 to 255"));
        assert!(exit_code("cannot_run=3").unwrap_err().contains("unknown reason"));
        assert!(guard("cpu,io").unwrap_err().contains("--guard cpu --guard io"));
        assert!(guard("none").unwrap_err().contains("no-guard"));
        assert!(guard("file:a,b").is_ok() && guard("cmd:echo a,cpu").is_ok());
        assert!(exit_code("loop=0").unwrap_err().contains("from 1 to 255"));
    }

    #[test]
    fn a_regular_expression_is_refused_in_one_line() {
        let unclosed = regex("(").unwrap_err();
        assert!(unclosed.contains("unclosed group") && !unclosed.contains('\n'), "{unclosed}");
        let large = regex(r"(\w{1000}){1000}").unwrap_err();
        assert!(large.contains("too large") && !large.contains('\n'), "{large}");
    }

    #[test]
    fn a_regular_expression_that_is_found_everywhere_is_refused() {
        for nothing in [regex(""), any_regex("")] {
            assert!(nothing.unwrap_err().contains("the pattern is empty"));
        }
        for everywhere in ["x*", "^", "(a|b)?", ".*", r"^\s*$"] {
            assert!(regex(everywhere).unwrap_err().contains("every line"), "{everywhere}");
        }
        // To take out what is not there does no harm.
        assert!(any_regex("x*").is_ok() && any_regex(".*text.*").is_ok() && regex(".+").is_ok());
    }
}
