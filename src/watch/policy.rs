//! What the watcher was told: limits, what counts, and how to end a command.

use std::time::Duration;

use super::{Counting, LoopPolicy, Pattern, Profile, Size};
use crate::signal::Signal;

/// Everything the watcher goes by, resolved and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Silence that ends the command; none: never.
    pub idle: Option<Duration>,
    /// Total running time; none: any.
    pub timeout: Option<Duration>,
    /// How long it may print nothing at all after its start; none: any time.
    pub first_output: Option<Duration>,
    /// The share of a limit, in percent, at which to warn.
    pub warn: u8,
    /// What counts as activity.
    pub activity: ActivityKind,
    /// Which text counts.
    pub counting: Counting,
    /// When repetition is a loop.
    pub loops: LoopPolicy,
    /// Text at the cursor that means a question.
    pub waiting: Vec<Pattern>,
    /// What is known of the program.
    pub profile: Option<Profile>,
    /// The size of the terminal at the start.
    pub size: Size,
    /// How a command is ended.
    pub ending: Ending,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            idle: Some(Duration::from_mins(5)),
            timeout: None,
            first_output: None,
            warn: 60,
            activity: ActivityKind::Screen,
            counting: Counting::default(),
            loops: LoopPolicy::default(),
            waiting: Vec::new(),
            profile: None,
            size: Size { cols: 80, rows: 24 },
            ending: Ending { signal: Signal::TERM, kill_after: Some(Duration::from_secs(10)) },
        }
    }
}

impl Policy {
    /// The share of `limit` at which to warn.
    pub(super) fn warning(&self, limit: Duration) -> Duration {
        limit * u32::from(self.warn.min(100)) / 100
    }
}

/// What counts as activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ActivityKind {
    /// Visible change with animation masked.
    #[default]
    Screen,
    /// Any byte.
    Bytes,
}

/// How a command is ended: ask, wait, insist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// What asks.
    pub signal: Signal,
    /// How long to wait before SIGKILL; none: only ask.
    pub kill_after: Option<Duration>,
}
