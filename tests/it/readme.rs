//! The examples of the README, run as they stand there. A new one that nobody runs is a fault.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::support::{Run, Running, program, stderr, until};

/// The lines of the shell examples, without remarks.
fn examples() -> Vec<String> {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("a README");
    let (mut lines, mut inside) = (Vec::new(), false);
    for line in readme.lines() {
        match line {
            "```sh" => inside = true,
            line if line.starts_with("```") => inside = false,
            line if inside => lines.push(line.split("  #").next().unwrap_or(line).trim_end().to_owned()),
            _ => {}
        }
    }
    lines
}

/// A folder with `idlewatch` in its `bin`, and with programs that say how they were called.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    let write = |name: &str, script: &str| {
        let path = folder.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    };
    write("idlewatch", &format!("exec {} \"$@\"", program()));
    for name in ["claude", "make", "mytool"] {
        write(name, &format!("echo called {name} \"$@\""));
    }
    folder
}

fn with(folder: &TempDir, run: Run) -> Run {
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let config = folder.path().join("config");
    run.folder(folder.path())
        .variable("PATH", path)
        .variable("XDG_RUNTIME_DIR", folder.path())
        .variable("XDG_STATE_HOME", folder.path())
        .variable("XDG_CONFIG_HOME", config)
}

fn run(folder: &TempDir, line: &str) -> Output {
    with(folder, Run::script("sh", line)).output()
}

/// Runs it in a terminal, as a person does.
fn in_terminal(folder: &TempDir, line: &str) -> Running {
    with(folder, Run::script("sh", line)).in_terminal()
}

#[test]
fn every_example_does_what_the_readme_says() {
    let folder = folder();
    let mut steered = Vec::new();
    for line in examples() {
        if line.starts_with("idlewatch ctl ") {
            steered.push(line);
        } else if let Some(arguments) = line.strip_prefix("cargo run --release -- ") {
            let output = run(&folder, &format!("idlewatch {arguments}"));
            assert_eq!(output.status.code(), Some(121), "{line}: {}", stderr(&output));
        } else if let Some(arguments) = line.strip_prefix("target/release/idlewatch ") {
            // Nothing is installed yet where a reader has come to.
            let output = run(&folder, &format!("idlewatch {arguments}"));
            assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n", "{line}: {}", stderr(&output));
        } else if line.contains(" -- claude") || line.contains("-- mytool") {
            let (text, status) = in_terminal(&folder, &line).finish();
            assert!(status.success() && text.contains("called "), "{line}: {text}");
        } else if line.ends_with("-- make test") {
            assert_eq!(run(&folder, &line).stdout, b"called make test\n", "{line}");
        } else if line.starts_with("idlewatch replay ") {
            fs::create_dir_all(folder.path().join("config/idlewatch")).unwrap();
            fs::write(folder.path().join("config/idlewatch/config.toml"), profile()).unwrap();
            let output = run(&folder, &line);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains("never seen: the turn 'press esc to stop'"), "{line}: {said} {}", stderr(&output));
        } else {
            // The suite itself, and what would install something.
            assert!(["cargo test", "cargo install --path ."].contains(&line.as_str()), "nobody runs: {line}");
        }
    }
    steer(&folder, &steered);
}

/// The example of a profile.
fn profile() -> String {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("a README");
    let begin = readme.find("```toml\n").expect("an example") + 8;
    readme[begin..][..readme[begin..].find("```").expect("its end")].to_owned()
}

/// The examples of `ctl`, on a run that asks for a name, and tells it.
fn steer(folder: &TempDir, lines: &[String]) {
    let script = "printf 'name? '; read name; echo \"hello $name\"; exec sleep 300";
    let mut going = with(folder, Run::sh(&["--stdin", "pty", "--timeout", "1h"], script)).in_pipes();
    let mut id = String::new();
    until("its socket", || {
        let output = run(folder, "idlewatch ctl list --ids");
        String::from_utf8_lossy(&output.stdout).trim().clone_into(&mut id);
        !id.is_empty()
    });
    going.wait_for("name? ");
    for line in lines {
        let line = line.replace("3f2a", &id[..4]);
        if line == "idlewatch ctl watch" {
            let mut watch = in_terminal(folder, &format!("TERM=xterm {line}"));
            watch.wait_for(&id).enter("q");
            assert!(watch.finish().1.success(), "{line}");
            continue;
        }
        let output = run(folder, &line);
        assert!(output.status.success(), "{line}: {}", stderr(&output));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        match line.split(' ').nth(2) {
            Some("list" | "status") => assert!(said.contains(&id), "{line}: {said}"),
            Some("nudge") => drop(going.wait_for("hello go on")),
            Some("history") => assert!(said.contains("make test"), "{line}: {said}"),
            _ => {}
        }
    }
    assert_eq!(going.finish().1.code(), Some(119));
}
