//! The rules of the architecture, checked on the source.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source file");
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

/// Fails for every file in `folder`, except those named, that has one of these words outside of its comments.
fn nobody_says(words: &[&str], folder: &str, except: &[&str]) {
    for (path, text) in sources(folder) {
        if except.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        for line in text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
            for word in words {
                assert!(!line.contains(word), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn the_core_does_no_input_or_output_and_reads_no_clock() {
    let words = [
        "std::fs",
        "std::io",
        "std::net",
        "std::env",
        "std::process",
        "std::thread",
        "std::os",
        "portable_pty",
        "Instant",
        "SystemTime",
        "nix::",
        "libc::",
        "println!",
        "eprintln!",
        "unsafe {",
        "unsafe fn",
    ];
    nobody_says(&words, "src/watch", &[]);
}

#[test]
fn only_the_command_line_knows_clap() {
    nobody_says(
        &["clap::", "use clap"],
        "src",
        &["cli.rs", "cli/ctl.rs", "cli/hints.rs", "cli/history.rs", "cli/plain.rs", "cli/refusal.rs", "cli/typed.rs"],
    );
}

#[test]
fn only_one_file_knows_how_a_pseudo_terminal_is_made() {
    nobody_says(&["native_pty_system", "openpty", "posix_openpt"], "src", &["session/pty.rs"]);
}

#[test]
fn the_clock_is_read_in_one_place() {
    nobody_says(&["Instant::now", "SystemTime::now"], "src", &["session/clock.rs"]);
}

#[test]
fn only_these_files_ask_the_system_for_what_no_crate_wraps() {
    let session = [
        "beside",
        "events",
        "files",
        "heap",
        "inherited",
        "job",
        "monitor",
        "pty",
        "shell",
        "signals",
        "sink",
        "spawn",
        "status",
        "terminal",
        "tree/linux",
        "typeahead",
    ];
    let session: Vec<String> = session.iter().map(|name| format!("session/{name}.rs")).collect();
    let mut all: Vec<&str> = session.iter().map(String::as_str).collect();
    all.extend(["scan.rs", "scan/letters.rs", "variables.rs"]);
    // Elsewhere the compiler refuses it.
    nobody_says(&["(unsafe_code,"], "src", &all);
    nobody_says(&["unsafe {", "unsafe fn"], "src", &all);
}
