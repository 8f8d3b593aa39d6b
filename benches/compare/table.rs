//! The figures, as ratios to the floor.

use std::collections::BTreeMap;
use std::fmt;

use crate::peers::Peer;

/// One figure of one round.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// What it is.
    pub name: &'static str,
    /// Its unit, for the floor's own figure.
    pub unit: &'static str,
    /// Its value.
    pub value: f64,
    /// Which is better.
    pub better: Better,
}

/// Which of two figures is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The larger: a throughput.
    More,
    /// The smaller.
    Less,
}

/// What each peer showed of one figure, round by round; none where it failed.
struct Row {
    figure: Figure,
    values: Vec<BTreeMap<usize, f64>>,
}

/// The table that is printed: a row for each figure, a column for each peer.
pub struct Table {
    names: Vec<String>,
    rows: Vec<Row>,
}

impl Table {
    /// An empty table for these peers, of which the first is the floor.
    pub fn new(peers: &[Peer]) -> Self {
        Self { names: peers.iter().map(|peer| peer.name.clone()).collect(), rows: Vec::new() }
    }

    /// Adds what this round found for the peer of this column.
    pub fn add(&mut self, column: usize, round: usize, figures: Vec<Figure>) {
        for figure in figures {
            let known = self.rows.iter().position(|row| row.figure.name == figure.name);
            let row = known.unwrap_or_else(|| {
                self.rows.push(Row { figure, values: vec![BTreeMap::new(); self.names.len()] });
                self.rows.len() - 1
            });
            self.rows[row].values[column].insert(round, figure.value);
        }
    }
}

/// Below this a ratio to it means nothing.
const NEXT_TO_NOTHING: f64 = 0.05;

impl Row {
    fn floor(&self) -> Option<f64> {
        quartiles(self.values.first()?.values().copied().collect()).map(|[_, median, _]| median)
    }

    /// The ratios to the floor of the same round: what disturbed the one has disturbed the other.
    fn ratios(&self, column: usize) -> Vec<f64> {
        let floor = &self.values[0];
        self.values[column].iter().filter_map(|(round, value)| Some(value / floor.get(round)?)).collect()
    }

    fn cell(&self, column: usize) -> String {
        let unit = self.figure.unit;
        let own = quartiles(self.values[column].values().copied().collect()).map(|[_, median, _]| median);
        if column > 0 && self.floor().is_some_and(|floor| floor >= NEXT_TO_NOTHING) {
            return match quartiles(self.ratios(column)) {
                Some([low, median, high]) if high - low >= 0.01 => format!("{median:.2}× ({low:.2}–{high:.2})"),
                Some([_, median, _]) => format!("{median:.2}×"),
                None => "–".to_owned(),
            };
        }
        match own {
            Some(value) if value < 10.0 => format!("{value:.2} {unit}"),
            Some(value) => format!("{value:.0} {unit}"),
            None => "–".to_owned(),
        }
    }
}

/// A quarter is below the first, half below the second, three quarters below the third.
fn quartiles(mut values: Vec<f64>) -> Option<[f64; 3]> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some([1, 2, 3].map(|quarter| values[(last * quarter + 2) / 4]))
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| median of the rounds (quartiles) | {} |", self.names.join(" | "))?;
        writeln!(f, "|---|{}", "---:|".repeat(self.names.len()))?;
        for row in &self.rows {
            let sign = if row.figure.better == Better::More { "↑" } else { "↓" };
            let cells: Vec<String> = (0..self.names.len()).map(|column| row.cell(column)).collect();
            writeln!(f, "| {} {sign} | {} |", row.figure.name, cells.join(" | "))?;
        }
        Ok(())
    }
}
