//! What is seen beside the picture: of a flood, only what was switched or called last counts.

use crate::scan;

/// What was switched or called last, of what is seen beside the picture: the cursor, whether a frame is to be shown whole,
/// the title.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beside<'o>([Option<&'o [u8]>; 3]);

/// Which of them these begin.
const CURSOR: (&[u8], usize) = (b"\x1b[?25", 0);
const FRAME: (&[u8], usize) = (b"\x1b[?2026", 1);
const TITLES: [&[u8]; 2] = [b"\x1b]0;", b"\x1b]2;"];
const TITLE: usize = 2;
/// A title that is longer is not one.
const LONGEST_TITLE: usize = 1024;

impl<'o> Beside<'o> {
    /// Takes the escape sequence that `bytes` begin with, if it is one of these or has no effect at all. Its length.
    #[inline]
    pub(super) fn take(&mut self, bytes: &'o [u8]) -> Option<usize> {
        match bytes {
            [0x1b, b'[', b'?', ..] => self.take_mode(bytes),
            [0x1b, b'[', ..] => scan::look(bytes),
            [0x1b, b']', ..] => self.take_text(bytes),
            // Letters are letters.
            [0x1b, b'(', b'B', ..] => Some(3),
            _ => None,
        }
    }

    fn take_mode(&mut self, bytes: &'o [u8]) -> Option<usize> {
        let (name, which) = [CURSOR, FRAME].into_iter().find(|(name, _)| bytes.starts_with(name))?;
        let length = name.len() + 1;
        matches!(bytes.get(name.len())?, b'h' | b'l').then(|| {
            self.0[which] = Some(&bytes[..length]);
            length
        })
    }

    /// Of these texts only titles are seen.
    fn take_text(&mut self, bytes: &'o [u8]) -> Option<usize> {
        let end = 2 + bytes[2..].iter().take(LONGEST_TITLE).position(|byte| *byte < b' ')?;
        let length = match &bytes[end..] {
            [0x07, ..] => end + 1,
            [0x1b, b'\\', ..] => end + 2,
            _ => return None,
        };
        if TITLES.iter().any(|name| bytes.starts_with(name)) {
            self.0[TITLE] = Some(&bytes[..length]);
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
