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

/// JSON of the same value with everything hidden written as escapes: what is hidden stands in strings only, since JSON
/// itself has none but the newlines and blanks between its parts.
pub fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut units = [0; 2];
    for letter in json.chars() {
        if letter != '\n' && is_hidden(letter) {
            for unit in letter.encode_utf16(&mut units) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(letter);
        }
    }
    text
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

    #[test]
    fn what_is_hidden_in_json_is_escaped_and_reads_back_the_same() {
        let value = serde_json::Value::from("a\u{202e}b\u{e0041}\u{7f}\u{9b}\n");
        let text = escaped(&value.to_string());
        assert_eq!(text, "\"a\\u202eb\\udb40\\udc41\\u007f\\u009b\\n\"");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
