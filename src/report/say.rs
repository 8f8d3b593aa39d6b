//! A line on standard error, for whoever reads it.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::visible::visible;
use crate::session::{Sink, we_wrote};

/// The longest line that a pipe takes whole.
const LONGEST: usize = 4000;

/// Says it, unless nobody takes it: a reader that has stopped must not stop us, and one that is gone cannot be told.
pub fn say(text: &str) {
    write("", text, Duration::from_millis(100));
}

/// The same, but not even waiting a moment for the reader. If the line there is not finished, it is ended first.
pub fn say_at_once(text: &str, midline: bool) {
    write(if midline { "\n" } else { "" }, text, Duration::ZERO);
}

fn write(before: &str, text: &str, patience: Duration) {
    write_to(std::io::stderr().as_fd(), before, text, patience);
}

fn write_to(fd: BorrowedFd<'_>, before: &str, text: &str, patience: Duration) {
    // It may quote whatever somebody else wrote: a name, a file, a setting. It is one line all the same.
    let text = visible(text);
    let line = format!("{before}idlewatch: {}\n", &text[..text.floor_char_boundary(LONGEST)]);
    we_wrote(fd, line.len());
    if let Ok(mut sink) = Sink::stream(fd) {
        // That it has room may mean that it has room for one byte.
        sink.take(line.as_bytes());
        sink.flush_within(patience);
        return;
    }
    // There are no descriptors left, which may be what is to be said.
    let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::ZERO);
    if matches!(poll(&mut [PollFd::new(fd, PollFlags::POLLOUT)], patience), Ok(1..)) {
        let _ = nix::unistd::write(fd, line.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_line_is_cut_and_shows_what_it_is_made_of() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        write_to(writer.as_fd(), "\n", "a\u{1b}b\nc", Duration::ZERO);
        write_to(writer.as_fd(), "", &"é".repeat(LONGEST), Duration::ZERO);
        drop(writer);
        let mut said = String::new();
        reader.read_to_string(&mut said).unwrap();
        let (first, second) = said.trim_start().split_once('\n').unwrap();
        assert_eq!(first, "idlewatch: a<U+001B>b<U+000A>c");
        assert!(second.len() <= LONGEST + 20 && second.ends_with("é\n"));
    }
}
