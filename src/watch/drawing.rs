//! How the command has letters drawn: as they are, where the cursor is, and long lines on in the next row; or not.

/// What it has done to that effect at least once.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Drawing {
    cuts: bool,
    shifts: bool,
}

impl Drawing {
    /// Notes what this control sequence does.
    pub(super) fn note(&mut self, sequence: &str) {
        self.cuts |= cuts(sequence);
        self.shifts |= shifts(sequence);
    }

    /// Whether long lines go on in the next row, as far as is known.
    pub(super) const fn wraps(self) -> bool {
        !self.cuts
    }

    /// Whether letters stand as they are where the cursor is, too.
    pub(super) const fn is_usual(self) -> bool {
        !self.cuts && !self.shifts
    }
}

/// Whether long lines may not go on in the next row from this sequence on.
fn cuts(sequence: &str) -> bool {
    let modes = sequence.strip_prefix("\x1b[?").and_then(|modes| modes.strip_suffix('l'));
    modes.is_some_and(|modes| modes.split([';', ':']).any(|mode| mode.trim_start_matches('0') == "7"))
}

/// Whether letters may not be written as they are, or not where the cursor is, from this sequence on: others stand for
/// them, those right of them are pushed on, tabs stop elsewhere.
fn shifts(sequence: &str) -> bool {
    match sequence.as_bytes() {
        // Of the modes that are not private all but one are to that effect.
        [0x1b, b'[', first, .., b'h'] => first.is_ascii_digit() || *first == b';',
        [0x1b, b'H'] | [0x1b, b'[', .., b'g' | b'W'] => true,
        [0x1b, b'('..=b'/', .., last] => *last != b'B',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_letters_stand_for_and_where_is_followed() {
        let usual =
            ["\x1b[4l", "\x1b[?6l", "\x1b[?7h", "\x1b[?1007l", "\x1b[?47l", "\x1b[20l", "\x1b(B", "\x1b[?25l", ""];
        let shifted = ["\x1b[4h", "\x1b[2;20h", "\x1b[04h", "\x1b(0", "\x1b)0", "\x1bH", "\x1b[3g"];
        let cut = ["\x1b[?7l", "\x1b[?25;07l"];
        for (sequences, is_usual, wraps) in [(&usual[..], true, true), (&shifted, false, true), (&cut, false, false)] {
            for sequence in sequences {
                let mut drawing = Drawing::default();
                drawing.note(sequence);
                drawing.note("\x1b[?7h");
                assert_eq!((drawing.is_usual(), drawing.wraps()), (is_usual, wraps), "{sequence:?}");
            }
        }
    }
}
