//! The builder: idlewatch around a command, with pipes or in a terminal of the test's own.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{self, Termios};

/// How long a condition may take before the test is given up: a machine may be slow, but a condition that never
/// comes must not hang the suite.
const PATIENCE: Duration = Duration::from_secs(30);

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
    is_missing(name)
}

fn is_missing(name: &str) -> bool {
    assert!(std::env::var_os("IDLEWATCH_TEST_REQUIRE_ALL").is_none(), "{name} is not installed");
    eprintln!("skipped: {name} is not installed");
    false
}

/// The same for an example, which `cargo test` builds unless it is asked for a part; gives where it is.
pub fn has_example(name: &str) -> Option<PathBuf> {
    let example = Path::new(program()).with_file_name("examples").join(name);
    (example.is_file() || is_missing(&format!("the example {name}"))).then_some(example)
}

/// The same for a module of Python's.
pub fn has_python_module(name: &str) -> bool {
    if !has("python3") {
        return false;
    }
    let import = Command::new("python3").args(["-c", &format!("import {name}")]).stderr(Stdio::null()).status();
    import.is_ok_and(|status| status.success()) || is_missing(name)
}

/// The same for a package of node's; gives the folder whose `node_modules` it is in.
///
/// `IDLEWATCH_TEST_NODE_MODULES` names that folder; without it, it is the one of the fixture.
pub fn node_package(name: &str, fixture: &str) -> Option<PathBuf> {
    if !has("node") {
        return None;
    }
    let folder = std::env::var_os("IDLEWATCH_TEST_NODE_MODULES").map_or_else(|| self::fixture(fixture), PathBuf::from);
    let found = folder.join("node_modules").join(name).is_dir() || is_missing(name);
    found.then_some(folder)
}

/// A file or folder among the fixtures.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// idlewatch, or another program to compare it with, around a command.
#[derive(Debug, Clone)]
pub struct Run {
    argv: Vec<OsString>,
    folder: Option<PathBuf>,
    variables: Vec<(OsString, OsString)>,
    /// What is typed before it starts.
    typed: Vec<u8>,
}

impl Run {
    /// `idlewatch OPTIONS -- COMMAND`.
    pub fn new<S: AsRef<OsStr>>(options: &[&str], command: &[S]) -> Self {
        let mut argv: Vec<OsString> = vec![program().into()];
        argv.extend(options.iter().map(OsString::from));
        argv.push("--".into());
        argv.extend(command.iter().map(|word| word.as_ref().to_owned()));
        Self { argv, folder: None, variables: Vec::new(), typed: Vec::new() }
    }

    /// `idlewatch OPTIONS -- sh -c SCRIPT`.
    pub fn sh(options: &[&str], script: &str) -> Self {
        Self::new(options, &["sh", "-c", script])
    }

    /// This, without idlewatch.
    pub fn bare<S: AsRef<OsStr>>(command: &[S]) -> Self {
        let argv = command.iter().map(|word| word.as_ref().to_owned()).collect();
        Self { argv, folder: None, variables: Vec::new(), typed: Vec::new() }
    }

    /// This command without idlewatch, and with it.
    pub fn both<S: AsRef<OsStr>>(options: &[&str], command: &[S]) -> [Self; 2] {
        [Self::bare(command), Self::new(options, command)]
    }

    /// A shell at its prompt, without any configuration of the machine's, in which `$IW` is idlewatch.
    pub fn shell(name: &str) -> Self {
        let argv: &[&str] = match name {
            "bash" => &["bash", "--norc", "--noprofile", "-i"],
            "zsh" => &["zsh", "-f", "-i"],
            "fish" => &["fish", "--no-config", "-i"],
            _ => panic!("no shell is called {name}"),
        };
        // An old name of the terminal: fish asks a newer one questions that nobody here answers.
        Self::bare(argv).variable("TERM", "vt100").variable("PS1", "> ").variable("fish_greeting", "")
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

    /// With this typed before it starts.
    pub fn typed(mut self, keys: impl AsRef<[u8]>) -> Self {
        self.typed.extend_from_slice(keys.as_ref());
        self
    }

    /// As a `Command`, for what the builder has no word for.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.argv[0]);
        // The configuration and the history of whoever runs the suite are not part of it; nobody can make a folder in a
        // device.
        command.args(&self.argv[1..]).env("IW", program());
        command.env("XDG_CONFIG_HOME", "/dev/null").env("XDG_STATE_HOME", "/dev/null");
        // Nor are the runs of others; and no socket of a test is left there.
        command.envs(["XDG_RUNTIME_DIR", "IDLEWATCH_TEST_TMP"].map(|name| (name, env!("CARGO_TARGET_TMPDIR"))));
        command.envs(self.variables.iter().cloned());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        // SAFETY: what runs between fork and exec only makes system calls.
        unsafe { command.pre_exec(usual_signals) };
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
        // It leads a process group, which is ended when the time is over.
        let group = -i32::try_from(child.id()).expect("a process id");
        let (ended, end) = std::sync::mpsc::channel::<()>();
        let patience = std::thread::spawn(move || {
            let late = end.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
            if late {
                send(group, libc::SIGKILL);
            }
            late
        });
        let output = child.wait_with_output().expect("it ends");
        drop(ended);
        assert!(!patience.join().expect("a watch"), "it did not end: {:?} gave {output:?}", self.argv);
        writer.join().expect("the writer ends");
        output
    }

    /// Starts it with pipes and without a terminal; standard error goes where standard output goes.
    pub fn in_pipes(&self) -> Running {
        let (output, theirs) = std::io::pipe().expect("a pipe");
        let mut command = self.command();
        without_terminal(&mut command).stdin(Stdio::piped()).stdout(theirs.try_clone().expect("a descriptor"));
        let mut child = command.stderr(theirs).spawn().expect("it starts");
        let input = OwnedFd::from(child.stdin.take().expect("a pipe")).into();
        Running { child, input, output: OwnedFd::from(output).into(), terminal: None, seen: Vec::new(), from: 0 }
    }

    /// Starts it twice, one after the other: without a terminal, and in one.
    pub fn both_ways(&self) -> impl Iterator<Item = Running> {
        [false, true].into_iter().map(|terminal| if terminal { self.in_terminal() } else { self.in_pipes() })
    }

    /// Runs it in a terminal of 80 columns and 24 rows.
    pub fn in_terminal(&self) -> Running {
        self.in_terminal_of(80, 24)
    }

    /// Runs it in a terminal of this size.
    pub fn in_terminal_of(&self, cols: u16, rows: u16) -> Running {
        self.in_terminal_with(cols, rows, |_| ())
    }

    /// Runs it in a terminal of this size whose settings were changed first.
    pub fn in_terminal_with(&self, cols: u16, rows: u16, change: impl FnOnce(&mut Termios)) -> Running {
        let (mut master, slave) = pseudo_terminal();
        set_size(&master, cols, rows);
        let mut settings = termios::tcgetattr(&slave).expect("settings");
        change(&mut settings);
        termios::tcsetattr(&slave, termios::SetArg::TCSANOW, &settings).expect("settings");
        let found = termios::tcgetattr(&slave).expect("settings");
        master.write_all(&self.typed).expect("the terminal takes it");
        let stream = || Stdio::from(slave.try_clone().expect("a descriptor"));
        let mut command = self.command();
        command.stdin(stream()).stdout(stream()).stderr(stream());
        // SAFETY: taking a terminal is two plain system calls.
        unsafe { command.pre_exec(take_terminal) };
        let child = command.spawn().expect("it starts");
        drop(command);
        let input = master.try_clone().expect("a descriptor");
        Running { child, input, output: master, terminal: Some((slave, found)), seen: Vec::new(), from: 0 }
    }
}

/// A pseudo-terminal that no other test's command inherits: a stray copy would keep it from being hung up.
fn pseudo_terminal() -> (File, File) {
    let own = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let master = posix_openpt(own).expect("a pseudo-terminal");
    grantpt(&master).expect("a pseudo-terminal");
    unlockpt(&master).expect("a pseudo-terminal");
    let name = ptsname_r(&master).expect("a pseudo-terminal");
    let slave = File::options().read(true).write(true).custom_flags(libc::O_NOCTTY).open(name).expect("a terminal");
    (OwnedFd::from(master).into(), slave)
}

fn set_size(master: &File, cols: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCSWINSZ reads one winsize, and `size` is one.
    assert_eq!(unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) }, 0);
}

/// Makes standard input the controlling terminal of a new session.
fn take_terminal() -> std::io::Result<()> {
    nix::unistd::setsid()?;
    // SAFETY: TIOCSCTTY takes a number and does not touch our memory.
    match unsafe { libc::ioctl(0, libc::TIOCSCTTY as _, 0) } {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Every signal as usual, however the suite was started: in the background of a script, interrupts are ignored.
#[allow(clippy::unnecessary_wraps, reason = "it is called before exec, which may fail")]
fn usual_signals() -> std::io::Result<()> {
    for number in 1..=64 {
        // SAFETY: the default action runs no code of ours; a number that cannot be changed is answered with an error.
        unsafe { libc::signal(number, libc::SIG_DFL) };
    }
    Ok(())
}

/// A session of its own, so that no test shares the terminal of whoever runs the suite.
pub fn without_terminal(command: &mut Command) -> &mut Command {
    // SAFETY: setsid is a plain system call.
    unsafe { command.pre_exec(|| nix::unistd::setsid().map(drop).map_err(Into::into)) }
}

/// Something that runs with pipes or in a terminal of the test's own.
#[derive(Debug)]
pub struct Running {
    child: Child,
    input: File,
    output: File,
    /// The terminal it runs in, as it sees it, with the settings it found.
    terminal: Option<(File, Termios)>,
    seen: Vec<u8>,
    /// Where the search for the next text begins.
    from: usize,
}

impl Running {
    /// Its process id.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a process id")
    }

    /// Types this.
    pub fn enter(&mut self, keys: impl AsRef<[u8]>) -> &mut Self {
        self.input.write_all(keys.as_ref()).expect("it is taken");
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

    /// Waits for `NAME=NUMBER;` and gives the number.
    pub fn number(&mut self, name: &str) -> i32 {
        self.wait_for(format!("{name}="));
        let begin = self.from;
        self.wait_for(";");
        String::from_utf8_lossy(&self.seen[begin..self.from - 1]).parse().expect("a number")
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a status").is_some()
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
        set_size(&self.output, cols, rows);
        self
    }

    /// Sends it a signal.
    pub fn signal(&mut self, signal: i32) -> &mut Self {
        send(self.pid(), signal);
        self
    }

    /// Whether it has a terminal.
    pub fn has_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    /// The terminal's settings.
    pub fn settings(&self) -> Termios {
        termios::tcgetattr(&self.terminal.as_ref().expect("a terminal").0).expect("settings")
    }

    /// Waits until this process has the terminal.
    pub fn until_in_front(&mut self, pid: i32) -> &mut Self {
        self.until("its turn", |run| {
            let group = nix::unistd::getpgid(Some(nix::unistd::Pid::from_raw(pid)));
            group.is_ok() && nix::unistd::tcgetpgrp(&run.output) == group
        })
    }

    /// The settings that the terminal had before it was started.
    pub fn found(&self) -> Termios {
        self.terminal.as_ref().expect("a terminal").1.clone()
    }

    /// Takes the terminal away, as closing its window does.
    pub fn hang_up(&mut self) -> &mut Self {
        let null = || File::options().read(true).write(true).open("/dev/null").expect("/dev/null");
        (self.input, self.output, self.terminal) = (null(), null(), None);
        self
    }

    /// Waits for its end; gives all that appeared and how it ended.
    pub fn finish(mut self) -> (String, ExitStatus) {
        let (seen, status) = self.finish_bytes();
        (String::from_utf8_lossy(&seen).into_owned(), status)
    }

    /// The same, with what appeared as bytes.
    pub fn finish_bytes(&mut self) -> (Vec<u8>, ExitStatus) {
        if self.terminal.is_none() {
            self.input = File::open("/dev/null").expect("/dev/null");
        }
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "it did not end; seen: {:?}", self.text());
            self.read_for(10);
        };
        if let Some((terminal, _)) = &self.terminal {
            // The echo of a key that ended it may be still to come; whoever asks the other side waits for that.
            let mut other = [PollFd::new(std::os::fd::AsFd::as_fd(terminal), PollFlags::POLLIN)];
            let _ = poll(&mut other, PollTimeout::ZERO);
        }
        // Its last bytes are in the terminal by now.
        while self.read_for(0) {}
        (std::mem::take(&mut self.seen), status)
    }

    fn read(&mut self) -> bool {
        // Whoever had the terminal may be gone, and its last words still to be read.
        let gone = matches!(self.child.try_wait(), Ok(Some(_)));
        self.read_for(if gone { 0 } else { 100 }) || !gone
    }

    /// Reads what comes within this many milliseconds; whether anything came.
    fn read_for(&mut self, milliseconds: u16) -> bool {
        let mut fds = [PollFd::new(std::os::fd::AsFd::as_fd(&self.output), PollFlags::POLLIN)];
        if !matches!(poll(&mut fds, PollTimeout::from(milliseconds)), Ok(ready) if ready > 0) {
            return false;
        }
        let mut buffer = [0; 16384];
        match self.output.read(&mut buffer) {
            Ok(count) => {
                self.seen.extend_from_slice(&buffer[..count]);
                if count == 0 {
                    // The end of a pipe is always ready.
                    std::thread::sleep(Duration::from_millis(u64::from(milliseconds.min(5))));
                }
                count > 0
            }
            Err(_) => false,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A test that failed must not leave anything behind.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// What was printed to standard error.
pub fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits until this holds, for what has no terminal.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal, real-time signals included.
pub fn send(pid: i32, signal: i32) {
    assert!(send_if_there(pid, signal), "{pid} is not there");
}

/// The same where it may have ended by now. Whether it has not.
pub fn send_if_there(pid: i32, signal: i32) -> bool {
    // SAFETY: kill takes two numbers and does not touch our memory.
    unsafe { libc::kill(pid, signal) == 0 }
}

/// The state of a process, as in `ps`; none when it is gone or only waits to be reaped.
pub fn state(pid: i32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.chars().next().filter(|state| !matches!(state, 'Z' | 'X'))
}

/// Whether a process is in a read of this file.
#[cfg(target_os = "linux")]
pub fn reads(pid: i32, file: &Path) -> bool {
    let call = std::fs::read_to_string(format!("/proc/{pid}/syscall")).unwrap_or_default();
    let mut words = call.split(' ');
    let is_read = words.next() == Some(&libc::SYS_read.to_string());
    let fd = words.next().and_then(|fd| u32::from_str_radix(fd.trim_start_matches("0x"), 16).ok());
    let open = |fd| std::fs::read_link(format!("/proc/{pid}/fd/{fd}"));
    is_read && fd.and_then(|fd| open(fd).ok()).is_some_and(|open| open == file)
}

/// Waits until a process is gone.
pub fn until_gone(pid: i32) {
    until("its end", || state(pid).is_none());
}

/// Kills a process that the test left running on purpose, when the test is over.
#[derive(Debug)]
pub struct Leftover(pub i32);

impl Drop for Leftover {
    fn drop(&mut self) {
        // SAFETY: kill takes two numbers and does not touch our memory.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }
}
