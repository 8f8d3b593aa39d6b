//! Runs that can be asked: each listens on a socket of its own ([`Server`]), and `idlewatch ctl` asks them ([`ctl`]).
//!
//! The language is JSON lines. In: `get_session_stats`, `explain`, `subscribe`, `extend_timeout` (`by`, in
//! milliseconds), `nudge` (`text`), `force_stop`, `force_complete`. Out: one line for each request, in their order: `ok`,
//! `error` (`message`), `session_stats` or `explanation` (`text`); to those who subscribed also every event, and
//! `dropped` (`count`) where they were too slow. Fields that are not known are ignored, on both sides.
#![forbid(unsafe_code)]

mod call;
pub mod ctl;
mod folder;
mod guest;
mod peer;
mod request;
mod round;
mod server;

pub use request::Request;
pub use server::{Answer, Server, TRY_AGAIN, Which};
