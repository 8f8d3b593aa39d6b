//! The question to the person, over whatever is on the screen.
//!
//! While it is shown nothing of the command's output is passed on, and no key reaches the command but those that interrupt
//! or stop it. On the main screen the terminal's own alternate screen is borrowed, which puts everything back by itself. A
//! program that has the alternate screen already is repainted from a picture of it.

use std::time::Duration;

use nix::sys::termios::{SpecialCharacterIndices as Key, Termios};

use super::Session;
use super::terminal::Terminal;
use crate::exit::Reason;
use crate::report::plain;
use crate::watch::{Keys, Moment, Observation, Order, Size, affordable, allowance};

/// How much longer the command gets.
const MORE_TIME: Duration = Duration::from_mins(15);
/// Keys that come this soon were meant for the command.
const SETTLES: Duration = Duration::from_millis(500);
/// Whatever a program has set that would change where our text goes, or how it looks: scroll region, origin, insert
/// mode, wrapping, line drawing, colours. What was set is set again with the picture.
const PLAIN: &str = "\x1b[r\x1b[?6l\x1b[4l\x1b[?7h\x1b(B\x0f\x1b[m";
/// The keyboard protocol put aside, and back.
const KEYS_AS_THEY_ARE: &[u8] = b"\x1b[>0u";
const KEYS_AS_BEFORE: &[u8] = b"\x1b[<1u";
/// How much of what a full-screen program has drawn is kept to repaint it.
const MOST_KEPT: usize = 1024 * 1024;
/// How many characters a picture may have that are only counted.
const MOST_REPEATED: usize = 256 * 1024;

/// A prompt that is open.
#[derive(Debug)]
pub struct Prompt {
    question: String,
    /// When it was opened: keys that were on their way to the command are no answer.
    opened: Moment,
    /// The command has the alternate screen itself.
    over_drawing: bool,
    /// Keys came to the command in a way of its own, which we do not read: until it is closed they come as they are.
    keyboard: bool,
    /// It stands on the screen; otherwise it waits until the command has finished a sequence that it is in the middle of.
    shown: bool,
    /// What was typed since, which may be cut anywhere.
    keys: Keys,
}

impl Prompt {
    fn new(question: String) -> Self {
        let (opened, keys) = (Moment::START, Keys::default());
        Self { question, opened, over_drawing: false, keyboard: false, shown: false, keys }
    }

    /// Whether it covers what the command shows.
    pub const fn is_shown(&self) -> bool {
        self.shown
    }

    /// What the person answers who typed this. An arrow or a paste is no answer, and no part of one is.
    fn answer(&mut self, now: Moment, typed: &[u8]) -> Option<Answer> {
        // Also what comes too soon: the rest of it may not.
        let letter = self.keys.lone_letter(now, typed).filter(|_| now.since(self.opened) >= SETTLES)?;
        match letter.to_ascii_lowercase() {
            b'e' => Some(Answer::Do(Order::Extend(MORE_TIME))),
            b'k' => Some(Answer::Do(Order::Stop)),
            b'a' => Some(Answer::Do(Order::Abort)),
            b's' => Some(Answer::Show),
            _ => None,
        }
    }
}

/// What the person answers.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    /// This is to be done.
    Do(Order),
    /// The status is to be shown.
    Show,
}

/// What a full-screen program has drawn since it took the screen; kept only where a prompt may have to cover it.
#[derive(Debug, Default)]
pub struct Drawn {
    bytes: Vec<u8>,
    /// How much of that is a picture already.
    pictured: usize,
}

impl Drawn {
    /// Adds output; `alternate` is whether the alternate screen is shown after it, `size` is that of the screen.
    pub fn add(&mut self, bytes: &[u8], alternate: bool, size: Size) {
        if !alternate {
            self.bytes.clear();
            self.pictured = 0;
            return;
        }
        self.bytes.extend_from_slice(bytes);
        // The picture of a large screen may be longer than that, and is not painted anew for a little more.
        if self.bytes.len() > MOST_KEPT + 2 * self.pictured {
            // The picture itself says the same in less. A character that is cut in two stays for the next time.
            let whole = match std::str::from_utf8(&self.bytes) {
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                _ => self.bytes.len(),
            };
            let rest = self.bytes.split_off(whole);
            self.bytes = self.picture(size).into_bytes();
            self.pictured = self.bytes.len();
            self.bytes.extend(rest);
        }
    }

    /// What draws the same on an empty terminal of this size.
    fn picture(&self, size: Size) -> String {
        let text = spelled_out(&String::from_utf8_lossy(&self.bytes), size.cols.into());
        let painted = std::panic::catch_unwind(|| {
            let mut terminal = avt::Terminal::new(size.cols.into(), size.rows.into()).ok()?;
            terminal.feed(deciding_parts(&text, size));
            Some(terminal.dump())
        });
        painted.ok().flatten().unwrap_or_default()
    }

    /// What brings this picture back onto an alternate screen of this size.
    fn repaint(&self, size: Size) -> Vec<u8> {
        let painted = self.picture(size);
        // What comes before belongs to the other screen, which the terminal still has.
        let picture = painted.split_once("\x1b[?1047h").map_or(painted.as_str(), |(_, picture)| picture);
        format!("{PLAIN}\x1b[2J\x1b[H{}", spelled_out(picture, size.cols.into())).into_bytes()
    }
}

/// What leaves the same picture: whoever prints nothing but what makes an emulator clear the screen would hold up the relay
/// for seconds.
fn deciding_parts(text: &str, size: Size) -> Vec<&str> {
    affordable(text, size, true, &mut allowance(size)).unwrap_or_else(|| vec![text])
}

/// The same without repeat counts: not every terminal knows them, and 65535 of them cost an emulator seconds. A row is
/// the most that anybody draws with one, and all together are bounded.
fn spelled_out(text: &str, cols: usize) -> String {
    let mut spelled = String::with_capacity(text.len());
    let (mut rest, mut budget) = (text, MOST_REPEATED);
    while let Some(at) = rest.find("\x1b[") {
        let (printed, sequence) = rest.split_at(at);
        spelled.push_str(printed);
        let parameters = sequence[2..].bytes().take_while(|byte| (0x20..0x40).contains(byte)).count();
        let last = sequence.as_bytes().get(2 + parameters);
        let end = 2 + parameters + usize::from(last.is_some_and(u8::is_ascii));
        if last == Some(&b'b') {
            let count: usize = sequence[2..2 + parameters].parse().unwrap_or(1);
            // It repeats what was printed right before it.
            if let Some(letter) = printed.chars().next_back().filter(|letter| !letter.is_control()) {
                let count = count.min(cols).min(budget);
                spelled.extend(std::iter::repeat_n(letter, count));
                budget -= count;
            }
        } else {
            spelled.push_str(&sequence[..end]);
        }
        rest = &sequence[end..];
    }
    spelled + rest
}

impl Session {
    pub(super) fn open_prompt(&mut self, about: Reason, evidence: &str) {
        if self.outer.lent.is_some() {
            // The command reads the keys itself.
            return self.observe(&Observation::Unasked);
        }
        if !self.outer.terminal.as_ref().is_some_and(Terminal::is_raw) {
            // In a pipeline we have left the terminal to the others so far.
            self.come_to_front();
        }
        if !self.outer.terminal.as_ref().is_some_and(Terminal::is_raw) {
            return self.observe(&Observation::Unasked);
        }
        let question = format!("{}: {}", about.meaning(), plain(evidence));
        self.prompt = Some(Prompt::new(question));
        self.show_prompt();
    }

    /// Shows a prompt that has waited for this, if it now can be.
    pub(super) fn show_prompt(&mut self) {
        let (now, over_drawing) = (self.clock.now(), self.flow.modes.is_alternate());
        let Some(prompt) = self.prompt.as_mut().filter(|prompt| !prompt.shown) else { return };
        if !self.flow.modes.is_between_sequences() {
            return;
        }
        (prompt.opened, prompt.over_drawing, prompt.shown) = (now, over_drawing, true);
        // A screen that is borrowed has a keyboard of its own.
        prompt.keyboard = over_drawing && self.flow.modes.has_keyboard();
        match (over_drawing, prompt.keyboard) {
            (false, _) => self.show(b"\x1b[?1049h"),
            (true, true) => self.show(KEYS_AS_THEY_ARE),
            (true, false) => {}
        }
        self.draw_prompt("");
    }

    fn draw_prompt(&mut self, status: &str) {
        let Some(prompt) = &self.prompt else { return };
        // Of the main screen nothing is set again, so nothing of it may be changed.
        let plain_screen = if prompt.over_drawing { PLAIN } else { "\x1b[m" };
        let mut text = format!("{plain_screen}\x1b[2J\x1b[H\r\n  idlewatch\r\n\r\n  {}\r\n\r\n", prompt.question);
        text.push_str("  [e] extend by 15 minutes\r\n  [s] show status\r\n");
        text.push_str("  [k] kill and skip\r\n  [a] kill and abort\r\n\r\n");
        text.push_str("  If you do not answer within a minute, the next step is taken.\r\n");
        for line in status.lines() {
            text.extend(["\r\n  ", &plain(line)]);
        }
        self.show(text.as_bytes());
    }

    /// The keys of the person who answers.
    pub(super) fn answer_prompt(&mut self, typed: &[u8]) {
        let now = self.clock.now();
        let found = self.outer.terminal.as_ref().and_then(Terminal::found);
        if let Some(signal) = found.and_then(|found| first_signal(found, typed)) {
            // As everywhere: they are for the command, which is seen again.
            self.close_prompt();
            return self.pass_keys(&typed[signal..]);
        }
        match self.prompt.as_mut().and_then(|prompt| prompt.answer(now, typed)) {
            Some(Answer::Do(order)) => {
                self.close_prompt();
                self.observe(&Observation::Told(order));
            }
            Some(Answer::Show) => {
                let status = self.watcher.explain(now);
                self.draw_prompt(&status);
            }
            None => {}
        }
    }

    pub(super) fn close_prompt(&mut self) {
        let Some(prompt) = self.prompt.take().filter(Prompt::is_shown) else { return };
        if prompt.keyboard {
            self.show(KEYS_AS_BEFORE);
        }
        if prompt.over_drawing {
            let size = self.screen_size();
            let repaint = self.drawn.as_ref().map(|drawn| drawn.repaint(size)).unwrap_or_default();
            self.show(&repaint);
        } else {
            self.show(b"\x1b[?1049l");
        }
    }

    /// Only takes the prompt away: what it covered may be what could not be painted.
    pub(super) fn uncover_screen(&mut self) {
        let Some(prompt) = self.prompt.take().filter(Prompt::is_shown) else { return };
        if prompt.keyboard {
            self.show(KEYS_AS_BEFORE);
        }
        if !prompt.over_drawing {
            self.show(b"\x1b[?1049l");
        }
    }

    /// Whether the prompt is on the screen.
    #[cfg(debug_assertions)]
    pub(super) fn asks(&self) -> bool {
        self.prompt.as_ref().is_some_and(Prompt::is_shown)
    }

    pub(super) fn screen_size(&self) -> Size {
        let size = self.outer.terminal.as_ref().and_then(Terminal::size);
        size.map_or(Size::ASSUMED, |size| Size { cols: size.cols, rows: size.rows }).drawn()
    }

    fn show(&mut self, bytes: &[u8]) {
        if let Some(screen) = self.outer.screen {
            self.flow.sinks[screen].take(bytes);
        }
    }
}

/// Where the first of these keys is that interrupts, ends or stops.
fn first_signal(settings: &Termios, typed: &[u8]) -> Option<usize> {
    let set = [Key::VINTR, Key::VQUIT, Key::VSUSP].map(|key| settings.control_chars[key as usize]);
    typed.iter().position(|key| *key != libc::_POSIX_VDISABLE && set.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { cols: 20, rows: 6 };

    fn text_of(terminal: &avt::Terminal) -> Vec<String> {
        (0..6).map(|row| terminal.screen().line(row).map(|line| line.text().trim_end().to_owned()).unwrap()).collect()
    }

    #[test]
    fn a_letter_of_its_own_answers_and_a_part_of_an_arrow_does_not() {
        let at = |milliseconds| Moment::after_start(Duration::from_millis(milliseconds));
        let mut prompt = Prompt::new(String::new());
        prompt.opened = at(100);
        for (moment, typed, answer) in [
            // Too soon, like the beginning of the arrow that goes on when it is no longer.
            (500, "k", None),
            (598, "\x1b", None),
            (601, "[", None),
            (604, "A", None),
            (610, "make a plan", None),
            (620, "x", None),
            (630, "S", Some(Answer::Show)),
            (640, "e", Some(Answer::Do(Order::Extend(MORE_TIME)))),
            (650, "k", Some(Answer::Do(Order::Stop))),
            (660, "a", Some(Answer::Do(Order::Abort))),
            (670, "\x1b", None),
            (680, "k", None),
            (690, "\x1b", None),
            (790, "k", Some(Answer::Do(Order::Stop))),
        ] {
            assert_eq!(prompt.answer(at(moment), typed.as_bytes()), answer, "{typed:?} at {moment}");
        }
    }

    #[test]
    fn a_covered_screen_is_repainted_as_it_was() {
        let drawing =
            "\x1b[?1049h\x1b[2J\x1b[1;1H\x1b[31mred\x1b[0m\x1b[3;5Hmiddle\x1b[6;1H\x1b[7mstatus\x1b[m\x1b[2;2H";
        let mut before = avt::Terminal::new(20, 6).unwrap();
        before.feed([drawing]);
        let mut drawn = Drawn::default();
        drawn.add(drawing.as_bytes(), true, SIZE);
        let mut covered = avt::Terminal::new(20, 6).unwrap();
        covered.feed([drawing]);
        covered.feed(["\x1b[m\x1b[2J\x1b[Hmenu\r\nmenu\r\nmenu"]);
        let repaint = String::from_utf8(drawn.repaint(SIZE)).unwrap();
        covered.feed([repaint.as_str()]);
        assert_eq!(text_of(&covered), text_of(&before));
        assert_eq!(covered.cursor_position(), before.cursor_position());
        assert_eq!(covered.active_screen_kind(), avt::ScreenKind::Alternate);
        assert_eq!(covered.dump(), before.dump());
    }

    #[test]
    fn scroll_regions_long_runs_and_the_text_before_it_do_not_spoil_the_picture() {
        let drawing = "$ vim\r\n\x1b[?1049h\x1b[2J\x1b[2;4r\x1b[?6h\x1b[4h\x1b[1;1Htop of the region\x1b[?6l\
                       \x1b[6;1H--------------------\x1b[3;3H";
        let mut before = avt::Terminal::new(20, 6).unwrap();
        before.feed([drawing]);
        let mut drawn = Drawn::default();
        drawn.add(drawing.as_bytes(), true, SIZE);
        let mut covered = avt::Terminal::new(20, 6).unwrap();
        covered.feed([drawing, PLAIN, "\x1b[2J\x1b[Hmenu\r\nmenu\r\nmenu\r\nmenu\r\nmenu\r\nmenu"]);
        let repaint = String::from_utf8(drawn.repaint(SIZE)).unwrap();
        assert!(repaint.contains("--------------------"), "{repaint:?}");
        covered.feed([repaint.as_str()]);
        assert_eq!(text_of(&covered), text_of(&before));
        assert_eq!(covered.dump(), before.dump());
    }

    #[test]
    fn a_long_drawing_is_kept_as_a_picture() {
        let mut drawn = Drawn::default();
        let mut terminal = avt::Terminal::new(20, 6).unwrap();
        terminal.feed(["\x1b[?1049h\x1b[31m"]);
        drawn.add(b"\x1b[?1049h\x1b[31m", true, SIZE);
        for row in 0..200_000 {
            let line = format!("\x1b[{};1Hrow ü {row}", row % 6 + 1);
            terminal.feed([line.as_str()]);
            let (one, two) = line.as_bytes().split_at(10);
            drawn.add(one, true, SIZE);
            drawn.add(two, true, SIZE);
        }
        assert!(drawn.bytes.len() <= MOST_KEPT);
        let mut repainted = avt::Terminal::new(20, 6).unwrap();
        repainted.feed(["\x1b[?1047h", &String::from_utf8(drawn.repaint(SIZE)).unwrap()]);
        assert_eq!(text_of(&repainted), text_of(&terminal));
        assert_eq!(repainted.cursor_position(), terminal.cursor_position());
    }

    #[test]
    fn of_a_flood_that_clears_the_screen_only_as_much_is_painted_as_leaves_the_same_picture() {
        let size = Size { cols: 200, rows: 50 };
        for (before, clears) in [("", "\x1b[2J"), ("\x1b[31mred", "\x1b[2J\x1b[H"), ("", "\x1b[H\x1b[Jx\r\n")] {
            let flood = format!("\x1b[?1049h{before}{}\x1b[3;3Hlast", clears.repeat(MOST_KEPT / clears.len()));
            let parts = deciding_parts(&flood, size);
            let painted: usize = parts.iter().map(|part| part.matches('J').count()).sum();
            // What is worth the length of the flood, and not what it holds.
            assert!((1..flood.len() / 100).contains(&painted), "{painted} of {clears:?}");
            let shown = |parts: &[&str]| {
                let mut terminal = avt::Terminal::new(size.cols.into(), size.rows.into()).unwrap();
                terminal.feed(parts.iter().copied());
                terminal.dump()
            };
            let end = format!("\x1b[?1049h{before}{}\x1b[3;3Hlast", clears.repeat(100));
            assert_eq!(shown(&parts), shown(&[&end]), "{clears:?}");
        }
    }

    #[test]
    fn a_picture_that_is_longer_than_what_is_kept_is_not_painted_for_every_byte() {
        let size = Size { cols: 500, rows: 300 };
        let mut drawn = Drawn::default();
        // Each letter looks different from the one before it.
        let letters: Vec<String> = (0..150_000).map(|letter| format!("\x1b[38;5;{}mx", letter % 256)).collect();
        drawn.add(format!("\x1b[?1049h{}", letters.concat()).as_bytes(), true, size);
        let pictured = drawn.pictured;
        assert!(pictured > MOST_KEPT, "{pictured}");
        for _ in 0..100 {
            let before = drawn.bytes.len();
            drawn.add(b"more", true, size);
            assert_eq!((drawn.pictured, drawn.bytes.len()), (pictured, before + 4));
        }
    }

    #[test]
    fn leaving_the_screen_forgets_the_picture() {
        let mut drawn = Drawn::default();
        drawn.add(b"x", true, SIZE);
        drawn.add(b"y", false, SIZE);
        assert!(drawn.bytes.is_empty());
    }

    #[test]
    fn repeats_are_spelled_out_and_bounded() {
        assert_eq!(spelled_out("a\x1b[2bc\x1b[31md\x1b[K\x1b[b", 80), "aaac\x1b[31md\x1b[K");
        assert_eq!(spelled_out("x\x1b[65535b", 8).len(), 9);
        let flood = "x\x1b[65535b".repeat(10_000);
        assert!(spelled_out(&flood, 1000).len() < flood.len() + MOST_REPEATED + 1000);
    }
}
