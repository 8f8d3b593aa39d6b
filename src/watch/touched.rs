//! What the emulator says of its screen while it works.

/// Which rows were written to since they were last read.
#[derive(Debug)]
pub(super) struct Touched {
    pub(super) rows: Vec<bool>,
}

impl Touched {
    /// Every row of a screen of so many.
    pub(super) fn all(rows: u16) -> Self {
        Self { rows: vec![true; rows.into()] }
    }
}

impl avt::Observer for Touched {
    type Output = ();

    fn resized(&mut self, _cols: usize, rows: usize) {
        self.rows.clear();
        self.rows.resize(rows, true);
    }

    fn dirty(&mut self, rows: std::ops::Range<usize>) {
        let end = rows.end.min(self.rows.len());
        self.rows[rows.start.min(end)..end].fill(true);
    }

    fn end(&mut self, _: &mut avt::Observation<'_>) {}
}
