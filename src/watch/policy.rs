//! What the watcher was told: limits, what counts, and how to end a command.

use std::time::Duration;

use super::{Counting, Guard, LoopPolicy, Moment, Pattern, Profile, Size, Step};
use crate::signal::Signal;

/// Everything the watcher goes by, resolved and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Silence that ends the command; none: never.
    pub idle: Option<Duration>,
    /// Total running time; none: any.
    pub timeout: Option<Duration>,
    /// How much of that earlier starts of the command have used.
    pub earlier: Duration,
    /// One of those has said that the time is running out.
    pub warned: bool,
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
    /// How many lines above the screen a picture of it has; none: no picture is wanted.
    pub picture: Option<usize>,
    /// Silence that no guard can defer; none: a guard can defer for ever.
    pub max_idle: Option<Duration>,
    /// The command has said that it is finished when this is on its screen.
    pub done: Option<Pattern>,
    /// How long it may then stay.
    pub done_idle: Duration,
    /// Who may speak for a silent command.
    pub guards: Vec<Guard>,
    /// What is done about what.
    pub ladders: Ladders,
    /// What is typed.
    pub nudges: Nudges,
    /// How a command is ended.
    pub ending: Ending,
}

/// What is done about what, step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladders {
    /// It is silent.
    pub idle: Vec<Step>,
    /// It loops.
    pub looping: Vec<Step>,
    /// It waits for a person; none: a warning where there is one, else as for silence.
    pub waiting: Option<Vec<Step>>,
    /// It has run too long.
    pub timeout: Vec<Step>,
}

impl Ladders {
    /// Whether a command that has run too long is ended at all.
    pub fn timeout_ends(&self) -> bool {
        self.timeout.iter().any(|step| match step {
            Step::Stop | Step::Relaunch => true,
            Step::Signal(signal) => signal.ends(),
            _ => false,
        })
    }

    /// The same for a command into which nothing can be typed. With what would have been typed goes the wait for its effect.
    #[must_use]
    pub fn without_typing(&self) -> Self {
        let rest = |steps: &Vec<Step>| {
            let types = |step: &Step| matches!(step, Step::Nudge(_) | Step::Key(_));
            let mut after = false;
            let stays = |step: &&Step| {
                let goes = types(step) || after && matches!(step, Step::Wait(_));
                after = types(step);
                !goes
            };
            steps.iter().filter(stays).cloned().collect()
        };
        Self {
            idle: rest(&self.idle),
            looping: rest(&self.looping),
            waiting: self.waiting.as_ref().map(rest),
            timeout: rest(&self.timeout),
        }
    }

    /// What is done where nothing else was said: warn, nudge, and at last end it. A loop is only warned of.
    pub fn usual(nudges: &Nudges, nudge_wait: Duration) -> Self {
        let mut idle = vec![Step::Warn];
        if !nudges.texts.is_empty() {
            for _ in 0..nudges.most {
                idle.extend([Step::Nudge(None), Step::Wait(nudge_wait)]);
            }
        }
        idle.push(Step::Stop);
        Self { idle, looping: vec![Step::Warn], waiting: None, timeout: vec![Step::Warn, Step::Stop] }
    }
}

/// What is typed into a silent command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Nudges {
    /// The texts, one after the other.
    pub texts: Vec<String>,
    /// How many until the command is started again.
    pub most: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            idle: Some(Duration::from_mins(5)),
            timeout: None,
            earlier: Duration::ZERO,
            warned: false,
            first_output: None,
            warn: 60,
            activity: ActivityKind::Screen,
            counting: Counting::default(),
            loops: LoopPolicy::default(),
            waiting: Vec::new(),
            profile: None,
            size: Size::ASSUMED,
            picture: None,
            max_idle: Some(Duration::from_mins(30)),
            done: None,
            done_idle: Duration::from_mins(1),
            guards: Vec::new(),
            ladders: Ladders::usual(&Nudges::default(), Duration::from_mins(1)),
            nudges: Nudges::default(),
            ending: Ending { signal: Signal::TERM, kill_after: Some(Duration::from_secs(10)) },
        }
    }
}

impl Policy {
    /// How long the command has run by now, earlier starts included: that is what its time limit is for.
    pub fn spent(&self, now: Moment) -> Duration {
        self.earlier.saturating_add(now.since_start())
    }

    /// When so much of its time is spent.
    pub fn due(&self, spent: Duration) -> Moment {
        Moment::START + spent.saturating_sub(self.earlier)
    }

    /// Whether what somebody looks for may stand in any line. A loop shows in a sample as well.
    pub(super) fn looks_at_every_line(&self) -> bool {
        self.done.is_some() || !self.counting.only.is_empty() || !self.loops.patterns.is_empty()
    }

    /// How long silence may last, which is shorter for a command that has not `printed` anything, if that was asked for.
    pub(super) fn silence(&self, printed: bool) -> Option<Duration> {
        let first = self.first_output.filter(|_| !printed);
        self.idle.into_iter().chain(first).min()
    }

    /// The share of `limit` at which to warn.
    pub(super) fn warning(&self, limit: Duration) -> Duration {
        limit.saturating_mul(u32::from(self.warn.min(100))) / 100
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
