//! What the command prints, from where to where.

use super::modes::Modes;
use super::printed::Printed;
use super::relay::{Passed, Source};
use super::sink::Sink;

/// The command's output.
#[derive(Default)]
pub(super) struct Flow {
    /// What it prints to.
    pub(super) sources: Vec<Source>,
    /// Where that goes.
    pub(super) sinks: Vec<Sink>,
    /// What was passed on and not looked at yet: after the keys that were typed.
    pub(super) passed: Passed,
    /// What it has left switched on.
    pub(super) modes: Modes,
    /// Files that it prints to directly.
    pub(super) printed: Vec<Printed>,
}
