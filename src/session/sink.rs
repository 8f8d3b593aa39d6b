//! Where relayed output goes: never blocks, loses nothing, holds little.
#![allow(unsafe_code, reason = "nothing wraps pwritev2(2) with flags")]

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::clock::Clock;
use super::returns::Returns;
use super::terminal;
use crate::watch::Moment;

/// How many bytes may wait here before no more are to come.
const ROOM: usize = 64 * 1024;
/// How often a write is tried that the kernel has no memory for, and how long it is waited in between.
const TRIES: usize = 100;
const NEXT_TRY: Duration = Duration::from_millis(10);

/// An outer descriptor with the bytes it could not take yet.
#[derive(Debug)]
pub struct Sink {
    fd: Option<OwnedFd>,
    how: How,
    waiting: Vec<u8>,
    /// How much of `waiting` is written.
    written: usize,
    broken: Option<Errno>,
    /// How many bytes were written in all.
    passed: u64,
    /// The reader took nothing for a while although something waits.
    paused: bool,
    /// Nothing more is to come: it is closed once everything is written.
    closing: bool,
    /// It is a terminal that adds carriage returns by itself.
    returns: Option<Returns>,
    /// From here on `waiting` is for a terminal that adds none.
    turn: Option<usize>,
}

/// How to write without blocking. `O_NONBLOCK` cannot simply be set: it would be set for everybody who shares the
/// open file, and stay set when we are gone.
#[derive(Debug, Clone, Copy)]
enum How {
    /// The open file is ours alone and does not block.
    Own,
    /// A socket can be asked for each call.
    Socket,
    /// So can a pipe, by a kernel that knows how. Without that, others who write to it too may fill it between `poll` and
    /// the write.
    Pipe,
    /// A shared open file, written in pieces that fit once `poll` says so. Regular files never block anyway.
    Shared,
}

impl Sink {
    /// Writes to what was opened for us alone, with `O_NONBLOCK`.
    pub fn own(fd: OwnedFd) -> Self {
        Self::new(fd, How::Own)
    }

    /// Writes to a socket that is ours.
    pub fn socket(fd: OwnedFd) -> Self {
        Self::new(fd, How::Socket)
    }

    /// Writes to one of our own streams.
    pub fn stream(fd: BorrowedFd<'_>) -> io::Result<Self> {
        let file = std::fs::File::from(fd.try_clone_to_owned()?);
        let kind = file.metadata()?.file_type();
        if kind.is_socket() {
            return Ok(Self::new(file.into(), How::Socket));
        }
        // Room in a terminal, which is all that `poll` says of one, may be less than a piece.
        if let Some(own) = terminal::reopen_alone(file.as_fd()) {
            return Ok(Self::own(own));
        }
        if kind.is_fifo() && cfg!(target_os = "linux") {
            let name = format!("/proc/self/fd/{}", file.as_raw_fd());
            // Opening a pipe anew gives an open file of our own. It fails where /proc is not mounted, and where the pipe is
            // another user's, as after su.
            return Ok(match OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(name) {
                Ok(own) => Self::own(own.into()),
                Err(_) => Self::new(file.into(), How::Pipe),
            });
        }
        Ok(Self::new(file.into(), How::Shared))
    }

    fn new(fd: OwnedFd, how: How) -> Self {
        Self {
            fd: Some(fd),
            how,
            waiting: Vec::new(),
            written: 0,
            broken: None,
            passed: 0,
            paused: false,
            closing: false,
            returns: None,
            turn: None,
        }
    }

    /// Whether bytes wait to be written.
    pub fn is_behind(&self) -> bool {
        self.written < self.waiting.len()
    }

    /// How much waits to be written.
    pub fn left(&self) -> usize {
        self.waiting.len() - self.written
    }

    /// Whether a reader that takes its time, but does take, still has something to take.
    pub fn is_busy(&self) -> bool {
        self.is_behind() && !self.paused
    }

    /// Nothing was taken for a while: the reader is slow or has stopped, which is not to stop the command at once.
    pub fn pause(&mut self) {
        self.paused = self.is_behind();
    }

    /// Whether more may be put here to wait.
    pub fn has_room(&self) -> bool {
        self.left() < ROOM
    }

    /// What went wrong for good, if anything did. From then on everything is swallowed.
    pub fn broken(&self) -> Option<Errno> {
        self.broken
    }

    /// How many bytes were written in all.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// What to poll; nothing once it is closed.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.fd.as_ref().map(AsFd::as_fd)
    }

    /// Nothing more is to come: the reader learns so after the last byte.
    pub fn close(&mut self) {
        self.closing = true;
        self.close_if_done();
    }

    fn close_if_done(&mut self) {
        if self.closing && !self.is_behind() {
            self.fd = None;
        }
    }

    /// Whether it is a terminal that adds carriage returns by itself, from now on.
    pub fn set_adds_returns(&mut self, adds: bool) {
        self.release_return();
        (self.returns, self.turn) = (adds.then(Returns::default), None);
    }

    /// Whether a carriage return waits to be told whether a newline follows.
    pub fn holds_return(&self) -> bool {
        self.returns.as_ref().is_some_and(Returns::is_held)
    }

    /// Passes on a carriage return that waits to be told whether a newline follows.
    pub fn release_return(&mut self) {
        if self.returns.as_mut().is_some_and(Returns::release) {
            self.put(b"\r");
        }
    }

    /// Whether it is taken for such a terminal.
    pub fn adds_returns(&self) -> bool {
        self.returns.is_some()
    }

    /// Whether what comes next is for a terminal that adds none: it is not written before
    /// [`set_adds_returns`](Self::set_adds_returns).
    pub fn is_at_turn(&self) -> bool {
        self.turn == Some(self.written)
    }

    /// Takes all of `bytes`, writing what can be written now.
    pub fn take(&mut self, bytes: &[u8]) {
        let Some(returns) = self.returns.as_mut().filter(|_| self.turn.is_none()) else { return self.put(bytes) };
        let mut given = Vec::with_capacity(bytes.len());
        let count = returns.take_out(bytes, &mut given);
        self.put(&given);
        if count < bytes.len() && self.broken.is_none() {
            self.turn = Some(self.waiting.len());
            self.waiting.extend_from_slice(&bytes[count..]);
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        let done = if self.is_behind() { 0 } else { self.write(bytes) };
        if self.broken.is_none() && done < bytes.len() {
            if self.written > 0 {
                self.waiting.drain(..self.written);
                self.turn = self.turn.map(|turn| turn - self.written);
                self.written = 0;
            }
            self.waiting.extend_from_slice(&bytes[done..]);
        }
    }

    /// Writes what waits, as much as can be written now.
    pub fn flush(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.written += self.write(&waiting[self.written..self.turn.unwrap_or(waiting.len())]);
        self.paused = false;
        if self.broken.is_none() && self.written < waiting.len() {
            self.waiting = waiting;
        } else {
            self.written = 0;
        }
        self.close_if_done();
    }

    /// Writes what waits, and waits itself for at most this long until it is taken.
    pub fn flush_within(&mut self, patience: Duration) {
        self.flush();
        let (clock, until) = (Clock::start(), Moment::START + patience);
        while let (Some(fd), true) = (self.fd(), self.is_behind()) {
            let mut ready = [PollFd::new(fd, PollFlags::POLLOUT)];
            let left = PollTimeout::try_from(until.since(clock.now())).unwrap_or(PollTimeout::ZERO);
            if left == PollTimeout::ZERO || !matches!(poll(&mut ready, left), Ok(1..) | Err(Errno::EINTR)) {
                return;
            }
            self.flush();
        }
    }

    fn write(&mut self, bytes: &[u8]) -> usize {
        let (mut done, mut tries) = (0, 0);
        while self.broken.is_none() && done < bytes.len() {
            let left = bytes.len() - done;
            match self.write_once(&bytes[done..]) {
                Ok(count) => {
                    done += count;
                    self.passed += count as u64;
                    // It is full, and would only say so. What is shared is written in pieces, whether it is full or not.
                    if count < left && !matches!(self.how, How::Shared | How::Pipe) {
                        break;
                    }
                }
                // Interrupted is only who writes to a terminal in whose background we are: that has to be seen to first.
                Err(Errno::EAGAIN | Errno::EINTR) => break,
                // For the moment. `poll` would say that it is ready all the same.
                Err(Errno::ENOMEM | Errno::ENOBUFS) if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(NEXT_TRY);
                }
                Err(error) => self.broken = Some(error),
            }
        }
        done
    }

    fn write_once(&self, bytes: &[u8]) -> nix::Result<usize> {
        let fd = self.fd.as_ref().ok_or(Errno::EBADF)?;
        match self.how {
            How::Own => nix::unistd::write(fd, bytes),
            How::Socket => {
                use nix::sys::socket::{MsgFlags, send};
                send(fd.as_raw_fd(), bytes, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL)
            }
            How::Pipe => match write_at_once(fd, bytes) {
                Err(Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::EINVAL | Errno::EPERM) => write_if_ready(fd, bytes),
                result => result,
            },
            How::Shared => write_if_ready(fd, bytes),
        }
    }
}

/// Writes what there is room for, where the kernel can be asked for that.
#[cfg(target_os = "linux")]
fn write_at_once(fd: &OwnedFd, bytes: &[u8]) -> nix::Result<usize> {
    let piece = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // A pipe has no places, which is said in two words where one is too short. Not every C library knows the call.
    let (here, flags) = (-1_isize, libc::RWF_NOWAIT);
    // SAFETY: the piece is these bytes, which the call only reads.
    let count =
        unsafe { libc::syscall(libc::SYS_pwritev2, fd.as_raw_fd(), &raw const piece, 1_usize, here, here, flags) };
    Errno::result(count).map(|count| usize::try_from(count).unwrap_or_default())
}

/// Nobody can be asked for that here.
#[cfg(not(target_os = "linux"))]
fn write_at_once(_: &OwnedFd, _: &[u8]) -> nix::Result<usize> {
    Err(Errno::EOPNOTSUPP)
}

/// Writes a piece if there is room for it.
fn write_if_ready(fd: &OwnedFd, bytes: &[u8]) -> nix::Result<usize> {
    let mut ready = [PollFd::new(fd.as_fd(), PollFlags::POLLOUT)];
    match poll(&mut ready, PollTimeout::ZERO)? {
        0 => Err(Errno::EAGAIN),
        // A pipe that is ready takes at least PIPE_BUF bytes without blocking.
        _ => nix::unistd::write(fd, &bytes[..bytes.len().min(libc::PIPE_BUF)]),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// What comes out of a sink that is behind.
    fn everything(mut sink: Sink, mut reader: io::PipeReader) -> Vec<u8> {
        let mut read = Vec::new();
        while sink.is_behind() {
            let mut buffer = [0; 9000];
            let count = reader.read(&mut buffer).unwrap();
            read.extend_from_slice(&buffer[..count]);
            sink.flush();
        }
        drop(sink);
        reader.read_to_end(&mut read).unwrap();
        read
    }

    #[test]
    fn a_full_pipe_makes_it_wait_and_nothing_is_lost() {
        let (reader, writer) = io::pipe().unwrap();
        let mut sink = Sink::stream(writer.as_fd()).unwrap();
        drop(writer);
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
        for piece in bytes.chunks(7001) {
            sink.take(piece);
        }
        assert!(sink.is_behind() && !sink.has_room());
        assert!(everything(sink, reader) == bytes);
    }

    #[test]
    fn a_pipe_that_cannot_be_opened_anew_does_not_block_either() {
        for how in [How::Pipe, How::Shared] {
            let (reader, writer) = io::pipe().unwrap();
            let mut sink = Sink::new(writer.into(), how);
            let bytes: Vec<u8> = (0..300_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
            sink.take(&bytes);
            assert!(sink.is_behind());
            assert!(everything(sink, reader) == bytes, "{how:?}");
        }
    }

    #[test]
    fn a_reader_that_is_gone_is_noticed_once_and_swallows_the_rest() {
        let (reader, writer) = io::pipe().unwrap();
        let mut sink = Sink::stream(writer.as_fd()).unwrap();
        drop(reader);
        sink.take(b"hello");
        assert_eq!(sink.broken(), Some(Errno::EPIPE));
        sink.take(b"more");
        assert!(!sink.is_behind());
    }
}
