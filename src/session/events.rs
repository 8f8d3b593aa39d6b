//! The events of a run, written as JSON lines to whoever wants them, without ever holding up the relay.
#![allow(unsafe_code, reason = "a descriptor that somebody gave us by its number")]

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::SystemTime;

use super::outlet::{Existing, Outlet, Rest, Trouble};
use super::printed::we_wrote;
use crate::cli::EventsTo;
use crate::error::Error;
use crate::report::JsonLines;
use crate::watch::{Event, Moment};

/// Where events go.
pub struct Events {
    lines: JsonLines<Vec<u8>>,
    outlet: Outlet,
}

/// What went wrong with them, said once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss(pub String);

impl Events {
    /// Opens them. A descriptor that is not there is a mistake; a file that cannot be written is a loss, and the run
    /// goes on. `named` is what said where they go.
    pub fn open(to: &EventsTo, named: &str, run: String, now: SystemTime) -> Result<Result<Self, Loss>, Error> {
        let outlet = match to {
            EventsTo::Descriptor(number) => Outlet::stream(take_descriptor(*number, named)?.as_fd())
                .map_err(|error| format!("cannot write events: {error}")),
            EventsTo::File(path) => Outlet::open(path, Existing::Append)
                .map_err(|error| format!("cannot write events: {}: {error}", path.display())),
        };
        let lines = JsonLines::new(Vec::new(), run, now);
        Ok(outlet.map(|outlet| Self { lines, outlet }).map_err(Loss))
    }

    /// Writes one. Gives what has to be said about it, the first time something is lost.
    pub fn write(&mut self, when: SystemTime, at: Moment, event: &Event) -> Option<Loss> {
        // Writing to memory cannot fail.
        let _ = self.lines.write_dated(when, at, event);
        let line = std::mem::take(self.lines.out());
        if let Some(fd) = self.outlet.fd() {
            we_wrote(fd, line.len());
        }
        Some(Loss(match self.outlet.put(&line)? {
            Trouble::Slow => "dropping events: their reader is too slow".to_owned(),
            Trouble::Broken(error) => format!("writing no more events: {error}"),
        }))
    }

    /// What to poll while some wait to be written.
    pub fn behind(&self) -> Option<BorrowedFd<'_>> {
        self.outlet.behind()
    }

    /// Writes those that wait.
    pub fn flush(&mut self) {
        self.outlet.flush();
    }

    /// Writes the last of them. Gives what else has to be said.
    pub fn close(&mut self) -> Option<Loss> {
        match self.outlet.close() {
            Rest { dropped: 0, unread: false } => None,
            Rest { dropped: 0, unread: true } => Some(Loss("the last events were not read".to_owned())),
            Rest { dropped, .. } => Some(Loss(format!("{dropped} events were dropped"))),
        }
    }
}

/// Makes a descriptor that we were started with ours alone: the command does not get it.
fn take_descriptor(number: i32, named: &str) -> Result<File, Error> {
    if number == 0 {
        return Err(Error::usage(format!(
            "{named} fd:0 is the command's input; open another descriptor, as in 3>FILE and fd:3"
        )));
    }
    // SAFETY: F_GETFD reads a flag and fails harmlessly on a closed descriptor.
    if unsafe { libc::fcntl(number, libc::F_GETFD) } == -1 {
        return Err(Error::usage(format!("{named} fd:{number}: no such descriptor; open it with {number}>FILE")));
    }
    // SAFETY: F_GETFL reads flags.
    if unsafe { libc::fcntl(number, libc::F_GETFL) } & libc::O_ACCMODE == libc::O_RDONLY {
        return Err(Error::usage(format!(
            "{named} fd:{number}: it is open for reading only; open it with {number}>FILE"
        )));
    }
    // SAFETY: the descriptor is open; the standard streams are only duplicated, others nobody else here uses.
    let fd = unsafe { OwnedFd::from_raw_fd(number) };
    if number > 2 {
        return Ok(fd.into());
    }
    let copy = fd.try_clone();
    // The standard stream itself stays open.
    std::mem::forget(fd);
    Ok(copy.map_err(|error| Error::internal(error.to_string()))?.into())
}

/// A short name for a run, unlike any other.
pub fn run_name() -> String {
    // The key of a hash is the system's own random number, without a file to open for it.
    let random = RandomState::new().hash_one(std::process::id());
    format!("{:08x}", random & 0xffff_ffff)
}
