//! Events in, decisions out.

use std::fmt::Write;
use std::time::Duration;

use super::contain::contained;
use super::ladder::Ladder;
use super::looking::Looking;
use super::sight::Sight;
use super::situation::Situation;
use super::verdict::{Facts, Reading};
use super::words::span;
use super::{Action, Answer, Event, Guard, Moment, Observation, Order, Picture, Policy, State};
use crate::exit::Reason;

/// What is printed within this time of a mark that it is done belongs to the same message, and what is begun within it of
/// the last output to that.
const SAME_BREATH: Duration = Duration::from_secs(1);

/// The share of a silence that is allowed, in percent, after which guards begin to measure: what a command did long ago does
/// not say that it still works. `--warn` is the same if nothing else was said, so that nobody is woken up for this alone.
const MEASURED: u32 = 60;

/// The pure core: no I/O, no clock, no thread.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Watcher {
    policy: Policy,
    now: Moment,
    state: State,
    sight: Sight,
    reading: Reading,
    looking: Looking,
    ladder: Ladder,
    exited: bool,
    warned_of_timeout: bool,
    told_lost: bool,
    attended: bool,
    /// When the command said that it is finished.
    done: Option<Moment>,
    /// When it last stopped waiting for a person.
    waited: Option<Moment>,
    gap: Option<Duration>,
    /// The progress after which the guards have begun to measure.
    measured: Option<Moment>,
    answers: Option<Vec<Answer>>,
    orders: Vec<Order>,
}

impl Watcher {
    /// A watcher whose run begins at [`Moment::START`].
    pub fn new(policy: Policy) -> Self {
        let sight = Sight::new(policy.size, policy.picture);
        let warned_of_timeout = policy.warned;
        Self {
            policy,
            now: Moment::START,
            state: State::Active,
            sight,
            reading: Reading::default(),
            looking: Looking::default(),
            ladder: Ladder::default(),
            exited: false,
            warned_of_timeout,
            told_lost: false,
            attended: false,
            done: None,
            waited: None,
            gap: None,
            measured: None,
            answers: None,
            orders: Vec::new(),
        }
    }

    /// Takes in what happened at `now` and says what to do about it.
    ///
    /// Moments never go back: an earlier one is taken as the latest that was seen.
    pub fn observe(&mut self, now: Moment, observation: &Observation<'_>) -> Vec<Action> {
        self.now = self.now.max(now);
        let now = self.now;
        if contained(|| self.take_in(now, observation)).is_none() {
            // What happened has happened, whether it can be read or not.
            self.sight.lose();
            self.take_in(now, observation);
        }
        let mut actions = Vec::new();
        if contained(|| self.decide(now, &mut actions)).is_none() {
            self.reading = Reading::default();
            self.looking.lose();
            self.sight.lose();
            self.decide(now, &mut actions);
        }
        actions
    }

    fn take_in(&mut self, now: Moment, observation: &Observation<'_>) {
        self.sight.catch_up(now, &self.policy);
        match observation {
            Observation::Output { stream, bytes } => self.sight.output(now, *stream, bytes, &self.policy),
            Observation::Typed(bytes) => {
                self.read_screen();
                let at_prompt = self.state == State::Waiting || self.reading.is_at_prompt();
                if self.sight.typed_by_person(now, bytes, at_prompt) {
                    if self.waits() {
                        // The time in which it waited for this was not its silence.
                        self.sight.clocks.progressed(now, "");
                    }
                    self.looking.forget();
                }
            }
            Observation::Resized(size) => self.sight.resized(now, *size),
            Observation::Looked(look) => {
                if self.facts().is_held_up() && !look.held_up {
                    // Nor was the time in which nobody took what it printed.
                    self.sight.clocks.progressed(now, "");
                }
                let typed = look.typed.map(|ago| now - ago).filter(|at| *at > self.sight.clocks.progress);
                if let Some(typed) = typed.filter(|_| self.waits()) {
                    // Nor was the time in which it waited for this.
                    self.sight.clocks.progressed(typed, "");
                }
                self.looking.answered(look.clone());
                if look.file_grew {
                    self.sight.clocks.byte = Some(now);
                    self.sight.clocks.progressed(now, "a file it prints to has grown");
                }
            }
            Observation::Gap(length) => {
                self.sight.clocks.progressed(now, "");
                self.sight.keep_draft(now);
                self.gap = Some(*length);
            }
            Observation::Unasked => self.ladder.unasked(now),
            Observation::Attended(attended) => self.attended = *attended,
            Observation::Answered(answers) => self.answers = Some(answers.clone()),
            Observation::Told(order) => self.take_order(now, order),
            Observation::Exited => self.exited = true,
            Observation::Elapsed => {}
        }
    }

    /// What is refused is dropped: whoever gives an order can ask before ([`refusal`](Self::refusal)).
    fn take_order(&mut self, now: Moment, order: &Order) {
        if self.refusal(order).is_some() {
            return;
        }
        match order {
            Order::Extend(by) => {
                if let Some(timeout) = self.policy.timeout {
                    // Of what is over already, nothing is left to add to.
                    let longer = timeout.max(self.policy.spent(now)).saturating_add(*by);
                    self.policy.timeout = Some(longer);
                    self.warned_of_timeout = self.policy.spent(now) >= self.policy.warning(longer);
                }
            }
            Order::Nudge(_) | Order::Stop | Order::Abort | Order::Complete => {}
        }
        self.orders.push(order.clone());
    }

    /// When to call [`observe`](Self::observe) with [`Observation::Elapsed`] if nothing happens before.
    pub fn deadline(&self) -> Option<Moment> {
        if self.exited {
            return None;
        }
        let facts = self.facts().moments();
        let looks = self.looking.moments(&self.sight.clocks, self.waits(), self.policy.idle);
        let repeats = self.sight.loops.deadline(self.now, &self.policy.loops);
        let ladder = self.ladder.deadline(&self.policy, &self.sight.clocks, self.done, self.now);
        facts
            .chain(looks.into_iter().chain([self.sight.deadline(), repeats, self.measures_from(), ladder]).flatten())
            .filter(|moment| *moment > self.now)
            .min()
    }

    /// What the command is doing.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Why it is thought to do that, in words.
    pub fn evidence(&self, now: Moment) -> String {
        let now = now.max(self.now);
        self.facts().evidence(now, self.state)
    }

    /// What it goes by, extensions included.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Why this order cannot be carried out now, if so.
    pub fn refusal(&self, order: &Order) -> Option<String> {
        if self.exited { Some("the command has ended".to_owned()) } else { self.ladder.refusal(order) }
    }

    /// Whether the command is being ended, whatever it still does.
    pub const fn is_ending(&self) -> bool {
        self.ladder.is_ending()
    }

    /// How long nothing that counts has changed.
    pub fn since_activity(&self, now: Moment) -> Duration {
        self.sight.clocks.silence(now)
    }

    /// From 0, nothing repeats, to 100, a loop.
    pub fn loop_suspicion(&self, now: Moment) -> u8 {
        self.sight.loops.suspicion(now, &self.policy.loops)
    }

    /// The cursor's row and column, from 1, as a terminal would report them.
    pub fn cursor(&mut self) -> (u16, u16) {
        let cursor = self.sight.shown().cursor();
        let from_one = |index: usize| u16::try_from(index + 1).unwrap_or(u16::MAX);
        (from_one(cursor.row), from_one(cursor.col))
    }

    /// The title that the command has given its terminal, if it has.
    pub fn title(&self) -> Option<&str> {
        self.sight.title()
    }

    /// Makes the analysis break at the next output, or when the screen is read before, for tests.
    #[cfg(debug_assertions)]
    #[doc(hidden)]
    pub fn break_down(&mut self) {
        self.sight.break_down();
    }

    /// Of every mark of the profile, in the order of [`Profile::marks`](super::Profile::marks), the row of the screen it
    /// is in, if it is there.
    pub fn sightings(&self) -> Vec<Option<String>> {
        let profile = self.policy.profile.as_ref();
        profile.map(|profile| self.sight.with_view(|view| profile.sightings(view))).unwrap_or_default()
    }

    /// The visible rows as text, without trailing blanks.
    pub fn rows(&mut self) -> Vec<String> {
        self.sight.shown().rows()
    }

    /// The screen in its colours; only where the policy wants pictures.
    pub fn picture(&mut self) -> Picture {
        self.sight.picture()
    }

    /// The same at the end of a run: a full-screen program that has just left its screen is still seen.
    pub fn last_picture(&mut self) -> Picture {
        self.sight.last_picture(self.now)
    }

    /// What the command is doing, and why it is thought so, in words.
    pub fn explain(&self, now: Moment) -> String {
        let now = now.max(self.now);
        let clocks = &self.sight.clocks;
        let ago =
            |at: Option<Moment>| at.map_or_else(|| "never".to_owned(), |at| format!("{} ago", span(now.since(at))));
        let mut words = format!("{}: {}", self.state, self.facts().evidence(now, self.state));
        let progress = format!("{} ago", span(clocks.silence(now)));
        // Writing to a string cannot fail.
        let _ = write!(words, "\nlast byte {}, last visible change {}", ago(clocks.byte), ago(clocks.change));
        let _ = write!(words, ", last progress {progress}");
        if let Some(profile) = &self.policy.profile {
            let _ = write!(words, "\nprofile: {}", profile.name);
        }
        let suspicion = self.loop_suspicion(now);
        if suspicion > 0 {
            let _ = write!(words, "\nloop suspicion: {suspicion} of 100");
        }
        words
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            policy: &self.policy,
            sight: &self.sight,
            reading: &self.reading,
            look: self.looking.found(),
            settled: self.looking.is_settled(),
            waited: self.waited,
            attended: self.attended,
            exited: self.exited,
        }
    }

    /// Whether the command waits for somebody: a person, or whoever reads what it prints.
    fn waits(&self) -> bool {
        self.state == State::Waiting || self.facts().is_held_up()
    }

    fn decide(&mut self, now: Moment, actions: &mut Vec<Action>) {
        self.looking.progressed(self.sight.clocks.progress);
        self.sight.forget_old_draft(self.reading.turn.is_some());
        if let Some(length) = self.gap.take() {
            actions.push(Action::Report(Event::Gap { length }));
        }
        if self.sight.clocks.silence(now) >= self.facts().worth_reading() {
            self.read_screen();
        }
        self.report_loops(now, actions);
        self.ask_for_looks(now, actions);
        self.change_state(now, actions);
        self.report_limits(now, actions);
        if self.measures_from().is_some_and(|from| now >= from) {
            self.measured = Some(self.sight.clocks.progress);
            actions.push(Action::Measure);
        }
        self.note_done(now);
        self.climb(now, actions);
    }

    /// Reads what the screen says about waiting, if its wording has changed.
    fn read_screen(&mut self) {
        if self.sight.take_reworded() {
            self.read_anew();
        }
    }

    fn read_anew(&mut self) {
        let turned = self.reading.turn.is_some();
        self.reading = Reading::read(&self.sight, &self.policy);
        if let (true, None, Some(draft)) = (turned, &self.reading.turn, &mut self.sight.draft) {
            // Typed ahead while it worked; now that is what it waits for.
            draft.at_prompt = true;
            self.sight.keep_draft(self.now);
        }
    }

    /// Whether the command has said that it is finished; what it says after that takes it back.
    fn note_done(&mut self, now: Moment) {
        let Some(pattern) = &self.policy.done else { return };
        if self.sight.take_said_done() {
            self.done = Some(now);
        }
        if self.sight.take_printed() {
            let shown = self.sight.with_view(|view| view.rows.iter().any(|row| pattern.find(row).is_some()));
            let went_on = self.done.is_some_and(|done| self.sight.clocks.progress.since(done) > SAME_BREATH);
            self.done = match (self.done, shown) {
                (None, true) => Some(now),
                (Some(_), false) if went_on => None,
                (done, _) => done,
            };
        }
    }

    /// Does what is due, all of it or nothing: the screen is read on the way, and if that breaks, what was ordered and
    /// done before is still known to whoever tries again.
    fn climb(&mut self, now: Moment, actions: &mut Vec<Action>) {
        if self.ladder.is_nudging() {
            // What was typed is looked for on the screen as it is now.
            self.sight.shown();
        }
        if self.ladder.may_type(now) {
            // What would be typed into is what is on the screen now, however short it has been there.
            self.sight.shown();
            self.read_anew();
        }
        let (mut ladder, mut due) = (self.ladder.clone(), Vec::new());
        let clocks = &self.sight.clocks;
        let situation = Situation {
            now,
            state: self.state,
            evidence: &|| self.facts().evidence(now, self.state),
            policy: &self.policy,
            since: clocks.progress,
            attended: self.attended,
            look: self.looking.found(),
            wait: self.reading.wait.as_ref(),
            typed: self.sight.last_typed,
            draft: self.sight.draft.is_some(),
            done: self.done,
            rows: &|| self.sight.with_view(|view| (view.rows.to_vec(), view.cursor)),
            byte: clocks.byte,
            turn: self.reading.turn.as_deref(),
        };
        if !self.exited {
            for order in &self.orders {
                ladder.told(order, &situation, &mut due);
            }
            if let Some(answers) = &self.answers {
                ladder.answered(answers, &situation, &mut due);
            }
            ladder.climb(&situation, &mut due);
        }
        (self.ladder, self.answers) = (ladder, None);
        self.orders.clear();
        let before = actions.len();
        actions.append(&mut due);
        for action in &actions[before..] {
            if let Action::Type(bytes) = action {
                // What is typed is echoed, and a submitted line is shown again: neither is the command's doing.
                self.sight.typed(now, bytes);
                self.policy.counting.add_own(bytes);
                if self.ladder.is_nudging() && self.reading.turn.is_some() {
                    self.sight.nudged(now);
                }
            }
        }
    }

    /// Why the command ends, if it ends now and that is our doing.
    pub fn ending_reason(&self) -> Option<Reason> {
        self.ladder.reason(self.now)
    }

    /// The command ended of what was done to it; what is left of its tree is ended as the policy says.
    pub fn conclude(&mut self) {
        self.ladder.conclude(self.now);
    }

    /// Whether it was said that the time is running out.
    pub fn has_warned_of_timeout(&self) -> bool {
        self.warned_of_timeout
    }

    /// Whether a step of the ladder wants the command started again.
    pub fn wants_relaunch(&self) -> bool {
        self.ladder.relaunches()
    }

    /// Whether everything was done to end the command.
    pub fn is_exhausted(&self) -> bool {
        self.ladder.is_exhausted(&self.policy)
    }

    /// When something was last printed, whatever it was.
    pub const fn last_output(&self) -> Option<Moment> {
        self.sight.clocks.byte
    }

    /// The guards that have to be asked outside.
    pub fn guards(&self) -> impl Iterator<Item = &Guard> {
        self.policy.guards.iter().filter(|guard| **guard != Guard::Turn)
    }

    /// How long silence may last.
    fn limit(&self) -> Option<Duration> {
        self.policy.silence(self.sight.clocks.byte.is_some())
    }

    /// When the guards begin to measure in this silence; none if they do already, or there are none.
    fn measures_from(&self) -> Option<Moment> {
        let progress = self.sight.clocks.progress;
        let idle = self.limit().filter(|_| self.measured != Some(progress) && !self.exited)?;
        self.guards().next()?;
        Some(progress + idle.saturating_mul(MEASURED) / 100)
    }

    /// From when on what happens outside happens in silence. What comes with the last output belongs to it: a command says
    /// what it begins, begins it, and that hangs.
    pub fn silent_from(&self) -> Moment {
        let breath = self.limit().map_or(SAME_BREATH, |idle| SAME_BREATH.min(idle / 4));
        self.sight.clocks.progress + breath
    }

    fn ask_for_looks(&mut self, now: Moment, actions: &mut Vec<Action>) {
        let why = (self.facts().is_silent(now), self.waits());
        if !self.exited && self.looking.asks(now, &self.sight.clocks, why, self.policy.idle) {
            actions.push(Action::Look);
        }
    }

    fn change_state(&mut self, now: Moment, actions: &mut Vec<Action>) {
        let (from, mut to) = (self.state, self.facts().state(now, self.state));
        if from == to {
            return;
        }
        let since =
            self.sight.last_typed.map_or(self.sight.clocks.progress, |typed| typed.max(self.sight.clocks.progress));
        // Once in a silence: what seems to wait now and then must not get a new reprieve each time.
        if from == State::Waiting && self.waited.is_none_or(|waited| waited < since) {
            self.waited = Some(now);
            to = self.facts().state(now, from);
        }
        let evidence = self.facts().evidence(now, to);
        self.state = to;
        actions.push(Action::Report(Event::StateChanged { from, to, evidence }));
        if let (State::Quiet, Some(limit)) = (to, self.facts().limit()) {
            let since_activity = self.sight.clocks.silence(now);
            actions.push(Action::Report(Event::IdleWarning { since_activity, limit }));
        }
    }

    fn report_loops(&mut self, now: Moment, actions: &mut Vec<Action>) {
        let suspicion = self.loop_suspicion(now);
        let found = self.sight.suspected.drain(..);
        actions.extend(found.map(|what| Action::Report(Event::LoopWarning { what, suspicion })));
    }

    fn report_limits(&mut self, now: Moment, actions: &mut Vec<Action>) {
        if let Some(limit) = self.policy.timeout
            && !self.warned_of_timeout
            && self.policy.spent(now) >= self.policy.warning(limit)
        {
            self.warned_of_timeout = true;
            actions.push(Action::Report(Event::TimeoutWarning { elapsed: self.policy.spent(now), limit }));
        }
        if self.sight.screen().is_lost() && !self.told_lost {
            self.told_lost = true;
            actions.push(Action::Report(Event::AnalysisLost));
        }
    }
}
