//! What is told to others about a run: events as JSON lines and as words.
#![forbid(unsafe_code)]

mod json;
mod say;
mod stats;
mod timeline;
mod words;

pub use json::{JsonLines, VERSION, milliseconds};
pub use say::say;
pub use stats::{Limits, Stats};
pub use timeline::{Timeline, clock, plain};
pub use words::in_words;
