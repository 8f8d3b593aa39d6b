//! Of a screen that is painted over and over, what is still to be seen.
//!
//! A full-screen program goes to the left of a row, writes it, and erases what is left of it, or erases it first. The row
//! is then the same whatever was there, so of a flood of such rows only the last for each is worth reading at all.

use super::{Size, scan};

/// The parts of `output` that alone decide what the screen shows after it, in order. Colours count for nothing.
///
/// Rows count only where nothing else can come of them: plain letters, fewer than the screen is wide, between `CSI row ;
/// 1 H` and `CSI K`. Anything else is kept, and ends the row's claim to have been painted over. The margins must be those
/// of the screen.
pub(super) fn last_painted(output: &[u8], size: Size) -> Vec<&[u8]> {
    let mut kept = Vec::new();
    let mut painted: Vec<(usize, &[u8])> = Vec::new();
    let (mut at, mut from) = (0, 0);
    while at < output.len() {
        let rest = &output[at..];
        let (what, length) = match goes_to(rest) {
            // Where the cursor goes is of no account if it goes elsewhere at once.
            Some((_, length)) if goes_to(&rest[length..]).is_some() => (None, length),
            Some((place, length)) => match painted_row(place, &rest[length..], size) {
                Some(row) => (Some(place.0), length + row),
                None => (None, 0),
            },
            None => match (scan::look(rest), switch(rest)) {
                (Some(length), _) => (None, length),
                (None, Some((switch, length))) => (Some(usize::from(size.rows) + switch), length),
                (None, None) => (None, 0),
            },
        };
        if length == 0 {
            if from == at {
                keep_last(&mut painted, &mut kept, size);
            }
            at += 1 + scan::escape(&rest[1..]);
            continue;
        }
        if from < at {
            kept.push(&output[from..at]);
        }
        painted.extend(what.map(|what| (what, &rest[..length])));
        at += length;
        from = at;
    }
    keep_last(&mut painted, &mut kept, size);
    if from < output.len() {
        kept.push(&output[from..]);
    }
    kept
}

/// Keeps of each row what was painted last, in the order of that; likewise of each switch.
fn keep_last<'o>(painted: &mut Vec<(usize, &'o [u8])>, kept: &mut Vec<&'o [u8]>, size: Size) {
    let mut seen = vec![false; usize::from(size.rows) + SWITCHES.len() + 1];
    let begin = kept.len();
    kept.extend(
        painted.drain(..).rev().filter(|(row, _)| !std::mem::replace(&mut seen[*row], true)).map(|(_, text)| text),
    );
    kept[begin..].reverse();
}

/// What is switched on and off around a frame and changes nothing of it: the cursor, and that it is to be shown whole.
const SWITCHES: [&[u8]; 2] = [b"\x1b[?25", b"\x1b[?2026"];

/// Which of them is switched here, from 1, and the length of the sequence.
fn switch(bytes: &[u8]) -> Option<(usize, usize)> {
    let (index, name) = SWITCHES.iter().enumerate().find(|(_, name)| bytes.starts_with(name))?;
    matches!(bytes.get(name.len()), Some(b'h' | b'l')).then_some((index + 1, name.len() + 1))
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

/// The length of what paints a row from this place to its end, if it begins at its left and does so.
fn painted_row((row, column): (usize, usize), bytes: &[u8], size: Size) -> Option<usize> {
    if column != 1 || row > usize::from(size.rows) {
        return None;
    }
    let erased = erases(bytes);
    let (mut at, mut letters) = (erased.unwrap_or(0), 0);
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
    // What may be cut off here may go on in the next portion.
    let whole = bytes.len() - at >= 3 && bytes[at] == 0x1b;
    erases(&bytes[at..]).map(|length| at + length).or_else(|| erased.filter(|_| whole).map(|_| at))
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
            ("", 0),
        ] {
            let kept = kept(output);
            assert_eq!(kept.concat().replace("\x1b[1m", ""), output.replace("\x1b[1m", ""), "{kept:?}");
            assert_eq!(kept.len(), parts, "{kept:?}");
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
        for _ in 0..200 {
            // Mostly rows, sometimes something that makes a difference.
            let often = 2 + dice(40);
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
                    ][usize::try_from(dice(12)).unwrap()]
                    .to_owned(),
                    1 => format!("\x1b[{row};3H{text}{erase}"),
                    2 => format!("\x1b[H\x1b[{row};1H{text}"),
                    3 => format!("\x1b[{row}H{erase}{text}\x1b[m"),
                    4 => "\x1b[?25l\x1b[?2026h".to_owned(),
                    5 => "\x1b[?2026l\x1b[?25h".to_owned(),
                    6 => format!("\x1b[{row};1H\x1b[1;3{row}m{text}\x1b[22mz{erase}"),
                    _ => format!("\x1b[{row};1H{text}\x1b[K"),
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
