//! Where there is no /proc: nothing of the processes can be seen.

use crate::report::Process;
use crate::watch::Moment;

/// The processor time of every process at a moment, which nobody can tell here.
#[derive(Debug)]
pub struct Usage;

/// Not known.
pub fn usage(_now: Moment, _root: i32) -> Option<Usage> {
    None
}

/// Not known.
pub fn processes(
    _now: Moment,
    _root: i32,
    _terminals: &[u64],
    _before: Option<&Usage>,
) -> Option<(Vec<Process>, usize)> {
    None
}
