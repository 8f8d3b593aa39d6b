//! What of the output is shown to the emulator: text and moves, bounded; never strings or floods, and colours only
//! where a picture is wanted.
//!
//! Colours cannot change a verdict, and titles, links and images are not on the screen, so they are taken out here.
//! No sequence that is left does more than a screen has cells: a repeat count of 65535 (eighteen kilobytes of which keep
//! the emulator busy for eight seconds) is cut to one row. What many of them may cost is bounded in `labour`.

use memchr::memchr;

use crate::scan;

/// The longest control sequence that is looked at; longer ones are dropped whole.
pub(super) const LONGEST_SEQUENCE: usize = 64;
/// The longest title that is kept.
const LONGEST_TITLE: usize = 256;
/// No count in a control sequence needs to be larger: no terminal has more cells in a row or column.
const LARGEST_COUNT: u32 = 1000;

/// A part of the output, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Printable text with its line ends.
    Text(&'a str),
    /// A control sequence for the emulator; `moves` if it goes up or to a place, as a program that paints does.
    Control { sequence: &'a str, moves: bool },
    /// How the text that follows looks.
    Look(&'a str),
    /// Scrolling is confined to a part of the screen, or no longer.
    Margins(bool),
    /// The terminal's title.
    Title(&'a str),
    /// A synchronized update begins (true) or is complete.
    Frame(bool),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Text,
    Escape,
    Csi,
    CsiTooLong,
    Command,
    /// Inside an OSC, DCS or the like; `title` for the kind that is kept.
    Str {
        osc: bool,
    },
    StrEscape {
        osc: bool,
    },
}

/// Takes bytes cut anywhere, gives pieces.
#[derive(Debug)]
pub(super) struct Sieve {
    mode: Mode,
    sequence: String,
    text: String,
    partial: Vec<u8>,
    title: Vec<u8>,
    after_return: bool,
    colours: bool,
}

impl Sieve {
    /// Lets colours through only if `colours`.
    pub(super) fn new(colours: bool) -> Self {
        Self {
            colours,
            mode: Mode::Text,
            sequence: String::new(),
            text: String::new(),
            partial: Vec::new(),
            title: Vec::new(),
            after_return: false,
        }
    }

    /// Passes the pieces of `bytes` on; with `bare` each lone line feed also returns the carriage, as a terminal would.
    pub(super) fn push(&mut self, bytes: &[u8], bare: bool, cols: u16, pass: &mut dyn FnMut(Piece<'_>)) {
        let mut rest = bytes;
        let clean = clean(bytes);
        while let Some(&byte) = rest.first() {
            match self.mode {
                Mode::Text => {
                    let (from, end) = (bytes.len() - rest.len(), scan::escape(rest));
                    match clean.get(from..from + end) {
                        Some(text) if self.partial.is_empty() => self.take_clean(text, bare, end == rest.len(), pass),
                        _ => self.take_text(&rest[..end], bare),
                    }
                    rest = &rest[end..];
                    self.after_return &= rest.is_empty();
                    // Most sequences are colours.
                    if let (Some(length), false) = (scan::look(rest), self.colours) {
                        rest = &rest[length..];
                        continue;
                    }
                    if let Some(after) = self.whole_csi(rest, cols, pass) {
                        rest = after;
                    } else if !rest.is_empty() {
                        self.mode = Mode::Escape;
                        rest = &rest[1..];
                    }
                    continue;
                }
                Mode::Escape => self.take_escape(byte, pass),
                Mode::Csi | Mode::CsiTooLong => self.take_csi(byte, cols, pass),
                Mode::Command => self.take_command(byte, pass),
                Mode::Str { osc } => {
                    // CAN and SUB end it too, as terminals do.
                    let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x18 | 0x1a | 0x1b));
                    let end = end.unwrap_or(rest.len());
                    if osc {
                        let room = LONGEST_TITLE.saturating_sub(self.title.len());
                        self.title.extend_from_slice(&rest[..end.min(room)]);
                    }
                    rest = &rest[end..];
                    match rest.first() {
                        Some(0x07 | 0x18 | 0x1a) => self.end_string(osc, pass),
                        Some(_) => self.mode = Mode::StrEscape { osc },
                        None => break,
                    }
                }
                Mode::StrEscape { osc } => {
                    self.end_string(osc, pass);
                    if byte != b'\\' {
                        self.take_escape(byte, pass);
                    }
                }
            }
            rest = &rest[1..];
        }
        self.flush(pass);
    }

    /// Whether what comes next is text from its beginning, or a sequence.
    pub(super) fn is_between_sequences(&self) -> bool {
        self.mode == Mode::Text
    }

    /// Whether a character has begun and is not complete.
    pub(super) fn is_in_character(&self) -> bool {
        !self.partial.is_empty()
    }

    /// Some text was left out, up to the end of a line.
    pub(super) fn skipped_lines(&mut self) {
        self.partial.clear();
        self.after_return = false;
    }

    fn flush(&mut self, pass: &mut dyn FnMut(Piece<'_>)) {
        if !self.text.is_empty() {
            pass(Piece::Text(&self.text));
            self.text.clear();
        }
    }

    /// Takes text that needs no further look.
    fn take_clean(&mut self, text: &str, bare: bool, last: bool, pass: &mut dyn FnMut(Piece<'_>)) {
        if bare {
            self.append(text, bare);
        } else if last && self.text.is_empty() && !text.is_empty() {
            // The common case, plain text to the end of the chunk, is passed on without a copy.
            pass(Piece::Text(text));
        } else {
            self.text.push_str(text);
        }
    }

    fn take_text(&mut self, bytes: &[u8], bare: bool) {
        if bytes.is_empty() {
            return;
        }
        let mut joined = std::mem::take(&mut self.partial);
        joined.extend_from_slice(bytes);
        let mut rest = joined.as_slice();
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.append(text, bare);
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    if let Ok(text) = std::str::from_utf8(valid) {
                        self.append(text, bare);
                    }
                    let Some(bad) = error.error_len() else {
                        // A character cut in two waits for its other half.
                        self.partial = after.to_vec();
                        break;
                    };
                    self.append("\u{fffd}", bare);
                    rest = &after[bad..];
                }
            }
        }
    }

    fn append(&mut self, text: &str, bare: bool) {
        let clean = memchr(0xc2, text.as_bytes()).is_none();
        let mut rest = text;
        while let (true, Some(end)) = (bare, memchr(b'\n', rest.as_bytes())) {
            self.append_part(&rest[..end], clean);
            self.text.push_str(if self.after_return { "\n" } else { "\r\n" });
            self.after_return = false;
            rest = &rest[end + 1..];
        }
        self.append_part(rest, clean);
    }

    fn append_part(&mut self, part: &str, clean: bool) {
        if part.is_empty() {
            return;
        }
        self.after_return = part.ends_with('\r');
        if clean {
            self.text.push_str(part);
        } else {
            // C1 controls would open strings that the emulator reads for ever.
            self.text.extend(part.chars().filter(|c| !('\u{80}'..='\u{9f}').contains(c)));
        }
    }

    fn take_escape(&mut self, byte: u8, pass: &mut dyn FnMut(Piece<'_>)) {
        self.mode = match byte {
            b'[' => {
                self.sequence.clear();
                self.sequence.push_str("\x1b[");
                Mode::Csi
            }
            b']' => {
                self.title.clear();
                Mode::Str { osc: true }
            }
            b'P' | b'X' | b'^' | b'_' => Mode::Str { osc: false },
            0x1b => Mode::Escape,
            0x20..=0x2f => {
                self.sequence.clear();
                self.sequence.push('\x1b');
                self.sequence.push(char::from(byte));
                Mode::Command
            }
            0x30..=0x7e => {
                self.flush(pass);
                let sequence = ['\x1b', char::from(byte)];
                let sequence: String = sequence.iter().collect();
                pass(Piece::Control { sequence: &sequence, moves: matches!(byte, b'M' | b'8' | b'c') });
                if byte == b'c' {
                    pass(Piece::Margins(false));
                }
                Mode::Text
            }
            _ => Mode::Text,
        };
    }

    /// `ESC` with intermediates: character sets, alignment tests.
    fn take_command(&mut self, byte: u8, pass: &mut dyn FnMut(Piece<'_>)) {
        match byte {
            0x1b => self.mode = Mode::Escape,
            0x20..=0x2f if self.sequence.len() < 4 => self.sequence.push(char::from(byte)),
            0x30..=0x7e => {
                self.flush(pass);
                self.sequence.push(char::from(byte));
                pass(Piece::Control { sequence: &self.sequence, moves: false });
                self.mode = Mode::Text;
            }
            _ => self.mode = Mode::Text,
        }
    }

    fn take_csi(&mut self, byte: u8, cols: u16, pass: &mut dyn FnMut(Piece<'_>)) {
        match byte {
            0x1b => self.mode = Mode::Escape,
            0x18 | 0x1a => self.mode = Mode::Text,
            0x20..=0x3f => {
                if self.sequence.len() < LONGEST_SEQUENCE {
                    self.sequence.push(char::from(byte));
                } else {
                    self.mode = Mode::CsiTooLong;
                }
            }
            0x40..=0x7e => {
                if self.mode == Mode::Csi {
                    self.end_csi(byte, cols, pass);
                }
                self.mode = Mode::Text;
            }
            _ => {}
        }
    }

    /// A control sequence that is there from beginning to end, as nearly all are. Gives what follows it.
    fn whole_csi<'b>(&mut self, bytes: &'b [u8], cols: u16, pass: &mut dyn FnMut(Piece<'_>)) -> Option<&'b [u8]> {
        let body = bytes.strip_prefix(b"\x1b[")?;
        let end = body.iter().position(|byte| !matches!(byte, 0x20..=0x3f))?;
        let last = body[end];
        if !matches!(last, 0x40..=0x7e) {
            return None;
        }
        if (last != b'm' || self.colours) && end + 2 <= LONGEST_SEQUENCE {
            self.sequence.clear();
            self.sequence.push_str("\x1b[");
            self.sequence.push_str(std::str::from_utf8(&body[..end]).unwrap_or_default());
            self.end_csi(last, cols, pass);
        }
        Some(&body[end + 1..])
    }

    fn end_csi(&mut self, last: u8, cols: u16, pass: &mut dyn FnMut(Piece<'_>)) {
        let parameters = &self.sequence[2..];
        match last {
            b'm' if self.colours && !parameters.starts_with(['>', '?', '<', '=']) => {
                self.flush(pass);
                self.sequence.push('m');
                pass(Piece::Look(&self.sequence));
                return;
            }
            // Colours, reports, window operations: nothing that can be read.
            b'm' | b't' | b'n' | b'c' | b'q' | b'u' if last != b'u' || !parameters.is_empty() => return,
            b'h' | b'l' if parameters.starts_with('?') => {
                if parameters[1..].split(';').any(|mode| mode == "2026") {
                    let others: Vec<&str> = parameters[1..].split(';').filter(|mode| *mode != "2026").collect();
                    let others = others.join(";");
                    self.flush(pass);
                    pass(Piece::Frame(last == b'h'));
                    if others.is_empty() {
                        return;
                    }
                    self.sequence.truncate(3);
                    self.sequence.push_str(&others);
                }
            }
            b'r' => {
                let set = !parameters.is_empty();
                self.flush(pass);
                pass(Piece::Margins(set));
            }
            b'b' => self.limit_counts(u32::from(cols)),
            b'h' | b'l' => {}
            _ => self.limit_counts(LARGEST_COUNT),
        }
        self.flush(pass);
        self.sequence.push(char::from(last));
        let moves = matches!(last, b'A' | b'F' | b'H' | b'f' | b'd' | b'L' | b'M' | b'S' | b'T' | b'u');
        pass(Piece::Control { sequence: &self.sequence, moves });
    }

    fn limit_counts(&mut self, largest: u32) {
        let parameters = &self.sequence[2..];
        if largest >= LARGEST_COUNT && is_short(parameters) {
            return;
        }
        let too_large = |part: &str| part.parse::<u64>().map_or(part.len() > 9, |count| count > u64::from(largest));
        if parameters.split(';').any(too_large) {
            let cut = largest.to_string();
            let parts: Vec<&str> =
                parameters.split(';').map(|part| if too_large(part) { &cut } else { part }).collect();
            self.sequence = format!("\x1b[{}", parts.join(";"));
        }
    }

    fn end_string(&mut self, osc: bool, pass: &mut dyn FnMut(Piece<'_>)) {
        self.mode = Mode::Text;
        if osc && (self.title.starts_with(b"0;") || self.title.starts_with(b"2;")) {
            let title = String::from_utf8_lossy(&self.title[2..]).into_owned();
            self.flush(pass);
            pass(Piece::Title(&title));
        }
        self.title.clear();
    }
}

/// Whether no count in it has more than three digits.
fn is_short(parameters: &str) -> bool {
    let mut digits = 0;
    parameters.bytes().all(|byte| {
        digits = if byte == b';' { 0 } else { digits + 1 };
        digits < 4
    })
}

/// The beginning of `bytes` that is text, if there is none of what has to be taken out of text. Looked for once in all of
/// it: most of what comes between escapes is a few letters.
fn clean(bytes: &[u8]) -> &str {
    if memchr(0xc2, bytes).is_some() {
        return "";
    }
    std::str::from_utf8(bytes).or_else(|error| std::str::from_utf8(&bytes[..error.valid_up_to()])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sift(chunks: &[&[u8]], bare: bool) -> Vec<String> {
        let mut sieve = Sieve::new(false);
        let mut out: Vec<String> = Vec::new();
        for chunk in chunks {
            sieve.push(chunk, bare, 80, &mut |piece| match piece {
                Piece::Text(text) => match out.last_mut() {
                    Some(last) if last.starts_with("text ") => last.push_str(text),
                    _ => out.push(format!("text {text}")),
                },
                other => out.push(format!("{other:?}")),
            });
        }
        out
    }

    #[test]
    fn colours_links_and_images_never_reach_the_emulator() {
        let bytes = b"\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x07\x1bPq#0~~\x1b\\.";
        assert_eq!(sift(&[bytes], false), ["text red link."]);
    }

    #[test]
    fn a_title_is_told_apart_from_text() {
        assert_eq!(sift(&[b"a\x1b]0;\xe2\xa0\x8b work\x07b"], false), ["text a", "Title(\"⠋ work\")", "text b"]);
    }

    #[test]
    fn repeat_counts_are_cut_to_a_row() {
        let pieces = sift(&[b"x\x1b[65535b\x1b[99999999999999999999B"], false);
        assert_eq!(pieces[1], format!("{:?}", Piece::Control { sequence: "\x1b[80b", moves: false }));
        assert_eq!(pieces[2], format!("{:?}", Piece::Control { sequence: "\x1b[1000B", moves: false }));
    }

    #[test]
    fn a_sequence_without_an_end_is_not_kept() {
        let mut sieve = Sieve::new(false);
        sieve.push(b"\x1b[", false, 80, &mut |_| ());
        for _ in 0..100 {
            sieve.push(&[b'1'; 1000], false, 80, &mut |_| ());
        }
        assert!(sieve.sequence.capacity() <= 2 * LONGEST_SEQUENCE);
        let mut shown = Vec::new();
        sieve.push(b"Ax", false, 80, &mut |piece| shown.push(format!("{piece:?}")));
        assert_eq!(shown, [format!("{:?}", Piece::Text("x"))]);
    }

    #[test]
    fn a_bare_line_feed_returns_the_carriage_once() {
        assert_eq!(sift(&[b"a\nb\r", b"\nc"], true), ["text a\r\nb\r\nc"]);
    }

    #[test]
    fn cuts_anywhere_change_nothing() {
        let bytes = "é\x1b[2J\x1b[?2026h⠋\x1b]2;t\x1b\\x\x1b[?2026l\x1b(B\x1b[1;5r\u{fffd}é".as_bytes();
        let whole = sift(&[bytes], false);
        for cut in 0..=bytes.len() {
            assert_eq!(sift(&[&bytes[..cut], &bytes[cut..]], false), whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_string_that_is_cut_off_and_modes_beside_a_frame_are_not_lost() {
        assert_eq!(sift(&[b"\x1b]0;half\x18line"], false).last().unwrap(), "text line");
        let both = sift(&[b"\x1b[?2026;1049hx"], false);
        assert!(both[0].contains("Frame") && both[1].contains("?1049h"), "{both:?}");
    }
}
