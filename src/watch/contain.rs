//! The wall around the analysis: whatever breaks in there costs what it has seen, and never the command.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic right now is caught by the analysis and costs nothing else; a panic hook should then keep quiet.
pub fn panic_is_contained() -> bool {
    CONTAINED.get()
}

/// What `work` gives; nothing if it panics. Whatever it had begun to change is then to be thrown away.
pub(super) fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(before);
    result.ok()
}
