//! `idlewatch ctl history`: the runs of the past.
#![forbid(unsafe_code)]

use std::io::{self, IsTerminal};
use std::time::SystemTime;

use crate::cli::HistoryArgs;
use crate::error::Error;
use crate::report::history::{self, PastRun};
use crate::report::history_table::{Look, table};
use crate::report::{answer, say};

/// How long a command may be where a person reads it.
const LONGEST: usize = 60;

/// Prints the runs that were asked for, as seen at `now`.
pub fn run(cli: &HistoryArgs, json: bool, now: SystemTime) -> Result<(), Error> {
    let Some(folder) = history::folder() else {
        return Err(Error::usage("no history without HOME or XDG_STATE_HOME; set one of them to a directory"));
    };
    let all = history::read(&folder)
        .map_err(|error| Error::internal(format!("cannot read the history in {}: {error}", folder.display())))?;
    let runs = chosen(all, cli, now);
    let text = if json {
        let lines = runs.iter().filter_map(|run| serde_json::to_string(run).ok());
        lines.map(|line| line + "\n").collect()
    } else if runs.is_empty() {
        say("no such run in the history");
        String::new()
    } else {
        table(&runs, now, Look { unicode: is_unicode(), longest: io::stdout().is_terminal().then_some(LONGEST) })
    };
    answer("the history", &text)
}

fn chosen(all: Vec<PastRun>, cli: &HistoryArgs, now: SystemTime) -> Vec<PastRun> {
    let since = cli.since.and_then(|since| now.checked_sub(since));
    let fits = |run: &PastRun| {
        let recent = |since| humantime::parse_rfc3339_weak(&run.at).is_ok_and(|began| began >= since);
        cli.reason.as_ref().is_none_or(|reason| run.reason == *reason)
            && cli.command.as_ref().is_none_or(|text| run.command.join(" ").contains(text))
            && since.is_none_or(recent)
    };
    let mut runs: Vec<PastRun> = all.into_iter().filter(fits).collect();
    let most = usize::try_from(cli.number).unwrap_or(usize::MAX);
    runs.drain(..runs.len().saturating_sub(most));
    runs
}

/// Whether the terminal shows more than ASCII, by the rules of locales.
fn is_unicode() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}
