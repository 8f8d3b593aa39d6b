//! The figures, as ratios to the floor.

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

struct Row {
    figure: Figure,
    values: Vec<Vec<f64>>,
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

    /// Adds what one round found for the peer of this column.
    pub fn add(&mut self, column: usize, figures: Vec<Figure>) {
        for figure in figures {
            let known = self.rows.iter().position(|row| row.figure.name == figure.name);
            let row = known.unwrap_or_else(|| {
                self.rows.push(Row { figure, values: vec![Vec::new(); self.names.len()] });
                self.rows.len() - 1
            });
            self.rows[row].values[column].push(figure.value);
        }
    }
}

/// The quartile on the better side: what disturbs a measurement only ever makes it worse.
fn quartile(values: &[f64], better: Better) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    if better == Better::More {
        sorted.reverse();
    }
    sorted.get(sorted.len() / 4).copied()
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| better quartile of the rounds | {} |", self.names.join(" | "))?;
        writeln!(f, "|---|{}", "---:|".repeat(self.names.len()))?;
        for Row { figure, values } in &self.rows {
            let figures: Vec<Option<f64>> = values.iter().map(|values| quartile(values, figure.better)).collect();
            let floor = figures.first().copied().flatten();
            let sign = if figure.better == Better::More { "↑" } else { "↓" };
            write!(f, "| {} {sign} |", figure.name)?;
            for (column, value) in figures.iter().enumerate() {
                match (value, floor) {
                    (None, _) => write!(f, " – |")?,
                    (Some(value), Some(floor)) if column > 0 && floor >= 0.05 => {
                        write!(f, " {:.2}× |", value / floor)?;
                    }
                    (Some(value), _) if *value < 10.0 => write!(f, " {value:.2} {} |", figure.unit)?,
                    (Some(value), _) => write!(f, " {value:.0} {} |", figure.unit)?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
