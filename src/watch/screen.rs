//! The screen as a person sees it: an emulator behind a wall, so that whatever breaks it costs only the analysis.
//!
//! The emulator is avt: it draws what real terminals draw (scroll regions, no-wrap, line drawing, wide characters),
//! needs 67 KB for a screen where alacritty's needs 2 MB, is one crate, and says which rows changed. It is slower per
//! byte, which matters little: most of a flood is never shown to it. Its interface changes between releases, so its
//! version is pinned, and only this file, what can be seen of it (`readout`) and `touched` know it.

mod readout;

use self::readout::Row;
use super::Size;
use super::beside::Beside;
use super::contain::contained;
use super::drawing::Drawing;
use super::flood::{deciding_end, last_lines, last_screenful, looks};
use super::labour::{affordable, allowance};
use super::repaint::painted_end;
use super::sheet::PER_BYTE;
use super::sketch::{Sketch, sketch, sketch_of_all};
use super::touched::Touched;

/// A line as the program meant it: rows that only wrapped are one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Line {
    /// The row it begins in, from 0.
    pub(super) row: usize,
    /// Its text without trailing blanks.
    pub(super) text: String,
}

/// Where the cursor is, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cursor {
    pub(super) row: usize,
    pub(super) col: usize,
}

/// The emulated screen.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Screen {
    terminal: Option<avt::Terminal>,
    /// Nothing was ever shown: there is no emulator yet, since most of what a short command needs would be for it.
    blank: bool,
    size: Size,
    /// How many lines are kept that scrolled off.
    above: usize,
    margins: bool,
    /// How the command has letters drawn.
    drawing: Drawing,
    /// Output that nobody has needed to see yet: of a flood, most never will be shown.
    pending: String,
    /// The pending output is not text alone.
    mixed: bool,
    /// Scrolling is confined to a part of the screen, or was when some of the pending output came.
    confined: bool,
    /// What the emulator may still be made to do until somebody looks.
    allowance: usize,
    touched: Touched,
    rows: Vec<Row>,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("size", &self.size).field("lost", &self.is_lost()).finish_non_exhaustive()
    }
}

/// Text is shown at the latest when so much of it is pending.
const MOST_PENDING: usize = 1 << 16;

/// More room than this is given back once what was in it is shown.
const SPARE: usize = 1 << 14;

/// Text that is shorter is shown whole.
const WORTH_SKIPPING: usize = 2048;

/// What is shorter is shown to the emulator.
const WORTH_SKETCHING: usize = 1 << 13;

impl Screen {
    /// A blank screen that keeps so many lines above it.
    pub(super) fn new(size: Size, above: usize) -> Self {
        let size = size.drawn();
        let touched = Touched::all(size.rows);
        Self {
            terminal: None,
            blank: true,
            size,
            above,
            margins: false,
            drawing: Drawing::default(),
            pending: String::new(),
            mixed: false,
            confined: false,
            allowance: allowance(size),
            touched,
            rows: Vec::new(),
        }
    }

    /// Its size, as far as it can be shown.
    pub(super) const fn size(&self) -> Size {
        self.size
    }

    /// Whether the emulator broke; there is nothing to see from then on.
    pub(super) const fn is_lost(&self) -> bool {
        self.terminal.is_none() && !self.blank
    }

    /// Scrolling is confined to a part of the screen, or no longer.
    pub(super) fn set_margins(&mut self, margins: bool) {
        if margins && !self.confined {
            self.show_text();
        }
        self.margins = margins;
        self.confined |= margins;
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.show();
        let size = size.drawn();
        // Only another height ends a scroll region.
        self.margins &= size.rows == self.size.rows;
        self.confined = self.margins;
        let before = std::mem::replace(&mut self.size, size);
        if self.blank {
            self.touched = Touched::all(size.rows);
            return;
        }
        self.emulate(|terminal, touched| {
            terminal.resize_with(size.cols.into(), size.rows.into(), &mut *touched);
            // It forgets the stop of tabs at what was the edge.
            let avt::Cursor { col, .. } = terminal.cursor();
            if before.cols.is_multiple_of(8) && before.cols < size.cols && col < usize::from(size.cols) {
                terminal.feed_with([format!("\x1b[{}G\x1bH\x1b[{}G", before.cols + 1, col + 1)], touched);
            }
        });
    }

    /// Takes a control sequence, to be shown when somebody looks.
    pub(super) fn control(&mut self, sequence: &str) {
        if self.is_lost() {
            return;
        }
        self.show_text();
        self.mixed = true;
        self.drawing.note(sequence);
        self.take(sequence);
    }

    /// Takes text, to be shown when somebody looks.
    pub(super) fn text(&mut self, text: &str) {
        if self.is_lost() {
            return;
        }
        // While nothing may be spent, what is pending waits for a look.
        if self.mixed && text.len() >= WORTH_SKIPPING && self.allowance > 0 {
            self.show();
        }
        self.take(text);
    }

    /// Shows pending text before something else comes, so that most of it can be skipped.
    fn show_text(&mut self) {
        if !self.mixed && self.pending.len() >= WORTH_SKIPPING {
            self.show();
        }
    }

    fn take(&mut self, output: &str) {
        self.pending.push_str(output);
        if self.pending.len() >= MOST_PENDING {
            self.condense();
            if self.pending.len() >= MOST_PENDING / 2 {
                self.show();
            }
        }
    }

    /// Whether of a flood of text only the end has to be shown, since nothing else than the text on it counts.
    pub(super) const fn shows_only_ends(&self) -> bool {
        !self.margins && self.above == 0
    }

    /// The end of a flood after which it shows the same as after all of it, and what is to be read before that.
    pub(super) fn deciding_end<'o>(&self, output: &'o [u8], bare: bool) -> (Beside<'o>, &'o [u8]) {
        let end = deciding_end(output, self.size, bare, self.drawing.wraps());
        let painted = if self.draws_as_usual() { painted_end(end, self.size, bare) } else { None };
        painted.unwrap_or((Beside::default(), end))
    }

    /// Whether letters stand as they are where the cursor is.
    const fn draws_as_usual(&self) -> bool {
        self.shows_only_ends() && self.drawing.is_usual()
    }

    /// Takes as much of a flood as can be drawn without the emulator, if that is enough to be worth it; in `parts` if they decide.
    pub(super) fn sketch<'o>(&mut self, output: &'o [u8], bare: bool, parts: bool) -> Sketch<'o> {
        self.show();
        let Some(sketch) = self.sketched(output, bare, parts).filter(|sketch| sketch.length >= WORTH_SKETCHING) else {
            return Sketch::default();
        };
        self.mixed = true;
        self.take(&sketch.picture);
        sketch
    }

    /// As much of this as can be drawn on what the emulator shows.
    fn sketched<'o>(&self, output: &'o [u8], bare: bool, parts: bool) -> Option<Sketch<'o>> {
        let is_worth_a_sheet = PER_BYTE * output.len() >= usize::from(self.size.cols) * usize::from(self.size.rows);
        let cursor = self.emulated_cursor().filter(|_| is_worth_a_sheet && self.draws_as_usual())?;
        let sketch = if parts { sketch } else { sketch_of_all };
        Some(sketch(output, self.size, cursor, bare))
    }

    /// Where the emulator's cursor is; none if it is behind the last column, which is a state of its own.
    pub(super) fn emulated_cursor(&self) -> Option<Cursor> {
        let avt::Cursor { row, col, .. } = self.terminal.as_ref()?.cursor();
        (col < usize::from(self.size.cols)).then_some(Cursor { row, col })
    }

    /// Somebody looks, which is seldom: shows what is pending, whatever was spent before.
    pub(super) fn show_for_look(&mut self) {
        self.allowance = allowance(self.size);
        self.show();
    }

    /// Shows what is pending: all of it, or of a flood what leaves the same picture, as far as the allowance goes.
    pub(super) fn show(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        if contained(|| self.condense()).is_none() {
            return self.lose();
        }
        self.mixed = false;
        let confined = std::mem::replace(&mut self.confined, self.margins);
        let pending = std::mem::take(&mut self.pending);
        match affordable(&pending, self.size, confined, &mut self.allowance) {
            None => self.emulate(|terminal, touched| terminal.feed_with([pending.as_str()], touched)),
            Some(parts) => self.emulate(|terminal, touched| terminal.feed_with(parts, touched)),
        }
        if pending.capacity() <= SPARE {
            self.pending = pending;
            self.pending.clear();
        }
    }

    /// Leaves out of what is pending whatever makes no difference to the picture: of whole lines all but the last
    /// screenful, of what is painted all but what is to be seen of it.
    fn condense(&mut self) {
        if self.confined || self.pending.len() < WORTH_SKIPPING {
            return;
        }
        let pending = self.pending.as_str();
        // Where pictures are wanted, colours and the lines that scroll off count as well.
        let shorter = match (self.mixed, self.above > 0) {
            (false, true) => last_lines(pending, 2 * usize::from(self.size.rows) + self.above)
                .map(|end| ["\r", &looks(&pending[..pending.len() - end.len()]), end].concat()),
            (false, false) => last_screenful(pending, self.size, self.drawing.wraps())
                .map(|end| format!("\x1b[{};1H{end}", self.size.rows)),
            (true, false) => {
                let sketch = self.sketched(pending.as_bytes(), false, false);
                sketch.filter(|sketch| sketch.length >= WORTH_SKIPPING).map(|sketch| {
                    let beside = sketch.beside.sequences().filter_map(|bytes| std::str::from_utf8(bytes).ok());
                    beside.chain([&*sketch.picture, &pending[sketch.length..]]).collect()
                })
            }
            (true, true) => None,
        };
        if let Some(shorter) = shorter {
            self.pending.clear();
            self.pending.push_str(&shorter);
        }
    }

    /// There is nothing to see from now on.
    pub(super) fn lose(&mut self) {
        (self.terminal, self.blank) = (None, false);
        self.pending.clear();
    }

    fn emulate(&mut self, work: impl FnOnce(&mut avt::Terminal, &mut Touched)) {
        if std::mem::take(&mut self.blank) {
            let Size { cols, rows } = self.size;
            self.terminal = avt::Terminal::with_scrollback(cols.into(), rows.into(), Some(self.above)).ok();
        }
        let Some(terminal) = self.terminal.as_mut() else { return };
        let touched = &mut self.touched;
        if contained(|| work(terminal, touched)).is_none() {
            self.lose();
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub const SIZE: Size = Size { cols: 20, rows: 4 };

    /// Numbers below what is asked for, the same each time.
    pub fn dice(seed: u64) -> impl FnMut(usize) -> usize {
        let mut random = seed;
        move |sides| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(random >> 33).unwrap() % sides
        }
    }

    /// The lines as a person reads them.
    pub fn texts(screen: &mut Screen) -> Vec<String> {
        let mut lines = Vec::new();
        screen.show();
        screen.lines_into(&mut lines);
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn before_the_first_output_it_is_an_emulator_that_has_shown_nothing() {
        let (mut blank, mut shown) = (Screen::new(SIZE, 3), Screen::new(SIZE, 3));
        shown.emulate(|_, _| ());
        for size in [SIZE, Size { cols: 30, rows: 7 }] {
            blank.resize(size);
            shown.resize(size);
            assert!(blank.terminal.is_none() && shown.terminal.is_some());
            assert!(!blank.is_lost() && !blank.is_alternate());
            assert_eq!(blank.rows(), shown.rows());
            assert_eq!(blank.cursor(), shown.cursor());
            assert_eq!(blank.picture(), shown.picture());
            assert_eq!(texts(&mut blank), texts(&mut shown));
        }
        for screen in [&mut blank, &mut shown] {
            screen.text("a line that is longer than it was wide");
            screen.show();
        }
        assert_eq!(blank.rows(), shown.rows());
        assert_eq!(texts(&mut blank), texts(&mut shown));
    }

    #[test]
    fn a_terminal_that_knows_no_size_is_drawn_on_as_on_an_ordinary_one() {
        let mut screen = Screen::new(Size { cols: 0, rows: 0 }, 0);
        screen.control("\x1b[20;70H");
        screen.text("here");
        screen.show();
        assert_eq!(screen.rows()[19].trim(), "here");
        screen.resize(Size { cols: 40, rows: 0 });
        assert_eq!(screen.size(), Size { cols: 40, rows: 24 });
    }

    #[test]
    fn a_flood_of_lines_leaves_the_same_picture_whether_skipped_or_not() {
        for lines in [3, 50, 400] {
            let flood: Vec<String> = (0..lines).map(|n| format!("line {n} {}\r\n", "x".repeat(n % 50))).collect();
            let flood = flood.concat();
            let (mut skipping, mut whole) = (Screen::new(SIZE, 0), Screen::new(SIZE, 0));
            for screen in [&mut skipping, &mut whole] {
                screen.text("before");
            }
            skipping.text(&flood);
            flood.split_inclusive('\n').for_each(|line| whole.control(line));
            skipping.show();
            whole.show();
            assert_eq!(skipping.rows(), whole.rows());
            assert_eq!(skipping.cursor(), whole.cursor());
        }
    }

    #[test]
    fn a_panic_inside_costs_only_the_picture() {
        let mut screen = Screen::new(SIZE, 0);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|info| assert!(super::super::panic_is_contained(), "{info}")));
        screen.emulate(|_, _| panic!("broken"));
        std::panic::set_hook(hook);
        assert!(screen.is_lost());
        screen.text("more");
        assert!(screen.rows().is_empty());
    }

    #[test]
    fn a_flood_is_drawn_only_on_a_screen_of_which_nothing_else_counts() {
        let flood = "\x1b[Hletters".repeat(WORTH_SKETCHING);
        for (above, before, is_drawn) in
            [(0, "x", true), (9, "x", false), (0, "\x1b[4h", false), (0, "\x1b[99C.", false), (0, "", false)]
        {
            let mut screen = Screen::new(SIZE, above);
            screen.control(before);
            assert_eq!(screen.sketch(flood.as_bytes(), false, true).length > 0, is_drawn, "{above} {before:?}");
        }
        let mut screen = Screen::new(SIZE, 0);
        screen.control("x");
        screen.lose();
        assert_eq!(screen.sketch(flood.as_bytes(), false, true), Sketch::default());
    }

    #[test]
    fn tabs_stop_at_what_was_the_edge_before_a_window_was_widened() {
        let mut screen = Screen::new(Size { cols: 16, rows: 4 }, 0);
        screen.control("abc");
        screen.resize(Size { cols: 40, rows: 4 });
        screen.control("\tdef\tghi\tj");
        assert_eq!(texts(&mut screen)[0], "abc     def     ghi     j");
    }
}
