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
        Self { complains: has(&COMPLAINTS) && !has(&NONE_OF_IT), retries: has(&RETRIES), share: shows_share(text) }
    }
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
    text.contains(['✓', '✔', '✗', '✘', '✕', '✖', '☑', '☒', '✅', '❌'])
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
