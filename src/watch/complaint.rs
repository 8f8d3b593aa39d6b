//! Words by which a line says that something went wrong, in any program.

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

/// Whether the line says that something went wrong.
pub(super) fn is_complaint(text: &str) -> bool {
    contains_any(text, &COMPLAINTS)
}

/// Whether the line says that the same is tried once more.
pub(super) fn is_retry(text: &str) -> bool {
    contains_any(text, &["retry", "reconnect", "attempt", "try again", "trying again"])
}

/// Whether a number in the line says how far the work has come: `42%`, `3/10`, `3 of 10`.
pub(super) fn shows_share(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |index: usize| bytes.get(index).is_some_and(u8::is_ascii_digit);
    (1..bytes.len()).any(|index| match bytes[index] {
        b'%' => digit(index - 1),
        b'/' => digit(index - 1) && digit(index + 1),
        b' ' => digit(index - 1) && text[index..].starts_with(" of ") && digit(index + 4),
        _ => false,
    })
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    let lower = text.to_lowercase();
    words.iter().any(|word| lower.contains(word))
}
