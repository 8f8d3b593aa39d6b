//! A line for a shell, taken apart into the commands in it: as much of its language as tells a command from an argument.

/// Words that a command may stand behind.
const KEYWORDS: [&str; 11] = ["if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "fi"];

/// The commands in `script`, each with its arguments, quotes taken away.
pub(super) fn simple_commands(script: &str) -> Vec<Vec<String>> {
    let mut reader = Reader::default();
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match (reader.quote, c) {
            (Some(quote), _) if c == quote => reader.quote = None,
            (None, '\'' | '"') => {
                reader.quote = Some(c);
                reader.word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                if let Some(next) = chars.next().filter(|next| *next != '\n') {
                    reader.add(next);
                }
            }
            // A substitution runs what is in it, also within double quotes.
            (None | Some('"'), '$') if chars.peek() == Some(&'(') => {
                chars.next();
                reader.quote = None;
                reader.end_command();
            }
            (Some(_), _) => reader.add(c),
            (None, '#') if reader.word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
            (None, '<' | '>') => {
                // The number of a descriptor belongs to what follows it.
                reader.word.take_if(|word| word.chars().all(|c| c.is_ascii_digit()));
                reader.end_word();
                reader.redirects = true;
                while chars.next_if(|c| matches!(c, '<' | '>' | '&' | '|')).is_some() {}
            }
            (None, ';' | '&' | '|' | '\n' | '(' | ')' | '`') => reader.end_command(),
            (None, c) if c.is_whitespace() => reader.end_word(),
            (None, c) => reader.add(c),
        }
    }
    reader.end_command();
    reader.commands
}

#[derive(Default)]
struct Reader {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    quote: Option<char>,
    /// The next word is a file to read or write.
    redirects: bool,
}

impl Reader {
    fn add(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        let is_keyword = self.words.is_empty() && KEYWORDS.contains(&word.as_str());
        if !std::mem::take(&mut self.redirects) && !is_keyword {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirects = false;
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_their_arguments() {
        let commands = |script: &str| {
            let words = |words: &Vec<String>| words.join("|");
            simple_commands(script).iter().map(words).collect::<Vec<_>>().join(" / ")
        };
        assert_eq!(
            commands("cd 'my dir' && claude -p \"go; on\" 2>&1 | tee log"),
            "cd|my dir / claude|-p|go; on / tee|log"
        );
        assert_eq!(commands("while ! claude; do sleep 1; done"), "claude / sleep|1 / done");
        assert_eq!(commands("x=$(claude -p hi) >out"), "x= / claude|-p|hi");
        assert_eq!(commands("echo a\\;b # claude\ncodex <in"), "echo|a;b / codex");
        assert_eq!(commands("echo 'unfinished claude"), "echo|unfinished claude");
        assert_eq!(commands(""), "");
    }
}
