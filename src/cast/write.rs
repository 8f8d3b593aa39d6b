//! The lines of a recording: asciicast version 2, which every asciinema plays.

use std::collections::BTreeMap;
use std::string::FromUtf8Error;
use std::time::Duration;

use serde::Serialize;

use super::Aside;
use crate::report::escaped;
use crate::watch::Size;

#[derive(Serialize)]
struct HeaderLine<'h> {
    version: u8,
    width: u16,
    height: u16,
    timestamp: u64,
    command: &'h str,
    env: &'h BTreeMap<&'static str, String>,
}

/// The first line.
pub fn header(size: Size, timestamp: u64, command: &str, env: &BTreeMap<&'static str, String>) -> Vec<u8> {
    line(&HeaderLine { version: 2, width: size.cols, height: size.rows, timestamp, command, env })
}

/// What the command printed.
pub fn output(at: Duration, text: &str) -> Vec<u8> {
    event(at, "o", text)
}

/// The terminal has a new size.
pub fn resize(at: Duration, size: Size) -> Vec<u8> {
    event(at, "r", &format!("{}x{}", size.cols, size.rows))
}

/// Something for people to read.
pub fn marker(at: Duration, text: &str) -> Vec<u8> {
    event(at, "m", text)
}

/// Something that only a replay understands; players pass over it.
pub fn aside(at: Duration, aside: &Aside) -> Vec<u8> {
    event(at, "w", &serde_json::to_string(aside).unwrap_or_default())
}

/// The command ended with this status, as a shell counts.
pub fn exit(at: Duration, status: i32) -> Vec<u8> {
    event(at, "x", &status.to_string())
}

fn event(at: Duration, code: &str, data: &str) -> Vec<u8> {
    let mut text = format!("[{}.{:06}, \"{code}\", ", at.as_secs(), at.subsec_micros()).into_bytes();
    // Writing to memory cannot fail, and any text is JSON.
    let _ = serde_json::to_writer(&mut text, data);
    text.extend_from_slice(b"]\n");
    harmless(text)
}

fn line(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    harmless(text)
}

/// The same JSON, for a file that somebody may show on a terminal as it is: what a terminal would obey, or what turns text
/// around, is in it as an escape.
fn harmless(line: Vec<u8>) -> Vec<u8> {
    if line.is_ascii() && memchr::memchr(0x7f, &line).is_none() {
        return line;
    }
    String::from_utf8(line).map_or_else(FromUtf8Error::into_bytes, |line| escaped(&line).into_bytes())
}

/// One stream of output as text: characters that were cut between two reads are joined, what is no character becomes
/// U+FFFD.
#[derive(Debug, Default)]
pub struct Joined {
    /// The beginning of a character.
    cut: Vec<u8>,
    /// The last character was a carriage return.
    returned: bool,
}

impl Joined {
    /// The text of these bytes and of what was left before them. Where lines end in a bare LF, they are given the
    /// carriage return that a terminal would add.
    pub fn push(&mut self, bytes: &[u8], bare: bool) -> String {
        let joined;
        let mut rest = if self.cut.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.cut).as_slice(), bytes].concat();
            &joined
        };
        let mut text = String::with_capacity(rest.len() + 16);
        loop {
            match std::str::from_utf8(rest) {
                Ok(whole) => {
                    self.add(&mut text, whole, bare);
                    return text;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.add(&mut text, std::str::from_utf8(valid).unwrap_or_default(), bare);
                    let Some(wrong) = error.error_len() else {
                        self.cut = after.to_vec();
                        return text;
                    };
                    self.add(&mut text, "\u{fffd}", bare);
                    rest = &after[wrong..];
                }
            }
        }
    }

    /// What is left of a character that never came to its end.
    pub fn finish(&mut self) -> Option<&'static str> {
        let left = !self.cut.is_empty();
        self.cut.clear();
        left.then_some("\u{fffd}")
    }

    fn add(&mut self, text: &mut String, new: &str, bare: bool) {
        let Some(last) = new.as_bytes().last() else { return };
        let mut from = 0;
        if bare {
            for at in memchr::memchr_iter(b'\n', new.as_bytes()) {
                let returned = if at == 0 { self.returned } else { new.as_bytes()[at - 1] == b'\r' };
                text.push_str(&new[from..at]);
                text.push_str(if returned { "\n" } else { "\r\n" });
                from = at + 1;
            }
        }
        text.push_str(&new[from..]);
        self.returned = *last == b'\r';
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cast::{Cast, What};

    #[test]
    fn what_is_no_character_is_replaced_and_what_was_cut_is_joined() {
        let mut joined = Joined::default();
        assert_eq!(joined.push(b"a\xe2\x9c", false), "a");
        assert_eq!(joined.push(b"\xbb b\xff\xe2", false), "✻ b\u{fffd}");
        assert_eq!(joined.push(b"c", false), "\u{fffd}c");
        assert_eq!(joined.finish(), None);
        assert_eq!(joined.push(b"\xf0\x9f", false), "");
        assert_eq!(joined.finish(), Some("\u{fffd}"));
    }

    #[test]
    fn a_bare_end_of_line_is_given_its_return_also_where_the_return_came_before() {
        let mut joined = Joined::default();
        assert_eq!(joined.push(b"a\nb\r\nc\r", true), "a\r\nb\r\nc\r");
        assert_eq!(joined.push(b"\n\n", true), "\n\r\n");
        assert_eq!(joined.push(b"x\n", false), "x\n");
    }

    proptest! {
        #[test]
        fn however_it_is_cut_the_text_is_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..40), at in 0_usize..40) {
            let mut whole = Joined::default();
            let once = whole.push(&bytes, true) + whole.finish().unwrap_or_default();
            let (head, tail) = bytes.split_at(at.min(bytes.len()));
            let mut cut = Joined::default();
            let twice = cut.push(head, true) + &cut.push(tail, true) + cut.finish().unwrap_or_default();
            prop_assert_eq!(&once, &twice);
            prop_assert_eq!(once.replace("\r\n", "\n"), String::from_utf8_lossy(&bytes).replace("\r\n", "\n"));
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_read_back_as_it_was() {
        let text = "a\u{9b}31m\u{9d}0;b\u{7f}\u{202e}é\u{e0041}";
        let mut file = header(Size { cols: 80, rows: 24 }, 1, text, &BTreeMap::new());
        file.extend(output(Duration::ZERO, text));
        let shown = String::from_utf8(file.clone()).unwrap();
        assert!(shown.lines().all(|line| !line.chars().any(crate::report::is_hidden)), "{shown}");
        let mut cast = Cast::open(file.as_slice()).unwrap();
        assert_eq!(cast.header().command.as_deref(), Some(text));
        assert_eq!(cast.next_entry().unwrap().unwrap().what, What::Output(text.to_owned()));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let size = Size { cols: 100, rows: 30 };
        let at = Duration::from_micros(1_500_001);
        let env = BTreeMap::from([("TERM", "xterm".to_owned())]);
        let mut file = header(size, 12, "echo 'a b'", &env);
        file.extend(output(at, "\u{1b}[31m\"quoted\"\\ \u{fffd} ✻\r\n\0"));
        file.extend(resize(at, size));
        file.extend(aside(at, &Aside::Gap(5)));
        file.extend(marker(at, "quiet"));
        file.extend(exit(at, 130));
        let mut cast = Cast::open(file.as_slice()).unwrap();
        assert_eq!((cast.header().size, cast.header().timestamp), (size, Some(12)));
        assert_eq!(cast.header().command.as_deref(), Some("echo 'a b'"));
        for what in [
            What::Output("\u{1b}[31m\"quoted\"\\ \u{fffd} ✻\r\n\0".to_owned()),
            What::Resize(size),
            What::Aside(Aside::Gap(5)),
            What::Other,
            What::Exit,
        ] {
            let entry = cast.next_entry().unwrap().unwrap();
            assert_eq!((entry.at, entry.what), (at, what));
        }
        assert_eq!(cast.next_entry().unwrap(), None);
    }
}
