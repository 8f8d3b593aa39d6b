//! Of a flood of text only the end decides what the screen shows: what of it has to be emulated at all.

use memchr::{memchr, memchr_iter, memchr2, memchr3, memrchr};

use super::Size;
use crate::scan;

/// The last lines of `text`, so many of them, if the rest can be left out: every line end is CR LF, so that each line
/// starts at the left, and there are no shifts of the character set, which would be lost.
pub(super) fn last_lines(text: &str, lines: usize) -> Option<&str> {
    let bytes = text.as_bytes();
    if memchr2(0x0e, 0x0f, bytes).is_some() {
        return None;
    }
    let mut ends = 0_usize;
    for end in memchr_iter(b'\n', bytes) {
        if end == 0 || bytes[end - 1] != b'\r' {
            return None;
        }
        ends += 1;
    }
    let skipped = ends.checked_sub(lines + 1).filter(|skipped| *skipped > 0)?;
    let start = memchr_iter(b'\n', bytes).nth(skipped - 1)?;
    Some(&text[start + 1..])
}

/// The end of `text` that alone decides what the screen shows after it, if the rest can be left out. It is to be shown
/// from the left of the last row.
///
/// It fills as many rows as the screen has, so that whatever was there is scrolled away; and with what is left out it
/// fills twice as many, so that this would have been so without leaving anything out, wherever the cursor was. Each of
/// its line ends has to be CR LF, so that each line starts at the left. Shifts of the character set would be lost, so
/// text with them is shown whole. Where long lines go on in the next row (`wraps`) they fill several.
pub(super) fn last_screenful(text: &str, size: Size, wraps: bool) -> Option<&str> {
    let bytes = text.as_bytes();
    if memchr2(0x0e, 0x0f, bytes).is_some() {
        return None;
    }
    let (height, width) = (usize::from(size.rows), usize::from(size.cols));
    let (mut filled, mut start) = (0, None);
    let (mut end, mut is_ended) = (bytes.len(), false);
    loop {
        let begin = memrchr(b'\n', &bytes[..end]).map_or(0, |before| before + 1);
        let piece = &bytes[begin..end];
        let line = piece.strip_suffix(b"\r").or((!is_ended).then_some(piece));
        if start.is_none() && line.is_none() {
            return None;
        }
        let plain = line.filter(|line| wraps && scan::plain(line) == line.len());
        // The last row of what has no end yet is still being filled.
        let rows = match (plain, is_ended) {
            (Some(line), true) => line.len().div_ceil(width).max(1),
            (Some(line), false) => line.len().saturating_sub(1) / width,
            (None, is_ended) => usize::from(is_ended),
        };
        if start.is_none() && filled + rows >= height {
            if begin < 2 || bytes[begin - 2] != b'\r' {
                return None;
            }
            start = Some(begin + (filled + rows - height) * width);
        }
        filled += rows;
        if filled >= 2 * height {
            return start.map(|start| &text[start..]);
        }
        (end, is_ended) = (begin.checked_sub(1)?, true);
    }
}

/// Text that is shorter is looked at whole.
const WORTH_CUTTING: usize = 1 << 14;
/// At least as much of its end is looked at.
const LOOKED_AT: usize = 1 << 13;

/// The end of `bytes`, from the beginning of a line, after which the screen shows the same as after all of them,
/// whatever it showed before. All of them, unless they are many and all text. With `bare` each line feed returns the
/// carriage.
pub(super) fn deciding_end(bytes: &[u8], size: Size, bare: bool, wraps: bool) -> &[u8] {
    if bytes.len() < WORTH_CUTTING || memchr3(0x1b, 0x0e, 0x0f, bytes).is_some() {
        return bytes;
    }
    // Of long lines that may be too few.
    let enough = [LOOKED_AT, 8 * LOOKED_AT].into_iter().filter(|enough| *enough < bytes.len());
    let mut ends = enough.filter_map(|enough| Some(&bytes[memrchr(b'\n', &bytes[..bytes.len() - enough])? + 1..]));
    ends.find(|end| decides(end, size, bare, wraps)).unwrap_or(bytes)
}

/// Whether the screen shows the same after this end of a flood of text, whatever it showed before.
fn decides(end: &[u8], size: Size, bare: bool, wraps: bool) -> bool {
    if bare {
        return memchr_iter(b'\n', end).count() > 2 * usize::from(size.rows);
    }
    let text = match std::str::from_utf8(end) {
        Ok(text) => text,
        // Whatever follows the part that decides comes after it.
        Err(error) => std::str::from_utf8(&end[..error.valid_up_to()]).unwrap_or_default(),
    };
    last_screenful(text, size, wraps).is_some()
}

/// The looks that were asked for in `text` and hold after it.
pub(super) fn looks(text: &str) -> String {
    let bytes = text.as_bytes();
    let resets = ["\x1b[m", "\x1b[0m"].iter().filter_map(|reset| memchr::memmem::rfind(bytes, reset.as_bytes()));
    let mut rest = &text[resets.max().unwrap_or(0)..];
    let mut looks = String::new();
    // Nothing but looks begins with an escape here.
    while let Some(begin) = memchr(0x1b, rest.as_bytes()) {
        rest = &rest[begin..];
        let end = memchr(b'm', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
        looks.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::super::screen::Screen;
    use super::super::screen::tests::{SIZE, dice, texts};
    use super::super::{Moment, Observation, Policy, Stream, Watcher};
    use super::deciding_end;

    #[test]
    fn wherever_a_flood_begins_nothing_of_what_was_there_before_stays() {
        for (before, width) in [("\x1b[H", 3), ("\x1b[H", 19), ("\x1b[H", 500), ("\x1b[2;5H", 21), ("", 40)] {
            for count in [2, 5, 7, 9, 200, 900] {
                let (mut skipping, mut whole) = (Screen::new(SIZE, 0), Screen::new(SIZE, 0));
                let lines: Vec<String> = (0..count).map(|n| format!("{n} {}\r\n", "y".repeat(width))).collect();
                let flood = lines.concat();
                for screen in [&mut skipping, &mut whole] {
                    screen.control("long long long long1long long long long2\x1b[4;1Hlast");
                    screen.control(before);
                    screen.show();
                }
                let tail = "tail".repeat(width * count % 70);
                skipping.text(&flood);
                skipping.text(&tail);
                for piece in flood.as_bytes().chunks(100) {
                    whole.control(std::str::from_utf8(piece).unwrap());
                }
                whole.control(&tail);
                let seen = (texts(&mut skipping), skipping.rows(), skipping.cursor());
                assert_eq!(seen, (texts(&mut whole), whole.rows(), whole.cursor()), "{before:?} {width} {count}");
            }
        }
    }

    #[test]
    fn the_end_that_is_said_to_decide_does() {
        let mut cut = 0;
        for bare in [false, true] {
            for width in [0, 3, 19, 21, 300, 9000] {
                for tail in ["", "tail", "\u{e9}", "\rover"] {
                    let end = if bare { "\n" } else { "\r\n" };
                    let lines: Vec<String> = (0..40_000 / (width + 2))
                        .map(|n| format!("{}{end}", &"y".repeat(width)[..width - n % 3 * width / 4]))
                        .collect();
                    let flood = lines.concat() + tail;
                    let decides = deciding_end(flood.as_bytes(), SIZE, bare, true);
                    cut += usize::from(decides.len() < flood.len());
                    let shown = |output: &[u8]| {
                        let mut screen = Screen::new(SIZE, 0);
                        screen.control("long long long long1long long long long2\x1b[2;1Hmiddle");
                        let output = String::from_utf8(output.to_vec()).unwrap();
                        screen.control(&if bare { output.replace('\n', "\r\n") } else { output });
                        (texts(&mut screen), screen.cursor())
                    };
                    assert_eq!(shown(decides), shown(flood.as_bytes()), "{bare} {width} {tail}");
                }
            }
        }
        assert!(cut > 30, "only {cut} of 48 were cut");
        let escape = format!("{}\x1b[31m{}", "line\r\n".repeat(4000), "line\r\n".repeat(4000));
        assert_eq!(deciding_end(escape.as_bytes(), SIZE, false, true).len(), escape.len());
    }

    #[test]
    fn however_a_flood_is_cut_the_screen_shows_the_same() {
        let mut dice = dice(99);
        for round in 0..60 {
            let mut output = Vec::new();
            while output.len() < 200_000 {
                let (row, width) = (1 + dice(5), dice(25));
                let text = &"the quick brown fox jumps"[..width];
                let piece = match dice(13) {
                    0 => format!("\x1b]0;{text}\x07"),
                    1 => format!("\x1b[{row};1H\x1b[1;3{row}m{text}\x1b[0m\x1b[K").repeat(dice(200)),
                    2 => format!("\x1b[?2026h\x1b[{row}H{text}\x1b[K\x1b[?2026l").repeat(dice(300)),
                    3 => format!("{row} {text}\r\n").repeat(dice(2000)),
                    4 => format!("é{text}漢\r\n").repeat(dice(900)),
                    5 => text.repeat(dice(900)),
                    6 => ["\x1b[2J", "\x1b[?1049h", "\x1b[?1049l", "\x1b[1;3r", "\x1b[r", "\x1bP", "\x1b\\"][dice(7)]
                        .to_owned(),
                    7 | 8 => format!("\x1b[H{text}\x1b[K\r\n\x1b[3{row}m{text}\x1b[{row}J").repeat(dice(900)),
                    9 | 10 => format!("\x1b[2K\x1b[1A\x1b[2K\x1b[G{text}\r\n│{text}\r\n").repeat(dice(900)),
                    11 => format!("\x1b[m{text}\r\n\x1b]0;{row}\x07").repeat(dice(900)),
                    _ => format!("\x1b[{row};3H{text}"),
                };
                output.extend_from_slice(piece.as_bytes());
            }
            let shown = |most: usize| {
                let mut watcher = Watcher::new(Policy { size: SIZE, ..Policy::default() });
                for bytes in output.chunks(most) {
                    watcher.observe(Moment::START, &Observation::Output { stream: Stream::Terminal, bytes });
                }
                (watcher.rows(), watcher.cursor(), watcher.title().map(ToOwned::to_owned))
            };
            let large = 2048 + dice(200_000);
            assert_eq!(shown(large), shown(700), "round {round}, {large} at a time");
        }
    }

    #[test]
    fn lines_that_are_cut_at_the_edge_fill_one_row() {
        let (mut skipping, mut whole) = (Screen::new(SIZE, 0), Screen::new(SIZE, 0));
        let lines: Vec<String> = (0..6).map(|n| format!("{n} {}\r\n", "y".repeat(900))).collect();
        let flood = lines.concat();
        for screen in [&mut skipping, &mut whole] {
            screen.control("\x1b[?7l");
            screen.control("\x1b[2;1Hlong long long");
        }
        skipping.text(&flood);
        flood.split_inclusive('\n').for_each(|line| whole.control(line));
        assert_eq!(texts(&mut skipping), texts(&mut whole));
    }
}
