//! Those who are asked whether a silent command works.

use super::guards::Guards;
use super::shell::Shells;
use crate::watch::Answer;

/// What was asked, and what came of it so far.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// What guards have seen the time before.
    pub(super) guards: Guards,
    /// Shells that think, for guards and for steps.
    pub(super) shells: Shells,
    /// What guards have said while others still think.
    pub(super) answers: Vec<Answer>,
}
