//! A flood of painting, drawn on a sheet that lies on the screen: letters and erased places cover what is under them, and
//! everything else shows through. What is left on the sheet at the end is all that has to be emulated.
//!
//! Known here is only what programs draw with for the most part. At anything else it stops.

use std::collections::VecDeque;
use std::fmt::Write;
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use super::Size;
use super::screen::Cursor;
use super::sieve::LONGEST_SEQUENCE;
use crate::scan;

/// So many places may be made or erased for each byte, and so many whole screens beyond that: a command that prints nothing but
/// what erases a screen takes as long as text.
pub(super) const PER_BYTE: usize = 32;
const SCREENS: usize = 32;
/// So far apart tabs stop.
const TAB: usize = 8;
/// Nothing was drawn here.
const CLEAR: char = '\0';
/// The letter before takes this place too.
const TAIL: char = '\u{1}';

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
    let mut sheet = Sheet::new(size, cursor);
    let mut beside = Beside::default();
    let mut at = 0;
    while let Some(byte) = output.get(at).filter(|_| sheet.erased <= sheet.allowance + PER_BYTE * at) {
        let rest = &output[at..];
        let length = match byte {
            b' '..=b'~' => Some(sheet.print(rest)),
            b'\n' => sheet.feed(bare),
            b'\r' | b'\t' | 0x08 | 0x07 => {
                match byte {
                    b'\r' => sheet.go_to_column(0),
                    b'\t' => sheet.go_to_column((sheet.col / TAB + 1) * TAB),
                    0x08 => sheet.go_back(1),
                    _ => {}
                }
                Some(1)
            }
            0x1b => beside.take(rest).or_else(|| sheet.control(rest)),
            0xc2.. => sheet.print_letter(rest),
            _ => None,
        };
        let Some(length) = length else { break };
        at += length;
    }
    // The last row never goes on in the next.
    let last = sheet.rows.len() - 1;
    let mut rows = sheet.rows.iter().enumerate();
    let covers = rows.all(|(index, row)| !row.cells.contains(&CLEAR) && (row.wraps.is_some() || index == last));
    Sketch { length: at, picture: sheet.picture(), covers, beside }
}

/// What was switched or called last, of what is seen beside the picture: the cursor, whether a frame is to be shown whole,
/// the title.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beside<'o>([Option<&'o [u8]>; 3]);

/// What begins one of them, and which it is.
const BESIDE: [(&[u8], usize); 4] = [(b"\x1b[?25", 0), (b"\x1b[?2026", 1), (b"\x1b]0;", 2), (b"\x1b]2;", 2)];
/// A title that is longer is not one.
const LONGEST_TITLE: usize = 1024;

impl<'o> Beside<'o> {
    /// Takes the escape sequence that `bytes` begin with, if it is one of these or has no effect at all. Its length.
    pub(super) fn take(&mut self, bytes: &'o [u8]) -> Option<usize> {
        // Most are colours; and letters are letters.
        let of_no_effect = scan::look(bytes).or_else(|| bytes.starts_with(b"\x1b(B").then_some(3));
        if of_no_effect.is_some() {
            return of_no_effect;
        }
        let which = BESIDE.iter().find(|(name, _)| bytes.starts_with(name));
        let length = if bytes.starts_with(b"\x1b]") {
            let end = 2 + bytes[2..].iter().take(LONGEST_TITLE).position(|byte| *byte < b' ')?;
            match &bytes[end..] {
                [0x07, ..] => end + 1,
                [0x1b, b'\\', ..] => end + 2,
                _ => return None,
            }
        } else {
            let end = which?.0.len();
            matches!(bytes.get(end)?, b'h' | b'l').then_some(end + 1)?
        };
        if let Some((_, which)) = which {
            self.0[*which] = Some(&bytes[..length]);
        }
        Some(length)
    }

    /// The sequences.
    pub(super) fn sequences(self) -> impl Iterator<Item = &'o [u8]> {
        self.0.into_iter().flatten()
    }
}

#[derive(Debug, Clone)]
struct Row {
    cells: Vec<char>,
    /// Whether it goes on in the next row, if that was decided.
    wraps: Option<bool>,
}

impl Row {
    /// The places of these columns, for something else: nothing stays of a letter that was in there with one half.
    fn take(&mut self, columns: Range<usize>) -> &mut [char] {
        if self.cells.get(columns.start) == Some(&TAIL) {
            self.cells[columns.start - 1] = ' ';
        }
        if self.cells.get(columns.end) == Some(&TAIL) {
            self.cells[columns.end] = ' ';
        }
        &mut self.cells[columns]
    }

    /// Erases these columns.
    fn erase(&mut self, columns: Range<usize>) {
        if columns.end == self.cells.len() {
            self.wraps = Some(false);
        }
        self.take(columns).fill(' ');
    }
}

/// The sheet.
struct Sheet {
    cols: usize,
    row: usize,
    /// Behind the last column where a letter was written there.
    col: usize,
    rows: VecDeque<Row>,
    /// How often the screen was scrolled up.
    scrolled: usize,
    /// How many places were erased or cleared, and how many may be whatever the length.
    erased: usize,
    allowance: usize,
}

impl Sheet {
    fn new(size: Size, cursor: Cursor) -> Self {
        let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
        let Cursor { row, col } = cursor;
        let clear = Row { cells: vec![CLEAR; cols], wraps: None };
        let allowance = SCREENS * cols * rows;
        Self { cols, row, col, rows: vec![clear; rows].into(), scrolled: 0, erased: 0, allowance }
    }

    /// Writes as many letters as there are.
    fn print(&mut self, bytes: &[u8]) -> usize {
        if self.col == self.cols {
            self.wrap();
        }
        let length = scan::plain(&bytes[..bytes.len().min(self.cols - self.col)]);
        let places = self.rows[self.row].take(self.col..self.col + length);
        for (place, byte) in places.iter_mut().zip(bytes) {
            *place = char::from(*byte);
        }
        self.col += length;
        length
    }

    /// Writes a letter of more bytes.
    fn print_letter(&mut self, bytes: &[u8]) -> Option<usize> {
        let length = match bytes[0] {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        let letter = std::str::from_utf8(bytes.get(..length)?).ok()?.chars().next()?;
        // Controls of the old eight bits begin sequences.
        if letter < '\u{a0}' {
            return None;
        }
        let width = if letter.width() == Some(2) { 2 } else { 1 };
        if self.col % self.cols + width > self.cols {
            // It goes into the next row, and the last place of this one stays as it is.
            return None;
        }
        if self.col == self.cols {
            self.wrap();
        }
        let end = self.col + width;
        let places = self.rows[self.row].take(self.col..end);
        places[0] = letter;
        places[1..].fill(TAIL);
        self.col = end;
        Some(length)
    }

    /// Goes on in the next row.
    fn wrap(&mut self) {
        self.rows[self.row].wraps = Some(true);
        self.down();
        self.col = 0;
    }

    fn down(&mut self) {
        if self.row + 1 < self.rows.len() {
            self.row += 1;
            return;
        }
        self.scrolled += 1;
        self.erased += self.cols;
        if let Some(mut row) = self.rows.pop_front() {
            row.cells.fill(CLEAR);
            row.wraps = None;
            self.rows.push_back(row);
        }
    }

    fn feed(&mut self, bare: bool) -> Option<usize> {
        if bare {
            self.col = 0;
        }
        let scrolls = self.row + 1 == self.rows.len();
        if scrolls && self.col == self.cols {
            // It stays behind the last column of a row in which nothing is.
            return None;
        }
        self.down();
        self.col = self.col.min(self.cols - 1);
        Some(1)
    }

    fn go_to_column(&mut self, col: usize) {
        self.col = col.min(self.cols - 1);
    }

    fn go_to_row(&mut self, row: usize) {
        self.row = row.min(self.rows.len() - 1);
        self.col = self.col.min(self.cols - 1);
    }

    fn go_back(&mut self, count: usize) {
        self.col = self.col.min(self.cols - 1).saturating_sub(count);
    }

    /// Carries out a control sequence. Its length, if it is one of those that are known here.
    fn control(&mut self, bytes: &[u8]) -> Option<usize> {
        let (length, last) = scan::numbers(bytes).filter(|(length, _)| *length <= LONGEST_SEQUENCE)?;
        let (first, second) = parameters(&bytes[2..length - 1], last == b'H' || last == b'f')?;
        let count = first.max(1);
        match last {
            b'H' | b'f' => {
                self.go_to_column(second.max(1) - 1);
                self.go_to_row(count - 1);
            }
            b'A' => self.go_to_row(self.row.saturating_sub(count)),
            b'B' => self.go_to_row(self.row + count),
            b'C' => self.go_to_column(self.col + count),
            b'D' => self.go_back(count),
            b'E' => {
                self.go_to_row(self.row + count);
                self.col = 0;
            }
            b'F' => {
                self.go_to_row(self.row.saturating_sub(count));
                self.col = 0;
            }
            b'G' => self.go_to_column(count - 1),
            b'd' => self.go_to_row(count - 1),
            b'J' => self.erase_rows(first)?,
            b'K' => self.erase_columns(first)?,
            b'X' => {
                let columns = self.col..self.cols.min(self.col + count);
                self.rows[self.row].erase(columns);
            }
            _ => return None,
        }
        Some(length)
    }

    fn erase_columns(&mut self, which: usize) -> Option<()> {
        self.erased += self.cols;
        let (row, col) = (&mut self.rows[self.row], self.col);
        match which {
            0 => row.erase(col..self.cols),
            1 => self.erase_before(),
            2 => row.erase(0..self.cols),
            _ => return None,
        }
        Some(())
    }

    /// Erases up to the cursor, which leaves open whether the row goes on in the next.
    fn erase_before(&mut self) {
        self.rows[self.row].take(0..self.cols.min(self.col + 1)).fill(' ');
    }

    fn erase_rows(&mut self, which: usize) -> Option<()> {
        let whole = match which {
            0 => {
                self.erase_columns(0);
                self.row + 1..self.rows.len()
            }
            1 => {
                self.erase_before();
                0..self.row
            }
            2 => 0..self.rows.len(),
            // What has scrolled off, of which nothing is kept.
            3 => return Some(()),
            _ => return None,
        };
        self.erased += whole.len() * self.cols;
        for row in self.rows.range_mut(whole) {
            row.erase(0..self.cols);
        }
        Some(())
    }

    /// What leaves the same picture and the cursor in the same place.
    fn picture(&self) -> String {
        let mut picture = String::new();
        let go_to = |picture: &mut String, row: usize, col: usize| {
            let _ = write!(picture, "\x1b[{};{}H", row + 1, col + 1);
        };
        if self.scrolled > 0 {
            go_to(&mut picture, self.rows.len() - 1, 0);
            picture.extend(std::iter::repeat_n('\n', self.scrolled.min(self.rows.len())));
        }
        // First what is erased, since a row that goes on in the next is written without a pause.
        let mut ends = Vec::with_capacity(self.rows.len());
        for (index, row) in self.rows.iter().enumerate() {
            let mut end = self.cols;
            if row.wraps == Some(false) {
                end = row.cells.iter().rposition(|cell| *cell != ' ').map_or(0, |last| last + 1);
                go_to(&mut picture, index, end.min(self.cols - 1));
                picture.push_str("\x1b[K");
            }
            ends.push(end);
        }
        let mut goes_on = false;
        for ((index, row), end) in self.rows.iter().enumerate().zip(ends) {
            let mut drawn = goes_on;
            let end = end.max(usize::from(goes_on));
            for (col, cell) in row.cells[..end].iter().enumerate() {
                if *cell != CLEAR && *cell != TAIL {
                    if !drawn {
                        go_to(&mut picture, index, col);
                    }
                    picture.push(*cell);
                }
                drawn = *cell != CLEAR;
            }
            goes_on = row.wraps == Some(true);
        }
        if self.col < self.cols {
            go_to(&mut picture, self.row, self.col);
        } else {
            // Whatever was written there last is written once more.
            let cells = &self.rows[self.row].cells;
            let last = cells.iter().rposition(|cell| *cell != TAIL).unwrap_or(0);
            go_to(&mut picture, self.row, last);
            picture.push(cells[last]);
        }
        picture
    }
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
    use super::super::screen::tests::{SIZE, texts};
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
        let mut random = 4_711_u64;
        let mut dice = |sides: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(random >> 33).unwrap() % sides
        };
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
