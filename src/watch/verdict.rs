//! The verdict: one pure function of what was seen and the time.

use std::time::Duration;

use super::clocks::Clocks;
use super::sight::Sight;
use super::waiting::{Wait, wait};
use super::words::{quote, span};
use super::{Known, Look, Moment, Policy, State};

/// A question is believed after this much silence: a program that prints on did not ask.
const ASKED: Duration = Duration::from_secs(2);
/// A prompt, or a full-screen program at rest, after this much.
const RESTED: Duration = Duration::from_secs(5);

/// How long a command that waited for a person, and no longer seems to, is left alone.
const AFTER_WAITING: Duration = Duration::from_secs(30);

/// What the screen says about waiting, until its wording changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Reading {
    /// How it waits, from the screen.
    pub(super) wait: Option<Wait>,
    /// The wait is a mark of the profile or the user's, which holds whatever else moves.
    known: bool,
    /// The words that say a turn is in progress.
    pub(super) turn: Option<String>,
}

impl Reading {
    /// Reads the screen: generic signs first, then what is known of the program.
    pub(super) fn read(sight: &Sight, policy: &Policy) -> Self {
        sight.with_view(|view| {
            let profile = policy.profile.as_ref();
            let turn = profile.and_then(|profile| profile.turn(view));
            let told = policy.waiting.iter().find_map(|pattern| view.bottom(2).find_map(|row| pattern.find(row)));
            let question = told.map(str::to_owned).or_else(|| profile.and_then(|profile| profile.question(view)));
            let known = question.is_some();
            let wait = match (question, wait(view)) {
                // What is known of a question is its text. That it is a menu, into which nothing may be typed, is seen.
                (Some(question), Some(Wait::Menu(_, row))) => Some(Wait::Menu(question, row)),
                (Some(question), Some(Wait::List(_))) => Some(Wait::List(question)),
                (Some(question), _) => Some(Wait::Question(question)),
                (None, Some(wait @ (Wait::Question(_) | Wait::Menu(..) | Wait::List(_)))) => Some(wait),
                (None, other) => profile.and_then(|profile| profile.prompt(view)).map(Wait::Prompt).or(other),
            };
            Self { wait, known, turn }
        })
    }

    /// Whether a person is expected to type.
    pub(super) const fn is_at_prompt(&self) -> bool {
        self.wait.is_some() && self.turn.is_none()
    }

    /// When the command waits by what the screen says, given that nothing more happens.
    fn waits_from(&self, sight: &Sight, look: Option<&Look>, policy: &Policy) -> Option<Moment> {
        let clocks = &sight.clocks;
        // Who waits is not to be taken for silent first, however short a silence is allowed.
        let limit = policy.silence(clocks.byte.is_some()).unwrap_or(Duration::MAX);
        let [asked, rested] = [ASKED, RESTED].map(|time| clocks.progress + time.min(limit));
        // What ticks below the place where a person is to type is furniture: a clock in a status line.
        let at_rest = |moment: Moment| sight.rests_until_cursor().map_or(moment, |rest| rest.max(moment));
        let begun = || {
            // The prompt is hidden behind what a person has begun to type.
            sight.draft.filter(|draft| draft.at_prompt && self.turn.is_none())?;
            sight.last_typed.map(at_rest)
        };
        // A look outranks what is only guessed from the screen: who hears nobody asks nothing, whatever its last line
        // is, and who hears the keyboard alone waits for it, whatever its prompt is.
        let wait = match (&self.wait, look) {
            (Some(wait), Some(look))
                if look.reads_terminal == Known::No
                    && !self.known
                    && !matches!(wait, Wait::Elsewhere(_))
                    && !is_on_view(wait, clocks) =>
            {
                return begun();
            }
            (Some(wait), _) => wait,
            (None, Some(look)) if look.listens && self.turn.is_none() => {
                return begun().or_else(|| Some(at_rest(rested)));
            }
            (None, _) => return begun(),
        };
        match wait {
            Wait::Question(_) | Wait::Menu(..) | Wait::List(_) if self.known => Some(asked),
            Wait::Menu(_, row) => {
                let rest = sight.rests_below(*row).unwrap_or_default();
                Some(asked.max(rest))
            }
            Wait::Question(_) | Wait::List(_) => Some(at_rest(asked)),
            Wait::Prompt(_) | Wait::FullScreen | Wait::Elsewhere(_) if self.turn.is_some() => None,
            // What turns meanwhile says that it waits.
            Wait::Elsewhere(_) => Some(asked),
            Wait::Prompt(_) => Some(at_rest(rested)),
            Wait::FullScreen => Some(clocks.rest().unwrap_or_default().max(rested)),
        }
    }
}

/// Whether a full-screen program is there to be looked at, as `watch` is, which reads no key: its clock goes on.
fn is_on_view(wait: &Wait, clocks: &Clocks) -> bool {
    *wait == Wait::FullScreen && clocks.change.is_some_and(|change| change > clocks.progress + ASKED)
}

/// Everything the verdict rests on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts<'a> {
    pub(super) policy: &'a Policy,
    pub(super) sight: &'a Sight,
    pub(super) reading: &'a Reading,
    /// What the processes were doing, if somebody looked since the last progress.
    pub(super) look: Option<&'a Look>,
    /// Nobody is still out to look.
    pub(super) settled: bool,
    /// When the command last stopped waiting for a person.
    pub(super) waited: Option<Moment>,
    pub(super) attended: bool,
    pub(super) exited: bool,
}

impl Facts<'_> {
    /// The state of the run at `now`; `was` holds until a look that was asked for is answered.
    pub(super) fn state(self, now: Moment, was: State) -> State {
        let policy = self.policy;
        if self.exited {
            return State::Exited;
        }
        if policy.timeout.is_some_and(|timeout| policy.spent(now) >= timeout) {
            return State::Overtime;
        }
        if self.sight.loops.looping(now, &policy.loops).is_some() {
            return State::Looping;
        }
        if self.waits(now) {
            return State::Waiting;
        }
        if self.is_silent(now) {
            return if self.settled || was == State::Stalled { State::Stalled } else { was };
        }
        let warning = self.limit().map(|limit| policy.warning(limit));
        if warning.is_some_and(|warning| self.sight.clocks.silence(now) >= warning) {
            return State::Quiet;
        }
        State::Active
    }

    /// Whether it is silent only because nobody takes what it prints.
    pub(super) fn is_held_up(self) -> bool {
        self.look.is_some_and(|look| look.held_up)
    }

    /// Whether a limit of silence has passed.
    pub(super) fn is_silent(self, now: Moment) -> bool {
        let waited = self.after_waiting().is_some_and(|until| now < until);
        !waited && self.limit().is_some_and(|limit| self.sight.clocks.silence(now) >= limit)
    }

    /// How long silence may last. That of a command which is held up is not its own: a person may read as long as they
    /// like, and where there is none only the ceiling counts.
    pub(super) fn limit(self) -> Option<Duration> {
        let limit = self.policy.silence(self.sight.clocks.byte.is_some())?;
        match self.is_held_up() {
            true if self.attended => None,
            true => self.policy.max_idle.map(|cap| cap.max(limit)),
            false => Some(limit),
        }
    }

    /// A command that has just stopped to wait for a person has been silent for long without fault. It gets a moment to
    /// show what it does next: a screen that is drawn anew may not look like a prompt until it is complete.
    fn after_waiting(self) -> Option<Moment> {
        Some(self.waited? + AFTER_WAITING.min(self.policy.idle?))
    }

    fn waits(self, now: Moment) -> bool {
        self.reads().is_some()
            || self.reading.waits_from(self.sight, self.look, self.policy).is_some_and(|from| now >= from)
    }

    /// What a look found that can only mean waiting.
    fn reads(self) -> Option<&'static str> {
        let look = self.look?;
        if look.line_mode == Known::Yes && look.echo == Known::No && look.reads_terminal != Known::No {
            return Some("echo is off, as for a password");
        }
        // A program that works on a turn listens to its user all the same.
        let listens = self.reading.turn.is_some();
        (look.reads_terminal == Known::Yes && !listens).then_some("blocked reading from the terminal")
    }

    /// The next moment at which the state can change by itself.
    pub(super) fn moments(self) -> impl Iterator<Item = Moment> {
        let (policy, clocks) = (self.policy, &self.sight.clocks);
        let silent = self.limit().map(|limit| clocks.progress + limit);
        let quiet = self.limit().map(|limit| clocks.progress + policy.warning(limit));
        let timeout = policy.timeout.map(|limit| policy.due(limit));
        let nearly = policy.timeout.map(|limit| policy.due(policy.warning(limit)));
        let waits = self.reading.waits_from(self.sight, self.look, policy);
        let read = Some(clocks.progress + self.worth_reading());
        [silent, quiet, timeout, nearly, waits, read, self.after_waiting()].into_iter().flatten()
    }

    /// The silence after which the screen is read: before anything is made of it, however short a silence is allowed.
    pub(super) fn worth_reading(self) -> Duration {
        ASKED.min(self.limit().unwrap_or(Duration::MAX))
    }

    /// Why the state is `state`, in words.
    pub(super) fn evidence(self, now: Moment, state: State) -> String {
        match state {
            State::Active => self.activity(now),
            State::Quiet | State::Stalled => self.stillness(now),
            State::Waiting => self.waiting(now),
            State::Looping => self.repetition(now),
            State::Overtime => format!("running for {}", span(self.policy.spent(now))),
            State::Exited => "the command ended".to_owned(),
        }
    }

    fn activity(self, now: Moment) -> String {
        let clocks = &self.sight.clocks;
        match clocks.progressed_by.as_str() {
            "" if clocks.byte.is_none() => "started, nothing printed yet".to_owned(),
            "" if self.sight.last_typed == Some(clocks.progress) => "its input was typed".to_owned(),
            "" => format!("output {} ago", span(clocks.silence(now))),
            by => format!("new text: {}", quote(by)),
        }
    }

    fn stillness(self, now: Moment) -> String {
        let clocks = &self.sight.clocks;
        let silence = span(clocks.silence(now));
        let mut words = match clocks.byte {
            None => format!("nothing printed since it started {silence} ago"),
            Some(_) if self.sight.screen().is_lost() => format!("no output for {silence}"),
            Some(_) => match self.sight.moving(now) {
                Some(moving) => format!("screen unchanged for {silence} except {moving}"),
                None => format!("screen unchanged for {silence}"),
            },
        };
        if self.is_held_up() {
            words.push_str("; its output is not being read");
        }
        if let Some(turn) = &self.reading.turn {
            words.push_str("; turn in progress: ");
            words.push_str(&quote(turn));
        }
        if let Some(doing) = self.look.and_then(|look| look.doing.as_deref()) {
            words.push_str("; ");
            words.push_str(doing);
        }
        words
    }

    fn waiting(self, now: Moment) -> String {
        let seen = match &self.reading.wait {
            Some(Wait::Question(text) | Wait::Menu(text, _) | Wait::List(text)) => {
                Some(format!("it asks: {}", quote(text)))
            }
            Some(Wait::Prompt(text)) => Some(format!("at its prompt: {}", quote(text))),
            Some(Wait::Elsewhere(text)) => Some(format!("waiting for something done elsewhere: {}", quote(text))),
            Some(Wait::FullScreen) => Some("a full-screen program with nothing in progress".to_owned()),
            None if self.sight.draft.is_some() => Some("input is typed but not submitted".to_owned()),
            None if self.reads().is_none() => Some("listening to the keyboard only".to_owned()),
            None => None,
        };
        let silence = span(self.sight.clocks.silence(now));
        let words: Vec<String> = self.reads().map(str::to_owned).into_iter().chain(seen).collect();
        format!("{}; unchanged for {silence}", words.join("; "))
    }

    fn repetition(self, now: Moment) -> String {
        let Some((what, since)) = self.sight.loops.looping(now, &self.policy.loops) else { return String::new() };
        format!("{}, nothing new for {}", what.in_words(), span(now.since(since)))
    }
}
