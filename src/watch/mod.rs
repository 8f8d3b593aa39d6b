//! The pure core: what is seen goes in, what to do comes out.
//!
//! Nothing here does I/O, reads a clock or starts a thread. Time is an argument ([`Moment`]), so a recorded day
//! replays in milliseconds and a replay runs the same code as a live run.
//!
//! Output is sifted (`sieve`), shown to an emulator (`screen`) and, when it has settled, looked at: `activity` says
//! what counts as progress, `waiting` and the `profile` whether a person is asked, `loops` whether lines repeat.
//! From these and the clocks one function derives the [`State`] (`verdict`), and from the state the `ladder` derives
//! what to do.
#![forbid(unsafe_code)]

mod action;
mod activity;
mod appearing;
mod clocks;
mod complaint;
mod event;
mod guard;
mod guarding;
mod ladder;
mod lines;
mod loops;
mod mask;
mod moment;
mod nudge;
mod observation;
mod ordeal;
mod pattern;
mod policy;
mod profile;
mod repaint;
mod screen;
mod seen;
mod sieve;
mod sight;
mod state;
mod step;
mod verdict;
mod waiting;
mod watcher;
mod words;

pub use action::{Action, Order};
pub use activity::Counting;
pub use event::Event;
pub use guard::{Answer, Guard};
pub use loops::{LoopPolicy, Repetition};
pub use moment::Moment;
pub use observation::{Known, Look, Observation, Size, Stream};
#[doc(hidden)]
pub use ordeal::survive;
pub use pattern::Pattern;
pub use policy::{ActivityKind, Ending, Ladders, Nudges, Policy};
pub use profile::Profile;
pub use screen::panic_is_contained;
pub use state::State;
pub use step::{Key, Step, format_ladder, parse_ladder};
pub use watcher::Watcher;
pub use words::span;
