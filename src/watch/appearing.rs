//! Lines that appear on a painted screen: each is counted when more copies of it are visible than before.

use std::collections::HashMap;
use std::time::Duration;

use super::Moment;
use super::line_form::LineForm;
use super::mask::mask;
use super::screen::Line;

/// A line that comes back to its row within this time was only redrawn.
const REDRAWN: Duration = Duration::from_secs(1);

/// What the last picture held.
#[derive(Debug, Default)]
pub(super) struct Appearing {
    shown: HashMap<u64, u8>,
    /// What the rows held in the last picture.
    held: Vec<(usize, u64)>,
    /// What they held a moment ago, and until when.
    lately: HashMap<(usize, u64), Moment>,
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
        self.lately.retain(|_, until| now.since(*until) < REDRAWN);
        self.lately.extend(self.held.drain(..).map(|place| (place, now)));
        for line in lines.iter().filter(|line| !skip(line.row)) {
            let taken = mask(&line.text, &mut self.masked);
            // A status line is not a line of the story.
            let hash = if taken.spinner && taken.elapsed { None } else { self.form.hash(&line.text) };
            let Some((hash, _)) = hash else { continue };
            let count = shown.entry(hash).or_default();
            *count = count.saturating_add(1);
            let more = *count > self.shown.get(&hash).copied().unwrap_or(0);
            self.held.push((line.row, hash));
            if more && !self.lately.contains_key(&(line.row, hash)) {
                appear(&line.text);
            }
        }
        self.shown = shown;
    }
}
