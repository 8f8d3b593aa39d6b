//! What is kept of a run and told to others than the person at the terminal. It outlives a relaunch.

use std::time::Duration;

use super::Outcome;
use super::clock::Clock;
use super::events::{self, Events, Loss};
use super::scribe::Scribe;
use crate::config::{Config, Say};
use crate::error::Error;
use crate::report::{plain, say};
use crate::watch::{Event, Moment};

/// Everything that listens to a run; by default nothing does.
#[derive(Default)]
pub struct Records {
    events: Option<Events>,
    scribe: Option<Scribe>,
}

impl Records {
    /// Opens what was asked for. What cannot be opened is said, and the run goes on without it.
    pub fn open(config: &Config) -> Result<Self, Error> {
        let run = events::run_name();
        let scribe = Scribe::new(config, run.clone(), Clock::time_of_day());
        let events = match &config.events {
            None => None,
            Some(to) => match Events::open(to, run, Clock::time_of_day())? {
                Ok(events) => Some(events),
                Err(Loss(what)) => {
                    if config.say >= Say::Warnings {
                        say(&what);
                    }
                    None
                }
            },
        };
        Ok(Self { events, scribe })
    }

    /// How often the progress is to be told, if anybody listens.
    pub fn progress_every(&self, config: &Config) -> Option<Duration> {
        config.progress_every.filter(|_| self.events.is_some())
    }

    /// Takes in an event of the run that has gone on for `at`. Gives what was lost, the first time something is.
    pub fn event(&mut self, at: Moment, event: &Event) -> Option<Loss> {
        let when = Clock::time_of_day();
        if let Some(scribe) = &mut self.scribe {
            scribe.event(when, at, event);
        }
        self.events.as_mut()?.write(when, at, event)
    }

    /// Whoever writes the report, if one was asked for.
    pub fn scribe(&mut self) -> Option<&mut Scribe> {
        self.scribe.as_mut()
    }

    /// The run is over and nothing is started again: writes the report. What becomes of it is said, and changes nothing.
    pub fn conclude(self, config: &Config, outcome: Outcome, gave_up: bool) {
        let Some(written) = self.scribe.and_then(|scribe| scribe.conclude(config, outcome, gave_up)) else { return };
        let ended_it = matches!(outcome, Outcome::Ended(..)) || gave_up;
        match written {
            Err(why) if config.say >= Say::Warnings => say(&plain(&why)),
            Ok(path) if config.say >= Say::Warnings && ended_it => {
                say(&plain(&format!("the report is in {}", path.display())));
            }
            _ => {}
        }
    }

    /// Writes what waits, without waiting for a slow reader. Gives what else has to be said.
    pub fn flush(&mut self) -> Option<Loss> {
        match self.events.as_mut().map(Events::finish) {
            Some(dropped @ 1..) => Some(Loss(format!("{dropped} events were dropped"))),
            _ => None,
        }
    }
}
