//! The terminal idlewatch itself runs in: its settings, its size, who is in its foreground.
#![allow(unsafe_code, reason = "requests to a terminal, and descriptors by their numbers")]

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal as Nix, sigprocmask};
use nix::sys::termios::{self, LocalFlags, OutputFlags, SetArg, Termios, tcgetsid};
use nix::unistd::{getpgrp, getsid, isatty, tcgetpgrp, ttyname};
use portable_pty::PtySize;

use super::heldback::HeldBack;

/// The outer terminal. Whatever is changed in it is changed back on drop.
#[derive(Debug)]
pub struct Terminal {
    fd: OwnedFd,
    /// The settings we found and those we put in place, while they are.
    changed: Option<Changed>,
}

/// What was changed.
#[derive(Debug)]
struct Changed {
    found: Termios,
    ours: Termios,
}

impl Terminal {
    /// The terminal among our standard streams, or else the controlling one.
    pub fn find() -> Option<Self> {
        let fd = match STANDARD.into_iter().find(|fd| isatty(fd).unwrap_or(false)) {
            Some(fd) => reopen(fd).ok()?,
            None => open("/dev/tty".as_ref()).ok()?.into(),
        };
        Some(Self { fd, changed: None })
    }

    /// Its settings.
    pub fn settings(&self) -> io::Result<Termios> {
        Ok(termios::tcgetattr(&self.fd)?)
    }

    /// Its size, pixels included.
    pub fn size(&self) -> Option<PtySize> {
        size_of(&self.fd)
    }

    /// Whether we are in its foreground. A terminal that does not control us has no such notion: then we are.
    pub fn is_ours(&self) -> bool {
        match tcgetpgrp(&self.fd) {
            Ok(group) => group == getpgrp(),
            Err(error) => error == Errno::ENOTTY,
        }
    }

    /// Whether every byte passes through it untouched now.
    pub fn is_raw(&self) -> bool {
        self.changed.is_some()
    }

    /// Lets every byte pass through it untouched, in both directions; where it is `shared`, but for the carriage returns
    /// that it was found adding.
    pub fn make_raw(&mut self, shared: bool) -> io::Result<()> {
        if self.changed.is_none() {
            self.will_be_raw(self.settings()?, shared);
            self.enforce().inspect_err(|_| self.changed = None)?;
        }
        Ok(())
    }

    /// Whoever is started next will do that, with [`enforce`](Self::enforce): from now on it is ours to change back.
    pub fn will_be_raw(&mut self, found: Termios, shared: bool) {
        let mut ours = found.clone();
        termios::cfmakeraw(&mut ours);
        ours.output_flags.set(OutputFlags::OPOST, shared && only_adds_returns(&found));
        self.changed = Some(Changed { found, ours });
    }

    /// Puts our settings in place, where there are any.
    pub fn enforce(&self) -> io::Result<()> {
        self.changed.as_ref().map_or(Ok(()), |changed| self.apply(&changed.ours))
    }

    /// Puts our settings in place again, if somebody has changed them behind our back.
    pub fn insist(&self) {
        if let Some(Changed { ours, .. }) = &self.changed
            && self.settings().is_ok_and(|now| !same(&now, ours))
        {
            // A terminal that is gone needs no settings.
            let _ = self.apply(ours);
        }
    }

    /// Lets it go on to add carriage returns as it was found doing, or no longer.
    pub fn share(&mut self, shared: bool) {
        let Some(changed) = &self.changed else { return };
        let mut ours = changed.ours.clone();
        ours.output_flags.set(OutputFlags::OPOST, shared && only_adds_returns(&changed.found));
        if ours.output_flags != changed.ours.output_flags && self.apply(&ours).is_ok() {
            self.changed = self.changed.take().map(|changed| Changed { ours, ..changed });
        }
    }

    /// Whether every byte passes through it untouched but for the carriage returns that it adds.
    pub fn is_shared(&self) -> bool {
        self.changed.as_ref().is_some_and(|changed| adds_returns(&changed.ours))
    }

    /// Puts back the settings that were found, unless somebody has made it usable since: then they are theirs.
    pub fn restore(&mut self) {
        let Some(Changed { found, ours }) = self.changed.take() else { return };
        // Who cannot see how it is does not leave it as it is.
        if self.settings().map_or(true, |now| same(&now, &ours) || is_raw(&now)) {
            // A terminal that is gone needs no settings.
            let _ = self.apply(&found);
        }
    }

    /// The settings that were found, while ours are in place.
    pub fn found(&self) -> Option<&Termios> {
        self.changed.as_ref().map(|changed| &changed.found)
    }

    /// Takes these settings as those to go back to, if a person can use a terminal with them.
    pub fn adopt(&mut self, settings: &Termios) {
        let usable = LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG;
        let prints = OutputFlags::OPOST | OutputFlags::ONLCR;
        if settings.local_flags.contains(usable)
            && settings.output_flags.contains(prints)
            && let Some(changed) = &mut self.changed
        {
            changed.found = settings.clone();
        }
    }

    /// Whether it was hung up.
    pub fn is_gone(&self) -> bool {
        self.settings().is_err()
    }

    /// Leaves it as it is from now on: it is gone.
    pub fn forget(&mut self) {
        self.changed = None;
    }

    /// Reads what was typed. Where somebody else has taken the terminal without a word it says EIO: whoever reads from
    /// the background is stopped for it, and everybody in its process group, unless the signal is held back.
    pub fn read(&self, buffer: &mut [u8]) -> nix::Result<usize> {
        let _quiet = Undisturbed::new(Nix::SIGTTIN)?;
        nix::unistd::read(&self.fd, buffer)
    }

    /// The same, where it is held back already.
    pub fn read_while(&self, _: &HeldBack, buffer: &mut [u8]) -> nix::Result<usize> {
        nix::unistd::read(&self.fd, buffer)
    }

    /// Changes the settings without being stopped for it when we are in the background.
    ///
    /// Output is post-processed as it is written, so there is nothing to drain first.
    pub fn apply(&self, settings: &Termios) -> io::Result<()> {
        let _quiet = Undisturbed::new(Nix::SIGTTOU)?;
        Ok(set(&self.fd, settings)?)
    }
}

impl AsFd for Terminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.restore();
    }
}

/// The size of a terminal, pixels included; none if it is no terminal.
pub fn size_of(terminal: &impl AsFd) -> Option<PtySize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes one winsize, and `size` is one.
    let answer = unsafe { libc::ioctl(terminal.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    (answer == 0).then_some(PtySize {
        rows: size.ws_row,
        cols: size.ws_col,
        pixel_width: size.ws_xpixel,
        pixel_height: size.ws_ypixel,
    })
}

/// Holds back one signal while it lives.
#[derive(Debug)]
struct Undisturbed(SigSet);

impl Undisturbed {
    fn new(signal: Nix) -> nix::Result<Self> {
        let (mut block, mut before) = (SigSet::empty(), SigSet::empty());
        block.add(signal);
        sigprocmask(SigmaskHow::SIG_BLOCK, Some(&block), Some(&mut before))?;
        Ok(Self(before))
    }
}

impl Drop for Undisturbed {
    fn drop(&mut self) {
        let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&self.0), None);
    }
}

/// Whether a terminal with these settings does that to what is printed and nothing else, such as expand tabs: only then can
/// it be undone.
fn only_adds_returns(settings: &Termios) -> bool {
    settings.output_flags == OutputFlags::OPOST | OutputFlags::ONLCR
}

/// Whether a terminal with these settings adds a carriage return to each newline.
pub fn adds_returns(settings: &Termios) -> bool {
    settings.output_flags.contains(OutputFlags::OPOST | OutputFlags::ONLCR)
}

fn same(one: &Termios, other: &Termios) -> bool {
    one.input_flags == other.input_flags
        && one.output_flags == other.output_flags
        && one.local_flags == other.local_flags
        && one.control_chars == other.control_chars
}

/// Opens the same terminal once more, so that not blocking is our own affair: the flag belongs to the open file,
/// which we share with the shell.
fn reopen(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // The descriptor that we were given still works, though it may hold us up.
    reopen_alone(fd).map_or_else(|| fd.try_clone_to_owned(), Ok)
}

/// The same; none where it cannot be opened. Another user's, after su, cannot be by its name, but as the one that
/// controls us.
pub fn reopen_alone(fd: BorrowedFd<'_>) -> Option<OwnedFd> {
    if !isatty(fd).unwrap_or(false) {
        return None;
    }
    let by_name = ttyname(fd).map_err(io::Error::from).and_then(|name| open(&name));
    let controls_us = || tcgetsid(fd).is_ok_and(|session| getsid(None) == Ok(session));
    let file = by_name.ok().or_else(|| if controls_us() { open("/dev/tty".as_ref()).ok() } else { None })?;
    Some(file.into())
}

fn open(name: &std::path::Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK).open(name)
}

/// Our standard input, output and error. Rust's own would make room for what they read and write.
// SAFETY: they are open from the first moment to the last: what was closed is /dev/null, and nothing closes them.
pub const STANDARD: [BorrowedFd<'static>; 3] =
    [unsafe { BorrowedFd::borrow_raw(0) }, unsafe { BorrowedFd::borrow_raw(1) }, unsafe { BorrowedFd::borrow_raw(2) }];

/// Puts /dev/null in place of these standard streams, so that we hold nothing open that is not ours.
pub fn replace_standard_streams(streams: &[i32]) {
    let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") else { return };
    for stream in streams {
        // SAFETY: both descriptors are open, and nothing of ours reads or writes the replaced one any more.
        unsafe { libc::dup2(null.as_raw_fd(), *stream) };
    }
}

/// Gives a terminal these settings at once. A few times where it fails: whoever leaves a terminal raw leaves it useless, and
/// one that is gone says so quickly.
fn set(fd: &OwnedFd, settings: &Termios) -> nix::Result<()> {
    let set = || termios::tcsetattr(fd, SetArg::TCSANOW, settings);
    set().or_else(|_| set()).or_else(|_| set())
}

/// A terminal to give back should idlewatch die.
#[derive(Debug)]
pub struct Borrowed {
    /// The terminal.
    pub fd: OwnedFd,
    /// The settings it was found with.
    pub found: Termios,
    /// The command has it from us and changes its settings itself.
    pub lent: bool,
}

impl Borrowed {
    /// Puts it back to its settings, if we or the command left it as a person cannot use it.
    pub fn give_back(&self) {
        let in_front = self.lent && tcgetpgrp(&self.fd) == Ok(getpgrp());
        if termios::tcgetattr(&self.fd).map_or(true, |now| is_raw(&now) || in_front && now != self.found) {
            // A terminal that is gone needs no settings.
            let _ = set(&self.fd, &self.found);
        }
    }
}

/// Whether a person cannot use a terminal with these settings.
fn is_raw(settings: &Termios) -> bool {
    !settings.local_flags.intersects(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG)
}
