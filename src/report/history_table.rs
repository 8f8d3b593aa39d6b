//! The history as a table for people.

use std::time::{Duration, SystemTime};

use super::history::PastRun;
use super::quoted::command_line;
use super::timeline::plain;
use crate::watch::span;

/// How many columns the activity takes.
const COLUMNS: usize = 16;
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PLAIN_BARS: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// How the table is to look.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// The reader understands more than ASCII.
    pub unicode: bool,
    /// How long a command may be; none: as long as it is.
    pub longest: Option<usize>,
}

/// These runs as a table, seen at `now`.
pub fn table(runs: &[PastRun], now: SystemTime, look: Look) -> String {
    let mut text = line(["WHEN", "TOOK", "END", "ACTIVITY"], "COMMAND");
    for run in runs {
        let took = span(Duration::from_millis(run.elapsed));
        let command = shortened(&plain(&command_line(&run.command)), look);
        let (when, end, bars) = (when(&run.at, now), plain(&end(run)), bars(&run.activity, look.unicode));
        text.push_str(&line([&when, &took, &end, &bars], &command));
    }
    text
}

fn line(cells: [&str; 4], last: &str) -> String {
    let [when, took, end, activity] = cells;
    let line = format!("{when:<10}  {took:>8}  {end:<13}  {activity:<COLUMNS$}  {last}");
    format!("{}\n", line.trim_end())
}

/// How it ended: the reason where we ended it, else the command's own status.
fn end(run: &PastRun) -> String {
    match (run.reason.as_str(), run.child_status, &run.child_signal) {
        ("exited", Some(0), _) => "ok".to_owned(),
        ("exited", Some(code), _) => format!("exit {code}"),
        ("exited", None, Some(signal)) => signal.clone(),
        (reason, ..) => reason.to_owned(),
    }
}

/// How long ago it began; a date where that is long.
fn when(at: &str, now: SystemTime) -> String {
    let Ok(began) = humantime::parse_rfc3339_weak(at) else { return "?".to_owned() };
    let seconds = now.duration_since(began).unwrap_or_default().as_secs();
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        86_400..2_592_000 => format!("{}d ago", seconds / 86_400),
        _ => plain(at.get(..10).unwrap_or(at)),
    }
}

fn bars(counts: &[u32], unicode: bool) -> String {
    let bars = if unicode { BARS } else { PLAIN_BARS };
    let wide = counts.len().div_ceil(COLUMNS).max(1);
    let sums: Vec<u64> = counts.chunks(wide).map(|part| part.iter().copied().map(u64::from).sum()).collect();
    let most = sums.iter().copied().max().unwrap_or(0).max(1);
    // Whatever happened is seen: only nothing at all is the lowest bar.
    let height = |sum: u64| usize::try_from((sum * 7).div_ceil(most)).unwrap_or(7).min(7);
    sums.into_iter().map(|sum| bars[height(sum)]).collect()
}

fn shortened(command: &str, look: Look) -> String {
    let Some(longest) = look.longest.filter(|longest| command.chars().count() > *longest) else {
        return command.to_owned();
    };
    let mark = if look.unicode { "…" } else { "..." };
    command.chars().take(longest).chain(mark.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::history::tests::run;
    use super::*;

    #[test]
    fn a_run_is_one_line() {
        let now = humantime::parse_rfc3339("2026-01-02T05:04:05Z").unwrap();
        let look = Look { unicode: true, longest: Some(10) };
        let hostile = PastRun { command: vec!["a\u{1b}[2J\u{202e}\u{9b}b\nc".to_owned()], ..run(1) };
        let ended = PastRun { reason: "idle_timeout".to_owned(), at: "2020-01-02T00:00:00Z".to_owned(), ..run(2) };
        assert_eq!(
            table(&[run(0), hostile, ended], now, look),
            "WHEN            TOOK  END            ACTIVITY          COMMAND\n\
             2h ago            5s  ok             ▁▃█               make xxxxx…\n\
             2h ago            5s  ok             ▁▃█               'a[2Jb c'\n\
             2020-01-02        5s  idle_timeout   ▁▃█               make xxxxx…\n"
        );
        let script = ["sh", "-c", "echo one; sleep 9"].map(str::to_owned).to_vec();
        let said = table(&[PastRun { command: script, ..run(0) }], now, Look { longest: None, ..look });
        assert!(said.ends_with("  sh -c 'echo one; sleep 9'\n"), "as one would type it: {said}");
        let look = Look { unicode: false, longest: None };
        assert!(table(&[run(0)], now, look).is_ascii());
    }

    #[test]
    fn bars_are_as_high_as_much_happened() {
        assert_eq!(bars(&[], true), "");
        assert_eq!(bars(&[0, 0], true), "▁▁");
        assert_eq!(bars(&[1, 1000, 500], true), "▂█▅");
        assert_eq!(bars(&[u32::MAX; 64], true).chars().count(), COLUMNS);
        assert_eq!(bars(&[0, 7], false), "_#");
    }
}
