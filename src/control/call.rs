//! A connection to a run, from the side of whoever asks. It never waits: `poll` says when there is something to do.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, recv, socket};

use super::folder::{Address, Trouble};
use super::peer::Peer;
use super::request::Request;
use crate::session::{Clock, Sink};

/// More than an answer has.
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
    /// None: it has hung up, or so many are waiting to be let in already that it does not answer.
    sink: Option<Sink>,
    input: Vec<u8>,
    /// Why nothing can be heard of it, though it goes on.
    fault: Option<String>,
}

impl Call {
    /// Calls a run. None: there is no such run any more.
    pub fn new(address: &Address) -> Result<Option<Self>, Trouble> {
        let path = address.socket().map_err(Trouble::Unusable)?;
        let failed = |error: Errno| Trouble::of(&path, error);
        let fd = socket(AddressFamily::Unix, SockType::Stream, SockFlag::empty(), None).map_err(failed)?;
        prepare(&fd).map_err(failed)?;
        let name = UnixAddr::new(&path).map_err(failed)?;
        let call = Self { run: address.run.clone(), pid: None, sink: None, input: Vec::new(), fault: None };
        match connect(fd.as_raw_fd(), &name) {
            Ok(()) => {}
            Err(Errno::EAGAIN) => {
                let fault = Some("too many clients are waiting to connect".to_owned());
                return Ok(Some(Self { fault, ..call }));
            }
            Err(Errno::ECONNREFUSED) => {
                remove_stale(&path);
                return Ok(None);
            }
            Err(Errno::ENOENT) => return Ok(None),
            Err(error) => return Err(failed(error)),
        }
        // In a folder of ours nobody else should be listening. Who does must not be told anything.
        match Peer::of(&fd) {
            Some(peer) if peer.is_same_user() => Ok(Some(Self { pid: peer.pid, sink: Some(Sink::socket(fd)), ..call })),
            _ => Ok(None),
        }
    }

    /// Whether nothing more comes: it has hung up, or never answered. One that takes nothing any more may still have
    /// said why.
    pub fn is_closed(&self) -> bool {
        self.sink.is_none()
    }

    /// Why nothing can be heard of it, though it goes on.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
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
            self.fault = Some(format!("it sent a line of more than {LONGEST} bytes"));
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
    // The same answer comes for a file that is no socket, and that is not ours to remove.
    let found = std::fs::symlink_metadata(path).ok().filter(|found| found.file_type().is_socket());
    let made = found.and_then(|found| found.modified().ok());
    let age = made.and_then(|made| Clock::time_of_day().duration_since(made).ok());
    if age.is_some_and(|age| age > STALE) {
        // Somebody else may have been faster.
        let _ = std::fs::remove_file(path);
    }
}
