//! What was typed, resolved and checked: what it means.

use std::ffi::OsString;

use crate::cli::{PtyArg, RunCli, StdinArg};
use crate::detection;
use crate::error::Error;
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

impl Config {
    /// What these arguments mean.
    pub fn new(cli: RunCli) -> Result<Self, Error> {
        let words: Vec<String> = cli.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let policy = detection::policy(&cli.limits, &cli.detect, words.iter().map(String::as_str))?;
        Ok(Self {
            command: cli.command,
            policy: Policy {
                ending: Ending { signal: cli.ladder.signal, kill_after: cli.ladder.kill_after.0 },
                ..policy
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
        })
    }
}
