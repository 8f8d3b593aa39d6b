//! Which build this is, for `--version`: the commit it was made from, where that can be told, and the target. And what
//! it is linked with.
#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;

fn main() {
    let commit = git(&["rev-parse", "--short=9", "HEAD"]).map_or_else(String::new, |commit| format!("{commit}, "));
    let target = std::env::var("TARGET").unwrap_or_default();
    // Not a name that begins as those of the settings do: cargo also gives it to the tests and to what they run.
    println!("cargo::rustc-env=BUILT_FROM={commit}{target}");
    println!("cargo::rerun-if-changed=build.rs");
    // The reflog grows with every commit; only the file of a branch would not do, since it may be packed.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    if has_static_unwinder() {
        println!("cargo::rustc-link-lib=static:-bundle=gcc_eh");
    }
}

/// Whether the compiler that links has the part of its own library that unwinds the stack also as an archive. In the
/// program itself it is a few pages that only a panic touches; as a shared library it would be searched for, loaded and
/// made ready at every start, which is a tenth of what a short run costs.
fn has_static_unwinder() -> bool {
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_static = target("FEATURE").split(',').any(|feature| feature == "crt-static");
    if target("OS") != "linux" || target("ENV") != "gnu" || is_static {
        return false;
    }
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let linker = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let Ok(answer) = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output() else { return false };
    // One that is not there is given back as it was asked for.
    let path = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    Path::new(&path).is_absolute() && Path::new(&path).exists()
}

fn git(arguments: &[&str]) -> Option<String> {
    // The package may lie unpacked in somebody else's repository.
    if !Path::new(".git").exists() {
        return None;
    }
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
