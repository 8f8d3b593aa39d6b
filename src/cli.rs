//! What was typed. The only file that knows clap; what it means is decided in [`config`](crate::config).

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, ValueEnum};

use crate::signal::Signal;
use crate::watch::Size;

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

    /// How a command is ended.
    #[command(flatten)]
    pub ladder: LadderArgs,

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

/// What is done about it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Ending a command")]
pub struct LadderArgs {
    /// The signal that asks a stuck command to end
    #[arg(short, long, value_name = "SIG", default_value = "TERM")]
    pub signal: Signal,

    /// Send SIGKILL if the command is still there this long after the signal ('off': never)
    #[arg(short, long, value_name = "DUR", default_value = "10s", value_parser = limit)]
    pub kill_after: Limit,
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

/// The command line as clap sees it, for the man page and the completions.
pub fn command() -> clap::Command {
    RunCli::command()
}
