//! One run at length, and what the terminal can show.

use std::os::fd::AsFd;

use super::super::round::{Found, Told};
use super::table::{Mood, command, cut, state, time};
use crate::report::{TaskStats, plain};

/// Everything there is to say of a run, line by line.
pub fn page(found: &Found, width: Option<usize>, colours: bool) -> Vec<String> {
    let room = width.unwrap_or(usize::MAX).saturating_sub(11);
    let mood = Mood::of(found);
    let line = |name: &str, text: &str| format!("{name:<11}{}", cut(text, room));
    let painted = |name: &str, text: &str| {
        let text = cut(text, room);
        format!("{name:<11}{}", if colours { mood.paint(&text) } else { text })
    };
    let mut lines = vec![line("run", &plain(&found.run))];
    let Some(Told { stats, elapsed, .. }) = &found.answer else {
        if let Some(pid) = found.pid {
            lines.push(line("idlewatch", &pid.to_string()));
        }
        lines.push(painted("state", "not answering"));
        lines.extend(found.why.as_ref().map(|why| line("because", &plain(why))));
        return lines;
    };
    let limit = |limit: Option<u64>| limit.map_or_else(|| "off".to_owned(), time);
    let left = stats.limits.timeout_left.map(|left| format!(" ({} left)", time(left))).unwrap_or_default();
    let limits = format!(
        "idle {}, at most {} with guards; timeout {}{left}",
        limit(stats.limits.idle),
        limit(stats.limits.max_idle),
        limit(stats.limits.timeout)
    );
    lines.extend([
        line("command", &command(found)),
        line("directory", &plain(&stats.cwd)),
        line("process", &format!("{} (idlewatch {})", stats.pid, stats.idlewatch_pid)),
        line("started", &plain(&stats.started)),
        painted("state", &state(found)),
        line("because", &plain(&stats.evidence)),
        line("elapsed", &time(*elapsed)),
        painted("activity", &format!("{} ago", time(stats.since_activity))),
        line("loop", &format!("{} of 100", stats.loop_suspicion)),
        line("attended", if stats.attended { "yes" } else { "no" }),
        line("limits", &limits),
        line(
            "so far",
            &format!(
                "{}, {}, {}, {}, {}",
                count(stats.nudges, "nudge"),
                count(stats.signals, "signal"),
                count(stats.deferrals, "deferral"),
                count(stats.relaunches, "relaunch"),
                count(stats.output_bytes, "byte")
            ),
        ),
    ]);
    if let Some(tasks) = &stats.tasks {
        lines.push(line("tasks", &tasks_in_words(tasks)));
    }
    lines
}

fn tasks_in_words(tasks: &TaskStats) -> String {
    if let Some(why) = &tasks.unreadable {
        return format!("unreadable: {}", plain(why));
    }
    let current = tasks.current.iter().map(|task| plain(task)).collect::<Vec<_>>().join(", ");
    let current = if current.is_empty() { current } else { format!("; now: {current}") };
    format!("{} done, {} left{current}", tasks.done, tasks.remaining)
}

fn count(number: u64, what: &str) -> String {
    match (number, what.ends_with("ch")) {
        (1, _) => format!("1 {what}"),
        (_, true) => format!("{number} {what}es"),
        (_, false) => format!("{number} {what}s"),
    }
}

/// Whether the terminal shows colours and the person wants them.
pub fn has_colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && can_draw()
}

/// Whether the terminal can be drawn on.
pub fn can_draw() -> bool {
    std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Columns and rows of a terminal; none if it is no terminal or does not know.
pub fn size_of(terminal: &impl AsFd) -> Option<(usize, usize)> {
    let size = crate::session::size_of(terminal).filter(|size| size.cols > 0)?;
    Some((size.cols.into(), size.rows.into()))
}
