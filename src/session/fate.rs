//! How the run ends.

use super::dismissal::Dismissal;
use super::{Moment, Reason, Status};

/// What is known of the end.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Fate {
    /// How the command ended, once it has.
    pub(super) ended: Option<Status>,
    /// Why we are ending it, once we are.
    pub(super) reason: Option<Reason>,
    /// SIGKILL may be sent to what does not end.
    pub(super) kills: bool,
    /// It was sent SIGKILL, and from then on is not waited for any longer.
    pub(super) written_off: Option<Moment>,
    /// The monitor has left, since it was told to or somebody killed it.
    pub(super) unminded: bool,
    /// Whether somebody told it to end.
    pub(super) dismissal: Dismissal,
    /// Somebody told it to end while it was ending or over: whatever the outcome, that was the last word.
    pub(super) last_word: bool,
    /// How long whoever takes nothing is waited for, while it is.
    pub(super) patience: Option<Moment>,
    /// Nobody takes what is left to be written.
    pub(super) give_up: bool,
    /// Everything was put back in good order.
    pub(super) finished: bool,
}
