//! The question to the person, over whatever is on the screen.
//!
//! While it is shown nothing of the command's output is passed on and no key reaches the command. On the main screen
//! the terminal's own alternate screen is borrowed, which puts everything back by itself. A program that has the
//! alternate screen already is repainted from a picture of it.

use std::time::Duration;

use super::Session;
use super::terminal::Terminal;
use crate::exit::Reason;
use crate::report::plain;
use crate::watch::{Moment, Observation, Order};

/// How much longer the command gets.
const MORE_TIME: Duration = Duration::from_mins(15);
/// Keys that come this soon were meant for the command.
const SETTLES: Duration = Duration::from_millis(500);
/// How much of what a full-screen program has drawn is kept to repaint it.
const MOST_KEPT: usize = 1024 * 1024;

/// A prompt that is open.
#[derive(Debug)]
pub struct Prompt {
    question: String,
    /// When it was opened: keys that were on their way to the command are no answer.
    opened: Moment,
    /// The command has the alternate screen itself.
    over_drawing: bool,
}

/// What a full-screen program has drawn since it took the screen; kept only where a prompt may have to cover it.
#[derive(Debug, Default)]
pub struct Drawn(Vec<u8>);

impl Drawn {
    /// Adds output; `alternate` is whether the alternate screen is shown after it.
    pub fn add(&mut self, bytes: &[u8], alternate: bool) {
        if !alternate {
            self.0.clear();
            return;
        }
        self.0.extend_from_slice(bytes);
        if self.0.len() > MOST_KEPT {
            // Programs repaint all the time: the later half is nearly always enough.
            self.0.drain(..MOST_KEPT / 2);
        }
    }

    /// What brings this picture back onto an alternate screen of this size.
    fn repaint(&self, cols: usize, rows: usize) -> Vec<u8> {
        let text = without_repeats(&String::from_utf8_lossy(&self.0));
        let painted = std::panic::catch_unwind(|| {
            let mut terminal = avt::Terminal::new(cols.max(2), rows.max(1)).ok()?;
            terminal.feed([text.as_str()]);
            Some(terminal.dump())
        });
        let mut bytes = b"\x1b[m\x1b[2J\x1b[H".to_vec();
        bytes.extend(painted.ok().flatten().unwrap_or_default().into_bytes());
        bytes
    }
}

/// A repeat count of 65535 costs an emulator seconds; nobody draws with it.
fn without_repeats(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        kept.push_str(&rest[..at]);
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + 2 + digits;
        if rest.as_bytes().get(end) == Some(&b'b') {
            rest = &rest[end + 1..];
        } else {
            kept.push_str(&rest[at..end]);
            rest = &rest[end..];
        }
    }
    kept + rest
}

impl Session {
    pub(super) fn open_prompt(&mut self, about: Reason, evidence: &str) {
        if !self.terminal.as_ref().is_some_and(Terminal::is_raw) {
            // In a pipeline we have left the terminal to the others so far.
            self.come_to_front();
        }
        if !self.terminal.as_ref().is_some_and(Terminal::is_raw) || !self.modes.is_between_sequences() {
            return;
        }
        let question = format!("{}: {}", about.meaning(), plain(evidence));
        let over_drawing = self.modes.is_alternate();
        self.prompt = Some(Prompt { question, opened: self.clock.now(), over_drawing });
        if !over_drawing {
            self.show(b"\x1b[?1049h");
        }
        self.draw_prompt("");
    }

    fn draw_prompt(&mut self, status: &str) {
        let Some(prompt) = &self.prompt else { return };
        let mut text = format!("\x1b[m\x1b[2J\x1b[H\r\n  idlewatch\r\n\r\n  {}\r\n\r\n", prompt.question);
        text.push_str("  [e] extend by 15 minutes\r\n  [s] show status\r\n");
        text.push_str("  [k] kill and skip\r\n  [a] kill and abort\r\n\r\n");
        text.push_str("  Without an answer within a minute the next step is taken.\r\n");
        for line in status.lines() {
            text.extend(["\r\n  ", &plain(line)]);
        }
        self.show(text.as_bytes());
    }

    /// The keys of the person who answers.
    pub(super) fn answer_prompt(&mut self, keys: &[u8]) {
        let now = self.clock.now();
        let settled = self.prompt.as_ref().is_some_and(|prompt| now.since(prompt.opened) >= SETTLES);
        // More than one byte at a time is an arrow or a paste, and no answer.
        let ([key], true) = (keys, settled) else { return };
        let order = match key.to_ascii_lowercase() {
            b'e' => Order::Extend(MORE_TIME),
            b'k' => Order::Stop,
            b'a' => Order::Abort,
            b's' => {
                let status = self.watcher.explain(now);
                return self.draw_prompt(&status);
            }
            _ => return,
        };
        self.close_prompt();
        self.observe(&Observation::Told(order));
    }

    pub(super) fn close_prompt(&mut self) {
        let Some(prompt) = self.prompt.take() else { return };
        if prompt.over_drawing {
            let size = self.terminal.as_ref().and_then(Terminal::size);
            let (cols, rows) = size.map_or((80, 24), |size| (size.cols.into(), size.rows.into()));
            let repaint = self.drawn.as_ref().map(|drawn| drawn.repaint(cols, rows)).unwrap_or_default();
            self.show(&repaint);
        } else {
            self.show(b"\x1b[?1049l");
        }
    }

    fn show(&mut self, bytes: &[u8]) {
        if let Some(screen) = self.screen {
            self.sinks[screen].take(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(terminal: &avt::Terminal) -> Vec<String> {
        (0..6).map(|row| terminal.screen().line(row).map(|line| line.text().trim_end().to_owned()).unwrap()).collect()
    }

    #[test]
    fn a_covered_screen_is_repainted_as_it_was() {
        let drawing =
            "\x1b[?1049h\x1b[2J\x1b[1;1H\x1b[31mred\x1b[0m\x1b[3;5Hmiddle\x1b[6;1H\x1b[7mstatus\x1b[m\x1b[2;2H";
        let mut before = avt::Terminal::new(20, 6).unwrap();
        before.feed([drawing]);
        let mut drawn = Drawn::default();
        drawn.add(drawing.as_bytes(), true);
        let mut covered = avt::Terminal::new(20, 6).unwrap();
        covered.feed([drawing]);
        covered.feed(["\x1b[m\x1b[2J\x1b[Hmenu\r\nmenu\r\nmenu"]);
        let repaint = String::from_utf8(drawn.repaint(20, 6)).unwrap();
        covered.feed([repaint.as_str()]);
        assert_eq!(text_of(&covered), text_of(&before));
        assert_eq!(covered.cursor_position(), before.cursor_position());
        assert_eq!(covered.active_screen_kind(), avt::ScreenKind::Alternate);
        assert_eq!(covered.dump(), before.dump());
    }

    #[test]
    fn leaving_the_screen_forgets_the_picture() {
        let mut drawn = Drawn::default();
        drawn.add(b"x", true);
        drawn.add(b"y", false);
        assert!(drawn.0.is_empty());
    }

    #[test]
    fn repeats_are_left_out() {
        assert_eq!(without_repeats("a\x1b[65535bc\x1b[31md\x1b[K\x1b[b"), "ac\x1b[31md\x1b[K");
    }
}
