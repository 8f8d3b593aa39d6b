//! The floor: the least that a program can do that puts a terminal around a command.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio, exit};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::openpty;
use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};

/// Runs the command in a terminal of its own and passes bytes, nothing else.
pub fn relay(command: &[String]) -> ! {
    let stdin = io::stdin();
    let found = tcgetattr(&stdin).ok();
    let status = run(command, found.as_ref());
    if let Some(found) = &found {
        let _ = tcsetattr(&stdin, SetArg::TCSANOW, found);
    }
    exit(status.unwrap_or(125))
}

fn run(command: &[String], found: Option<&Termios>) -> io::Result<i32> {
    let stdin = io::stdin();
    let pty = openpty(None, found)?;
    if let Some(found) = found {
        let mut raw = found.clone();
        cfmakeraw(&mut raw);
        tcsetattr(&stdin, SetArg::TCSANOW, &raw)?;
    }
    let mut child = {
        let stream = |fd: &OwnedFd| fd.try_clone().map(Stdio::from);
        let mut child = Command::new(&command[0]);
        child.args(&command[1..]).stdin(stream(&pty.slave)?).stdout(stream(&pty.slave)?).stderr(stream(&pty.slave)?);
        let master = pty.master.as_raw_fd();
        let prepare = move || {
            nix::unistd::setsid()?;
            // SAFETY: both calls take numbers and touch no memory of ours.
            unsafe { libc::close(master) };
            // SAFETY: as above; the slave is standard input by now.
            unsafe { libc::ioctl(0, libc::TIOCSCTTY as _, 0) };
            Ok(())
        };
        // SAFETY: between fork and exec there are only system calls.
        unsafe { child.pre_exec(prepare) };
        child.spawn()?
    };
    drop(pty.slave);
    pass(pty.master.as_fd(), stdin.as_fd(), io::stdout().as_fd())?;
    Ok(child.wait()?.code().unwrap_or(1))
}

/// Passes bytes in both directions until the command's side is closed.
fn pass(master: BorrowedFd<'_>, stdin: BorrowedFd<'_>, stdout: BorrowedFd<'_>) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut typing = true;
    loop {
        let mut fds = [PollFd::new(master, PollFlags::POLLIN), PollFd::new(stdin, PollFlags::POLLIN)];
        let watched = if typing { &mut fds[..] } else { &mut fds[..1] };
        poll(watched, PollTimeout::NONE)?;
        let ready = |fd: &PollFd<'_>| fd.revents().is_some_and(|events| !events.is_empty());
        let (printed, typed) = (ready(&fds[0]), typing && ready(&fds[1]));
        if printed {
            // A master whose other side is closed says EIO.
            let Ok(count) = nix::unistd::read(master, &mut buffer) else { return Ok(()) };
            write_all(stdout, &buffer[..count])?;
        }
        if typed {
            match nix::unistd::read(stdin, &mut buffer) {
                Ok(0) | Err(_) => typing = false,
                Ok(count) => write_all(master, &buffer[..count])?,
            }
        }
    }
}

/// Writes all of it.
pub fn write_all(fd: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = nix::unistd::write(fd, bytes)?;
        bytes = &bytes[count..];
    }
    Ok(())
}
