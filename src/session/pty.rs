//! How a pseudo-terminal is made and resized. Nothing else knows.
#![allow(unsafe_code, reason = "requests to a terminal that nothing wraps")]

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::thread;
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::termios::{self, LocalFlags, OutputFlags, SetArg, Termios};
use portable_pty::{MasterPty, PtySize, native_pty_system};

use super::terminal::adds_returns;
use super::typeahead;
use super::unblocked::never_block;

/// How long the kernel may take to work on what was typed.
const A_MOMENT: Duration = Duration::from_millis(5);

/// Our side of a pseudo-terminal.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    fd: OwnedFd,
}

impl Pty {
    /// Opens one of this size; `like` are the settings it starts with, otherwise the system's. The other side, which
    /// the command's streams are made of, comes with it.
    pub fn open(size: PtySize, like: Option<&Termios>) -> io::Result<(Self, OwnedFd)> {
        let pair = native_pty_system().openpty(size).map_err(cause)?;
        let raw = pair.master.as_raw_fd().ok_or(io::ErrorKind::Unsupported)?;
        // SAFETY: portable-pty keeps its descriptor open for as long as `pair.master` lives, which is longer than
        // this borrow.
        let fd = unsafe { BorrowedFd::borrow_raw(raw) }.try_clone_to_owned()?;
        never_block(&fd)?;
        let slave = open_slave(&*pair.master, &fd, 0)?;
        if let Some(settings) = like {
            termios::tcsetattr(&slave, SetArg::TCSANOW, settings)?;
        }
        Ok((Self { master: pair.master, fd }, slave))
    }

    /// The command's side of it once more, which does not hold up whoever reads it. The other one would: the command has the
    /// same open file, so that it has to stay as the command expects it.
    pub fn reopen_slave(&self) -> io::Result<OwnedFd> {
        open_slave(&*self.master, &self.fd, libc::O_NONBLOCK)
    }

    /// Gives it a new size. The kernel tells the processes in its foreground.
    pub fn resize(&self, size: PtySize) -> io::Result<()> {
        self.master.resize(size).map_err(cause)
    }

    /// Its settings, as the command has left them.
    pub fn settings(&self) -> io::Result<Termios> {
        Ok(termios::tcgetattr(&self.fd)?)
    }

    /// Changes its settings.
    pub fn set(&self, settings: &Termios) -> io::Result<()> {
        Ok(termios::tcsetattr(&self.fd, SetArg::TCSANOW, settings)?)
    }

    /// Whether it adds a carriage return to each newline.
    pub fn adds_returns(&self) -> bool {
        self.settings().is_ok_and(|settings| adds_returns(&settings))
    }

    /// Makes it a terminal nobody looks at: no carriage returns are added. That it would echo stays, since a command that
    /// switches it off asks for a password; unless all that comes is typed, and none of it is to be shown.
    pub fn make_plain(&self, echoes: bool) -> io::Result<()> {
        let mut settings = self.settings()?;
        settings.output_flags.remove(OutputFlags::ONLCR);
        settings.local_flags.set(LocalFlags::ECHO, echoes);
        self.set(&settings)
    }

    /// Does this while it echoes nothing. The command may change the settings meanwhile, which then hold.
    pub fn while_silent(&self, slave: Option<&OwnedFd>, work: impl FnOnce()) {
        let found = self.settings().ok().filter(|settings| settings.local_flags.contains(LocalFlags::ECHO));
        let Some(found) = found else { return work() };
        let mut silent = found.clone();
        silent.local_flags.remove(LocalFlags::ECHO);
        // Where this fails, there is an echo in the output.
        let _ = self.set(&silent);
        work();
        if let Some(slave) = slave {
            // What is written to a master is worked on later, by the kernel's own thread, under the settings of that
            // time. To ask the other side whether it can read waits for that, unless something lies there unread: then
            // the answer comes at once, and all that can be done is to give the thread a moment.
            if typeahead::is_ready(slave).unwrap_or(false) {
                thread::sleep(A_MOMENT);
            }
        }
        if self.settings().is_ok_and(|settings| settings == silent) {
            let _ = self.set(&found);
        }
    }

    /// The device number of the command's side of it.
    #[cfg(target_os = "linux")]
    pub fn device(&self) -> Option<u64> {
        let mut number: libc::c_uint = 0;
        // SAFETY: TIOCGPTN writes one number, and `number` is one.
        let answer = unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::TIOCGPTN, &raw mut number) };
        (answer == 0).then(|| libc::makedev(136, number))
    }

    /// The device number of the command's side of it, which nobody can use here.
    #[cfg(not(target_os = "linux"))]
    pub fn device(&self) -> Option<u64> {
        None
    }

    /// Whether it hands over whole lines, as for a program that does not draw its own screen.
    pub fn is_in_line_mode(&self) -> bool {
        self.settings().is_ok_and(|settings| settings.local_flags.contains(LocalFlags::ICANON))
    }

    /// The process group in its foreground.
    pub fn foreground(&self) -> Option<i32> {
        nix::unistd::tcgetpgrp(&self.fd).ok().map(nix::unistd::Pid::as_raw)
    }
}

impl AsFd for Pty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// portable-pty does not hand out its slave, so the peer is opened again: through the master where the kernel can
/// (also where /dev/pts is another mount), by name elsewhere. Besides to be read and written, in this `way`.
fn open_slave(master: &dyn MasterPty, fd: &OwnedFd, way: libc::c_int) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        // Without O_CLOEXEC: the kernel keeps it among the flags that F_GETFL shows to the command.
        let flags = libc::O_RDWR | libc::O_NOCTTY | way;
        // SAFETY: TIOCGPTPEER takes open flags by value and gives a new descriptor or an error.
        let peer = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCGPTPEER, flags) };
        if peer >= 0 {
            // SAFETY: the kernel just made this descriptor for us alone.
            let peer = unsafe { OwnedFd::from_raw_fd(peer) };
            fcntl(&peer, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
            return Ok(peer);
        }
    }
    let _ = fd;
    let name = master.tty_name().ok_or(io::ErrorKind::NotFound)?;
    let file = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY | way).open(name)?;
    Ok(file.into())
}

/// portable-pty speaks in `anyhow`; what the kernel said is kept where it is in there.
#[allow(clippy::needless_pass_by_value, reason = "it is used as map_err's argument")]
fn cause(error: impl ToString) -> io::Error {
    match io::Error::last_os_error() {
        system if system.raw_os_error().is_some_and(|errno| errno != 0) => system,
        _ => io::Error::other(error.to_string()),
    }
}
