//! One client of a run: what it says, in lines, and what it is told. It never holds anybody up.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, recv};

use crate::session::Sink;

/// The longest line it may send.
pub const LONGEST: usize = 64 * 1024;
/// How much is read before anything else gets a turn.
const PORTION: usize = 4096;

/// A client.
#[derive(Debug)]
pub struct Guest {
    /// What it is known by.
    pub id: u64,
    sink: Sink,
    input: Vec<u8>,
    /// It wants every event.
    pub subscribed: bool,
    /// The text that it wants typed; nothing else of it is read until that was done or refused.
    pub awaits: Option<String>,
    /// Events that it was too slow for.
    dropped: u64,
    stage: Stage,
}

/// How far a client is from leaving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It may say more.
    Here,
    /// It says nothing more, and may still want to hear.
    Silent,
    /// It is shown out once it has been told why.
    Leaving,
    /// It is gone.
    Gone,
}

impl Guest {
    /// A client that has just come.
    pub fn new(id: u64, stream: UnixStream) -> Self {
        Self {
            id,
            sink: Sink::socket(OwnedFd::from(stream)),
            input: Vec::new(),
            subscribed: false,
            awaits: None,
            dropped: 0,
            stage: Stage::Here,
        }
    }

    /// What to poll it for. Also for nothing: its end is seen in any case.
    pub fn watched(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::POLLIN, self.listens());
        flags.set(PollFlags::POLLOUT, self.sink.is_behind());
        self.sink.fd().map(|fd| (fd, flags))
    }

    /// Whether more of it is read now: not while it has to wait for an answer or does not read its answers.
    fn listens(&self) -> bool {
        self.stage == Stage::Here && self.awaits.is_none() && self.sink.has_room()
    }

    /// Takes in what has come and sends what can be sent.
    pub fn attend(&mut self, events: PollFlags) {
        if events.contains(PollFlags::POLLOUT) {
            self.sink.flush();
        }
        if events.contains(PollFlags::POLLIN) && self.listens() {
            self.read();
        } else if events.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL) {
            // Nobody is there to be answered.
            self.stage = Stage::Gone;
        }
    }

    fn read(&mut self) {
        let Some(fd) = self.sink.fd() else { return };
        let mut buffer = [0; PORTION];
        match recv(fd.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
            Ok(0) => self.stage = Stage::Silent,
            Ok(count) => self.input.extend_from_slice(&buffer[..count]),
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(_) => self.stage = Stage::Gone,
        }
    }

    /// The next line that can be answered now; or that the line is too long.
    pub fn next_line(&mut self) -> Option<Result<Vec<u8>, TooLong>> {
        if matches!(self.stage, Stage::Gone | Stage::Leaving) || self.awaits.is_some() || !self.sink.has_room() {
            return None;
        }
        let end = memchr::memchr(b'\n', &self.input);
        if end.unwrap_or(self.input.len()) > LONGEST {
            return Some(Err(TooLong));
        }
        let mut line: Vec<u8> = match end {
            Some(end) => self.input.drain(..=end).collect(),
            // The last line may lack its end.
            None if self.stage == Stage::Silent && !self.input.is_empty() => std::mem::take(&mut self.input),
            None => return None,
        };
        while line.last().is_some_and(u8::is_ascii_whitespace) {
            line.pop();
        }
        Some(Ok(line))
    }

    /// Answers it.
    pub fn answer(&mut self, line: &[u8]) {
        self.sink.take(line);
    }

    /// Answers it for the last time.
    pub fn show_out(&mut self, line: &[u8]) {
        self.answer(line);
        self.stage = Stage::Leaving;
    }

    /// Tells it an event, if it keeps up. `dropped` makes the line that says how many it was too slow for.
    pub fn tell(&mut self, line: &[u8], dropped: impl FnOnce(u64) -> Vec<u8>) {
        self.sink.flush();
        if !self.sink.has_room() {
            self.dropped += 1;
            return;
        }
        if self.dropped > 0 {
            let said = dropped(std::mem::take(&mut self.dropped));
            self.sink.take(&said);
        }
        self.sink.take(line);
    }

    /// Whether there is nothing more to do for it.
    pub fn is_done(&self) -> bool {
        let silent = self.input.is_empty() && self.awaits.is_none() && !self.subscribed;
        let finished = match self.stage {
            Stage::Here => false,
            Stage::Silent => silent,
            Stage::Leaving => true,
            Stage::Gone => return true,
        };
        self.sink.broken().is_some() || finished && !self.sink.is_behind()
    }
}

/// A line that is longer than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;
