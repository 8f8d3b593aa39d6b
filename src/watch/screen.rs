//! The screen as a person sees it: an emulator behind a wall, so that whatever breaks it costs only the analysis.
//!
//! The emulator is avt: it draws what real terminals draw (scroll regions, no-wrap, line drawing, wide characters),
//! needs 67 KB for a screen where alacritty's needs 2 MB, is one crate, and says which rows changed. It is slower per
//! byte, which matters little: most of a flood is never shown to it. Its interface changes between releases, so its
//! version is pinned, and only this file knows it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use memchr::{memchr, memchr_iter, memchr2};

use super::Size;
use super::picture::{Colour, Picture, Stretch, Style, row};

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic right now is caught by the analysis and costs nothing else; a panic hook should then keep quiet.
pub fn panic_is_contained() -> bool {
    CONTAINED.get()
}

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
pub(super) struct Screen {
    terminal: Option<avt::Terminal>,
    size: Size,
    /// How many lines are kept that scrolled off.
    above: usize,
    margins: bool,
    /// Text that nobody has needed to see yet: of a flood, most never will be shown.
    pending: String,
    touched: Touched,
    rows: Vec<Row>,
}

/// A row as it was last read.
#[derive(Debug, Clone, Default)]
struct Row {
    text: String,
    wraps: bool,
}

/// Which rows were written to since they were last read.
#[derive(Debug, Default)]
struct Touched(Vec<bool>);

impl avt::Observer for Touched {
    type Output = ();

    fn resized(&mut self, _cols: usize, rows: usize) {
        self.0.clear();
        self.0.resize(rows, true);
    }

    fn dirty(&mut self, rows: std::ops::Range<usize>) {
        let end = rows.end.min(self.0.len());
        self.0[rows.start.min(end)..end].fill(true);
    }

    fn end(&mut self, _: &mut avt::Observation<'_>) {}
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Screen").field("size", &self.size).field("lost", &self.is_lost()).finish_non_exhaustive()
    }
}

/// Text is shown at the latest when so much of it is pending.
const MOST_PENDING: usize = 1 << 16;

/// One column breaks wide characters, and a size without end is memory without end.
fn clamp(size: Size) -> Size {
    Size { cols: size.cols.clamp(2, 1000), rows: size.rows.clamp(1, 1000) }
}

impl Screen {
    /// A blank screen that keeps so many lines above it.
    pub(super) fn new(size: Size, above: usize) -> Self {
        let size = clamp(size);
        let terminal = avt::Terminal::with_scrollback(size.cols.into(), size.rows.into(), Some(above)).ok();
        let touched = Touched(vec![true; size.rows.into()]);
        Self { terminal, size, above, margins: false, pending: String::new(), touched, rows: Vec::new() }
    }

    /// Its size, as far as it can be shown.
    pub(super) const fn size(&self) -> Size {
        self.size
    }

    /// Whether the emulator broke; there is nothing to see from then on.
    pub(super) const fn is_lost(&self) -> bool {
        self.terminal.is_none()
    }

    /// Scrolling is confined to a part of the screen, or no longer.
    pub(super) fn set_margins(&mut self, margins: bool) {
        self.show();
        self.margins = margins;
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.show();
        let size = clamp(size);
        self.size = size;
        self.margins = false;
        self.contained(|terminal, touched| terminal.resize_with(size.cols.into(), size.rows.into(), touched));
    }

    /// Shows it a control sequence.
    pub(super) fn control(&mut self, sequence: &str) {
        self.show();
        self.contained(|terminal, touched| terminal.feed_with(sequence, touched));
    }

    /// Takes text, to be shown when somebody looks.
    pub(super) fn text(&mut self, text: &str) {
        if self.is_lost() {
            return;
        }
        self.pending.push_str(text);
        if self.pending.len() >= MOST_PENDING {
            self.show();
        }
    }

    /// Shows what is pending: all of it, or of a flood of whole lines the last screenful, which leaves the same picture.
    pub(super) fn show(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        let rows = usize::from(self.size.rows) + self.above;
        let shown = if self.margins { None } else { last_screenful(&pending, rows) };
        self.contained(|terminal, touched| match shown {
            Some(shown) => {
                let look = looks(&pending[..pending.len() - shown.len()]);
                terminal.feed_with(["\r", &look, shown], touched);
            }
            None => terminal.feed_with(&pending, touched),
        });
        self.pending = pending;
        self.pending.clear();
    }

    fn contained(&mut self, work: impl FnOnce(&mut avt::Terminal, &mut Touched)) {
        let Some(terminal) = self.terminal.as_mut() else { return };
        CONTAINED.set(true);
        let touched = &mut self.touched;
        let survived = catch_unwind(AssertUnwindSafe(|| work(terminal, touched))).is_ok();
        CONTAINED.set(false);
        if !survived {
            self.terminal = None;
        }
    }

    pub(super) fn cursor(&self) -> Cursor {
        self.terminal.as_ref().map_or_else(Cursor::default, |terminal| {
            let cursor = terminal.cursor();
            Cursor { row: cursor.row, col: cursor.col.min(usize::from(self.size.cols) - 1) }
        })
    }

    /// Whether a full-screen program has the screen for itself.
    pub(super) fn is_alternate(&self) -> bool {
        self.terminal.as_ref().is_some_and(|terminal| terminal.active_screen_kind() == avt::ScreenKind::Alternate)
    }

    /// The visible rows as text, without trailing blanks.
    pub(super) fn rows(&self) -> Vec<String> {
        let Some(terminal) = &self.terminal else { return Vec::new() };
        terminal.screen().visible_lines().map(|line| line.text().trim_end().to_owned()).collect()
    }

    /// The visible rows in their colours, and what scrolled off above them.
    pub(super) fn picture(&self) -> Picture {
        let Some(terminal) = &self.terminal else { return Picture::default() };
        let cell = |cell: &avt::Cell| (cell.width() > 0).then(|| (cell.char(), cell.width() > 1, style(*cell.pen())));
        let lines = terminal.screen().visible_lines();
        let mut rows: Vec<Vec<Stretch>> = lines.map(|line| row(line.cells().iter().filter_map(cell))).collect();
        while rows.last().is_some_and(Vec::is_empty) {
            rows.pop();
        }
        let primary = terminal.primary_screen();
        let hidden = primary.all_lines().count().saturating_sub(primary.visible_lines().len());
        let mut above: Vec<String> = Vec::new();
        let mut continues = false;
        for line in primary.all_lines().take(hidden) {
            match above.last_mut() {
                Some(last) if continues => last.push_str(&line.text()),
                _ => above.push(line.text()),
            }
            continues = line.is_wrapped();
        }
        for line in &mut above {
            line.truncate(line.trim_end().len());
        }
        let Cursor { row, col } = self.cursor();
        let cursor = terminal.cursor().visible.then_some((row, col));
        Picture { cols: self.size.cols, rows, cursor, title: None, above }
    }

    /// Reads the rows that were written to.
    fn read(&mut self) {
        let Some(terminal) = &self.terminal else {
            self.rows.clear();
            return;
        };
        self.rows.resize_with(self.size.rows.into(), Row::default);
        for ((row, line), touched) in
            self.rows.iter_mut().zip(terminal.screen().visible_lines()).zip(&mut self.touched.0)
        {
            // A row begins to wrap without being written to itself.
            row.wraps = line.is_wrapped();
            if std::mem::take(touched) {
                row.text.clear();
                row.text.extend(line.chars());
            }
        }
    }

    /// The visible lines, wrapped rows joined, into `lines`, whose strings are used again.
    pub(super) fn lines_into(&mut self, lines: &mut Vec<Line>) {
        self.read();
        let mut count = 0;
        let mut continues = false;
        for (index, row) in self.rows.iter().enumerate() {
            if !continues {
                if count == lines.len() {
                    lines.push(Line::default());
                }
                lines[count].row = index;
                lines[count].text.clear();
                count += 1;
            }
            lines[count - 1].text.push_str(if row.wraps { &row.text } else { row.text.trim_end() });
            continues = row.wraps;
        }
        lines.truncate(count);
        if let Some(last) = lines.last_mut() {
            last.text.truncate(last.text.trim_end().len());
        }
    }
}

/// The looks that were asked for in `text` and hold after it.
fn looks(text: &str) -> String {
    let bytes = text.as_bytes();
    let resets = ["\x1b[m", "\x1b[0m"].iter().filter_map(|reset| memchr::memmem::rfind(bytes, reset.as_bytes()));
    let mut rest = &text[resets.max().unwrap_or(0)..];
    let mut looks = String::new();
    // Nothing but looks begins with an escape here.
    while let Some(begin) = memchr(0x1b, rest.as_bytes()) {
        rest = &rest[begin..];
        let end = memchr(b'm', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
        looks.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    looks
}

fn style(pen: avt::Pen) -> Style {
    let colour = |colour| match colour {
        avt::Color::Indexed(index) => Colour::Indexed(index),
        avt::Color::RGB(avt::Rgb { r, g, b }) => Colour::Rgb(r, g, b),
    };
    Style {
        foreground: pen.foreground().map(colour),
        background: pen.background().map(colour),
        bold: pen.is_bold(),
        faint: pen.is_faint(),
        italic: pen.is_italic(),
        underlined: pen.is_underline(),
        struck: pen.is_strikethrough(),
        inverse: pen.is_inverse(),
    }
}

/// The end of `text` that alone decides what the screen shows after it, if the rest can be left out.
///
/// That holds where every line end is CR LF, so that each line starts at the left, and more lines follow than the
/// screen has rows; shifts of the character set would be lost, so text with them is shown whole.
fn last_screenful(text: &str, rows: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    if bytes.len() < 2048 || memchr2(0x0e, 0x0f, bytes).is_some() {
        return None;
    }
    let mut ends = 0_usize;
    for end in memchr_iter(b'\n', bytes) {
        if end == 0 || bytes[end - 1] != b'\r' {
            return None;
        }
        ends += 1;
    }
    let skipped = ends.checked_sub(rows + 1).filter(|skipped| *skipped > 0)?;
    let start = memchr_iter(b'\n', bytes).nth(skipped - 1)?;
    Some(&text[start + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { cols: 20, rows: 4 };

    fn texts(screen: &mut Screen) -> Vec<String> {
        let mut lines = Vec::new();
        screen.show();
        screen.lines_into(&mut lines);
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn rows_that_only_wrapped_are_one_line() {
        let mut screen = Screen::new(SIZE, 0);
        screen.text("one\r\nabcdefghijklmnopqrstuvwxyz\r\n");
        assert_eq!(texts(&mut screen)[..2], ["one", "abcdefghijklmnopqrstuvwxyz"]);
        assert_eq!(screen.rows()[2], "uvwxyz");
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
            assert_eq!(skipping.rows(), whole.rows());
            assert_eq!(skipping.cursor(), whole.cursor());
        }
    }

    #[test]
    fn a_picture_has_colours_and_what_scrolled_off_above_also_after_a_flood() {
        for lines in [9, 400] {
            let mut screen = Screen::new(SIZE, 5);
            screen.text("\x1b[1;31mred\r\n");
            let text: Vec<String> = (0..lines).map(|n| format!("line {n} of {lines}\r\n")).collect();
            screen.text(&text.concat());
            screen.text("\x1b[0;48;2;1;2;3m字\x1b[m.");
            screen.show();
            let picture = screen.picture();
            let above: Vec<String> = (lines - 8..lines - 3).map(|n| format!("line {n} of {lines}")).collect();
            assert_eq!(picture.above, above);
            let red = Style { foreground: Some(Colour::Indexed(1)), bold: true, ..Style::default() };
            let text = format!("line {} of {lines}", lines - 1);
            assert_eq!(picture.rows[2], [Stretch { text, wide: false, style: red }]);
            let wide = &picture.rows[3][0];
            assert_eq!(
                (wide.text.as_str(), wide.wide, wide.style.background),
                ("字", true, Some(Colour::Rgb(1, 2, 3)))
            );
            assert_eq!(picture.text()[3], "字.");
            assert_eq!(picture.cursor, Some((3, 3)));
        }
    }

    #[test]
    fn what_is_read_row_by_row_is_what_is_there() {
        let mut screen = Screen::new(SIZE, 0);
        for step in [
            "one\r\ntwo",
            "\x1b[?1049h\x1b[Halt",
            "\x1b[2;2Hx\x1b[1L",
            "\x1b[?1049l",
            "\r\n3\r\n4\r\n5",
            "\x1bM\x1b[2J",
            "z",
        ] {
            screen.control(step);
            let rows: Vec<String> = screen.rows();
            assert_eq!(texts(&mut screen), rows, "after {step:?}");
        }
        screen.resize(Size { cols: 10, rows: 6 });
        let rows: Vec<String> = screen.rows();
        assert_eq!(texts(&mut screen), rows);
    }

    #[test]
    fn a_panic_inside_costs_only_the_picture() {
        let mut screen = Screen::new(SIZE, 0);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|info| assert!(panic_is_contained(), "{info}")));
        screen.contained(|_, _| panic!("broken"));
        std::panic::set_hook(hook);
        assert!(screen.is_lost());
        screen.text("more");
        assert!(screen.rows().is_empty());
    }
}
