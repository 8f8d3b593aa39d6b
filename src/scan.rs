//! Finding things in a few bytes: between the escapes of a painted screen there are seldom more than ten letters, and to
//! call a search made for long texts costs more than they do.
#![allow(unsafe_code, reason = "instructions that only some processors have")]

mod letters;

use memchr::memchr;

pub(crate) use self::letters::{Letters, letters};

const ESCAPE: u8 = 0x1b;
/// So much is looked through word by word.
const FEW: usize = 32;

/// A word with this byte in each of its places.
const fn all(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The bytes of `word` below `least` have their high bit set here, and perhaps some above the lowest of them.
const fn below(word: u64, least: u8) -> u64 {
    word.wrapping_sub(all(least)) & !word & all(0x80)
}

/// The same for the bytes above `most`, which is less than 0x80.
const fn above(word: u64, most: u8) -> u64 {
    (word.wrapping_add(all(0x7f - most)) | word) & all(0x80)
}

/// Where the lowest byte is that was found.
const fn first(found: u64) -> usize {
    (found.trailing_zeros() / 8) as usize
}

/// Where the first byte is that is `found` in the words that these bytes are looked at as, or `wanted`; the length if
/// there is none.
#[inline]
fn position(bytes: &[u8], found: impl Fn(u64) -> u64, wanted: impl Fn(u8) -> bool) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = found(u64::from_le_bytes(*word));
        if found != 0 {
            return index * 8 + first(found);
        }
    }
    words.len() * 8 + rest.iter().position(|byte| wanted(*byte)).unwrap_or(rest.len())
}

/// Where the first escape is; the length if there is none.
#[inline]
pub(crate) fn escape(bytes: &[u8]) -> usize {
    let few = bytes.len().min(FEW);
    let found = position(&bytes[..few], |word| below(word ^ all(ESCAPE), 1), |byte| byte == ESCAPE);
    if found < few {
        return found;
    }
    few + memchr(ESCAPE, &bytes[few..]).unwrap_or(bytes.len() - few)
}

/// How many letters it begins with that take one cell each.
#[inline]
pub(crate) fn plain(bytes: &[u8]) -> usize {
    position(bytes, |word| below(word, b' ') | above(word, b'~'), |byte| !matches!(byte, b' '..=b'~'))
}

/// The length of a control sequence at the beginning of `bytes` that has numbers in it and nothing else, and its last
/// byte.
#[inline]
pub(crate) fn numbers(bytes: &[u8]) -> Option<(usize, u8)> {
    let body = bytes.strip_prefix(b"\x1b[")?;
    let end = position(body, |word| above(word ^ all(b'0'), b';' ^ b'0'), |byte| !matches!(byte, b'0'..=b';'));
    body.get(end).filter(|last| matches!(last, b'@'..=b'~')).map(|last| (end + 3, *last))
}

/// The length of a sequence at the beginning of `bytes` that only says how the text after it looks.
#[inline]
pub(crate) fn look(bytes: &[u8]) -> Option<usize> {
    numbers(bytes).filter(|(_, last)| *last == b'm').map(|(length, _)| length)
}

/// So many places are asked about in one go.
const GO: usize = 32;

/// The first place from `from` on where `odd` says so of the byte there and the two after it, zeros behind the end; the
/// length if there is none. `odd` is asked about many places at once, so it is to compare and not to branch.
#[inline]
pub(crate) fn first_odd(bytes: &[u8], from: usize, odd: impl Fn(u8, u8, u8) -> bool) -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { first_odd_of_more(bytes, from, odd) };
    }
    first_odd_of(bytes, from, odd)
}

/// The same, compiled for processors that compare twice as many places at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn first_odd_of_more(bytes: &[u8], from: usize, odd: impl Fn(u8, u8, u8) -> bool) -> usize {
    first_odd_of(bytes, from, odd)
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it has to be compiled for the processor that its caller is compiled for")]
fn first_odd_of(bytes: &[u8], from: usize, odd: impl Fn(u8, u8, u8) -> bool) -> usize {
    let mut at = from;
    while at + GO + 2 <= bytes.len() {
        // Three slices beside each other, so that the compiler sees that it can take many places at once.
        let (first, second, third) = (&bytes[at..][..GO], &bytes[at + 1..][..GO], &bytes[at + 2..][..GO]);
        let places = first.iter().zip(second).zip(third);
        if places.fold(0, |any, ((first, second), third)| any | u8::from(odd(*first, *second, *third))) != 0 {
            break;
        }
        at += GO;
    }
    let byte = |place: usize| bytes.get(place).copied().unwrap_or(0);
    (at..bytes.len()).find(|place| odd(byte(*place), byte(place + 1), byte(place + 2))).unwrap_or(bytes.len())
}

/// Where the control sequence begins that has its last byte at `last`; none if that is text.
#[inline]
pub(crate) fn begin_of(bytes: &[u8], last: usize) -> Option<usize> {
    let before = bytes[..last].iter().rposition(|byte| !matches!(byte, 0x20..=0x3f))? + 1;
    bytes[..before].ends_with(b"\x1b[").then(|| before - 2)
}

/// Whether a control sequence that has this byte after its `[` begins with a number or ends with it: it has none of the
/// marks that make it private.
#[inline]
#[expect(clippy::needless_bitwise_bool, reason = "many places are compared at once, which a branch would prevent")]
pub(crate) const fn is_public(byte: u8) -> bool {
    (byte >= b'0') & (byte < 0x7f) & (byte & !3 != b'<')
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
    fn letters_end_at_whatever_is_not_one() {
        for byte in 0..=255_u8 {
            for at in 0..20 {
                let mut bytes = [b'~'; 20];
                (bytes[at], bytes[19]) = (byte, b' ');
                let end = if (b' '..=b'~').contains(&byte) || at == 19 { 20 } else { at };
                assert_eq!(plain(&bytes), end, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn something_odd_is_found_wherever_it_is() {
        for length in (0..8).chain(120..140).chain(250..270) {
            for at in 0..=length {
                let mut bytes = vec![b'a'; length];
                bytes.iter_mut().skip(at).for_each(|byte| *byte = b'b');
                for from in [0, at / 2, at] {
                    assert_eq!(first_odd(&bytes, from, |byte, _, _| byte == b'b'), at, "of {length}");
                    let before = (from..length).find(|place| (at..length).contains(&(place + 2))).unwrap_or(length);
                    assert_eq!(first_odd(&bytes, from, |_, _, byte| byte == b'b'), before, "of {length}");
                }
            }
        }
    }

    #[test]
    fn a_look_is_told_from_other_sequences() {
        for (bytes, length) in [
            ("\x1b[m", Some(3)),
            ("\x1b[1;38:2:1:2:3mx", Some(15)),
            ("\x1b[>4;2m", None),
            ("\x1b[2J", None),
            ("\x1b[31", None),
            ("\x1b[38;2;111;222;123;48;2;111;222;123mx", Some(36)),
            ("\x1b[38;2;111;222;123;48;2;111;222;123", None),
            ("\x1b[\u{bf}1m", None),
            ("x\x1b[m", None),
        ] {
            assert_eq!(look(bytes.as_bytes()), length, "{bytes:?}");
        }
    }
}
