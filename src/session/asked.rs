//! Those who are asked whether a silent command works.

use super::files::Files;
use super::guards::Guards;
use super::shell::Shells;
use crate::watch::{Answer, Moment};

/// What was asked, and what came of it so far.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// What guards have seen the time before.
    pub(super) guards: Guards,
    /// Shells that think, for guards and for steps.
    pub(super) shells: Shells,
    /// Those who look at files.
    pub(super) files: Files,
    /// What guards have said while others still think.
    pub(super) answers: Vec<Answer>,
}

impl Asked {
    /// When the next of them has taken too long.
    pub(super) fn deadline(&self) -> Option<Moment> {
        self.shells.deadline().into_iter().chain(self.files.deadline()).min()
    }

    /// Whether one of them is still thinking whose answer is awaited.
    pub(super) fn are_thinking(&self) -> bool {
        self.shells.guards_run() || self.files.are_awaited()
    }
}
