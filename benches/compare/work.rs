//! What the wrapped command does: this program again, in another role.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::exit;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};

use crate::floor::{relay, write_all};

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Lines of a log, many in one write.
    Log,
    /// Coloured frames of a full screen.
    Frames,
    /// Lines of a log, one in each write.
    Lines,
    /// Lines of sixteen thousand letters.
    Long,
}

impl Kind {
    /// Its name, on the command line of the role.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Frames => "frames",
            Self::Lines => "lines",
            Self::Long => "long",
        }
    }
}

/// Plays a role: the relay, or a command that is wrapped.
pub fn play(role: &str, rest: &[String]) -> ! {
    let number = |index: usize| rest.get(index).and_then(|text| text.parse().ok()).unwrap_or(0_u64);
    match role {
        "__relay" => relay(rest),
        "__print" => print(&rest[0], number(1)),
        "__slices" => slices(&rest[0], number(1), &rest[2]),
        "__sleep" => sleep(Duration::from_secs(number(0))),
        "__spin" => spin(number(0), Duration::from_secs(number(1))),
        "__echo" => echo(),
        _ => exit(2),
    }
    exit(0)
}

/// What comes after each slice.
pub const END_OF_SLICE: u8 = 0x06;

/// Prints this many bytes, then a mark, and waits to be ended.
fn print(kind: &str, total: u64) {
    Flood::of(kind).print(total);
    let _ = write_all(io::stdout().as_fd(), b"\r\nready\r\n");
    sleep(Duration::from_hours(1));
}

/// Prints this many bytes and their end for each byte that comes through the pipe of this name.
fn slices(kind: &str, size: u64, signal: &str) {
    let flood = Flood::of(kind);
    let Ok(mut signal) = File::open(signal) else { exit(1) };
    while signal.read_exact(&mut [0]).is_ok() {
        flood.print(size);
        if write_all(io::stdout().as_fd(), &[END_OF_SLICE]).is_err() {
            exit(1);
        }
    }
}

/// Something to print over and over.
struct Flood {
    block: Vec<u8>,
    /// How much to write at a time; a line where it is nothing.
    write: usize,
}

impl Flood {
    fn of(kind: &str) -> Self {
        let (block, write) = match kind {
            "frames" => (frames(), 4096),
            "lines" => (log(), 0),
            "long" => (long(), 4096),
            _ => (log(), 4096),
        };
        Self { block, write }
    }

    fn print(&self, total: u64) {
        let pieces: Vec<&[u8]> = if self.write == 0 {
            self.block.split_inclusive(|byte| *byte == b'\n').collect()
        } else {
            self.block.chunks(self.write).collect()
        };
        let mut left = total;
        for piece in pieces.iter().cycle() {
            if left == 0 {
                break;
            }
            let piece = &piece[..piece.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
            left -= piece.len() as u64;
            if write_all(io::stdout().as_fd(), piece).is_err() {
                exit(1);
            }
        }
    }
}

/// A line of a log after the other, no two the same.
fn log() -> Vec<u8> {
    let mut text = String::new();
    for line in 0_u32..4000 {
        let _ = writeln!(
            text,
            "2026-03-01T12:{:02}:{:02}.{:03}Z INFO worker-{} handled request {:08x} in {} ms, status {}",
            line / 60 % 60,
            line % 60,
            line * 7 % 1000,
            line % 8,
            line.wrapping_mul(2_654_435_761),
            line * 13 % 400,
            200 + line % 5
        );
    }
    text.into_bytes()
}

/// Frames as full-screen programs paint them, each kind in its way: coloured, in part the same as before.
fn frames() -> Vec<u8> {
    let mut text = String::new();
    for frame in 0_u32..200 {
        let kind = frame / 50;
        // What comes before all rows, before each, after each, and after all.
        let (begin, before, after, end) = [
            ("\x1b[?2026h\x1b[H", "", "\x1b[K", "\x1b[?2026l"),
            ("\x1b[H", "", "\x1b[K\r\n", "\x1b[J"),
            ("\x1b[H\x1b[2J", "", "\r\n", ""),
            ("\x1b[?25l\x1b[23A\r", "│", "│\x1b[K\r\n", "\x1b[?25h"),
        ][kind as usize];
        text.push_str(begin);
        for row in 1..24 {
            if kind == 0 {
                let _ = write!(text, "\x1b[{row};1H");
            }
            let _ = write!(text, "{before}\x1b[38;5;{}m{frame:>6} \x1b[0m", (frame + row) % 256);
            for word in 0..7 {
                let _ = write!(text, "\x1b[1;3{}mfield{word}\x1b[22;39m ", (word + row) % 8);
            }
            text.push_str(after);
        }
        text.push_str(end);
    }
    text.into_bytes()
}

fn long() -> Vec<u8> {
    let mut text = String::new();
    for line in 0..16 {
        for word in 0..2000 {
            let _ = write!(text, "{:07x} ", line * 2000 + word);
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// A spinner of this many frames in a second.
fn spin(frequency: u64, length: Duration) {
    let begun = Instant::now();
    let mut frame = 0_u32;
    while begun.elapsed() < length {
        let glyph = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴'][frame as usize % 6];
        let text = format!("\r{glyph} working");
        if write_all(io::stdout().as_fd(), text.as_bytes()).is_err() {
            exit(1);
        }
        frame += 1;
        let next = Duration::from_secs(u64::from(frame)) / u32::try_from(frequency).unwrap_or(1).max(1);
        sleep(next.saturating_sub(begun.elapsed()));
    }
}

/// Gives back each key as it comes.
fn echo() {
    let stdin = io::stdin();
    if let Ok(mut settings) = tcgetattr(&stdin) {
        cfmakeraw(&mut settings);
        let _ = tcsetattr(&stdin, SetArg::TCSANOW, &settings);
    }
    let stdout = io::stdout();
    let _ = write_all(stdout.as_fd(), b"ready\r\n");
    let mut buffer = [0; 64];
    while let Ok(count) = nix::unistd::read(&stdin, &mut buffer) {
        if count == 0 || buffer[..count].contains(&b'q') || write_all(stdout.as_fd(), &buffer[..count]).is_err() {
            return;
        }
    }
}
