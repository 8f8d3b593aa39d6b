//! The screen as a picture: what is on it, in which colours, and what scrolled off above.

/// A colour as the command asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// One of the terminal's 256.
    Indexed(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own in a terminal")]
pub struct Style {
    /// The colour of the text; none: the terminal's own.
    pub foreground: Option<Colour>,
    /// The colour behind it; none: the terminal's own.
    pub background: Option<Colour>,
    /// Bold.
    pub bold: bool,
    /// Faint.
    pub faint: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underlined: bool,
    /// Struck through.
    pub struck: bool,
    /// With the two colours exchanged.
    pub inverse: bool,
}

/// Text of one look within a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// The text.
    pub text: String,
    /// Each of its characters takes two columns.
    pub wide: bool,
    /// How it looks.
    pub style: Style,
}

/// What a person would see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Picture {
    /// How many columns the screen has.
    pub cols: u16,
    /// The rows, without what is blank at the end of each and below the last.
    pub rows: Vec<Vec<Stretch>>,
    /// The row and column of the cursor, from 0; none: it is hidden.
    pub cursor: Option<(usize, usize)>,
    /// The terminal's title, if the command has given it one.
    pub title: Option<String>,
    /// The last lines that scrolled off above it.
    pub above: Vec<String>,
}

impl Picture {
    /// The rows as text.
    pub fn text(&self) -> Vec<String> {
        let joined = |row: &Vec<Stretch>| row.iter().map(|stretch| stretch.text.as_str()).collect::<String>();
        self.rows.iter().map(|row| joined(row).trim_end().to_owned()).collect()
    }
}

/// Puts a row together from its cells: each a character, whether it is wide, and its look.
pub(super) fn row(cells: impl Iterator<Item = (char, bool, Style)>) -> Vec<Stretch> {
    let mut row: Vec<Stretch> = Vec::new();
    for (letter, wide, style) in cells {
        match row.last_mut() {
            Some(last) if last.style == style && last.wide == wide => last.text.push(letter),
            _ => row.push(Stretch { text: letter.into(), wide, style }),
        }
    }
    while let Some(last) = row.last_mut() {
        if last.style.background.is_none() && !last.style.inverse && !last.style.underlined {
            last.text.truncate(last.text.trim_end_matches(' ').len());
        }
        if !last.text.is_empty() {
            break;
        }
        row.pop();
    }
    row
}
