//! Of a screen that is painted over and over, what is still to be seen.
//!
//! A full-screen program goes to the left of a row, writes it, and erases what is left of it, or erases it first. The row
//! is then the same whatever was there, so of a flood of such rows only the last for each is worth reading at all, and
//! what was written into it since.

use super::Size;
use crate::scan;

/// The parts of `output` that alone decide what the screen shows after it, in order. Colours count for nothing.
///
/// Rows count only where nothing else can come of them: plain letters, fewer than the screen is wide, between `CSI row ;
/// 1 H` and `CSI K`. What is written into a row without filling it is kept until the row is painted. Anything else is
/// kept, and ends the row's claim to have been painted over; unless the end paints every row and nothing before it lasts
/// longer than that. The margins must be those of the screen.
pub(super) fn last_painted(output: &[u8], size: Size) -> Vec<&[u8]> {
    all_painted(output, size).unwrap_or_else(|| Painted::read(output, size).kept)
}

/// The same where the end of `output` paints every row, which is soon found out.
pub(super) fn all_painted(output: &[u8], size: Size) -> Option<Vec<&[u8]>> {
    let begin = end_to_try(output, size)?;
    let end = Painted::read(&output[begin..], size);
    (end.covers_all && is_calm(&output[..begin], end.switched)).then_some(end.kept)
}

/// Where the end of `output` begins that may paint all there is: a few screens of letters before its end.
fn end_to_try(output: &[u8], size: Size) -> Option<usize> {
    let enough = 4 * usize::from(size.rows) * usize::from(size.cols);
    let mut at = output.len().checked_sub(enough)?;
    loop {
        at += scan::escape(output.get(at..)?);
        if goes_to(&output[at..]).is_some() {
            return (at > 0).then_some(at);
        }
        at += 1;
    }
}

/// Whether nothing is left of this once every row is painted anew and these `switches` are switched: it writes, moves and
/// erases, and does not print lines either.
fn is_calm(output: &[u8], switches: [bool; SWITCHES.len()]) -> bool {
    let mut at = 0;
    loop {
        at = scan::first_odd(output, at, may_last);
        let Some(byte) = output.get(at) else { return true };
        at += match (byte, switch(&output[at..])) {
            (_, Some((which, length))) if switches[which] => length,
            (b'0'..=b';' | b'[', _) if scan::begin_of(output, at + 1).is_none() => 1,
            _ => return false,
        };
    }
}

/// Whether something here may have an effect that lasts: a control character, be it of the old eight bits, an escape that
/// does not begin a public control sequence, the end of one that does more than to write, move, erase and colour.
#[expect(clippy::needless_bitwise_bool, reason = "many places are compared at once, which a branch would prevent")]
fn may_last(byte: u8, next: u8, third: u8) -> bool {
    let begins = (byte == 0x1b) & (next == b'[') & scan::is_public(third);
    let ends = ((b'0'..=b';').contains(&byte) | (byte == b'[')) & lasts(next) | (byte == b'!') & (next == b'p');
    ((byte < b' ') | (byte == 0x7f)) & !begins | ends | (byte == 0xc2) & (next < 0xa0)
}

/// Whether a control sequence may have an effect that lasts if this is its last byte.
#[expect(clippy::needless_bitwise_bool, reason = "many places are compared at once, which a branch would prevent")]
fn lasts(last: u8) -> bool {
    last.is_ascii() & (last >= b'g') & (last != b'm') | (last == b'W')
}

/// Something that was done to a row or a switch, and to nothing else.
struct Stroke {
    /// Which: the switches first, then the rows.
    on: usize,
    /// What was there before makes no difference after it.
    whole: bool,
}

/// What is left of a part of the output.
struct Painted<'o> {
    kept: Vec<&'o [u8]>,
    /// Every row was painted, with nothing before or in between that could have gone elsewhere.
    covers_all: bool,
    /// Which of the switches are decided.
    switched: [bool; SWITCHES.len()],
}

impl<'o> Painted<'o> {
    fn read(output: &'o [u8], size: Size) -> Self {
        let mut this = Self { kept: Vec::new(), covers_all: false, switched: [false; SWITCHES.len()] };
        let mut painted: Vec<(Stroke, &[u8])> = Vec::new();
        let (mut at, mut from) = (0, 0);
        while at < output.len() {
            let rest = &output[at..];
            let (what, length) = match goes_to(rest) {
                // Where the cursor goes is of no account if it goes elsewhere at once.
                Some((_, length)) if goes_to(&rest[length..]).is_some() => (None, length),
                Some((place, length)) => match written(place, &rest[length..], size) {
                    Some((row, whole)) => (Some(Stroke { on: SWITCHES.len() + place.0 - 1, whole }), length + row),
                    None => (None, 0),
                },
                None => match (scan::look(rest), switch(rest)) {
                    (Some(length), _) => (None, length),
                    (None, Some((switch, length))) => (Some(Stroke { on: switch, whole: true }), length),
                    (None, None) => (None, 0),
                },
            };
            if length == 0 {
                if from == at {
                    this.keep_last(&mut painted, size);
                }
                at += 1 + scan::escape(&rest[1..]);
                continue;
            }
            if from < at {
                this.kept.push(&output[from..at]);
            }
            painted.extend(what.map(|what| (what, &rest[..length])));
            at += length;
            from = at;
        }
        this.keep_last(&mut painted, size);
        if from < output.len() {
            this.kept.push(&output[from..]);
        }
        this
    }

    /// Keeps of each switch and of each row what was painted last, and what was written into it after that, in order.
    fn keep_last(&mut self, painted: &mut Vec<(Stroke, &'o [u8])>, size: Size) {
        let mut seen = vec![false; SWITCHES.len() + usize::from(size.rows)];
        let begin = self.kept.len();
        self.kept.extend(
            painted
                .drain(..)
                .rev()
                .filter(|(Stroke { on, whole }, _)| {
                    let covered = seen[*on];
                    seen[*on] |= whole;
                    !covered
                })
                .map(|(_, text)| text),
        );
        self.kept[begin..].reverse();
        let (switches, rows) = seen.split_at(SWITCHES.len());
        self.switched.iter_mut().zip(switches).for_each(|(switched, seen)| *switched |= seen);
        // Only from the beginning: what came before this may have gone to another screen.
        self.covers_all |= begin == 0 && rows.iter().all(|seen| *seen);
    }
}

/// What is switched on and off around a frame and changes nothing of it: the cursor, and that it is to be shown whole.
const SWITCHES: [&[u8]; 2] = [b"\x1b[?25", b"\x1b[?2026"];

/// Which of them is switched here, and the length of the sequence.
fn switch(bytes: &[u8]) -> Option<(usize, usize)> {
    let (index, name) = SWITCHES.iter().enumerate().find(|(_, name)| bytes.starts_with(name))?;
    matches!(bytes.get(name.len()), Some(b'h' | b'l')).then_some((index, name.len() + 1))
}

/// `CSI row ; column H`: the row and column, and the length of the sequence.
fn goes_to(bytes: &[u8]) -> Option<((usize, usize), usize)> {
    let body = bytes.strip_prefix(b"\x1b[")?;
    let (mut numbers, mut which, mut end) = ([0, 0], 0, 0);
    loop {
        match body.get(end)? {
            digit @ b'0'..=b'9' if end < 12 => numbers[which] = numbers[which] * 10 + usize::from(digit - b'0'),
            b';' if which == 0 => which = 1,
            b'H' => return Some(((numbers[0].max(1), numbers[1].max(1)), end + 3)),
            _ => return None,
        }
        end += 1;
    }
}

/// The length of what is written at this place, if all of it is in this one row, and whether it paints the row whole.
fn written((row, column): (usize, usize), bytes: &[u8], size: Size) -> Option<(usize, bool)> {
    if row > usize::from(size.rows) {
        return None;
    }
    let erased = erases(bytes);
    let (mut at, mut letters) = (erased.unwrap_or(0), column - 1);
    loop {
        let text = scan::plain(&bytes[at..]);
        (at, letters) = (at + text, letters + text);
        if letters >= usize::from(size.cols) {
            return None;
        }
        match scan::look(&bytes[at..]) {
            Some(length) => at += length,
            None => break,
        }
    }
    if let Some(length) = erases(&bytes[at..]) {
        return Some((at + length, column == 1));
    }
    // What may be cut off here may go on in the next portion.
    let ended = bytes.len() - at >= 3 && bytes[at] == 0x1b;
    if erased.is_some() && column == 1 {
        return ended.then_some((at, true));
    }
    // Whatever goes on from here is to find the cursor where this leaves it.
    goes_to(&bytes[at..]).map(|_| (at, false))
}

/// The length of a sequence that erases what is right of the cursor.
fn erases(bytes: &[u8]) -> Option<usize> {
    let names: [&[u8]; 3] = [b"\x1b[K", b"\x1b[0K", b"\x1b[2K"];
    names.iter().find(|name| bytes.starts_with(name)).map(|name| name.len())
}

#[cfg(test)]
mod tests {
    use super::super::screen::Screen;
    use super::super::screen::tests::texts;
    use super::*;

    const SIZE: Size = Size { cols: 10, rows: 4 };

    fn kept(output: &str) -> Vec<&str> {
        last_painted(output.as_bytes(), SIZE).into_iter().map(|part| std::str::from_utf8(part).unwrap()).collect()
    }

    #[test]
    fn a_row_that_is_painted_again_is_left_out() {
        let output = "\x1b[H\x1b[1;1Ha\x1b[K\x1b[2;1Hb\x1b[K\x1b[H\x1b[1;1Hc\x1b[K\x1b[2;1Hd\x1b[K";
        assert_eq!(kept(output), ["\x1b[1;1Hc\x1b[K", "\x1b[2;1Hd\x1b[K"]);
        let coloured = "\x1b[?2026h\x1b[1;1H\x1b[31ma\x1b[0mb\x1b[0K\x1b[m\x1b[2H\x1b[2Kb\x1b[?2026l";
        assert_eq!(kept(&coloured.repeat(9)), ["\x1b[1;1H\x1b[31ma\x1b[0mb\x1b[0K", "\x1b[2H\x1b[2Kb", "\x1b[?2026l"]);
    }

    #[test]
    fn whatever_is_not_a_whole_row_stays_where_it_is() {
        for (output, parts) in [
            ("\x1b[1;1Ha\x1b[K\x1b[1;1Hb", 2),
            ("\x1b[1;1Ha\x1b[Kx\x1b[1;1Hb\x1b[K", 3),
            ("\x1b[1;1H0123456789\x1b[K\x1b[1;1Hb\x1b[K", 2),
            ("\x1b[1;1H01234\x1b[1m56789\x1b[K\x1b[1;1Hb\x1b[K", 3),
            ("\x1b[1;1Hé\x1b[K\x1b[1;1Hb\x1b[K", 2),
            ("\x1b[9;1Ha\x1b[K\x1b[9;1Hb\x1b[K", 1),
            ("\x1b[1;1H\x1b[Ka\x1b[", 1),
            ("\x1b[1;1H\x1b[Ka\nb\x1b[1;1H\x1b[K", 1),
            ("\x1b[?25;1h\x1b[?25h", 2),
            ("plain", 1),
            (&"plain ".repeat(99), 1),
            ("", 0),
        ] {
            let kept = kept(output);
            assert_eq!(kept.concat().replace("\x1b[1m", ""), output.replace("\x1b[1m", ""), "{kept:?}");
            assert_eq!(kept.len(), parts, "{kept:?}");
        }
    }

    #[test]
    fn what_is_written_into_a_row_is_kept_until_the_row_is_painted() {
        let write = "\x1b[1;1Ha\x1b[K\x1b[1;4Hx\x1b[2;2H\x1b[Kz\x1b[2;1Hb\x1b[K\x1b[2;3Hy\x1b[1;1H";
        assert_eq!(
            kept(&format!("{write}c\x1b[K")),
            ["\x1b[2;1Hb\x1b[K", "\x1b[2;3Hy", "\x1b[1;1Hc\x1b[K"],
            "the first row is painted again, the second is not"
        );
        // Cut off in the middle of a row, as a portion may be, and painted anew after that.
        let rows = ["\x1b[1;1H", "\x1b[2;1H", "\x1b[3;1H", "\x1b[4;1H", ""].join("row\x1b[K");
        let portions = [rows.as_str(), "\x1b[3;1Hro"].concat().repeat(20) + &rows;
        assert_eq!(kept(&portions).concat(), rows);
    }

    #[test]
    fn rows_of_another_screen_cover_nothing() {
        let rows = ["\x1b[1;1H", "\x1b[2;1H", "\x1b[3;1H", "\x1b[4;1H"].join("other\x1b[K") + "\x1b[K";
        let head = "\x1b[3;1Hthree\x1b[K".to_owned() + &"\x1b[1;1Hone\x1b[K".repeat(20);
        let output = format!("{head}\x1b[?1049h{rows}\x1b[?1049l");
        assert!(kept(&output).contains(&"\x1b[3;1Hthree\x1b[K"), "{:?}", kept(&output));
    }

    #[test]
    fn what_lasts_is_not_taken_for_painting() {
        let rows = "\x1b[1;1H\x1b[31mrow\x1b[K\x1b[7C".repeat(9);
        for (between, calm) in [
            ("", true),
            ("for 12s, 3h; 4l é\u{a0}", true),
            ("\x1b[?25l", true),
            ("\x1b[?2026h", false),
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
            ("\x1b]0;title\x1b\\", false),
            ("\u{9b}4h", false),
            ("line\r\n", false),
            ("\x0e", false),
        ] {
            for shift in 0..40 {
                let output = [" ".repeat(shift).as_str(), &rows, between, &rows].concat();
                assert_eq!(is_calm(output.as_bytes(), [true, false]), calm, "{output:?}");
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
        let mut left_out = 0;
        for _ in 0..600 {
            // Mostly rows, sometimes something that makes a difference, and sometimes nothing that does.
            let often = [2 + dice(40), 400, 100_000][usize::try_from(dice(3)).unwrap()];
            let mut output = String::new();
            for _ in 0..300 {
                let row = 1 + dice(5);
                let text = &"painted row"[..usize::try_from(dice(12)).unwrap()];
                let erase = ["\x1b[K", "\x1b[2K", "\x1b[0K", "\x1b[1K"][usize::try_from(dice(4)).unwrap()];
                let piece = match dice(often) {
                    0 => [
                        "\x1b[4h",
                        "\x1b[4l",
                        "\x1b(0",
                        "\x1b(B",
                        "漢字",
                        "\x1b[3;9Habc\r\nd",
                        "\x1b[5b",
                        "\x1bM",
                        "\r\n",
                        "\x1b[?7l",
                        "\x1b[?7h",
                        "x",
                        "\x1b[s",
                        "\x1b[u",
                        "\x1b[?1049h",
                        "\x1b[?1049l",
                        "\x1b[3g\t",
                        "\x1b]0;a title\x07",
                        "\u{9b}4h",
                        "\x1b[?25h\x1b[2;3H",
                    ][usize::try_from(dice(20)).unwrap()]
                    .to_owned(),
                    1 => format!("\x1b[{row};3H{text}{erase}"),
                    2 => format!("\x1b[H\x1b[{row};1H{text}"),
                    3 => format!("\x1b[{row}H{erase}{text}\x1b[m"),
                    4 => "\x1b[?25l\x1b[?2026h".to_owned(),
                    5 => "\x1b[?2026l\x1b[?25h".to_owned(),
                    6 => format!("\x1b[{row};1H\x1b[1;3{row}m{text}\x1b[22mz{erase}"),
                    _ => match dice(9) {
                        0 => format!("\x1b[{row};1H12s é\x1b[K"),
                        1 => format!("\x1b[{row};1H\x1b[2K\x1b[1;3{row}m{text}\x1b[m"),
                        2 => format!("\x1b[{row};4H{text}"),
                        _ => format!("\x1b[{row};1H{text}\x1b[K"),
                    },
                };
                output.push_str(&piece);
            }
            let parts = kept(&output);
            left_out += output.len() - parts.concat().len();
            let shown = |parts: &[&str]| {
                let mut screen = Screen::new(SIZE, 0);
                for part in parts {
                    screen.control(part);
                }
                (texts(&mut screen), screen.rows(), screen.cursor())
            };
            assert_eq!(shown(&parts), shown(&[&output]), "{output:?}");
        }
        assert!(left_out > 100_000, "{left_out} bytes");
    }
}
