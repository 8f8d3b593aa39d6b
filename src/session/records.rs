//! What is kept of a run and told to others than the person at the terminal. It outlives a relaunch.

use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use super::Outcome;
use super::checkpoint;
use super::clock::Clock;
use super::events::{self, Events, Loss};
use super::notify::{self, Notify};
use super::record::Recorder;
use super::scribe::Scribe;
use super::tally::Tally;
use crate::config::{Config, Say};
use crate::control::Server;
use crate::error::Error;
use crate::report::{self, TaskStats, Tasks, history, plain, say};
use crate::watch::{Event, Moment, Observation, Size};

/// What the history will say of this run.
struct History {
    tally: report::Tally,
    run: String,
    at: String,
    says: bool,
}

impl History {
    /// Writes it. That it could not be written is of interest only to those who want to know everything.
    fn close(self) {
        let folder = std::env::current_dir().unwrap_or_default();
        let Some(run) = self.tally.finish(self.run, self.at, &folder.to_string_lossy()) else { return };
        let Some(place) = history::folder() else { return };
        if let (Err(error), true) = (history::append(&place, &run), self.says) {
            say(&format!("cannot write the history in {}: {error}", place.display()));
        }
    }
}

/// What tells one state of a file from another: device, number, size, time of its last change.
type Mark = (u64, u64, u64, i64, i64);

/// Everything that listens to a run.
#[derive(Default)]
pub struct Records {
    /// What the run is called, in every record.
    run: String,
    events: Option<Events>,
    scribe: Option<Scribe>,
    recorder: Option<Recorder>,
    notify: Option<Notify>,
    history: Option<History>,
    checkpoint: Option<PathBuf>,
    /// What was last read from there, and from which state of the file.
    tasks: Option<(Option<Mark>, TaskStats)>,
    /// Why the command was ended, where that could not be said while it ran.
    pub last_words: Option<String>,
    /// What of the command's output was lost, which made an error of its success.
    pub lost_output: Option<String>,
    /// What is still to be said about what was lost.
    losses: Vec<Loss>,
    /// What of that could not be said over the command's screen.
    kept: Vec<Loss>,
    says: bool,
    /// The socket, once the command runs.
    pub control: Option<Server>,
    /// What has happened so far.
    pub tally: Tally,
}

impl Records {
    /// Opens what was asked for. What cannot be opened is said, and the run goes on without it.
    pub fn open(config: &Config) -> Result<Self, Error> {
        let run = events::run_name();
        let tally = Tally::default();
        let started = tally.started;
        let mut records = Self { tally, says: config.say >= Say::Warnings, ..Self::default() };
        records.scribe = Scribe::new(config, run.clone(), started);
        records.losses.extend(records.scribe.as_ref().and_then(Scribe::trouble).map(Loss));
        if let Some(to) = &config.events {
            let opened = Events::open(to, &config.events_named, run.clone(), started)?;
            records.events = records.opened(opened);
        }
        if let Some(path) = &config.record {
            records.recorder = records.opened(Recorder::open(path));
        }
        records.history = config.history.then(|| History {
            tally: report::Tally::default(),
            run: run.clone(),
            at: humantime::format_rfc3339_seconds(started).to_string(),
            says: config.say >= Say::Everything,
        });
        records.notify = if config.notify { Notify::find() } else { None };
        records.run = run;
        records.checkpoint.clone_from(&config.checkpoint);
        records.say_losses();
        Ok(records)
    }

    fn opened<T>(&mut self, opened: Result<T, Loss>) -> Option<T> {
        opened.map_err(|loss| self.losses.push(loss)).ok()
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

    /// How far the command has come by its own list, if it keeps one.
    pub fn tasks(&mut self) -> Option<TaskStats> {
        let path = self.checkpoint.as_deref()?;
        let mark = std::fs::metadata(path).ok().map(|it| (it.dev(), it.ino(), it.len(), it.mtime(), it.mtime_nsec()));
        // Whoever asks often has it read once.
        if let Some((_, tasks)) = self.tasks.as_ref().filter(|(known, _)| mark.is_some() && *known == mark) {
            return Some(tasks.clone());
        }
        let tasks = match checkpoint::read(path) {
            Ok(Tasks { done, current, remaining }) => {
                TaskStats { done: done.len(), current, remaining: remaining.len(), unreadable: None }
            }
            Err(why) => TaskStats { unreadable: Some(why), ..TaskStats::default() },
        };
        self.tasks = Some((mark, tasks.clone()));
        Some(tasks)
    }

    /// So much time has passed since the command was started, and it is started again.
    pub fn shift(&mut self, by: Duration) {
        if let Some(recorder) = &mut self.recorder {
            recorder.shift(by);
        }
        if let Some(history) = &mut self.history {
            history.tally.shift(by);
        }
        if let Some(scribe) = &mut self.scribe {
            scribe.shift(by);
        }
    }

    /// Whether anybody wants to be told the progress.
    pub fn are_followed(&self) -> bool {
        self.events.is_some() || self.control.as_ref().is_some_and(Server::is_followed)
    }

    /// How often the progress is to be told, if at all.
    pub fn progress_every(&self, config: &Config) -> Option<Duration> {
        config.progress_every.filter(|_| self.are_followed())
    }

    /// Whoever writes the report, if one was asked for.
    pub fn scribe(&mut self) -> Option<&mut Scribe> {
        self.scribe.as_mut()
    }

    /// The run is over and nothing is started again: writes the report. What becomes of it is said, and changes nothing.
    pub fn conclude(&mut self, config: &Config, outcome: Outcome, gave_up: bool) {
        let Some(written) = self.scribe.take().and_then(|scribe| scribe.conclude(config, outcome, gave_up)) else {
            return;
        };
        let ended_it = matches!(outcome, Outcome::Ended(..)) || gave_up;
        match written {
            Err(why) if config.say >= Say::Warnings => say(&plain(&why)),
            Ok(path) if config.say >= Say::Warnings && ended_it => {
                say(&plain(&format!("report written to {}", path.display())));
            }
            _ => {}
        }
    }

    /// Variables that are for us, so that the command does not get them.
    pub fn taken_variables(&self) -> &'static [&'static str] {
        if self.notify.is_some() { &notify::VARIABLES } else { &[] }
    }

    /// When somebody has to be told something next.
    pub fn deadline(&self) -> Option<Moment> {
        self.notify.as_ref().and_then(Notify::deadline)
    }

    /// Tells what has to be told by now.
    pub fn mind(&mut self, now: Moment) {
        if let Some(notify) = &mut self.notify {
            notify.mind(now);
        }
    }

    /// How long nobody has to be told anything while nothing runs.
    pub fn longest_pause(&self) -> Option<Duration> {
        self.notify.as_ref().and_then(Notify::every)
    }

    /// Nothing runs for a while.
    pub fn pause(&mut self) {
        if let Some(notify) = &mut self.notify {
            notify.pause();
        }
    }

    /// The command is about to be watched, in a terminal of this size.
    pub fn begin(&mut self, size: Size, command: &[String]) {
        if let Some(notify) = &mut self.notify {
            notify.begin();
        }
        let recorder = self.recorder.as_mut();
        self.losses.extend(recorder.and_then(|recorder| recorder.begin(size, Clock::time_of_day(), command)));
    }

    /// Takes in what the watcher is told.
    pub fn observed(&mut self, at: Moment, observation: &Observation<'_>) {
        let recorder = self.recorder.as_mut();
        self.losses.extend(recorder.and_then(|recorder| recorder.observed(at, observation)));
    }

    /// Takes in an event of the run that has gone on for `at`.
    pub fn event(&mut self, at: Moment, event: &Event) {
        let when = Clock::time_of_day();
        self.tally.note(event);
        if let Some(control) = &mut self.control {
            control.event(when, at, event);
        }
        if let Some(scribe) = &mut self.scribe {
            scribe.event(when, at, event);
        }
        let events = self.events.as_mut();
        self.losses.extend(events.and_then(|events| events.write(when, at, event)));
        let recorder = self.recorder.as_mut();
        self.losses.extend(recorder.and_then(|recorder| recorder.event(at, event)));
        if let Some(notify) = &mut self.notify {
            notify.event(at, event);
        }
        if let Some(history) = &mut self.history {
            history.tally.event(at, event);
        }
    }

    /// The command could not be started, and the run has never begun: that is told as an event, and nothing else.
    pub fn never_begun(&mut self, event: &Event) {
        let events = self.events.as_mut();
        self.losses.extend(events.and_then(|events| events.write(Clock::time_of_day(), Moment::START, event)));
    }

    /// What to poll while something waits to be written.
    pub fn behind(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let events = self.events.as_ref().and_then(Events::behind);
        events.into_iter().chain(self.recorder.as_ref().and_then(Recorder::behind))
    }

    /// Writes what waits, as much as can be written now.
    pub fn flush(&mut self) {
        if let Some(events) = &mut self.events {
            events.flush();
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.flush();
        }
    }

    /// The next loss that nobody was told of yet.
    pub fn next_loss(&mut self) -> Option<Loss> {
        self.losses.pop()
    }

    /// This is to be said when the run is over.
    pub fn keep_loss(&mut self, loss: Loss) {
        self.kept.push(loss);
    }

    /// Writes the last lines, and says on standard error what was lost.
    pub fn close(mut self) {
        if let Some(notify) = &mut self.notify {
            notify.close();
        }
        self.losses.extend(self.events.as_mut().and_then(Events::close));
        self.losses.extend(self.recorder.as_mut().and_then(Recorder::close));
        self.say_losses();
        if let Some(history) = self.history {
            history.close();
        }
    }

    /// The last progress of the command was at this moment.
    pub fn progress(&mut self, at: Moment) {
        if let Some(history) = &mut self.history {
            history.tally.progress(at);
        }
    }

    /// Says what could not be said over the command's screen.
    pub fn say_last_words(&mut self) {
        let words = self.last_words.take().filter(|_| self.says);
        for words in self.lost_output.take().into_iter().chain(words) {
            say(&words);
        }
    }

    /// Says what was lost while there is no session to say it.
    pub fn say_losses(&mut self) {
        for Loss(what) in self.kept.drain(..).chain(self.losses.drain(..)) {
            if self.says {
                say(&what);
            }
        }
    }
}
