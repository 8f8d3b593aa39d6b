//! The screen as a person sees it: an emulator behind a wall, so that whatever breaks it costs only the analysis.
//!
//! The emulator is avt: it draws what real terminals draw (scroll regions, no-wrap, line drawing, wide characters),
//! needs 67 KB for a screen where alacritty's needs 2 MB, is one crate, and says which rows changed. It is slower per
//! byte, which matters little: most of a flood is never shown to it. Its interface changes between releases, so its
//! version is pinned, and only this file knows it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use memchr::{memchr2, memrchr};

use super::Size;
use super::repaint::last_painted;

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
    margins: bool,
    /// Long lines may not go on in the next row: the command has switched that off at least once.
    cuts: bool,
    /// Output that nobody has needed to see yet: of a flood, most never will be shown.
    pending: String,
    /// The pending output is not text alone.
    mixed: bool,
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

/// Text that is shorter is shown whole.
const WORTH_SKIPPING: usize = 2048;

/// One column breaks wide characters, and a size without end is memory without end.
fn clamp(size: Size) -> Size {
    Size { cols: size.cols.clamp(2, 1000), rows: size.rows.clamp(1, 1000) }
}

impl Screen {
    pub(super) fn new(size: Size) -> Self {
        let size = clamp(size);
        let terminal = avt::Terminal::new(size.cols.into(), size.rows.into()).ok();
        let touched = Touched(vec![true; size.rows.into()]);
        Self {
            terminal,
            size,
            margins: false,
            cuts: false,
            pending: String::new(),
            mixed: false,
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

    /// Takes a control sequence, to be shown when somebody looks.
    pub(super) fn control(&mut self, sequence: &str) {
        if self.is_lost() {
            return;
        }
        if !self.mixed && self.pending.len() >= WORTH_SKIPPING {
            self.show();
        }
        self.mixed = true;
        self.cuts |= sequence.starts_with("\x1b[?") && sequence.ends_with('l') && sequence.contains('7');
        self.take(sequence);
    }

    /// Takes text, to be shown when somebody looks.
    pub(super) fn text(&mut self, text: &str) {
        if self.is_lost() {
            return;
        }
        if self.mixed && text.len() >= WORTH_SKIPPING {
            self.show();
        }
        self.take(text);
    }

    fn take(&mut self, output: &str) {
        self.pending.push_str(output);
        if self.pending.len() >= MOST_PENDING {
            self.show();
        }
    }

    /// Shows what is pending: all of it, or of a flood what leaves the same picture: of whole lines the last screenful,
    /// of painted rows the last of each.
    pub(super) fn show(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        let (mixed, skips) = (std::mem::take(&mut self.mixed), !self.margins && pending.len() >= WORTH_SKIPPING);
        let to_bottom = format!("\x1b[{};1H", self.size.rows);
        let shown = match (mixed, skips) {
            (true, true) => last_painted(&pending, self.size),
            (false, true) => match last_screenful(&pending, self.size, !self.cuts) {
                Some(end) => vec![to_bottom.as_str(), end],
                None => vec![pending.as_str()],
            },
            (_, false) => vec![pending.as_str()],
        };
        self.contained(|terminal, touched| terminal.feed_with(shown, touched));
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

/// The end of `text` that alone decides what the screen shows after it, if the rest can be left out. It is to be shown
/// from the left of the last row.
///
/// It fills as many rows as the screen has, so that whatever was there is scrolled away; and with what is left out it
/// fills twice as many, so that this would have been so without leaving anything out, wherever the cursor was. Each of
/// its line ends has to be CR LF, so that each line starts at the left. Shifts of the character set would be lost, so
/// text with them is shown whole. Where long lines go on in the next row (`wraps`) they fill several.
fn last_screenful(text: &str, size: Size, wraps: bool) -> Option<&str> {
    let bytes = text.as_bytes();
    if memchr2(0x0e, 0x0f, bytes).is_some() {
        return None;
    }
    let (height, width) = (usize::from(size.rows), usize::from(size.cols));
    let (mut filled, mut start) = (0, None);
    let (mut end, mut is_ended) = (bytes.len(), false);
    loop {
        let begin = memrchr(b'\n', &bytes[..end]).map_or(0, |before| before + 1);
        let piece = &bytes[begin..end];
        let line = piece.strip_suffix(b"\r").or((!is_ended).then_some(piece));
        if start.is_none() && line.is_none() {
            return None;
        }
        let plain = line.filter(|line| wraps && line.iter().all(|byte| matches!(byte, b' '..=b'~')));
        // The last row of what has no end yet is still being filled.
        let rows = match (plain, is_ended) {
            (Some(line), true) => line.len().div_ceil(width).max(1),
            (Some(line), false) => line.len().saturating_sub(1) / width,
            (None, is_ended) => usize::from(is_ended),
        };
        if start.is_none() && filled + rows >= height {
            if begin < 2 || bytes[begin - 2] != b'\r' {
                return None;
            }
            start = Some(begin + (filled + rows - height) * width);
        }
        filled += rows;
        if filled >= 2 * height {
            return start.map(|start| &text[start..]);
        }
        (end, is_ended) = (begin.checked_sub(1)?, true);
    }
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
        let mut screen = Screen::new(SIZE);
        screen.text("one\r\nabcdefghijklmnopqrstuvwxyz\r\n");
        assert_eq!(texts(&mut screen)[..2], ["one", "abcdefghijklmnopqrstuvwxyz"]);
        assert_eq!(screen.rows()[2], "uvwxyz");
    }

    #[test]
    fn a_flood_of_lines_leaves_the_same_picture_whether_skipped_or_not() {
        for lines in [3, 50, 400] {
            let flood: Vec<String> = (0..lines).map(|n| format!("line {n} {}\r\n", "x".repeat(n % 50))).collect();
            let flood = flood.concat();
            let (mut skipping, mut whole) = (Screen::new(SIZE), Screen::new(SIZE));
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
    fn wherever_a_flood_begins_nothing_of_what_was_there_before_stays() {
        for (before, width) in [("\x1b[H", 3), ("\x1b[H", 19), ("\x1b[H", 500), ("\x1b[2;5H", 21), ("", 40)] {
            for count in [2, 5, 7, 9, 200, 900] {
                let (mut skipping, mut whole) = (Screen::new(SIZE), Screen::new(SIZE));
                let lines: Vec<String> = (0..count).map(|n| format!("{n} {}\r\n", "y".repeat(width))).collect();
                let flood = lines.concat();
                for screen in [&mut skipping, &mut whole] {
                    screen.control("long long long long1long long long long2\x1b[4;1Hlast");
                    screen.control(before);
                    screen.show();
                }
                let tail = "tail".repeat(width * count % 70);
                skipping.text(&flood);
                skipping.text(&tail);
                for piece in flood.as_bytes().chunks(100) {
                    whole.control(std::str::from_utf8(piece).unwrap());
                }
                whole.control(&tail);
                let seen = (texts(&mut skipping), skipping.rows(), skipping.cursor());
                assert_eq!(seen, (texts(&mut whole), whole.rows(), whole.cursor()), "{before:?} {width} {count}");
            }
        }
    }

    #[test]
    fn a_flood_of_painted_rows_leaves_the_same_picture_whether_skipped_or_not() {
        let mut random = 12_345_u64;
        let mut dice = |sides: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % sides
        };
        for _ in 0..60 {
            let (mut skipping, mut whole) = (Screen::new(SIZE), Screen::new(SIZE));
            // Mostly rows, sometimes something that makes a difference.
            let often = 2 + dice(40);
            for _ in 0..300 {
                let row = 1 + dice(5);
                let text = "painted row with many letters 0123"[..usize::try_from(dice(34)).unwrap()].to_owned();
                let piece = match dice(often) {
                    0 => [
                        "\x1b[4h",
                        "\x1b[4l",
                        "\x1b(0",
                        "\x1b(B",
                        "wide 漢字",
                        "\x1b[3;19Habc\r\nd",
                        "\x1b[5b",
                        "\x1bM",
                    ][usize::try_from(dice(8)).unwrap()]
                    .to_owned(),
                    1 => format!("\x1b[{row};3H{text}\x1b[1K"),
                    2 => format!("\x1b[H\x1b[{row};1H{text}"),
                    _ => format!("\x1b[{row};1H{text}\x1b[K"),
                };
                skipping.control(&piece);
                whole.control(&piece);
                whole.show();
            }
            let seen = (texts(&mut skipping), skipping.rows(), skipping.cursor());
            assert_eq!(seen, (texts(&mut whole), whole.rows(), whole.cursor()));
        }
    }

    #[test]
    fn lines_that_are_cut_at_the_edge_fill_one_row() {
        let (mut skipping, mut whole) = (Screen::new(SIZE), Screen::new(SIZE));
        let lines: Vec<String> = (0..6).map(|n| format!("{n} {}\r\n", "y".repeat(900))).collect();
        let flood = lines.concat();
        for screen in [&mut skipping, &mut whole] {
            screen.control("\x1b[?7l");
            screen.control("\x1b[2;1Hlong long long");
        }
        skipping.text(&flood);
        flood.split_inclusive('\n').for_each(|line| whole.control(line));
        assert_eq!(texts(&mut skipping), texts(&mut whole));
    }

    #[test]
    fn what_is_read_row_by_row_is_what_is_there() {
        let mut screen = Screen::new(SIZE);
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
            screen.show();
            let rows: Vec<String> = screen.rows();
            assert_eq!(texts(&mut screen), rows, "after {step:?}");
        }
        screen.resize(Size { cols: 10, rows: 6 });
        let rows: Vec<String> = screen.rows();
        assert_eq!(texts(&mut screen), rows);
    }

    #[test]
    fn a_panic_inside_costs_only_the_picture() {
        let mut screen = Screen::new(SIZE);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|info| assert!(panic_is_contained(), "{info}")));
        screen.contained(|_, _| panic!("broken"));
        std::panic::set_hook(hook);
        assert!(screen.is_lost());
        screen.text("more");
        assert!(screen.rows().is_empty());
    }
}
