//! The pure core: what is seen goes in, what to do comes out.
//!
//! Nothing here does I/O, reads a clock or starts a thread. Time is an argument ([`Moment`]), so a recorded day
//! replays in milliseconds and a replay runs the same code as a live run.

mod action;
mod guard;
mod moment;
mod observation;
mod policy;
mod step;
mod watcher;

pub use action::Action;
pub use guard::{Answer, Guard};
pub use moment::Moment;
pub use observation::{Known, Look, Observation, Size, Stream};
pub use policy::{Ending, Policy};
pub use step::{Key, Step, format_ladder, parse_ladder};
pub use watcher::Watcher;
