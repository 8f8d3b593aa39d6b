//! The byte path: from the command to the outer world, and from the keyboard to the command.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;

use super::pty::Pty;
use super::sink::Sink;
use crate::watch::{Moment, Stream};

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
    /// Until when it was last read.
    last: Option<Moment>,
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
        Self { kind, stream, sink, answer, last: None }
    }

    /// Whether it is ready again so soon after it was read that the command is in the middle of something.
    pub fn is_busy(&self, now: Moment) -> bool {
        self.last.is_some_and(|last| now.since(last) < SOON)
    }

    /// Notes that it was read until now.
    pub fn was_read(&mut self, now: Moment) {
        self.last = Some(now);
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

/// A read that brings less than this was most likely the last of a burst.
const LITTLE: usize = 512;
/// A pty never gives more at a time.
const READ: usize = 4096;
/// A person's keys and a spinner's frames are further apart than this.
const SOON: Duration = Duration::from_micros(500);

/// Passes on what is there, at most a portion, into `sink`. Leaves it in `buffer` too, which grows as it is needed: gives
/// how much of it that is. Where the source is not `busy`, a little is taken for all there is.
pub fn pass_portion(fd: BorrowedFd<'_>, sink: &mut Sink, buffer: &mut Vec<u8>, busy: bool) -> (usize, Found) {
    let (mut filled, mut passed) = (0, 0);
    let found = loop {
        if buffer.len() - filled < READ {
            if buffer.len() >= PORTION {
                break Found::More;
            }
            buffer.resize((buffer.len() * 2).clamp(READ, PORTION), 0);
        }
        match nix::unistd::read(fd, &mut buffer[filled..]) {
            Ok(0) => break Found::End,
            Ok(count) => {
                filled += count;
                // A key's echo is passed on at once. A program that writes line by line is read line by line, and
                // whether more has come meanwhile is asked of the source itself, without waiting in between.
                if count < LITTLE {
                    sink.take(&buffer[passed..filled]);
                    passed = filled;
                    if !busy || sink.is_behind() || sink.broken().is_some() {
                        break Found::More;
                    }
                }
            }
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => break Found::Dry,
            // A master whose other side nobody has open any more says EIO.
            Err(_) => break Found::End,
        }
    };
    sink.take(&buffer[passed..filled]);
    (filled, found)
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
