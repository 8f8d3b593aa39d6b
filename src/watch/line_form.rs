//! What is the same in two lines that say the same, whatever time it was and whichever process, request or file it was about.

use super::complaint::Tone;
use super::mask::mask;
use super::seen::hash;

/// Lines in the form in which a loop repeats them.
#[derive(Debug, Default)]
pub(super) struct LineForm {
    lower: String,
    masked: String,
    form: String,
}

impl LineForm {
    /// Stands for the line, with its tone; none if there is nothing in it that a reader would tell apart.
    pub(super) fn hash(&mut self, text: &str) -> Option<(u64, Tone)> {
        mask(text, &mut self.masked);
        if self.masked.chars().filter(|c| c.is_alphanumeric()).take(2).count() < 2 {
            return None;
        }
        let tone = Tone::of(text, &mut self.lower);
        Some((self.hash_of_masked(tone.retries || tone.complains && !tone.share), tone))
    }

    /// Whether another line that [`hash`](Self::hash) takes for the same as `text`, its last, may be of another wording.
    pub(super) fn varies(&self, text: &str) -> bool {
        self.form != text.trim()
    }

    /// Stands for what the same line says apart from numbers, unless they say how far the work has come.
    pub(super) fn hash_of_words(&mut self, tone: Tone) -> u64 {
        self.hash_of_masked(!tone.share)
    }

    fn hash_of_masked(&mut self, numbers_vary: bool) -> u64 {
        self.form.clear();
        // What says which process it was, or what it has cost, says nothing of what was done.
        let mut aside = false;
        for word in self.masked.split_inclusive(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))) {
            let name = word.trim_end_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')));
            let number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            if is_id(name) || numbers_vary && is_number_or_made_up(name) || number && aside {
                self.form.push('#');
                self.form.push_str(&word[name.len()..]);
            } else {
                self.form.push_str(word);
            }
            aside = name.eq_ignore_ascii_case("pid") || name.ends_with("_tokens") || aside && name.is_empty();
        }
        hash(&self.form)
    }
}

/// Commit hashes, addresses, UUIDs: letters and digits of base sixteen, seven or more.
fn is_id(name: &str) -> bool {
    if is_drawn(name) {
        return true;
    }
    let hex = name.strip_prefix("0x").unwrap_or(name);
    hex.len() >= 7
        && hex.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        && hex.bytes().any(|b| b.is_ascii_digit())
        && (hex.len() < name.len() || hex.bytes().any(|b| b.is_ascii_alphabetic()))
}

/// Letters and digits that were drawn at random, perhaps behind a word of what they name, as in `toolu_01TIOcO6zMmELkh4FJfPLjcF`:
/// long, with digits in the midst of it more than once, and hardly two of a kind in a row.
fn is_drawn(name: &str) -> bool {
    let drawn = name.rsplit(['_', '-']).next().unwrap_or(name).as_bytes();
    let kind = |byte: &u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let turns = || drawn.windows(2).filter(|two| kind(&two[0]) != kind(&two[1])).count();
    let inner = || drawn.windows(2).filter(|two| two[0].is_ascii_digit() && two[1].is_ascii_alphabetic()).count();
    drawn.len() >= 16
        && drawn.iter().all(u8::is_ascii_alphanumeric)
        && [u8::is_ascii_lowercase, u8::is_ascii_uppercase].iter().all(|is| drawn.iter().any(is))
        && inner() >= 2
        && turns() * 20 >= drawn.len() * 9
}

/// Numbers, digits in groups, and names nobody chose, as of requests and temporary files: letters behind digits. In a
/// complaint they say which time it was; a name that only ends in a number, such as `test_12.rs`, says what it is about.
fn is_number_or_made_up(name: &str) -> bool {
    let groups = || name.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.'));
    let mixed = name.as_bytes().windows(2).any(|two| two[0].is_ascii_digit() && two[1].is_ascii_alphabetic());
    mixed || name.bytes().any(|b| b.is_ascii_digit()) && groups()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_somebody_chose_are_no_ids() {
        for name in [
            "testUserServiceV2Case12",
            "HttpClientV2Handler10",
            "Http2ServerUpgradeIT3Test",
            "parserOf64BitNumbersIn32",
        ] {
            assert!(!is_drawn(name), "{name}");
        }
        for id in ["toolu_01TIOcO6zMmELkh4FJfPLjcF", "msg_01zajtwm8rJUwiA7tdjXLn99", "req_011CSHoEeqs5C35K2UUqR7Fy"] {
            assert!(is_drawn(id), "{id}");
        }
    }
}
