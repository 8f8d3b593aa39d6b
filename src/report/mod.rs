//! What is told to others about a run: events as JSON lines and as words, the post-mortem, the history of runs.
#![forbid(unsafe_code)]

mod answer;
mod chronicle;
pub mod history;
pub mod history_table;
mod json;
mod post_mortem;
mod process;
mod quoted;
mod say;
mod short;
mod stats;
mod tally;
mod tasks;
mod timeline;
mod visible;
mod words;

pub use answer::{answer, taken};
pub use chronicle::{Band, Chronicle, Entry, Portion, is_wrong};
pub use json::{JsonLines, VERSION};
pub use post_mortem::{End, Format, Occasion, PostMortem, Resume, Scene};
pub use process::{Doing, Kind, Process, as_tree};
pub use quoted::{command_line, quoted};
pub use say::{say, say_at_once};
pub use stats::{Limits, Stats, TaskStats};
pub use tally::Tally;
pub use tasks::{LARGEST as LARGEST_CHECKPOINT, Tasks};
pub use timeline::{Timeline, clock, plain};
pub use visible::{escaped, is_hidden, visible};
pub use words::in_words;
