//! Where in the command's output something is that may have to be undone.

use memchr::memrchr;

use crate::scan;

/// Whether something here may have to be undone, or undoes it: a sequence that is not public, the end of one that shapes
/// the cursor or resets, sets a mode or the rows that scroll, a shift of the character set. The attributes do not count, nor
/// what moves, erases and writes.
#[expect(clippy::needless_bitwise_bool, reason = "many places are compared at once, which a branch would prevent")]
pub fn is_odd(byte: u8, next: u8, third: u8) -> bool {
    let calm = (next == b'[') & scan::is_public(third);
    let end = (byte == b' ') & (next == b'q') | (byte == b'!') & (next == b'p');
    // Control characters, and whatever is no part of a sequence, do not end it.
    let within = (byte < b' ') & (byte != 0x1b) | (byte >= 0x7f);
    let numbers = (byte & 0xf0 == 0x30) | (byte == b'[') | within;
    let end = end | numbers & ((next == b'r') | (next == b'h') | (next == b'l'));
    (byte == 0x1b) & !calm | end | (byte == 0x0e) | (byte == 0x0f)
}

/// The length of a control sequence that is here from beginning to end, as nearly all are.
pub fn whole(bytes: &[u8]) -> Option<usize> {
    let body = bytes.strip_prefix(b"\x1b[")?;
    let end = body.iter().position(|byte| !matches!(byte, 0x20..=0x3f))?;
    matches!(body[end], 0x40..=0x7e).then_some(end + 3)
}

/// Where the control sequence begins that has its last byte at `last`; none if that is text. Control characters and whatever
/// else is no part of it do not end it.
pub fn begin_of(bytes: &[u8], last: usize) -> Option<usize> {
    let before = bytes[..last].iter().rposition(|byte| matches!(byte, 0x40..=0x7e | 0x18 | 0x1a | 0x1b))? + 1;
    bytes[..before].ends_with(b"\x1b[").then(|| before - 2)
}

/// How many sequences from the end are looked at for one that resets all attributes.
const TRIED: usize = 32;

/// Where the last sequence begins that resets all attributes: what was set before it does not matter after it. It is one
/// wherever it stands, since its first byte ends whatever it may be in. The beginning if there is none near the end.
pub fn last_reset(bytes: &[u8]) -> usize {
    let mut before = bytes;
    for _ in 0..TRIED {
        let Some(at) = memrchr(0x1b, before) else { break };
        if bytes[at..].starts_with(b"\x1b[m") || bytes[at..].starts_with(b"\x1b[0m") {
            return at;
        }
        before = &before[..at];
    }
    0
}
