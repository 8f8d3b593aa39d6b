//! Events as a person reads them, one line each.

use std::io::{self, Write};
use std::time::Duration;

use super::words::in_words;
use crate::watch::{Event, Moment};

/// Writes events as lines of text.
#[derive(Debug)]
pub struct Timeline<W> {
    out: W,
    empty: bool,
}

impl<W: Write> Timeline<W> {
    /// Writes to `out`.
    pub const fn new(out: W) -> Self {
        Self { out, empty: true }
    }

    /// Whether nothing was written so far.
    pub const fn is_empty(&self) -> bool {
        self.empty
    }

    /// Writes one event as one line.
    pub fn write(&mut self, at: Moment, event: &Event) -> io::Result<()> {
        match in_words(event) {
            Some((what, words)) => self.note(at, what, &words),
            None => Ok(()),
        }
    }

    /// Writes something else that happened as one line.
    pub fn note(&mut self, at: Moment, what: &str, words: &str) -> io::Result<()> {
        self.empty = false;
        writeln!(self.out, "{:>11}  {what:<9} {}", clock(at.since_start()), plain(words))
    }

    /// Writes a remark below the last event.
    pub fn remark(&mut self, words: &str) -> io::Result<()> {
        for line in words.lines() {
            self.empty = false;
            writeln!(self.out, "{:>11}  {:<9} {}", "", "", plain(line))?;
        }
        Ok(())
    }

    /// Sends out what is held back.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// `text` in one line without controls: what a program printed must not reach the reader's terminal as commands, nor
/// turn the rest of the line around.
pub fn plain(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => Some(' '),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
        c if c.is_control() => None,
        c => Some(c),
    };
    text.chars().filter_map(shown).collect()
}

/// A time as it stands on a clock: `1:02:03.4`.
pub fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    format!("{}:{:02}:{:02}.{}", seconds / 3600, seconds / 60 % 60, seconds % 60, elapsed.subsec_millis() / 100)
}
