//! What the ladder rests on, and what follows from it before any step is taken.

use std::time::Duration;

use super::guarding::Bounds;
use super::screen::Cursor;
use super::waiting::Wait;
use super::{Known, Look, Moment, Policy, State, Step};
use crate::exit::Reason;

/// A turn that has shown something this lately is under way: healthy ones are silent for up to a minute and a half.
const FRESH: Duration = Duration::from_mins(2);

/// What the ladder rests on, all of it as it is now.
pub(super) struct Situation<'a> {
    pub(super) now: Moment,
    pub(super) state: State,
    pub(super) evidence: &'a dyn Fn() -> String,
    pub(super) policy: &'a Policy,
    /// The last progress.
    pub(super) since: Moment,
    pub(super) attended: bool,
    pub(super) look: Option<&'a Look>,
    pub(super) wait: Option<&'a Wait>,
    pub(super) typed: Option<Moment>,
    /// Somebody has begun to type and not finished.
    pub(super) draft: bool,
    /// When the command said that it is finished.
    pub(super) done: Option<Moment>,
    /// The rows of the screen, and the cursor.
    pub(super) rows: &'a dyn Fn() -> (Vec<String>, Cursor),
    pub(super) byte: Option<Moment>,
    /// What the profile says of a turn that is in progress.
    pub(super) turn: Option<&'a str>,
}

/// Why nothing is typed where a person has typed something and not submitted it.
pub(super) const BEGUN: &str = "something is typed there already";

impl Situation<'_> {
    pub(super) fn silence(&self) -> Duration {
        self.now.since(self.since)
    }

    pub(super) fn trouble(&self) -> Option<Reason> {
        let idle = self.policy.idle;
        let said_done = self.done.map(|done| done.max(self.since));
        match self.state {
            State::Exited => None,
            State::Overtime => Some(Reason::Timeout),
            _ if said_done.is_some_and(|done| self.now.since(done) >= self.policy.done_idle) => Some(Reason::Completed),
            State::Stalled => Some(Reason::IdleTimeout),
            State::Looping => Some(Reason::Loop),
            State::Waiting if idle.is_some_and(|idle| self.silence() >= idle) => Some(Reason::WaitingInput),
            State::Active | State::Quiet | State::Waiting => None,
        }
    }

    pub(super) fn steps(&self, trouble: Reason) -> &[Step] {
        let ladders = &self.policy.ladders;
        match trouble {
            Reason::Loop => &ladders.looping,
            Reason::Timeout => &ladders.timeout,
            Reason::WaitingInput => match (&ladders.waiting, self.attended) {
                (Some(steps), _) => steps,
                (None, true) => &[Step::Warn],
                (None, false) => &ladders.idle,
            },
            Reason::Completed => &[Step::Stop],
            _ => &ladders.idle,
        }
    }

    /// The limit that has passed where this is the trouble.
    pub(super) fn limit(&self, trouble: Reason) -> Option<Duration> {
        match trouble {
            Reason::Timeout => self.policy.timeout,
            Reason::Loop => self.policy.loops.lasting,
            Reason::WaitingInput => self.policy.idle,
            _ if self.look.is_some_and(|look| look.held_up) => self.policy.max_idle.max(self.policy.idle),
            _ => self.policy.silence(self.byte.is_some()),
        }
    }

    pub(super) fn bounds(&self) -> Bounds {
        Bounds::new(self.policy, self.byte.is_some(), self.since)
    }

    /// Guards speak for silence, also for what only looks like a question. A blocked read is certain.
    pub(super) fn is_guarded(&self, trouble: Reason) -> bool {
        let reads = self.look.is_some_and(|look| look.reads_terminal == Known::Yes);
        trouble == Reason::IdleTimeout || trouble == Reason::WaitingInput && !self.attended && !reads
    }

    /// An attended program that waits for its user is never ended.
    pub(super) fn may_end(&self, trouble: Reason) -> bool {
        !(trouble == Reason::WaitingInput && self.attended)
    }

    /// Whether a person is there and asked.
    pub(super) fn asks_person(&self) -> bool {
        self.attended && self.state == State::Waiting
    }

    /// Why nothing may be typed now, if so.
    pub(super) fn refuses(&self, asked_for: bool) -> Option<&'static str> {
        let password = self.look.is_some_and(|look| look.line_mode == Known::Yes && look.echo == Known::No);
        let reads = self.look.is_some_and(|look| look.reads_terminal == Known::Yes);
        match self.wait {
            _ if password => Some("it asks for a password"),
            // Whoever has not begun to print may not have begun to read, and what is typed too early gets lost.
            _ if self.byte.is_none() && !reads => Some("it has printed nothing yet"),
            _ if self.draft => Some(BEGUN),
            Some(Wait::Menu(..) | Wait::List(_)) => Some("a menu is on the screen"),
            Some(Wait::Question(_)) if !asked_for => Some("it asks a question"),
            _ => None,
        }
    }

    /// A turn that is in progress speaks for the command as long as it prints.
    pub(super) fn turn_speaks(&self) -> Option<String> {
        let turn = self.turn?;
        // What merely turns or ticks is no output: a turn that hangs does that for ever.
        (self.silence() < FRESH)
            .then(|| format!("a turn is in progress ({turn}), last output {} ago", super::span(self.silence())))
    }
}
