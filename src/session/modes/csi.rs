//! One control sequence of the command's.

/// A control sequence as far as it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Csi {
    /// `?`, `>`, `<` or `=`; something else where the sequence makes no sense.
    pub prefix: u8,
    /// The byte before the last, where there is one.
    pub intermediate: u8,
    /// How many parameters there are.
    count: u8,
    pub values: [u16; MOST_PARAMETERS],
    /// For each parameter a bit: whether a colon ties it to the one before.
    tied: u32,
}

/// More parameters than any sequence that matters here has.
const MOST_PARAMETERS: usize = 32;

impl Csi {
    /// Takes a byte of it that is not the last.
    pub fn take(&mut self, byte: u8) {
        match byte {
            b'0'..=b'9' => {
                if self.count == 0 {
                    self.next(false);
                }
                let last = &mut self.values[usize::from(self.count) - 1];
                *last = last.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
            }
            b';' | b':' => {
                if self.count == 0 {
                    self.next(false);
                }
                self.next(byte == b':');
            }
            // It comes first; elsewhere it makes the sequence one that nobody knows.
            b'<'..=b'?' if self.count == 0 && self.prefix == 0 => self.prefix = byte,
            b'<'..=b'?' => self.prefix = u8::MAX,
            0x20..=0x2f => self.intermediate = byte,
            _ => {}
        }
    }

    /// Its parameters.
    pub fn parameters(&self) -> &[u16] {
        &self.values[..usize::from(self.count)]
    }

    fn next(&mut self, tied: bool) {
        if usize::from(self.count) < MOST_PARAMETERS {
            self.tied |= u32::from(tied) << self.count;
            self.count += 1;
        }
    }

    /// Whether there is a parameter at this place and a colon ties it to the one before.
    pub fn is_tied(&self, at: usize) -> bool {
        at < usize::from(self.count) && self.tied & 1 << at != 0
    }
}
