//! A flood of painting, drawn on a sheet that lies on the screen. What is left on the sheet at the end is all that has to
//! be emulated.
//!
//! Known here is only what programs draw with for the most part. At anything else it stops.

use super::Size;
use super::beside::Beside;
use super::screen::Cursor;
use super::sheet::Sheet;
use super::sieve::LONGEST_SEQUENCE;
use crate::scan;

/// So far apart tabs stop.
const TAB: usize = 8;

/// What came of a flood.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sketch<'o> {
    /// How much of it was drawn.
    pub(super) length: usize,
    /// What leaves the same picture as that.
    pub(super) picture: String,
    /// Nothing of what was there before is seen any more.
    pub(super) covers: bool,
    /// What was switched and called last, of that which is not a part of the picture.
    pub(super) beside: Beside<'o>,
}

/// Draws `output` as far as it can be. The emulator has to be in the state in which it begins, but for what is on it and
/// where its cursor is. With `bare` each line feed returns the carriage.
pub(super) fn sketch(output: &[u8], size: Size, cursor: Cursor, bare: bool) -> Sketch<'_> {
    let (mut sheet, mut beside, mut at) = (Sheet::new(size, cursor), Beside::default(), 0);
    while at < output.len() && !sheet.is_spent(at) {
        let rest = &output[at..];
        let Some(length) =
            letter(&mut sheet, rest, bare).or_else(|| beside.take(rest)).or_else(|| control(&mut sheet, rest))
        else {
            break;
        };
        at += length;
    }
    Sketch { length: at, picture: sheet.picture(), covers: sheet.covers(), beside }
}

/// Writes the letters that are here, or moves as a single letter does. The length, if there is one.
fn letter(sheet: &mut Sheet, bytes: &[u8], bare: bool) -> Option<usize> {
    match bytes[0] {
        b' '..=b'~' => {
            let room = sheet.room();
            let length = scan::plain(&bytes[..bytes.len().min(room)]);
            sheet.print(&bytes[..length]);
            return Some(length);
        }
        first @ 0xc2.. => {
            let length = match first {
                ..=0xdf => 2,
                0xe0..=0xef => 3,
                _ => 4,
            };
            let letter = std::str::from_utf8(bytes.get(..length)?).ok()?.chars().next()?;
            // Controls of the old eight bits begin sequences.
            return (letter >= '\u{a0}').then(|| sheet.print_letter(letter)).flatten().map(|()| length);
        }
        b'\n' => {
            if bare {
                sheet.go_to_column(0);
            }
            sheet.feed()?;
        }
        b'\r' => sheet.go_to_column(0),
        b'\t' => sheet.go_to_column((sheet.column() / TAB + 1) * TAB),
        0x08 => sheet.go_back(1),
        0x07 => {}
        _ => return None,
    }
    Some(1)
}

/// Carries out a control sequence. Its length, if it is one of those that are known here.
fn control(sheet: &mut Sheet, bytes: &[u8]) -> Option<usize> {
    let (length, last) = scan::numbers(bytes).filter(|(length, _)| *length <= LONGEST_SEQUENCE)?;
    let (first, second) = parameters(&bytes[2..length - 1], last == b'H' || last == b'f')?;
    let count = first.max(1);
    match last {
        b'H' | b'f' => {
            sheet.go_to_column(second.max(1) - 1);
            sheet.go_to_row(count - 1);
        }
        b'A' => sheet.go_to_row(sheet.row().saturating_sub(count)),
        b'B' => sheet.go_to_row(sheet.row() + count),
        b'C' => sheet.go_to_column(sheet.column() + count),
        b'D' => sheet.go_back(count),
        b'E' => {
            sheet.go_to_row(sheet.row() + count);
            sheet.go_to_column(0);
        }
        b'F' => {
            sheet.go_to_row(sheet.row().saturating_sub(count));
            sheet.go_to_column(0);
        }
        b'G' => sheet.go_to_column(count - 1),
        b'd' => sheet.go_to_row(count - 1),
        b'J' => sheet.erase_rows(first)?,
        b'K' => sheet.erase_columns(first)?,
        b'X' => sheet.erase(count),
        _ => return None,
    }
    Some(length)
}

/// The numbers of a control sequence, 0 where there is none: one, or with `two` up to two.
fn parameters(bytes: &[u8], two: bool) -> Option<(usize, usize)> {
    let (mut numbers, mut which) = ([0, 0], 0);
    for byte in bytes {
        match byte {
            b'0'..=b'9' if numbers[which] < 1000 => {
                numbers[which] = numbers[which] * 10 + usize::from(byte - b'0');
            }
            b';' if two && which == 0 => which = 1,
            _ => return None,
        }
    }
    Some((numbers[0], numbers[1]))
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
            assert!(sketch(flood.as_bytes(), size, HOME, false).length < flood.len() / 2, "{flood:?}");
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
}
