//! A line on standard error, for whoever reads it.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use super::visible::visible;
use crate::session::Sink;

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
    // That it has room may mean that it has room for one byte.
    let Ok(mut sink) = Sink::stream(fd) else { return };
    // It may quote whatever somebody else wrote: a name, a file, a setting.
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    let text = lines.join("\n");
    let line = format!("{before}idlewatch: {}\n", &text[..text.floor_char_boundary(LONGEST)]);
    sink.take(line.as_bytes());
    sink.flush_within(patience);
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::sync::mpsc;

    use nix::pty::openpty;

    use super::*;

    #[test]
    fn a_terminal_with_less_room_than_the_line_needs_does_not_hold_us_up() {
        // How much room that makes is the kernel's affair: none, enough, or too little.
        for read in [100, 1000, 2000, 4000] {
            let pty = openpty(None, None).unwrap();
            let (mut master, slave) = (std::fs::File::from(pty.master), std::fs::File::from(pty.slave));
            let mut filler = Sink::stream(slave.as_fd()).unwrap();
            while !filler.is_behind() {
                filler.take(&[b'x'; 100]);
            }
            // Somebody reads a little, and stops.
            master.read_exact(&mut vec![0; read]).unwrap();
            let (done, is_done) = mpsc::channel();
            std::thread::spawn(move || {
                write_to(slave.as_fd(), "", &"long ".repeat(5000), Duration::from_millis(10));
                done.send(()).unwrap();
            });
            let in_time = is_done.recv_timeout(Duration::from_secs(20));
            // However it went: whoever waits is let go.
            drop(master);
            assert_eq!(in_time, Ok(()), "{read}");
        }
    }

    #[test]
    fn a_line_is_cut_and_shows_what_it_is_made_of() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        write_to(writer.as_fd(), "\n", "a\u{1b}b", Duration::ZERO);
        write_to(writer.as_fd(), "", &"é".repeat(LONGEST), Duration::ZERO);
        drop(writer);
        let mut said = String::new();
        reader.read_to_string(&mut said).unwrap();
        let (first, second) = said.trim_start().split_once('\n').unwrap();
        assert!(first.starts_with("idlewatch: a") && !first.contains('\u{1b}'), "{first}");
        assert!(second.len() <= LONGEST + 20 && second.ends_with("é\n"));
    }
}
