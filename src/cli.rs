//! What was typed. The only file that knows clap; what it means is decided in [`config`](crate::config).

use std::ffi::OsString;
use std::time::Duration;

use std::str::FromStr;

use clap::{Args, CommandFactory, Parser, ValueEnum};

use crate::exit::Reason;
use crate::signal::Signal;
use crate::watch::{Guard, Size, Step, parse_ladder};

/// `idlewatch [OPTIONS] [--] COMMAND [ARG]...`
#[derive(Debug, Clone, Parser)]
#[command(
    name = "idlewatch",
    version,
    about = "Run a command and notice when it is stuck",
    override_usage = "idlewatch [OPTIONS] [--] COMMAND [ARG]...",
    disable_help_subcommand = true,
    args_override_self = true
)]
pub struct RunCli {
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

    /// What idlewatch says.
    #[command(flatten)]
    pub say: SayArgs,

    /// The command's terminal.
    #[command(flatten)]
    pub terminal: TerminalArgs,

    /// The command to run, and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = false)]
    pub command: Vec<OsString>,
}

/// When something is wrong.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Act when nothing that counts has changed for this long ('off': never)
    #[arg(short, long, value_name = "DUR", default_value = "5m", value_parser = limit)]
    pub idle: Limit,

    /// Act when the command has run this long in total
    #[arg(short, long, value_name = "DUR", default_value = "off", value_parser = limit)]
    pub timeout: Limit,

    /// Act when nothing at all was printed this long after the start
    #[arg(long, value_name = "DUR", default_value = "off", value_parser = limit)]
    pub first_output: Limit,

    /// The ceiling: guards cannot defer beyond this much silence ('off': they can)
    #[arg(long, value_name = "DUR", default_value = "30m", value_parser = limit)]
    pub max_idle: Limit,

    /// The command has said that it is finished when this is on its screen
    #[arg(long, value_name = "REGEX")]
    pub done: Option<String>,

    /// How long it may stay after that, silently, before it is ended as a success
    #[arg(long, value_name = "DUR", default_value = "1m", value_parser = duration)]
    pub done_idle: Duration,

    /// Warn when this share of a limit has passed, in percent
    #[arg(long, value_name = "PCT", default_value_t = 60, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub warn: u8,
}

/// What counts as activity, and how a screen is read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What counts")]
pub struct DetectArgs {
    /// What counts as activity: visible change with animation masked, or any byte
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = ActivityArg::Screen)]
    pub activity: ActivityArg,

    /// Text that never counts as activity (may be repeated)
    #[arg(long, value_name = "REGEX")]
    pub ignore: Vec<String>,

    /// Only lines that match count as activity (may be repeated)
    #[arg(long, value_name = "REGEX")]
    pub only: Vec<String>,

    /// Suspect a loop when a cycle was seen this often
    #[arg(long = "loop", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..))]
    pub loop_count: u16,

    /// It is a loop when it lasts this long with nothing new ('off': never)
    #[arg(long, value_name = "DUR", default_value = "2m", value_parser = limit)]
    pub loop_for: Limit,

    /// The same captured text N times is a loop, whatever lies between (may be repeated)
    #[arg(long, value_name = "REGEX")]
    pub loop_pattern: Vec<String>,

    /// Text near the cursor that means a question (may be repeated)
    #[arg(long, value_name = "REGEX")]
    pub waiting: Vec<String>,

    /// What is known of the program: a name, 'auto' by its command, or 'none'
    #[arg(long, value_name = "NAME", default_value = "auto")]
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
    about = "Show what would have happened in a recorded session",
    args_override_self = true
)]
pub struct ReplayCli {
    /// Limits.
    #[command(flatten)]
    pub limits: LimitArgs,

    /// What counts.
    #[command(flatten)]
    pub detect: DetectArgs,

    /// Print the events as JSON lines
    #[arg(long)]
    pub json: bool,

    /// Explain each state at length
    #[arg(short, long)]
    pub verbose: bool,

    /// The recording: asciicast, version 2 or 3
    #[arg(value_name = "FILE.cast")]
    pub file: std::path::PathBuf,
}

/// Who may speak for a silent command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Guards")]
#[allow(clippy::doc_markdown, reason = "the comments are the help text, and file:PATH is no address")]
pub struct GuardArgs {
    /// What may defer: cpu, io, children, turn, file:PATH or cmd:SHELL (may be repeated)
    #[arg(long, value_name = "GUARD", default_values = ["cpu", "turn"])]
    pub guard: Vec<Guard>,

    /// Let nothing defer
    #[arg(long, conflicts_with = "guard")]
    pub no_guard: bool,
}

/// Starting the command again.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Relaunch")]
pub struct RelaunchArgs {
    /// Start the command again after this
    #[arg(long, value_name = "AFTER", value_enum)]
    pub relaunch: Option<RelaunchArg>,

    /// Start this instead, in a shell, for example 'claude --continue'
    #[arg(long, value_name = "CMD")]
    pub relaunch_with: Option<String>,

    /// How often at most
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub max_relaunches: u32,

    /// How long to wait before the first time; each further time twice as long
    #[arg(long, value_name = "DUR", default_value = "1s", value_parser = duration)]
    pub relaunch_delay: Duration,
}

/// After what the command is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RelaunchArg {
    /// It ended with a code other than 0, or of a signal
    Crash,
    /// It was ended because it was silent, looped or waited
    Stuck,
    /// Either
    Any,
}

/// The exit status.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Exit status")]
pub struct ExitArgs {
    /// Use another code for a reason, for example 'timeout=75' (may be repeated)
    #[arg(long, value_name = "REASON=N")]
    pub exit_code: Vec<ExitCode>,

    /// Exit with the command's own status even where idlewatch ended it
    #[arg(long)]
    pub preserve_status: bool,
}

/// What idlewatch says.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Messages")]
pub struct SayArgs {
    /// Say why, whenever the state of the command changes
    #[arg(long)]
    pub explain: bool,

    /// Say more: also what guards and nudges do
    #[arg(short, long)]
    pub verbose: bool,

    /// Say nothing
    #[arg(short, long, conflicts_with_all = ["verbose", "explain"])]
    pub quiet: bool,
}

/// What is done about it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "What is done")]
pub struct LadderArgs {
    /// Type this into a silent command and submit it (may be repeated: one after the other)
    #[arg(long, value_name = "TEXT", value_parser = nudge_text)]
    pub nudge: Vec<String>,

    /// How many nudges in one run
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub max_nudges: usize,

    /// How long to wait after a nudge
    #[arg(long, value_name = "DUR", default_value = "1m", value_parser = duration)]
    pub nudge_wait: Duration,

    /// The signal that asks a stuck command to end
    #[arg(short, long, value_name = "SIG", default_value = "TERM")]
    pub signal: Signal,

    /// Send SIGKILL if the command is still there this long after the signal ('off': never)
    #[arg(short, long, value_name = "DUR", default_value = "10s", value_parser = limit)]
    pub kill_after: Limit,

    /// The whole ladder for a silent command: steps with commas between, instead of the options above
    #[arg(long, value_name = "STEPS", value_parser = ladder)]
    pub on_idle: Option<LadderArg>,

    /// The ladder for a command that loops; by default a warning
    #[arg(long, value_name = "STEPS", value_parser = ladder)]
    pub on_loop: Option<LadderArg>,

    /// The ladder for a command that waits for a person; by default a warning where there is one, else as for silence
    #[arg(long, value_name = "STEPS", value_parser = ladder)]
    pub on_waiting: Option<LadderArg>,

    /// The ladder for a command that has run too long; by default it is ended
    #[arg(long, value_name = "STEPS", value_parser = ladder)]
    pub on_timeout: Option<LadderArg>,
}

/// What the command sees as its terminal.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Terminal")]
pub struct TerminalArgs {
    /// Which of the command's streams are terminals
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = PtyArg::Always)]
    pub pty: PtyArg,

    /// What the command reads from
    #[arg(long, value_name = "FROM", value_enum, default_value_t = StdinArg::Auto)]
    pub stdin: StdinArg,

    /// The size of the terminal where there is none to take it from
    #[arg(long, value_name = "COLSxROWS", value_parser = size)]
    pub size: Option<Size>,
}

impl ReplayCli {
    /// Reads `replay` and the words after it; on `--help` or a mistake the process ends here.
    pub fn from_words(words: impl Iterator<Item = OsString>) -> Self {
        Self::parse_from(words)
    }
}

/// A duration, or `off`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub Option<Duration>);

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
    /// The terminal through the pseudo-terminal; a pipe or a file as it is
    Auto,
    /// The pseudo-terminal, whatever idlewatch's own standard input is
    Pty,
    /// idlewatch's own standard input, untouched
    Inherit,
    /// Nothing
    Null,
}

/// A ladder, as one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LadderArg(pub Vec<Step>);

fn ladder(text: &str) -> Result<LadderArg, String> {
    parse_ladder(text).map(LadderArg)
}

/// A reason and the code to use for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode {
    /// The reason.
    pub reason: Reason,
    /// The code.
    pub code: u8,
}

impl FromStr for ExitCode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Reason::OURS.map(Reason::name).join(", ");
        let (name, code) = text.split_once('=').ok_or("write it like idle_timeout=75")?;
        let reason = Reason::OURS.into_iter().find(|reason| reason.name() == name);
        let reason = reason.ok_or_else(|| format!("no reason is called '{name}'; use one of {}", names()))?;
        let code = code.parse().map_err(|_| format!("'{code}' is no exit code; use a number from 0 to 255"))?;
        if code == 0 && reason != Reason::Completed {
            return Err(format!("0 would make a success of '{name}'; use a number from 1 to 255"));
        }
        Ok(Self { reason, code })
    }
}

fn nudge_text(text: &str) -> Result<String, String> {
    match text.chars().find(|letter| letter.is_control() && *letter != '\n' && *letter != '\t') {
        None if text.trim().is_empty() => Err("there is nothing to type in it".to_owned()),
        None => Ok(text.to_owned()),
        Some(control) => {
            Err(format!("it holds the control character {control:?}; use a step such as key:esc for keys"))
        }
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| format!("{error}; write it like 90s, 5m or '1h 30m'"))
}

fn limit(text: &str) -> Result<Limit, String> {
    match text {
        "off" => Ok(Limit(None)),
        _ => match humantime::parse_duration(text) {
            Ok(Duration::ZERO) => Err("a limit of zero would be over at once; use 'off' for no limit".to_owned()),
            Ok(duration) => Ok(Limit(Some(duration))),
            Err(error) => Err(format!("{error}; write it like 90s, 5m, '1h 30m' or off")),
        },
    }
}

fn size(text: &str) -> Result<Size, String> {
    let parts = text.split_once(['x', 'X']).and_then(|(cols, rows)| Some((cols.parse().ok()?, rows.parse().ok()?)));
    match parts {
        Some((cols, rows)) if (1..=1000).contains(&cols) && (1..=1000).contains(&rows) => Ok(Size { cols, rows }),
        _ => Err("write it like 80x24: columns, x, rows, each from 1 to 1000".to_owned()),
    }
}

/// What idlewatch was called for. A verb counts only as the first word.
#[derive(Debug, Clone)]
pub enum Invocation {
    /// Run and watch a command.
    Run(Box<RunCli>),
    /// Show a recording to the detectors.
    Replay(Box<ReplayCli>),
}

/// Reads the arguments of this process; ends it with a message where they are wrong.
pub fn parse() -> Invocation {
    match std::env::args_os().nth(1) {
        Some(verb) if verb == "replay" => {
            Invocation::Replay(Box::new(ReplayCli::parse_from(std::env::args_os().skip(1))))
        }
        _ => Invocation::Run(Box::new(RunCli::parse())),
    }
}

/// The command line as clap sees it, for the man page and the completions.
pub fn command() -> clap::Command {
    RunCli::command()
}
