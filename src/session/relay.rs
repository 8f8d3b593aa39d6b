//! The byte path: from the command to the outer world, and from the keyboard to the command.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;

use super::heap;
use super::pty::Pty;
use super::sink::Sink;
use crate::watch::{Moment, Stream};

/// How much is passed on before anything else gets a turn, and looked at as a whole.
const PORTION: usize = 1024 * 1024;

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

    /// How much it holds, if that is known: a command may have enlarged its pipe.
    pub fn capacity(&self) -> u64 {
        let Kind::Pipe(fd) = &self.kind else { return 0 };
        pipe_capacity(fd.as_fd())
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

#[cfg(target_os = "linux")]
fn pipe_capacity(pipe: BorrowedFd<'_>) -> u64 {
    use nix::fcntl::{FcntlArg, fcntl};

    fcntl(pipe, FcntlArg::F_GETPIPE_SZ).ok().and_then(|size| u64::try_from(size).ok()).unwrap_or(0)
}

#[cfg(not(target_os = "linux"))]
fn pipe_capacity(_: BorrowedFd<'_>) -> u64 {
    0
}

/// What one turn of reading found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// There may be more at once.
    More,
    /// There may be more, for which the reader has no room.
    Full,
    /// Nothing more for now.
    Dry,
    /// Nothing more ever.
    End,
}

impl Found {
    /// Whether there may be more at once.
    pub fn may_be_more(self) -> bool {
        matches!(self, Self::More | Self::Full)
    }
}

/// A read that brings less than this was most likely the last of a burst.
const LITTLE: usize = 512;
/// A pty never gives more at a time.
const READ: usize = 4096;
/// Room for more than this is for a flood alone.
const SPARE: usize = 4 * READ;
/// A person's keys and a spinner's frames are further apart than this.
const SOON: Duration = Duration::from_micros(500);

/// What was passed on and not looked at yet. All of it is from one source.
#[derive(Debug, Default)]
pub struct Passed {
    buffer: Vec<u8>,
    count: usize,
    /// Where it is from, and since when the first of it is here.
    from: Option<(usize, Moment)>,
}

/// What was passed on is looked at no later than this, even if more comes.
const PATIENCE: Duration = Duration::from_millis(10);

impl Passed {
    /// What there is, and the source that it is from.
    pub fn bytes(&self) -> Option<(usize, &[u8])> {
        self.from.filter(|_| self.count > 0).map(|(source, _)| (source, &self.buffer[..self.count]))
    }

    /// Whether this source may add to it.
    pub fn is_from(&self, source: usize) -> bool {
        self.bytes().is_none_or(|(from, _)| from == source)
    }

    /// Whether it is as much as is looked at together.
    pub fn is_full(&self) -> bool {
        PORTION - self.count < READ
    }

    /// Whether it has waited long enough.
    pub fn is_due(&self, now: Moment) -> bool {
        self.count > 0 && self.from.is_some_and(|(_, since)| now.since(since) >= PATIENCE)
    }

    /// It was looked at. What was passed on meanwhile was so too. After a flood the room for it is given back.
    pub fn seen(mut self) -> Self {
        if self.count <= READ && self.buffer.len() > SPARE {
            self.buffer = Vec::new();
        }
        Self { count: 0, from: None, ..self }
    }

    /// Passes on what is there into `sink`, read by read, until that has enough or there is as much as is looked at
    /// together. Where the source is not `busy`, a little is taken for all there is.
    pub fn pass(&mut self, fd: BorrowedFd<'_>, source: usize, now: Moment, busy: bool, sink: &mut Sink) -> Found {
        if self.count == 0 {
            self.from = Some((source, now));
        }
        loop {
            if self.is_full() {
                return Found::More;
            }
            if self.buffer.len() - self.count < READ {
                if self.buffer.len() == SPARE {
                    heap::give_large_pieces_back();
                }
                self.buffer.resize((self.buffer.len() * 2).clamp(READ, PORTION), 0);
            }
            match nix::unistd::read(fd, &mut self.buffer[self.count..]) {
                Ok(0) => return Found::End,
                Ok(count) => {
                    // At once: while the reader works on it, the next is read here. Whoever collects more first only
                    // lets the one wait and then the other.
                    sink.take(&self.buffer[self.count..self.count + count]);
                    self.count += count;
                    if sink.is_behind() {
                        return Found::Full;
                    }
                    if sink.broken().is_some() || count < LITTLE && !busy {
                        return Found::More;
                    }
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Found::Dry,
                // A master whose other side nobody has open any more says EIO.
                Err(_) => return Found::End,
            }
        }
    }
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
