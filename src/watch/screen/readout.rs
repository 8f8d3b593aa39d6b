//! What can be seen on the screen: its rows, the lines they were meant as, a picture of it.

use super::super::picture::{Colour, Picture, Stretch, Style, row};
use super::{Cursor, Line, Screen};

/// A row as it was last read.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    text: String,
    wraps: bool,
}

impl Screen {
    pub(in crate::watch) fn cursor(&self) -> Cursor {
        self.terminal.as_ref().map_or_else(Cursor::default, |terminal| {
            let cursor = terminal.cursor();
            Cursor { row: cursor.row, col: cursor.col.min(usize::from(self.size.cols) - 1) }
        })
    }

    /// Whether a full-screen program has the screen for itself.
    pub(in crate::watch) fn is_alternate(&self) -> bool {
        self.terminal.as_ref().is_some_and(|terminal| terminal.active_screen_kind() == avt::ScreenKind::Alternate)
    }

    /// The visible rows as text, without trailing blanks.
    pub(in crate::watch) fn rows(&self) -> Vec<String> {
        if self.blank {
            return vec![String::new(); self.size.rows.into()];
        }
        let Some(terminal) = &self.terminal else { return Vec::new() };
        terminal.screen().visible_lines().map(|line| line.text().trim_end().to_owned()).collect()
    }

    /// The visible rows in their colours, and what scrolled off above them.
    pub(in crate::watch) fn picture(&self) -> Picture {
        if self.blank {
            return Picture { cols: self.size.cols, cursor: Some((0, 0)), ..Picture::default() };
        }
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
        if self.blank {
            self.rows.resize_with(self.size.rows.into(), Row::default);
            return;
        }
        let Some(terminal) = &self.terminal else {
            self.rows.clear();
            return;
        };
        self.rows.resize_with(self.size.rows.into(), Row::default);
        for ((row, line), touched) in
            self.rows.iter_mut().zip(terminal.screen().visible_lines()).zip(&mut self.touched.rows)
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
    pub(in crate::watch) fn lines_into(&mut self, lines: &mut Vec<Line>) {
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

#[cfg(test)]
mod tests {
    use super::super::super::Size;
    use super::super::tests::{SIZE, texts};
    use super::*;

    #[test]
    fn rows_that_only_wrapped_are_one_line() {
        let mut screen = Screen::new(SIZE, 0);
        screen.text("one\r\nabcdefghijklmnopqrstuvwxyz\r\n");
        assert_eq!(texts(&mut screen)[..2], ["one", "abcdefghijklmnopqrstuvwxyz"]);
        assert_eq!(screen.rows()[2], "uvwxyz");
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
            screen.show();
            let rows: Vec<String> = screen.rows();
            assert_eq!(texts(&mut screen), rows, "after {step:?}");
        }
        screen.resize(Size { cols: 10, rows: 6 });
        let rows: Vec<String> = screen.rows();
        assert_eq!(texts(&mut screen), rows);
    }
}
