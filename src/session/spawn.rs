//! The command is started so that it finds everything as we found it.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::inherited;
use super::place::Place;

/// What the command is started with.
#[derive(Debug)]
pub struct Launch {
    /// The command and its arguments.
    pub argv: Vec<OsString>,
    /// Its standard streams.
    pub streams: [Given; 3],
    /// The terminal that is to control it.
    pub terminal: Option<OwnedFd>,
    /// Where it stands.
    pub place: Place,
    /// Whether it starts in the foreground of its terminal.
    pub foreground: bool,
    /// Variables that differ from ours.
    pub variables: Vec<(&'static str, &'static str)>,
    /// Variables of ours that it does not get.
    pub without: &'static [&'static str],
}

/// What one of the command's standard streams is.
#[derive(Debug)]
pub enum Given {
    /// This.
    This(OwnedFd),
    /// The same as ours.
    Ours,
    /// /dev/null.
    Null,
    /// Closed.
    Closed,
}

impl Launch {
    /// Starts it in the process group `group`, or one of its own where that is none. Gives its process id.
    ///
    /// Called by the monitor, with every signal blocked.
    pub fn start(&mut self, group: Option<i32>) -> io::Result<i32> {
        for (name, value) in &self.variables {
            // Not through `Command`: it would sort the environment.
            // SAFETY: the monitor has one thread.
            unsafe { std::env::set_var(name, value) };
        }
        for name in self.without {
            // SAFETY: the monitor has one thread.
            unsafe { std::env::remove_var(name) };
        }
        let mut command = Command::new(&self.argv[0]);
        command.args(&self.argv[1..]);
        let mut close = Vec::new();
        for (number, given) in (0..).zip(&mut self.streams) {
            let stream = match std::mem::replace(given, Given::Closed) {
                Given::This(fd) => Stdio::from(fd),
                Given::Ours => Stdio::inherit(),
                Given::Null => Stdio::null(),
                Given::Closed => {
                    close.push(number);
                    Stdio::inherit()
                }
            };
            match number {
                0 => command.stdin(stream),
                1 => command.stdout(stream),
                _ => command.stderr(stream),
            };
        }
        let terminal = self.terminal.as_ref().map(AsRawFd::as_raw_fd);
        let (place, foreground) = (self.place, self.foreground);
        // SAFETY: what runs between fork and exec only makes system calls and touches no allocator or lock.
        unsafe { command.pre_exec(move || prepare(place, group, foreground, terminal, &close)) };
        let child = command.spawn()?;
        // The standard library does not wait for a child that is dropped; the monitor does.
        i32::try_from(child.id()).map_err(io::Error::other)
    }
}

/// In the new process, just before it becomes the command.
fn prepare(
    place: Place,
    group: Option<i32>,
    foreground: bool,
    terminal: Option<RawFd>,
    close: &[RawFd],
) -> io::Result<()> {
    match place {
        Place::Ours | Place::Orphaned => {}
        Place::SessionLeader => {
            nix::unistd::setsid()?;
            if let Some(fd) = terminal {
                take_terminal(fd)?;
            }
        }
        Place::Job { .. } => {
            let group = nix::unistd::Pid::from_raw(group.unwrap_or(0));
            nix::unistd::setpgid(nix::unistd::Pid::from_raw(0), group)?;
            if let (true, Some(fd)) = (foreground, terminal) {
                // The standard library has unblocked all signals, and a process in the background that takes the
                // foreground would be stopped for it.
                nix::sys::signal::SigSet::all().thread_block()?;
                let group = nix::unistd::getpgrp().as_raw();
                // SAFETY: tcsetpgrp takes two numbers and does not touch our memory.
                if unsafe { libc::tcsetpgrp(fd, group) } == -1 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
    }
    for fd in close {
        // SAFETY: the descriptor is one of ours that idlewatch was started without; nobody uses it.
        unsafe { libc::close(*fd) };
    }
    inherited::restore_signals();
    Ok(())
}

/// Makes this the controlling terminal of the calling session leader.
pub fn take_terminal(fd: RawFd) -> io::Result<()> {
    // SAFETY: TIOCSCTTY takes a number and does not touch our memory.
    match unsafe { libc::ioctl(fd, libc::TIOCSCTTY as _, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
