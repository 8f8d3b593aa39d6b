//! The program that finds out which functions of idlewatch a run calls (`packaging/layout`).

use std::path::Path;
use std::process::Command;

use crate::support::{Run, has, has_example, program, stderr};

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn what_a_run_calls_is_told_in_the_order_of_the_first_call() {
    let Some(layout) = has_example("layout").filter(|_| has("nm")) else { return };
    let output = Command::new(layout).arg(program()).output().expect("layout runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let names = String::from_utf8(output.stdout).expect("names");
    let at = |part: &str| names.lines().position(|name| name.contains(part));
    // In idlewatch itself, in the monitor, once somebody typed, and once it was silent.
    let (begins, monitor) = (at("prepare_process").expect("it begins"), at("Watchman").expect("the monitor"));
    let (typed, silent) = (at("read_terminal").expect("typed"), at("session4look").expect("silent"));
    assert!(begins < monitor && monitor < typed && typed < silent, "{begins} {monitor} {typed} {silent}");
    assert_eq!(at("post_mortem"), None, "nobody asked for a report");
}

#[test]
fn a_program_that_cannot_be_looked_at_is_named() {
    let Some(layout) = has_example("layout") else { return };
    let output = Command::new(layout).arg(Path::new("no-such-program")).output().expect("layout runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.starts_with("layout: no-such-program: "), "{error}");
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_run_that_breaks_down_is_an_error_and_is_not_waited_for() {
    let Some(layout) = has_example("layout").filter(|_| has("nm") && has("cc")) else { return };
    let folder = tempfile::tempdir().unwrap();
    // It ends well as long as it has one word, and else stops where no function begins, or is killed.
    for (name, instruction) in [("stops", "nop; int3"), ("killed", "ud2")] {
        let (text, made) = (folder.path().join("text.c"), folder.path().join(name));
        let main =
            format!("int main(int count, char **words) {{ if (count > 2) __asm__(\"{instruction}\"); return 0; }}");
        std::fs::write(&text, main).unwrap();
        assert!(Command::new("cc").arg(&text).arg("-o").arg(&made).status().unwrap().success());
        let output = Run::bare(&[&layout, &made]).output();
        assert!(!output.status.success() && stderr(&output).starts_with("layout: "), "{name}: {output:?}");
    }
}
