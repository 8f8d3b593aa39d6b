//! A nudge that arrives: the body, a pause until the screen has settled, the submit key alone, a look whether the
//! screen moved, and the key once more if it did not.
//!
//! Text and key in one write is a paste to many programs, and they ignore the key for a moment after it.

use std::time::Duration;

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

/// A nudge on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Nudge {
    pub(super) text: String,
    stage: Stage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// The body was typed at this moment.
    Typed(Moment),
    /// The key was pressed first and last at these moments, with this in the cursor's row before.
    Submitted { first: Moment, last: Moment, row: usize, before: String },
}

/// What the screen shows now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown<'a> {
    pub(super) rows: &'a [String],
    pub(super) cursor_row: usize,
    /// The last byte that was printed.
    pub(super) byte: Option<Moment>,
    /// The last visible change that was no animation.
    pub(super) change: Option<Moment>,
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
                return Err("the terminal is in line mode, which takes no line of more than 4095 bytes");
            }
            // The kernel hands over a whole line at its newline; there is nothing to settle and no key to get lost.
            return Ok((None, format!("{}\n", text.trim_end_matches('\n')).into_bytes()));
        }
        let body = match look.map_or(Known::Unknown, |look| look.paste) {
            // Only where the program has asked for it: elsewhere the escape would cancel a menu.
            Known::Yes => format!("\x1b[200~{text}\x1b[201~"),
            Known::No | Known::Unknown => text.replace('\n', " "),
        };
        Ok((Some(Self { text: text.to_owned(), stage: Stage::Typed(now) }), body.into_bytes()))
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
                let before = shown.rows.get(shown.cursor_row).cloned().unwrap_or_default();
                self.stage = Stage::Submitted { first: now, last: now, row: shown.cursor_row, before };
                Next::Type(b"\r".to_vec())
            }
            Stage::Submitted { first, last, row, before } => {
                if self.moved(shown, *first, *row, before) {
                    return Next::Sent;
                }
                if now.since(*first) >= GIVE_UP {
                    return Next::Failed("the screen did not move");
                }
                if now.since(*last) < MOVES {
                    return Next::Wait(*last + MOVES);
                }
                let (first, row, before) = (*first, *row, before.clone());
                self.stage = Stage::Submitted { first, last: now, row, before };
                Next::Type(b"\r".to_vec())
            }
        }
    }

    /// Whether the screen shows that the key was taken: the text is gone from where it was typed, or, where it never
    /// stood there, something else has changed.
    fn moved(&self, shown: Shown<'_>, submitted: Moment, row: usize, before: &str) -> bool {
        let end: String = {
            let letters: Vec<char> = self.text.trim_end().chars().collect();
            letters[letters.len().saturating_sub(12)..].iter().collect()
        };
        if before.contains(end.trim()) {
            return shown.rows.get(row).is_none_or(|now| now != before);
        }
        shown.change.is_some_and(|change| change > submitted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Moment {
        Moment::after_start(Duration::from_millis(milliseconds))
    }

    fn shown(rows: &[String], byte: u64) -> Shown<'_> {
        Shown { rows, cursor_row: 0, byte: Some(at(byte)), change: None }
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
}
