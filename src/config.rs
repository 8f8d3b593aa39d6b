//! What was typed, resolved and checked: what it means.
#![forbid(unsafe_code)]

mod in_force;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::cli::{EventsTo, ExitCode, LadderArgs, PtyArg, RelaunchArg, ReportTo, RunCli, StdinArg};
use crate::detection;
use crate::exit::Reason;
use crate::session::Status;
use crate::watch::{Ending, Ladders, Nudges, Policy, Profile, Size, Step};

/// Everything a run goes by.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Config {
    /// The command and its arguments.
    pub command: Vec<OsString>,
    /// What the watcher goes by.
    pub policy: Policy,
    /// When the command is started again.
    pub relaunch: Relaunch,
    /// The exit status.
    pub exit: Exit,
    /// Where the events go, if anywhere.
    pub events: Option<EventsTo>,
    /// What says so: an option, a variable, or a line of a file.
    pub events_named: String,
    /// How often they tell the progress.
    pub progress_every: Option<Duration>,
    /// Where the post-mortem goes, if anywhere.
    pub report: Option<ReportTo>,
    /// It is written at every end, not only where the run was stuck.
    pub report_always: bool,
    /// The command's own list of tasks.
    pub checkpoint: Option<PathBuf>,
    /// Where the recording goes, if anywhere.
    pub record: Option<PathBuf>,
    /// After how long a silence to say that the command is still there.
    pub heartbeat: Option<Duration>,
    /// Whether a service manager is told.
    pub notify: bool,
    /// Whether the run leaves a line in the history.
    pub history: bool,
    /// How much is said.
    pub say: Say,
    /// Which of the command's streams are terminals.
    pub pty: Pty,
    /// What the command reads from.
    pub stdin: Stdin,
    /// What is to be typed into it was asked for with the command line, not for runs in general.
    pub insists_on_typing: bool,
    /// The size of its terminal, if it is not to be that of ours.
    pub size: Option<Size>,
}

/// When and how the command is started again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relaunch {
    /// After it crashed.
    pub after_crash: bool,
    /// After it was stuck.
    pub after_stuck: bool,
    /// With this shell command instead.
    pub with: Option<String>,
    /// How often at most.
    pub most: u32,
    /// How long to wait the first time.
    pub delay: Duration,
}

/// What the program exits with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Codes of one's own.
    pub codes: Vec<ExitCode>,
    /// The command's own status even where we ended it.
    pub preserve: bool,
}

impl Exit {
    /// What to exit with where we ended the command for this reason and it had this status, if it had one.
    pub fn status(&self, reason: Reason, status: Option<Status>) -> Status {
        let own = status.filter(|_| self.preserve && reason != Reason::Error);
        own.unwrap_or_else(|| Status::Code(self.code(reason)))
    }

    /// The code for this reason.
    pub fn code(&self, reason: Reason) -> u8 {
        self.codes.iter().find(|own| own.reason == reason).map_or_else(|| reason.code(), |own| own.code)
    }
}

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Say {
    /// Nothing.
    Nothing,
    /// What a person has to know.
    Warnings,
    /// Also why the state changes.
    Reasons,
    /// Everything.
    Everything,
}

/// Which of the command's streams are terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pty {
    /// Standard output and error.
    Always,
    /// Those that are terminals for idlewatch.
    Mirror,
    /// None.
    Never,
}

/// What the command reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// A terminal through the pseudo-terminal; anything else as it is.
    Auto,
    /// The pseudo-terminal.
    Pty,
    /// What idlewatch reads from, untouched.
    Inherit,
    /// Nothing.
    Null,
}

impl Config {
    /// What these arguments mean for a command of this profile.
    pub fn new(cli: RunCli, profile: Option<Profile>) -> Self {
        let detection = detection::policy(cli.limits, cli.detect, profile);
        let most = cli
            .ladder
            .max_nudges
            .map_or_else(|| usual_nudges(&cli.ladder), |most| usize::try_from(most).unwrap_or(usize::MAX));
        let nudges = Nudges { texts: cli.ladder.nudge, most };
        let usual = Ladders::usual(&nudges, cli.ladder.nudge_wait);
        let ladders = Ladders {
            idle: cli.ladder.on_idle.map_or(usual.idle, |ladder| ladder.0),
            looping: cli.ladder.on_loop.map_or(usual.looping, |ladder| ladder.0),
            waiting: cli.ladder.on_waiting.map(|ladder| ladder.0),
            timeout: cli.ladder.on_timeout.map_or(usual.timeout, |ladder| ladder.0),
        };
        let relaunch = cli.relaunch.relaunch;
        Self {
            command: cli.command,
            policy: Policy {
                guards: if cli.guards.no_guard { Vec::new() } else { cli.guards.guard },
                ladders,
                nudges,
                ending: Ending { signal: cli.ladder.signal, kill_after: cli.ladder.kill_after.0 },
                ..detection
            },
            relaunch: Relaunch {
                after_crash: matches!(relaunch, RelaunchArg::Crash | RelaunchArg::Any),
                after_stuck: matches!(relaunch, RelaunchArg::Stuck | RelaunchArg::Any),
                with: cli.relaunch.relaunch_with,
                most: cli.relaunch.max_relaunches,
                delay: cli.relaunch.relaunch_delay,
            },
            exit: Exit { codes: cli.exit.exit_code, preserve: cli.exit.preserve_status },
            events: cli.records.events,
            events_named: "--events".to_owned(),
            progress_every: cli.records.progress_every.0,
            report: cli.records.report,
            report_always: cli.records.report_always,
            checkpoint: cli.records.checkpoint,
            record: cli.records.record,
            heartbeat: cli.records.heartbeat.0,
            notify: !cli.records.no_notify,
            history: !cli.records.no_history,
            say: match (cli.say.quiet, cli.say.verbose, cli.say.explain) {
                (true, ..) => Say::Nothing,
                (_, true, _) => Say::Everything,
                (_, _, true) => Say::Reasons,
                _ => Say::Warnings,
            },
            pty: match cli.terminal.pty {
                PtyArg::Always => Pty::Always,
                PtyArg::Mirror => Pty::Mirror,
                PtyArg::Never => Pty::Never,
            },
            stdin: match cli.terminal.stdin {
                StdinArg::Auto => Stdin::Auto,
                StdinArg::Pty => Stdin::Pty,
                StdinArg::Inherit => Stdin::Inherit,
                StdinArg::Null => Stdin::Null,
            },
            insists_on_typing: true,
            size: cli.terminal.size,
        }
    }

    /// Whether the command may be started more than once.
    pub fn relaunches(&self) -> bool {
        let asked = self.steps().any(|step| *step == Step::Relaunch);
        self.relaunch.after_crash || self.relaunch.after_stuck || asked
    }

    /// Whether the person may have to be asked.
    pub fn prompts(&self) -> bool {
        self.steps().any(|step| *step == Step::Prompt)
    }

    /// Whether a step of a ladder types a text.
    pub fn nudges(&self) -> bool {
        self.steps().any(|step| matches!(step, Step::Nudge(_)))
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        let ladders = &self.policy.ladders;
        let waiting = ladders.waiting.iter().flatten();
        ladders.idle.iter().chain(&ladders.looping).chain(&ladders.timeout).chain(waiting)
    }

    /// Whether anything may have to be typed into the command.
    pub fn types(&self) -> bool {
        self.steps().any(|step| matches!(step, Step::Nudge(_) | Step::Key(_)))
    }
}

/// How many nudges there may be where nobody has said so. Whoever writes down more wants them typed.
fn usual_nudges(ladder: &LadderArgs) -> usize {
    let ladders = [&ladder.on_idle, &ladder.on_loop, &ladder.on_waiting, &ladder.on_timeout];
    let steps = ladders
        .into_iter()
        .flatten()
        .map(|ladder| ladder.0.iter().filter(|step| matches!(step, Step::Nudge(_))).count());
    steps.chain([ladder.nudge.len(), 2]).max().unwrap_or(2)
}
