//! What clients ask of a run that goes on, answered; and the pause between two starts, in which they are answered too.

use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::AsFd;

use super::Session;
use super::clock::Clock;
use super::records::Records;
use super::signals::Signals;
use crate::control::{Answer, Request};
use crate::exit::Reason;
use crate::report::{Limits, Stats, milliseconds};
use crate::signal::Signal;
use crate::watch::{Event, Moment, Observation, Order, Policy, State, span};

/// How soon a door that could let nobody in is tried again.
pub(super) const TRY_AGAIN: Duration = Duration::from_secs(1);

impl Session {
    /// Answers whatever was asked.
    pub(super) fn serve(&mut self) {
        while let Some((guest, request)) = self.records.control.as_mut().and_then(|control| control.next_request()) {
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
        if let Some(control) = &mut self.records.control {
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
            Request::Explain => return Answer::Explanation(self.watcher.explain(now)),
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
        if self.ended.is_some() {
            return Some("the command has ended".to_owned());
        }
        if matches!(order, Order::Nudge(_)) && !(self.reads_pty && self.pty.is_some()) {
            return Some("the command does not read from its terminal; start it with --stdin pty".to_owned());
        }
        self.watcher.refusal(&order)
    }

    fn stats(&self, now: Moment) -> Stats {
        let ending = self.reason.or_else(|| self.watcher.ending_reason());
        Stats {
            state: self.watcher.state().to_string(),
            evidence: self.watcher.evidence(now),
            ending: ending.map(|reason| reason.name().to_owned()),
            since_activity: milliseconds(self.watcher.since_activity(now)),
            loop_suspicion: self.watcher.loop_suspicion(now),
            attended: self.attended,
            limits: limits(self.watcher.policy(), now),
            ..self.records.stats()
        }
    }

    /// The progress is told while somebody listens.
    fn follow_progress(&mut self) {
        match (self.progress, self.progress_every.filter(|_| self.records.are_followed())) {
            (None, Some(every)) => self.progress = Some((every, self.clock.now() + every)),
            (Some(_), None) => self.progress = None,
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

fn limits(policy: &Policy, now: Moment) -> Limits {
    let left = policy.timeout.map(|timeout| timeout.saturating_sub(now.since_start()));
    Limits {
        idle: policy.idle.map(milliseconds),
        max_idle: policy.max_idle.map(milliseconds),
        timeout: policy.timeout.map(milliseconds),
        timeout_left: left.map(milliseconds),
        warn: policy.warn,
    }
}

impl Records {
    /// The figures of a run whose command is not there.
    fn stats(&self) -> Stats {
        let tally = &self.tally;
        Stats {
            started: humantime::format_rfc3339_millis(tally.started).to_string(),
            command: tally.command.clone(),
            pid: tally.pid,
            idlewatch_pid: std::process::id(),
            cwd: std::env::current_dir().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
            state: State::Exited.to_string(),
            evidence: String::new(),
            ending: None,
            since_activity: 0,
            loop_suspicion: 0,
            attended: false,
            limits: Limits { idle: None, max_idle: None, timeout: None, timeout_left: None, warn: 100 },
            nudges: tally.nudges,
            signals: tally.signals,
            deferrals: tally.deferrals,
            relaunches: tally.relaunches,
            output_bytes: tally.output,
        }
    }
}

/// How a pause between two starts ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paused {
    /// It is over.
    Over,
    /// This signal ends the program.
    Signal(Signal),
    /// Somebody said to leave it at that, for this reason.
    Told(Reason),
}

/// Waits this long between two starts; `lasted` is how long the last run went on. Signals and clients are heard.
pub fn pause(length: Duration, lasted: Moment, records: &mut Records) -> io::Result<Paused> {
    let clock = Clock::start();
    let mut signals = Signals::catch()?;
    loop {
        let left = length.saturating_sub(clock.now().since_start());
        if left.is_zero() {
            return Ok(Paused::Over);
        }
        let resting = records.control.as_ref().is_some_and(|control| control.is_resting());
        let wait = if resting { left.min(TRY_AGAIN) } else { left };
        let timeout = PollTimeout::try_from(wait.as_millis().min(60_000) as i32 + 1).unwrap_or(PollTimeout::MAX);
        let watched: Vec<_> = records.control.iter().flat_map(|control| control.watched()).collect();
        let mut fds = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        fds.extend(watched.iter().map(|(_, fd, flags)| PollFd::new(*fd, *flags)));
        // An interrupted wait is only shorter.
        let _ = poll(&mut fds, timeout);
        let ready = fds[1..].iter().map(|fd| fd.revents().unwrap_or(PollFlags::empty()));
        let ready: Vec<_> = watched.iter().map(|(which, ..)| *which).zip(ready).collect();
        let ends = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];
        if let Some((signal, _)) = signals.arrived().into_iter().find(|(signal, _)| ends.contains(signal)) {
            return Ok(Paused::Signal(signal));
        }
        if let Some(control) = &mut records.control {
            control.wake();
            for (which, events) in ready.into_iter().filter(|(_, events)| !events.is_empty()) {
                control.attend(which, events);
            }
        }
        let left = length.saturating_sub(clock.now().since_start());
        if let Some(reason) = serve_paused(left, lasted, records) {
            return Ok(Paused::Told(reason));
        }
    }
}

/// Answers whatever is asked while the command is not there. Gives why it is not to be started again, if somebody
/// says so.
fn serve_paused(left: Duration, lasted: Moment, records: &mut Records) -> Option<Reason> {
    let evidence = format!("it is started again in {}", span(left));
    while let Some((guest, request)) = records.control.as_mut().and_then(|control| control.next_request()) {
        let (answer, told) = match &request {
            Request::Stats => {
                let stats = Stats { evidence: evidence.clone(), ..records.stats() };
                (Answer::Stats(Clock::time_of_day(), lasted, Box::new(stats)), None)
            }
            Request::Explain => (Answer::Explanation(format!("{}: {evidence}", State::Exited)), None),
            Request::Subscribe => (Answer::Done, None),
            Request::Extend(_) | Request::Nudge(_) => {
                (Answer::Refused(format!("the command is not running: {evidence}")), None)
            }
            Request::Stop => (Answer::Done, Some((Reason::Stopped, Event::ForceStopped { reason: Reason::Stopped }))),
            Request::Complete => (Answer::Done, Some((Reason::Completed, Event::ForceCompleted))),
        };
        if let Some(control) = &mut records.control {
            control.answer(guest, &request, answer);
        }
        if let Some((reason, event)) = told {
            records.event(lasted, &event);
            return Some(reason);
        }
    }
    None
}
