//! From what was typed about limits and detection to what the watcher goes by.

use crate::cli::{ActivityArg, DetectArgs, LimitArgs};
use crate::error::Error;
use crate::profiles;
use crate::watch::{ActivityKind, Counting, LoopPolicy, Pattern, Policy, Profile};

/// The policy for a command with these words, as far as limits and detection decide it.
pub fn policy<'w>(
    limits: &LimitArgs,
    detect: &DetectArgs,
    command: impl IntoIterator<Item = &'w str>,
) -> Result<Policy, Error> {
    Ok(Policy {
        idle: limits.idle.0,
        timeout: limits.timeout.0,
        first_output: limits.first_output.0,
        max_idle: limits.max_idle.0,
        done: patterns("done", limits.done.as_slice())?.pop(),
        done_idle: limits.done_idle,
        warn: limits.warn,
        activity: match detect.activity {
            ActivityArg::Screen => ActivityKind::Screen,
            ActivityArg::Bytes => ActivityKind::Bytes,
        },
        counting: Counting::new(patterns("ignore", &detect.ignore)?, patterns("only", &detect.only)?),
        loops: LoopPolicy {
            count: usize::from(detect.loop_count),
            lasting: detect.loop_for.0,
            patterns: patterns("loop-pattern", &detect.loop_pattern)?,
        },
        waiting: patterns("waiting", &detect.waiting)?,
        profile: profile(&detect.profile, command)?,
        ..Policy::default()
    })
}

fn patterns(option: &str, sources: &[String]) -> Result<Vec<Pattern>, Error> {
    let check = |source: &String| {
        Pattern::checked(source)
            .map_err(|error| Error::usage(format!("--{option} '{source}' is not a regular expression: {error}")))
    };
    sources.iter().map(check).collect()
}

fn profile<'w>(name: &str, command: impl IntoIterator<Item = &'w str>) -> Result<Option<Profile>, Error> {
    match name {
        "none" => Ok(None),
        "auto" => Ok(profiles::by_command(command)),
        _ => profiles::by_name(name).map(Some).ok_or_else(|| {
            let known: Vec<&str> = profiles::names().collect();
            Error::usage(format!("no profile is called '{name}'; there are {}, auto and none", known.join(", ")))
        }),
    }
}
