//! What the command prints, from where to where.

use std::fs::File;

use super::modes::Modes;
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
    /// Files that it prints to directly, with the size they were last seen with.
    pub(super) files: Vec<(File, u64)>,
}
