//! Lines that appear on a painted screen: each is counted when more copies of it are visible than before.

use std::collections::HashMap;
use std::time::Duration;

use super::Moment;
use super::loops::LineForm;
use super::mask::mask;
use super::screen::Line;

/// A line that comes back to its row within this time was only redrawn.
const REDRAWN: Duration = Duration::from_secs(1);

/// What the last picture held.
#[derive(Debug, Default)]
pub(super) struct Appearing {
    shown: HashMap<u64, u8>,
    /// What each row last held, and when.
    rows: Vec<Option<(u64, Moment)>>,
    form: LineForm,
    masked: String,
}

impl Appearing {
    /// Gives `appear` each line of the picture that was not there, or not as often. `skip` says which rows to leave out.
    pub(super) fn look(
        &mut self,
        now: Moment,
        lines: &[Line],
        skip: impl Fn(usize) -> bool,
        appear: &mut dyn FnMut(&str),
    ) {
        let mut shown: HashMap<u64, u8> = HashMap::with_capacity(lines.len());
        self.rows.resize(lines.last().map_or(0, |line| line.row + 1), None);
        for line in lines.iter().filter(|line| !skip(line.row)) {
            let taken = mask(&line.text, &mut self.masked);
            // A status line is not a line of the story.
            let hash = if taken.spinner && taken.elapsed { None } else { self.form.hash(&line.text) };
            let Some(hash) = hash else { continue };
            let count = shown.entry(hash).or_default();
            *count = count.saturating_add(1);
            let more = *count > self.shown.get(&hash).copied().unwrap_or(0);
            let before = self.rows[line.row].replace((hash, now));
            let redrawn = before.is_some_and(|(held, at)| held == hash && now.since(at) < REDRAWN);
            if more && !redrawn {
                appear(&line.text);
            }
        }
        self.shown = shown;
    }
}
