//! What is the same in two lines that say the same, whatever time it was and whichever process, request or file it was about.

use super::complaint::Tone;
use super::mask::mask;
use super::seen::hash;

/// Lines in the form in which a loop repeats them.
#[derive(Debug, Default)]
pub(super) struct LineForm {
    lower: String,
    without_ids: String,
    masked: String,
    form: String,
}

impl LineForm {
    /// Stands for the line, with its tone; none if there is nothing in it that a reader would tell apart.
    pub(super) fn hash(&mut self, text: &str) -> Option<(u64, Tone)> {
        // Before times are: the `687d` of an id is none.
        self.without_ids.clear();
        for (name, word) in words(text) {
            self.without_ids.push_str(if is_id(name) { "#" } else { name });
            self.without_ids.push_str(&word[name.len()..]);
        }
        mask(&self.without_ids, &mut self.masked);
        if self.masked.chars().filter(|c| c.is_alphanumeric()).take(2).count() < 2 {
            return None;
        }
        // What says when it was, or which, is nothing that is counted.
        self.hash_of_masked(false);
        let tone = Tone::of(text, &self.form, &mut self.lower);
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
        // What the line itself calls the id of a process is that wherever it stands.
        let process = process_id(&self.masked);
        // What says which process it was, or when, or what it has cost, says nothing of what was done.
        let (mut aside, mut first) = (false, true);
        for (name, word) in words(&self.masked) {
            let number = is_number(name);
            let when = number && is_moment(name, &word[name.len()..], first);
            let which = number && (aside || process == Some(name));
            if numbers_vary && is_number_or_made_up(name) || which || when {
                self.form.push('#');
                self.form.push_str(&word[name.len()..]);
            } else {
                self.form.push_str(word);
            }
            let says = ["pid", "ts", "time", "timestamp"].iter().any(|label| name.eq_ignore_ascii_case(label));
            aside = says || name.ends_with("_tokens") || aside && name.is_empty();
            first &= name.is_empty();
        }
        hash(&self.form)
    }
}

/// The words of a text: each name or number, and that with what stands behind it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_inclusive(|c| !is_of_name(c)).map(|word| (word.trim_end_matches(|c| !is_of_name(c)), word))
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// The number behind `pid`.
fn process_id(text: &str) -> Option<&str> {
    let mut names = words(text).map(|(name, _)| name);
    names.find(|name| name.eq_ignore_ascii_case("pid"))?;
    names.find(|name| !name.is_empty()).filter(|name| is_number(name))
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Whether a number says when the line was printed: by the seconds since 1970, in whichever part of a second, or since the
/// start, as the kernel's `[ 1234.567890]`. Without a fraction it is taken for that only where the line begins, and one of
/// millionths or less, which may as well be the number of what the line is about, only in brackets.
fn is_moment(number: &str, end: &str, first: bool) -> bool {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fine = fraction.len() >= 3 && !fraction.contains('.');
    // From 2017 to 2030: a counter or a number to be stored begins with anything.
    let plausible = whole.starts_with('1') && matches!(whole.as_bytes().get(1), Some(b'5'..=b'8'));
    let since_1970 = plausible
        && match whole.len() {
            10 => fine || first && fraction.is_empty(),
            13 => first && fraction.is_empty(),
            16 | 19 => first && fraction.is_empty() && end.starts_with(']'),
            _ => false,
        };
    since_1970 || first && fine && end.starts_with([']', ':'])
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

    fn form(text: &str) -> Option<u64> {
        LineForm::default().hash(text).map(|(hash, _)| hash)
    }

    #[test]
    fn a_line_says_the_same_at_any_time_however_that_is_written() {
        for (one, other) in [
            ("1763500000.123 polling the queue", "1763500012.456 polling the queue"),
            ("[1763500000.123456] polling the queue", "[1763500012.456789] polling the queue"),
            ("1763500000 polling the queue", "1763500012 polling the queue"),
            ("1763500000123 polling the queue", "1763500012456 polling the queue"),
            ("1500000000 polling the queue", "1899999999 polling the queue"),
            ("[1763500000123456] polling the queue", "[1763500012456789] polling the queue"),
            ("[1763500000123456789] INFO polling", "[1763500012456789123] INFO polling"),
            ("[INFO] [1763500000.123456789]: polling", "[INFO] [1763500012.456789123]: polling"),
            ("{\"ts\":1763500000.123,\"msg\":\"polling\"}", "{\"ts\":1763500012.456,\"msg\":\"polling\"}"),
            ("{\"time\":1763500000123,\"msg\":\"polling\"}", "{\"time\":1763500012456,\"msg\":\"polling\"}"),
            ("[ 1234.567890] polling the queue", "[ 1246.678901] polling the queue"),
            ("   1.234: polling the queue", "  12.345: polling the queue"),
        ] {
            assert_eq!(form(one), form(other), "{one:?} and {other:?} differ by time alone");
        }
        for (one, other) in [
            ("1000 stored", "1001 stored"),
            ("1.5 GB stored", "1.6 GB stored"),
            ("stored 1763500000 bytes", "stored 1763500012 bytes"),
            ("stored post 1763500000123456789", "stored post 1763500012456789123"),
            ("1763500000123456789 saved", "1763500012456789123 saved"),
            ("1763500000123456 saved", "1763500012456789 saved"),
            ("1000000007 is prime", "1000000009 is prime"),
            ("1000000000039 is prime", "1000000000061 is prime"),
            ("[1000000007] is prime", "[1000000009] is prime"),
            ("1999999973 is prime", "1999999943 is prime"),
            ("[3] stored", "[4] stored"),
            ("[0.97] stored", "[0.98] stored"),
        ] {
            assert_ne!(form(one), form(other), "{one:?} and {other:?} differ by work");
        }
    }

    #[test]
    fn a_line_says_the_same_whichever_request_it_is_about() {
        let mut last = 1_u64;
        let mut group = |letters: usize| {
            last = last.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{:012x}", last >> 16)[..letters].to_owned()
        };
        let first = form("request 3fa8b2c1-9d04-4e1b-a7c6-0123456789ab begins");
        // `687d` at the beginning of a group is no number of days.
        for _ in 0..3000 {
            let id = [8, 4, 4, 4, 12].map(&mut group).join("-");
            assert_eq!(form(&format!("request {id} begins")), first, "{id}");
        }
    }

    #[test]
    fn a_line_says_the_same_whichever_process_it_is_about() {
        for (one, other) in [
            ("[1000] [INFO] Booting worker with pid: 1000", "[1007] [INFO] Booting worker with pid: 1007"),
            ("worker 1000 begins (pid 1000)", "worker 1007 begins (pid 1007)"),
            ("PID=1000 begins", "PID=1007 begins"),
        ] {
            assert_eq!(form(one), form(other), "{one:?} and {other:?}");
        }
        for (one, other) in
            [("[12] stored (pid: 1000)", "[13] stored (pid: 1000)"), ("pid file: 1000 stored", "pid file: 1001 stored")]
        {
            assert_ne!(form(one), form(other), "{one:?} and {other:?}");
        }
    }

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
