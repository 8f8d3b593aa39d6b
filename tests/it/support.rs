//! The builder: idlewatch around a command, with pipes or in a terminal of the test's own.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{self, Termios};
use nix::unistd::Pid;

/// How long a condition may take before the test is given up: a machine may be slow, but a condition that never
/// comes must not hang the suite.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_idlewatch")
}

/// Says that a program is missing, and skips the test; where everything has to be there, fails it.
pub fn has(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|folder| folder.join(name).is_file()) {
        return true;
    }
    assert!(std::env::var_os("IDLEWATCH_TEST_REQUIRE_ALL").is_none(), "{name} is not installed");
    eprintln!("skipped: {name} is not installed");
    false
}

/// idlewatch, or another program to compare it with, around a command.
#[derive(Debug, Clone)]
pub struct Run {
    argv: Vec<OsString>,
    folder: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
}

impl Run {
    /// `idlewatch OPTIONS -- COMMAND`.
    pub fn new<S: AsRef<OsStr>>(options: &[&str], command: &[S]) -> Self {
        let mut argv: Vec<OsString> = vec![program().into()];
        argv.extend(options.iter().map(OsString::from));
        argv.push("--".into());
        argv.extend(command.iter().map(|word| word.as_ref().to_owned()));
        Self { argv, folder: None, variables: Vec::new() }
    }

    /// `idlewatch OPTIONS -- sh -c SCRIPT`.
    pub fn sh(options: &[&str], script: &str) -> Self {
        Self::new(options, &["sh", "-c", script])
    }

    /// This, without idlewatch.
    pub fn bare<S: AsRef<OsStr>>(command: &[S]) -> Self {
        let argv = command.iter().map(|word| word.as_ref().to_owned()).collect();
        Self { argv, folder: None, variables: Vec::new() }
    }

    /// A shell script in which `$IW` is idlewatch.
    pub fn script(shell: &str, script: &str) -> Self {
        Self::bare(&[shell, "-c", script])
    }

    /// In this folder.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// With this variable.
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// As a `Command`, for what the builder has no word for.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.argv[0]);
        // The configuration of whoever runs the suite is not part of it; nobody can make a folder in a device.
        command.args(&self.argv[1..]).env("IW", program()).env("XDG_CONFIG_HOME", "/dev/null");
        command.envs(self.variables.iter().cloned());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// Runs it with pipes and without a terminal, and gives what came.
    pub fn output(&self) -> Output {
        self.output_of(b"")
    }

    /// The same, with this on standard input.
    pub fn output_of(&self, input: &[u8]) -> Output {
        let mut child = without_terminal(&mut self.command())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("the writer ends");
        output
    }

    /// Runs it in a terminal of 80 columns and 24 rows.
    pub fn in_terminal(&self) -> InTerminal {
        self.in_terminal_of(80, 24)
    }

    /// Runs it in a terminal of this size.
    pub fn in_terminal_of(&self, cols: u16, rows: u16) -> InTerminal {
        self.in_terminal_with(cols, rows, |_| ())
    }

    /// Runs it in a terminal of this size whose settings were changed first.
    pub fn in_terminal_with(&self, cols: u16, rows: u16, change: impl FnOnce(&mut Termios)) -> InTerminal {
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(Some(&size), None).expect("a pseudo-terminal");
        let mut settings = termios::tcgetattr(&pair.slave).expect("settings");
        change(&mut settings);
        termios::tcsetattr(&pair.slave, termios::SetArg::TCSANOW, &settings).expect("settings");
        let stream = || Stdio::from(pair.slave.try_clone().expect("a descriptor"));
        let mut command = self.command();
        command.stdin(stream()).stdout(stream()).stderr(stream());
        // SAFETY: both are plain system calls.
        unsafe {
            command.pre_exec(|| {
                nix::unistd::setsid()?;
                match libc::ioctl(0, libc::TIOCSCTTY as _, 0) {
                    -1 => Err(std::io::Error::last_os_error()),
                    _ => Ok(()),
                }
            })
        };
        let child = command.spawn().expect("it starts");
        drop(command);
        InTerminal { child, master: File::from(pair.master), slave: pair.slave, seen: Vec::new(), from: 0 }
    }
}

/// A session of its own, so that no test shares the terminal of whoever runs the suite.
pub fn without_terminal(command: &mut Command) -> &mut Command {
    // SAFETY: setsid is a plain system call.
    unsafe { command.pre_exec(|| nix::unistd::setsid().map(drop).map_err(Into::into)) }
}

/// Something that runs in a terminal of the test's own.
#[derive(Debug)]
pub struct InTerminal {
    child: Child,
    master: File,
    slave: OwnedFd,
    seen: Vec<u8>,
    /// Where the search for the next text begins.
    from: usize,
}

impl InTerminal {
    /// Its process id.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"))
    }

    /// Types this.
    pub fn enter(&mut self, keys: impl AsRef<[u8]>) -> &mut Self {
        self.master.write_all(keys.as_ref()).expect("the terminal takes it");
        self
    }

    /// Waits until this text has appeared after the text that was waited for last.
    pub fn wait_for(&mut self, text: impl AsRef<[u8]>) -> &mut Self {
        let text = text.as_ref();
        let begun = Instant::now();
        loop {
            if let Some(at) = memchr::memmem::find(&self.seen[self.from..], text) {
                self.from += at + text.len();
                return self;
            }
            let more = self.read();
            assert!(
                more && begun.elapsed() < PATIENCE,
                "{:?} did not come; seen: {:?}",
                String::from_utf8_lossy(text),
                self.text()
            );
        }
    }

    /// Everything that has appeared, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Waits until this holds.
    pub fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) -> &mut Self {
        let begun = Instant::now();
        while !holds(self) {
            assert!(begun.elapsed() < PATIENCE, "{what} did not come; seen: {:?}", self.text());
            self.read_for(10);
        }
        self
    }

    /// Gives the terminal a new size.
    pub fn resize(&mut self, cols: u16, rows: u16) -> &mut Self {
        let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: TIOCSWINSZ reads one winsize, and `size` is one.
        assert_eq!(unsafe { libc::ioctl(self.master.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) }, 0);
        self
    }

    /// Sends it a signal.
    pub fn signal(&mut self, signal: Signal) -> &mut Self {
        kill(self.pid(), signal).expect("it is there");
        self
    }

    /// The terminal's settings.
    pub fn settings(&self) -> Termios {
        termios::tcgetattr(&self.slave).expect("settings")
    }

    /// Takes the terminal away, as closing its window does.
    pub fn hang_up(&mut self) -> &mut Self {
        let null = || File::options().read(true).write(true).open("/dev/null").expect("/dev/null");
        self.slave = null().into();
        self.master = null();
        self
    }

    /// Waits for its end; gives all that appeared and how it ended.
    pub fn finish(mut self) -> (String, ExitStatus) {
        let (seen, status) = self.finish_bytes();
        (String::from_utf8_lossy(&seen).into_owned(), status)
    }

    /// The same, with what appeared as bytes.
    pub fn finish_bytes(&mut self) -> (Vec<u8>, ExitStatus) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "it did not end; seen: {:?}", self.text());
            self.read_for(10);
        };
        // Its last bytes are in the terminal by now.
        while self.read_for(0) {}
        (std::mem::take(&mut self.seen), status)
    }

    fn read(&mut self) -> bool {
        self.read_for(1000);
        // Whoever had the terminal may be gone, and its last words still to be read.
        !matches!(self.child.try_wait(), Ok(Some(_))) || self.read_for(0)
    }

    /// Reads what comes within this many milliseconds; whether anything came.
    fn read_for(&mut self, milliseconds: u16) -> bool {
        let mut fds = [PollFd::new(std::os::fd::AsFd::as_fd(&self.master), PollFlags::POLLIN)];
        if !matches!(poll(&mut fds, PollTimeout::from(milliseconds)), Ok(ready) if ready > 0) {
            return false;
        }
        let mut buffer = [0; 65536];
        match self.master.read(&mut buffer) {
            Ok(count) => self.seen.extend_from_slice(&buffer[..count]),
            Err(_) => return false,
        }
        true
    }
}

impl Drop for InTerminal {
    fn drop(&mut self) {
        // A test that failed must not leave anything behind.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The exit code, or 128 and the number of the signal that ended it, as a shell says it.
pub fn shell_status(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// Waits until this holds, for what has no terminal.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}
