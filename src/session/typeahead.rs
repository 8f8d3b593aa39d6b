//! Text that was typed before the command started, or that it left unread.
//!
//! Without us there is one terminal and one queue. With us there are two, so what was typed too early is moved to
//! the command's, and what it did not read is moved back for whoever comes next. It was echoed once already, so it
//! moves without echo.
#![allow(unsafe_code, reason = "a request to a terminal that nothing wraps")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use super::pty::Pty;
use super::terminal::Terminal;
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{self, InputFlags, LocalFlags, SetArg, SpecialCharacterIndices as Key, Termios};

/// More than this is not moved before the command is there: its terminal takes little that nobody reads. The rest waits
/// where it is, and passes as everything that is typed.
const MOST: usize = 4096;

/// Takes what waits in a terminal, line by line while it is in line mode: there an end-of-file typed ahead is seen
/// as what it is. The terminal is left without line mode, for the caller to set as it likes.
pub fn take(fd: &impl AsFd, settings: &Termios) -> io::Result<Vec<u8>> {
    let mut taken = Vec::new();
    if settings.local_flags.contains(LocalFlags::ICANON) {
        while taken.len() < MOST && is_ready(fd)? {
            match read(fd)? {
                None => break,
                Some(line) if line.is_empty() => taken.push(settings.control_chars[Key::VEOF as usize]),
                Some(line) => taken.extend(line),
            }
        }
        let mut raw = settings.clone();
        termios::cfmakeraw(&mut raw);
        termios::tcsetattr(fd, SetArg::TCSANOW, &raw)?;
    }
    while taken.len() < MOST && is_ready(fd)? {
        match read(fd)? {
            Some(rest) if !rest.is_empty() => taken.extend(rest),
            _ => break,
        }
    }
    Ok(taken)
}

/// Takes what waits in the command's terminal. Whoever else reads it may be faster, so it is not read through `slave`: that
/// would hold us up. Only where it cannot be opened once more, as when the command has it for itself alone, it is.
pub fn take_unread(pty: &Pty, slave: &OwnedFd, settings: &Termios) -> io::Result<Vec<u8>> {
    match pty.reopen_slave() {
        Ok(own) => take(&own, settings),
        Err(_) => take(slave, settings),
    }
}

/// Takes what waits in our own terminal while it is raw, as it would have come had it not been.
pub fn take_late(terminal: &Terminal) -> Vec<u8> {
    let mut late = Vec::new();
    while is_ready(terminal).unwrap_or(false)
        && let Ok(Some(typed)) = read(terminal)
        && !typed.is_empty()
    {
        late.extend(typed);
    }
    if terminal.found().is_some_and(|found| found.input_flags.contains(InputFlags::ICRNL)) {
        late.iter_mut().filter(|key| **key == b'\r').for_each(|key| *key = b'\n');
    }
    late
}

/// Puts text back into the queue of our own terminal, which gets the settings it was found with.
pub fn give_back(terminal: &mut Terminal, text: &[u8]) {
    let Some(found) = terminal.found().cloned() else { return };
    if terminal.apply(&silent(&found)).is_ok() {
        push(terminal, text);
    }
    let _ = terminal.apply(&found);
    terminal.forget();
}

/// Settings under which text arrives as it is: no echo, no keys but the end-of-file, nothing translated.
pub fn silent(settings: &Termios) -> Termios {
    let mut silent = settings.clone();
    silent.local_flags.remove(LocalFlags::ECHO | LocalFlags::ECHONL | LocalFlags::ISIG | LocalFlags::IEXTEN);
    silent
        .input_flags
        .remove(InputFlags::ICRNL | InputFlags::INLCR | InputFlags::IGNCR | InputFlags::IXON | InputFlags::ISTRIP);
    for key in [Key::VERASE, Key::VKILL, Key::VEOL, Key::VEOL2] {
        silent.control_chars[key as usize] = libc::_POSIX_VDISABLE;
    }
    silent
}

/// Puts text into the queue of our own terminal, as if it had been typed. False where the kernel does not let us:
/// since Linux 6.2 that takes a privilege or the sysctl `dev.tty.legacy_tiocsti`.
pub fn push(fd: &impl AsFd, text: &[u8]) -> bool {
    text.iter().all(|byte| {
        // SAFETY: TIOCSTI reads one byte, which outlives the call.
        unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), libc::TIOCSTI, std::ptr::from_ref(byte)) == 0 }
    })
}

/// Whether something can be read.
pub fn is_ready(fd: &impl AsFd) -> io::Result<bool> {
    let mut ready = [PollFd::new(fd.as_fd(), PollFlags::POLLIN)];
    loop {
        match poll(&mut ready, PollTimeout::ZERO) {
            // A signal that comes at this very moment interrupts even who does not wait, and says nothing of the terminal.
            Err(Errno::EINTR) => {}
            answer => {
                answer?;
                return Ok(ready[0].revents().is_some_and(|events| events.contains(PollFlags::POLLIN)));
            }
        }
    }
}

/// What can be read at once; nothing where somebody else was faster.
fn read(fd: &impl AsFd) -> io::Result<Option<Vec<u8>>> {
    let mut buffer = [0; 4096];
    match nix::unistd::read(fd, &mut buffer) {
        Ok(count) => Ok(Some(buffer[..count].to_vec())),
        Err(Errno::EAGAIN) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
