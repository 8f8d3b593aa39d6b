//! Of a screen that is painted over and over, what is still to be seen.
//!
//! A full-screen program goes to the left of a row, writes it, and erases what is left of it. The row is then the same
//! whatever was there, so of a flood of such rows only the last for each is worth the emulator's time.

use memchr::memchr;

use super::Size;

/// The parts of `output` that alone decide what the screen shows after it, in order.
///
/// Rows count only where nothing else can come of them: plain letters, fewer than the screen is wide, between `CSI row ;
/// 1 H` and `CSI K`. Anything else is kept, and ends the row's claim to have been painted over. The margins must be those
/// of the screen.
pub(super) fn last_painted(output: &str, size: Size) -> Vec<&str> {
    let bytes = output.as_bytes();
    let mut kept = Vec::new();
    let mut painted: Vec<(usize, &str)> = Vec::new();
    let (mut at, mut from) = (0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let dropped = goes_to(rest).filter(|(_, length)| goes_to(&rest[*length..]).is_some());
        let row = if dropped.is_some() { None } else { whole_row(rest, size) };
        let (Some(length), row) = (dropped.map(|(_, length)| length).or(row.map(|(_, length)| length)), row) else {
            if from == at {
                keep_last(&mut painted, &mut kept, size);
            }
            at += 1 + memchr(0x1b, &rest[1..]).unwrap_or(rest.len() - 1);
            continue;
        };
        if from < at {
            kept.push(&output[from..at]);
        }
        if let Some((row, length)) = row {
            painted.push((row, &output[at..at + length]));
        }
        at += length;
        from = at;
    }
    keep_last(&mut painted, &mut kept, size);
    if from < bytes.len() {
        kept.push(&output[from..]);
    }
    kept
}

/// Keeps of each row what was painted last, in the order of that.
fn keep_last<'o>(painted: &mut Vec<(usize, &'o str)>, kept: &mut Vec<&'o str>, size: Size) {
    let mut seen = vec![false; usize::from(size.rows) + 1];
    let begin = kept.len();
    kept.extend(
        painted.drain(..).rev().filter(|(row, _)| !std::mem::replace(&mut seen[*row], true)).map(|(_, text)| text),
    );
    kept[begin..].reverse();
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

/// A row that is painted from its left to its end: which, and the length of the output that paints it.
fn whole_row(bytes: &[u8], size: Size) -> Option<(usize, usize)> {
    let ((row, column), start) = goes_to(bytes)?;
    let text = &bytes[start..];
    let length = text.iter().position(|byte| !matches!(byte, b' '..=b'~'))?;
    let fits = column == 1 && row <= usize::from(size.rows) && length < usize::from(size.cols);
    (fits && text[length..].starts_with(b"\x1b[K")).then_some((row, start + length + 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { cols: 10, rows: 4 };

    #[test]
    fn a_row_that_is_painted_again_is_left_out() {
        let output = "\x1b[H\x1b[1;1Ha\x1b[K\x1b[2;1Hb\x1b[K\x1b[H\x1b[1;1Hc\x1b[K\x1b[2;1Hd\x1b[K";
        assert_eq!(last_painted(output, SIZE), ["\x1b[1;1Hc\x1b[K", "\x1b[2;1Hd\x1b[K"]);
    }

    #[test]
    fn whatever_is_not_a_whole_row_stays_where_it_is() {
        for (output, parts) in [
            ("\x1b[1;1Ha\x1b[K\x1b[1;1Hb", 2),
            ("\x1b[1;1Ha\x1b[Kx\x1b[1;1Hb\x1b[K", 3),
            ("\x1b[1;1H0123456789\x1b[K\x1b[1;1Hb\x1b[K", 2),
            ("\x1b[1;1Hé\x1b[K\x1b[1;1Hb\x1b[K", 2),
            ("\x1b[9;1Ha\x1b[K\x1b[9;1Hb\x1b[K", 1),
            ("plain", 1),
            ("", 0),
        ] {
            let kept = last_painted(output, SIZE);
            assert_eq!(kept.concat(), output, "{kept:?}");
            assert_eq!(kept.len(), parts, "{kept:?}");
        }
    }
}
