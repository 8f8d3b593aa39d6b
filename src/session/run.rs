//! One run after the other, as often as the command is to be started.

use std::os::fd::RawFd;

use super::pause::{Paused, pause};
use super::records::Records;
use super::relaunch::{Again, Relaunches};
use super::{Outcome, Session, Status, inherited};
use crate::cli::EventsTo;
use crate::config::{Config, Say};
use crate::error::Error;
use crate::report::say;
use crate::watch::{Event, Moment, span};

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
    loop {
        let mut session = Session::start(config, argv, inherited, std::mem::take(records))?;
        session.watch();
        let (asked, lasted) = (session.watcher.wants_relaunch(), session.clock.now().since_start());
        let dismissed = session.dismissed;
        let outcome;
        (outcome, *records) = session.end(&config.exit);
        records.say_last_words();
        if dismissed && matches!(outcome, Outcome::Itself(_)) {
            records.conclude(config, outcome, false);
            return Ok(outcome);
        }
        let Some(again) = relaunches.after(&outcome, lasted, asked) else {
            records.conclude(config, outcome, relaunches.gave_up());
            return Ok(outcome);
        };
        if config.say >= Say::Warnings {
            let command = again.command();
            let Again { count, why, delay, .. } = &again;
            say(&format!(
                "{why}; '{command}' is started again in {} ({count} of {})",
                span(*delay),
                config.relaunch.most
            ));
        }
        let Again { count, why, delay, .. } = again.clone();
        let event = Event::Relaunched { count, why, delay, command: again.command() };
        let lasted = Moment::after_start(lasted);
        records.event(lasted, &event);
        records.say_losses();
        match pause(again.delay, lasted, records).map_err(|error| Error::internal(error.to_string()))? {
            Paused::Over => {}
            Paused::Signal(signal) => {
                let outcome = Outcome::Itself(Status::Signal(signal));
                records.conclude(config, outcome, false);
                return Ok(outcome);
            }
            Paused::Told(reason) => {
                let (Outcome::Itself(status) | Outcome::Ended(_, status)) = outcome;
                let outcome = Outcome::Ended(reason, status);
                records.conclude(config, outcome, false);
                return Ok(outcome);
            }
        }
        argv = again.argv;
    }
}
