//! The digits of other scripts: a time is a time whatever it is written in.

use std::borrow::Cow;

/// The zeros of the scripts in which programs count; the nine others follow each.
const ZEROS: [char; 6] = ['٠', '۰', '०', '০', '๐', '０'];

/// `text` with digits as everything else here reads them.
pub(super) fn with_ascii_digits(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(|c| ascii_digit(c).is_some()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| ascii_digit(c).unwrap_or(c)).collect())
}

fn ascii_digit(c: char) -> Option<char> {
    if c < ZEROS[0] {
        return None;
    }
    let value = ZEROS.iter().find_map(|zero| u32::from(c).checked_sub(u32::from(*zero)).filter(|value| *value < 10))?;
    char::from_digit(value, 10)
}
