//! What may speak for a silent command: guards, as they are written and as they answer.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Over less than this nothing is measured, and a command is not ended on nothing.
pub const SHORTEST: Duration = Duration::from_millis(200);

/// Something that may defer the ladder for a silent command.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Guard {
    /// Its processes do work.
    Cpu,
    /// Its processes read and write.
    Io,
    /// Its processes read from a disk and write to it.
    Disk,
    /// Its processes receive something from the network.
    Net,
    /// It starts and ends processes.
    Children,
    /// A turn is in progress, and there was output in it not long ago.
    Turn,
    /// A file or a folder changes.
    File(PathBuf),
    /// A shell command says so by exiting with 0.
    Command(String),
}

impl FromStr for Guard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.into())),
            Some(("cmd", shell)) if !shell.trim().is_empty() => Ok(Self::Command(shell.to_owned())),
            Some(("file", _)) => Err("'file' needs a path, as in file:build.log".to_owned()),
            Some(("cmd", _)) => Err("'cmd' needs a shell command, as in 'cmd:pgrep make'".to_owned()),
            _ => match text {
                "cpu" => Ok(Self::Cpu),
                "io" => Ok(Self::Io),
                "disk" => Ok(Self::Disk),
                "net" => Ok(Self::Net),
                "children" => Ok(Self::Children),
                "turn" => Ok(Self::Turn),
                _ => Err(format!(
                    "unknown guard '{text}'; use cpu, disk, net, turn, io, children, file:PATH or cmd:SHELL"
                )),
            },
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Io => f.write_str("io"),
            Self::Disk => f.write_str("disk"),
            Self::Net => f.write_str("net"),
            Self::Children => f.write_str("children"),
            Self::Turn => f.write_str("turn"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Command(shell) => write!(f, "cmd:{shell}"),
        }
    }
}

/// What a guard said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Which.
    pub guard: Guard,
    /// What it said.
    pub word: Word,
}

/// What a guard has to say of a silent command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Nothing speaks for it.
    Nothing,
    /// It is too early to tell: that says nothing for the command, nor against it.
    Measuring,
    /// This speaks for it.
    Speaks(String),
}

impl From<Option<String>> for Word {
    fn from(speaks: Option<String>) -> Self {
        speaks.map_or(Self::Nothing, Self::Speaks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_is_written_as_it_is_read() {
        for text in ["cpu", "io", "disk", "net", "children", "turn", "file:a:b.log", "cmd:test -e x"] {
            assert_eq!(text.parse::<Guard>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_wrong_guard_is_named_and_the_right_ones_are_said() {
        for text in ["x", "", "file", "file:", "cmd: ", "cpu:5"] {
            let error = text.parse::<Guard>().unwrap_err();
            assert!(error.contains("cpu") || error.contains("needs"), "{text}: {error}");
        }
    }
}
