//! Commands as one would type them in a shell.

/// A word, quoted where a shell would want it.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A command in one line.
pub fn command_line<S: AsRef<str>>(words: &[S]) -> String {
    words.iter().map(|word| quoted(word.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_written_as_one_would_type_it() {
        assert_eq!(
            command_line(&["make", "it's here", "", "--idle=5m", "größe"]),
            r"make 'it'\''s here' '' --idle=5m größe"
        );
    }
}
