//! What was seen before is old news.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// How many texts are remembered at least; twice that many at most.
const REMEMBERED: usize = 4096;

/// A bounded memory of texts, by their hashes.
#[derive(Debug, Default)]
pub(super) struct Seen {
    young: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
    old: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
}

impl Seen {
    /// Whether `text` is new; it is not from now on.
    pub(super) fn is_new(&mut self, text: &str) -> bool {
        self.is_new_hash(hash(text))
    }

    /// The same for a text that is known by its hash.
    pub(super) fn is_new_hash(&mut self, hash: u64) -> bool {
        let new = !self.young.contains(&hash) && !self.old.contains(&hash);
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(hash);
        new
    }

    /// From now on everything is new again.
    pub(super) fn forget(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

/// The same number for the same text in every run, so that replays agree.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
