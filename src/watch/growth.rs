//! A painted screen that becomes longer.
//!
//! What is printed above a painted block stays there, and so it counts although the same was there before: the answer to
//! a question that is asked once a minute.

use std::time::Duration;

use super::{Moment, Size};

/// What grows again within this time only shows frames that are higher than the screen.
const FRAMES: Duration = Duration::from_secs(5);

/// How long the picture has become.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// The lowest row, from 1, that was ever the first to tick.
    lowest: usize,
    last: Option<Moment>,
}

impl Growth {
    /// Whether it has become longer: its text has `moved_up`, or what is printed above it has pushed the first row that
    /// ticks, 0 for none, lower than ever. The first time that something ticks nothing was pushed.
    pub(super) fn has_grown(&mut self, at: Moment, moved_up: bool, first: usize) -> bool {
        let grown = moved_up || self.lowest > 0 && first > self.lowest;
        self.lowest = self.lowest.max(first);
        grown && self.last.replace(at).is_none_or(|last| at.since(last) >= FRAMES)
    }
}

/// Whether a line that fills the whole screen has gone on, so that its first rows are no longer there: a row of dots that is
/// longer than the screen.
pub(super) fn ran_off(before: &str, text: &str, size: Size) -> bool {
    let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
    let fills = |line: &str| line.chars().count() > cols * (rows - 1);
    let goes_on = |by: usize| {
        let rest = before.char_indices().nth(by * cols).map_or("", |(start, _)| &before[start..]);
        !rest.is_empty() && text.starts_with(rest)
    };
    !text.starts_with(before) && fills(before) && fills(text) && (1..rows).any(goes_on)
}

/// Whether these rows stand higher than before, with something else below them. A picture that is painted anew, however
/// much of it is above the screen, is the same.
pub(super) fn moved_up(before: &[&str], now: &[&str]) -> bool {
    const FURTHEST: usize = 8;
    const LEAST: usize = 3;
    let stood = |by: usize| {
        let rest = &before[by..];
        let text = rest.iter().filter(|row| !row.trim().is_empty()).count();
        text >= LEAST && now.len() >= rest.len() && *rest == now[..rest.len()]
    };
    before != now && (1..=FURTHEST.min(before.len())).any(stood)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_moved_up_is_known_from_text_that_is_painted_again() {
        let before = ["one", "two", "three", "four", "five"];
        assert!(moved_up(&before, &["three", "four", "five", "one", "two"]));
        assert!(moved_up(&["a", "b", "a", "b", "c", "c"], &["b", "a", "b", "c", "c", "c"]));
        assert!(!moved_up(&before, &before));
        assert!(!moved_up(&before, &["one", "two", "three", "four", "six"]));
        assert!(!moved_up(&before, &["four", "five", "six", "seven", "eight"]));
        assert!(!moved_up(&["x"; 9], &["x"; 9]));
    }

    #[test]
    fn a_block_that_is_pushed_down_grows_until_it_scrolls_and_goes_on_to() {
        let mut growth = Growth::default();
        let mut at = |minutes: u64, scrolled, first| {
            growth.has_grown(Moment::START + Duration::from_mins(minutes), scrolled, first)
        };
        assert!(!at(1, false, 3) && at(2, false, 5));
        assert!(!at(3, false, 5) && !at(4, false, 2));
        assert!(at(5, true, 5) && at(6, true, 5));
    }

    #[test]
    fn frames_that_are_higher_than_the_screen_are_no_growth() {
        let mut growth = Growth::default();
        let grown = (1..600).filter(|second| growth.has_grown(Moment::START + Duration::from_secs(*second), true, 0));
        assert_eq!(grown.count(), 1);
    }
}
