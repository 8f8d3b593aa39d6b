//! A sheet that lies on the screen: letters and erased places cover what is under them, and everything else shows through.

use std::collections::VecDeque;
use std::fmt::Write;
use std::ops::Range;

use super::Size;
use super::pen::Pen;
use super::screen::Cursor;
use super::strokes::Surface;
use crate::scan::Letters;

/// So many places may be made or erased for each byte, and so many whole screens beyond that: a command that prints nothing but
/// what erases a screen takes as long as text.
pub(super) const PER_BYTE: usize = 32;
const SCREENS: usize = 32;
/// Nothing was drawn here.
const CLEAR: char = '\0';
/// The letter before takes this place too.
const TAIL: char = '\u{1}';

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
pub(super) struct Sheet {
    pen: Pen,
    rows: VecDeque<Row>,
    /// How often the screen was scrolled up.
    scrolled: usize,
    /// How many places were erased or cleared, and how many may be whatever the length.
    erased: usize,
    allowance: usize,
}

impl Sheet {
    pub(super) fn new(size: Size, cursor: Cursor) -> Self {
        let pen = Pen::new(size, cursor);
        let clear = Row { cells: vec![CLEAR; pen.cols], wraps: None };
        let allowance = SCREENS * pen.cols * pen.rows;
        Self { rows: vec![clear; pen.rows].into(), pen, scrolled: 0, erased: 0, allowance }
    }

    /// Goes on from another place.
    pub(super) fn go_to(&mut self, cursor: Cursor) {
        (self.pen.row, self.pen.col) = (cursor.row, cursor.col);
    }

    /// Goes on in the next row where this one is full.
    fn make_room(&mut self) {
        if self.pen.col == self.pen.cols {
            self.rows[self.pen.row].wraps = Some(true);
            self.down();
            self.pen.col = 0;
        }
    }

    /// Writes these, unless there is no room for them in the row.
    pub(super) fn print_coloured(&mut self, letters: Letters<'_>) -> bool {
        let end = self.pen.col + letters.count();
        let fits = end <= self.pen.cols;
        if fits {
            letters.write(self.rows[self.pen.row].take(self.pen.col..end));
            self.pen.col = end;
        }
        fits
    }

    /// Whether more was erased than output of this length is worth.
    pub(super) fn is_spent(&self, length: usize) -> bool {
        self.erased > self.allowance + PER_BYTE * length
    }

    /// Of which rows under it something is still seen, each where it was before anything was drawn.
    pub(super) fn open(&self) -> Vec<bool> {
        // The last row never goes on in the next.
        let last = self.rows.len() - 1;
        let rows = self.rows.iter().enumerate();
        let open = rows.map(|(index, row)| row.cells.contains(&CLEAR) || (row.wraps.is_none() && index < last));
        std::iter::repeat_n(false, self.scrolled).chain(open).take(self.rows.len()).collect()
    }

    /// Erases up to the cursor, which leaves open whether the row goes on in the next.
    fn erase_before(&mut self) {
        let Pen { row, col, cols, .. } = self.pen;
        self.rows[row].take(0..cols.min(col + 1)).fill(' ');
    }

    /// What leaves the same picture and the cursor in the same place.
    pub(super) fn picture(&self) -> String {
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
            let mut end = self.pen.cols;
            if row.wraps == Some(false) {
                end = row.cells.iter().rposition(|cell| *cell != ' ').map_or(0, |last| last + 1);
                go_to(&mut picture, index, end.min(self.pen.cols - 1));
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
        if self.pen.col < self.pen.cols {
            go_to(&mut picture, self.pen.row, self.pen.col);
        } else {
            // Whatever was written there last is written once more.
            let cells = &self.rows[self.pen.row].cells;
            let last = cells.iter().rposition(|cell| *cell != TAIL).unwrap_or(0);
            go_to(&mut picture, self.pen.row, last);
            picture.push(cells[last]);
        }
        picture
    }
}

impl Surface for Sheet {
    fn pen(&mut self) -> &mut Pen {
        &mut self.pen
    }

    fn print(&mut self, mut letters: &[u8]) {
        while !letters.is_empty() {
            self.make_room();
            let (here, rest) = letters.split_at(letters.len().min(self.pen.cols - self.pen.col));
            let end = self.pen.col + here.len();
            let places = self.rows[self.pen.row].take(self.pen.col..end);
            for (place, letter) in places.iter_mut().zip(here) {
                *place = char::from(*letter);
            }
            (self.pen.col, letters) = (end, rest);
        }
    }

    fn print_letter(&mut self, letter: char) -> Option<()> {
        let width = self.pen.width(letter)?;
        self.make_room();
        let end = self.pen.col + width;
        let places = self.rows[self.pen.row].take(self.pen.col..end);
        places[0] = letter;
        places[1..].fill(TAIL);
        self.pen.col = end;
        Some(())
    }

    fn down(&mut self) {
        if !self.pen.is_last() {
            self.pen.row += 1;
            return;
        }
        self.scrolled += 1;
        self.erased += self.pen.cols;
        if let Some(mut row) = self.rows.pop_front() {
            row.cells.fill(CLEAR);
            row.wraps = None;
            self.rows.push_back(row);
        }
    }

    fn erase(&mut self, count: usize) {
        let Pen { row, col, cols, .. } = self.pen;
        self.rows[row].erase(col..cols.min(col + count));
    }

    fn erase_columns(&mut self, which: usize) -> Option<()> {
        let Pen { row, col, cols, .. } = self.pen;
        self.erased += cols;
        match which {
            0 => self.rows[row].erase(col..cols),
            1 => self.erase_before(),
            2 => self.rows[row].erase(0..cols),
            _ => return None,
        }
        Some(())
    }

    fn erase_rows(&mut self, which: usize) -> Option<()> {
        let row = self.pen.row;
        let whole = match which {
            0 => {
                self.erase_columns(0);
                row + 1..self.rows.len()
            }
            1 => {
                self.erase_before();
                0..row
            }
            2 => 0..self.rows.len(),
            3 => return Some(()),
            _ => return None,
        };
        self.erased += whole.len() * self.pen.cols;
        for row in self.rows.range_mut(whole) {
            row.erase(0..self.pen.cols);
        }
        Some(())
    }
}
