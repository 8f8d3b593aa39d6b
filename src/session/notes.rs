//! What idlewatch says to the person, without disturbing what the command shows.
//!
//! Where the command prints lines and the cursor is at the start of one, a line. Where it draws a screen of its own,
//! the title and the bell, and the command's own title is put back afterwards. Without a terminal, a line on standard
//! error.

use std::collections::VecDeque;

use owo_colors::{OwoColorize, Style};

use crate::config::Say;
use crate::report::{plain, say};

/// How something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// For information.
    Remark,
    /// Something may be wrong.
    Warning,
    /// Something was done about it.
    Act,
}

/// Where the command leaves room for a line of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// There is no terminal.
    NoTerminal,
    /// The cursor is at the start of a line.
    Line,
    /// The command draws, or is in the middle of a line.
    None,
}

/// Says things.
#[derive(Debug)]
pub struct Notes {
    say: Say,
    colour: bool,
    /// The terminal understands more than text and the bell.
    titles: bool,
    title: Title,
    /// What is to be said as soon as it is.
    held_back: VecDeque<(Tone, String)>,
    /// What was said in the title alone, and is gone with it.
    unsaid: Option<String>,
}

/// Whose text stands in the title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Title {
    /// The command's.
    Theirs,
    /// Ours.
    Ours,
    /// Ours, to be taken out as soon as the command is between two sequences.
    OursTooLong,
}

/// So much is held back. A command that ends no sequence at all is not told about for ever.
const MOST_HELD_BACK: usize = 8;

impl Notes {
    /// Says as much as was asked for.
    pub fn new(say: Say) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self {
            say,
            colour: !set("NO_COLOR") && !dumb,
            titles: !dumb,
            title: Title::Theirs,
            held_back: VecDeque::new(),
            unsaid: None,
        }
    }

    /// Whether things of this weight are said.
    pub fn says(&self, weight: Say) -> bool {
        self.say >= weight
    }

    /// Says something. Gives the bytes to write to the terminal, if it is said there.
    pub fn tell(&mut self, tone: Tone, text: &str, room: Room) -> Option<Vec<u8>> {
        let text = plain(text);
        match room {
            Room::NoTerminal => {
                say(&text);
                None
            }
            Room::Line => {
                let line = format!("idlewatch: {text}");
                let line = if self.colour { line.style(style(tone)).to_string() } else { line };
                Some(format!("{line}\r\n").into_bytes())
            }
            Room::None if tone == Tone::Remark => None,
            Room::None => {
                if tone == Tone::Warning {
                    self.unsaid = Some(text.clone());
                }
                if !self.titles {
                    return Some(b"\x07".to_vec());
                }
                // The title goes on the terminal's own stack first, to be taken back from there.
                let save = if self.is_titled() { "" } else { "\x1b[22;2t" };
                self.title = Title::Ours;
                let short: String = text.chars().take(120).collect();
                Some(format!("{save}\x1b]2;idlewatch: {short}\x1b\\\x07").into_bytes())
            }
        }
    }

    /// Holds this back: the command is in the middle of a sequence, where nothing can be said.
    pub fn hold_back(&mut self, tone: Tone, text: &str) {
        if self.held_back.len() == MOST_HELD_BACK {
            self.held_back.pop_front();
        }
        self.held_back.push_back((tone, text.to_owned()));
    }

    /// What was held back and can be said now.
    pub fn next_held_back(&mut self) -> Option<(Tone, String)> {
        self.held_back.pop_front()
    }

    /// The last warning that had no line of its own, if there was one.
    pub fn take_unsaid(&mut self) -> Option<String> {
        let held_back = self.held_back.iter().rfind(|(tone, _)| *tone == Tone::Warning);
        held_back.map(|(_, text)| plain(text)).or(self.unsaid.take())
    }

    /// Our text has stood in the title long enough.
    pub fn outlast_title(&mut self) {
        if self.is_titled() {
            self.title = Title::OursTooLong;
        }
    }

    /// Whether our text stands in the title.
    pub fn is_titled(&self) -> bool {
        self.title != Title::Theirs
    }

    /// Whether our text has to go from the title.
    pub fn is_titled_too_long(&self) -> bool {
        self.title == Title::OursTooLong
    }

    /// Takes our text out of the title again; `own` is the command's, if it has set one since.
    pub fn take_back(&mut self, own: Option<&str>) -> Option<Vec<u8>> {
        if std::mem::replace(&mut self.title, Title::Theirs) == Title::Theirs {
            return None;
        }
        let own = own.map(|own| format!("\x1b]2;{}\x1b\\", plain(own))).unwrap_or_default();
        Some(format!("\x1b[23;2t{own}").into_bytes())
    }
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Remark => Style::new().dimmed(),
        Tone::Warning => Style::new().yellow(),
        Tone::Act => Style::new().bold().red(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes() -> Notes {
        Notes { colour: false, titles: true, ..Notes::new(Say::Warnings) }
    }

    #[test]
    fn a_line_is_said_where_there_is_room_for_one() {
        let said = notes().tell(Tone::Warning, "still \x1b[31mhere", Room::Line).unwrap();
        assert_eq!(said, b"idlewatch: still [31mhere\r\n");
    }

    #[test]
    fn over_a_drawn_screen_it_is_the_title_and_the_bell_and_the_title_is_put_back() {
        let mut notes = notes();
        let said = notes.tell(Tone::Warning, "still here", Room::None).unwrap();
        assert_eq!(said, b"\x1b[22;2t\x1b]2;idlewatch: still here\x1b\\\x07");
        assert_eq!(notes.take_back(Some("vim")).unwrap(), b"\x1b[23;2t\x1b]2;vim\x1b\\");
        assert_eq!(notes.take_back(None), None);
        assert_eq!(notes.take_unsaid().as_deref(), Some("still here"));
        assert_eq!(notes.tell(Tone::Remark, "nothing much", Room::None), None);
        let mut dumb = Notes { titles: false, ..notes };
        assert_eq!(dumb.tell(Tone::Warning, "still here", Room::None).unwrap(), b"\x07");
    }
}
