//! Frames as one SVG that moves by itself.

use std::fmt::Write;
use std::time::Duration;

use idlewatch::watch::Size;

use crate::screen::{Colour, Frame, INK, PAPER, Piece, Row, Style};
use crate::title::Title;

/// The size of a letter's cell. Most fonts of fixed width are three fifths as wide as they are high.
const CELL: usize = 9;
const LINE: usize = 21;
const FONT: usize = 15;
/// Where in its cell a letter stands.
const BASE: usize = 15;
/// What surrounds the screen.
const MARGIN: usize = 22;
const BAR: usize = 40;
const CORNER: usize = 10;

const FRAME: Colour = [0x34, 0x39, 0x4a];
const BAR_PAPER: Colour = [0x1c, 0x1f, 0x2a];
const BAR_INK: Colour = [0x98, 0x9e, 0xb2];
const ALARM: Colour = [0xf2, 0xbd, 0x57];

/// Draws the frames, each with the time at which it begins; the last one stays for `rest`.
pub fn draw(size: Size, film: &[(Duration, Frame)], rest: Duration) -> String {
    let (Some((begin, _)), Some((end, last))) = (film.first(), film.last()) else { return String::new() };
    let whole = end.saturating_sub(*begin) + rest;
    let mut drawing = Drawing { begin: *begin, whole, css: String::new(), body: String::new() };
    let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
    let (width, height) = (cols * CELL + 2 * MARGIN, BAR + rows * LINE + 2 * MARGIN);

    let titles: Vec<_> = film.iter().map(|(at, frame)| (*at, &frame.title)).collect();
    drawing.strip("t", [0, width, BAR], &titles, |title, top, out| draw_title(title, top, width, out));
    dots(&mut drawing.body);
    // As wide as the picture: a letter may be wider than its cell.
    let _ = writeln!(drawing.body, "<g transform=\"translate(0 {})\">", BAR + MARGIN);
    drawing.cursor(film);
    for row in 0..rows {
        let nothing = Row::new();
        let contents: Vec<_> = film.iter().map(|(at, frame)| (*at, frame.rows.get(row).unwrap_or(&nothing))).collect();
        drawing.strip(&format!("r{row}"), [row * LINE, width, LINE], &contents, |row, top, out| {
            for piece in row {
                draw_piece(piece, top, out);
            }
        });
    }
    drawing.body.push_str("</g>");

    let Drawing { css, body, .. } = drawing;
    let (ink, paper, frame, bar) = (hex(INK), hex(PAPER), hex(FRAME), hex(BAR_PAPER));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-labelledby=\"title text\">\n\
         <title id=\"title\">A session in a terminal, and how it ended</title>\n\
         <desc id=\"text\">{}</desc>\n\
         <style>text{{font:{FONT}px ui-monospace,\"SF Mono\",SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",\
         \"Liberation Mono\",monospace;fill:{ink}}}\
         .t text{{font:13px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;fill:{}}}\
         .t .a{{fill:{}}}.m{{text-anchor:middle}}.b{{font-weight:700}}.f{{opacity:.6}}.i{{font-style:italic}}\
         .p{{shape-rendering:crispEdges}}\n\
         {css}@media(prefers-reduced-motion:reduce){{*{{animation:none!important}}}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"{CORNER}\" fill=\"{paper}\"/>\
         <path d=\"{}\" fill=\"{bar}\"/>\n{body}\n\
         <rect x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"{}\" fill=\"none\" stroke=\"{frame}\"/>\n</svg>\n",
        escaped(&text_of(last)),
        hex(BAR_INK),
        hex(ALARM),
        bar_path(0, width),
        width - 1,
        height - 1,
        CORNER,
    )
}

struct Drawing {
    begin: Duration,
    whole: Duration,
    css: String,
    body: String,
}

impl Drawing {
    /// Draws everything that is ever seen in one place, one below the other, behind a window (top, width, height), and
    /// moves it. The first is what is seen in the end, so that without a move nothing else is.
    fn strip<T: PartialEq>(
        &mut self,
        name: &str,
        [y, width, height]: [usize; 3],
        contents: &[(Duration, &T)],
        mut draw: impl FnMut(&T, usize, &mut String),
    ) {
        let Some((_, last)) = contents.last() else { return };
        let mut different: Vec<&T> = vec![last];
        let mut steps = Vec::new();
        for (at, content) in contents {
            let known = different.iter().position(|seen| seen == content);
            let place = known.unwrap_or_else(|| {
                different.push(content);
                different.len() - 1
            });
            steps.push((*at, place));
        }
        let mut inside = String::new();
        for (place, content) in different.iter().enumerate() {
            draw(content, place * height, &mut inside);
        }
        if inside.is_empty() {
            return;
        }
        self.moves(name, &steps, |place| format!("translateY(-{}px)", place * height));
        let _ = writeln!(
            self.body,
            "<svg y=\"{y}\" width=\"{width}\" height=\"{height}\"><g class=\"{name}\">{inside}</g></svg>"
        );
    }

    fn cursor(&mut self, film: &[(Duration, Frame)]) {
        // Out of sight is left of the picture.
        let place = |frame: &Frame| match frame.cursor {
            Some((col, row)) => format!("translate({}px,{}px)", left(col), row * LINE),
            None => format!("translate(-{}px,0)", 2 * CELL),
        };
        let Some((_, last)) = film.last() else { return };
        let steps: Vec<_> = film.iter().map(|(at, frame)| (*at, place(frame))).collect();
        self.moves("c", &steps, String::clone);
        let transform = place(last).replace("px", "");
        let _ = writeln!(
            self.body,
            "<g class=\"c\" transform=\"{transform}\"><rect y=\"1\" width=\"{CELL}\" height=\"{}\" fill=\"{}\" \
             opacity=\".75\"/></g>",
            LINE - 2,
            hex(INK)
        );
    }

    /// Writes the moves of a class: from each time on it is in that place.
    fn moves<P: PartialEq>(&mut self, class: &str, steps: &[(Duration, P)], transform: impl Fn(&P) -> String) {
        let mut places: Vec<(&P, Vec<String>)> = Vec::new();
        let mut before = None;
        for (at, place) in steps {
            if before.replace(place) == Some(place) {
                continue;
            }
            let part = at.saturating_sub(self.begin).as_secs_f64() / self.whole.as_secs_f64();
            let part = format!("{:.2}%", part * 100.0);
            match places.iter_mut().find(|(known, _)| *known == place) {
                Some((_, times)) => times.push(part),
                None => places.push((place, vec![part])),
            }
        }
        if places.len() < 2 {
            return;
        }
        let whole = self.whole.as_secs_f64();
        let _ = write!(self.css, ".{class}{{animation:{class} {whole:.2}s step-end infinite}}@keyframes {class}{{");
        for (place, times) in places {
            let _ = write!(self.css, "{}{{transform:{}}}", times.join(","), transform(place));
        }
        self.css.push_str("}\n");
    }
}

fn draw_title(title: &Title, top: usize, width: usize, out: &mut String) {
    if title.text.is_empty() {
        return;
    }
    let (middle, base, text) = (width / 2, top + BAR / 2 + 5, escaped(&title.text));
    if title.rung {
        let _ = write!(
            out,
            "<path d=\"{}\" fill=\"{}\" opacity=\".16\"/><text x=\"{middle}\" y=\"{base}\" class=\"m a\">● {text}</text>",
            bar_path(top, width),
            hex(ALARM),
        );
    } else {
        let _ = write!(out, "<text x=\"{middle}\" y=\"{base}\" class=\"m\">{text}</text>");
    }
}

/// The outline of the bar: round only above.
fn bar_path(top: usize, width: usize) -> String {
    let (bottom, straight) = (top + BAR, width - 2 * CORNER);
    format!(
        "M0 {bottom}V{}a{CORNER} {CORNER} 0 0 1 {CORNER}-{CORNER}h{straight}a{CORNER} {CORNER} 0 0 1 {CORNER} \
         {CORNER}V{bottom}z",
        top + CORNER
    )
}

fn dots(out: &mut String) {
    for number in 0..3 {
        let _ = write!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"6\" fill=\"#fff\" opacity=\".15\"/>",
            MARGIN + 6 + number * 20,
            BAR / 2,
        );
    }
    out.push('\n');
}

fn draw_piece(piece: &Piece, top: usize, out: &mut String) {
    let Style { paper, underlined, struck, .. } = piece.style;
    let mut bar = |y: usize, height: usize, colour: Colour| {
        let (x, width) = (left(piece.column), piece.width * CELL);
        let _ = write!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"{height}\" fill=\"{}\" class=\"p\"/>",
            top + y,
            hex(colour)
        );
    };
    let ink = piece.style.ink.unwrap_or(INK);
    if let Some(paper) = paper {
        bar(0, LINE, paper);
    }
    if underlined {
        bar(BASE + 2, 1, ink);
    }
    if struck {
        bar(BASE - 5, 1, ink);
    }
    for part in parts(piece) {
        draw_part(&part, &piece.style, top + BASE, out);
    }
}

/// Characters that are drawn in one go.
struct Part {
    column: usize,
    width: usize,
    text: String,
    /// One that may come from another font, and then is of another width.
    symbol: bool,
}

/// Splits a piece so that every part begins in its column, whatever the font: at gaps, and around symbols.
fn parts(piece: &Piece) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut column = piece.column;
    let mut gap = 0;
    for c in piece.text.chars() {
        let symbol = !c.is_alphanumeric() && !c.is_ascii();
        if c == ' ' {
            gap += 1;
        } else {
            match parts.last_mut() {
                Some(last) if !symbol && !last.symbol && gap < 2 && last.text.is_ascii() == c.is_ascii() => {
                    last.text.extend(std::iter::repeat_n(' ', gap));
                    last.text.push(c);
                    last.width += gap + piece.each;
                }
                _ => parts.push(Part { column, width: piece.each, text: c.into(), symbol }),
            }
            gap = 0;
        }
        column += piece.each;
    }
    parts
}

fn draw_part(part: &Part, style: &Style, base: usize, out: &mut String) {
    let mut classes = Vec::new();
    for (is, class) in [(part.symbol, "m"), (style.bold, "b"), (style.faint, "f"), (style.italic, "i")] {
        if is {
            classes.push(class);
        }
    }
    let _ = write!(out, "<text y=\"{base}\" x=\"");
    if part.symbol {
        // In the middle of its cell, as wide as it likes to be.
        let _ = write!(out, "{}\"", left(part.column) + part.width * CELL / 2);
    } else {
        let _ = write!(out, "{}\" textLength=\"{}\"", left(part.column), part.width * CELL);
    }
    if !classes.is_empty() {
        let _ = write!(out, " class=\"{}\"", classes.join(" "));
    }
    if let Some(ink) = style.ink {
        // An attribute would be weaker than the rule for all text.
        let _ = write!(out, " style=\"fill:{}\"", hex(ink));
    }
    let _ = write!(out, ">{}</text>", escaped(&part.text));
}

/// Where a column begins.
const fn left(column: usize) -> usize {
    MARGIN + column * CELL
}

/// What a frame says, for those who do not see it.
fn text_of(frame: &Frame) -> String {
    let mut text = String::new();
    for row in frame.rows.iter().filter(|row| !row.is_empty()) {
        let mut column = 0;
        for piece in row {
            text.extend(std::iter::repeat_n(' ', piece.column.saturating_sub(column)));
            text.push_str(&piece.text);
            column = piece.column + piece.width;
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn hex([red, green, blue]: Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
