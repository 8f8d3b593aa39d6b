//! How many letters are between the colours of a painted screen: of all in a few bytes it is known at once, instead of one
//! word after the other.
#![cfg_attr(target_arch = "x86_64", allow(unsafe_code, reason = "instructions that only some processors have"))]

/// So many bytes are looked at in one go.
const BLOCK: usize = 64;

/// Letters that take one cell each, between which is nothing but what only says how they look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Letters<'b> {
    block: &'b [u8; BLOCK],
    /// How far they go. That may not be as far as they could, but that is told soon.
    pub(crate) length: usize,
    /// Where they are: a bit for each.
    places: u64,
}

impl<'b> Letters<'b> {
    /// Those that `bytes` begin with. None near the end.
    #[inline]
    pub(crate) fn of(bytes: &'b [u8]) -> Option<Self> {
        let block = bytes.first_chunk()?;
        let (length, places) = between_looks(block);
        Some(Self { block, length, places })
    }

    /// How many there are.
    #[inline]
    pub(crate) const fn count(self) -> usize {
        self.places.count_ones() as usize
    }

    /// Writes them into these cells, which are as many.
    #[inline]
    pub(crate) fn write(self, cells: &mut [char]) {
        let mut places = self.places;
        for cell in cells {
            *cell = char::from(self.block[places.trailing_zeros() as usize % BLOCK]);
            places &= places.wrapping_sub(1);
        }
    }

    /// Whether more of them may follow at once.
    #[inline]
    const fn may_go_on(self) -> bool {
        self.length >= BLOCK / 2
    }
}

/// How many letters `bytes` begin with that take one cell each, passing over what only says how they look, as long as there
/// are no more than `room`; and how far that is. It may not be as far as it could, but that is told soon.
#[inline]
pub(crate) fn letters(bytes: &[u8], room: usize) -> (usize, usize) {
    let (mut at, mut count) = (0, 0);
    while let Some(letters) = Letters::of(&bytes[at..]).filter(|letters| count + letters.count() <= room) {
        at += letters.length;
        count += letters.count();
        if !letters.may_go_on() {
            break;
        }
    }
    (at, count)
}

/// How far a block goes that begins with letters and what only says how they look, and where the letters are: a bit for
/// each.
#[inline]
fn between_looks(block: &[u8; BLOCK]) -> (usize, u64) {
    let numbers = places::<b'0', b';'>(block);
    let begins = places::<0x1b, 0x1b>(block) & (places::<b'[', b'['>(block) >> 1);
    // A sum carries from behind each beginning through the numbers there to the end of the sequence.
    let (sum, cut) = numbers.overflowing_add(begins << 2);
    let ends = sum & !numbers;
    let looks = ends & places::<b'm', b'm'>(block);
    let known = if looks == ends && !cut && begins >> (BLOCK - 2) == 0 {
        u64::MAX
    } else {
        // Up to where the first begins that has another end, or the last, which has none here.
        let begin = begins & before_first(ends & !looks);
        begin.checked_ilog2().map_or(0, |begin| (1 << begin) - 1)
    };
    // From each beginning to its end.
    let within = ((looks & known) << 1).wrapping_sub(begins & known);
    let letters = places::<b' ', b'~'>(block);
    let others = !(letters | within) | !known;
    (others.trailing_zeros() as usize, letters & !within & before_first(others))
}

/// All places before the first of these; all there are where there is none.
const fn before_first(places: u64) -> u64 {
    places.wrapping_sub(1) & !places
}

/// The places of the bytes from `LEAST` to `MOST`, which are ASCII: a bit for each.
#[cfg(target_arch = "x86_64")]
#[inline]
fn places<const LEAST: u8, const MOST: u8>(block: &[u8; BLOCK]) -> u64 {
    use std::arch::x86_64::{
        _mm_and_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8,
    };

    const ROW: usize = 16;

    #[target_feature(enable = "sse2")]
    #[inline]
    fn in_row<const LEAST: u8, const MOST: u8>(row: &[u8; ROW]) -> u64 {
        let (halves, _) = row.as_chunks();
        let row = _mm_set_epi64x(i64::from_le_bytes(halves[1]), i64::from_le_bytes(halves[0]));
        // They are compared with their signs, so whatever is not ASCII is less than all that is.
        let found = if LEAST == MOST {
            _mm_cmpeq_epi8(row, _mm_set1_epi8(LEAST.cast_signed()))
        } else {
            let (before, behind) = (_mm_set1_epi8(LEAST.cast_signed() - 1), _mm_set1_epi8(MOST.cast_signed() + 1));
            _mm_and_si128(_mm_cmpgt_epi8(row, before), _mm_cmpgt_epi8(behind, row))
        };
        u64::from(_mm_movemask_epi8(found).cast_unsigned())
    }
    let (rows, _) = block.as_chunks::<ROW>();
    // SAFETY: every processor of this architecture has the instructions.
    rows.iter().rev().fold(0, |places, row| places << ROW | unsafe { in_row::<LEAST, MOST>(row) })
}

/// The places of the bytes from `LEAST` to `MOST`, which are ASCII: a bit for each.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn places<const LEAST: u8, const MOST: u8>(block: &[u8; BLOCK]) -> u64 {
    block.iter().rev().fold(0, |places, byte| places << 1 | u64::from((LEAST..=MOST).contains(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, one after the other.
    fn one_by_one(bytes: &[u8]) -> (usize, usize) {
        let (mut at, mut count) = (0, 0);
        while let Some(byte) = bytes.get(at) {
            if (b' '..=b'~').contains(byte) {
                (at, count) = (at + 1, count + 1);
            } else if let Some(length) = crate::scan::look(&bytes[at..]) {
                at += length;
            } else {
                break;
            }
        }
        (at, count)
    }

    #[test]
    fn as_many_letters_are_told_as_there_are() {
        let pieces: [&[u8]; 12] = [
            b"\x1b[m",
            b"\x1b[1;31m",
            b"\x1b[38;2;111;222;123m",
            b"m",
            b"12;3",
            b"[",
            b" some letters",
            b"\x1b[K",
            b"\x1b",
            b"\r\n",
            b"\x1b[1;",
            "é".as_bytes(),
        ];
        let (mut state, mut whole) = (4_711_u64, 0);
        for _ in 0..200_000 {
            let mut bytes = Vec::new();
            while bytes.len() < BLOCK {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // The last of them are rare, or nothing would go far.
                let which = (state >> 33) % 60;
                bytes.extend_from_slice(pieces[usize::try_from(if which < 12 { which } else { which % 7 }).unwrap()]);
            }
            let first: &[u8; BLOCK] = bytes.first_chunk().unwrap();
            let (length, places) = between_looks(first);
            let (far, _) = one_by_one(&bytes);
            assert!(length <= far, "{length} of {far} in {:?}", String::from_utf8_lossy(&bytes));
            assert_eq!(one_by_one(&bytes[..length]), (length, places.count_ones() as usize));
            // What is left out is either something else or cut off.
            let cut = first[length..].iter().position(|byte| *byte == b'm' || *byte == 0x1b);
            assert!(length == far || length == BLOCK || first[length] == 0x1b && cut.is_some());
            whole += usize::from(length == BLOCK);
            let room = places.count_ones() as usize;
            assert_eq!(letters(&bytes, room.saturating_sub(1)).0, if room == 0 { length } else { 0 });
        }
        assert!(whole > 1000, "{whole}");
    }
}
