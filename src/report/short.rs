//! Texts of any length, cut so that they stay bearable.

/// The text, cut after so many bytes.
pub fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(longest)])
}

/// The words, each cut after `longest` bytes and all of them after `most`.
pub fn cut_all(words: impl Iterator<Item = impl AsRef<str>>, most: usize, longest: usize) -> Vec<String> {
    let mut left = most;
    let mut kept = Vec::new();
    for word in words {
        if left == 0 {
            kept.push("…".to_owned());
            break;
        }
        let word = cut(word.as_ref(), longest.min(left));
        left = left.saturating_sub(word.len().max(1));
        kept.push(word);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_between_letters_and_short_texts_stay() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("aéb", 2), "a…");
        assert_eq!(cut_all(["ab", "cd"].iter(), 10, 5), ["ab", "cd"]);
        assert_eq!(cut_all(["abc", "defgh", "i", "j"].iter(), 5, 4), ["abc", "de…", "…"]);
        assert_eq!(cut_all(["", "", "", ""].iter(), 2, 4), ["", "", "…"]);
    }
}
