//! One run after the other, as often as the command is to be started.

use std::os::fd::RawFd;
use std::time::Duration;

use super::ending::ended;
use super::pause::{Paused, Standing, pause};
use super::records::Records;
use super::relaunch::{Again, Relaunches, Time};
use super::{Outcome, Session, Status, inherited};
use crate::cli::EventsTo;
use crate::config::{Config, Say};
use crate::error::Error;
use crate::exit::Reason;
use crate::report::say;
use crate::watch::{Event, Moment, Policy, span};

/// Runs the command to its end, and again where that was asked for. Gives how it ended the last time, with everything
/// as it was before.
pub fn run(config: &Config) -> Result<Outcome, Error> {
    let mut inherited = inherited::descriptors();
    let mut records = Records::open(config)?;
    if let Some(EventsTo::Descriptor(number)) = &config.events {
        // It was taken and closed, and its number may mean something else by now.
        inherited.retain(|fd| fd != number);
    }
    let outcome = repeat(config, &inherited, &mut records);
    records.close();
    outcome
}

fn repeat(config: &Config, inherited: &[RawFd], records: &mut Records) -> Result<Outcome, Error> {
    let mut relaunches = Relaunches::new(config);
    let mut argv = config.command.clone();
    let mut is_relaunch = false;
    let mut time = Time { limit: config.policy.timeout, earlier: Duration::ZERO, warned: false };
    loop {
        let mut session = Session::start(config, argv, inherited, time, records)
            .map_err(|error| never_started(config, error, is_relaunch, records))?;
        is_relaunch = true;
        session.watch();
        let asked = session.watcher.wants_relaunch();
        // Somebody may have given it more.
        time.limit = session.watcher.policy().timeout;
        time.warned = session.watcher.has_warned_of_timeout();
        let now = session.clock.now();
        let active = now - session.watcher.since_activity(now);
        let end = session.end(&config.exit);
        let (outcome, lasted) = (end.outcome, end.at);
        *records = end.records;
        records.say_last_words();
        if !end.relaunches {
            records.conclude(config, outcome, false);
            return Ok(outcome);
        }
        time.earlier = time.earlier.saturating_add(lasted.since_start());
        if asked && matches!(outcome, Outcome::Ended(Reason::Timeout, _)) {
            // Whoever wants it started again for that wants it to have its time again.
            time = Time { limit: config.policy.timeout, earlier: Duration::ZERO, warned: false };
        }
        let ends = time.limit.filter(|_| config.policy.ladders.timeout_ends());
        let left = ends.map(|limit| limit.saturating_sub(time.earlier));
        let Some(again) = relaunches.after(&outcome, lasted.since_start(), asked, left) else {
            if let (Some(why), true) = (relaunches.gave_up(), config.say >= Say::Warnings && config.relaunch.most > 0) {
                say(&format!("not relaunching: {why}"));
            }
            records.conclude(config, outcome, relaunches.gave_up().is_some());
            return Ok(outcome);
        };
        announce(config, &again, lasted, records);
        let policy = Policy { timeout: time.limit, earlier: time.earlier, ..config.policy.clone() };
        let standing = Standing { lasted, active, policy };
        let (how, length) = pause(again.delay, config.heartbeat, &standing, records)
            .map_err(|error| Error::internal(error.to_string()))?;
        let passed = lasted + length;
        time.earlier = time.earlier.saturating_add(length);
        if let Some(outcome) = end_in_pause(how, outcome) {
            records.event(passed, &ended(outcome, &config.exit));
            records.conclude(config, outcome, false);
            return Ok(outcome);
        }
        records.shift(passed.since_start());
        argv = again.argv;
    }
}

/// Notes that the command could not be started: there was none that could have ended.
fn never_started(config: &Config, error: Error, is_relaunch: bool, records: &mut Records) -> Error {
    let outcome = Outcome::Ended(error.reason(), None);
    let reason = Some(error.reason());
    let is_usage = error.code() == crate::exit::USAGE;
    let error = error.with_code_of(|reason| config.exit.code(reason));
    let event = Event::Ended { code: Some(error.code()), reason, child_code: None, child_signal: None };
    if is_relaunch {
        records.event(Moment::START, &event);
        records.conclude(config, outcome, true);
    } else if !is_usage {
        records.never_begun(&event);
    }
    error
}

/// Says that the command is started again, and why.
fn announce(config: &Config, again: &Again, lasted: Moment, records: &mut Records) {
    let command = again.command();
    let Again { count, why, delay, .. } = again.clone();
    if config.say >= Say::Warnings {
        let (pause, most) = (span(delay), config.relaunch.most);
        say(&format!("{why}; relaunching '{command}' in {pause} ({count} of {most})"));
    }
    records.event(lasted, &Event::Relaunched { count, why, delay, command });
    records.say_losses();
}

/// How it all ends if the pause after a run with this outcome ended so; none if it goes on.
fn end_in_pause(paused: Paused, outcome: Outcome) -> Option<Outcome> {
    let status = match outcome {
        Outcome::Itself(status) => Some(status),
        Outcome::Ended(_, status) => status,
    };
    match paused {
        Paused::Over => None,
        Paused::Signal(signal) => Some(Outcome::Itself(Status::Signal(signal))),
        Paused::Told(reason) => Some(Outcome::Ended(reason, status)),
    }
}
