//! Which terminal modes the command has switched on and not off again.
//!
//! A crash, a kill or a careless exit leaves them on, and the shell afterwards is unusable: mouse reports at the
//! prompt, no cursor, the alternate screen. Exactly what was left on is undone, nothing else.

mod csi;
mod osc;
mod places;

use std::fmt::Write;

use memchr::{memchr2, memchr3};

use self::csi::Csi;
use self::osc::Osc;
use self::places::{begin_of, is_odd, last_reset, whole};
use crate::scan;

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
    (69, false),   // margins at the left and the right
    (47, false),   // alternate screen, in its three forms
    (1047, false),
    (1049, false),
    (25, true), // the cursor is shown; after the alternate screen, which may have its own
];

/// Public modes that matter as much. All of them are usually off.
const PUBLIC: &[u16] = &[
    2,  // the keyboard is locked
    4,  // what is typed is put in between
    20, // a new line begins a line, and Enter sends two keys
];

/// Follows the command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modes {
    parser: Parser,
    /// The control sequence that is being read, while one is.
    csi: Csi,
    /// The text that is being read, while one is.
    osc: Osc,
    now: State,
    /// What XTSAVE has put aside.
    saved: State,
    /// The last bytes: a character may not be whole yet.
    last: [u8; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the terminal's, independent of the others")]
struct State {
    /// One bit for each entry of [`PRIVATE`] that is not in its usual state.
    unusual: u32,
    /// One bit for each entry of [`PUBLIC`] that is on.
    public: u8,
    /// The rows that scroll; of the last, 0 is that of the screen.
    region: (u16, u16),
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
    /// What is printed is a link.
    link: bool,
    /// The terminal shows a progress of its own.
    progress: bool,
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
        let (now, saved) = (State::default(), State::default());
        Self { parser: Parser::Ground, csi: Csi::default(), osc: Osc::default(), now, saved, last: [0; 3] }
    }
}

impl Modes {
    /// Follows these bytes.
    pub fn follow(&mut self, bytes: &[u8]) {
        for byte in &bytes[bytes.len().saturating_sub(self.last.len())..] {
            self.last = [self.last[1], self.last[2], *byte];
        }
        let mut at = if self.parser == Parser::Ground { 0 } else { self.finish(bytes, 0) };
        // What attributes are set before this place makes no difference after it, and a sequence before it is whole.
        let reset = last_reset(bytes);
        while at < reset {
            at = scan::first_odd(&bytes[..reset + 3], at, is_odd).min(reset);
            if at < reset {
                at = self.read(bytes, at);
            }
        }
        let shifts = memchr2(0x0e, 0x0f, &bytes[at..]).is_some();
        while at < bytes.len() {
            let left = &bytes[at..];
            at += if shifts { memchr3(0x1b, 0x0e, 0x0f, left).unwrap_or(left.len()) } else { scan::escape(left) };
            if at < bytes.len() {
                at = self.read(bytes, at);
            }
        }
    }

    /// Reads what is odd at this place, between sequences. Gives where it ends.
    fn read(&mut self, bytes: &[u8], at: usize) -> usize {
        if !matches!(bytes[at], 0x1b | 0x0e | 0x0f) {
            return begin_of(bytes, at + 1).map_or(at + 1, |begin| self.finish(bytes, begin));
        }
        let Some(length) = whole(&bytes[at..]) else { return self.finish(bytes, at) };
        let (body, last) = (&bytes[at + 2..at + length - 1], bytes[at + length - 1]);
        // Of the others, which move and erase, nothing is kept.
        if matches!(last, b'h' | b'l' | b's' | b'r' | b'u' | b'm' | b'q' | b'p') {
            let mut csi = Csi::default();
            for byte in body {
                csi.take(*byte);
            }
            self.apply(&csi, last);
        }
        at + length
    }

    /// Reads from this place until no sequence is open. Gives that place.
    fn finish(&mut self, bytes: &[u8], mut at: usize) -> usize {
        while at < bytes.len() {
            if self.parser == Parser::Text {
                // A picture or a clipboard can be megabytes of nothing that matters.
                let end = bytes[at..].iter().position(|byte| matches!(byte, 0x1b | 0x07 | 0x18 | 0x1a));
                let end = end.map_or(bytes.len(), |end| at + end);
                self.osc.take(&bytes[at..end]);
                at = end;
                if at == bytes.len() {
                    break;
                }
            }
            self.step(bytes[at]);
            at += 1;
            if self.parser == Parser::Ground {
                break;
            }
        }
        at
    }

    /// Whether the alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.screen() == 1
    }

    /// Whether the program has asked for bracketed paste.
    pub fn is_paste_bracketed(&self) -> bool {
        self.now.unusual & bit(2004) != 0
    }

    /// Whether keys come in the keyboard protocol's way on the screen that is shown.
    pub fn has_keyboard(&self) -> bool {
        self.now.keyboard_stack[self.screen()] > 0 || self.now.keyboard_flags[self.screen()]
    }

    /// Whether something can be put in between without breaking a sequence or a character.
    pub fn is_between_sequences(&self) -> bool {
        let [.., before, last] = self.last;
        let (two, three, four) = (0xc0..=0xf7, 0xe0..=0xf7, 0xf0..=0xf7);
        let follows = |byte: u8| byte & 0xc0 == 0x80;
        let in_character = two.contains(&last)
            || follows(last) && (three.contains(&before) || follows(before) && four.contains(&self.last[0]));
        self.parser == Parser::Ground && !in_character
    }

    /// A sequence that was cut off is over. Says whether there was one, which the terminal has to be told too.
    pub fn cut_off(&mut self) -> bool {
        std::mem::take(&mut self.parser) != Parser::Ground
    }

    /// What has to be written to undo what was left on, on a screen of so many rows; nothing if nothing was.
    pub fn undo(&self, rows: usize) -> Vec<u8> {
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
        for (index, mode) in PUBLIC.iter().enumerate() {
            if state.public & (1 << index) != 0 {
                let _ = write!(text, "\x1b[{mode}l");
            }
        }
        let (top, bottom) = state.region;
        let all = top <= 1 && (bottom == 0 || usize::from(bottom) >= rows);
        for (left, undo) in [
            // That moves the cursor, so its place is kept meanwhile.
            (!all, "\x1b7\x1b[r\x1b8"),
            (state.link, "\x1b]8;;\x1b\\"),
            (state.progress, "\x1b]9;4;0\x1b\\"),
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
            (Parser::Text, 0x07) | (Parser::TextEscape, b'\\') => {
                self.understand_text();
                Parser::Ground
            }
            (Parser::Text, 0x18 | 0x1a) => Parser::Ground,
            (Parser::Text, _) => Parser::Text,
            (_, 0x1b) => Parser::Escape,
            // Like any control character, also in the middle of a sequence.
            (before, 0x0e | 0x0f) if before != Parser::TextEscape => {
                self.now.shifted = byte == 0x0e;
                before
            }
            (Parser::Ground, _) | (_, 0x18 | 0x1a) => Parser::Ground,
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
            b']' | b'P' | b'_' | b'^' | b'X' => {
                self.osc = if byte == b']' { Osc::Begin } else { Osc::Other };
                Parser::Text
            }
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

    /// A text is here from beginning to end.
    fn understand_text(&mut self) {
        match std::mem::take(&mut self.osc) {
            Osc::Link(on) => self.now.link = on,
            Osc::Progress(on) => self.now.progress = on,
            _ => {}
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
            (0, 0, b'h' | b'l') => csi.parameters().iter().for_each(|mode| state.set_public(*mode, last == b'h')),
            (0, 0, b'r') => {
                let bottom = csi.parameters().get(1).copied().unwrap_or(0);
                // Nothing can scroll in less than two rows.
                if bottom == 0 || first.max(1) < bottom {
                    state.region = (first, bottom);
                }
            }
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
                state.set_public(4, false);
                (state.region, state.attributes, state.keypad) = ((0, 0), 0, false);
                (state.drawing, state.shifted) = (false, false);
            }
            _ => {}
        }
    }
}

impl State {
    fn set(&mut self, mode: u16, on: bool) {
        if mode == 66 {
            // The keypad's other name.
            self.keypad = on;
        }
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

    fn set_public(&mut self, mode: u16, on: bool) {
        let bit = PUBLIC.iter().position(|known| *known == mode).map_or(0, |index| 1 << index);
        self.public = if on { self.public | bit } else { self.public & !bit };
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

fn bit(mode: u16) -> u32 {
    PRIVATE.iter().position(|(known, _)| *known == mode).map_or(0, |index| 1 << index)
}

#[cfg(test)]
mod tests;
