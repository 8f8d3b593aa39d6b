//! Which terminal modes the command has switched on and not off again.
//!
//! A crash, a kill or a careless exit leaves them on, and the shell afterwards is unusable: mouse reports at the
//! prompt, no cursor, the alternate screen. Exactly what was left on is undone, nothing else.

mod csi;

use std::fmt::Write;

use memchr::{memchr2, memchr3, memrchr};

use self::csi::Csi;
use crate::watch::scan;

/// Private modes that matter to whoever uses the terminal next, with their usual state.
const PRIVATE: &[(u16, bool)] = &[
    (2026, false), // synchronized update: first, or nothing after it would be shown
    (1, false),    // application cursor keys
    (5, false),    // reverse video
    (6, false),    // origin mode
    (7, true),     // autowrap
    (9, false),    // mouse: X10
    (1000, false), // mouse: buttons
    (1001, false), // mouse: highlight
    (1002, false), // mouse: drag
    (1003, false), // mouse: motion
    (1004, false), // focus events
    (1005, false), // mouse: UTF-8 coordinates
    (1006, false), // mouse: SGR coordinates
    (1015, false), // mouse: urxvt coordinates
    (1016, false), // mouse: pixel coordinates
    (2004, false), // bracketed paste
    (2031, false), // colour scheme reports
    (2048, false), // resize reports
    (47, false),   // alternate screen, in its three forms
    (1047, false),
    (1049, false),
    (25, true), // the cursor is shown; after the alternate screen, which may have its own
];

/// Follows the command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modes {
    parser: Parser,
    /// The control sequence that is being read, while one is.
    csi: Csi,
    now: State,
    /// What XTSAVE has put aside.
    saved: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the terminal's, independent of the others")]
struct State {
    /// One bit for each entry of [`PRIVATE`] that is not in its usual state.
    unusual: u32,
    /// Character attributes that are on, one bit for each kind.
    attributes: u16,
    /// Entries on the keyboard protocol's stack, of the main and of the alternate screen.
    keyboard_stack: [u8; 2],
    /// Keyboard protocol flags that were set without a stack entry.
    keyboard_flags: [bool; 2],
    /// xterm's modifyOtherKeys.
    modify_keys: bool,
    /// Application keypad.
    keypad: bool,
    /// A cursor shape.
    shape: bool,
    /// G0 holds line-drawing characters.
    drawing: bool,
    /// G1 is in use.
    shifted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Parser {
    #[default]
    Ground,
    Escape,
    /// ESC followed by an intermediate byte.
    Intermediate(u8),
    Csi,
    /// OSC, DCS, APC, PM or SOS: text until its end.
    Text,
    /// ESC inside of such a text.
    TextEscape,
}

impl Default for Modes {
    fn default() -> Self {
        Self { parser: Parser::Ground, csi: Csi::default(), now: State::default(), saved: State::default() }
    }
}

impl Modes {
    /// Follows these bytes.
    pub fn follow(&mut self, mut bytes: &[u8]) {
        let after_reset = bytes.len() - last_reset(bytes);
        let shifts = memchr2(0x0e, 0x0f, bytes).is_some();
        while !bytes.is_empty() {
            if self.parser == Parser::Ground {
                bytes = if shifts {
                    &bytes[memchr3(0x1b, 0x0e, 0x0f, bytes).unwrap_or(bytes.len())..]
                } else {
                    &bytes[scan::escape(bytes)..]
                };
                let reset = bytes.len() > after_reset;
                if let Some((length, last)) = scan::numbers(bytes)
                    && (last != b'm' || reset)
                {
                    // It moves or erases; or it sets attributes, which are reset later.
                    bytes = &bytes[length..];
                    continue;
                }
                if bytes.is_empty() {
                    return;
                }
                if let Some(rest) = self.whole(bytes) {
                    bytes = rest;
                    continue;
                }
            } else if self.parser == Parser::Text {
                // A picture or a clipboard can be megabytes of nothing that matters.
                match bytes.iter().position(|byte| matches!(byte, 0x1b | 0x07 | 0x18 | 0x1a)) {
                    None => return,
                    Some(at) => bytes = &bytes[at..],
                }
            }
            self.step(bytes[0]);
            bytes = &bytes[1..];
        }
    }

    /// Reads a control sequence that is there from beginning to end, as nearly all are. Gives what follows it.
    fn whole<'b>(&mut self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let body = bytes.strip_prefix(b"\x1b[")?;
        let end = body.iter().position(|byte| !matches!(byte, 0x20..=0x3f))?;
        let last = body[end];
        if !matches!(last, 0x40..=0x7e) {
            return None;
        }
        // Of the others, which move and erase, nothing is kept.
        if matches!(last, b'h' | b'l' | b's' | b'r' | b'u' | b'm' | b'q' | b'p') {
            let mut csi = Csi::default();
            body[..end].iter().for_each(|byte| csi.take(*byte));
            self.apply(&csi, last);
        }
        Some(&body[end + 1..])
    }

    /// Whether the alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.screen() == 1
    }

    /// Whether the program has asked for bracketed paste.
    pub fn is_paste_bracketed(&self) -> bool {
        self.now.unusual & bit(2004) != 0
    }

    /// Whether something can be put in between without breaking a sequence.
    pub fn is_between_sequences(&self) -> bool {
        self.parser == Parser::Ground
    }

    /// What has to be written to undo what was left on; nothing if nothing was.
    pub fn undo(&self) -> Vec<u8> {
        let (state, mut text) = (&self.now, String::new());
        if state.unusual & bit(2026) != 0 {
            text.push_str("\x1b[?2026l");
        }
        if self.screen() == 1 {
            self.undo_keyboard(1, &mut text);
            for mode in [47, 1047, 1049] {
                if state.unusual & bit(mode) != 0 {
                    let _ = write!(text, "\x1b[?{mode}l");
                }
            }
        }
        self.undo_keyboard(0, &mut text);
        for (index, (mode, usual)) in PRIVATE.iter().enumerate() {
            if state.unusual & (1 << index) != 0 && !matches!(mode, 2026 | 47 | 1047 | 1049) {
                let _ = write!(text, "\x1b[?{mode}{}", if *usual { 'h' } else { 'l' });
            }
        }
        for (left, undo) in [
            (state.modify_keys, "\x1b[>4m"),
            (state.keypad, "\x1b>"),
            (state.shape, "\x1b[0 q"),
            (state.drawing, "\x1b(B"),
            (state.shifted, "\x0f"),
            (state.attributes != 0, "\x1b[m"),
        ] {
            if left {
                text.push_str(undo);
            }
        }
        if !text.is_empty() && self.parser != Parser::Ground {
            // Cut off in the middle of a sequence: end that first.
            text.insert(0, '\x18');
        }
        text.into_bytes()
    }

    /// Each screen has a keyboard stack of its own, which can only be emptied while that screen is shown.
    fn undo_keyboard(&self, screen: usize, text: &mut String) {
        if self.now.keyboard_stack[screen] > 0 {
            let _ = write!(text, "\x1b[<{}u", self.now.keyboard_stack[screen]);
        }
        if self.now.keyboard_flags[screen] {
            text.push_str("\x1b[=0u");
        }
    }

    /// 1 while the alternate screen is shown.
    fn screen(&self) -> usize {
        usize::from(self.now.unusual & (bit(47) | bit(1047) | bit(1049)) != 0)
    }

    fn step(&mut self, byte: u8) {
        self.parser = match (self.parser, byte) {
            (Parser::Text, 0x1b) => Parser::TextEscape,
            (Parser::Text, 0x07 | 0x18 | 0x1a) | (Parser::TextEscape, b'\\') => Parser::Ground,
            (Parser::Text, _) => Parser::Text,
            (_, 0x1b) => Parser::Escape,
            (_, 0x18 | 0x1a) => Parser::Ground,
            (Parser::Ground, _) => {
                match byte {
                    0x0e => self.now.shifted = true,
                    0x0f => self.now.shifted = false,
                    _ => {}
                }
                Parser::Ground
            }
            // ESC in a text that is not its end begins a new sequence.
            (Parser::Escape | Parser::TextEscape, _) => self.escape(byte),
            (Parser::Intermediate(first), 0x30..=0x7e) => {
                if first == b'(' {
                    self.now.drawing = byte == b'0';
                }
                Parser::Ground
            }
            (Parser::Intermediate(first), _) => Parser::Intermediate(first),
            (Parser::Csi, 0x40..=0x7e) => {
                let csi = std::mem::take(&mut self.csi);
                self.apply(&csi, byte);
                Parser::Ground
            }
            (Parser::Csi, _) => {
                self.csi.take(byte);
                Parser::Csi
            }
        };
    }

    fn escape(&mut self, byte: u8) -> Parser {
        match byte {
            b'[' => {
                self.csi = Csi::default();
                Parser::Csi
            }
            b']' | b'P' | b'_' | b'^' | b'X' => Parser::Text,
            0x20..=0x2f => Parser::Intermediate(byte),
            b'c' => {
                self.now = State::default();
                Parser::Ground
            }
            b'=' | b'>' => {
                self.now.keypad = byte == b'=';
                Parser::Ground
            }
            0x00..=0x1f => Parser::Escape,
            _ => Parser::Ground,
        }
    }

    fn apply(&mut self, csi: &Csi, last: u8) {
        let first = csi.parameters().first().copied().unwrap_or(0);
        let screen = self.screen();
        let state = &mut self.now;
        match (csi.prefix, csi.intermediate, last) {
            (b'?', 0, b'h' | b'l') => csi.parameters().iter().for_each(|mode| state.set(*mode, last == b'h')),
            (b'?', 0, b's') => csi.parameters().iter().for_each(|mode| self.saved.copy(*mode, *state)),
            (b'?', 0, b'r') => csi.parameters().iter().for_each(|mode| state.copy(*mode, self.saved)),
            (b'>', 0, b'u') => {
                state.keyboard_stack[screen] = state.keyboard_stack[screen].saturating_add(1);
            }
            (b'<', 0, b'u') => {
                let count = u8::try_from(first.max(1)).unwrap_or(u8::MAX);
                state.keyboard_stack[screen] = state.keyboard_stack[screen].saturating_sub(count);
            }
            (b'=', 0, b'u') => {
                let how = csi.parameters().get(1).copied().unwrap_or(1);
                match how {
                    1 => state.keyboard_flags[screen] = first != 0,
                    2 if first != 0 => state.keyboard_flags[screen] = true,
                    _ => {}
                }
            }
            (b'>', 0, b'm') => {
                if csi.parameters().is_empty() {
                    state.modify_keys = false;
                } else if first == 4 {
                    state.modify_keys = csi.parameters().get(1).is_some_and(|level| *level != 0);
                }
            }
            (0, 0, b'm') => state.style(csi),
            (0, b' ', b'q') => state.shape = first != 0,
            (0, b'!', b'p') => {
                // A soft reset leaves the screen, the mouse and the keyboard protocol alone.
                for mode in [1, 6, 7, 25] {
                    let usual = PRIVATE.iter().any(|(known, usual)| *known == mode && *usual);
                    state.set(mode, usual);
                }
                (state.attributes, state.keypad) = (0, false);
                (state.drawing, state.shifted) = (false, false);
            }
            _ => {}
        }
    }
}

impl State {
    fn set(&mut self, mode: u16, on: bool) {
        let usual = PRIVATE.iter().any(|(known, usual)| *known == mode && *usual);
        if on == usual {
            self.unusual &= !bit(mode);
        } else {
            self.unusual |= bit(mode);
        }
        if !on && matches!(mode, 47 | 1047 | 1049) {
            // Any of the three leaves the alternate screen, and its keyboard stack goes with it.
            self.unusual &= !(bit(47) | bit(1047) | bit(1049));
            (self.keyboard_stack[1], self.keyboard_flags[1]) = (0, false);
        }
    }

    fn copy(&mut self, mode: u16, from: Self) {
        self.unusual = self.unusual & !bit(mode) | from.unusual & bit(mode);
    }

    /// Select graphic rendition: one bit for each kind of attribute that is on.
    fn style(&mut self, csi: &Csi) {
        if csi.parameters().is_empty() {
            self.attributes = 0;
        }
        let mut at = 0;
        while let Some(&parameter) = csi.parameters().get(at) {
            let (on, off) = match parameter {
                0 => (0, u16::MAX),
                1 | 2 => (1, 0),
                3 | 20 => (1 << 1, 0),
                // A colon gives the kind of underline, and 4:0 is none.
                4 if csi.is_tied(at + 1) && csi.values[at + 1] == 0 => (0, 1 << 2),
                4 | 21 => (1 << 2, 0),
                5 | 6 => (1 << 3, 0),
                7 => (1 << 4, 0),
                8 => (1 << 5, 0),
                9 => (1 << 6, 0),
                10 => (0, 1 << 7),
                11..=19 => (1 << 7, 0),
                22 => (0, 1),
                23 => (0, 1 << 1),
                24 => (0, 1 << 2),
                25 => (0, 1 << 3),
                27 => (0, 1 << 4),
                28 => (0, 1 << 5),
                29 => (0, 1 << 6),
                30..=38 | 90..=97 => (1 << 8, 0),
                39 => (0, 1 << 8),
                40..=48 | 100..=107 => (1 << 9, 0),
                49 => (0, 1 << 9),
                51 | 52 => (1 << 10, 0),
                53 => (1 << 11, 0),
                54 => (0, 1 << 10),
                55 => (0, 1 << 11),
                58 => (1 << 12, 0),
                59 => (0, 1 << 12),
                _ => (0, 0),
            };
            self.attributes = self.attributes & !off | on;
            at += 1;
            if matches!(parameter, 38 | 48 | 58) && !csi.is_tied(at) {
                // A colour takes its own parameters along: 5;n or 2;r;g;b.
                at += match csi.parameters().get(at) {
                    Some(5) => 2,
                    Some(2) => 4,
                    _ => 0,
                };
            }
            while csi.is_tied(at) {
                at += 1;
            }
        }
    }
}

/// How many sequences from the end are looked at for one that resets all attributes.
const TRIED: usize = 32;

/// Where the last sequence begins that resets all attributes: what was set before it does not matter after it. It is one
/// wherever it stands, since its first byte ends whatever it may be in. The beginning if there is none near the end.
fn last_reset(bytes: &[u8]) -> usize {
    let mut before = bytes;
    for _ in 0..TRIED {
        let Some(at) = memrchr(0x1b, before) else { break };
        if bytes[at..].starts_with(b"\x1b[m") || bytes[at..].starts_with(b"\x1b[0m") {
            return at;
        }
        before = &before[..at];
    }
    0
}

fn bit(mode: u16) -> u32 {
    PRIVATE.iter().position(|(known, _)| *known == mode).map_or(0, |index| 1 << index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_by(output: &str) -> String {
        let mut whole = Modes::default();
        whole.follow(output.as_bytes());
        let mut bytewise = Modes::default();
        for byte in output.bytes() {
            bytewise.follow(&[byte]);
        }
        assert_eq!(whole, bytewise, "a cut changed what was understood");
        String::from_utf8(whole.undo()).unwrap()
    }

    #[test]
    fn a_program_that_cleans_up_leaves_nothing() {
        for output in [
            "plain text\r\n",
            "\x1b[31mred\x1b[0m",
            "\x1b[1;38;5;196;48;2;1;2;3mx\x1b[22;39;49m",
            "\x1b[4:3mcurly\x1b[4:0m",
            "\x1b[?1049h\x1b[?1000;1006h\x1b[?25l\x1b[>1u text \x1b[<u\x1b[?25h\x1b[?1006;1000l\x1b[?1049l",
            "\x1b[?1049h\x1b[>1u\x1b[?1049l",
            "\x1b[?2004h\x1b[?2004l\x1b[?1004h\x1b[?1004l\x1b[?2026h\x1b[?2026l",
            "\x1b[?25l\x1bc",
            "\x1b[2;10r\x1b[r\x1b(0qqq\x1b(B\x0e\x0f\x1b=\x1b>\x1b[4 q\x1b[0 q\x1b[>4;2m\x1b[>4m",
            "\x1b]0;a title with [?25l inside\x07",
            "\x1b[?25s\x1b[?25l\x1b[?25r",
        ] {
            assert_eq!(left_by(output), "", "{output:?}");
        }
    }

    #[test]
    fn attributes_that_are_reset_later_make_no_difference_and_others_do() {
        let flood = "\x1b[1;31mfield\x1b[>4;2m\x1b[22;39m\x1b[?25l".repeat(50);
        for (end, undo) in [
            ("\x1b[0m", "\x1b[?25h\x1b[>4m"),
            ("\x1b]0;title\x1b[m", "\x1b[?25h\x1b[>4m"),
            ("\x1b[m\x1b[7mx", "\x1b[?25h\x1b[>4m\x1b[m"),
            ("\x1b[0m\x1b[3", "\x18\x1b[?25h\x1b[>4m"),
            ("\x1b[3m", "\x1b[?25h\x1b[>4m\x1b[m"),
        ] {
            assert_eq!(left_by(&(flood.clone() + end)), undo, "{end:?}");
        }
    }

    #[test]
    fn exactly_what_was_left_on_is_undone() {
        for (output, undo) in [
            ("\x1b[31mred", "\x1b[m"),
            ("\x1b[1mbold\x1b[39m", "\x1b[m"),
            ("\x1b[?25l", "\x1b[?25h"),
            ("\x1b[?1049h", "\x1b[?1049l"),
            ("\x1b[?1000h\x1b[?1006h", "\x1b[?1000l\x1b[?1006l"),
            ("\x1b[?2004h\x1b[?1004h", "\x1b[?1004l\x1b[?2004l"),
            ("\x1b[>1u\x1b[>5u", "\x1b[<2u"),
            ("\x1b[=1u", "\x1b[=0u"),
            ("\x1b[?2026hhalf a frame", "\x1b[?2026l"),
            ("\x1b[>1u\x1b[?1049h\x1b[>3u", "\x1b[<1u\x1b[?1049l\x1b[<1u"),
            ("\x1b[?1049h\x1b[?25l\x1b[31m", "\x1b[?1049l\x1b[?25h\x1b[m"),
            ("\x1b[>4;2m", "\x1b[>4m"),
        ] {
            assert_eq!(left_by(output), undo, "{output:?}");
        }
    }

    #[test]
    fn a_sequence_that_was_cut_off_is_ended_before_anything_is_undone() {
        assert_eq!(left_by("\x1b[?25l\x1b[38;5"), "\x18\x1b[?25h");
        assert_eq!(left_by("\x1b[38;5"), "");
    }
}
