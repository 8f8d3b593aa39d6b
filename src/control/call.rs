//! A connection to a run, from the side of whoever asks. It never waits: `poll` says when there is something to do.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, recv, socket};

use super::folder;
use super::peer::Peer;
use super::request::Request;
use crate::session::{Clock, Sink};

/// More than any answer has; whoever sends more is no run.
const LONGEST: usize = 1 << 20;

/// A socket on which nobody listens is removed when it is older than this: a run that is just being started has its
/// socket a moment before it listens.
const STALE: Duration = Duration::from_secs(5);

/// A connection to a run.
#[derive(Debug)]
pub struct Call {
    /// The run's id.
    pub run: String,
    /// The process that listens, where the system tells.
    pub pid: Option<i32>,
    /// None: so many are waiting to be let in already that it does not answer, or it has hung up.
    sink: Option<Sink>,
    input: Vec<u8>,
}

impl Call {
    /// Calls a run. None: there is no such run any more.
    pub fn new(folder: &Path, run: &str) -> Result<Option<Self>, String> {
        let path = folder::socket(folder, run)?;
        let failed = |error: Errno| format!("{}: {error}", path.display());
        let (flags, run) = (SockFlag::empty(), run.to_owned());
        let fd = socket(AddressFamily::Unix, SockType::Stream, flags, None).map_err(failed)?;
        prepare(&fd).map_err(failed)?;
        let address = UnixAddr::new(&path).map_err(failed)?;
        match connect(fd.as_raw_fd(), &address) {
            Ok(()) => {}
            Err(Errno::EAGAIN) => return Ok(Some(Self { run, pid: None, sink: None, input: Vec::new() })),
            Err(Errno::ECONNREFUSED) => {
                remove_stale(&path);
                return Ok(None);
            }
            Err(Errno::ENOENT) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        // In a folder of ours nobody else should be listening. Who does must not be told anything.
        match Peer::of(&fd) {
            Some(peer) if peer.is_same_user() => {
                Ok(Some(Self { run, pid: peer.pid, sink: Some(Sink::socket(fd)), input: Vec::new() }))
            }
            _ => Ok(None),
        }
    }

    /// Whether it has hung up, or never answered.
    pub fn is_closed(&self) -> bool {
        self.sink.as_ref().is_none_or(|sink| sink.broken().is_some())
    }

    /// Asks something.
    pub fn ask(&mut self, request: &Request) {
        if let Some(sink) = &mut self.sink {
            sink.take(request.line().as_bytes());
        }
    }

    /// What to poll it for.
    pub fn watched(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let sink = self.sink.as_ref()?;
        let mut flags = PollFlags::POLLIN;
        flags.set(PollFlags::POLLOUT, sink.is_behind());
        sink.fd().map(|fd| (fd, flags))
    }

    /// Takes in what has come. Gives the whole lines of it.
    pub fn attend(&mut self) -> Vec<String> {
        let Some(sink) = &mut self.sink else { return Vec::new() };
        sink.flush();
        let mut buffer = [0; 16384];
        let count = match sink.fd().map(|fd| recv(fd.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT)) {
            Some(Ok(count @ 1..)) => count,
            Some(Err(Errno::EAGAIN | Errno::EINTR)) => return Vec::new(),
            _ => {
                self.sink = None;
                return Vec::new();
            }
        };
        self.input.extend_from_slice(&buffer[..count]);
        let mut lines = Vec::new();
        while let Some(end) = memchr::memchr(b'\n', &self.input) {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            lines.push(String::from_utf8_lossy(&line[..end]).into_owned());
        }
        if self.input.len() > LONGEST {
            self.sink = None;
        }
        lines
    }
}

/// Neither blocks nor is inherited.
fn prepare(fd: &OwnedFd) -> nix::Result<()> {
    use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
    fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    fcntl(fd, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map(drop)
}

fn remove_stale(path: &Path) {
    let made = std::fs::symlink_metadata(path).and_then(|found| found.modified());
    let age = made.ok().and_then(|made| Clock::time_of_day().duration_since(made).ok());
    if age.is_some_and(|age| age > STALE) {
        // Somebody else may have been faster.
        let _ = std::fs::remove_file(path);
    }
}
