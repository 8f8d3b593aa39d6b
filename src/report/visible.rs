//! Text that somebody else wrote, made safe to be read: what would be invisible or change what is around it is shown.

use std::fmt::Write as _;

/// Whether a character cannot be seen, or changes how others are seen.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// `text` with everything hidden written out, as in `<U+202E>`; a tab is a blank.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\t' => shown.push(' '),
            hidden if is_hidden(hidden) => {
                // Writing to a string cannot fail.
                let _ = write!(shown, "<U+{:04X}>", u32::from(hidden));
            }
            plain => shown.push(plain),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_written_out_and_what_is_seen_stays() {
        assert_eq!(visible("a\tb é 字 🙂 │"), "a b é 字 🙂 │");
        assert_eq!(visible("\u{1b}]0;x\u{7}\u{9b}"), "<U+001B>]0;x<U+0007><U+009B>");
        assert_eq!(visible("\u{202e}\u{2066}\u{200b}\u{feff}"), "<U+202E><U+2066><U+200B><U+FEFF>");
        assert_eq!(visible("a\nb"), "a<U+000A>b");
    }
}
