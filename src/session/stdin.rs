//! Our own standard input where it is typed into the command's terminal: read without blocking.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::sys::socket::{MsgFlags, recv};

use super::surroundings::Own;

/// What is typed. Others may read from it as well, and take what there was between `poll` and the read.
#[derive(Debug)]
pub struct Stdin<'fd> {
    fd: BorrowedFd<'fd>,
    how: How,
}

/// How to read without blocking. `O_NONBLOCK` cannot simply be set: it would be set for everybody who shares the open
/// file, and stay set when we are gone.
#[derive(Debug)]
enum How {
    /// A pipe that is opened anew has an open file of our own, which does not block.
    Anew(File),
    /// A socket can be asked for each call.
    Socket,
    /// A shared open file, read once `poll` says so. Regular files never block anyway.
    Shared,
}

impl<'fd> Stdin<'fd> {
    /// Reads from this, which is of this kind.
    pub fn new(fd: BorrowedFd<'fd>, kind: Own) -> Self {
        let how = match kind {
            Own::Pipe => open_anew(fd).map_or(How::Shared, How::Anew),
            Own::Socket => How::Socket,
            _ => How::Shared,
        };
        Self { fd, how }
    }

    /// What to poll: not the pipe that was opened anew, which would never say that the last writer had left before.
    pub fn fd(&self) -> BorrowedFd<'fd> {
        self.fd
    }

    /// Reads what is there: nothing at its end, and an error where nothing is there yet.
    pub fn read(&self, buffer: &mut [u8]) -> nix::Result<usize> {
        match &self.how {
            How::Anew(pipe) => nix::unistd::read(pipe, buffer),
            How::Socket => recv(self.fd.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT),
            How::Shared => nix::unistd::read(self.fd, buffer),
        }
    }
}

/// Fails where /proc is not mounted, and where the pipe is another user's, as after su.
fn open_anew(pipe: BorrowedFd<'_>) -> Option<File> {
    if !cfg!(target_os = "linux") {
        // There the same open file would be had once more.
        return None;
    }
    let name = format!("/proc/self/fd/{}", pipe.as_raw_fd());
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(name).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use nix::sys::stat::Mode;

    use super::*;

    /// Whether somebody who waits for it would read.
    fn is_ready(stdin: &Stdin<'_>) -> bool {
        poll(&mut [PollFd::new(stdin.fd(), PollFlags::POLLIN)], PollTimeout::ZERO) == Ok(1)
    }

    /// Reads it from its beginning to its end, and whatever somebody else was faster to take is not waited for.
    fn check(reader: &impl AsFd, mut writer: impl Write, kind: Own) {
        let (stdin, mut buffer) = (Stdin::new(reader.as_fd(), kind), [0; 16]);
        writer.write_all(b"taken by another").unwrap();
        assert!(is_ready(&stdin));
        assert_eq!(nix::unistd::read(reader, &mut buffer), Ok(16));
        assert_eq!(stdin.read(&mut buffer), Err(Errno::EAGAIN), "{kind:?}");
        let flags = OFlag::from_bits_retain(fcntl(reader, FcntlArg::F_GETFL).unwrap());
        assert!(!flags.contains(OFlag::O_NONBLOCK), "it is set for everybody: {kind:?}");
        writer.write_all(b"typed").unwrap();
        assert_eq!(stdin.read(&mut buffer), Ok(5));
        assert_eq!(&buffer[..5], b"typed");
        drop(writer);
        assert!(is_ready(&stdin));
        assert_eq!(stdin.read(&mut buffer), Ok(0), "{kind:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_another_reader_has_taken_is_not_waited_for() {
        let (reader, writer) = std::io::pipe().unwrap();
        check(&reader, writer, Own::Pipe);
        let (reader, writer) = UnixStream::pair().unwrap();
        check(&reader, writer, Own::Socket);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_pipe_ends_once_nobody_writes_any_more_and_not_before_somebody_has_begun() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("pipe");
        nix::unistd::mkfifo(&name, Mode::S_IRWXU).unwrap();
        let reader = || OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&name).unwrap();
        let writer = || OpenOptions::new().write(true).open(&name).unwrap();
        let mut buffer = [0; 16];
        // Nobody has written yet.
        let early = reader();
        assert!(!is_ready(&Stdin::new(early.as_fd(), Own::Pipe)));
        // Whoever wrote has left before we came.
        drop(writer());
        let stdin = Stdin::new(early.as_fd(), Own::Pipe);
        assert!(is_ready(&stdin));
        assert_eq!(stdin.read(&mut buffer), Ok(0));
        let late = writer();
        assert!(!is_ready(&stdin));
        assert_eq!(stdin.read(&mut buffer), Err(Errno::EAGAIN));
        drop(stdin);
        drop(early);
        // Nobody reads any more.
        assert_eq!(nix::unistd::write(&late, b"x"), Err(Errno::EPIPE));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_pipe_that_was_opened_anew_is_nobody_elses() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let How::Anew(pipe) = Stdin::new(reader.as_fd(), Own::Pipe).how else { panic!("it is not opened anew") };
        let flags = FdFlag::from_bits_retain(fcntl(&pipe, FcntlArg::F_GETFD).unwrap());
        assert!(flags.contains(FdFlag::FD_CLOEXEC));
    }
}
