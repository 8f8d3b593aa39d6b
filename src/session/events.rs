//! The events of a run, written as JSON lines to whoever wants them, without ever holding up the relay.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::SystemTime;

use super::sink::Sink;
use crate::cli::EventsTo;
use crate::error::Error;
use crate::report::JsonLines;
use crate::watch::{Event, Moment};

/// Where events go.
pub struct Events {
    lines: JsonLines<Vec<u8>>,
    sink: Sink,
    dropped: u64,
    said: bool,
}

/// What went wrong with them, said once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss(pub String);

impl Events {
    /// Opens them. A descriptor that is not there is a mistake; a file that cannot be written is a loss, and the run
    /// goes on.
    pub fn open(to: &EventsTo, run: String, now: SystemTime) -> Result<Result<Self, Loss>, Error> {
        let sink = match to {
            EventsTo::Descriptor(number) => {
                Sink::stream(take_descriptor(*number)?.as_fd()).map_err(|error| Loss(format!("no events: {error}")))
            }
            EventsTo::File(path) => {
                // Not blocking: a named pipe without a reader would hold us up.
                let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
                let opened = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(path);
                opened
                    .map(|file| Sink::own(file.into()))
                    .map_err(|error| Loss(format!("no events: {}: {error}", path.display())))
            }
        };
        let lines = JsonLines::new(Vec::new(), run, now);
        Ok(sink.map(|sink| Self { lines, sink, dropped: 0, said: false }))
    }

    /// Writes one. Gives what has to be said about it, the first time something is lost.
    pub fn write(&mut self, when: SystemTime, at: Moment, event: &Event) -> Option<Loss> {
        self.sink.flush();
        if !self.sink.has_room() {
            self.dropped += 1;
            return self.lost("events are dropped: whoever reads them is too slow".to_owned());
        }
        // Writing to memory cannot fail.
        let _ = self.lines.write_dated(when, at, event);
        let line = std::mem::take(self.lines.out());
        self.sink.take(&line);
        let broken = self.sink.broken()?;
        self.lost(format!("no more events: {}", io::Error::from(broken)))
    }

    fn lost(&mut self, what: String) -> Option<Loss> {
        (!std::mem::replace(&mut self.said, true)).then_some(Loss(what))
    }

    /// Writes the last of them. Gives what else has to be said.
    pub fn close(&mut self) -> Option<Loss> {
        self.sink.flush_within(super::records::LAST_WORDS);
        (self.dropped > 0).then(|| Loss(format!("{} events were dropped", self.dropped)))
    }
}

/// Makes a descriptor that we were started with ours alone: the command does not get it.
fn take_descriptor(number: i32) -> Result<File, Error> {
    // SAFETY: F_GETFD reads a flag and fails harmlessly on a closed descriptor.
    if number < 3 && number != 1 && number != 2 || unsafe { libc::fcntl(number, libc::F_GETFD) } == -1 {
        return Err(Error::usage(format!("--events fd:{number}: no such descriptor; open it with {number}>FILE")));
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
    let mut bytes = [0; 4];
    let read = File::open("/dev/urandom").and_then(|mut file| io::Read::read_exact(&mut file, &mut bytes));
    let random = if read.is_ok() { u32::from_ne_bytes(bytes) } else { std::process::id() };
    format!("{random:08x}")
}
