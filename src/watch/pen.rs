//! Where the next letter of a flood goes.

use super::Size;
use super::screen::Cursor;

/// A cursor, and the screen that it moves on.
#[derive(Debug, Clone)]
pub(super) struct Pen {
    pub(super) cols: usize,
    pub(super) rows: usize,
    pub(super) row: usize,
    /// Behind the last column where a letter was written there.
    pub(super) col: usize,
}

impl Pen {
    pub(super) fn new(size: Size, cursor: Cursor) -> Self {
        let Cursor { row, col } = cursor;
        Self { cols: usize::from(size.cols), rows: usize::from(size.rows), row, col }
    }

    /// Where it is, unless that is behind the last column.
    pub(super) fn cursor(&self) -> Option<Cursor> {
        (self.col < self.cols).then_some(Cursor { row: self.row, col: self.col })
    }

    pub(super) fn go_to_column(&mut self, col: usize) {
        self.col = col.min(self.cols - 1);
    }

    pub(super) fn go_to_row(&mut self, row: usize) {
        self.row = row.min(self.rows - 1);
        self.col = self.col.min(self.cols - 1);
    }

    pub(super) fn go_up(&mut self, count: usize) {
        self.go_to_row(self.row.saturating_sub(count));
    }

    pub(super) fn go_down(&mut self, count: usize) {
        self.go_to_row(self.row + count);
    }

    pub(super) fn go_back(&mut self, count: usize) {
        self.col = self.col.min(self.cols - 1).saturating_sub(count);
    }

    /// Whether it is in the last row, from where it takes everything a row up instead of going down.
    pub(super) fn is_last(&self) -> bool {
        self.row + 1 == self.rows
    }

    /// How wide a letter is. None if it would leave the last place of the row as it is.
    pub(super) fn width(&self, letter: char) -> Option<usize> {
        use unicode_width::UnicodeWidthChar;

        let width = if letter.width() == Some(2) { 2 } else { 1 };
        (self.col % self.cols + width <= self.cols).then_some(width)
    }
}
