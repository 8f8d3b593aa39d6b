//! A nudge that arrives: the body, a pause until the screen has settled, the submit key alone, a look whether the
//! screen moved, and the key once more if it did not.
//!
//! Text and key in one write is a paste to many programs, and they ignore the key for a moment after it.

use std::time::Duration;

use super::screen::Cursor;
use super::{Known, Look, Moment};

/// The submit key follows the body no sooner than this, or it is taken for a part of it.
const PAUSE: Duration = Duration::from_millis(200);
/// A screen that never settles is not waited for any longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// The screen has this long to move after the key.
const MOVES: Duration = Duration::from_secs(3);
/// After this the program does not take the nudge.
const GIVE_UP: Duration = Duration::from_secs(15);
/// A line that is longer than this loses its end in the kernel's line mode, the newline included.
const LONGEST_LINE: usize = 4095;
/// So many letters of its end tell the text from what else is on the screen.
const LETTERS: usize = 12;

/// A text that can be typed and submitted: keys have names of their own, and a control character would be one.
pub fn typeable(text: &str) -> Result<String, String> {
    match text.chars().find(|letter| letter.is_control() && *letter != '\n' && *letter != '\t') {
        None if text.trim().is_empty() => Err("nothing to type; write a text such as 'go on'".to_owned()),
        None => Ok(text.to_owned()),
        Some(control) => {
            Err(format!("it contains the control character {control:?}; for keys, use a step such as key:esc"))
        }
    }
}

/// A nudge on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Nudge {
    pub(super) text: String,
    begun: Moment,
    stage: Stage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// The body was typed at this moment.
    Typed(Moment),
    /// The key was pressed first and last at these moments, with the end of the text in this place before.
    Submitted { first: Moment, last: Moment, place: Option<Place> },
}

/// Where the end of the text stood: so many rows above the cursor, which goes along when a screen scrolls or grows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    above_cursor: isize,
    row: String,
}

/// What the screen shows now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) rows: &'a [String],
    pub(super) cursor: Cursor,
    /// The last byte that was printed.
    pub(super) byte: Option<Moment>,
    /// When something last changed that counts: what turns or ticks all the time proves nothing.
    pub(super) progress: Moment,
}

/// What happens next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing before this moment.
    Wait(Moment),
    /// Type this.
    Type(Vec<u8>),
    /// It was taken.
    Sent,
    /// It was not.
    Failed(&'static str),
}

impl Nudge {
    /// Begins. Gives the nudge, if it goes on, and what to type; or why it cannot be typed.
    pub(super) fn begin(now: Moment, text: &str, look: Option<&Look>) -> Result<(Option<Self>, Vec<u8>), &'static str> {
        let line_mode = look.map_or(Known::Unknown, |look| look.line_mode);
        if line_mode == Known::Yes {
            if text.lines().any(|line| line.len() >= LONGEST_LINE) {
                return Err("the terminal is in line mode, which takes no line longer than 4095 bytes");
            }
            // The kernel hands over a whole line at its newline; there is nothing to settle and no key to get lost.
            return Ok((None, format!("{}\n", text.trim_end_matches('\n')).into_bytes()));
        }
        let body = match look.map_or(Known::Unknown, |look| look.paste) {
            // Only where the program has asked for it: elsewhere the escape would cancel a menu.
            Known::Yes => format!("\x1b[200~{text}\x1b[201~"),
            Known::No | Known::Unknown => text.replace('\n', " "),
        };
        Ok((Some(Self { text: text.to_owned(), begun: now, stage: Stage::Typed(now) }), body.into_bytes()))
    }

    /// Whether a person who typed last at this moment has typed into it: what stands there then is theirs to submit.
    pub(super) fn is_disturbed(&self, typed: Option<Moment>) -> bool {
        typed.is_some_and(|typed| typed >= self.begun)
    }

    /// Goes on.
    pub(super) fn step(&mut self, now: Moment, shown: Shown<'_>) -> Next {
        match &self.stage {
            Stage::Typed(at) => {
                let settled = shown.byte.map_or(*at, |byte| byte.max(*at)) + PAUSE;
                let ready = settled.min(*at + LONGEST_PAUSE);
                if now < ready {
                    return Next::Wait(ready);
                }
                let place = Place::of(&self.text, shown);
                self.stage = Stage::Submitted { first: now, last: now, place };
                Next::Type(b"\r".to_vec())
            }
            Stage::Submitted { first, last, place } => {
                // Where the text never stood, it has to appear, or something else that counts.
                let changed = || shown.progress > *first || Place::of(&self.text, shown).is_some();
                if place.as_ref().map_or_else(changed, |place| place.is_left(shown)) {
                    return Next::Sent;
                }
                if now.since(*first) >= GIVE_UP {
                    return Next::Failed("the screen did not move");
                }
                if now.since(*last) < MOVES {
                    return Next::Wait(*last + MOVES);
                }
                self.stage = Stage::Submitted { first: *first, last: now, place: place.clone() };
                Next::Type(b"\r".to_vec())
            }
        }
    }
}

impl Place {
    /// The lowest row in which the text ends; it may have begun in the row above.
    fn of(text: &str, shown: Shown<'_>) -> Option<Self> {
        let letters: Vec<char> = letters(text).collect();
        let end: String = letters[letters.len().saturating_sub(LETTERS)..].iter().collect();
        if end.is_empty() {
            return None;
        }
        let ends_in = |index: &usize| {
            let above: String = index.checked_sub(1).map(|above| letters_of(shown, above)).unwrap_or_default();
            let both = format!("{above}{}", letters_of(shown, *index));
            both.rfind(&end).is_some_and(|at| at + end.len() > above.len())
        };
        let at_cursor = Some(shown.cursor.row).filter(ends_in);
        let row = at_cursor.or_else(|| (0..shown.rows.len()).rev().find(ends_in))?;
        Some(Self { above_cursor: shown.cursor.row.cast_signed() - row.cast_signed(), row: shown.rows[row].clone() })
    }

    /// Whether the text stands there no more. A program that took the key for a new line of the text is not done:
    /// its cursor is below the text in a row without letters, indented as the text is.
    fn is_left(&self, shown: Shown<'_>) -> bool {
        let is_here = |rows_up: isize| {
            let row = shown.cursor.row.checked_add_signed(-rows_up).and_then(|row| shown.rows.get(row));
            row.is_some_and(|row| *row == self.row)
        };
        let continues = || {
            let blank = letters_of(shown, shown.cursor.row).is_empty();
            self.above_cursor == 0 && shown.cursor.col > 0 && blank && is_here(1)
        };
        !is_here(self.above_cursor) && !continues()
    }
}

fn letters_of(shown: Shown<'_>, row: usize) -> String {
    shown.rows.get(row).map(|row| letters(row).collect()).unwrap_or_default()
}

/// What stays the same when a text is wrapped, indented and framed.
fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\u{2500}'..='\u{259f}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Moment {
        Moment::after_start(Duration::from_millis(milliseconds))
    }

    fn shown(rows: &[String], byte: u64) -> Shown<'_> {
        Shown { rows, cursor: Cursor { row: 0, col: 7 }, byte: Some(at(byte)), progress: Moment::START }
    }

    #[test]
    fn the_key_comes_alone_after_the_screen_has_settled_and_the_cleared_line_proves_it() {
        let (nudge, body) = Nudge::begin(at(0), "go on", None).unwrap();
        let mut nudge = nudge.unwrap();
        assert_eq!(body, b"go on");
        let typed = ["> go on".to_owned()];
        assert_eq!(nudge.step(at(50), shown(&typed, 40)), Next::Wait(at(240)));
        assert_eq!(nudge.step(at(240), shown(&typed, 40)), Next::Type(b"\r".to_vec()));
        assert_eq!(nudge.step(at(300), shown(&typed, 280)), Next::Wait(at(3240)));
        assert_eq!(nudge.step(at(400), shown(&["> ".to_owned()], 390)), Next::Sent);
    }

    #[test]
    fn only_the_key_is_pressed_again_and_then_it_is_given_up() {
        let (nudge, _) = Nudge::begin(at(0), "go on", None).unwrap();
        let mut nudge = nudge.unwrap();
        let typed = ["> go on".to_owned()];
        let (mut keys, mut now) = (0, 0);
        loop {
            match nudge.step(at(now), shown(&typed, 10)) {
                Next::Wait(moment) => now = u64::try_from(moment.since_start().as_millis()).unwrap(),
                Next::Type(bytes) => {
                    assert_eq!(bytes, b"\r");
                    keys += 1;
                }
                Next::Failed(_) => break,
                Next::Sent => panic!("nothing moved"),
            }
        }
        assert_eq!((keys, now / 1000), (5, 15));
    }

    #[test]
    fn a_screen_that_never_settles_is_waited_for_two_seconds() {
        let (nudge, _) = Nudge::begin(at(0), "go on", None).unwrap();
        let mut nudge = nudge.unwrap();
        let rows = ["spinning".to_owned()];
        assert_eq!(nudge.step(at(1900), shown(&rows, 1890)), Next::Wait(at(2000)));
        assert_eq!(nudge.step(at(2000), shown(&rows, 1990)), Next::Type(b"\r".to_vec()));
    }

    #[test]
    fn line_mode_takes_the_line_at_once_and_refuses_what_the_kernel_would_swallow() {
        let look = Look { line_mode: Known::Yes, ..Look::default() };
        assert_eq!(Nudge::begin(at(0), "go on", Some(&look)), Ok((None, b"go on\n".to_vec())));
        assert!(Nudge::begin(at(0), &"x".repeat(5000), Some(&look)).is_err());
    }

    #[test]
    fn a_paste_is_bracketed_only_where_it_was_asked_for() {
        let look = Look { line_mode: Known::No, paste: Known::Yes, ..Look::default() };
        assert_eq!(Nudge::begin(at(0), "a\nb", Some(&look)).unwrap().1, b"\x1b[200~a\nb\x1b[201~");
        let look = Look { line_mode: Known::No, paste: Known::No, ..Look::default() };
        assert_eq!(Nudge::begin(at(0), "a\nb", Some(&look)).unwrap().1, b"a b");
    }

    /// Types `text` so that the screen is `before`, presses the key so that it is `after`.
    fn is_taken(text: &str, before: (&str, usize, usize), after: (&str, usize, usize)) -> bool {
        let screen = |(rows, ..): (&str, usize, usize)| rows.split('|').map(str::to_owned).collect::<Vec<String>>();
        let cursor = |(_, row, col)| Cursor { row, col };
        let mut nudge = Nudge::begin(at(0), text, None).unwrap().0.unwrap();
        let (rows, cursor_before) = (screen(before), cursor(before));
        let typed = Shown { rows: &rows, cursor: cursor_before, byte: Some(at(10)), progress: at(10) };
        assert_eq!(nudge.step(at(300), typed), Next::Type(b"\r".to_vec()));
        let (rows, cursor) = (screen(after), cursor(after));
        let taken = Shown { rows: &rows, cursor, byte: Some(at(900)), progress: at(900) };
        nudge.step(at(1000), taken) == Next::Sent
    }

    #[test]
    fn a_line_that_stays_where_it_was_typed_is_taken_when_the_cursor_leaves_it() {
        assert!(is_taken("go on", ("$ go on", 0, 7), ("$ go on|got it|$ ", 2, 2)));
        assert!(is_taken("sleep 60", ("$ sleep 60", 0, 10), ("$ sleep 60|", 1, 0)), "and nothing is printed");
        assert!(is_taken("go on", ("$ x|$ go on", 1, 7), ("$ go on|$ ", 1, 2)), "and the screen scrolls");
    }

    #[test]
    fn a_text_that_was_wrapped_is_found() {
        let wrapped = "> are you still|  there and well?";
        assert!(!is_taken("are you still there and well?", (wrapped, 1, 17), (wrapped, 1, 17)));
        assert!(is_taken("are you still there and well?", (wrapped, 1, 17), ("> ", 0, 2)));
        let framed = "╭──────────╮|│ > are you│|│ there?   │|╰──────────╯";
        assert!(!is_taken("are you there?", (framed, 2, 8), (framed, 2, 8)));
    }

    #[test]
    fn a_text_away_from_the_cursor_is_found_and_goes_along_with_a_screen_that_grows() {
        let typed = ("* busy|> go on|", 2, 0);
        assert!(!is_taken("go on", typed, ("* busy|  a tip|> go on|", 3, 0)));
        assert!(is_taken("go on", typed, ("* busy|> go on|> |", 3, 0)));
    }

    #[test]
    fn a_key_that_was_taken_for_a_new_line_of_the_text_is_pressed_again() {
        assert!(!is_taken("go on", ("> go on|  status", 0, 7), ("> go on||  status", 1, 2)));
    }
}
