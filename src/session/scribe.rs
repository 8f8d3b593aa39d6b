//! Whoever writes the post-mortem: takes notes while the command runs, and pictures when something is wrong.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::clock::Clock;
use super::look::{self, Usage};
use super::{Outcome, Session, checkpoint, ending, whole_file};
use crate::cli::ReportTo;
use crate::config::Config;
use crate::report::{Chronicle, End, Occasion, PostMortem, Resume, Scene, is_wrong};
use crate::watch::{Event, Moment, Observation, State, Watcher};

/// How many lines above the screen are kept for it.
pub const LINES_ABOVE: usize = 100;

/// What is needed to write the report of a run, relaunches included.
#[derive(Debug)]
pub struct Scribe {
    to: ReportTo,
    always: bool,
    run: String,
    chronicle: Chronicle,
    /// The processor time when the silence began.
    usage: Option<Usage>,
    scene: Option<Scene>,
    /// The scene shows what was there right before the first signal.
    before_signal: bool,
    /// It got well again: unless it is ended all the same, what was seen is not why it ended.
    stale: bool,
}

impl Scribe {
    /// One for the run called `run`, if a report was asked for.
    pub fn new(config: &Config, run: String, now: SystemTime) -> Option<Self> {
        Some(Self {
            to: config.report.clone()?,
            always: config.report_always,
            run,
            chronicle: Chronicle::new(now),
            usage: None,
            scene: None,
            before_signal: false,
            stale: false,
        })
    }

    /// What keeps the report from being written: better known now than when it is needed.
    pub fn trouble(&self) -> Option<String> {
        let error = whole_file::try_out(&self.to.path).err()?;
        Some(format!("the report cannot be written: {}: {error}", self.to.path.display()))
    }

    /// Takes in an event.
    pub fn event(&mut self, when: SystemTime, at: Moment, event: &Event) {
        self.chronicle.event(when, at, event);
        match event {
            Event::Started { .. } => {
                (self.scene, self.usage, self.before_signal) = (None, None, false);
            }
            Event::StateChanged { to: State::Active, .. } => self.stale = true,
            _ => {}
        }
    }

    /// So much time has passed since the command was started, and it is started again.
    pub fn shift(&mut self, by: Duration) {
        self.chronicle.shift(by);
    }

    /// Takes in what the watcher was told, once it has drawn its conclusions.
    pub fn observed(&mut self, now: Moment, observation: &Observation<'_>, watcher: &Watcher) {
        let bytes = match observation {
            Observation::Output { bytes, .. } => bytes.len() as u64,
            _ => 0,
        };
        self.chronicle.seen(now, bytes, now - watcher.since_activity(now));
    }

    /// Writes the report if this end deserves one. Gives the file, or what went wrong.
    pub fn conclude(self, config: &Config, outcome: Outcome, gave_up: bool) -> Option<Result<PathBuf, String>> {
        let Event::Ended { code, reason, child_code, child_signal } = ending::ended(outcome, &config.exit) else {
            return None;
        };
        let end = End { code, reason, child_code, child_signal, gave_up };
        if !end.is_stuck() && !gave_up && !self.always {
            return None;
        }
        let report = PostMortem {
            run: self.run,
            command: config.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            folder: std::env::current_dir().ok().map(|folder| folder.display().to_string()),
            system: system(),
            ended: Clock::time_of_day(),
            end,
            chronicle: self.chronicle,
            scene: self.scene.unwrap_or_default(),
            tasks: config.checkpoint.as_deref().map(checkpoint::read),
            resume: resume(config),
            policy: config.in_force(),
        };
        let text = report.render(self.to.format);
        let path = self.to.path;
        Some(match whole_file::write(&path, text.as_bytes()) {
            Ok(()) => Ok(path),
            Err(error) => Err(format!("cannot write the report: {}: {error}", path.display())),
        })
    }
}

fn resume(config: &Config) -> Option<Resume> {
    if let Some(command) = config.relaunch.with.clone() {
        return Some(Resume { command, source: "from --relaunch-with".to_owned() });
    }
    let profile = config.policy.profile.as_ref()?;
    let command = profile.resume.clone()?;
    Some(Resume { command, source: format!("from the profile {}", profile.name) })
}

fn system() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    [std::env::consts::OS, release.trim(), std::env::consts::ARCH].join(" ").replace("  ", " ")
}

impl Session {
    /// Notes what goes with an event that was just told: it may be the last chance to see it.
    pub(super) fn note(&mut self, event: &Event) {
        match event {
            Event::StateChanged { to: State::Quiet, .. } => {
                let (now, root) = (self.clock.now(), self.command.monitor.pid);
                if let Some(scribe) = self.teller.records.scribe() {
                    scribe.usage = look::usage(now, root);
                }
            }
            Event::StateChanged { to, .. } if is_wrong(*to) => {
                self.sketch(Occasion::Verdict);
                if let Some(scribe) = self.teller.records.scribe() {
                    scribe.before_signal = false;
                }
            }
            _ => {}
        }
    }

    /// The same before a signal, of which a program may clear its screen and leave.
    pub(super) fn sketch_before_signal(&mut self) {
        if self.teller.records.scribe().is_some_and(|scribe| !std::mem::replace(&mut scribe.before_signal, true)) {
            self.sketch(Occasion::Signal);
        }
    }

    /// The same at the end, where nothing is wrong.
    pub(super) fn sketch_the_end(&mut self) {
        let by_itself = self.fate.reason.is_none();
        if self.teller.records.scribe().is_some_and(|scribe| scribe.scene.is_none() || scribe.stale && by_itself) {
            self.sketch(Occasion::End);
        }
    }

    fn sketch(&mut self, taken: Occasion) {
        let terminals = self.terminals();
        let Some(scribe) = self.teller.records.scribe() else { return };
        let now = self.clock.now();
        let seen = look::processes(now, self.command.monitor.pid, &terminals, scribe.usage.as_ref());
        let (processes, left_out) = seen.map_or((None, 0), |(processes, more)| (Some(processes), more));
        let picture = if taken == Occasion::End { self.watcher.last_picture() } else { self.watcher.picture() };
        let elapsed = scribe.chronicle.elapsed(now);
        scribe.stale = false;
        scribe.scene = Some(Scene { elapsed, taken, picture, processes, left_out });
    }
}
