//! What output costs the emulator, and what of it is left out where that is too much.
//!
//! Three bytes can clear every cell of a screen, and a command may print nothing else. So whatever costs more than its
//! length is worth is paid from an allowance that every look at the screen renews. Where the allowance is not enough,
//! the oldest of it is left out: what comes last decides what is to be seen, and a flood of sequences that clear, fill
//! or scroll the screen leaves the same picture if only the last dozens of them are carried out. Other text and moves
//! of the cursor are not left out, and no mode is lost. No program that draws for a person comes near to this.

use super::Size;

/// So many cells may be touched for each byte without further ado. A letter costs the emulator about as much.
const PER_BYTE: usize = 32;
/// What may be touched beyond that between two looks, in screens and in cells: far more than any program draws in a
/// quarter of a second, and no more than a few milliseconds.
const SCREENS: usize = 32;
const CELLS: usize = 1 << 20;

/// Puts the terminal into the state it began with.
const RESET: &str = "\x1bc";

/// What may be spent between two looks at a screen of this size, in cells that are cleared.
pub(crate) const fn allowance(size: Size) -> usize {
    CELLS + SCREENS * size.cols as usize * size.rows as usize
}

/// The parts of `output` that the allowance is enough for, which is then less by as much; none if it is enough for all.
/// `confined`: scrolling may be confined to a part of the screen.
pub(crate) fn affordable<'o>(
    output: &'o str,
    size: Size,
    confined: bool,
    allowance: &mut usize,
) -> Option<Vec<&'o str>> {
    let screen = Surface { cols: size.cols.into(), rows: size.rows.into(), confined };
    let total: usize = pieces(output).map(|piece| screen.work(piece)).sum();
    let beyond = total.saturating_sub(worth(output));
    if let Some(left) = allowance.checked_sub(beyond) {
        *allowance = left;
        return None;
    }
    let mut too_much = beyond - std::mem::take(allowance);
    let mut from = 0;
    for piece in pieces(output) {
        if too_much == 0 {
            break;
        }
        from += piece.len();
        if !screen.is_cheap(piece) {
            too_much = too_much.saturating_sub(screen.work(piece));
        }
    }
    let (before, end) = output.split_at(from);
    let mut parts = screen.cheap(before);
    parts.push(end);
    Some(parts)
}

/// What output of this length may cost without further ado.
const fn worth(output: &str) -> usize {
    PER_BYTE * output.len()
}

/// The control sequences in `output`, and the text between them line by line.
fn pieces(output: &str) -> impl Iterator<Item = &str> {
    let mut rest = output;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let length = match bytes {
            [] => return None,
            [0x1b, b'[', body @ ..] => 2 + end(body, |byte| !matches!(byte, b' '..=b'?')),
            [0x1b, body @ ..] => 1 + end(body, |byte| !matches!(byte, b' '..=b'/')),
            text => {
                let line = text.iter().position(|byte| matches!(byte, b'\n'..=b'\x0c' | 0x1b));
                line.map_or(text.len(), |line| line + usize::from(text[line] != 0x1b))
            }
        };
        // What is no sequence at all may end in the middle of a letter.
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(length));
        rest = after;
        Some(piece)
    })
}

/// Where a sequence ends: after the first byte that can be its last.
fn end(body: &[u8], is_last: impl Fn(u8) -> bool) -> usize {
    body.iter().position(|byte| is_last(*byte)).map_or(body.len(), |last| last + 1)
}

/// Whether a full screen begins (true) or ends here.
fn switches_screen(piece: &str) -> Option<bool> {
    let body = piece.strip_prefix("\x1b[?")?;
    let modes = body.strip_suffix(['h', 'l'])?;
    let is_one = |mode: &str| matches!(number(mode.as_bytes()), 47 | 1047 | 1049);
    modes.split(';').any(is_one).then(|| body.ends_with('h'))
}

/// Whether this changes nothing on the screen but how it is drawn on from then on: modes, looks, margins, character sets.
fn is_mode(piece: &str) -> bool {
    let is_command = piece.starts_with("\x1b[") && piece.ends_with(['h', 'l', 'm', 'p', 'r']);
    is_command || piece.starts_with("\x1b(") || piece.starts_with("\x1b)")
}

/// What the output is drawn on.
struct Surface {
    cols: usize,
    rows: usize,
    confined: bool,
}

impl Surface {
    /// What of `output` costs no more than its length is worth, and what lasts: a reset, after which nothing before it
    /// counts, and that a full screen was begun. One that was left again was not seen by anybody, so that nothing has to be
    /// drawn on it.
    fn cheap<'o>(&self, output: &'o str) -> Vec<&'o str> {
        let (mut parts, mut rest) = (Vec::new(), output);
        if let Some(reset) = output.rfind(RESET) {
            let after;
            (after, rest) = output[reset..].split_at(RESET.len());
            parts.push(after);
        }
        let begins = pieces(rest).filter(|piece| switches_screen(piece) == Some(true)).count();
        let (mut begun, mut unseen) = (0, false);
        for piece in pieces(rest) {
            let keep = match switches_screen(piece) {
                Some(true) => {
                    begun += 1;
                    unseen = begun < begins;
                    !unseen
                }
                Some(false) => !std::mem::take(&mut unseen),
                None if unseen => is_mode(piece),
                None => self.is_cheap(piece),
            };
            if keep {
                parts.push(piece);
            }
        }
        parts
    }

    fn is_cheap(&self, piece: &str) -> bool {
        self.work(piece) <= worth(piece)
    }

    /// About how long this takes, in cells that could be cleared meanwhile; at most, since it depends on where the cursor
    /// is. The factors are measured.
    fn work(&self, piece: &str) -> usize {
        let Self { cols, rows, confined } = *self;
        let (all, moved) = (cols * rows, if confined { rows } else { 0 });
        match piece.as_bytes() {
            [0x1b, b'[', parameters @ .., last] => {
                let number = number(parameters);
                let count = |most: usize| number.clamp(1, most);
                match last {
                    b'J' if number == 2 => 4 * all,
                    b'J' if number < 2 => all,
                    b'K' | b'P' | b'X' => cols,
                    b'@' | b'b' => cols + 8 * count(cols),
                    b'L' | b'T' => rows + count(rows) * cols,
                    b'M' | b'S' => rows + count(rows) * (4 * cols + 2 * moved),
                    b'h' if switches_screen(piece).is_some() => 5 * all,
                    _ => 0,
                }
            }
            b"\x1b#8" => 6 * all,
            bytes if bytes == RESET.as_bytes() => 10 * all,
            b"\x1bD" | b"\x1bE" | b"\x1bM" => cols + rows,
            [] | [0x1b, ..] => 0,
            [text @ .., last] => {
                let fed = usize::from(matches!(last, b'\n'..=b'\x0c'));
                (fed + text.len() / cols) * (cols + moved)
            }
        }
    }
}

/// The first number, 0 if there is none.
fn number(parameters: &[u8]) -> usize {
    let digits = parameters.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number: usize, digit| number.saturating_mul(10).saturating_add(usize::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::super::screen::Screen;
    use super::super::screen::tests::{SIZE, texts};
    use super::*;

    #[test]
    fn pieces_are_sequences_and_lines() {
        for (output, parts) in [
            ("", 0),
            ("one\r\ntwo\x0bthree", 3),
            ("a\x1b[2Jb\x1b[?1049h\x1b#8\x1bc\n", 7),
            ("\x1b[1;2", 1),
            ("\x1b", 1),
            ("\x1bé\x1b[1é漢\x1b[é", 4),
        ] {
            let pieces: Vec<&str> = pieces(output).collect();
            assert_eq!(pieces.concat(), output);
            assert_eq!(pieces.len(), parts, "{pieces:?}");
        }
    }

    #[test]
    fn what_programs_draw_is_never_left_out() {
        // A screen that is cleared and drawn a hundred times in one go.
        for size in [SIZE, Size { cols: 80, rows: 24 }, Size { cols: 300, rows: 100 }] {
            let row = |row| format!("\x1b[{row}H\x1b[2K{}\x1b[K\r\n", "row ".repeat(usize::from(size.cols) / 5));
            let frame = format!("\x1b[H\x1b[2J{}", (1..=size.rows).map(row).collect::<String>());
            let output = format!("\x1b[?1049h{}\x1b[?1049l", frame.repeat(100));
            assert!(affordable(&output, size, true, &mut allowance(size)).is_none(), "{size:?}");
        }
    }

    #[test]
    fn the_oldest_is_left_out_and_what_lasts_stays() {
        let once = allowance(SIZE) / 100;
        let output = format!(
            "\x1b[?1049h\x1bca\x1b#8\x1bcb\x1b[2J\x1b[?1049h\x1b[?7lc\x1b[?1049ld\x1b[?1049hé{}",
            "\x1b#8".repeat(50)
        );
        let mut left = once;
        let parts = affordable(&output, SIZE, false, &mut left).unwrap().concat();
        let kept = parts.matches("\x1b#8").count();
        assert_eq!(left, 0);
        assert!((20..50).contains(&kept), "{kept}");
        assert_eq!(parts, format!("\x1bcb\x1b[?7ld\x1b[?1049hé{}", "\x1b#8".repeat(kept)));
    }

    #[test]
    fn a_flood_that_is_too_much_leaves_the_same_picture() {
        let size = Size { cols: 100, rows: 30 };
        for flood in [
            "\x1b[2J",
            "\x1b[H\x1b[Jhello",
            "\x1b[3;3Hx\x1b[2J\x1b[2;2Hy",
            "x\x1b[1;1H\x1b[2Jwords\r\n",
            "\x1b#8",
            "\x1b#8\x1b[H\x1b[Jover",
            "\x1b[?1049hfull\x1b[?1049l",
            "\x1b[?1049hfull\x1b[?1049lback\x1b[?1049hagain\x1b[2;1H",
            "x\x1bc",
            "\x1b[5;9Habc\x1b[?7l\x1bcx\r\n",
            "\x1b[99Sx\x1b[C",
            "\x1b[Hx\x1b[99Ly",
            "\x1b[Hx\x1b[99My",
            "\x1b[2;3r\x1b[2;1Ha\x1b[99Sb\x1b[99Tc\x1b[r",
            "\r\nx\x1b[80by",
            "x\x1b[99@\x1b[99P\x1b[99X",
            "\x1bD\x1bD\x1bEy\x1bM",
        ] {
            let output = flood.repeat((1 << 16) / flood.len());
            assert!(affordable(&output, size, true, &mut allowance(size)).is_some(), "{flood:?} costs little");
            let shown = |at_a_time: usize| {
                let mut screen = Screen::new(size, 0);
                screen.control("\x1b[2;1Hsomething that was there before\x1b[4;1Hlast");
                let sequences: Vec<&str> = pieces(&output).collect();
                for sequences in sequences.chunks(at_a_time) {
                    for sequence in sequences {
                        screen.control(sequence);
                    }
                    screen.show_for_look();
                }
                (texts(&mut screen), screen.rows(), screen.cursor(), screen.is_alternate())
            };
            assert_eq!(shown(usize::MAX), shown(100), "{flood:?}");
        }
    }
}
