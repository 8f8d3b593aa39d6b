//! What idlewatch's own standard streams are, and where it stands.

use std::os::fd::{AsRawFd, BorrowedFd};

use nix::sys::stat::{FileStat, fstat, stat};
use nix::unistd::{getpgrp, getpid, isatty};

use super::inherited;
use super::terminal::STANDARD;

/// What one of idlewatch's own standard streams is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// The terminal we run in.
    Terminal,
    /// Another terminal than that.
    OtherTerminal,
    /// A pipe: somebody else is at the other end.
    Pipe,
    /// A socket: somebody else is at the other end.
    Socket,
    /// /dev/null.
    Null,
    /// A file or another device.
    File,
    /// Closed.
    Closed,
}

/// Where idlewatch itself stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings {
    /// Standard input.
    pub stdin: Own,
    /// Standard output.
    pub stdout: Own,
    /// Standard error.
    pub stderr: Own,
    /// Standard error goes where standard output goes.
    pub same: bool,
    /// We lead our process group: no script shares the terminal with us.
    pub leads: bool,
}

impl Surroundings {
    /// Looks.
    pub fn look() -> Self {
        let streams = STANDARD.map(Looked::at);
        // The first of them is the one we run in; a terminal elsewhere is another matter.
        let terminal = streams.iter().find(|stream| stream.nature == Own::Terminal);
        let own = |stream: &Looked| match (stream.nature, terminal) {
            (Own::Terminal, Some(terminal)) if !terminal.is_same(stream) => Own::OtherTerminal,
            (nature, _) => nature,
        };
        let [stdin, stdout, stderr] = &streams;
        let leads = getpgrp() == getpid();
        Self { stdin: own(stdin), stdout: own(stdout), stderr: own(stderr), same: stdout.is_same(stderr), leads }
    }
}

/// A descriptor of ours that was looked at.
struct Looked {
    nature: Own,
    status: Option<FileStat>,
}

impl Looked {
    fn at(fd: BorrowedFd<'_>) -> Self {
        let status = fstat(fd).ok();
        let nature = match &status {
            _ if inherited::was_closed(fd.as_raw_fd()) => Own::Closed,
            _ if isatty(fd).unwrap_or(false) => Own::Terminal,
            Some(status) => match status.st_mode & libc::S_IFMT {
                libc::S_IFIFO => Own::Pipe,
                libc::S_IFSOCK => Own::Socket,
                libc::S_IFCHR if is_null(status) => Own::Null,
                _ => Own::File,
            },
            None => Own::File,
        };
        Self { nature, status }
    }

    fn is_same(&self, other: &Self) -> bool {
        let what = |status: &FileStat| (status.st_dev, status.st_ino, status.st_rdev);
        self.status.as_ref().map(what).is_some_and(|this| other.status.as_ref().map(what) == Some(this))
    }
}

fn is_null(status: &FileStat) -> bool {
    stat("/dev/null").is_ok_and(|null| null.st_rdev == status.st_rdev)
}
