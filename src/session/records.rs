//! What is kept of a run and told to others than the person at the terminal. It outlives a relaunch.

use std::time::Duration;

use super::clock::Clock;
use super::events::{self, Events, Loss};
use super::tally::Tally;
use crate::config::{Config, Say};
use crate::control::Server;
use crate::error::Error;
use crate::report::say;
use crate::watch::{Event, Moment};

/// Everything that listens to a run; by default nothing does.
#[derive(Default)]
pub struct Records {
    /// What the run is called, in every record.
    run: String,
    events: Option<Events>,
    /// The socket, once the command runs.
    pub control: Option<Server>,
    /// What has happened so far.
    pub tally: Tally,
}

impl Records {
    /// Opens what was asked for. What cannot be opened is said, and the run goes on without it.
    pub fn open(config: &Config) -> Result<Self, Error> {
        let (run, tally) = (events::run_name(), Tally::default());
        let events = match &config.events {
            None => None,
            Some(to) => match Events::open(to, run.clone(), tally.started)? {
                Ok(events) => Some(events),
                Err(Loss(what)) => {
                    if config.say >= Say::Warnings {
                        say(&what);
                    }
                    None
                }
            },
        };
        Ok(Self { run, events, control: None, tally })
    }

    /// Begins to listen on the run's socket, if it does not yet. In words why not, where it cannot.
    ///
    /// Only once the command runs, so that it does not wait for this.
    pub fn listen(&mut self) -> Result<(), String> {
        if self.control.is_none() {
            self.control = Some(Server::open(&self.run, self.tally.started)?);
        }
        Ok(())
    }

    /// Whether anybody wants to be told the progress.
    pub fn are_followed(&self) -> bool {
        self.events.is_some() || self.control.as_ref().is_some_and(Server::is_followed)
    }

    /// How often the progress is to be told, if at all.
    pub fn progress_every(&self, config: &Config) -> Option<Duration> {
        config.progress_every.filter(|_| self.are_followed())
    }

    /// Takes in an event of the run that has gone on for `at`. Gives what was lost, the first time something is.
    pub fn event(&mut self, at: Moment, event: &Event) -> Option<Loss> {
        self.tally.note(event);
        if let Some(control) = &mut self.control {
            control.event(Clock::time_of_day(), at, event);
        }
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
