//! The title of the terminal's window: set, put aside and taken back by what is printed.

/// What stands in the title.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Title {
    /// The words.
    pub text: String,
    /// The bell has rung since it was set.
    pub rung: bool,
}

/// Follows the output.
#[derive(Debug, Default)]
pub struct Titles {
    now: Title,
    aside: Vec<Title>,
    within: Within,
}

/// Where in the output we are.
#[derive(Debug, Default)]
enum Within {
    #[default]
    Text,
    Escape,
    /// A control sequence so far.
    Control(String),
    /// An operating system command so far, and whether the last character was an escape.
    Command(String, bool),
}

impl Titles {
    /// What stands there now.
    pub const fn now(&self) -> &Title {
        &self.now
    }

    /// Follows this output.
    pub fn follow(&mut self, output: &str) {
        for c in output.chars() {
            self.within = match (std::mem::take(&mut self.within), c) {
                (Within::Text, '\x07') => {
                    self.now.rung = true;
                    Within::Text
                }
                (Within::Text | Within::Control(_), '\x1b') => Within::Escape,
                (Within::Escape, '[') => Within::Control(String::new()),
                (Within::Escape, ']') => Within::Command(String::new(), false),
                (Within::Text | Within::Escape, _) => Within::Text,
                (Within::Control(sequence), '@'..='~') => {
                    self.control(&sequence, c);
                    Within::Text
                }
                (Within::Control(mut sequence), _) => {
                    sequence.push(c);
                    Within::Control(sequence)
                }
                (Within::Command(command, _), '\x07') | (Within::Command(command, true), '\\') => {
                    self.command(&command);
                    Within::Text
                }
                (Within::Command(command, _), '\x1b') => Within::Command(command, true),
                (Within::Command(mut command, _), _) => {
                    command.push(c);
                    Within::Command(command, false)
                }
            };
        }
    }

    fn command(&mut self, command: &str) {
        if let Some(("0" | "2", text)) = command.split_once(';') {
            self.now = Title { text: idlewatch::report::plain(text), rung: false };
        }
    }

    fn control(&mut self, sequence: &str, last: char) {
        match (sequence, last) {
            ("22;0" | "22;2", 't') => self.aside.push(self.now.clone()),
            ("23;0" | "23;2", 't') => self.now = self.aside.pop().unwrap_or_default(),
            _ => {}
        }
    }
}
