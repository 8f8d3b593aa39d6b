//! The ladder: from a verdict to the next step, one at a time, re-checked right before each.
//!
//! Trouble of one kind without progress in between is an episode. Progress ends it, and the next one begins on the
//! first rung again.
//!
//! A command that was told to end is not let off by its last words. A step that sends a signal gives it as long as
//! `--kill-after` does. What it prints in that time ends no episode that has steps left: they are taken when they are
//! due, or a command that says something at every signal would never get to the last. And if it ends in that time, the
//! signal is why, whatever it has printed. Progress after that time is a command that works on: it is let off, and the
//! next episode begins on the first rung. So is one that asks its user about the signal.
//!
//! A key is pressed to make room for what comes after it: Esc takes an agent out of a request that hangs, so that a nudge
//! is read at all. What the command shows of that ends no episode before the next key or nudge was typed. Nor does it
//! where there is no nudge left to type: or a command that answers every key and hangs again would never get to the last
//! step.

use std::time::Duration;

use super::clocks::Clocks;
use super::guarding::{Bounds, Guarding, Ruling};
use super::nudge::{Next, Nudge, Shown};
use super::situation::{BEGUN, Situation};
use super::{Action, Answer, Event, Guard, Moment, Order, Policy, Step};
use crate::exit::Reason;
use crate::signal::Signal;

/// A person who has just typed is not interrupted by a nudge.
const TYPING: Duration = Duration::from_secs(5);
/// How long a prompt waits for its answer.
const PROMPT: Duration = Duration::from_mins(1);
/// How long a command that was told to end has for its last words, where nothing is said of when it is killed.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// How far things have come.
#[derive(Debug, Clone, Default)]
pub(super) struct Ladder {
    episode: Option<Episode>,
    /// The last signal of an episode that is over.
    signaled: Option<Signaled>,
    fate: Option<Fate>,
    nudge: Option<Nudge>,
    /// What a person wants typed, and whether it is known by now what the command is doing.
    asked: Option<(String, bool)>,
    /// How many nudges were sent in this run.
    sent: usize,
    /// Until then nothing is done: somebody said so.
    held: Option<Moment>,
}

#[derive(Debug, Clone)]
struct Episode {
    trouble: Reason,
    step: usize,
    due: Moment,
    guarding: Guarding,
    /// The step for which somebody has looked.
    looked: Option<usize>,
    /// The prompt is open until then.
    prompt: Option<Moment>,
    /// The last signal that was sent and may end the command.
    signaled: Option<Signaled>,
    /// The step that a key was pressed for.
    prepared: Option<usize>,
    /// It was a nudge, and there was none left. What was shown before was about the key.
    left_out: Option<Moment>,
}

/// The command was told to end, and the ladder goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Signaled {
    reason: Reason,
    /// What it prints before are its last words.
    until: Moment,
}

/// The command is being ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fate {
    reason: Reason,
    asked: Moment,
    killed: bool,
    relaunch: bool,
}

impl Ladder {
    /// Why the command ends, if it ends now and we are the cause.
    pub(super) fn reason(&self, now: Moment) -> Option<Reason> {
        let before = self.signaled.filter(|signaled| now < signaled.until);
        let signaled = self.episode.as_ref().and_then(|episode| episode.signaled).or(before);
        self.fate.map(|fate| fate.reason).or_else(|| signaled.map(|signaled| signaled.reason))
    }

    /// Whether a step of the ladder wants the command started again.
    pub(super) fn relaunches(&self) -> bool {
        self.fate.is_some_and(|fate| fate.relaunch)
    }

    /// The command ended of what was done to it: what is left of its tree ends too.
    pub(super) fn conclude(&mut self, now: Moment) {
        if let (None, Some(reason)) = (self.fate, self.reason(now)) {
            self.fate = Some(Fate { reason, asked: now, killed: false, relaunch: false });
        }
        self.episode = None;
        (self.nudge, self.asked) = (None, None);
    }

    /// Why this order cannot be carried out now, if so.
    pub(super) fn refusal(&self, order: &Order) -> Option<String> {
        match self.fate {
            Some(fate) => Some(format!("the command is already being ended ({})", fate.reason)),
            None if !matches!(order, Order::Nudge(_)) => None,
            None => {
                let busy = self.nudge.is_some() || self.asked.is_some();
                busy.then(|| "another nudge is being typed".to_owned())
            }
        }
    }

    /// Whether the command is being ended.
    pub(super) const fn is_ending(&self) -> bool {
        self.fate.is_some()
    }

    /// Whether everything was done to end the command.
    pub(super) fn is_exhausted(&self, policy: &Policy) -> bool {
        self.fate.is_some_and(|fate| fate.killed || policy.ending.kill_after.is_none())
    }

    /// Does what is due.
    pub(super) fn climb(&mut self, situation: &Situation<'_>, actions: &mut Vec<Action>) {
        let now = situation.now;
        if let Some(fate) = &mut self.fate {
            let kill_after = situation.policy.ending.kill_after;
            if !fate.killed && kill_after.is_some_and(|after| now.since(fate.asked) >= after) {
                fate.killed = true;
                actions.push(Action::Signal { signal: Signal::KILL, reason: fate.reason });
            }
            return;
        }
        self.go_on_nudging(situation, actions);
        self.send_asked(situation, actions);
        if self.held.is_some_and(|held| now < held) {
            return;
        }
        let trouble = self.prepared().or_else(|| situation.trouble()).or_else(|| self.unfinished(situation));
        let Some(trouble) = trouble else {
            self.end_episode(actions);
            return;
        };
        self.begin(trouble, situation, actions);
        while self.nudge.is_none() && self.asked.is_none() && self.fate.is_none() && self.step(situation, actions) {}
    }

    /// What a key was pressed about, while what it was pressed for is still to be typed.
    fn prepared(&self) -> Option<Reason> {
        let is_prepared = |episode: &&Episode| episode.prepared.is_some_and(|step| episode.step <= step);
        self.episode.as_ref().filter(is_prepared).map(|episode| episode.trouble)
    }

    /// What there are steps left about, if all that speaks against them are the command's last words, or its answer to a
    /// key.
    fn unfinished(&self, situation: &Situation<'_>) -> Option<Reason> {
        let episode = self.episode.as_ref()?;
        let last_words = episode.signaled.is_some_and(|signaled| situation.since < signaled.until);
        let about_the_key = episode.left_out.is_some_and(|left_out| situation.since < left_out);
        let steps_left = episode.step < situation.steps(episode.trouble).len();
        ((last_words || about_the_key) && steps_left && !situation.asks_person()).then_some(episode.trouble)
    }

    fn begin(&mut self, trouble: Reason, situation: &Situation<'_>, actions: &mut Vec<Action>) {
        let now = situation.now;
        match &mut self.episode {
            Some(episode) if episode.trouble == trouble => {}
            // Silence that turns out to be a question, or the other way round, is the same silence.
            Some(episode) if situation.steps(episode.trouble) == situation.steps(trouble) => episode.trouble = trouble,
            _ => {
                self.end_episode(actions);
                let guarding = Guarding::default();
                let (looked, prompt, signaled, prepared, left_out) = (None, None, None, None, None);
                self.episode = Some(Episode {
                    trouble,
                    step: 0,
                    due: now,
                    guarding,
                    looked,
                    prompt,
                    signaled,
                    prepared,
                    left_out,
                });
            }
        }
    }

    /// There is no prompt to wait for.
    pub(super) fn unasked(&mut self, now: Moment) {
        if let Some(until) = self.episode.as_mut().and_then(|episode| episode.prompt.as_mut()) {
            *until = now;
        }
    }

    fn end_episode(&mut self, actions: &mut Vec<Action>) {
        let Some(episode) = self.episode.take() else { return };
        self.signaled = episode.signaled.or(self.signaled);
        if episode.prompt.is_some() {
            actions.push(Action::ClosePrompt);
        }
    }

    /// Takes the next step, if it is due. Whether there may be another at once.
    fn step(&mut self, situation: &Situation<'_>, actions: &mut Vec<Action>) -> bool {
        let Some(episode) = &mut self.episode else { return false };
        let (now, trouble) = (situation.now, episode.trouble);
        if let Some(until) = episode.prompt {
            if now < until {
                return false;
            }
            episode.prompt = None;
            episode.step += 1;
            actions.push(Action::ClosePrompt);
        }
        let Some(step) = situation.steps(trouble).get(episode.step).filter(|_| now >= episode.due) else {
            return false;
        };
        if situation.is_guarded(trouble) && *step != Step::Warn {
            match episode.guarding.rule(now, situation.bounds(), !situation.policy.guards.is_empty()) {
                Ruling::Go => {}
                Ruling::Wait => return false,
                Ruling::Ask => {
                    actions.push(Action::Ask);
                    return false;
                }
            }
        }
        let acts = !matches!(step, Step::Warn | Step::Wait(_) | Step::Run(_) | Step::Prompt);
        if acts && episode.looked != Some(episode.step) {
            // Things may have changed since the verdict.
            episode.looked = Some(episode.step);
            actions.push(Action::Look);
            return false;
        }
        let step = step.clone();
        self.perform(&step, trouble, situation, actions)
    }

    fn perform(&mut self, step: &Step, trouble: Reason, situation: &Situation<'_>, actions: &mut Vec<Action>) -> bool {
        let Some(episode) = &mut self.episode else { return false };
        let now = situation.now;
        match step {
            Step::Warn => actions.push(Action::Warn {
                about: trouble,
                evidence: (situation.evidence)(),
                limit: situation.limit(trouble),
                // What waits has done so for a while when its limit has passed.
                known: episode.step == 0 && trouble != Reason::WaitingInput,
            }),
            Step::Wait(duration) => episode.due = now + *duration,
            Step::Run(shell) => actions.push(Action::Run(shell.clone())),
            Step::Key(key) => {
                if let Some(typed) = situation.typed.filter(|typed| now.since(*typed) < TYPING) {
                    episode.due = typed + TYPING;
                    return false;
                }
                // What somebody has begun is theirs to submit.
                let failed = situation.draft.then_some(BEGUN).map(str::to_owned);
                if failed.is_none() {
                    let types = |step: &Step| matches!(step, Step::Key(_) | Step::Nudge(_));
                    let mut after = situation.steps(trouble).iter().enumerate().skip(episode.step + 1);
                    let next = after.find(|(_, step)| !matches!(step, Step::Wait(_)));
                    episode.prepared = next.filter(|(_, step)| types(step)).map(|(index, _)| index);
                    actions.push(Action::Type(key.bytes().to_vec()));
                }
                actions.push(Action::Report(Event::Nudged { text: step.to_string(), failed }));
            }
            Step::Prompt if situation.attended => {
                if let Some(typed) = situation.typed.filter(|typed| now.since(*typed) < TYPING) {
                    episode.due = typed + TYPING;
                    return false;
                }
                episode.prompt = Some(now + PROMPT);
                actions.push(Action::Prompt { about: trouble, evidence: (situation.evidence)() });
                return false;
            }
            Step::Signal(signal) if situation.may_end(trouble) => {
                if signal.ends() {
                    let until = now + situation.policy.ending.kill_after.unwrap_or(LAST_WORDS);
                    episode.signaled = Some(Signaled { reason: trouble, until });
                }
                actions.push(Action::Signal { signal: *signal, reason: trouble });
            }
            Step::Stop | Step::Relaunch if situation.may_end(trouble) => {
                self.end(now, trouble, *step == Step::Relaunch, situation.policy, actions);
                return false;
            }
            Step::Prompt | Step::Signal(_) | Step::Stop | Step::Relaunch => {}
            Step::Nudge(text) => {
                if let Some(typed) = situation.typed.filter(|typed| now.since(*typed) < TYPING) {
                    episode.due = typed + TYPING;
                    return false;
                }
                let texts = &situation.policy.nudges.texts;
                let text = text.clone().or_else(|| texts.get(self.sent % texts.len().max(1)).cloned());
                let asked_for = matches!(step, Step::Nudge(Some(_)));
                let was_prepared = episode.prepared == Some(episode.step);
                episode.step += 1;
                match text.filter(|_| self.sent < situation.policy.nudges.most) {
                    Some(text) => self.send(&text, asked_for, situation, actions),
                    None => episode.left_out = was_prepared.then_some(now).or(episode.left_out),
                }
                return true;
            }
        }
        if let Some(episode) = &mut self.episode {
            episode.step += 1;
        }
        true
    }

    /// Ends the command: asks now, insists later.
    fn end(&mut self, now: Moment, reason: Reason, relaunch: bool, policy: &Policy, actions: &mut Vec<Action>) {
        self.end_episode(actions);
        let unfinished = self.nudge.take().map(|nudge| nudge.text).or_else(|| self.asked.take().map(|(text, _)| text));
        if let Some(text) = unfinished {
            let failed = Some("the command was told to end".to_owned());
            actions.push(Action::Report(Event::Nudged { text, failed }));
        }
        let signal = policy.ending.signal;
        self.fate = Some(Fate { reason, asked: now, killed: signal == Signal::KILL, relaunch });
        actions.push(Action::Signal { signal, reason });
    }

    /// Begins to type a nudge.
    fn send(&mut self, text: &str, asked_for: bool, situation: &Situation<'_>, actions: &mut Vec<Action>) {
        let refused = situation.refuses(asked_for).map_or(Ok(()), Err);
        let failed = match refused.and_then(|()| Nudge::begin(situation.now, text, situation.look)) {
            Ok((nudge, bytes)) => {
                self.sent += 1;
                actions.push(Action::Type(bytes));
                if nudge.is_some() {
                    self.nudge = nudge;
                    return;
                }
                None
            }
            Err(why) => Some(why.to_owned()),
        };
        actions.push(Action::Report(Event::Nudged { text: text.to_owned(), failed }));
    }

    /// Types what a person wants typed, once somebody has looked what it would be typed into.
    fn send_asked(&mut self, situation: &Situation<'_>, actions: &mut Vec<Action>) {
        let typing = situation.typed.is_some_and(|typed| situation.now.since(typed) < TYPING);
        match self.asked.take() {
            None => {}
            Some((text, false)) => self.asked = Some((text, true)),
            Some((text, true)) if typing => {
                let failed = Some("someone is typing".to_owned());
                actions.push(Action::Report(Event::Nudged { text, failed }));
            }
            Some((text, true)) => self.send(&text, true, situation, actions),
        }
    }

    /// Whether something may begin to be typed now: somebody has looked what it would be typed into.
    pub(super) fn may_type(&self, now: Moment) -> bool {
        let looked = |episode: &Episode| episode.looked == Some(episode.step) && now >= episode.due;
        self.asked.is_some() || self.episode.as_ref().is_some_and(looked)
    }

    /// Whether something is being typed.
    pub(super) const fn is_nudging(&self) -> bool {
        self.nudge.is_some()
    }

    fn go_on_nudging(&mut self, situation: &Situation<'_>, actions: &mut Vec<Action>) {
        let Some(nudge) = &mut self.nudge else { return };
        let (rows, cursor) = (situation.rows)();
        let shown = Shown { rows: &rows, cursor, byte: situation.byte, progress: situation.since };
        let next =
            if nudge.is_disturbed(situation.typed) { Next::Failed(BEGUN) } else { nudge.step(situation.now, shown) };
        let failed = match next {
            Next::Wait(_) => return,
            Next::Type(bytes) => return actions.push(Action::Type(bytes)),
            Next::Sent => None,
            Next::Failed(why) => Some(why.to_owned()),
        };
        let text = std::mem::take(&mut nudge.text);
        self.nudge = None;
        if let Some(episode) = &mut self.episode {
            // The steps after a nudge count from when it had arrived.
            episode.due = episode.due.max(situation.now);
        }
        actions.push(Action::Report(Event::Nudged { text, failed }));
    }

    /// What the guards said.
    pub(super) fn answered(&mut self, answers: &[Answer], situation: &Situation<'_>, actions: &mut Vec<Action>) {
        let Some(episode) = &mut self.episode else { return };
        let mut answers = answers.to_vec();
        if situation.policy.guards.contains(&Guard::Turn) {
            answers.push(Answer { guard: Guard::Turn, word: situation.turn_speaks().into() });
        }
        if let Some(deferral) = episode.guarding.answered(situation.now, situation.bounds(), &answers) {
            let super::guarding::Deferral { guard, reason, recheck, left } = deferral;
            actions.push(Action::Report(Event::GuardDeferred { guard, reason, recheck, left }));
        }
    }

    /// Somebody said what to do.
    pub(super) fn told(&mut self, order: &Order, situation: &Situation<'_>, actions: &mut Vec<Action>) {
        let now = situation.now;
        match order {
            Order::Extend(by) => {
                self.end_episode(actions);
                self.held = self.held.max(Some(now + *by));
                actions.push(Action::Report(Event::TimeoutExtended { by: *by }));
            }
            Order::Stop | Order::Abort | Order::Complete => {
                let (reason, event) = match order {
                    Order::Complete => (Reason::Completed, Event::ForceCompleted),
                    Order::Abort => (Reason::Aborted, Event::ForceStopped { reason: Reason::Aborted }),
                    _ => (Reason::Stopped, Event::ForceStopped { reason: Reason::Stopped }),
                };
                actions.push(Action::Report(event));
                self.end(now, reason, false, situation.policy, actions);
            }
            Order::Nudge(text) => {
                self.asked = Some((text.clone(), false));
                actions.push(Action::Look);
            }
        }
    }

    /// When to come back if nothing happens before.
    pub(super) fn deadline(
        &self,
        policy: &Policy,
        clocks: &Clocks,
        done: Option<Moment>,
        now: Moment,
    ) -> Option<Moment> {
        if let Some(fate) = self.fate {
            return policy.ending.kill_after.filter(|_| !fate.killed).map(|after| fate.asked + after);
        }
        let bounds = Bounds::new(policy, clocks.byte.is_some(), clocks.progress);
        let episode = self.episode.as_ref();
        let typing = self.nudge.is_some() || self.asked.is_some();
        let soon = typing.then(|| now + Duration::from_millis(100));
        [
            self.held,
            self.signaled.map(|signaled| signaled.until),
            soon,
            done.map(|done| done.max(clocks.progress) + policy.done_idle),
            episode.map(|episode| episode.due),
            episode.and_then(|episode| episode.prompt),
            episode.and_then(|episode| episode.guarding.deadline(bounds)),
        ]
        .into_iter()
        .flatten()
        .filter(|moment| *moment > now)
        .min()
    }
}
