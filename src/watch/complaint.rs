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
    /// The tone of `text`; `lower` is room to work in.
    pub(super) fn of(text: &str, lower: &mut String) -> Self {
        to_lowercase(text, lower);
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let complains = has(&COMPLAINTS) && !none_of_it(lower) && !only_counts(lower) && !is_passed(text);
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
fn only_counts(lower: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let numbers = lower.split(|c: char| !is_digit(c)).filter(|part| !part.is_empty()).count();
    let mut complaints = COMPLAINTS.iter().flat_map(|word| lower.match_indices(word));
    numbers > 1
        && complaints.all(|(at, word)| {
            let (before, rest) = (&lower[..at], &lower[at + word.len()..]);
            let after = rest.trim_start_matches(char::is_alphabetic);
            let several = after.len() < rest.len();
            let value = after.strip_prefix([':', '=']).map(str::trim_start).filter(|value| value.starts_with(is_digit));
            let fraction = |value: &str| value.trim_start_matches(is_digit).starts_with('.');
            let number_first = before.ends_with(' ') && before.trim_end().ends_with(is_digit);
            several && (number_first || value.is_some()) || value.is_some_and(fraction)
        })
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
    use super::*;

    #[test]
    fn a_test_that_passed_does_not_complain_of_what_it_is_called() {
        let complains = |text: &str| Tone::of(text, &mut String::new()).complains;
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
        let complains = |text: &str| Tone::of(text, &mut String::new()).complains;
        for counted in [
            "INFO processed 13200 records, 3 errors",
            "ok=12 changed=0 failed=3",
            "12 passed, 2 failed",
            "epoch 3 loss=0.2 train_error=0.0086",
            "rows: 1200, errors: 3",
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
        ] {
            assert!(complains(complaint), "{complaint}");
        }
    }
}
