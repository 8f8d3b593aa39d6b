//! How a run stands, in figures: what `session_stats` tells.

use serde::{Deserialize, Serialize};

use super::short::{cut, cut_all};

/// How much of a command line and of the tasks is told, and of a single text.
const MOST: usize = 16 * 1024;
const LONGEST: usize = 4 * 1024;

/// The figures of a run that goes on. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// When the run began, as RFC 3339.
    pub started: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The command's process id.
    pub pid: i32,
    /// The process id of idlewatch.
    pub idlewatch_pid: u32,
    /// The folder it was started in.
    pub cwd: String,
    /// What the command is doing.
    pub state: String,
    /// Why that is thought.
    pub evidence: String,
    /// Why it is being ended, if it is.
    pub ending: Option<String>,
    /// How long nothing that counts has changed.
    pub since_activity: u64,
    /// 0 to 100.
    pub loop_suspicion: u8,
    /// Somebody is at the terminal to answer.
    pub attended: bool,
    /// What it is held to.
    pub limits: Limits,
    /// How many nudges were typed.
    pub nudges: u64,
    /// How many times a signal was sent to the process tree.
    pub signals: u64,
    /// How many times a guard deferred.
    pub deferrals: u64,
    /// How often the command was started again.
    pub relaunches: u64,
    /// How many bytes the command has printed.
    pub output_bytes: u64,
    /// The command's own list of tasks, where there is one.
    pub tasks: Option<TaskStats>,
}

impl Stats {
    /// Cuts every text that somebody else chose the length of, so that an answer stays far below what whoever asks
    /// reads: a command line may have megabytes.
    pub fn shorten(&mut self) {
        self.command = cut_all(self.command.iter(), MOST, LONGEST);
        self.cwd = cut(&self.cwd, LONGEST);
        self.evidence = cut(&self.evidence, LONGEST);
        if let Some(tasks) = &mut self.tasks {
            tasks.current = cut_all(tasks.current.iter(), MOST, LONGEST);
            tasks.unreadable = tasks.unreadable.as_deref().map(|why| cut(why, LONGEST));
        }
    }
}

/// How far the command has come by its own list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct TaskStats {
    /// How many are done.
    pub done: usize,
    /// What it is at.
    pub current: Vec<String>,
    /// How many are left.
    pub remaining: usize,
    /// Why the list could not be read, if it could not.
    pub unreadable: Option<String>,
}

/// What a run is held to; none: no limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Silence.
    pub idle: Option<u64>,
    /// Silence that no guard can defer.
    pub max_idle: Option<u64>,
    /// Total running time.
    pub timeout: Option<u64>,
    /// What is left of it.
    pub timeout_left: Option<u64>,
    /// The share of a limit, in percent, at which a warning is due.
    pub warn: u8,
}
