//! What clients ask of a run that goes on, answered.

use super::Session;
use super::clock::Clock;
use crate::control::{Answer, Request, Server};
use crate::report::{Limits, Stats};
use crate::span::milliseconds;
use crate::watch::{Moment, Observation, Order, Policy};

impl Session {
    /// Answers whatever was asked.
    pub(super) fn serve(&mut self) {
        while let Some((guest, request)) = self.teller.records.control.as_mut().and_then(Server::next_request) {
            if let (Request::Nudge(text), None) = (&request, self.refusal(&request)) {
                // It is answered by the event, which may come before this returns.
                self.reply(guest, &request, Answer::Later);
                self.observe(&Observation::Told(Order::Nudge(text.clone())));
                continue;
            }
            let answer = self.carry_out(&request);
            self.reply(guest, &request, answer);
        }
        self.follow_progress();
    }

    fn reply(&mut self, guest: u64, request: &Request, answer: Answer) {
        if let Some(control) = &mut self.teller.records.control {
            control.answer(guest, request, answer);
        }
    }

    fn carry_out(&mut self, request: &Request) -> Answer {
        let now = self.clock.now();
        if let Some(why) = self.refusal(request) {
            return Answer::Refused(why);
        }
        match request {
            Request::Stats => Answer::Stats(Clock::time_of_day(), now, Box::new(self.stats(now))),
            Request::Explain => Answer::Explanation(self.watcher.explain(now)),
            Request::Subscribe => Answer::Done,
            Request::Extend(_) | Request::Nudge(_) | Request::Stop | Request::Complete => {
                if let Some(order) = order(request) {
                    self.observe(&Observation::Told(order));
                }
                Answer::Done
            }
        }
    }

    /// Why this cannot be done now, if so.
    fn refusal(&self, request: &Request) -> Option<String> {
        let order = order(request)?;
        if self.fate.ended.is_some() {
            return Some("the command has ended".to_owned());
        }
        if matches!(order, Order::Nudge(_)) && !(self.inner.reads_pty && self.inner.pty.is_some()) {
            return Some("the command does not read from its terminal; start it with --stdin pty".to_owned());
        }
        self.watcher.refusal(&order)
    }

    fn stats(&mut self, now: Moment) -> Stats {
        let ending = self.fate.reason.or_else(|| self.watcher.ending_reason());
        Stats {
            state: self.watcher.state().to_string(),
            evidence: self.watcher.evidence(now),
            ending: ending.map(|reason| reason.name().to_owned()),
            since_activity: milliseconds(self.watcher.since_activity(now)),
            loop_suspicion: self.watcher.loop_suspicion(now),
            attended: self.outer.attended,
            tasks: self.teller.records.tasks(),
            ..self.teller.records.tally.stats(limits(self.watcher.policy(), now))
        }
    }

    /// The progress is told while somebody listens.
    fn follow_progress(&mut self) {
        match (self.teller.progress, self.teller.progress_every.filter(|_| self.teller.records.are_followed())) {
            (None, Some(every)) => self.teller.progress = Some((every, self.clock.now() + every)),
            (Some(_), None) => self.teller.progress = None,
            _ => {}
        }
    }
}

/// The order that a request stands for, if it is one.
fn order(request: &Request) -> Option<Order> {
    match request {
        Request::Stats | Request::Explain | Request::Subscribe => None,
        Request::Extend(by) => Some(Order::Extend(*by)),
        Request::Nudge(text) => Some(Order::Nudge(text.clone())),
        Request::Stop => Some(Order::Stop),
        Request::Complete => Some(Order::Complete),
    }
}

/// What a run is held to.
pub(super) fn limits(policy: &Policy, now: Moment) -> Limits {
    let left = policy.timeout.map(|timeout| timeout.saturating_sub(policy.spent(now)));
    Limits {
        idle: policy.idle.map(milliseconds),
        max_idle: policy.max_idle.map(milliseconds),
        timeout: policy.timeout.map(milliseconds),
        timeout_left: left.map(milliseconds),
        warn: policy.warn,
    }
}
