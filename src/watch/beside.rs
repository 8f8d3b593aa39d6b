//! What is seen beside the picture: of a flood, only what was switched or called last counts.

use crate::scan;

/// What was switched or called last, of what is seen beside the picture: the cursor, whether a frame is to be shown whole,
/// the title.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beside<'o>([Option<&'o [u8]>; 3]);

/// What begins one of them, and which it is.
const BESIDE: [(&[u8], usize); 4] = [(b"\x1b[?25", 0), (b"\x1b[?2026", 1), (b"\x1b]0;", 2), (b"\x1b]2;", 2)];
/// A title that is longer is not one.
const LONGEST_TITLE: usize = 1024;

impl<'o> Beside<'o> {
    /// Takes the escape sequence that `bytes` begin with, if it is one of these or has no effect at all. Its length.
    pub(super) fn take(&mut self, bytes: &'o [u8]) -> Option<usize> {
        // Most are colours; and letters are letters.
        let of_no_effect = scan::look(bytes).or_else(|| bytes.starts_with(b"\x1b(B").then_some(3));
        if of_no_effect.is_some() {
            return of_no_effect;
        }
        let which = BESIDE.iter().find(|(name, _)| bytes.starts_with(name));
        let length = if bytes.starts_with(b"\x1b]") {
            let end = 2 + bytes[2..].iter().take(LONGEST_TITLE).position(|byte| *byte < b' ')?;
            match &bytes[end..] {
                [0x07, ..] => end + 1,
                [0x1b, b'\\', ..] => end + 2,
                _ => return None,
            }
        } else {
            let end = which?.0.len();
            matches!(bytes.get(end)?, b'h' | b'l').then_some(end + 1)?
        };
        if let Some((_, which)) = which {
            self.0[*which] = Some(&bytes[..length]);
        }
        Some(length)
    }

    /// What is left of these after those.
    pub(super) fn then(self, later: Self) -> Self {
        Self([0, 1, 2].map(|which| later.0[which].or(self.0[which])))
    }

    /// The sequences.
    pub(super) fn sequences(self) -> impl Iterator<Item = &'o [u8]> {
        self.0.into_iter().flatten()
    }
}
