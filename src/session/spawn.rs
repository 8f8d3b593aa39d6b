//! The command is started so that it finds everything as we found it.
#![allow(unsafe_code, reason = "what is done between fork and exec")]

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::environment::Environment;
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
    /// Its variables, where they are not ours.
    pub environment: Option<Environment>,
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

/// Why the command could not be started (errno).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// We could not do what has to be done first: that says nothing of the command.
    Preparing(i32),
    /// The kernel would not run it.
    Running(i32),
}

impl Failure {
    /// As one number, for where there is room for no more.
    pub fn to_number(self) -> i32 {
        match self {
            Self::Preparing(errno) => -errno,
            Self::Running(errno) => errno,
        }
    }

    /// From such a number.
    pub fn from_number(number: i32) -> Self {
        if number < 0 { Self::Preparing(-number) } else { Self::Running(number) }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Preparing(error.raw_os_error().unwrap_or(libc::EIO))
    }
}

impl From<nix::errno::Errno> for Failure {
    fn from(error: nix::errno::Errno) -> Self {
        Self::Preparing(error as i32)
    }
}

impl Launch {
    /// Makes everything that the new process needs before it is there: until it becomes the command it can only make
    /// system calls.
    pub fn prepare(self) -> io::Result<Newcomer> {
        let words: Result<Vec<CString>, _> = self.argv.iter().map(|word| CString::new(word.as_bytes())).collect();
        let words = words?;
        let arguments = words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
        let mut streams = self.streams;
        for (number, stream) in streams.iter_mut().enumerate() {
            if matches!(stream, Given::Null) {
                let null = File::options().read(number == 0).write(number != 0).open("/dev/null")?;
                *stream = Given::This(null.into());
            }
        }
        Ok(Newcomer {
            words,
            arguments,
            variables: self.environment.as_ref().map(Environment::pointers),
            streams,
            terminal: self.terminal,
            place: self.place,
            foreground: self.foreground,
        })
    }
}

/// The process that is to become the command.
#[derive(Debug)]
pub struct Newcomer {
    /// What `arguments` lead to.
    words: Vec<CString>,
    arguments: Vec<*const libc::c_char>,
    variables: Option<Vec<*const libc::c_char>>,
    streams: [Given; 3],
    /// The terminal that is to control it.
    pub terminal: Option<OwnedFd>,
    /// Where it stands.
    pub place: Place,
    foreground: bool,
}

impl Newcomer {
    /// Starts it in the process group `group`, or one of its own where that is none. Gives its process id.
    ///
    /// Called by the monitor, with every signal blocked.
    pub fn start(&self, group: Option<i32>) -> Result<i32, Failure> {
        match self.become_command(&self.arguments, group) {
            // The C library has asked a shell already where it is the GNU one; others leave that to us.
            Err(failure @ Failure::Running(libc::ENOEXEC)) => self.become_script(group).unwrap_or(Err(failure)),
            started => started,
        }
    }

    fn become_command(&self, arguments: &[*const libc::c_char], group: Option<i32>) -> Result<i32, Failure> {
        // Where the kernel does not know what to do with a file, `execvp` asks a shell, with the words on its stack.
        let stack = arguments.len() * 2 * size_of::<usize>();
        beside::become_another(stack, || match self.make_ready(group) {
            Ok(()) => Failure::Running(execute(arguments, self.variables.as_deref())),
            Err(error) => error.into(),
        })
    }

    /// The file has no line that says what is to run it: a shell does, as from a shell.
    fn become_script(&self, group: Option<i32>) -> Option<Result<i32, Failure>> {
        let file = CString::new(found_in_path(self.words.first()?)?).ok()?;
        let mut arguments = vec![c"/bin/sh".as_ptr(), file.as_ptr()];
        arguments.extend(&self.arguments[1..]);
        Some(self.become_command(&arguments, group))
    }

    /// In the new process, just before it becomes the command.
    fn make_ready(&self, group: Option<i32>) -> io::Result<()> {
        for (number, stream) in (0..).zip(&self.streams) {
            let result = match stream {
                // SAFETY: dup2 takes two numbers; the descriptor that is replaced is this process's alone.
                Given::This(fd) => unsafe { libc::dup2(fd.as_raw_fd(), number) },
                Given::Ours | Given::Null | Given::Closed => 0,
            };
            if result == -1 {
                return Err(io::Error::last_os_error());
            }
        }
        take_place(self.place, group, self.foreground, self.terminal.as_ref().map(AsRawFd::as_raw_fd))?;
        for (number, stream) in (0..).zip(&self.streams) {
            if matches!(stream, Given::Closed) {
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

/// Where a command of this name is, as `execvp` finds it.
fn found_in_path(name: &CStr) -> Option<Vec<u8>> {
    let name = OsStr::from_bytes(name.to_bytes());
    let is_program = |file: &PathBuf| nix::unistd::access(file, nix::unistd::AccessFlags::X_OK).is_ok();
    let file = if name.as_bytes().contains(&b'/') {
        PathBuf::from(name)
    } else {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(is_program)?
    };
    Some(file.into_os_string().into_vec())
}

/// Becomes the command of these words, with these variables or ours; both end with a null pointer. Gives why it could
/// not.
fn execute(words: &[*const libc::c_char], environment: Option<&[*const libc::c_char]>) -> i32 {
    match environment {
        // SAFETY: both are pointers to strings and end with a null pointer. On success this does not return.
        #[cfg(target_os = "linux")]
        Some(variables) => unsafe { libc::execvpe(words[0], words.as_ptr(), variables.as_ptr()) },
        #[cfg(not(target_os = "linux"))]
        Some(variables) => {
            // SAFETY: they outlive this process, which becomes another program or ends.
            unsafe { crate::variables::replace(variables.as_ptr()) };
            // SAFETY: as below.
            unsafe { libc::execvp(words[0], words.as_ptr()) }
        }
        // SAFETY: `words` are pointers to strings and end with a null pointer. On success this does not return.
        None => unsafe { libc::execvp(words[0], words.as_ptr()) },
    };
    nix::errno::Errno::last_raw()
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
