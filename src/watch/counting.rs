//! Which lines can count: what the user said of it, and what we have typed ourselves.

use super::Pattern;
use super::mask::{Taken, mask};

/// Which lines can count at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counting {
    /// Text that never counts.
    pub ignore: Vec<Pattern>,
    /// If there are any, only lines that match one count.
    pub only: Vec<Pattern>,
    /// What we ourselves have typed, the last at the end: a line that shows it again is an echo.
    pub(super) own: Vec<String>,
}

/// So much of what we have typed is remembered: whoever types into a run again and again has every line compared with it.
const MOST: usize = 256;
/// So many bytes of what we have typed are enough to recognise it.
const ENOUGH: usize = 40;

impl Counting {
    /// The lines that match nothing of `ignore` and, if there are any, one of `only`.
    pub fn new(ignore: Vec<Pattern>, only: Vec<Pattern>) -> Self {
        Self { ignore, only, own: Vec::new() }
    }

    /// From now on lines that show these bytes do not count.
    pub(super) fn add_own(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let body = text.trim_start_matches("\x1b[200~");
        let first = body.split(char::is_control).next().unwrap_or_default().trim();
        // A letter or two can stand in any line.
        if first.len() <= 2 {
            return;
        }
        let known = self.own.iter().position(|known| known == first);
        if known.is_some() || self.own.len() == MOST {
            self.own.remove(known.unwrap_or(0));
        }
        self.own.push(first.to_owned());
    }

    /// Whether the line shows what we have typed: behind a prompt or in a frame, and nothing else. One that only has the
    /// same words in it is the command's.
    fn is_own(&self, text: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric();
        self.own.iter().any(|own| {
            let start = &own[..own.floor_char_boundary(ENOUGH)];
            text.match_indices(start).any(|(at, _)| {
                let (before, shown) = (&text[..at], text[at..].trim_end_matches(|c| !is_word(c)));
                // It may go on in the next row.
                !before.trim_end().ends_with(is_word) && own.starts_with(shown.trim_end())
            })
        })
    }

    pub(super) fn counts(&self, text: &str) -> bool {
        !self.is_own(text)
            && (self.only.is_empty() || self.only.iter().any(|pattern| pattern.is_match(text)))
            && !self.ignore.iter().any(|pattern| pattern.is_match(text))
    }

    /// `text` without what is ignored, if that leaves anything that counts.
    pub(super) fn masked(&self, text: &str, out: &mut String) -> Taken {
        if self.ignore.is_empty() && self.only.is_empty() && self.own.is_empty() {
            return mask(text, out);
        }
        if self.is_own(text) || !self.only.is_empty() && !self.only.iter().any(|pattern| pattern.is_match(text)) {
            out.clear();
            return Taken::default();
        }
        let mut text = text.to_owned();
        for pattern in &self.ignore {
            text = pattern.remove(&text);
        }
        mask(&text, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_shows_what_we_typed_does_not_count_and_one_with_the_same_words_does() {
        let mut counting = Counting::default();
        counting.add_own(b"test");
        counting.add_own("\x1b[200~Please go on with the next of the open tasks in the list.\x1b[201~".as_bytes());
        for own in [
            "test",
            "> test",
            "user@host:~$ test",
            "│ ❯ test              │",
            "> Please go on with the next of the open tasks in the list.",
            "│ > Please go on with the next of the open tasks      │",
        ] {
            assert!(!counting.counts(own), "{own}");
        }
        for other in
            ["running test number 3", "the test", "test 3 ok", "Please go on with the next of the open tasks: 3"]
        {
            assert!(counting.counts(other), "{other}");
        }
    }

    #[test]
    fn of_what_we_typed_again_and_again_the_last_is_remembered() {
        let mut counting = Counting::default();
        for number in 0..10_000 {
            counting.add_own(format!("task {number}").as_bytes());
        }
        assert_eq!(counting.own.len(), MOST);
        assert!(counting.counts("> task 1") && !counting.counts("> task 9999"));
    }

    #[test]
    fn what_we_typed_a_moment_ago_is_remembered_however_long_it_is_known() {
        let mut counting = Counting::default();
        for number in 0..10_000 {
            counting.add_own(b"please go on");
            counting.add_own(format!("task {number}").as_bytes());
            assert!(!counting.counts("> please go on"), "before task {number}");
        }
        assert_eq!(counting.own.len(), MOST);
        assert!(!counting.counts("> task 9999") && counting.counts("> task 9000"));
    }
}
