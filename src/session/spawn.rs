//! The command is started so that it finds everything as we found it.

use std::ffi::{CString, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;

use super::place::Place;
use super::{beside, inherited};

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
        let mut streams = Vec::with_capacity(3);
        for (number, given) in (0..).zip(&mut self.streams) {
            streams.push(match std::mem::replace(given, Given::Closed) {
                Given::This(fd) => Stream::This(fd),
                Given::Ours => Stream::Ours,
                Given::Null => {
                    let null = File::options().read(number == 0).write(number != 0).open("/dev/null")?;
                    Stream::This(null.into())
                }
                Given::Closed => Stream::Closed,
            });
        }
        let words: Result<Vec<CString>, _> = self.argv.iter().map(|word| CString::new(word.as_bytes())).collect();
        let newcomer = Newcomer {
            words: words?,
            streams,
            terminal: self.terminal.as_ref().map(AsRawFd::as_raw_fd),
            place: self.place,
            group,
            foreground: self.foreground,
        };
        newcomer.start()
    }
}

/// What one of the new process's standard streams becomes.
enum Stream {
    This(OwnedFd),
    Ours,
    Closed,
}

/// Everything the new process needs, made before it is there: until it becomes the command it can only make system
/// calls.
struct Newcomer {
    words: Vec<CString>,
    streams: Vec<Stream>,
    terminal: Option<RawFd>,
    place: Place,
    group: Option<i32>,
    foreground: bool,
}

impl Newcomer {
    fn start(&self) -> io::Result<i32> {
        let mut words: Vec<*const libc::c_char> = self.words.iter().map(|word| word.as_ptr()).collect();
        words.push(std::ptr::null());
        // Where the kernel does not know what to do with a file, `execvp` asks a shell, with the words on its stack.
        beside::become_another(words.len() * 2 * size_of::<usize>(), || match self.prepare() {
            Ok(()) => {
                // SAFETY: `words` are valid strings that end with a null pointer. On success this does not return.
                unsafe { libc::execvp(words[0], words.as_ptr()) };
                io::Error::last_os_error()
            }
            Err(error) => error,
        })
    }

    /// In the new process, just before it becomes the command.
    fn prepare(&self) -> io::Result<()> {
        for (number, stream) in (0..).zip(&self.streams) {
            let result = match stream {
                // SAFETY: dup2 takes two numbers; the descriptor that is replaced is this process's alone.
                Stream::This(fd) => unsafe { libc::dup2(fd.as_raw_fd(), number) },
                Stream::Ours | Stream::Closed => 0,
            };
            if result == -1 {
                return Err(io::Error::last_os_error());
            }
        }
        take_place(self.place, self.group, self.foreground, self.terminal)?;
        for (number, stream) in (0..).zip(&self.streams) {
            if matches!(stream, Stream::Closed) {
                // SAFETY: the descriptor is one of ours that idlewatch was started without; nobody uses it.
                unsafe { libc::close(number) };
            }
        }
        // SAFETY: the default action runs no code of ours. Rust's runtime had it ignored.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        inherited::restore_signals();
        Ok(())
    }
}

/// Goes to where the command is to stand. Every signal is blocked: a process in the background that takes the
/// foreground would be stopped for it.
fn take_place(place: Place, group: Option<i32>, foreground: bool, terminal: Option<RawFd>) -> io::Result<()> {
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
                let group = nix::unistd::getpgrp().as_raw();
                // SAFETY: tcsetpgrp takes two numbers and does not touch our memory.
                if unsafe { libc::tcsetpgrp(fd, group) } == -1 {
                    return Err(io::Error::last_os_error());
                }
            }
        }
    }
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
