//! One run after the other, as often as the command is to be started.

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
    let mut relaunches = Relaunches::new(config);
    let mut argv = config.command.clone();
    loop {
        let mut session = Session::start(config, argv, &inherited, records)?;
        session.watch();
        let (asked, lasted) = (session.watcher.wants_relaunch(), session.clock.now().since_start());
        let dismissed = session.dismissed;
        let outcome;
        (outcome, records) = session.end(&config.exit);
        if dismissed && matches!(outcome, Outcome::Itself(_)) {
            return Ok(outcome);
        }
        let Some(again) = relaunches.after(&outcome, lasted, asked) else { return Ok(outcome) };
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
        match pause(again.delay, lasted, &mut records).map_err(|error| Error::internal(error.to_string()))? {
            Paused::Over => {}
            Paused::Signal(signal) => return Ok(Outcome::Itself(Status::Signal(signal))),
            Paused::Told(reason) => {
                let (Outcome::Itself(status) | Outcome::Ended(_, status)) = outcome;
                return Ok(Outcome::Ended(reason, status));
            }
        }
        argv = again.argv;
    }
}
