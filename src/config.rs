//! What was typed, resolved and checked: what it means.

use std::ffi::OsString;

use crate::cli::{PtyArg, RunCli, StdinArg};
use crate::watch::{Ending, Policy, Size};

/// Everything a run goes by.
#[derive(Debug, Clone)]
pub struct Config {
    /// The command and its arguments.
    pub command: Vec<OsString>,
    /// What the watcher goes by.
    pub policy: Policy,
    /// Which of the command's streams are terminals.
    pub pty: Pty,
    /// What the command reads from.
    pub stdin: Stdin,
    /// The size of its terminal, if it is not to be that of ours.
    pub size: Option<Size>,
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

impl From<RunCli> for Config {
    fn from(cli: RunCli) -> Self {
        Self {
            command: cli.command,
            policy: Policy {
                idle: cli.limits.idle.0,
                ending: Ending { signal: cli.ladder.signal, kill_after: cli.ladder.kill_after.0 },
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
            size: cli.terminal.size,
        }
    }
}
