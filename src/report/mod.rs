//! What is told to others about a run: events as JSON lines and as words, and the history of runs.
#![forbid(unsafe_code)]

pub mod history;
pub mod history_table;
mod json;
mod say;
mod tally;
mod timeline;
mod words;

pub use json::JsonLines;
pub use say::{say, say_at_once};
pub use tally::Tally;
pub use timeline::{Timeline, plain};
pub use words::in_words;
