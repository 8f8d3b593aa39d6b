//! Lines as the reader sees them: completed by a line feed, never repainted.

use std::time::Duration;

use memchr::{memchr, memrchr};

use super::Moment;

/// Longer lines are known by their beginning.
const LONGEST: usize = 2048;
/// In a flood only so much of each window is examined, in letters, and each line counts for so many at least: a loop shows
/// in a sample as well.
const WINDOW: Duration = Duration::from_millis(100);
const PER_WINDOW: usize = 16 * 1024;
const LEAST: usize = 80;
/// A program that moved the cursor up or to a place this recently is painting, not printing lines.
pub(super) const PAINTING_LASTS: Duration = Duration::from_secs(10);

/// Puts lines together from text cut anywhere.
#[derive(Debug)]
pub(super) struct Lines {
    line: String,
    returned: bool,
    window: Moment,
    examined: usize,
    moved: Option<Moment>,
    skipping: bool,
    /// The first line that was begun anew since somebody asked, as it was until then.
    overwritten: String,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self {
            line: String::new(),
            returned: false,
            window: Moment::START,
            examined: 0,
            moved: None,
            skipping: false,
            overwritten: String::new(),
        }
    }

    /// The cursor went up or to a place.
    pub(super) fn moved(&mut self, now: Moment) {
        self.moved = Some(now);
        self.skipped();
    }

    /// Some text was left out, up to the end of a line.
    pub(super) fn skipped(&mut self) {
        self.line.clear();
        self.returned = false;
    }

    /// Some text was left out, up to somewhere within a line.
    pub(super) fn cut(&mut self) {
        self.skipped();
        self.skipping = true;
    }

    /// Whether the program paints its screen, so that line feeds complete no lines.
    pub(super) fn is_painted(&self, now: Moment) -> bool {
        self.moved.is_some_and(|at| now.since(at) < PAINTING_LASTS)
    }

    /// Takes text in; `complete` is given each line that is worth examining, and with `all` the others too, and which it
    /// is. Says whether any line was completed.
    pub(super) fn text(&mut self, now: Moment, text: &str, all: bool, complete: &mut dyn FnMut(&str, bool)) -> bool {
        if self.is_painted(now) {
            return false;
        }
        if now.since(self.window) >= WINDOW {
            self.window = now;
            self.examined = 0;
        }
        let mut completed = false;
        let mut rest = text;
        while let Some(end) = memchr(b'\n', rest.as_bytes()) {
            completed = true;
            let enough = self.examined >= PER_WINDOW;
            if enough && !all {
                let last = memrchr(b'\n', rest.as_bytes()).unwrap_or(end);
                self.line.clear();
                self.returned = false;
                rest = &rest[last + 1..];
                self.skipping = true;
                continue;
            }
            self.append(&rest[..end]);
            if !enough {
                self.examined += self.line.len().max(LEAST);
            }
            if !std::mem::take(&mut self.skipping) {
                complete(self.line.trim_end(), !enough);
            }
            self.line.clear();
            self.returned = false;
            rest = &rest[end + 1..];
        }
        self.append(rest);
        completed
    }

    /// What a bar or a counter showed before it was written over, if that happened since this was last asked.
    pub(super) fn take_overwritten(&mut self) -> Option<String> {
        (!self.overwritten.is_empty()).then(|| std::mem::take(&mut self.overwritten))
    }

    /// A lone carriage return begins the line anew, as a progress bar does.
    fn append(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = memchr(b'\r', rest.as_bytes()) {
            self.add(&rest[..at]);
            self.returned = true;
            rest = &rest[at + 1..];
        }
        self.add(rest);
    }

    fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.returned) {
            if !std::mem::take(&mut self.skipping) && self.overwritten.is_empty() {
                std::mem::swap(&mut self.overwritten, &mut self.line);
            }
            self.line.clear();
        }
        let mut text = text;
        // Going back is for writing over what was there, as a spinner in front of a line does.
        while let Some(at) = memchr(0x08, text.as_bytes()) {
            self.push(&text[..at]);
            self.line.pop();
            text = &text[at + 1..];
        }
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        let room = LONGEST.saturating_sub(self.line.len());
        let mut end = text.len().min(room);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.line.push_str(&text[..end]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, cut: usize) -> Vec<String> {
        let mut lines = Lines::new();
        let mut out = Vec::new();
        for part in [&text[..cut], &text[cut..]] {
            lines.text(Moment::START, part, false, &mut |line, _| out.push(line.to_owned()));
        }
        out
    }

    #[test]
    fn a_bar_drawn_over_itself_is_one_line() {
        let text = "10%\r20%\r30%\r\nnext\r\nrest";
        for cut in 0..text.len() {
            assert_eq!(lines(text, cut), ["30%", "next"], "cut at {cut}");
        }
    }

    #[test]
    fn what_is_written_over_is_known() {
        let mut lines = Lines::new();
        let mut over = |text| {
            lines.text(Moment::START, text, false, &mut |_, _| {});
            lines.take_overwritten()
        };
        assert_eq!(over("one\r\nframe=1 \r"), None);
        assert_eq!(over("frame=2 \rwarning\r\n").as_deref(), Some("frame=1 "));
        assert_eq!(over("three\r\n"), None);
    }

    #[test]
    fn a_line_written_over_a_spinner_is_that_line() {
        let text = "\r █░ Waiting\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08retrying\r\n";
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            assert_eq!(lines(text, cut), [" retrying"], "cut at {cut}");
        }
    }

    #[test]
    fn a_flood_is_sampled() {
        let short = "same\r\n".repeat(10_000);
        assert_eq!(lines(&short, 5).len(), PER_WINDOW.div_ceil(LEAST));
        let long = format!("{}\r\n", "a long line ".repeat(1000)).repeat(100);
        assert_eq!(lines(&long, 500).len(), PER_WINDOW.div_ceil(LONGEST));
    }

    #[test]
    fn where_something_is_looked_for_no_line_of_a_flood_is_left_out() {
        let (mut lines, mut sampled, mut others) = (Lines::new(), 0, 0);
        let flood = format!("{}\r\n", "a long line ".repeat(300)).repeat(100);
        lines.text(Moment::START, &flood, true, &mut |_, is_sampled| {
            *if is_sampled { &mut sampled } else { &mut others } += 1;
        });
        assert_eq!((sampled, others), (PER_WINDOW.div_ceil(LONGEST), 100 - PER_WINDOW.div_ceil(LONGEST)));
    }

    #[test]
    fn a_painter_completes_no_lines() {
        let mut painter = Lines::new();
        painter.moved(Moment::START);
        assert!(!painter.text(Moment::START, "row\r\n", false, &mut |_, _| panic!("no line")));
    }
}
