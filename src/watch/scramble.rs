//! Signs drawn at random in place of a spinner, as crush does: `d@3£A!f0` becomes `~9c=B&2e`.

/// What has changed so often in a row by nothing else is a spinner.
const SURELY: u16 = 8;
/// Fewer letters may be anything.
const SHORTEST: usize = 4;

/// How often in a row nothing but one word of signs was another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Scramble(u16);

impl Scramble {
    /// The row showed `before`, and shows `text` now.
    pub(super) fn next(self, before: &str, text: &str) -> Self {
        Self(if is_scrambled(before, text) { self.0.saturating_add(1) } else { 0 })
    }

    pub(super) const fn turns(self) -> bool {
        self.0 >= SURELY
    }
}

/// Whether one word is another one of the same width, with signs in it that no word or number has, and all else is the
/// same but for dots that grow. A bar that fills keeps most of its signs.
fn is_scrambled(before: &str, text: &str) -> bool {
    fn words(text: &str) -> impl Iterator<Item = &str> {
        text.split_whitespace().map(|word| word.trim_end_matches('.'))
    }
    let mut others = words(before).zip(words(text)).filter(|(before, text)| before != text);
    let (Some((old, new)), None) = (others.next(), others.next()) else { return false };
    let width = |word: &str| word.chars().count();
    let is_sign = |c: char| c.is_ascii_punctuation() && !"./-_:%,".contains(c);
    words(before).count() == words(text).count()
        && width(old) == width(new)
        && width(old) >= SHORTEST
        && old.chars().zip(new.chars()).filter(|(old, new)| old == new).count() * 2 < width(old)
        && (old.contains(is_sign) || new.contains(is_sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(rows: &[&str]) -> bool {
        let mut pairs = rows.iter().zip(rows.iter().cycle().skip(1)).cycle();
        let drawn = (0..20).filter_map(|_| pairs.next());
        drawn.fold(Scramble::default(), |scramble, (before, text)| scramble.next(before, text)).turns()
    }

    #[test]
    fn signs_at_random_are_told_from_words_and_numbers() {
        assert!(turns(&["│ d@3£A!f0 Thinking.", "│ ~9c=B&2e Thinking..", "│ 0#(fa$4c Thinking"]));
        assert!(!turns(&["building numpy (3)", "building scipy (4)"]));
        assert!(!turns(&["copied 1234", "copied 1235"]));
        assert!(!turns(&["[###.....]37%", "[####....]48%", "[#####...]59%"]));
        assert!(!turns(&["src/a.rs:10", "src/b.rs:11"]));
        assert!(!turns(&["d@3£A!f0 Thinking", "~9c=B&2e Pondering"]));
    }
}
