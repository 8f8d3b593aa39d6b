//! The runs as a table that fits the terminal.

use std::time::Duration;

use owo_colors::{OwoColorize, Style};
use unicode_width::UnicodeWidthChar;

use super::super::round::{Found, Told};
use crate::report::{command_line, plain};
use crate::watch::span;

const HEADS: [&str; 6] = ["RUN", "PID", "STATE", "ELAPSED", "ACTIVITY", "COMMAND"];

/// How much a run needs somebody's attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// It works.
    Fine,
    /// A share of a limit has passed, or it waits, or does not answer.
    Warning,
    /// It is stuck, or being ended.
    Stuck,
}

impl Mood {
    /// How a run does.
    pub fn of(found: &Found) -> Self {
        let Some(Told { stats, .. }) = &found.answer else { return Self::Warning };
        let late = match (stats.limits.timeout, stats.limits.timeout_left) {
            (Some(limit), Some(left)) => {
                limit.saturating_sub(left) >= (limit / 100).saturating_mul(stats.limits.warn.into())
            }
            _ => false,
        };
        match stats.state.as_str() {
            _ if stats.ending.is_some() => Self::Stuck,
            "stalled" | "looping" | "overtime" => Self::Stuck,
            "quiet" | "waiting" | "exited" => Self::Warning,
            _ if late => Self::Warning,
            _ => Self::Fine,
        }
    }

    /// Paints a text in it.
    pub fn paint(self, text: &str) -> String {
        match self {
            Self::Fine => text.to_owned(),
            Self::Warning => text.style(Style::new().yellow()).to_string(),
            Self::Stuck => text.style(Style::new().red()).to_string(),
        }
    }
}

/// The command of a run in one line.
pub fn command(found: &Found) -> String {
    found.answer.as_ref().map_or_else(|| "not answering".to_owned(), |told| quoted(&told.stats.command))
}

/// A command in one line, quoted where a shell would want it.
pub fn quoted(command: &[String]) -> String {
    command_line(&command.iter().map(|word| plain(word)).collect::<Vec<_>>())
}

/// What a run is doing, in a word or two.
pub fn state(found: &Found) -> String {
    match &found.answer {
        Some(Told { stats, .. }) => match &stats.ending {
            Some(reason) => format!("ending: {}", plain(reason)),
            None => plain(&stats.state),
        },
        None => "not answering".to_owned(),
    }
}

/// A time of so many milliseconds, as a person writes it.
pub fn time(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => "0s".to_owned(),
        _ => span(Duration::from_millis(milliseconds)),
    }
}

/// The table, line by line; its last column is cut where a line would be longer than `width`.
pub fn table(all: &[Found], width: Option<usize>, colours: bool) -> Vec<String> {
    let rows: Vec<[String; 6]> = all
        .iter()
        .map(|found| {
            let stats = found.answer.as_ref().map(|told| (&told.stats, told.elapsed));
            let pid = stats.map(|(stats, _)| stats.pid).or(found.pid);
            let dash = || "-".to_owned();
            [
                plain(&found.run),
                pid.map_or_else(dash, |pid| pid.to_string()),
                state(found),
                stats.map_or_else(dash, |(_, elapsed)| time(elapsed)),
                stats.map_or_else(dash, |(stats, _)| format!("{} ago", time(stats.since_activity))),
                match (stats, &found.why) {
                    (Some(_), _) => command(found),
                    (None, why) => why.as_deref().map_or_else(dash, plain),
                },
            ]
        })
        .collect();
    let widths: Vec<usize> = (0..5)
        .map(|column| rows.iter().map(|row| columns(&row[column])).max().unwrap_or(0).max(HEADS[column].len()))
        .collect();
    let line = |cells: &[String; 6], mood: Mood, colours: bool| {
        let mut line = String::new();
        let mut used = 0;
        for (column, cell) in cells.iter().enumerate() {
            let room = width.map_or(usize::MAX, |width| width.saturating_sub(used));
            let cell = cut(cell, widths.get(column).map_or(room, |width| room.min(*width)));
            let padding = widths.get(column).map_or(0, |width| (width + 2).saturating_sub(columns(&cell)));
            used += columns(&cell) + padding;
            let painted = if colours && matches!(column, 2 | 4) { mood.paint(&cell) } else { cell };
            line.push_str(&painted);
            line.extend(std::iter::repeat_n(' ', padding.min(room.saturating_sub(1))));
        }
        line.trim_end().to_owned()
    };
    let head = line(&HEADS.map(ToOwned::to_owned), Mood::Fine, false);
    let head = if colours { head.style(Style::new().bold()).to_string() } else { head };
    let body = rows.iter().zip(all).map(|(row, found)| line(row, Mood::of(found), colours));
    std::iter::once(head).chain(body).collect()
}

/// How many columns of a terminal a text takes.
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The text, cut so that it takes no more than so many columns.
pub fn cut(text: &str, room: usize) -> String {
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    if room == 0 { String::new() } else { kept + "…" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_fits_also_where_letters_are_wide() {
        assert_eq!(cut("hello", 5), "hello");
        assert_eq!(cut("hello", 4), "hel…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("hello", 1), "…");
        assert_eq!(cut("hello", 0), "");
    }

    #[test]
    fn no_line_is_longer_than_the_terminal() {
        let silent =
            Found { run: "12ab34cd".to_owned(), pid: Some(7), answer: None, why: Some("too many clients".to_owned()) };
        for width in 0..100 {
            for line in table(std::slice::from_ref(&silent), Some(width), false) {
                assert!(columns(&line) <= width.max(1), "{width}: {line:?}");
            }
        }
        let row = &table(&[silent], None, false)[1];
        assert!(row.contains("not answering") && row.ends_with("too many clients"), "{row}");
    }
}
