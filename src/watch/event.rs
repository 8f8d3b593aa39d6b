//! What is worth telling: the watcher says it once, whoever reports it chooses the form.

use std::time::Duration;

use super::guard::Guard;
use super::loops::Repetition;
use super::state::State;
use crate::exit::Reason;
use crate::signal::Signal;

/// Something that happened in the run, in the past tense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The command was started.
    Started {
        /// It and its arguments.
        command: Vec<String>,
        /// Its process id.
        pid: i32,
    },
    /// How it goes.
    Progress {
        /// How long nothing that counts has changed.
        since_activity: Duration,
        /// 0 to 100.
        loop_suspicion: u8,
        /// What it is doing.
        state: State,
    },
    /// The run is over.
    Ended {
        /// The exit code of idlewatch; none: it dies of the same signal as the command.
        code: Option<u8>,
        /// Why it was ended; none: it ended by itself.
        reason: Option<Reason>,
        /// The command's own exit code, if it has one.
        child_code: Option<u8>,
        /// The signal that ended the command, if one did.
        child_signal: Option<Signal>,
    },
    /// The state changed.
    StateChanged {
        /// What it was.
        from: State,
        /// What it is.
        to: State,
        /// Why, in words.
        evidence: String,
    },
    /// A share of the idle limit has passed in silence.
    IdleWarning {
        /// How long nothing that counts has changed.
        since_activity: Duration,
        /// The limit.
        limit: Duration,
    },
    /// A share of the running time has passed.
    TimeoutWarning {
        /// How much.
        elapsed: Duration,
        /// The limit.
        limit: Duration,
    },
    /// It seems to loop.
    LoopWarning {
        /// What repeats.
        what: Repetition,
        /// 0 to 100.
        suspicion: u8,
    },
    /// A guard spoke for a silent command.
    GuardDeferred {
        /// Which.
        guard: Guard,
        /// What it said.
        reason: String,
        /// When it is asked again.
        recheck: Duration,
        /// How long the cap still leaves; none: there is no cap.
        left: Option<Duration>,
    },
    /// Something was typed into the command.
    Nudged {
        /// What.
        text: String,
        /// Why it did not arrive, if it did not.
        failed: Option<String>,
    },
    /// A signal was sent to the process tree.
    Signaled {
        /// Which.
        signal: Signal,
        /// Why.
        reason: Reason,
        /// To how many processes.
        processes: usize,
        /// Those that could not be signalled.
        refused: Vec<String>,
    },
    /// A shell command was run.
    Ran {
        /// Which.
        shell: String,
        /// How it ended: an exit code, or why there is none.
        status: Result<i32, String>,
    },
    /// Somebody gave the command more time.
    TimeoutExtended {
        /// How much.
        by: Duration,
    },
    /// Somebody ended the command.
    ForceStopped {
        /// What they chose.
        reason: Reason,
    },
    /// Somebody ended the command as a success.
    ForceCompleted,
    /// Nobody could watch for a while.
    Gap {
        /// How long.
        length: Duration,
    },
    /// The command was started again.
    Relaunched {
        /// How often by now.
        count: u32,
        /// Why.
        why: String,
        /// After how long a pause.
        delay: Duration,
        /// With what.
        command: String,
    },
    /// The screen can no longer be read; from now on any byte counts as activity.
    AnalysisLost,
}
