//! Who typed what the command may have left unread. What the person typed goes back to the person's terminal; a nudge
//! would be a command line there, and the shell would run it.

use std::collections::VecDeque;

/// More than a terminal and what is on its way into it hold.
const MOST: usize = 128 * 1024;

#[derive(Debug, Clone, Copy)]
struct Key {
    byte: u8,
    ours: bool,
}

/// What was typed into the command's terminal since we typed there for the first time, most recent last.
#[derive(Debug, Default)]
pub struct Authors {
    typed: VecDeque<Key>,
    /// There was more before it.
    cut: bool,
}

impl Authors {
    /// Notes what we typed.
    pub fn we(&mut self, typed: &[u8]) {
        self.note(typed, true);
    }

    /// Notes what the person typed.
    pub fn the_person(&mut self, typed: &[u8]) {
        if !self.typed.is_empty() {
            self.note(typed, false);
        }
    }

    fn note(&mut self, typed: &[u8], ours: bool) {
        self.typed.extend(typed.iter().map(|byte| Key { byte: *byte, ours }));
        if let Some(excess) = self.typed.len().checked_sub(MOST).filter(|excess| *excess > 0) {
            self.typed.drain(..excess);
            self.cut = true;
        }
    }

    /// What is the person's of the text that was left unread. Nothing where that cannot be told: rather lost than run.
    pub fn leave_out_ours(&self, unread: Vec<u8>) -> Vec<u8> {
        if self.typed.is_empty() {
            return unread;
        }
        let typed = edited(self.typed.iter().copied());
        let left = edited(unread.iter().map(|byte| Key { byte: *byte, ours: false }));
        let same =
            typed.iter().rev().zip(left.iter().rev()).take_while(|(typed, left)| typed.byte == left.byte).count();
        let (before, known) = (&left[..left.len() - same], &typed[typed.len() - same..]);
        if same < typed.len() && !before.is_empty() || self.cut && !before.is_empty() {
            return Vec::new();
        }
        let edits = |key: &Key| !is_text(key.byte) && key.byte != b'\r';
        if known.iter().all(|key| !key.ours) && !self.typed.iter().any(|key| key.ours && edits(key)) {
            return unread;
        }
        before.iter().chain(known).filter(|key| !key.ours).map(|key| key.byte).collect()
    }
}

/// Whether a terminal that reads whole lines takes it for a part of one.
fn is_text(byte: u8) -> bool {
    matches!(byte, 0x1b | b'\t' | b'\n' | b' '..=b'~' | 0x80..)
}

/// What is left of these keys in a terminal that reads whole lines. One that does not leaves the editing to its reader;
/// edited, both are alike.
fn edited(keys: impl Iterator<Item = Key>) -> Vec<Key> {
    let mut text: Vec<Key> = Vec::new();
    for key in keys {
        match key.byte {
            b'\r' => text.push(Key { byte: b'\n', ..key }),
            0x08 | 0x7f => erase(&mut text, 1, |_| false),
            // The word before the cursor, and the line.
            0x17 => {
                erase(&mut text, usize::MAX, |byte| !matches!(byte, b' ' | b'\t'));
                erase(&mut text, usize::MAX, |byte| matches!(byte, b' ' | b'\t'));
            }
            0x15 => erase(&mut text, usize::MAX, |_| false),
            byte if is_text(byte) => text.push(key),
            // Whatever it does, it leaves nothing to be read.
            _ => {}
        }
    }
    text
}

/// Takes so many characters from the end of a line, up to one that is to stay.
fn erase(text: &mut Vec<Key>, most: usize, stays: impl Fn(u8) -> bool) {
    for _ in 0..most {
        let Some(start) = text.iter().rposition(|key| key.byte & 0xc0 != 0x80) else { return };
        if text[start].byte == b'\n' || stays(text[start].byte) {
            return;
        }
        text.truncate(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What goes back of `unread`, if this was typed, ours in capitals or behind a `!`.
    fn back(typed: &[&str], unread: &str) -> String {
        let mut authors = Authors::default();
        for text in typed {
            if let Some(keys) = text.strip_prefix('!') {
                authors.we(keys.as_bytes());
            } else if text.starts_with(char::is_uppercase) {
                authors.we(text.as_bytes());
            } else {
                authors.the_person(text.as_bytes());
            }
        }
        String::from_utf8(authors.leave_out_ours(unread.as_bytes().to_vec())).unwrap()
    }

    #[test]
    fn what_we_typed_does_not_go_back() {
        assert_eq!(back(&["GO ON\r"], "GO ON\n"), "");
        assert_eq!(back(&["GO ON\r"], "ON\n"), "", "part of it was read");
        assert_eq!(back(&["GO", "\r"], ""), "");
        assert_eq!(back(&["GO ON\r", "GO ON\r"], "GO ON\rGO ON\r"), "");
        assert_eq!(back(&["!\x04"], "\x04"), "", "the end of the input would end the shell's");
        assert_eq!(back(&["!\x03", "ls\r"], "\x03ls\n"), "ls\n");
    }

    #[test]
    fn what_the_person_typed_goes_back() {
        assert_eq!(back(&[], "ls\n"), "ls\n");
        assert_eq!(back(&["ls\r", "GO ON\r"], "ls\nGO ON\n"), "ls\n", "before it");
        assert_eq!(back(&["GO ON\r", "ls\r"], "GO ON\nls\n"), "ls\n", "after it");
        assert_eq!(back(&["l", "GO ON\r", "s\r"], "lGO ON\ns\n"), "ls\n");
        assert_eq!(
            back(&["GO ON\r", "\x1b[A\x03ls\x7f\x04"], "\x1b[A\x03ls\x7f\x04"),
            "\x1b[A\x03ls\x7f\x04",
            "as it is"
        );
        assert_eq!(back(&["Y\r", "my file\r"], "my file\n"), "my file\n", "ours was read");
        assert_eq!(back(&["Y\r", "x\r", "Y\r", "y\r"], "Y\ny\n"), "y\n");
    }

    #[test]
    fn editing_does_not_hide_what_is_ours() {
        assert_eq!(back(&["RM\r", "abc\x7f\x7f\x7f"], "RM\n"), "");
        assert_eq!(back(&["RM\r", "ab\u{e4}\x7fc\r"], "RM\nabc\n"), "abc\n");
        assert_eq!(back(&["RM\r", "a bc \x17d\x15ls\r"], "RM\nls\n"), "ls\n");
        assert_eq!(back(&["RM\r", "a bc \x17d\r"], "RM\na d\n"), "a d\n");
        assert_eq!(back(&["RM\r", "a\x7f\x7f\x7f\x15b"], "RM\rb"), "b", "no further than the line");
    }

    #[test]
    fn what_cannot_be_told_apart_is_given_up() {
        assert_eq!(back(&["RM\r", "ls\r"], "rm\nls\n"), "", "the terminal has changed it");
        let mut authors = Authors::default();
        authors.we(&b"A".repeat(MOST));
        authors.the_person(b"ls\r");
        assert_eq!(authors.leave_out_ours(b"AAA\nls\n".to_vec()), b"");
        assert_eq!(authors.leave_out_ours(b"AAls\n".to_vec()), b"ls\n");
        let longer = [&b"A".repeat(MOST + 9)[..], b"ls\n"].concat();
        assert_eq!(authors.leave_out_ours(longer), b"");
        assert_eq!(authors.typed.len(), MOST);
    }
}
