//! What is told to others about a run: events as JSON lines and as words.
#![forbid(unsafe_code)]

mod json;
mod say;
mod timeline;
mod words;

pub use json::JsonLines;
pub use say::{say, say_at_once};
pub use timeline::{Timeline, plain};
pub use words::in_words;
