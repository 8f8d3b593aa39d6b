//! One text that the command sends to the terminal, for which the terminal does something.

/// What is known of it so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Osc {
    /// Nothing that stays on.
    #[default]
    Other,
    /// Nothing has come yet.
    Begin,
    /// The number of `8;PARAMETERS;ADDRESS` has come.
    Eight,
    /// Its parameters come.
    Parameters,
    /// What is printed from here on is a link, or no longer.
    Link(bool),
    /// So many bytes of [`PROGRESS`] have come.
    Nine(u8),
    /// The terminal shows how far something is, or no longer.
    Progress(bool),
}

/// What comes before the kind of progress, of which 0 is none.
const PROGRESS: &[u8] = b"9;4;";

impl Osc {
    /// Takes the next bytes of it.
    pub fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            *self = match (*self, byte) {
                // It can be megabytes, and what it is is known.
                (Self::Other | Self::Link(true) | Self::Progress(_), _) => return,
                (Self::Begin, b'8') => Self::Eight,
                (Self::Parameters, b';') => Self::Link(false),
                (Self::Eight, b';') | (Self::Parameters, _) => Self::Parameters,
                (Self::Link(false), _) => Self::Link(true),
                (Self::Begin, b'9') => Self::Nine(1),
                (Self::Nine(count), kind) if usize::from(count) == PROGRESS.len() => Self::Progress(*kind != b'0'),
                (Self::Nine(count), byte) if PROGRESS[usize::from(count)] == *byte => Self::Nine(count + 1),
                _ => Self::Other,
            };
        }
    }
}
