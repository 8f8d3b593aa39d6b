//! Where a record goes: a file, a named pipe, a descriptor. It never holds up the relay; what nobody takes in time is
//! dropped, counted, and said once.

use std::collections::VecDeque;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::fstat;
use nix::unistd::{Whence, ftruncate, lseek};

use super::printed::follow;
use super::sink::Sink;
use super::terminal::STANDARD;

/// How long a reader that is behind, or about to come, may take for the last lines of a run.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What is done with a file that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is written on, at its end.
    Append,
    /// It is emptied.
    Overwrite,
}

/// What went wrong for the first time.
#[derive(Debug)]
pub enum Trouble {
    /// Whoever reads is too slow or not there: something was dropped.
    Slow,
    /// Nothing more can be written.
    Broken(io::Error),
}

/// Takes whole lines.
#[derive(Debug)]
pub struct Outlet {
    sink: Sink,
    /// Our own reading end of a named pipe. With it the pipe can be opened before anybody reads, and outlives a reader
    /// that goes: what is written waits in it for the next.
    keeper: Option<File>,
    dropped: u64,
    said: bool,
    /// What is to be done when the first line comes: until then it may turn out that nothing is started.
    first: First,
    /// Where the lines end that were taken, counted in what is written, from the last that is written whole on; none
    /// where it is no file of ours that could be cut.
    ends: Option<VecDeque<u64>>,
}

/// What is done to what is in a file before anything is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    /// Nothing.
    Keep,
    /// It goes.
    Empty,
    /// Its last line is ended: somebody was killed in the middle of it.
    EndLine,
}

/// Whether another run holds it, also a moment later: one that was killed may still be leaving.
fn is_taken(file: &File) -> bool {
    let mut tries = 0..3;
    while matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        if tries.next().is_none() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

impl Outlet {
    /// Opens a file, and makes it for its owner alone if it is not there.
    pub fn open(path: &Path, existing: Existing) -> io::Result<Self> {
        // Of a pipe that is our own output we must not be a reader: nobody would learn that the real one has left.
        if path.metadata().is_ok_and(|about| about.file_type().is_fifo() && standard_stream(&about).is_none())
            && let Some((writer, keeper)) = open_pipe(path)
        {
            return Ok(Self::new(Sink::own(writer.into()), Some(keeper)));
        }
        let mut options = OpenOptions::new();
        match existing {
            Existing::Append => options.append(true),
            Existing::Overwrite => options.write(true).truncate(false),
        };
        let file = options.create(true).mode(0o600).custom_flags(FLAGS).open(path)?;
        if let Some(ours) = file.metadata().ok().and_then(|about| standard_stream(&about)) {
            // Each of two open files has a place of its own in it, and one would write over the other.
            return match existing {
                Existing::Append => Self::stream(ours),
                Existing::Overwrite => Err(io::Error::other("the command's output goes there")),
            };
        }
        // Two that overwrite one file would leave nothing that can be read. The lock is gone with the open file; where
        // the file system knows none, nobody can tell.
        let is_file = file.metadata().is_ok_and(|about| about.is_file());
        if is_file && existing == Existing::Overwrite && is_taken(&file) {
            return Err(io::Error::other("another run is writing to it"));
        }
        let first = match existing {
            Existing::Overwrite => First::Empty,
            Existing::Append if is_file && ends_within_line(&file, path) => First::EndLine,
            Existing::Append => First::Keep,
        };
        let ends = is_file.then(|| VecDeque::from([0]));
        Ok(Self { first, ends, ..Self::new(Sink::own(file.into()), None) })
    }

    /// Writes to what somebody else has opened.
    pub fn stream(fd: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self::new(Sink::stream(fd)?, None))
    }

    fn new(sink: Sink, keeper: Option<File>) -> Self {
        if let Some(fd) = sink.fd() {
            follow(fd);
        }
        Self { sink, keeper, dropped: 0, said: false, first: First::Keep, ends: None }
    }

    /// Takes a line, or drops it. Gives what went wrong, the first time something does.
    pub fn put(&mut self, line: &[u8]) -> Option<Trouble> {
        match (std::mem::replace(&mut self.first, First::Keep), self.sink.fd()) {
            // A device has nothing to be emptied of.
            (First::Empty, Some(fd)) => drop(ftruncate(fd, 0)),
            (First::EndLine, _) => return self.put(&[b"\n", line].concat()),
            _ => {}
        }
        self.sink.flush();
        let trouble = if self.sink.has_room() {
            if let Some(ends) = &mut self.ends {
                ends.push_back(ends.back().map_or(0, |end| end + line.len() as u64));
            }
            self.sink.take(line);
            self.keep_whole_lines();
            Trouble::Broken(self.sink.broken()?.into())
        } else {
            self.dropped += 1;
            Trouble::Slow
        };
        (!std::mem::replace(&mut self.said, true)).then_some(trouble)
    }

    /// Where it writes to, as long as it does.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.sink.fd()
    }

    /// What to poll while something waits to be written.
    pub fn behind(&self) -> Option<BorrowedFd<'_>> {
        self.sink.fd().filter(|_| self.sink.is_behind())
    }

    /// Writes what waits.
    pub fn flush(&mut self) {
        self.sink.flush();
        self.keep_whole_lines();
    }

    /// Cuts a file in which nothing more can be written back to the end of a line: half a line makes a recording
    /// unreadable, and is of no use to anybody.
    fn keep_whole_lines(&mut self) {
        let Some(ends) = &mut self.ends else { return };
        let written = self.sink.passed();
        while ends.get(1).is_some_and(|end| *end <= written) {
            ends.pop_front();
        }
        if self.sink.broken().is_none() {
            return;
        }
        let half = written - ends.front().copied().unwrap_or(written);
        self.ends = None;
        let Some(fd) = self.sink.fd().filter(|_| half > 0) else { return };
        // Whoever has added something behind it keeps that.
        let (Ok(place), Ok(about)) = (lseek(fd, 0, Whence::SeekCur), fstat(fd)) else { return };
        if let (true, Ok(half)) = (place == about.st_size, i64::try_from(half)) {
            // It was worth a try: a file that can only be added to stays as it is.
            let _ = ftruncate(fd, place - half);
        }
    }

    /// Writes the rest, without waiting long for anybody. Gives what was lost.
    pub fn close(&mut self) -> Rest {
        self.sink.flush_within(LAST_WORDS);
        self.keep_whole_lines();
        let unread = match self.keeper.take() {
            Some(keeper) if is_ready(keeper.as_fd(), PollFlags::POLLIN) => {
                drop(keeper);
                !self.reader_comes()
            }
            _ => false,
        };
        Rest { dropped: self.dropped, unread }
    }

    /// What is in a pipe when nobody has it open any more is lost. Whoever is just about to open it gets a moment.
    fn reader_comes(&self) -> bool {
        const STEP: Duration = Duration::from_millis(10);
        let mut left = LAST_WORDS;
        // A pipe without a reader is in error.
        while self.sink.fd().is_some_and(|fd| is_ready(fd, PollFlags::POLLERR)) {
            if left.is_zero() {
                return false;
            }
            std::thread::sleep(STEP);
            left = left.saturating_sub(STEP);
        }
        true
    }
}

/// What was lost of what an outlet took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    /// So many lines were dropped.
    pub dropped: u64,
    /// Nobody was there to read the last of them.
    pub unread: bool,
}

/// Our standard output or error, if that is this file or pipe.
fn standard_stream(about: &Metadata) -> Option<BorrowedFd<'static>> {
    let is_this = |stream: &BorrowedFd<'_>| {
        fstat(stream).is_ok_and(|stream| (stream.st_dev, stream.st_ino) == (about.dev(), about.ino()))
    };
    let can_be = about.is_file() || about.file_type().is_fifo();
    STANDARD[1..].iter().copied().find(is_this).filter(|_| can_be)
}

/// Whether the last line of a file that was opened for writing only is not ended, as far as we may read it.
fn ends_within_line(file: &File, path: &Path) -> bool {
    let last = || {
        let reader = OpenOptions::new().read(true).custom_flags(FLAGS).open(path).ok()?;
        let about = same(file, &reader).filter(Metadata::is_file)?;
        let mut last = [b'\n'];
        reader.read_at(&mut last, about.len().checked_sub(1)?).ok()?;
        Some(last)
    };
    last().is_some_and(|last| last != *b"\n")
}

/// What two open files are about, if that is the same.
fn same(one: &File, other: &File) -> Option<Metadata> {
    let (one, other) = (one.metadata().ok()?, other.metadata().ok()?);
    ((one.dev(), one.ino()) == (other.dev(), other.ino())).then_some(other)
}

fn is_ready(fd: BorrowedFd<'_>, what: PollFlags) -> bool {
    let mut state = [PollFd::new(fd, what)];
    poll(&mut state, PollTimeout::ZERO).is_ok() && state[0].revents().is_some_and(|events| events.intersects(what))
}

/// Not blocking: what is there may be a device or a pipe that would hold us up.
const FLAGS: i32 = libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY;

/// Opens both ends of a named pipe; none where it is not ours to read.
fn open_pipe(path: &Path) -> Option<(File, File)> {
    let keeper = OpenOptions::new().read(true).write(true).custom_flags(FLAGS).open(path).ok()?;
    let writer = OpenOptions::new().write(true).custom_flags(FLAGS).open(path).ok()?;
    same(&keeper, &writer).filter(|about| about.file_type().is_fifo())?;
    Some((writer, keeper))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use nix::sys::stat::Mode;

    use super::*;

    fn pipe() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
        (folder, path)
    }

    fn reader(path: &Path) -> File {
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).unwrap()
    }

    #[test]
    fn what_is_written_before_anybody_reads_is_read_and_the_next_reader_goes_on() {
        let (_folder, path) = pipe();
        let mut outlet = Outlet::open(&path, Existing::Append).unwrap();
        assert!(outlet.put(b"one\n").is_none());
        let mut buffer = [0; 100];
        let mut first = reader(&path);
        let count = first.read(&mut buffer).unwrap();
        assert_eq!(&buffer[..count], b"one\n");
        drop(first);
        assert!(outlet.put(b"two\n").is_none());
        let mut second = reader(&path);
        assert!(outlet.put(b"three\n").is_none());
        assert_eq!(outlet.close(), Rest { dropped: 0, unread: false });
        drop(outlet);
        let mut text = String::new();
        second.read_to_string(&mut text).unwrap();
        assert_eq!(text, "two\nthree\n");
    }

    #[test]
    fn a_pipe_that_nobody_reads_fills_up_and_that_is_said_once() {
        let (_folder, path) = pipe();
        let mut outlet = Outlet::open(&path, Existing::Append).unwrap();
        let line = [b'x'; 1000];
        let said = (0..1000).filter(|_| matches!(outlet.put(&line), Some(Trouble::Slow))).count();
        assert_eq!(said, 1);
        assert!(outlet.behind().is_some());
        let Rest { dropped, unread } = outlet.close();
        assert!(dropped > 500 && unread);
    }

    #[test]
    fn a_file_is_made_for_its_owner_and_appended_to_or_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for existing in [Existing::Append, Existing::Append, Existing::Overwrite, Existing::Append] {
            let mut outlet = Outlet::open(&path, existing).unwrap();
            outlet.put(b"x\n");
            outlet.close();
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"x\nx\n");
        Outlet::open(&path, Existing::Overwrite).unwrap().close();
        assert_eq!(std::fs::read(&path).unwrap(), b"x\nx\n", "nothing was written");
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_line_that_somebody_left_unfinished_is_ended_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (before, after) in [("{\"v\":1", "{\"v\":1\nx\ny\n"), ("whole\n", "whole\nx\ny\n"), ("", "x\ny\n")] {
            std::fs::write(&path, before).unwrap();
            let mut outlet = Outlet::open(&path, Existing::Append).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), before, "nothing was written");
            outlet.put(b"x\n");
            outlet.put(b"y\n");
            outlet.close();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        }
    }

    #[test]
    fn a_full_disk_is_said_once() {
        let mut outlet = Outlet::open(Path::new("/dev/full"), Existing::Append).unwrap();
        assert!(matches!(outlet.put(b"x\n"), Some(Trouble::Broken(_))));
        assert!(outlet.put(b"x\n").is_none());
    }
}
