//! A line on standard error, for whoever reads it.

use std::io::Write;
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// The longest line that a pipe takes whole.
const LONGEST: usize = 4000;

/// Says it, unless nobody takes it: a reader that has stopped must not stop us, and one that is gone cannot be told.
pub fn say(text: &str) {
    let stderr = std::io::stderr();
    let mut ready = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
    if !matches!(poll(&mut ready, PollTimeout::from(100_u8)), Ok(1..)) {
        return;
    }
    let _ = stderr.lock().write_all(format!("idlewatch: {}\n", &text[..text.floor_char_boundary(LONGEST)]).as_bytes());
}
