//! Finding things in a few bytes: between the escapes of a painted screen there are seldom more than ten letters, and to
//! call a search made for long texts costs more than they do.

use memchr::memchr;

const ESCAPE: u8 = 0x1b;
/// A word with the byte in each of its places.
const ESCAPES: u64 = 0x1b1b_1b1b_1b1b_1b1b;
const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
/// So much is looked through word by word.
const FEW: usize = 32;

/// Where the first escape is; the length if there is none.
#[inline]
pub(crate) fn escape(bytes: &[u8]) -> usize {
    let (words, rest) = bytes[..bytes.len().min(FEW)].as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        // The lowest byte that is an escape is zero here, and the only ones that become high are that and some above it.
        let difference = u64::from_le_bytes(*word) ^ ESCAPES;
        let found = difference.wrapping_sub(LOW) & !difference & HIGH;
        if found != 0 {
            return index * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    let looked_at = words.len() * 8;
    if bytes.len() < FEW {
        return looked_at + rest.iter().position(|byte| *byte == ESCAPE).unwrap_or(rest.len());
    }
    looked_at + memchr(ESCAPE, &bytes[looked_at..]).unwrap_or(bytes.len() - looked_at)
}

/// Whether all of it are letters that take one cell.
#[inline]
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    // Without a way out in the middle many are compared at once.
    bytes.iter().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~'))
}

/// The length of a sequence at the beginning of `bytes` that only says how the text after it looks.
#[inline]
pub(crate) fn look(bytes: &[u8]) -> Option<usize> {
    let body = bytes.strip_prefix(b"\x1b[")?;
    let end = body.iter().position(|byte| !matches!(byte, b'0'..=b';'))?;
    (body[end] == b'm').then_some(end + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_is_found_wherever_it_is() {
        for length in 0..80 {
            for at in 0..=length {
                let mut bytes = vec![0x9b_u8; length];
                // What differs from it by one bit, or by a borrow.
                bytes.iter_mut().skip(at).step_by(3).for_each(|byte| *byte = 0x1c);
                bytes.iter_mut().skip(at + 1).step_by(3).for_each(|byte| *byte = 0x1a);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = ESCAPE;
                }
                assert_eq!(escape(&bytes), at, "of {length}");
            }
        }
        assert_eq!(escape(b"ab\x1b\x1bcdefgh"), 2);
    }

    #[test]
    fn a_look_is_told_from_other_sequences() {
        for (bytes, length) in [
            ("\x1b[m", Some(3)),
            ("\x1b[1;38:2:1:2:3mx", Some(15)),
            ("\x1b[>4;2m", None),
            ("\x1b[2J", None),
            ("\x1b[31", None),
            ("x\x1b[m", None),
        ] {
            assert_eq!(look(bytes.as_bytes()), length, "{bytes:?}");
        }
    }
}
