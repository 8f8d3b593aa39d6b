//! The byte path: from the command to the outer world, and from the keyboard to the command.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;

use super::pty::Pty;
use crate::watch::Stream;

/// How much is read before anything else gets a turn. A pty gives 4 KiB at a time, so this is many reads and one
/// write.
const PORTION: usize = 64 * 1024;

/// Something the command prints to.
pub struct Source {
    kind: Kind,
    /// What it is for the watcher.
    pub stream: Stream,
    /// Which sink takes it.
    pub sink: usize,
    /// Questions to the terminal that are printed here are ours to answer: nobody else sees them.
    pub answer: bool,
}

/// What a source is made of.
pub enum Kind {
    /// The command's terminal, which the session holds.
    Terminal,
    /// A terminal of its own.
    Side(Pty),
    /// A pipe, or a socket where ours is one.
    Pipe(OwnedFd),
    /// Nothing more can come.
    Closed,
}

impl Source {
    /// A source that is open.
    pub fn new(kind: Kind, stream: Stream, sink: usize, answer: bool) -> Self {
        Self { kind, stream, sink, answer }
    }

    /// What to poll and read; `terminal` is the session's.
    pub fn fd<'a>(&'a self, terminal: Option<&'a Pty>) -> Option<BorrowedFd<'a>> {
        match &self.kind {
            Kind::Terminal => terminal.map(AsFd::as_fd),
            Kind::Side(pty) => Some(pty.as_fd()),
            Kind::Pipe(fd) => Some(fd.as_fd()),
            Kind::Closed => None,
        }
    }

    /// The terminal of its own, if it is one.
    pub fn side(&self) -> Option<&Pty> {
        match &self.kind {
            Kind::Side(pty) => Some(pty),
            _ => None,
        }
    }

    /// Whether it is the command's terminal.
    pub fn is_terminal(&self) -> bool {
        matches!(self.kind, Kind::Terminal)
    }

    /// Whether nothing more can come.
    pub fn is_closed(&self) -> bool {
        matches!(self.kind, Kind::Closed)
    }

    /// Stops reading: whoever writes learns that nobody is there.
    pub fn close(&mut self) {
        self.kind = Kind::Closed;
    }
}

/// What one turn of reading found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// There may be more at once.
    More,
    /// Nothing more for now.
    Dry,
    /// Nothing more ever.
    End,
}

/// Room for one portion.
pub fn portion() -> Vec<u8> {
    vec![0; PORTION]
}

/// How far to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Until so little came that the next read would most likely find nothing: a key's echo is passed on at once.
    Pause,
    /// Until nothing is left.
    Dry,
}

/// A read that brings less than this was the last of a burst.
const LITTLE: usize = 512;

/// Reads so far, or until the portion is nearly full. Gives how much of `buffer` is filled.
pub fn read_portion(fd: BorrowedFd<'_>, buffer: &mut [u8], reach: Reach) -> (usize, Found) {
    let mut filled = 0;
    while buffer.len() - filled >= buffer.len() / 8 {
        match nix::unistd::read(fd, &mut buffer[filled..]) {
            Ok(0) => return (filled, Found::End),
            Ok(count) => {
                filled += count;
                if reach == Reach::Pause && count < LITTLE {
                    return (filled, Found::More);
                }
            }
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => return (filled, Found::Dry),
            // A master whose other side nobody has open any more says EIO.
            Err(_) => return (filled, Found::End),
        }
    }
    (filled, Found::More)
}

/// What is on its way into the command's terminal.
#[derive(Debug, Default)]
pub struct Keyboard {
    waiting: Vec<u8>,
}

/// How much may be on its way before nobody reads more from the outer terminal.
const ROOM: usize = 64 * 1024;

impl Keyboard {
    /// Whether more can be read from the outer terminal.
    pub fn has_room(&self) -> bool {
        self.waiting.len() < ROOM
    }

    /// Whether something waits to be written.
    pub fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Types this into the command's terminal, as soon as it takes it.
    pub fn enter(&mut self, terminal: BorrowedFd<'_>, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        self.flush(terminal);
    }

    /// Writes what waits, as much as the terminal takes.
    pub fn flush(&mut self, terminal: BorrowedFd<'_>) {
        let mut done = 0;
        while done < self.waiting.len() {
            match nix::unistd::write(terminal, &self.waiting[done..]) {
                Ok(count) => done += count,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                // The terminal is gone, and with it whoever would read this.
                Err(_) => done = self.waiting.len(),
            }
        }
        self.waiting.drain(..done);
    }

    /// What never reached the terminal.
    pub fn take_back(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.waiting)
    }
}
