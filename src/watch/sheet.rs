//! A sheet that lies on the screen: letters and erased places cover what is under them, and everything else shows through.

use std::collections::VecDeque;
use std::fmt::Write;
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use super::Size;
use super::screen::Cursor;

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
    pub(super) fn new(size: Size, cursor: Cursor) -> Self {
        let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
        let Cursor { row, col } = cursor;
        let clear = Row { cells: vec![CLEAR; cols], wraps: None };
        let allowance = SCREENS * cols * rows;
        Self { cols, row, col, rows: vec![clear; rows].into(), scrolled: 0, erased: 0, allowance }
    }

    /// How many letters there is room for in the row, after it goes on in the next one if it has to.
    pub(super) fn room(&mut self) -> usize {
        if self.col == self.cols {
            self.wrap();
        }
        self.cols - self.col
    }

    /// Writes letters that take one place each, for which there is room.
    pub(super) fn print(&mut self, letters: &[u8]) {
        let end = self.col + letters.len();
        let places = self.rows[self.row].take(self.col..end);
        for (place, letter) in places.iter_mut().zip(letters) {
            *place = char::from(*letter);
        }
        self.col = end;
    }

    /// Writes any letter. None if it would leave the last place of the row as it is.
    pub(super) fn print_letter(&mut self, letter: char) -> Option<()> {
        let width = if letter.width() == Some(2) { 2 } else { 1 };
        if self.col % self.cols + width > self.cols {
            return None;
        }
        self.room();
        let end = self.col + width;
        let places = self.rows[self.row].take(self.col..end);
        places[0] = letter;
        places[1..].fill(TAIL);
        self.col = end;
        Some(())
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

    /// Feeds a line. None if it would stay behind the last column of a row in which nothing is.
    pub(super) fn feed(&mut self) -> Option<()> {
        let scrolls = self.row + 1 == self.rows.len();
        if scrolls && self.col == self.cols {
            return None;
        }
        self.down();
        self.col = self.col.min(self.cols - 1);
        Some(())
    }

    pub(super) fn row(&self) -> usize {
        self.row
    }

    pub(super) fn column(&self) -> usize {
        self.col
    }

    /// Whether more was erased than output of this length is worth.
    pub(super) fn is_spent(&self, length: usize) -> bool {
        self.erased > self.allowance + PER_BYTE * length
    }

    /// Whether nothing of what is under it is seen any more.
    pub(super) fn covers(&self) -> bool {
        // The last row never goes on in the next.
        let last = self.rows.len() - 1;
        let mut rows = self.rows.iter().enumerate();
        rows.all(|(index, row)| !row.cells.contains(&CLEAR) && (row.wraps.is_some() || index == last))
    }

    pub(super) fn go_to_column(&mut self, col: usize) {
        self.col = col.min(self.cols - 1);
    }

    pub(super) fn go_to_row(&mut self, row: usize) {
        self.row = row.min(self.rows.len() - 1);
        self.col = self.col.min(self.cols - 1);
    }

    pub(super) fn go_back(&mut self, count: usize) {
        self.col = self.col.min(self.cols - 1).saturating_sub(count);
    }

    /// Erases so many places from the cursor on.
    pub(super) fn erase(&mut self, count: usize) {
        let columns = self.col..self.cols.min(self.col + count);
        self.rows[self.row].erase(columns);
    }

    /// Erases the row: from the cursor on, up to it, or all of it.
    pub(super) fn erase_columns(&mut self, which: usize) -> Option<()> {
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

    /// Erases the screen in the same ways.
    pub(super) fn erase_rows(&mut self, which: usize) -> Option<()> {
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
