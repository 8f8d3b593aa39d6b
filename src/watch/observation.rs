//! What the session tells the watcher.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Answer, Order};

/// Where output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// The command's terminal: lines end in CR LF, escapes move the cursor.
    Terminal,
    /// A standard output that goes elsewhere than to the terminal: lines end in a bare LF.
    Stdout,
    /// A standard error that goes elsewhere: lines end in a bare LF.
    Stderr,
}

/// The size of the terminal in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

impl Size {
    /// What programs take for the size of a terminal that knows none.
    pub const ASSUMED: Self = Self { cols: 80, rows: 24 };

    /// This size; where it is not known, as with the terminals of many build servers, what programs assume.
    #[must_use]
    pub const fn or_assumed(self) -> Self {
        Self {
            cols: if self.cols == 0 { Self::ASSUMED.cols } else { self.cols },
            rows: if self.rows == 0 { Self::ASSUMED.rows } else { self.rows },
        }
    }

    /// The size of a picture of it: one column breaks wide characters, and a size without end is memory without end.
    #[must_use]
    pub fn drawn(self) -> Self {
        let Self { cols, rows } = self.or_assumed();
        Self { cols: cols.clamp(2, 1000), rows: rows.clamp(1, 1000) }
    }
}

/// An answer that may be missing: "could not look" is never the same as "no".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Known {
    /// It is so.
    Yes,
    /// It is not so.
    No,
    /// Nobody could tell.
    #[default]
    Unknown,
}

/// What a look at the command's processes and terminal found (the answer to [`Action::Look`](super::Action::Look)).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    /// A process in the terminal's foreground is blocked in `read` on the terminal.
    pub reads_terminal: Known,
    /// One listens to the terminal in an event loop, and to nobody else who could say something.
    pub listens: bool,
    /// The terminal hands over whole lines (ICANON).
    pub line_mode: Known,
    /// The terminal shows what is typed (ECHO).
    pub echo: Known,
    /// The program has asked for bracketed paste.
    pub paste: Known,
    /// It has printed more than anybody takes: whoever reads has stopped, as a person does with a pager or with Ctrl-S.
    pub held_up: bool,
    /// So long ago somebody typed what it has read since the last look, where nobody else could have seen that.
    pub typed: Option<Duration>,
    /// A file that it prints to has grown since the last look.
    pub file_grew: bool,
    /// What the processes did, in words, for the evidence.
    pub doing: Option<String>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observation<'a> {
    /// The command printed.
    Output {
        /// Where to.
        stream: Stream,
        /// What.
        bytes: &'a [u8],
    },
    /// The person typed.
    Typed(&'a [u8]),
    /// The terminal has a new size.
    Resized(Size),
    /// The answer to [`Action::Look`](super::Action::Look).
    Looked(Look),
    /// For this long nobody could watch: suspended, stopped, frozen. The time itself is not in the moments.
    Gap(Duration),
    /// The answer to [`Action::Ask`](super::Action::Ask), from those guards that look outside.
    Answered(Vec<Answer>),
    /// Somebody said what to do.
    Told(Order),
    /// The person cannot be asked what [`Action::Prompt`](super::Action::Prompt) was to ask.
    Unasked,
    /// A person is there, or is not any more.
    Attended(bool),
    /// The command ended.
    Exited,
    /// Nothing but time passed: a deadline was reached.
    Elapsed,
}
