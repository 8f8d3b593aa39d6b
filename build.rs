//! Which build this is, for `--version`: the commit it was made from, where that can be told, and the target.

use std::path::Path;
use std::process::Command;

fn main() {
    let commit = git(&["rev-parse", "--short=9", "HEAD"]).map_or_else(String::new, |commit| format!("{commit}, "));
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=IDLEWATCH_BUILD={commit}{target}");
    println!("cargo::rerun-if-changed=build.rs");
    // The reflog grows with every commit; only the file of a branch would not do, since it may be packed.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    // The package may lie unpacked in somebody else's repository.
    if !Path::new(".git").exists() {
        return None;
    }
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
