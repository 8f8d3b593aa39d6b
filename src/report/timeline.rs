//! Events as a person reads them, one line each.

use std::io::{self, Write};
use std::time::Duration;

use crate::watch::{Event, Moment, span};

/// Writes events as lines of text.
#[derive(Debug)]
pub struct Timeline<W> {
    out: W,
}

impl<W: Write> Timeline<W> {
    /// Writes to `out`.
    pub const fn new(out: W) -> Self {
        Self { out }
    }

    /// Writes one event as one line.
    pub fn write(&mut self, at: Moment, event: &Event) -> io::Result<()> {
        let (what, words) = match event {
            Event::StateChanged { to, evidence, .. } => (to.name(), evidence.clone()),
            // The state that comes with it says the same.
            Event::IdleWarning { .. } => return Ok(()),
            Event::TimeoutWarning { limit } => ("warning", format!("of {} not much is left", span(*limit))),
            Event::LoopWarning { what, suspicion } => (
                "warning",
                format!(
                    "'{}' came {} times, every {}: perhaps a loop ({suspicion} of 100)",
                    what.pattern,
                    what.count,
                    span(what.period)
                ),
            ),
            Event::AnalysisLost => {
                ("warning", "the screen can no longer be read; from now on any byte counts as activity".to_owned())
            }
        };
        writeln!(self.out, "{:>11}  {what:<9} {}", clock(at.since_start()), plain(&words))
    }

    /// Writes a remark below the last event.
    pub fn remark(&mut self, words: &str) -> io::Result<()> {
        for line in words.lines() {
            writeln!(self.out, "{:>11}  {:<9} {}", "", "", plain(line))?;
        }
        Ok(())
    }

    /// Sends out what is held back.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// `text` without controls: what a program printed must not reach the reader's terminal as commands.
pub fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    format!("{}:{:02}:{:02}.{}", seconds / 3600, seconds / 60 % 60, seconds % 60, elapsed.subsec_millis() / 100)
}
