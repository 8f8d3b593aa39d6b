//! What was typed. This file and its folder alone know clap; what it means is decided in [`config`](crate::config).
#![forbid(unsafe_code)]
#![expect(clippy::doc_markdown, reason = "the comments on options are the help text, which is not Markdown")]

mod ctl;
mod hints;
mod history;
mod plain;
mod refusal;
mod typed;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, ValueEnum, ValueHint};

use crate::error::Error;
use crate::signal::Signal;
use crate::watch::{Guard, Pattern, Size};

pub use ctl::{CtlCli, CtlVerb};
pub use history::HistoryArgs;
pub(crate) use refusal::visible;
pub use typed::{Arguments, Kind, Known, Typed, check_values, known};
pub use values::{EventsTo, ExitCode, LadderArg, Limit, ReportTo};

use hints::hinted;
use values::{
    any_regex, cycles, duration, final_ladder, guard, ladder, limit, nudge_text, nudges, number, percent, regex, shell,
    signal, size,
};

/// What every option has in common, said once below the options.
const BELOW: &str = "See also 'idlewatch ctl --help' (runs in progress) and 'idlewatch replay --help' (recordings). Every option \
                     can also be set by a variable (IDLEWATCH_MAX_IDLE=1h) or in the configuration file (max-idle = \"1h\"). \
                     The command line beats the environment, which beats the file.";

/// The version with the build it is.
const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILT_FROM"), ")");

/// `idlewatch [OPTIONS] [--] COMMAND [ARG]...`
#[derive(Debug, Clone, Parser)]
#[command(
    name = "idlewatch",
    version,
    long_version = LONG_VERSION,
    about = "Run a command and act when it is stuck",
    override_usage = "idlewatch [OPTIONS] [--] COMMAND [ARG]...",
    after_help = BELOW,
    disable_help_subcommand = true,
    args_override_self = true
)]
pub struct RunCli {
    /// The command to run, with its arguments
    #[arg(value_name = "COMMAND", required_unless_present = "print_config", trailing_var_arg = true)]
    #[arg(allow_hyphen_values = false, value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,

    /// Limits.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// What counts.
    #[command(flatten)]
    pub detect: DetectArgs,

    /// Who may speak for a silent command.
    #[command(flatten)]
    pub guards: GuardArgs,

    /// What is done about a command that is stuck.
    #[command(flatten)]
    pub ladder: LadderArgs,

    /// Starting it again.
    #[command(flatten)]
    pub relaunch: RelaunchArgs,

    /// The exit status.
    #[command(flatten)]
    pub exit: ExitArgs,

    /// Records.
    #[command(flatten)]
    pub records: RecordArgs,

    /// What idlewatch says.
    #[command(flatten)]
    pub say: SayArgs,

    /// The command's terminal.
    #[command(flatten)]
    pub terminal: TerminalArgs,

    /// Where all this is read from.
    #[command(flatten)]
    pub source: SourceArgs,

    /// Print every option, with its value and where that comes from, as a configuration file, and exit
    #[arg(long, help_heading = "Configuration")]
    pub print_config: bool,
}

/// Where options are read from.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Configuration")]
pub struct SourceArgs {
    /// Read this file instead of $XDG_CONFIG_HOME/idlewatch/config.toml (/dev/null: none)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub config: Option<PathBuf>,
}

/// When something is wrong.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Act after this long without activity ('off': never)
    #[arg(short, long, value_name = "DUR", default_value = "5m", value_parser = limit)]
    pub idle: Limit,

    /// Act when the command has run this long in total, including relaunches
    #[arg(short, long, value_name = "DUR", default_value = "off", value_parser = limit)]
    pub timeout: Limit,

    /// Act when nothing has been printed this long after the start
    #[arg(hide_short_help = true, long, value_name = "DUR", default_value = "off", value_parser = limit)]
    pub first_output: Limit,

    /// The ceiling: act after this long without activity, whatever guards say ('off': never)
    #[arg(long, value_name = "DUR", default_value = "30m", value_parser = limit)]
    pub max_idle: Limit,

    /// The command is done once this appears on its screen
    #[arg(hide_short_help = true, long, value_name = "REGEX", value_parser = regex)]
    pub done: Option<Pattern>,

    /// End it as a success after this long without activity, once --done has matched
    #[arg(hide_short_help = true, long, value_name = "DUR", default_value = "1m", value_parser = duration)]
    pub done_idle: Duration,

    /// Warn at this percentage of a limit: of --timeout with a message, of --idle only with the event idle_warning and the
    /// state quiet
    #[arg(hide_short_help = true, long, value_name = "PCT", default_value = "60", value_parser = percent)]
    pub warn: u8,
}

/// What counts as activity, and how a screen is read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Detection")]
pub struct DetectArgs {
    /// What counts as activity: visible change with animation masked, or any byte
    #[arg(hide_short_help = true, long, value_name = "WHAT", value_enum, default_value_t = ActivityArg::Screen)]
    pub activity: ActivityArg,

    /// Ignore this text; the rest of its line still counts (for whole lines: '.*text.*'; may be repeated)
    #[arg(hide_short_help = true, long, value_name = "REGEX", value_parser = any_regex)]
    pub ignore: Vec<Pattern>,

    /// Count only lines that match (may be repeated)
    #[arg(hide_short_help = true, long, value_name = "REGEX", value_parser = regex)]
    pub only: Vec<Pattern>,

    /// Suspect a loop when a cycle has been seen this many times
    #[arg(hide_short_help = true, long = "loop", value_name = "N", default_value = "5", value_parser = cycles)]
    pub loop_count: u16,

    /// Call it a loop once it has lasted this long with nothing new ('off': never)
    #[arg(hide_short_help = true, long, value_name = "DUR", default_value = "2m", value_parser = limit)]
    pub loop_for: Limit,

    /// Also call it a loop when the same captured text is seen --loop times, whatever lies between (may be repeated)
    ///
    /// The captured text is that of all groups of the pattern, or the whole match if it has no groups.
    #[arg(hide_short_help = true, long, value_name = "REGEX", value_parser = regex)]
    pub loop_pattern: Vec<Pattern>,

    /// Text near the cursor that means a question (may be repeated)
    #[arg(hide_short_help = true, long, value_name = "REGEX", value_parser = regex)]
    pub waiting: Vec<Pattern>,

    /// What is known of the program: the name of a profile, 'auto' to choose by command, or 'none'
    ///
    /// 'auto' looks behind commands that only start others, such as env, sudo, timeout, npx, ssh or sh -c. Other arguments do
    /// not matter: 'grep claude' is not claude.
    #[arg(long, value_name = "NAME", default_value = "auto")]
    #[arg(value_parser = hinted(values::text, hints::profiles), hide_possible_values = true)]
    pub profile: String,
}

/// What counts as activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ActivityArg {
    /// Visible change with animation masked
    Screen,
    /// Any byte
    Bytes,
}

/// `idlewatch replay [OPTIONS] FILE.cast`
#[derive(Debug, Clone, Parser)]
#[command(
    name = "idlewatch replay",
    bin_name = "idlewatch replay",
    about = "Show what would have happened in a recorded session",
    args_override_self = true
)]
pub struct ReplayCli {
    /// Print the events as JSON lines
    #[arg(long)]
    pub json: bool,

    /// Explain each state in detail
    #[arg(short, long)]
    pub verbose: bool,

    /// Also show when each mark of the profile appears and disappears, and which never does
    #[arg(long, conflicts_with = "json")]
    pub marks: bool,

    /// The recording: asciicast, version 2 or 3
    #[arg(value_name = "FILE.cast", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,

    /// Limits.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// What counts.
    #[command(flatten)]
    pub detect: DetectArgs,

    /// Where all this is read from.
    #[command(flatten)]
    pub source: SourceArgs,
}

/// Who may speak for a silent command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Guards")]
#[allow(clippy::doc_markdown, reason = "the comments are the help text, and file:PATH is no address")]
pub struct GuardArgs {
    /// What can defer action on a silent command: cpu, disk, net, turn, io, children, file:PATH or cmd:SHELL (may be
    /// repeated; replaces the default)
    #[arg(long, value_name = "GUARD", default_values = ["cpu", "disk", "net", "turn"])]
    #[arg(value_parser = hinted(guard, hints::guards), hide_possible_values = true)]
    pub guard: Vec<Guard>,

    /// Use no guards
    #[arg(hide_short_help = true, long, conflicts_with = "guard")]
    pub no_guard: bool,
}

/// Starting the command again.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Relaunch")]
pub struct RelaunchArgs {
    /// When to start the command again
    #[arg(long, value_name = "AFTER", value_enum, default_value_t = RelaunchArg::Off)]
    pub relaunch: RelaunchArg,

    /// Relaunch with this shell command instead, for example 'claude --continue'
    #[arg(long, value_name = "CMD", value_parser = shell, value_hint = ValueHint::CommandString)]
    pub relaunch_with: Option<String>,

    /// Relaunch at most this many times
    #[arg(hide_short_help = true, long, value_name = "N", default_value = "3", value_parser = number)]
    pub max_relaunches: u32,

    /// Pause before the first relaunch; doubled for each one after it
    #[arg(hide_short_help = true, long, value_name = "DUR", default_value = "1s", value_parser = duration)]
    pub relaunch_delay: Duration,
}

/// After what the command is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RelaunchArg {
    /// Never, except by a step of a ladder
    Off,
    /// When it exits with a code other than 0, or dies of a signal
    Crash,
    /// When it was ended because it was silent, looping or waiting
    Stuck,
    /// In both cases
    Any,
}

/// The exit status.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Exit codes")]
pub struct ExitArgs {
    /// Use another exit code for a reason, for example 'timeout=75' (may be repeated)
    #[arg(hide_short_help = true, long, value_name = "REASON=N", value_parser = hinted(values::exit_code, hints::reasons))]
    #[arg(hide_possible_values = true)]
    pub exit_code: Vec<ExitCode>,

    /// Exit with the command's own status even if idlewatch ended it
    #[arg(hide_short_help = true, long)]
    pub preserve_status: bool,
}

/// Records of the run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Records")]
pub struct RecordArgs {
    /// Write events as JSON lines to a file, or to descriptor N with fd:N
    #[arg(long, value_name = "FILE", value_parser = values::events)]
    pub events: Option<EventsTo>,

    /// How often to write a progress event ('off': never)
    #[arg(hide_short_help = true, long, value_name = "DUR", default_value = "30s", value_parser = values::period)]
    pub progress_every: Limit,

    /// Write a report if the run ends stuck: what happened, why, and what was tried (.md, .json or .html)
    #[arg(long, value_name = "FILE", value_parser = values::report, value_hint = ValueHint::FilePath)]
    pub report: Option<ReportTo>,

    /// Write the report however the run ends
    #[arg(hide_short_help = true, long)]
    pub report_always: bool,

    /// The command's own list of tasks, quoted by ctl status and in the report
    #[arg(hide_short_help = true, long, value_name = "FILE.json", value_hint = ValueHint::FilePath)]
    pub checkpoint: Option<PathBuf>,
    /// Record what the command prints as an asciicast; overwrites an existing file
    #[arg(long, value_name = "FILE.cast", value_hint = ValueHint::FilePath)]
    pub record: Option<PathBuf>,

    /// Print a line on standard error each time the command has printed nothing for this long, even with --quiet
    #[arg(hide_short_help = true, long, value_name = "DUR", default_value = "off", value_parser = values::period)]
    pub heartbeat: Limit,

    /// As a systemd service, send no notifications and leave NOTIFY_SOCKET to the command
    #[arg(hide_short_help = true, long)]
    pub no_notify: bool,

    /// Keep this run out of the history
    #[arg(hide_short_help = true, long)]
    pub no_history: bool,
}

/// What idlewatch says.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Messages")]
pub struct SayArgs {
    /// Say why whenever the state of the command changes
    #[arg(long)]
    pub explain: bool,

    /// Say what --explain says, and what guards and nudges do
    #[arg(hide_short_help = true, short, long)]
    pub verbose: bool,

    /// Say nothing but errors
    #[arg(short, long, conflicts_with_all = ["verbose", "explain"])]
    pub quiet: bool,
}

/// What is done about it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Actions")]
pub struct LadderArgs {
    /// Type this into a silent command and submit it (may be repeated)
    #[arg(long, value_name = "TEXT", value_parser = nudge_text)]
    pub nudge: Vec<String>,

    /// Nudge at most this many times per start of the command; by default 2, or more if there are more texts or nudge steps
    #[arg(hide_short_help = true, long, value_name = "N", value_parser = nudges)]
    pub max_nudges: Option<u32>,

    /// How long to wait after each nudge
    #[arg(hide_short_help = true, long, value_name = "DUR", default_value = "1m", value_parser = duration)]
    pub nudge_wait: Duration,

    /// The signal that asks a stuck command to end
    #[arg(short, long, value_name = "SIG", default_value = "TERM")]
    #[arg(value_parser = hinted(signal, hints::signals), hide_possible_values = true)]
    pub signal: Signal,

    /// Send SIGKILL if the command is still running this long after the signal ('off': never)
    #[arg(short, long, value_name = "DUR", default_value = "10s", value_parser = limit)]
    pub kill_after: Limit,

    /// The ladder for a silent command: steps separated by commas, taken one after the other; by default warn, the nudges,
    /// then stop
    ///
    /// The steps are warn, nudge[:TEXT], wait:DUR, key:NAME, int, term, hup, quit, kill, signal:NAME, run:SHELL, prompt,
    /// relaunch and stop; write a comma within a text as \,. The man page explains each, under LADDERS.
    #[arg(long, value_name = "STEPS", value_parser = hinted(final_ladder, hints::steps), hide_possible_values = true)]
    #[allow(rustdoc::broken_intra_doc_links, reason = "the brackets are read by people")]
    pub on_idle: Option<LadderArg>,

    /// The ladder for a command that loops; by default warn
    #[arg(hide_short_help = true, long, value_name = "STEPS", value_parser = hinted(final_ladder, hints::steps), hide_possible_values = true)]
    pub on_loop: Option<LadderArg>,

    /// The ladder for a command that waits for a person; by default warn if attended, else as --on-idle
    #[arg(hide_short_help = true, long, value_name = "STEPS", value_parser = hinted(ladder, hints::steps), hide_possible_values = true)]
    pub on_waiting: Option<LadderArg>,

    /// The ladder for a command that has run too long; by default warn, then stop
    #[arg(long, value_name = "STEPS", value_parser = hinted(final_ladder, hints::steps), hide_possible_values = true)]
    pub on_timeout: Option<LadderArg>,
}

/// What the command sees as its terminal.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Terminal")]
pub struct TerminalArgs {
    /// Which of the command's streams are terminals
    #[arg(hide_short_help = true, long, value_name = "WHEN", value_enum, default_value_t = PtyArg::Always)]
    pub pty: PtyArg,

    /// What the command reads from
    #[arg(hide_short_help = true, long, value_name = "FROM", value_enum, default_value_t = StdinArg::Auto)]
    pub stdin: StdinArg,

    /// The size of the command's terminal, whatever idlewatch's own is
    #[arg(hide_short_help = true, long, value_name = "COLSxROWS", value_parser = size)]
    pub size: Option<Size>,
}

/// Which of the command's streams are terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PtyArg {
    /// Standard output and error are terminals for the command
    Always,
    /// Each stream is a terminal only where idlewatch's own is
    Mirror,
    /// Pipes
    Never,
}

/// What the command reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StdinArg {
    /// A terminal through the pseudo-terminal; a pipe or a file as it is
    Auto,
    /// The pseudo-terminal: a pipe is typed into it, so ^C, ^D and the like in it act as keys, and lines over 4095 bytes are cut
    Pty,
    /// idlewatch's own standard input, untouched
    Inherit,
    /// Nothing
    Null,
}

/// What idlewatch was called for. A verb counts only as the first word.
#[derive(Debug)]
pub enum Invocation {
    /// Run and watch a command.
    Run(Box<Typed<RunCli>>),
    /// The same, where nothing but the command was typed: all arguments, and how many come before it.
    Plain(Vec<OsString>, usize),
    /// Show a recording to the detectors.
    Replay(Box<Typed<ReplayCli>>),
    /// Query or control runs in progress.
    Ctl(Box<CtlCli>),
}

/// Reads the arguments of this process. Where help was asked for, gives it and ends the process.
pub fn parse() -> Result<Invocation, Error> {
    let args: Vec<OsString> = std::env::args_os().collect();
    match args.get(1) {
        Some(verb) if verb == "replay" => {
            Typed::new(args[1..].to_vec()).map(|typed| Invocation::Replay(Box::new(typed)))
        }
        Some(verb) if verb == "ctl" => {
            let ctl = CtlCli::try_parse_from(&args[1..]).map_err(|error| refusal::refusal(&error));
            ctl.map(|ctl| Invocation::Ctl(Box::new(ctl)))
        }
        _ => match plain::only_command(&args).map(<[OsString]>::len) {
            Some(count) => {
                let before = args.len() - count;
                Ok(Invocation::Plain(args, before))
            }
            None => Typed::new(args).map(|typed| Invocation::Run(Box::new(typed))),
        },
    }
}

/// The command line as clap sees it, for the man page.
pub fn command() -> clap::Command {
    RunCli::command()
}

/// The command line of `replay`, for its man page.
pub fn replay_command() -> clap::Command {
    ReplayCli::command()
}

/// The command line of `ctl`, for its man page.
pub fn ctl_command() -> clap::Command {
    CtlCli::command()
}

/// All, where `ctl` and `replay` have to be subcommands. For the parser they are none, since a command to run may have
/// such a name.
pub fn whole_command() -> clap::Command {
    let replay = ReplayCli::command().name("replay");
    RunCli::command().subcommand(CtlCli::command().name("ctl")).subcommand(replay)
}
