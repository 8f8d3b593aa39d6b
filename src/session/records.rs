//! What is kept of a run and told to others than the person at the terminal. It outlives a relaunch.

use std::time::Duration;

use super::clock::Clock;
use super::events::{self, Events, Loss};
use crate::config::{Config, Say};
use crate::error::Error;
use crate::report::say;
use crate::watch::{Event, Moment};

/// Everything that listens to a run; by default nothing does.
#[derive(Default)]
pub struct Records {
    events: Option<Events>,
}

impl Records {
    /// Opens what was asked for. What cannot be opened is said, and the run goes on without it.
    pub fn open(config: &Config) -> Result<Self, Error> {
        let run = events::run_name();
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
        Ok(Self { events })
    }

    /// How often the progress is to be told, if anybody listens.
    pub fn progress_every(&self, config: &Config) -> Option<Duration> {
        config.progress_every.filter(|_| self.events.is_some())
    }

    /// Takes in an event of the run that has gone on for `at`. Gives what was lost, the first time something is.
    pub fn event(&mut self, at: Moment, event: &Event) -> Option<Loss> {
        self.events.as_mut()?.write(Clock::time_of_day(), at, event)
    }

    /// Writes what waits, without waiting for a slow reader. Gives what else has to be said.
    pub fn flush(&mut self) -> Option<Loss> {
        match self.events.as_mut().map(Events::finish) {
            Some(dropped @ 1..) => Some(Loss(format!("{dropped} events were dropped"))),
            _ => None,
        }
    }
}
