//! The core does no I/O, reads no clock and starts no thread.

use std::fs;
use std::path::Path;

const FORBIDDEN: [&str; 14] = [
    "std::fs",
    "std::io",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "std::os",
    "Instant",
    "SystemTime",
    "libc::",
    "nix::",
    "println!",
    "unsafe ",
    "portable_pty",
];

#[test]
fn the_core_touches_nothing_but_its_arguments() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/watch");
    let mut files = 0;
    for entry in fs::read_dir(core).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        files += 1;
        for word in FORBIDDEN {
            assert!(!text.contains(word), "{} mentions {word}", path.display());
        }
    }
    assert!(files > 10, "the core was not found");
}
