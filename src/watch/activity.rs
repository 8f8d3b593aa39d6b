//! What counts as activity: the one rule.
//!
//! **The rule.** A program at work leaves something behind; a program that only passes the time replaces what it drew.
//! So a look at the screen counts as progress when a line shows text that was never there before, once everything that
//! time alone changes is masked ([`mask`](super::mask)). In a *status line*, one that keeps turning or timing, and in
//! what hangs below it, new wording is decoration (a verb, a tip; a tip anywhere) and only its counters, a bar that is
//! filled further and a mark that it is done count; unless the wording of the line keeps changing, every few seconds, as the name of the file being
//! worked on does. Text seen before is old news wherever it appears until a line is completed: the next bar or row of
//! dots begins where the last one did. A spinner replaces its glyph, so glyphs that are added one by one count too. A
//! line that is being redrawn is not a new line, and the number of a retry is not progress.

use std::collections::VecDeque;
use std::time::Duration;

use super::complaint::{is_marked_done, is_retry, is_tip};
use super::gauge::Numbers;
use super::growth::{moved_up, ran_off};
use super::mask::added_glyphs;
use super::profile::StatusWords;
use super::scramble::Scramble;
use super::screen::Line;
use super::seen::Seen;
use super::wording::{
    are_among, bare_signs, counts_on, does_the_same_to_another, fills_further, names_another, without_attempt, words,
};
use super::{Counting, Moment, Size};

/// A status line that finds other words so often and brings nothing else only passes the time.
const MOST_STAGES: u8 = 4;

/// A line that turned or timed this recently is a status line.
pub(super) const STATUS_LASTS: Duration = Duration::from_secs(4);
/// New wording of a status line counts when it comes at least this often. Recorded agents that hang change a verb or a
/// tip every ten seconds at the quickest (claude, while it seems to think), most of them every fifteen or more.
const BRISK: Duration = Duration::from_secs(9);
/// How many lines are kept to recognise one that is half drawn.
const RECENT: usize = 256;

/// What one look found.
#[derive(Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Found {
    /// The text that counts as progress.
    pub(super) progress: Option<String>,
    /// Something on the screen is not as it was.
    pub(super) changed: bool,
    /// Something turns or times.
    pub(super) animated: bool,
    /// The wording changed, be it old or new.
    pub(super) reworded: bool,
    /// What stands above everything that turns or times has moved up.
    pub(super) moved_up: bool,
}

/// Under which circumstances it is looked, and what must not count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances {
    /// Nothing counts: the screen was resized.
    pub(super) all: bool,
    /// The rows around this one do not count: somebody types there.
    pub(super) row: Option<usize>,
    /// A full-screen program has the screen for itself.
    pub(super) full_screen: bool,
    /// How large the screen is.
    pub(super) size: Size,
    /// What the words in the status line of this program mean.
    pub(super) status_words: StatusWords,
}

#[derive(Debug, Clone, Default)]
struct Row {
    raw: String,
    masked: String,
    ticks: u64,
    turns: u64,
    /// When it last turned or timed.
    ticked: Option<Moment>,
    /// It shows a running time, not only a spinner.
    times: bool,
    /// When it last had new wording as a status line.
    reworded: Option<Moment>,
    /// How long it had the wording before that.
    held: Option<Duration>,
    /// It turned or timed, and stands still with new wording since then.
    resting: Option<Moment>,
    numbers: Numbers,
    scramble: Scramble,
}

/// The memory the rule needs.
#[derive(Debug, Default)]
pub(super) struct Activity {
    rows: Vec<Row>,
    next: Vec<Row>,
    seen: Seen,
    recent: VecDeque<String>,
    /// A line was completed since the last look.
    completed: bool,
    /// The words around the number that last went on.
    counter: Option<String>,
    /// How often in a row nothing but other words in a status line has counted.
    stages: u8,
}

impl Activity {
    /// A line was completed that counts: what is drawn in place from now on is drawn for the next one.
    pub(super) const fn line_completed(&mut self) {
        self.completed = true;
        self.stages = 0;
    }

    /// What was drawn may come again; what is still there may only move.
    fn forget(&mut self) {
        self.recent.clear();
        self.seen.forget();
        for row in &self.rows {
            self.seen.is_new(&row.masked);
        }
    }

    /// Compares the screen with what was there before.
    pub(super) fn look(&mut self, now: Moment, lines: &[Line], around: Circumstances, counting: &Counting) -> Found {
        let mut found = Found::default();
        self.draw(lines, around.full_screen, counting, &mut found);
        if !found.changed {
            return found;
        }
        self.follow_ticks(now, around.full_screen, &mut found);
        for row in 0..self.next.len() {
            if self.next[row].masked.is_empty() || self.is_unmoved(row) {
                continue;
            }
            found.reworded = true;
            let new = self.seen.is_new(&self.next[row].masked);
            if !new || self.is_half_drawn(row) || self.only_moves(row) {
                continue;
            }
            self.remember(row);
            if around.all || around.row.is_some_and(|typed| typed.abs_diff(row) <= 1) {
                continue;
            }
            if self.counts_as_progress(now, row, around.status_words) && found.progress.is_none() {
                found.progress = Some(self.next[row].raw.trim().to_owned());
            }
        }
        // What turned beside others and has come to rest with the same name and another word is finished.
        for row in self.next.iter_mut().filter(|row| row.resting.is_some_and(|at| now.since(at) > STATUS_LASTS)) {
            row.resting = None;
            found.progress.get_or_insert_with(|| row.raw.trim().to_owned());
        }
        self.completed |= self
            .rows
            .first()
            .zip(self.next.first())
            .is_some_and(|(before, next)| ran_off(&before.raw, &next.raw, around.size));
        found.moved_up = found.reworded && moved_up(&above_ticks(&self.rows), &above_ticks(&self.next));
        std::mem::swap(&mut self.rows, &mut self.next);
        if std::mem::take(&mut self.completed) {
            self.forget();
        }
        found
    }

    /// The rows, from 1, that turned or timed within the last moments, and whether each shows a time.
    pub(super) fn ticking(&self, now: Moment) -> impl Iterator<Item = (usize, bool)> {
        let ticks = move |row: &Row| row.ticked.is_some_and(|at| now.since(at) <= STATUS_LASTS);
        self.rows.iter().enumerate().filter(move |(_, row)| ticks(row)).map(|(index, row)| (index + 1, row.times))
    }

    /// When something in the row, from 0, or above it last turned or timed.
    pub(super) fn last_tick_until(&self, row: usize) -> Option<Moment> {
        self.rows.iter().take(row + 1).filter_map(|row| row.ticked).max()
    }

    /// When something below the row, from 0, last turned or timed.
    pub(super) fn last_tick_below(&self, row: usize) -> Option<Moment> {
        self.rows.iter().skip(row + 1).filter_map(|row| row.ticked).max()
    }

    /// Fills `next` with the rows as they are now.
    fn draw(&mut self, lines: &[Line], full_screen: bool, counting: &Counting, found: &mut Found) {
        let height = lines.last().map_or(0, |line| line.row + 1);
        self.next.resize_with(height, Row::default);
        self.rows.resize_with(height.max(self.rows.len()), Row::default);
        let mut lines = lines.iter().peekable();
        for row in 0..height {
            let text = lines.next_if(|line| line.row == row).map_or("", |line| line.text.as_str());
            let (before, next) = (&self.rows[row], &mut self.next[row]);
            next.raw.clear();
            next.raw.push_str(text);
            (next.reworded, next.held) = (before.reworded, before.held);
            next.numbers.clone_from(&before.numbers);
            next.scramble = before.scramble;
            next.resting = before.resting.filter(|_| before.raw == text);
            if before.raw == text {
                next.masked.clone_from(&before.masked);
                (next.ticks, next.turns) = (before.ticks, before.turns);
                (next.ticked, next.times) = (before.ticked, before.times);
            } else {
                found.changed = true;
                next.scramble = before.scramble.next(&before.raw, text);
                let taken = counting.masked(text, &mut next.masked);
                if !words(&before.masked).eq(words(&next.masked)) {
                    next.numbers.forget();
                }
                let glyphs = added_glyphs(&before.raw, text);
                if !next.masked.ends_with(glyphs) && counting.counts(text) {
                    next.masked.push_str(glyphs);
                }
                // On a full screen a clock is part of the furniture; below a program's text it times the work.
                let ticks = if full_screen { taken.ticks } else { taken.ticks ^ taken.clocks };
                (next.ticks, next.turns) = (ticks, taken.turns);
                (next.ticked, next.times) = (None, taken.elapsed);
            }
        }
        found.changed |= self.rows[height..].iter().any(|row| !row.raw.is_empty());
    }

    /// Carries over what turned, also where the line has moved to another row.
    fn follow_ticks(&mut self, now: Moment, full_screen: bool, found: &mut Found) {
        for row in 0..self.next.len() {
            let next = &self.next[row];
            if next.raw == self.rows[row].raw || next.masked.is_empty() && next.raw.is_empty() {
                continue;
            }
            let before = &self.rows[row];
            let ticked = if before.masked == next.masked && !before.raw.is_empty() {
                if before.ticks == next.ticks { before.ticked } else { Some(now) }
            } else {
                let moved = self.rows.iter().find(|old| !old.masked.is_empty() && old.masked == next.masked);
                match moved {
                    Some(old) => old.ticked,
                    // The wording changed in place: it is still the status line, unless that went elsewhere.
                    None if !self.next.iter().any(|other| other.masked == before.masked) => before.ticked,
                    None => None,
                }
            };
            if ticked == Some(now) {
                self.follow_mark(now, row);
            }
            self.next[row].ticked = if self.next[row].scramble.turns() { Some(now) } else { ticked };
        }
        found.animated = self.ticks_of_work(now, full_screen);
        // A line that swaps one known text for another is a pulse; one whose numbers go to and fro is a gauge.
        for row in 0..self.next.len() {
            let (before, next) = (&self.rows[row], &self.next[row]);
            let swapped = !before.masked.is_empty() && !next.masked.is_empty() && before.masked != next.masked;
            let swapped = swapped && !counts_in_same_words(before, next);
            if swapped && self.seen_before(&next.masked) && !self.rows.iter().any(|old| old.masked == next.masked) {
                found.animated = true;
                self.next[row].ticked = Some(now);
            }
        }
    }

    /// A mark that becomes one it never was, as `○` becomes `◐` and `●` in a list of tasks, says how far the work is if it
    /// stays so: a spinner comes back to its first glyph, and goes on at once.
    fn follow_mark(&mut self, now: Moment, row: usize) {
        let (before, next) = (&self.rows[row], &self.next[row]);
        let still = before.ticked.is_none_or(|at| now.since(at) > STATUS_LASTS);
        let marked = before.masked == next.masked && before.turns != next.turns && !next.times;
        let new = marked && self.seen.is_new(&format!("mark: {}", next.raw));
        self.next[row].resting = (new && still).then_some(now);
    }

    /// Whether something turns or times now. On a full screen several times that run together while nothing turns are the
    /// ages in a table, as of pods: whoever looks at it has all the time in the world.
    fn ticks_of_work(&self, now: Moment, full_screen: bool) -> bool {
        let ticking = self.next.iter().zip(&self.rows).filter(|(next, _)| next.ticked == Some(now));
        let (mut times, mut turns) = (0, false);
        for (next, before) in ticking {
            times += 1;
            turns |= next.turns != before.turns;
        }
        turns || times == 1 || times > 1 && !full_screen
    }

    fn seen_before(&self, masked: &str) -> bool {
        self.recent.iter().any(|recent| recent == masked)
    }

    fn is_unmoved(&self, row: usize) -> bool {
        self.rows[row].masked == self.next[row].masked
    }

    /// A line that is being redrawn shows the beginning of what was there.
    fn is_half_drawn(&self, row: usize) -> bool {
        let masked = &self.next[row].masked;
        self.recent.iter().any(|recent| recent.len() > masked.len() && recent.starts_with(masked.as_str()))
    }

    /// Signs alone that were all there before only move about, as the fly of `curl -#` does. A bar that fills has more of
    /// one kind.
    fn only_moves(&self, row: usize) -> bool {
        let Some(signs) = bare_signs(&self.next[row].masked) else { return false };
        self.recent.iter().any(|recent| bare_signs(recent).is_some_and(|before| are_among(&signs, &before)))
    }

    fn remember(&mut self, row: usize) {
        let mut text = if self.recent.len() == RECENT { self.recent.pop_front() } else { None }.unwrap_or_default();
        text.clone_from(&self.next[row].masked);
        self.recent.push_back(text);
    }

    fn counts_as_progress(&mut self, now: Moment, row: usize, status_words: StatusWords) -> bool {
        let (before, next) = (&self.rows[row], &self.next[row]);
        if next.scramble.turns() {
            return false;
        }
        let same_words = !before.masked.is_empty() && counts_in_same_words(before, next);
        if is_retry(&next.raw) {
            // Kept apart from what the rows themselves say.
            let said = if same_words { without_attempt(&next.masked) } else { words(&next.masked).collect() };
            return self.seen.is_new(&format!("again: {said}"));
        }
        if same_words {
            let counter: String = words(&next.masked).collect();
            let mut numbers = std::mem::take(&mut self.next[row].numbers);
            let goes_on = numbers.go_on(&before.masked, &self.next[row].masked);
            self.next[row].numbers = numbers;
            if !goes_on {
                return false;
            }
            // Another one went on before: what is counted below it begins again with each step of it.
            self.completed |= self.counter.as_ref().is_some_and(|last| *last != counter);
            self.counter = Some(counter);
            self.stages = 0;
            return true;
        }
        let finished = is_marked_done(&next.masked) && !is_marked_done(&before.masked);
        let next_of_kind =
            status_words == StatusWords::Unknown && does_the_same_to_another(&before.masked, &next.masked);
        let named = !is_tip(&next.raw) && (next_of_kind || names_another(&before.masked, &next.masked));
        let filled = fills_further(&before.masked, &next.masked);
        if finished || named || filled || !self.is_status(now, row) {
            self.stages = 0;
            return true;
        }
        let ticked = self.next[row].ticked.is_some_and(|at| now.since(at) <= STATUS_LASTS);
        let name = |row: &Row| {
            row.masked.split_whitespace().find(|word| word.contains(char::is_alphabetic)).map(str::to_owned)
        };
        let same = name(&self.rows[row]).is_some_and(|before| name(&self.next[row]) == Some(before));
        self.next[row].resting = (ticked && same).then_some(now);
        if status_words == StatusWords::Work && ticked && !is_tip(&self.next[row].raw) {
            return true;
        }
        let reworded = self.next[row].reworded.replace(now);
        let Some(at) = reworded.filter(|at| *at < now) else { return false };
        let held = self.next[row].held.replace(now.since(at));
        if status_words == StatusWords::Pastime {
            return false;
        }
        if now.since(at) <= BRISK {
            return true;
        }
        let stage = held.is_some_and(|held| !is_beat(held, now.since(at)) && self.stages < MOST_STAGES);
        self.stages += u8::from(stage);
        stage
    }

    fn is_status(&self, now: Moment, row: usize) -> bool {
        let fresh = |row: &Row| row.ticked.is_some_and(|at| now.since(at) <= STATUS_LASTS);
        if fresh(&self.next[row]) || is_tip(&self.next[row].raw) {
            return true;
        }
        let mut depth = indent(&self.next[row].raw);
        for above in self.next[..row].iter().rev() {
            if above.raw.is_empty() || depth == 0 {
                return false;
            }
            let here = indent(&above.raw);
            if here < depth {
                if fresh(above) && above.times {
                    return true;
                }
                depth = here;
            }
        }
        false
    }
}

/// Whether the two differ in their numbers alone.
fn counts_in_same_words(before: &Row, next: &Row) -> bool {
    counts_on(&before.masked, &next.masked) && words(&before.masked).eq(words(&next.masked))
}

/// Whether the longer of the two is a multiple of the shorter, as where a clock gives the beat: phrases to pass the time,
/// of which some are shown twice.
fn is_beat(one: Duration, other: Duration) -> bool {
    const BLUR: f64 = 1.0;
    let (short, long) = (one.min(other).as_secs_f64(), one.max(other).as_secs_f64());
    let times = (long / short).round();
    (long - times * short).abs() <= BLUR * times
}

/// The rows above the first that turns or times, as far as they count.
fn above_ticks(rows: &[Row]) -> Vec<&str> {
    rows.iter().take_while(|row| row.ticked.is_none()).map(|row| row.masked.as_str()).collect()
}

fn indent(text: &str) -> usize {
    text.chars().take_while(|c| c.is_whitespace()).count()
}
