//! The screen of a recording: what is seen at one moment.

use avt::{Cell, Color, Line, Pen, Terminal};
use idlewatch::cast::What;
use idlewatch::watch::Size;

use crate::title::{Title, Titles};

/// A colour: red, green, blue.
pub type Colour = [u8; 3];

/// What is seen at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The rows, from the top.
    pub rows: Vec<Row>,
    /// Column and row of the cursor, if it is seen.
    pub cursor: Option<(usize, usize)>,
    /// The title of the window.
    pub title: Title,
}

/// One row: neighbours that look alike are one piece.
pub type Row = Vec<Piece>;

/// Characters side by side that look alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The column of the first.
    pub column: usize,
    /// How many columns they take.
    pub width: usize,
    /// How many each of them takes.
    pub each: usize,
    /// The characters.
    pub text: String,
    /// How they look.
    pub style: Style,
}

/// How characters look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "a terminal's attributes are independent of each other")]
pub struct Style {
    /// The colour of the letters, if not the usual one.
    pub ink: Option<Colour>,
    /// The colour behind them, if not the usual one.
    pub paper: Option<Colour>,
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
}

/// The usual colour of letters.
pub const INK: Colour = [0xd8, 0xdc, 0xe8];

/// The usual colour behind them.
pub const PAPER: Colour = [0x12, 0x14, 0x1c];

/// The sixteen colours that have names.
const NAMED: [Colour; 16] = [
    [0x23, 0x27, 0x35],
    [0xf0, 0x76, 0x83],
    [0x8c, 0xcf, 0x7e],
    [0xe8, 0xc4, 0x6a],
    [0x7a, 0xa9, 0xf7],
    [0xc4, 0x9a, 0xf6],
    [0x6f, 0xd0, 0xd6],
    [0xd8, 0xdc, 0xe8],
    [0x80, 0x87, 0x9b],
    [0xff, 0x96, 0xa0],
    [0xa9, 0xe3, 0x9b],
    [0xf6, 0xd9, 0x8b],
    [0x9b, 0xc1, 0xff],
    [0xd7, 0xb7, 0xff],
    [0x93, 0xe6, 0xea],
    [0xff, 0xff, 0xff],
];

/// A terminal that shows a recording.
pub struct Screen {
    terminal: Terminal,
    titles: Titles,
}

impl Screen {
    /// An empty one.
    pub fn new(size: Size) -> Result<Self, avt::InvalidSize> {
        let terminal = Terminal::new(size.cols.into(), size.rows.into())?;
        Ok(Self { terminal, titles: Titles::default() })
    }

    /// Takes in what happened.
    pub fn take(&mut self, what: &What) {
        match what {
            What::Output(text) => {
                self.titles.follow(text);
                self.terminal.feed(text.as_str());
            }
            What::Resize(size) => self.terminal.resize(size.cols.into(), size.rows.into()),
            _ => {}
        }
    }

    /// What is seen now.
    pub fn frame(&self) -> Frame {
        let cursor = self.terminal.cursor();
        Frame {
            rows: self.terminal.screen().visible_lines().map(row).collect(),
            cursor: cursor.visible.then_some((cursor.col, cursor.row)),
            title: self.titles.now().clone(),
        }
    }
}

impl Frame {
    /// Nothing is written anywhere.
    pub fn is_blank(&self) -> bool {
        self.rows.iter().all(Vec::is_empty)
    }
}

fn row(line: &Line) -> Row {
    let mut pieces: Row = Vec::new();
    let mut column = 0;
    for cell in line.cells().iter().filter(|cell| cell.width() > 0) {
        let (style, width) = (Style::of(cell.pen()), usize::from(cell.width()));
        match pieces.last_mut() {
            Some(last) if last.style == style && last.each == width => {
                last.text.push(shown(cell));
                last.width += width;
            }
            _ => pieces.push(Piece { column, width, each: width, text: shown(cell).into(), style }),
        }
        column += width;
    }
    pieces.retain(Piece::is_seen);
    pieces
}

/// What is drawn for a cell: a control character could not even be written to the file.
fn shown(cell: &Cell) -> char {
    if cell.char().is_control() { ' ' } else { cell.char() }
}

impl Piece {
    fn is_seen(&self) -> bool {
        let Style { paper, underlined, struck, .. } = self.style;
        paper.is_some() || underlined || struck || self.text.chars().any(|c| c != ' ')
    }
}

impl Style {
    fn of(pen: &Pen) -> Self {
        let (mut ink, mut paper) = (pen.foreground().map(colour), pen.background().map(colour));
        if pen.is_inverse() {
            (ink, paper) = (paper.or(Some(PAPER)), ink.or(Some(INK)));
        }
        Self {
            ink,
            paper,
            bold: pen.is_bold(),
            faint: pen.is_faint(),
            italic: pen.is_italic(),
            underlined: pen.is_underline(),
            struck: pen.is_strikethrough(),
        }
    }
}

fn colour(colour: Color) -> Colour {
    match colour {
        Color::RGB(rgb) => [rgb.r, rgb.g, rgb.b],
        Color::Indexed(index @ 0..16) => NAMED[usize::from(index)],
        // A cube of six steps for each of red, green and blue.
        Color::Indexed(index @ 16..232) => {
            let step = |level: u8| if level == 0 { 0 } else { 55 + 40 * level };
            let index = index - 16;
            [step(index / 36), step(index / 6 % 6), step(index % 6)]
        }
        // Shades of grey.
        Color::Indexed(index) => [8 + 10 * (index - 232); 3],
    }
}
