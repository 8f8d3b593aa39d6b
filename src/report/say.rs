//! A line on standard error, for whoever reads it.

use std::io::Write;
use std::os::fd::AsFd;

use super::visible::visible;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The longest line that a pipe takes whole.
const LONGEST: usize = 4000;

/// Says it, unless nobody takes it: a reader that has stopped must not stop us, and one that is gone cannot be told.
pub fn say(text: &str) {
    write("", text, PollTimeout::from(100_u8));
}

/// The same, but not even waiting a moment for the reader. If the line there is not finished, it is ended first.
pub fn say_at_once(text: &str, midline: bool) {
    write(if midline { "\n" } else { "" }, text, PollTimeout::ZERO);
}

fn write(before: &str, text: &str, patience: PollTimeout) {
    let stderr = std::io::stderr();
    let mut ready = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
    if !matches!(poll(&mut ready, patience), Ok(1..)) {
        return;
    }
    // It may quote whatever somebody else wrote: a name, a file, a setting.
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    let text = lines.join("\n");
    let line = format!("{before}idlewatch: {}\n", &text[..text.floor_char_boundary(LONGEST)]);
    let _ = stderr.lock().write_all(line.as_bytes());
}
