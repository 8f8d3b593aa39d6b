//! Where a flood takes the cursor, and which rows it touches on the way: that is quicker to tell than what it draws.

use std::ops::Range;

use super::Size;
use super::beside::Beside;
use super::pen::Pen;
use super::screen::Cursor;
use super::strokes::{Surface, stroke};
use crate::scan;

/// So many rows may be touched for each byte, and so many beyond that: whoever only erases is not followed.
const TOUCHES_PER_BYTE: usize = 4;
const TOUCHES: usize = 1 << 12;

/// What a flood has done.
#[derive(Debug)]
pub(super) struct Trace<'o> {
    /// What was switched and called last, of that which is not a part of the picture.
    pub(super) beside: Beside<'o>,
    /// Places in it to begin at, with the cursor there.
    stops: Vec<(usize, Cursor)>,
    /// Where each row is touched, and where all of them are.
    rows: Vec<Option<Touches>>,
    all: Option<Touches>,
}

/// The first touch and the last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Touches {
    pub(super) first: usize,
    pub(super) last: usize,
}

impl Touches {
    fn also(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last) }
    }
}

impl Trace<'_> {
    /// The last place to begin at that is not after this one, with the cursor there.
    pub(super) fn stop(&self, most: usize) -> Option<(usize, Cursor)> {
        self.stops.iter().rev().find(|(at, _)| *at <= most).copied()
    }

    /// The first of these places that is after this one.
    pub(super) fn stop_after(&self, least: usize) -> Option<usize> {
        self.stops.iter().map(|(at, _)| *at).find(|at| *at > least)
    }

    /// Of those of these rows that were touched before `begin`, each touched for the last time: the first and the last time.
    pub(super) fn last_touches(&self, rows: &[bool], begin: usize) -> Option<Touches> {
        let wanted = self.rows.iter().zip(rows).filter(|(_, wanted)| **wanted);
        let touches = wanted.filter_map(|(row, _)| row.iter().chain(&self.all).copied().reduce(Touches::also));
        let before = touches.filter(|touches| touches.first < begin);
        before.map(|Touches { last, .. }| Touches { first: last, last }).reduce(Touches::also)
    }
}

/// Follows so much of `output`, which is not all of it. The error is how far it can be followed, where there is something in it
/// that is not known. `apart` is how far the places to begin at are apart; with `bare` each line feed returns the carriage.
pub(super) fn trace(
    output: &[u8],
    length: usize,
    apart: usize,
    size: Size,
    cursor: Cursor,
    bare: bool,
) -> Result<Trace<'_>, usize> {
    let mut path =
        Path { at: 0, pen: Pen::new(size, cursor), rows: vec![None; usize::from(size.rows)], all: None, touches: 0 };
    let (mut beside, mut stops, mut next) = (Beside::default(), Vec::new(), apart);
    while path.at < length {
        let rest = &output[path.at..];
        if path.at >= next
            && let Some(cursor) = path.pen.cursor()
        {
            stops.push((path.at, cursor));
            next = path.at + apart;
        }
        if matches!(rest[0], b' '..=b'~') {
            let (length, count) = scan::letters(rest, path.pen.cols - path.pen.col);
            if count > 0 {
                path.touch();
                path.pen.col += count;
                path.at += length;
                continue;
            }
        }
        if path.touches > TOUCHES + TOUCHES_PER_BYTE * path.at {
            return Err(path.at);
        }
        path.at += beside.take(rest).or_else(|| stroke(&mut path, rest, bare)).ok_or(path.at)?;
    }
    Ok(Trace { beside, stops, rows: path.rows, all: path.all })
}

/// How a flood goes.
struct Path {
    at: usize,
    pen: Pen,
    rows: Vec<Option<Touches>>,
    all: Option<Touches>,
    /// How many there were of single rows.
    touches: usize,
}

impl Path {
    /// Something is done to the row that the cursor is in.
    fn touch(&mut self) {
        let row = self.pen.row;
        self.touch_rows(row..row + 1);
    }

    fn touch_rows(&mut self, rows: Range<usize>) {
        self.touches += rows.len();
        self.rows[rows].iter_mut().for_each(|row| touch(row, self.at));
    }

    /// Goes on in the next row where this one is full. That it goes on belongs to its last letter: there is no stop in between.
    fn make_room(&mut self) {
        if self.pen.col == self.pen.cols {
            self.down();
            self.pen.col = 0;
        }
    }
}

fn touch(touches: &mut Option<Touches>, at: usize) {
    let first = touches.map_or(at, |touches| touches.first);
    *touches = Some(Touches { first, last: at });
}

impl Surface for Path {
    fn pen(&mut self) -> &mut Pen {
        &mut self.pen
    }

    fn print(&mut self, letters: &[u8]) {
        let mut left = letters.len();
        while left > 0 {
            self.make_room();
            self.touch();
            let here = left.min(self.pen.cols - self.pen.col);
            self.pen.col += here;
            left -= here;
        }
    }

    fn print_letter(&mut self, letter: char) -> Option<()> {
        let width = self.pen.width(letter)?;
        self.make_room();
        self.touch();
        self.pen.col += width;
        Some(())
    }

    fn down(&mut self) {
        if self.pen.is_last() {
            // Each row is another one now.
            touch(&mut self.all, self.at);
        } else {
            self.pen.row += 1;
        }
    }

    fn erase(&mut self, _: usize) {
        self.touch();
    }

    fn erase_columns(&mut self, which: usize) -> Option<()> {
        self.touch();
        (which < 3).then_some(())
    }

    fn erase_rows(&mut self, which: usize) -> Option<()> {
        let Pen { row, rows, .. } = self.pen;
        match which {
            0 => self.touch_rows(row..rows),
            1 => self.touch_rows(0..row + 1),
            2 => touch(&mut self.all, self.at),
            3 => {}
            _ => return None,
        }
        Some(())
    }
}
