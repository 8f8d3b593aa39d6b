//! The runs that are looked at: those that most people have most of the time.

use std::error::Error;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

use super::symbols::Symbols;
use super::trace::{Calls, run};

/// A short command, of which the time that it takes to begin and to end is noticed.
const SHORT: &[&str] = &["true"];
/// Prints lines, is silent for so long that its processes are looked at, and prints many lines.
const LONG: &str = "echo one; sleep 3.5; seq 20000";
/// Reads a line, draws over it again and again, and prints many lines.
const DRAWN: &str = r#"echo ready; read line
for frame in 1 2 3 4 5; do printf '\r\033[K\033[32m%s\033[0m' "$frame"; sleep 0.2; done
sleep 3.5; seq 20000"#;

/// What is typed once something is shown: a letter at a time, and the end of the line.
const TYPED: &[(&[u8], &[u8])] = &[(b"ready", b"a"), (b"a", b"b"), (b"b", b"\r")];

/// All of them. The shortest comes first: what it needs lies closest together.
pub fn all(program: &OsStr, symbols: &Symbols, calls: &mut Calls) -> Result<(), Box<dyn Error>> {
    let home = tempfile::tempdir()?;
    let new = |arguments: &[&str]| {
        let mut command = Command::new(program);
        // Nobody's own settings and history.
        command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home.path()).env("TERM", "xterm");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    // Twice: the first makes the folders that the second finds.
    run(&mut new(SHORT), symbols, calls)?;
    run(&mut new(SHORT), symbols, calls)?;
    in_terminal(&mut new(SHORT), symbols, calls)?;
    in_terminal(&mut new(&["sh", "-c", DRAWN]), symbols, calls)?;
    into_pipe(&mut new(&["sh", "-c", LONG]), symbols, calls)?;
    run(&mut new(&["--idle", "10m", "--", "true"]), symbols, calls)
}

fn into_pipe(command: &mut Command, symbols: &Symbols, calls: &mut Calls) -> Result<(), Box<dyn Error>> {
    let (mut reader, writer) = io::pipe()?;
    thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
    run(command.stdout(writer), symbols, calls)
}

/// In the foreground of a terminal, where somebody types once it is ready.
fn in_terminal(command: &mut Command, symbols: &Symbols, calls: &mut Calls) -> Result<(), Box<dyn Error>> {
    let pty = nix::pty::openpty(None, None)?;
    let (mut reader, mut writer) = (File::from(pty.master.try_clone()?), File::from(pty.master));
    thread::spawn(move || {
        let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
        let mut typing = TYPED.iter().peekable();
        // Until nobody has the other side open.
        while let Ok(count @ 1..) = reader.read(&mut buffer) {
            seen.extend_from_slice(&buffer[..count]);
            let shown = |word: &[u8]| seen.windows(word.len()).any(|there| there == word);
            if let Some((_, keys)) = typing.next_if(|(word, _)| shown(word)) {
                seen.clear();
                // Whoever has left reads nothing.
                let _ = writer.write_all(keys);
            }
        }
    });
    command.stdout(pty.slave.try_clone()?).stderr(pty.slave.try_clone()?).stdin(pty.slave);
    // SAFETY: it only makes system calls, as it must between fork and exec.
    unsafe { command.pre_exec(take_terminal) };
    run(command, symbols, calls)
}

/// Makes standard input the controlling terminal of a session of our own.
fn take_terminal() -> io::Result<()> {
    nix::unistd::setsid()?;
    // SAFETY: TIOCSCTTY takes a number and does not touch our memory.
    match unsafe { nix::libc::ioctl(0, nix::libc::TIOCSCTTY, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
