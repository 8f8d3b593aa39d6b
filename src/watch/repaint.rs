//! A screen that is painted over and over: only the end of it decides what is seen.

use super::Size;
use super::beside::Beside;
use super::screen::Cursor;
use super::sketch::sketch_of_all;
use crate::scan;

/// The end of `output` after which the screen shows the same as after all of it, whatever it showed before: everything is
/// painted there, and before it nothing is done that lasts longer but what is beside the picture, which is given with it.
/// None where that is not soon found out.
///
/// The screen has to be in the state in which it begins. With `bare` each line feed returns the carriage.
pub(super) fn painted_end(output: &[u8], size: Size, bare: bool) -> Option<(Beside<'_>, &[u8])> {
    let (before, end) = output.split_at(end_to_try(output, size)?);
    if sketch_of_all(end, size, Cursor::default(), bare).open.contains(&true) {
        return None;
    }
    Some((calm(before)?, end))
}

/// Where the end of `output` begins that may paint all there is: a few screens of coloured letters before its end, where
/// the cursor goes to a place.
fn end_to_try(output: &[u8], size: Size) -> Option<usize> {
    let enough = 8 * usize::from(size.rows) * usize::from(size.cols);
    let mut at = output.len().checked_sub(enough)?;
    loop {
        at += scan::escape(output.get(at..)?);
        if goes_to_place(&output[at..]) {
            return (at > 0).then_some(at);
        }
        at += 1;
    }
}

/// Whether it begins with `CSI row ; column H`.
fn goes_to_place(bytes: &[u8]) -> bool {
    scan::numbers(bytes).is_some_and(|(_, last)| last == b'H')
}

/// What is beside the picture, if there is nothing else of which anything is left once every row is painted anew: this only
/// writes, moves and erases.
fn calm(output: &[u8]) -> Option<Beside<'_>> {
    let (mut at, mut beside) = (0, Beside::default());
    loop {
        at = scan::first_odd(output, at, may_last);
        let Some(byte) = output.get(at) else { return Some(beside) };
        at += match byte {
            0x1b => beside.take(&output[at..])?,
            b'0'..=b';' | b'[' if scan::begin_of(output, at + 1).is_none() => 1,
            _ => return None,
        };
    }
}

/// Whether something here may have an effect that lasts: a control character that does more than to move, be it of the old
/// eight bits, an escape that does not begin a public control sequence, the end of one that does more than to write,
/// move, erase and colour.
#[expect(clippy::needless_bitwise_bool, reason = "many places are compared at once, which a branch would prevent")]
fn may_last(byte: u8, next: u8, third: u8) -> bool {
    let begins = (byte == 0x1b) & (next == b'[') & scan::is_public(third);
    let moves = |byte: u8| (0x07..=b'\r').contains(&byte);
    // A control character in the middle of a sequence does not end it.
    let within = (b'0'..=b';').contains(&byte) | (byte == b'[');
    let ends = within & (lasts(next) | moves(next)) | (byte == b'!') & (next == b'p');
    let moves = moves(byte);
    ((byte < b' ') | (byte == 0x7f)) & !begins & !moves | ends | (byte == 0xc2) & (next < 0xa0)
}

/// Whether a control sequence may have an effect that lasts if this is its last byte.
#[expect(clippy::needless_bitwise_bool, reason = "many places are compared at once, which a branch would prevent")]
fn lasts(last: u8) -> bool {
    last.is_ascii() & (last >= b'g') & (last != b'm') | (last == b'W')
}

#[cfg(test)]
mod tests {
    use super::super::screen::Screen;
    use super::super::screen::tests::{SIZE, dice, texts};
    use super::*;

    /// How much of the output decides.
    fn decides(output: &str) -> usize {
        painted_end(output.as_bytes(), SIZE, false).map_or(output.len(), |(_, end)| end.len())
    }

    #[test]
    fn of_frames_that_paint_everything_the_last_decide() {
        let row = "\x1b[31mrow\x1b[m";
        for frame in [
            format!("\x1b[?2026h\x1b[1H{row}\x1b[K\x1b[2H{row}\x1b[K\x1b[3H\x1b[2K{row}\x1b[4H{row}\x1b[K\x1b[?2026l"),
            format!("\x1b[H{row}\x1b[K\r\n{row}\x1b[J"),
            format!("\x1b[H\x1b[2J\t{row}\r\n{row}"),
            format!("\x1b[?25l\x1b[2J\x1b[1;1H{row}│\x1b[?25h"),
        ] {
            let frames = frame.repeat(200);
            assert!(decides(&frames) < 12 * 80 + frame.len(), "{frame:?}");
            let scrolls = format!("\x1b[2;3r{frames}");
            assert_eq!(decides(&scrolls), scrolls.len());
        }
        for frame in ["\x1b[H\x1b[31mrow\x1b[m", "\x1b[Hrow\x1b[K\r\n", "row\r\n", "\x1b[2;1H\x1b[J"] {
            let frames = frame.repeat(500);
            assert_eq!(decides(&frames), frames.len(), "{frame:?} leaves something as it was");
        }
    }

    #[test]
    fn what_lasts_is_not_taken_for_painting() {
        let rows = "\x1b[1;1H\x1b[31mrow\x1b[K\x1b[7C".repeat(9);
        for (between, is_calm) in [
            ("", true),
            ("for 12s, 3h; 4l é\u{a0}", true),
            ("\x1b[?25l", true),
            ("line\r\n\t\x08\x07", true),
            ("\x1b[?2026h", true),
            ("\x1b]0;title\x1b\\", true),
            ("\x1b[?25;1h", false),
            ("\x1b[4h", false),
            ("\x1b[1;4h", false),
            ("\x1b[;h", false),
            ("\x1b[s", false),
            ("\x1b[2;9r", false),
            ("\x1b[0!p", false),
            ("\x1b[4\x7fh", false),
            ("\x1b[>4;2m", false),
            ("\x1b(0", false),
            ("\u{9b}4h", false),
            ("\x0e", false),
            ("in 12\r\n", true),
            ("\x1b[4\nh", false),
            ("\x1b[2;5\rr", false),
            ("\x1b[\x08s", false),
        ] {
            for shift in 0..40 {
                let output = [" ".repeat(shift).as_str(), &rows, between, &rows].concat();
                assert_eq!(calm(output.as_bytes()).is_some(), is_calm, "{output:?}");
            }
        }
    }

    #[test]
    fn the_end_that_is_said_to_decide_does() {
        let mut dice = dice(12_345);
        let mut left_out = 0;
        for _ in 0..900 {
            let (often, kind) = ([100, 1000, 100_000][dice(3)], dice(4));
            let mut output = String::new();
            for _ in 0..120 {
                let (row, text) = (1 + dice(5), &"some letters and a few more"[..dice(28)]);
                let piece = match (dice(often), kind) {
                    (0..6, _) => [
                        "\x1b[2;3r",
                        "\x1b[r",
                        "\x1b(0",
                        "\x1b(B",
                        "漢字",
                        "\x1b[5b",
                        "\x1bM",
                        "\x1b[?7l",
                        "\x1b[s",
                        "\x1b[u",
                        "\x1b[?1049h",
                        "\x1b[?1049l",
                        "\x1b]0;a title\x07\x1b[?25l\x1b[?2026h",
                        "\u{9b}4h",
                        "\x1b[L\x1b[3P\x1b[2@",
                        "\x1b7",
                        "\x1b8",
                    ][dice(17)]
                    .to_owned(),
                    (_, 0) => format!("\x1b[H{text}\x1b[K\r\n\x1b[K{text}\r\n│\x1b[J"),
                    (0..50, _) => "one that goes on somewhere else\r\n".to_owned(),
                    (_, 3) => format!("\x1b[{row};1Hfrom edge to edge {row}."),
                    (_, 1) => format!("\x1b[H\x1b[2J{text}\r\n\x1b[{row}d{text}"),
                    _ => format!("\x1b[{row};1H\x1b[3{row}m{text}\x1b[m\x1b[K"),
                };
                output.push_str(&piece);
            }
            // A screen in another state is not asked about.
            let begins = output.rfind("\x1b[?7l").map_or(0, |last| output.len() - last);
            let end = &output[output.len() - decides(&output).max(begins)..];
            left_out += output.len() - end.len();
            let shown = |output: &str| {
                let mut screen = Screen::new(SIZE, 0);
                screen.control("a line that goes on in the next row\x1b[3;3Hbefore字");
                screen.control(output);
                (texts(&mut screen), screen.rows(), screen.cursor())
            };
            assert_eq!(shown(end), shown(&output), "{output:?}");
        }
        assert!(left_out > 100_000, "{left_out} bytes");
    }
}
