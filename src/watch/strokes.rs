//! What a flood is drawn with, one by one: letters, moves, and what erases.
//!
//! Known here is only what programs draw with for the most part.

use super::pen::Pen;
use super::sieve::LONGEST_SEQUENCE;
use crate::scan;

/// So far apart tabs stop.
const TAB: usize = 8;

/// What it is drawn on.
pub(super) trait Surface {
    /// Where the next letter goes.
    fn pen(&mut self) -> &mut Pen;

    /// Writes letters that take one place each, and goes on in the next row where one is full.
    fn print(&mut self, letters: &[u8]);

    /// Writes any letter. None if it would leave the last place of the row as it is.
    fn print_letter(&mut self, letter: char) -> Option<()>;

    /// Goes down, or takes everything a row up.
    fn down(&mut self);

    /// Erases so many places from the cursor on.
    fn erase(&mut self, count: usize);

    /// Erases the row: from the cursor on (0), up to it (1), or all of it (2).
    fn erase_columns(&mut self, which: usize) -> Option<()>;

    /// Erases the screen in the same ways, or what has scrolled off (3), of which nothing is kept.
    fn erase_rows(&mut self, which: usize) -> Option<()>;
}

/// Draws what `bytes` begin with. Its length; none if it is not known here. With `bare` each line feed returns the carriage.
#[inline]
pub(super) fn stroke(surface: &mut impl Surface, bytes: &[u8], bare: bool) -> Option<usize> {
    if bytes[0] == 0x1b { control(surface, bytes) } else { letter(surface, bytes, bare) }
}

/// Writes the letters that are here, or moves as a single letter does. The length, if there is one.
fn letter(surface: &mut impl Surface, bytes: &[u8], bare: bool) -> Option<usize> {
    match bytes[0] {
        b' '..=b'~' => {
            let length = scan::plain(bytes);
            surface.print(&bytes[..length]);
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
            return (letter >= '\u{a0}').then(|| surface.print_letter(letter)).flatten().map(|()| length);
        }
        b'\n' => {
            if bare {
                surface.pen().go_to_column(0);
            }
            feed(surface)?;
        }
        b'\r' => surface.pen().go_to_column(0),
        b'\t' => {
            let next = (surface.pen().col / TAB + 1) * TAB;
            surface.pen().go_to_column(next);
        }
        0x08 => surface.pen().go_back(1),
        0x07 => {}
        _ => return None,
    }
    Some(1)
}

/// Feeds a line. None if it would stay behind the last column of a row in which nothing is.
fn feed(surface: &mut impl Surface) -> Option<()> {
    let pen = surface.pen();
    if pen.is_last() && pen.col == pen.cols {
        return None;
    }
    surface.down();
    let pen = surface.pen();
    pen.col = pen.col.min(pen.cols - 1);
    Some(())
}

/// Carries out a control sequence. Its length, if it is one of those that are known here.
fn control(surface: &mut impl Surface, bytes: &[u8]) -> Option<usize> {
    let (length, last) = scan::numbers(bytes).filter(|(length, _)| *length <= LONGEST_SEQUENCE)?;
    let (first, second) = parameters(&bytes[2..length - 1], last == b'H' || last == b'f')?;
    let (count, pen) = (first.max(1), surface.pen());
    match last {
        b'H' | b'f' => {
            pen.go_to_column(second.max(1) - 1);
            pen.go_to_row(count - 1);
        }
        b'A' => pen.go_up(count),
        b'B' => pen.go_down(count),
        b'C' => pen.go_to_column(pen.col + count),
        b'D' => pen.go_back(count),
        b'E' => {
            pen.go_down(count);
            pen.go_to_column(0);
        }
        b'F' => {
            pen.go_up(count);
            pen.go_to_column(0);
        }
        b'G' => pen.go_to_column(count - 1),
        b'd' => pen.go_to_row(count - 1),
        b'J' => surface.erase_rows(first)?,
        b'K' => surface.erase_columns(first)?,
        b'X' => surface.erase(count),
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
