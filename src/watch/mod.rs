//! The pure core: what is seen goes in, what to do comes out.
//!
//! Nothing here does I/O, reads a clock or starts a thread. Time is an argument ([`Moment`]), so a recorded day
//! replays in milliseconds and a replay runs the same code as a live run.
//!
//! Output is sifted (`sieve`), shown to an emulator (`screen`; of a flood only what decides: `flood`, `repaint`, `sketch`)
//! and, when it has settled, looked at: `mask` takes out
//! what time alone changes, such as spinners, `activity` says what of the rest counts as progress, `waiting` and the
//! `profile` whether a person is asked, `loops` whether lines repeat. From these and the clocks one function derives the
//! [`State`] (`verdict`), and from the state the `ladder` derives what to do: it asks the guards first (`guarding`), and
//! types with care (`nudge`).
//!
//! An orchestrator that has its own terminal, container or connection uses this part alone. It tells the watcher what
//! happens and when, does what it is told, and asks when to come back:
//!
//! ```
//! use std::time::Duration;
//! use idlewatch::watch::{Action, Event, Look, Moment, Observation, Policy, State, Stream, Watcher};
//!
//! let policy = Policy { idle: Some(Duration::from_secs(60)), ..Policy::default() };
//! let mut watcher = Watcher::new(policy);
//! let mut now = Moment::START;
//! let mut signals = Vec::new();
//!
//! // A program that prints once and then only turns its spinner.
//! watcher.observe(now, &Observation::Output { stream: Stream::Terminal, bytes: b"Reading files\r\n" });
//! while watcher.state() != State::Stalled {
//!     now = now + Duration::from_millis(100);
//!     let frame = ["| working", "/ working", "- working"][usize::try_from(now.since_start().as_millis() / 100 % 3).unwrap()];
//!     let bytes = format!("\r{frame}");
//!     let mut actions = watcher.observe(now, &Observation::Output { stream: Stream::Terminal, bytes: bytes.as_bytes() });
//!     while let Some(action) = actions.pop() {
//!         match action {
//!             // Asked before a verdict: what do the processes do? Here nobody knows.
//!             Action::Look => actions.extend(watcher.observe(now, &Observation::Looked(Look::default()))),
//!             Action::Report(Event::StateChanged { to, evidence, .. }) => println!("{to}: {evidence}"),
//!             Action::Signal { signal, .. } => signals.push(signal),
//!             _ => {}
//!         }
//!     }
//! }
//! assert_eq!(now.since_start().as_secs(), 60);
//! assert_eq!(signals.len(), 1);
//! // When to call again if nothing happens: the command has ten seconds before SIGKILL.
//! assert!(watcher.deadline().is_some());
//! ```
#![forbid(unsafe_code)]

mod action;
mod activity;
mod appearing;
mod beside;
mod clocks;
mod complaint;
mod contain;
mod counting;
mod drawing;
mod event;
mod flood;
mod gauge;
mod growth;
mod guard;
mod guarding;
mod keys;
mod labour;
mod ladder;
mod line_form;
mod lines;
mod looking;
mod loops;
mod mask;
mod measure;
mod menu;
mod moment;
mod nudge;
mod observation;
mod ordeal;
mod pattern;
mod pen;
mod picture;
mod policy;
mod profile;
mod prompts;
mod repaint;
mod scramble;
mod screen;
mod seen;
mod settling;
mod sheet;
mod sieve;
mod sight;
mod situation;
mod sketch;
mod state;
mod step;
mod strokes;
mod touched;
mod trace;
mod verdict;
mod waiting;
mod watcher;
mod wording;
mod words;

pub use action::{Action, Order};
pub use contain::panic_is_contained;
pub use counting::Counting;
pub use event::Event;
pub use guard::{Answer, Guard, SHORTEST, Word};
pub(crate) use keys::Keys;
pub(crate) use labour::{affordable, allowance};
pub use loops::{LoopPolicy, Repetition};
pub use moment::Moment;
pub use nudge::typeable;
pub use observation::{Known, Look, Observation, Size, Stream};
#[doc(hidden)]
pub use ordeal::survive;
pub use pattern::Pattern;
pub use picture::{Colour, Picture, Stretch, Style};
pub use policy::{ActivityKind, Ending, Ladders, Nudges, Policy};
pub use profile::{Busy, Profile};
pub use state::State;
pub use step::{Key, Step, format_ladder, parse_ladder};
pub use watcher::Watcher;
pub use words::span;
