//! What has happened in a run so far, counted. It goes on across a relaunch.

use std::time::SystemTime;

use super::clock::Clock;
use crate::report::{Limits, Stats};
use crate::watch::{Event, State};

/// The counts.
#[derive(Debug)]
pub struct Tally {
    /// When the run began.
    pub started: SystemTime,
    /// The command that runs, or ran last.
    pub command: Vec<String>,
    /// Its process id.
    pub pid: i32,
    /// Nudges that were taken.
    pub nudges: u64,
    /// Signals sent to the process tree.
    pub signals: u64,
    /// How many times a guard deferred.
    pub deferrals: u64,
    /// How often the command was started again.
    pub relaunches: u64,
    /// Bytes that the command printed.
    pub output: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            started: Clock::time_of_day(),
            command: Vec::new(),
            pid: 0,
            nudges: 0,
            signals: 0,
            deferrals: 0,
            relaunches: 0,
            output: 0,
        }
    }
}

impl Tally {
    /// Counts this.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::Started { command, pid } => {
                self.command.clone_from(command);
                self.pid = *pid;
            }
            Event::Nudged { failed: None, .. } => self.nudges += 1,
            Event::Signaled { .. } => self.signals += 1,
            Event::GuardDeferred { .. } => self.deferrals += 1,
            Event::Relaunched { .. } => self.relaunches += 1,
            _ => {}
        }
    }

    /// The figures of a run whose command is not there.
    pub fn stats(&self, limits: Limits) -> Stats {
        Stats {
            started: humantime::format_rfc3339_millis(self.started).to_string(),
            command: self.command.clone(),
            pid: self.pid,
            idlewatch_pid: std::process::id(),
            cwd: std::env::current_dir().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
            state: State::Exited.to_string(),
            evidence: String::new(),
            ending: None,
            since_activity: 0,
            loop_suspicion: 0,
            attended: false,
            limits,
            nudges: self.nudges,
            signals: self.signals,
            deferrals: self.deferrals,
            relaunches: self.relaunches,
            output_bytes: self.output,
            tasks: None,
        }
    }
}
