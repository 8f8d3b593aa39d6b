//! Lines that appear on a painted screen: each is counted when more copies of it are visible than before.

use std::collections::HashMap;

use super::loops::LineForm;
use super::screen::Line;

/// What the last whole picture held.
#[derive(Debug, Default)]
pub(super) struct Appearing {
    shown: HashMap<u64, u8>,
    filled: usize,
    form: LineForm,
}

impl Appearing {
    /// Gives `appear` each line of the picture that was not there, or not as often. `skip` says which rows to leave out.
    pub(super) fn look(&mut self, lines: &[Line], skip: impl Fn(usize) -> bool, appear: &mut dyn FnMut(&str)) {
        let filled = lines.iter().filter(|line| !line.text.is_empty()).count();
        if filled * 5 < self.filled * 3 {
            // Half erased: what is missing comes back with the next stroke. A screen that stays empty is believed.
            self.filled = filled.max(self.filled / 2);
            return;
        }
        self.filled = filled;
        let mut shown: HashMap<u64, u8> = HashMap::with_capacity(lines.len());
        for line in lines.iter().filter(|line| !skip(line.row)) {
            let Some(hash) = self.form.hash(&line.text) else { continue };
            let count = shown.entry(hash).or_default();
            *count = count.saturating_add(1);
            if *count > self.shown.get(&hash).copied().unwrap_or(0) {
                appear(&line.text);
            }
        }
        self.shown = shown;
    }
}
