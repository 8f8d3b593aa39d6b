//! What comes from a terminal, told apart: what a person typed, and what the terminal itself reports.
//!
//! A mouse that moves, a window that gets the focus and the answer to a program's question arrive as a person's keys
//! do, and mean nobody.
//!
//! Reports begin with the byte that the Escape key sends. Only time tells them apart: a terminal writes a report in one
//! piece, and a person takes a while to press the next key.

use std::time::Duration;

use super::Moment;

/// One thing that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A letter, typed or pasted.
    Letter,
    /// The last letter is taken back.
    Erase,
    /// What was typed is submitted, or thrown away: Return, Ctrl-C, Ctrl-D, Ctrl-U.
    Over,
    /// Any other key.
    Other,
    /// The terminal's own.
    Report,
}

/// Reads what comes, wherever it is cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Keys {
    mode: Mode,
    /// The parameters of a sequence.
    sequence: Vec<u8>,
    pasting: bool,
    /// When something last came.
    last: Moment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    #[default]
    Ground,
    Escape,
    /// After `ESC O`.
    Single,
    Control,
    /// So many bytes of an old mouse report are left.
    Mouse(u8),
    /// An answer in the form of a string: its length so far, and whether the last byte was an escape.
    Text(usize, bool),
}

/// No sequence of a keyboard is longer.
const LONGEST: usize = 64;
/// No answer is longer: the longest holds what is in the clipboard.
const LONGEST_TEXT: usize = 1 << 20;
/// What has not gone on after this time was whole: the Escape key, or one that was pressed with Alt.
const WHOLE: Duration = Duration::from_millis(100);

impl Keys {
    /// Takes in what came at this moment.
    pub(super) fn take(&mut self, now: Moment, bytes: &[u8]) -> Vec<Key> {
        self.end_what_was_whole(now);
        self.last = now;
        bytes.iter().filter_map(|byte| self.byte(*byte)).collect()
    }

    /// The letter that came at this moment, if it is one of its own: no part of a sequence or a paste, and all that came.
    pub(crate) fn lone_letter(&mut self, now: Moment, bytes: &[u8]) -> Option<u8> {
        self.end_what_was_whole(now);
        let begins = self.mode == Mode::Ground && !self.pasting;
        let keys = self.take(now, bytes);
        match bytes {
            [byte] if begins && keys == [Key::Letter] => Some(*byte),
            _ => None,
        }
    }

    fn end_what_was_whole(&mut self, now: Moment) {
        if now.since(self.last) >= WHOLE {
            self.mode = Mode::Ground;
        }
    }

    /// Whether what came last may be a key that is pressed and nothing more: Escape, or with Alt a letter that a report
    /// begins with too. It most likely is, since a report is seldom cut right there.
    pub(super) const fn is_pressed(&self) -> bool {
        match self.mode {
            Mode::Escape | Mode::Single | Mode::Text(0, _) => true,
            Mode::Control => self.sequence.is_empty(),
            Mode::Ground | Mode::Mouse(_) | Mode::Text(..) => false,
        }
    }

    fn byte(&mut self, byte: u8) -> Option<Key> {
        match self.mode {
            Mode::Ground => self.ground(byte),
            Mode::Escape => {
                self.mode = match byte {
                    b'[' => {
                        self.sequence.clear();
                        Mode::Control
                    }
                    b'O' => Mode::Single,
                    b']' | b'P' | b'_' | b'^' | b'X' => Mode::Text(0, false),
                    // The Escape key itself, and another one.
                    0x1b => Mode::Escape,
                    // With Alt.
                    _ => Mode::Ground,
                };
                (self.mode == Mode::Ground).then_some(Key::Other)
            }
            Mode::Single => {
                self.mode = Mode::Ground;
                // The Enter key of a number pad.
                Some(if byte == b'M' { Key::Over } else { Key::Other })
            }
            Mode::Control if matches!(byte, 0x20..=0x3f) && self.sequence.len() < LONGEST => {
                self.sequence.push(byte);
                None
            }
            Mode::Control => {
                self.mode = Mode::Ground;
                self.control(byte)
            }
            Mode::Mouse(left) => {
                self.mode = if left > 1 { Mode::Mouse(left - 1) } else { Mode::Ground };
                (left <= 1).then_some(Key::Report)
            }
            Mode::Text(length, escape) => {
                let ends = byte == 0x07 || escape && byte == b'\\' || length >= LONGEST_TEXT;
                self.mode = if ends { Mode::Ground } else { Mode::Text(length + 1, byte == 0x1b) };
                ends.then_some(Key::Report)
            }
        }
    }

    fn ground(&mut self, byte: u8) -> Option<Key> {
        match byte {
            0x1b => {
                self.mode = Mode::Escape;
                None
            }
            // What is pasted is submitted by the key that comes after it.
            b'\r' | b'\n' if self.pasting => Some(Key::Letter),
            b'\r' | b'\n' | 0x03 | 0x04 | 0x15 => Some(Key::Over),
            0x08 | 0x7f => Some(Key::Erase),
            byte if byte.is_ascii_control() => Some(Key::Other),
            // Of a character of several bytes the first.
            0x80..=0xbf => None,
            _ => Some(Key::Letter),
        }
    }

    /// The end of a control sequence.
    fn control(&mut self, last: u8) -> Option<Key> {
        let text = std::str::from_utf8(&self.sequence).unwrap_or_default();
        let private = text.starts_with(['?', '<', '=', '>']) || text.contains('$');
        Some(match last {
            b'M' if text.is_empty() => {
                self.mode = Mode::Mouse(3);
                return None;
            }
            b'~' if text == "200" || text == "201" => {
                self.pasting = text == "200";
                return None;
            }
            b'u' if !private => coded(text),
            b'M' | b'm' | b'I' | b'O' | b'R' | b'c' | b'n' | b't' | b'x' | b'y' => Key::Report,
            _ if private => Key::Report,
            _ => Key::Other,
        })
    }
}

/// A key as the kitty protocol writes it: its character, modifiers, and whether it was let go.
fn coded(text: &str) -> Key {
    let mut parts = text.split(';');
    let code = parts.next().and_then(|code| code.split(':').next()?.parse::<u32>().ok()).unwrap_or(0);
    let mut modifiers = parts.next().unwrap_or_default().split(':');
    let held = modifiers.next().and_then(|held| held.parse::<u32>().ok()).unwrap_or(1).saturating_sub(1);
    let (control, plain) = (held & 4 != 0, held & !1 == 0);
    match (code, modifiers.next()) {
        // Let go.
        (_, Some("3")) => Key::Other,
        (13 | 57414, _) if plain => Key::Over,
        (99 | 100 | 117, _) if control => Key::Over,
        (127 | 8, _) => Key::Erase,
        (32..=126 | 128..57344, _) if plain => Key::Letter,
        _ => Key::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        let whole = Keys::default().take(Moment::START, text.as_bytes());
        let mut keys = Keys::default();
        let cut: Vec<Key> = text.as_bytes().iter().flat_map(|byte| keys.take(Moment::START, &[*byte])).collect();
        assert_eq!(whole, cut, "{text:?}");
        whole
    }

    #[test]
    fn what_a_person_types_is_told_from_what_the_terminal_reports() {
        use Key::{Erase, Letter, Other, Over, Report};
        for (text, expected) in [
            ("aé", &[Letter, Letter] as &[Key]),
            ("hi\rx", &[Letter, Letter, Over, Letter]),
            ("\x15new", &[Over, Letter, Letter, Letter]),
            ("a\x7f", &[Letter, Erase]),
            ("\x1b[A\x1bOB\x1b[3~\t", &[Other, Other, Other, Other]),
            ("\x1bx", &[Other]),
            ("\x1b[I\x1b[O", &[Report, Report]),
            ("\x1b[<35;10;20M\x1b[M !!\x1b[32;5;6M", &[Report, Report, Report]),
            ("\x1b[5;30R\x1b[?62;c\x1b[?2026;2$y", &[Report, Report, Report]),
            ("\x1b]11;rgb:0/0/0\x07\x1bP>|xterm\x1b\\", &[Report, Report]),
            ("\x1b[200~a\rb\x1b[201~\r", &[Letter, Letter, Letter, Over]),
            ("\x1b[13u\x1b[99;5u\x1b[97u\x1b[97;1:3u\x1b[27u", &[Over, Over, Letter, Other, Other]),
        ] {
            assert_eq!(keys(text), expected, "{text:?}");
        }
    }

    fn at(milliseconds: u64) -> Moment {
        Moment::after_start(Duration::from_millis(milliseconds))
    }

    #[test]
    fn what_does_not_go_on_at_once_was_a_key() {
        for pressed in ["\x1b", "\x1b[", "\x1bO", "\x1bP", "\x1bX", "\x1b]", "\x1b^", "\x1b_", "a\x1b"] {
            for word in ["Please", "X-rays", "]right", "[left]", "^above", "_below", "Option"] {
                let mut keys = Keys::default();
                keys.take(at(0), pressed.as_bytes());
                assert!(keys.is_pressed(), "{pressed:?}");
                assert_eq!(keys.take(at(1000), word.as_bytes()), [Key::Letter; 6], "{pressed:?} and {word:?}");
                assert!(!keys.is_pressed(), "{pressed:?} and {word:?}");
            }
        }
    }

    #[test]
    fn a_report_that_goes_on_at_once_is_a_report_wherever_it_is_cut() {
        let mut keys = Keys::default();
        assert_eq!(keys.take(at(0), b"\x1bP>|xt"), []);
        assert!(!keys.is_pressed());
        assert_eq!(keys.take(at(90), b"erm(1"), []);
        assert_eq!(keys.take(at(180), b")\x1b"), []);
        assert!(!keys.is_pressed());
        assert_eq!(keys.take(at(270), b"\\"), [Key::Report]);
    }

    #[test]
    fn a_letter_of_its_own_is_no_part_of_anything() {
        let last = |parts: &[&str]| {
            let mut keys = Keys::default();
            parts.iter().fold(None, |_, part| keys.lone_letter(at(0), part.as_bytes()))
        };
        assert_eq!(last(&["a"]), Some(b'a'));
        assert_eq!(last(&["\x1b[A", "\x1b[B", "k"]), Some(b'k'));
        assert_eq!(last(&["\x1b[200~a plan\x1b[201~", "k"]), Some(b'k'));
        for parts in [
            &["ak"] as &[&str],
            &["\r"],
            &["\x1b", "[", "A"],
            &["\x1b", "k"],
            &["\x1bO", "S"],
            &["\x1b[97", "u"],
            &["\x1b[M", "!", "a", "a"],
            &["\x1b]11;", "a"],
            &["\x1b[200~", "a"],
        ] {
            assert_eq!(last(parts), None, "{parts:?}");
        }
        let mut keys = Keys::default();
        assert_eq!(keys.lone_letter(at(0), b"\x1b"), None);
        assert_eq!(keys.lone_letter(at(100), b"k"), Some(b'k'));
    }

    #[test]
    fn a_report_that_never_ends_ends_all_the_same() {
        let mut keys = Keys::default();
        keys.take(at(0), b"\x1b]52;c;");
        let mut letters = 0;
        for _ in 0..=LONGEST_TEXT / 1000 {
            letters += keys.take(at(0), &[b'a'; 1000]).iter().filter(|key| **key == Key::Letter).count();
        }
        assert!(letters > 0);
    }
}
