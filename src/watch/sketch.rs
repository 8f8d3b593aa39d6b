//! A flood of painting, drawn on a sheet that lies on the screen. What is left on the sheet at the end is all that has to
//! be emulated.
//!
//! What is not known here ends it.

use super::Size;
use super::beside::Beside;
use super::screen::Cursor;
use super::sheet::Sheet;
use super::strokes::stroke;
use super::trace::trace;
use crate::scan::Letters;

/// So many screenfuls of coloured letters at the end of a flood most likely paint all that is painted in it.
const SCREENFULS: usize = 8;

/// A flood has no more places than these to begin at, however small the screen is.
const MOST_STOPS: usize = 1024;

/// What came of a flood.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sketch<'o> {
    /// How much of it was drawn.
    pub(super) length: usize,
    /// What leaves the same picture as that.
    pub(super) picture: String,
    /// Of which rows something of what was there before is still seen.
    pub(super) open: Vec<bool>,
    /// What was switched and called last, of that which is not a part of the picture.
    pub(super) beside: Beside<'o>,
}

/// Draws `output` as far as it can be. The emulator has to be in the state in which it begins, but for what is on it and
/// where its cursor is. With `bare` each line feed returns the carriage.
pub(super) fn sketch(output: &[u8], size: Size, cursor: Cursor, bare: bool) -> Sketch<'_> {
    let parts = |length: usize| sketch_of_parts(&output[..length], size, cursor, bare);
    let drawn = parts(output.len()).or_else(parts);
    drawn.ok().flatten().unwrap_or_else(|| sketch_of_all(output, size, cursor, bare))
}

/// The same where not all of it has to be drawn: only the end, if that paints whatever was touched before, or besides it
/// where the rest was touched last. None if that is not so. The error is how far it can be told.
fn sketch_of_parts(output: &[u8], size: Size, cursor: Cursor, bare: bool) -> Result<Option<Sketch<'_>>, usize> {
    let enough = SCREENFULS * usize::from(size.rows) * usize::from(size.cols);
    let Some(before) = output.len().checked_sub(enough).filter(|before| *before > 2 * enough) else { return Ok(None) };
    let apart = (enough / 2).max(before / MOST_STOPS);
    let trace = trace(output, before, apart, size, cursor, bare)?;
    let Some((begin, cursor)) = trace.stop(before) else { return Ok(None) };
    let (end, mut draft) = (&output[begin..], Draft::new(size, cursor));
    let mut length = draft.draw(end, bare);
    if let Some(touches) = trace.last_touches(&draft.sheet.open(), begin) {
        let most = touches.first.checked_sub(enough);
        let Some((from, earlier)) = most.and_then(|most| trace.stop(most)) else { return Ok(None) };
        let part = &output[from..trace.stop_after(touches.last).unwrap_or(begin).min(begin)];
        draft = Draft::new(size, earlier);
        if draft.draw(part, bare) < part.len() {
            return Ok(None);
        }
        draft.sheet.go_to(cursor);
        length = draft.draw(end, bare);
        if trace.last_touches(&draft.sheet.open(), from).is_some() {
            return Ok(None);
        }
    }
    let sketch = draft.sketch();
    Ok(Some(Sketch { length: begin + length, beside: trace.beside.then(sketch.beside), ..sketch }))
}

/// The same where all of it has to be.
pub(super) fn sketch_of_all(output: &[u8], size: Size, cursor: Cursor, bare: bool) -> Sketch<'_> {
    let mut draft = Draft::new(size, cursor);
    draft.draw(output, bare);
    draft.sketch()
}

/// What is being drawn.
struct Draft<'o> {
    sheet: Sheet,
    beside: Beside<'o>,
    length: usize,
}

impl<'o> Draft<'o> {
    fn new(size: Size, cursor: Cursor) -> Self {
        Self { sheet: Sheet::new(size, cursor), beside: Beside::default(), length: 0 }
    }

    /// Draws this as far as it can be. How far that is.
    fn draw(&mut self, output: &'o [u8], bare: bool) -> usize {
        let mut at = 0;
        while at < output.len() && !self.sheet.is_spent(self.length + at) {
            let rest = &output[at..];
            if matches!(rest[0], b' '..=b'~')
                && let Some(letters) = Letters::of(rest)
                && self.sheet.print_coloured(letters)
            {
                at += letters.length;
                continue;
            }
            let Some(length) = self.beside.take(rest).or_else(|| stroke(&mut self.sheet, rest, bare)) else { break };
            at += length;
        }
        self.length += at;
        at
    }

    fn sketch(self) -> Sketch<'o> {
        let Self { sheet, beside, length } = self;
        Sketch { length, picture: sheet.picture(), open: sheet.open(), beside }
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::Screen;
    use super::super::screen::tests::{SIZE, dice, texts};
    use super::*;

    const HOME: Cursor = Cursor { row: 0, col: 0 };

    fn drawn(output: &str) -> usize {
        sketch(output.as_bytes(), SIZE, HOME, false).length
    }

    #[test]
    fn frames_in_every_style_are_drawn_to_the_end() {
        let row = "\x1b[1;31mé│⠋\x1b[38;5;7m text\x1b[0m\x1b(B";
        for frame in [
            format!("\x1b[?2026h\x1b[2;1H{row}\x1b[K\x1b[?2026l"),
            format!("\x1b[H{row}\x1b[K\r\n{row}\x1b[J"),
            format!("\x1b[H\x1b[2J\x1b[3J{row}\r\n{row}\r\n"),
            format!("\x1b[2K\x1b[1A\x1b[2K\x1b[G{row}\r\n{row}\r\n"),
            format!("\x1b[3A\r{row}\x1b[K\r\n\x1b[2C\x1b[3D\x1b[5X\x08"),
            format!("\x1b]0;title\x07\x1b]2;title\x1b\\\x1b]8;;link\x1b\\{row}\x1b[?25l\x1b[4d\x1b[1E\x1b[F\x1b[B"),
            format!("\r{row}{row}{row}{row}\x07\x1b[1K\x1b[1J\n"),
        ] {
            assert_eq!(drawn(&frame.repeat(50)), frame.len() * 50, "{frame:?}");
        }
    }

    #[test]
    fn it_stops_at_whatever_it_does_not_know() {
        for unknown in [
            "\x0e",
            "\x7f",
            "\u{85}",
            "123456789012345字",
            "\x1b[",
            "\x1b[?7l",
            "\x1b[4h",
            "\x1b[L",
            "\x1b[2;5r",
            "\x1b[1:2H",
            "\x1b[1;2;3H",
            "\x1b[1;2K",
            "\x1b[99999B",
            "\x1b7",
            "\x1bM",
            "\x1b(0",
            "\x1b[?1049h",
            "\x1b[?25",
            "\x1b[?250h",
            "\x1b]0;cut off",
            "\x1b]0;cut off\x1b[m",
            "\x1b[6n",
        ] {
            let known = unknown.trim_end_matches('字').bytes().take_while(u8::is_ascii_digit).count();
            assert_eq!(drawn(&format!("\x1b[mtext{unknown}")), 7 + known, "{unknown:?}");
        }
        assert_eq!(drawn("\x1b[4;20Hx\n"), 8, "behind the last column of a row that is scrolled away");
    }

    #[test]
    fn what_erases_more_than_its_length_is_worth_is_left_to_the_emulator() {
        let size = Size { cols: 400, rows: 150 };
        for flood in ["\x1b[2J", "\x1b[m\n", "\x1b[H\x1b[J", "\x1b[K"] {
            let flood = flood.repeat(1 << 18);
            assert!(sketch_of_all(flood.as_bytes(), size, HOME, false).length < flood.len() / 2, "{flood:?}");
        }
        let frames = "\x1b[2J\x1b[Hsome text\r\nthat is there".repeat(9000);
        assert_eq!(drawn(&frames), frames.len());
    }

    #[test]
    fn what_is_beside_the_picture_is_given_back_as_it_was_last() {
        let output = "\x1b[?25l\x1b]0;one\x07\x1b[?2026h\x1b]2;two\x07\x1b[?25h";
        let beside = ["\x1b[?25h", "\x1b[?2026h", "\x1b]2;two\x07"].map(str::as_bytes);
        let drawn = sketch(output.as_bytes(), SIZE, HOME, false);
        assert!(drawn.beside.sequences().eq(beside), "{:?}", drawn.beside);
    }

    /// What the screen shows after it showed `before` and then `output`, drawn as far as it can be or not at all.
    fn shown(before: &str, output: &str, bare: bool, draw: bool) -> (Vec<String>, Vec<String>, Cursor) {
        let mut screen = Screen::new(SIZE, 0);
        screen.control(before);
        screen.show();
        let mut rest = output;
        while !rest.is_empty() {
            let sketch = match screen.emulated_cursor().filter(|_| draw) {
                Some(cursor) => sketch(rest.as_bytes(), SIZE, cursor, bare),
                None => Sketch::default(),
            };
            screen.control(&sketch.picture);
            rest = &rest[sketch.length..];
            // Something it does not know, or all there is.
            let length = rest.chars().next().map_or(0, char::len_utf8);
            let end = length + rest[length..].find(|c: char| draw && c == '\x1b').unwrap_or(rest.len() - length);
            let text = &rest[..end];
            screen.control(&if bare { text.replace('\n', "\r\n") } else { text.to_owned() });
            screen.show();
            rest = &rest[end..];
        }
        // What comes next shows whether the cursor is behind the last column.
        screen.control("Z");
        (texts(&mut screen), screen.rows(), screen.cursor())
    }

    #[test]
    fn the_picture_is_the_same_whether_it_is_drawn_or_emulated() {
        let mut dice = dice(4_711);
        for round in 0..4000 {
            let mut piece = |known: bool| {
                let (row, col, count, all) = (dice(6), dice(24), dice(4), dice(3) == 0);
                match dice(if known { 21 } else { 24 }) {
                    0..=4 => "letters and so on, and on"[..dice(26)].to_owned(),
                    5 => ["é", "│⠋", "e\u{301}", "字", "字字字", "x字\x08y", "字\x08\x08字"][dice(7)].to_owned(),
                    6..=8 => format!("\x1b[{row};{col}H"),
                    9 => ["\r\n", "\n", "\r"][dice(3)].to_owned(),
                    10 => "\r\n".to_owned(),
                    11 => "\r\nfull width of the row\x08".to_owned(),
                    12 => format!("\x1b[{}K", dice(3)),
                    13 => format!("\x1b[{}J", dice(if all { 4 } else { 2 })),
                    14 => format!("\x1b[{count}{}", ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'd', 'X'][dice(9)]),
                    15 => "\x1b[K".to_owned(),
                    16 => ["\x08\x07", "\t", "a\tb"][dice(3)].to_owned(),
                    17 => format!("\x1b[{col}G"),
                    18 => "12345678901234567890".to_owned(),
                    19 => format!("\x1b[{row};20Hx"),
                    20 => format!("\x1b[{count}X"),
                    21 => "12345678901234567字字".to_owned(),
                    22 => ["\x1bM", "\x1b[L", "\x1b[2P", "\x1b[3b"][dice(4)].to_owned(),
                    _ => ["\x1b7", "\x1b8", "\x1b[?1049h", "\x1b[?1049l"][dice(4)].to_owned(),
                }
            };
            let before: String = (0..12).map(|_| piece(false)).collect();
            let output: String = (0..40).map(|_| piece(round % 3 > 0)).collect();
            let bare = round % 2 == 0;
            assert_eq!(
                shown(&before, &output, bare, true),
                shown(&before, &output, bare, false),
                "round {round}: {before:?} and then {output:?}, bare: {bare}"
            );
        }
    }

    #[test]
    fn nothing_is_seen_of_what_is_left_out() {
        let mut dice = dice(815);
        let (mut drawn, mut all) = (0, 0);
        for round in 0..1500 {
            let mut output = String::new();
            for _ in 0..=dice(4) {
                // Once, and perhaps where nothing comes afterwards.
                let row = 1 + dice(4);
                let once = match dice(14) {
                    0 => format!("\x1b[{row}H\x1b[{}K", dice(3)),
                    1 => format!("\x1b[{row};4H\x1b[9X"),
                    2 => format!("\x1b[{row};4H\x1b[{}J", dice(2)),
                    3 => "\x1b[2J".to_owned(),
                    4 => format!("\x1b[{row};5H字"),
                    5 => format!("\x1b[{row};7H│"),
                    6 => ["\x1b[L", "\x1b7", "\x1b[3S"][dice(3)].to_owned(),
                    _ => String::new(),
                };
                output.push_str(&once);
                let (style, first, count, often) = (dice(8), dice(4), 1 + dice(6), 1 + dice(90));
                for frame in 0..often {
                    let mut row = |row: usize| {
                        let text =
                            &["letters and so on", "\x1b[1;31mred\x1b[m x", "wide 字字 and more", "│é│"][dice(4)];
                        let text = if dice(6) == 0 { "x" } else { text };
                        match style {
                            0 => format!("\x1b[{row};1H{text}\x1b[K"),
                            1 => format!("\x1b[{row};{}H{text}", 1 + dice(20)),
                            2 | 3 => format!("{text}\x1b[K\r\n"),
                            4 => format!("\x1b[2K{text}\r\n"),
                            5 => format!("\x1b[{row}d\x1b[1K{text}"),
                            6 => format!("{text} {frame}\r\n"),
                            _ => format!("\x1b[{row};1H{frame:<20}"),
                        }
                    };
                    let rows: String = (first..first + count).map(&mut row).collect();
                    let frame = match style {
                        2 => format!("\x1b[H{rows}\x1b[J"),
                        3 => format!("\x1b[2J\x1b[{}H{rows}", 1 + first),
                        4 => format!("\x1b[{count}A\r{rows}"),
                        _ => rows,
                    };
                    output.push_str(&frame);
                }
            }
            let bare = round % 2 == 0;
            let before = "a row that goes on in the next\r\nand\x1b[3;3H字\x1b[2;5H";
            let parts =
                |length: usize| sketch_of_parts(&output.as_bytes()[..length], SIZE, Cursor { row: 1, col: 4 }, bare);
            drawn += usize::from(matches!(parts(output.len()).or_else(parts), Ok(Some(_))));
            all += usize::from(output.len() > 3 * SCREENFULS * 80);
            assert_eq!(
                shown(before, &output, bare, true),
                shown(before, &output, bare, false),
                "round {round}: {output:?}, bare: {bare}"
            );
        }
        assert!(drawn > all / 2, "{drawn} of {all}");
    }
}
