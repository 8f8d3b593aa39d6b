//! The world around a wrapper: a terminal that somebody reads, or a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};

/// What a wrapper's standard streams are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A terminal for all three.
    Terminal,
    /// Output to a pipe, input from nowhere, as in a script.
    Pipe,
}

/// A wrapper that runs, and what it prints.
pub struct Running {
    /// The wrapper.
    pub child: Child,
    output: File,
}

/// Starts a wrapper.
pub fn start(argv: &[String], place: Place) -> io::Result<Running> {
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).env("TERM", "xterm-256color").env("XDG_CONFIG_HOME", "/nonexistent");
    // Cargo's own folders, in which every program would look for its libraries first.
    command.env_remove("LD_LIBRARY_PATH");
    let output: OwnedFd = match place {
        Place::Pipe => {
            let (read, write) = io::pipe()?;
            command.stdin(Stdio::null()).stdout(write).stderr(Stdio::null());
            read.into()
        }
        Place::Terminal => {
            let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
            let pty = openpty(Some(&size), None)?;
            let mut settings = tcgetattr(&pty.slave)?;
            cfmakeraw(&mut settings);
            settings.output_flags.insert(nix::sys::termios::OutputFlags::OPOST);
            settings.output_flags.insert(nix::sys::termios::OutputFlags::ONLCR);
            settings.local_flags.insert(nix::sys::termios::LocalFlags::ICANON);
            tcsetattr(&pty.slave, SetArg::TCSANOW, &settings)?;
            let stream = || pty.slave.try_clone().map(Stdio::from);
            command.stdin(stream()?).stdout(stream()?).stderr(stream()?);
            let prepare = || {
                nix::unistd::setsid()?;
                // SAFETY: the call takes numbers and touches no memory of ours.
                unsafe { libc::ioctl(0, libc::TIOCSCTTY as _, 0) };
                Ok(())
            };
            // SAFETY: between fork and exec there are only system calls.
            unsafe { command.pre_exec(prepare) };
            pty.master
        }
    };
    close_on_exec(&output)?;
    let child = command.spawn()?;
    Ok(Running { child, output: output.into() })
}

fn close_on_exec(fd: &impl AsFd) -> io::Result<()> {
    use nix::fcntl::{FcntlArg, FdFlag, fcntl};
    fcntl(fd.as_fd(), FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(())
}

impl Running {
    /// Reads something; nothing at the end.
    pub fn read(&mut self, buffer: &mut [u8]) -> usize {
        loop {
            match self.output.read(buffer) {
                Ok(count) => return count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A master whose other side is closed says EIO.
                Err(_) => return 0,
            }
        }
    }

    /// Reads until this was printed. False where the end came before.
    pub fn wait_for(&mut self, mark: &[u8]) -> bool {
        let mut buffer = vec![0; 64 * 1024];
        let mut seen: Vec<u8> = Vec::new();
        loop {
            let count = self.read(&mut buffer);
            if count == 0 {
                return false;
            }
            let kept = seen.len().saturating_sub(mark.len());
            seen.drain(..kept);
            seen.extend_from_slice(&buffer[..count]);
            if seen.windows(mark.len()).any(|window| window == mark) {
                return true;
            }
        }
    }

    /// Reads and forgets for this long.
    pub fn drain_for(&mut self, length: Duration) {
        let begun = std::time::Instant::now();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let left = length.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return;
            }
            let timeout = i32::try_from(left.as_millis() + 1).ok().and_then(|left| PollTimeout::try_from(left).ok());
            let mut ready = [PollFd::new(self.output.as_fd(), PollFlags::POLLIN)];
            if poll(&mut ready, timeout.unwrap_or(PollTimeout::MAX)).is_ok_and(|count| count > 0)
                && self.read(&mut buffer) == 0
            {
                std::thread::sleep(length.saturating_sub(begun.elapsed()));
            }
        }
    }

    /// Reads and forgets what is there.
    pub fn drain_now(&mut self) {
        let mut buffer = [0; 16 * 1024];
        let mut ready = [PollFd::new(self.output.as_fd(), PollFlags::POLLIN)];
        if poll(&mut ready, PollTimeout::ZERO).is_ok_and(|count| count > 0) {
            self.read(&mut buffer);
        }
    }

    /// Types.
    pub fn type_in(&self, bytes: &[u8]) -> io::Result<()> {
        crate::floor::write_all(self.output.as_fd(), bytes)
    }

    /// Ends the wrapper, whatever it does.
    pub fn end(mut self) {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0));
        let family = crate::process::family(pid.as_raw());
        for pid in family.into_iter().rev() {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
        }
        drop(self.output);
        let _ = self.child.wait();
    }
}
