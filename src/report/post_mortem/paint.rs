//! A picture of the screen as HTML, in its colours.

use std::fmt::Write as _;

use super::html::escape;
use crate::watch::{Colour, Picture, Stretch, Style};

/// The first sixteen colours, as quiet as the page.
const PALETTE: [u32; 16] = [
    0x3b_4048, 0xd9_655b, 0x7f_b56a, 0xd6_b25e, 0x6a_9fd8, 0xb7_8ad0, 0x5f_b3b3, 0xc9_ced6, 0x7f_8691, 0xec_8077,
    0x9b_cf86, 0xe8_ca7d, 0x8c_b9ec, 0xcd_a5e3, 0x82_cfcf, 0xf0_f2f5,
];
/// The terminal's own colours, as in the style sheet.
const TEXT: u32 = 0xd9_dce1;
const GROUND: u32 = 0x17_1a1f;

/// The rows of the picture, with the cursor where it was.
pub fn screen(picture: &Picture) -> String {
    let mut html = String::new();
    let last = picture.cursor.map_or(0, |(row, _)| row + 1).max(picture.rows.len());
    for index in 0..last {
        let row = picture.rows.get(index).map_or(&[][..], Vec::as_slice);
        let cursor = picture.cursor.filter(|(at, _)| *at == index).map(|(_, col)| col);
        for stretch in with_cursor(row, cursor) {
            stretch_as_html(&mut html, &stretch);
        }
        html.push('\n');
    }
    html
}

/// The row with the cell under the cursor the other way round.
fn with_cursor(row: &[Stretch], cursor: Option<usize>) -> Vec<Stretch> {
    let Some(cursor) = cursor else { return row.to_vec() };
    let mut shown: Vec<Stretch> = Vec::new();
    let mut col = 0;
    for stretch in row {
        let width = if stretch.wide { 2 } else { 1 };
        let cells = stretch.text.chars().count();
        let inside = cursor.checked_sub(col).map(|cells| cells / width).filter(|at| *at < cells);
        col += cells * width;
        let Some(at) = inside else {
            shown.push(stretch.clone());
            continue;
        };
        let piece = |skip: usize, take: usize| stretch.text.chars().skip(skip).take(take).collect::<String>();
        let turned = Style { inverse: !stretch.style.inverse, ..stretch.style };
        for (text, style) in
            [(piece(0, at), stretch.style), (piece(at, 1), turned), (piece(at + 1, cells), stretch.style)]
        {
            if !text.is_empty() {
                shown.push(Stretch { text, style, ..stretch.clone() });
            }
        }
    }
    if cursor >= col {
        let blank = |count: usize, style| Stretch { text: " ".repeat(count), wide: false, style };
        shown.push(blank(cursor - col, Style::default()));
        shown.push(blank(1, Style { inverse: true, ..Style::default() }));
    }
    shown
}

fn stretch_as_html(html: &mut String, stretch: &Stretch) {
    let style = css(stretch.style);
    let text = if stretch.wide {
        // A font may draw a wide character narrower or wider than two columns.
        stretch.text.chars().fold(String::new(), |mut all, letter| {
            let _ = write!(all, "<i class=\"wide\">{}</i>", escape(letter.encode_utf8(&mut [0; 4])));
            all
        })
    } else {
        escape(&stretch.text)
    };
    if style.is_empty() {
        html.push_str(&text);
    } else {
        // Writing to a string cannot fail.
        let _ = write!(html, "<span style=\"{style}\">{text}</span>");
    }
}

/// What a style sheet says for this look; made of nothing but numbers and our own words.
fn css(style: Style) -> String {
    let (mut text, mut ground) = (style.foreground.map(rgb), style.background.map(rgb));
    if style.inverse {
        (text, ground) = (Some(ground.unwrap_or(GROUND)), Some(text.unwrap_or(TEXT)));
    }
    let mut css = String::new();
    if let Some(colour) = text {
        let _ = write!(css, "color:#{colour:06x};");
    }
    if let Some(colour) = ground {
        let _ = write!(css, "background:#{colour:06x};");
    }
    if style.bold {
        css.push_str("font-weight:700;");
    }
    if style.faint {
        css.push_str("opacity:.7;");
    }
    if style.italic {
        css.push_str("font-style:italic;");
    }
    match (style.underlined, style.struck) {
        (true, true) => css.push_str("text-decoration:underline line-through;"),
        (true, false) => css.push_str("text-decoration:underline;"),
        (false, true) => css.push_str("text-decoration:line-through;"),
        (false, false) => {}
    }
    css
}

fn rgb(colour: Colour) -> u32 {
    let mix = |red: u32, green: u32, blue: u32| red << 16 | green << 8 | blue;
    match colour {
        Colour::Rgb(red, green, blue) => mix(red.into(), green.into(), blue.into()),
        Colour::Indexed(index @ 0..=15) => PALETTE[usize::from(index)],
        // A cube of six shades of each, then greys.
        Colour::Indexed(index @ 16..=231) => {
            let shade = |part: u8| [0, 95, 135, 175, 215, 255][usize::from(part % 6)];
            let index = index - 16;
            mix(shade(index / 36), shade(index / 6), shade(index))
        }
        Colour::Indexed(index) => {
            let grey = 8 + 10 * u32::from(index - 232);
            mix(grey, grey, grey)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(text: &str, style: Style) -> Stretch {
        Stretch { text: text.to_owned(), wide: false, style }
    }

    #[test]
    fn colours_become_styles_and_text_stays_text() {
        let red = Style { foreground: Some(Colour::Indexed(196)), bold: true, ..Style::default() };
        let picture = Picture {
            rows: vec![vec![stretch("<script>", red), stretch(" & \"x\"", Style::default())]],
            ..Picture::default()
        };
        assert_eq!(
            screen(&picture),
            "<span style=\"color:#ff0000;font-weight:700;\">&lt;script&gt;</span> &amp; &quot;x&quot;\n"
        );
    }

    #[test]
    fn the_cursor_is_shown_on_text_and_beyond_it() {
        let row = vec![stretch("abc", Style::default())];
        let texts = |cursor| with_cursor(&row, Some(cursor)).into_iter().map(|piece| piece.text).collect::<Vec<_>>();
        assert_eq!(texts(1), ["a", "b", "c"]);
        assert_eq!(texts(5), ["abc", "  ", " "]);
        let below = Picture { rows: vec![row.clone()], cursor: Some((2, 0)), ..Picture::default() };
        assert_eq!(screen(&below).lines().count(), 3);
    }

    #[test]
    fn the_colour_cube_and_the_greys_are_where_they_should_be() {
        assert_eq!(rgb(Colour::Indexed(16)), 0);
        assert_eq!(rgb(Colour::Indexed(231)), 0xff_ffff);
        assert_eq!(rgb(Colour::Indexed(208)), 0xff_8700);
        assert_eq!(rgb(Colour::Indexed(232)), 0x08_0808);
        assert_eq!(rgb(Colour::Indexed(255)), 0xee_eeee);
    }
}
