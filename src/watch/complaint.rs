//! Words by which a line says that something went wrong, in any program.

/// What a line says of how it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tone {
    /// Something went wrong.
    pub(super) complains: bool,
    /// The same is tried once more.
    pub(super) retries: bool,
    /// So far has the work come.
    pub(super) share: bool,
}

impl Tone {
    /// The tone of `text`, which is `masked` without times and ids; `lower` is room to work in.
    pub(super) fn of(text: &str, masked: &str, lower: &mut String) -> Self {
        to_lowercase(text, lower);
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let complains = has(&COMPLAINTS) && !none_of_it(lower) && !only_counts(lower, masked) && !is_passed(text);
        Self { complains, retries: has(&RETRIES), share: shows_share(text) }
    }
}

/// Whether the line says of a test or a step that it went well: `✔ throws an error`, `--- PASS: TestTimeout (0.8s)`,
/// `ok 3 - is refused`, `test fails ... ok`. What its name complains of is what was wanted.
fn is_passed(text: &str) -> bool {
    let word = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let mut words = text.split_whitespace();
    let last = words.clone().next_back().is_some_and(|last| last == "ok") && text.contains("... ok");
    let first = [words.next(), words.next()].map(|first| first.map(word).unwrap_or_default());
    let says = |said: &String| matches!(said.as_str(), "PASS" | "PASSED" | "ok" | "OK");
    text.trim_start().starts_with(['✓', '✔', '✅', '☑']) || last || first.iter().any(says) && first[0] != "not"
}

/// Whether the line says that nothing went wrong: `0 errors`, and not `500 errors`.
fn none_of_it(lower: &str) -> bool {
    let begins = |at: usize| !lower[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | ','));
    NONE_OF_IT.iter().any(|word| lower.match_indices(word).any(|(at, _)| begins(at)))
}

/// Whether every complaint in the line is counted, beside something else that is: `1200 rows, 3 errors`, `ok=12 failed=3`,
/// `loss=0.2 error=0.04`. One alone with a number, as in `error: 529` or `500 error`, is that error.
fn only_counts(lower: &str, masked: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut complaints = COMPLAINTS.iter().flat_map(|word| lower.match_indices(word));
    counted(masked).nth(1).is_some()
        && complaints.all(|(at, word)| {
            let (before, rest) = (&lower[..at], &lower[at + word.len()..]);
            let after = rest.trim_start_matches(char::is_alphabetic);
            let several = after.len() < rest.len();
            let is_fraction = |value: &str| {
                let decimals = value.trim_start_matches(is_digit);
                decimals.len() < value.len()
                    && decimals.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_digit))
            };
            let named = after.strip_prefix('"').unwrap_or(after);
            let value = named.strip_prefix([':', '=']).map(str::trim_start).filter(|value| value.starts_with(is_digit));
            let fraction = value.or_else(|| after.strip_prefix(' ')).is_some_and(is_fraction);
            several && (before.ends_with(' ') && ends_in_count(before) || value.is_some()) || fraction
        })
}

/// Whether the last word is a number of something, and not the number of an attempt or a part of a name or an address.
fn ends_in_count(before: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    let last = words.next().is_some_and(|word| is_count(word.trim_start_matches(['(', '['])));
    last && !words.next().is_some_and(|word| RETRIES.iter().any(|name| word.contains(name)))
}

/// The numbers in a line that stand for themselves: none of names, addresses or, as far as they are masked, times.
fn counted(masked: &str) -> impl Iterator<Item = &str> {
    let belongs = |c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | '-' | '_' | ':' | '/' | '@' | '[' | ']');
    let words = masked.split(move |c: char| !belongs(c)).map(|word| word.trim_matches([',', '.', ':', '[', ']']));
    let of_its_own = |name: &str| name.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-'));
    let value = move |word| match str::rsplit_once(word, ':') {
        Some((name, value)) if of_its_own(name) => value,
        _ => word,
    };
    words.map(value).filter(|word| is_count(word))
}

/// `3`, `1,200`, `0.5`, `3/10`.
fn is_count(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'/'))
        && word.bytes().filter(|b| *b == b'.').count() < 2
}

const COMPLAINTS: [&str; 34] = [
    "error",
    "fail",
    "warn",
    "retry",
    "exception",
    "traceback",
    "panic",
    "refused",
    "denied",
    "timeout",
    "timed out",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "unhealthy",
    "unavailable",
    "unreachable",
    "undefined",
    "invalid",
    "abort",
    "reset by",
    "disconnect",
    "reconnect",
    "restart",
    "not found",
    "no such",
    "crash",
    "killed",
    "rejected",
    "try again",
    "trying again",
    "exited (",
];

/// A count of zero is the opposite of a complaint.
const NONE_OF_IT: [&str; 10] =
    ["0 error", "no error", "errors: 0", "errors=0", "0 fail", "no fail", "failed: 0", "failed=0", "0 warn", "no warn"];

/// Words by which a line says that the same is tried once more.
const RETRIES: [&str; 5] = ["retry", "reconnect", "attempt", "try again", "trying again"];

/// Whether the line says that the same is tried once more.
pub(super) fn is_retry(text: &str) -> bool {
    let mut lower = String::new();
    to_lowercase(text, &mut lower);
    RETRIES.iter().any(|word| lower.contains(word))
}

/// Whether the line has a mark that something is finished, well or not.
pub(super) fn is_marked_done(text: &str) -> bool {
    text.contains(['✓', '✔', '✗', '✘', '✕', '✖', '☑', '☒', '✅', '❌']) || text.contains("[x]") || text.contains("[X]")
}

/// Whether the line announces itself as a tip: something to read while time passes.
pub(super) fn is_tip(text: &str) -> bool {
    let start = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let lower: String = start.chars().take(16).flat_map(char::to_lowercase).collect();
    ["tip:", "tips:", "tip ", "pro tip", "hint:", "did you know"].iter().any(|word| lower.starts_with(word))
}

/// Whether a number in the line says how far the work has come: `42%`, `3/10`, `3 of 10`.
fn shows_share(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    (1..bytes.len()).any(|index| match bytes[index] {
        b'%' => digit(index - 1),
        b'/' => digit(index - 1) && digit(index + 1),
        b' ' => digit(index - 1) && text[index..].starts_with(" of ") && digit(index + 4),
        _ => false,
    })
}

fn to_lowercase(text: &str, lower: &mut String) {
    lower.clear();
    if text.is_ascii() {
        lower.push_str(text);
        lower.make_ascii_lowercase();
    } else {
        lower.extend(text.chars().flat_map(char::to_lowercase));
    }
}

#[cfg(test)]
mod tests {
    use crate::watch::line_form::LineForm;

    fn complains(text: &str) -> bool {
        LineForm::default().hash(text).is_some_and(|(_, tone)| tone.complains)
    }

    #[test]
    fn a_test_that_passed_does_not_complain_of_what_it_is_called() {
        for passed in [
            "    ✔ should throw an error when missing (3ms)",
            "--- PASS: TestTimeout (0.84s)",
            "ok 12 - refuses an invalid name",
            "[       OK ] Parser.Error (0 ms)",
            "tests/test_io.py::test_denied PASSED [ 12%]",
            "test parser::fails_on_garbage ... ok",
        ] {
            assert!(!complains(passed), "{passed}");
        }
        for complaint in [
            "not ok 12 - refuses an invalid name",
            "--- FAIL: TestTimeout (0.84s)",
            "test parser::fails_on_garbage ... FAILED",
            "the request failed, this is not ok",
            "error: the ✔ is missing",
        ] {
            assert!(complains(complaint), "{complaint}");
        }
    }

    #[test]
    fn complaints_that_are_counted_among_other_things_are_no_complaint() {
        for counted in [
            "INFO processed 13200 records, 3 errors",
            "ok=12 changed=0 failed=3",
            "12 passed, 2 failed",
            "epoch 3 loss=0.2 train_error=0.0086",
            "rows: 1200, errors: 3",
            r#"{"rows":1200,"errors":3}"#,
            "epoch 3 loss 1.9844 val_error 0.4901",
            "[12]\ttrain-error:0.046522\ttest-error:0.042831",
            "12:00:01 Tests  3 failed | 12 passed (15)",
        ] {
            assert!(!complains(counted), "{counted}");
        }
        for complaint in [
            "error: 529, request 12",
            "500 error in 3 ms",
            "3 errors",
            "connection refused, 3 errors, 12 left",
            "failed to fetch 3 of 12",
            "HTTP 503 service unavailable after 3 s",
            "2026-11-18 12:00:01,344 [main] request failed: 503",
            "request 3fa8b2c1-9d04-4e1b-a7c6-0123456789ab failed: 503",
            "[1763500000.123456] request 0x7f3a8812 failed: 503",
            "Nov 18 12:00:01 host app[1234]: request failed: 503",
            "attempt 3 failed, 2 left",
            "10.0.0.7:43210 disconnected: EOF",
        ] {
            assert!(complains(complaint), "{complaint}");
        }
    }
}
