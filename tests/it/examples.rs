//! The recipes, run as they are, with agents that hang where that is what they are about.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::support::{Run, has, has_python_module, program, stderr};

/// A folder with the recipes and with `idlewatch` and `claude` in its `bin`. This `claude` hangs when asked to, and
/// keeps count.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let recipes = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for recipe in fs::read_dir(recipes).unwrap().map(Result::unwrap) {
        fs::copy(recipe.path(), folder.path().join(recipe.file_name())).unwrap();
    }
    fs::create_dir(folder.path().join("bin")).unwrap();
    let claude = "echo \"$*\" >>runs\ncase \"$*\" in\n\
                  *hang*once*) [ $(grep -c once runs) -gt 1 ] || exec sleep 300;;\n\
                  *hang*) exec sleep 300;;\nesac\necho \"did $*\"\n";
    write(&folder.path().join("bin/claude"), claude);
    write(&folder.path().join("bin/idlewatch"), &format!("echo \"$@\" >>watched\nexec {} \"$@\"\n", program()));
    folder
}

fn write(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Runs this in the folder; nothing that stands still for three seconds is waited for.
fn run(folder: &TempDir, argv: &[&str], variables: &[(&str, &str)]) -> Output {
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut run = Run::bare(argv).folder(folder.path()).variable("PATH", path).variable("IDLE", "3s");
    for (name, value) in variables {
        run = run.variable(name, value);
    }
    run.output()
}

fn lines(folder: &TempDir, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    text.lines().map(ToOwned::to_owned).collect()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_aliases_put_idlewatch_before_the_agent() {
    for shell in ["bash", "zsh"].into_iter().filter(|shell| has(shell)) {
        let folder = folder();
        let expand = if shell == "bash" { "shopt -s expand_aliases" } else { "setopt aliases" };
        let script = format!("{expand}\n. ./aliases.sh\nclaude hello\n\\claude alone\n");
        fs::write(folder.path().join("script"), script).unwrap();
        let output = run(&folder, &[shell, "script"], &[]);
        assert_eq!(stdout(&output), "did hello\ndid alone\n", "{}", stderr(&output));
        assert_eq!(lines(&folder, "watched"), ["--idle 10m -- claude hello"]);
        for agent in ["claude", "codex", "gemini", "aider", "opencode"] {
            assert!(lines(&folder, "aliases.sh").contains(&format!("alias {agent}='idlewatch --idle 10m -- {agent}'")));
        }
    }
}

#[test]
fn an_agent_is_resumed_until_it_is_done() {
    let folder = folder();
    let output = run(&folder, &["./resume-until-done.sh", "claude hang", "claude --continue"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(lines(&folder, "runs"), ["hang", "--continue"]);

    let output = run(&folder, &["./resume-until-done.sh", "claude hang", "claude hang again", "2"], &[]);
    assert_eq!(output.status.code(), Some(121), "{}", stderr(&output));
    assert_eq!(lines(&folder, "runs")[2..], ["hang", "hang again"]);

    let output = run(&folder, &["./resume-until-done.sh", "exit 3"], &[]);
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_make_target_does_not_hang() {
    if !has("make") {
        return;
    }
    let folder = folder();
    let output = run(&folder, &["make", "test", "TESTS=echo tested"], &[]);
    assert!(output.status.success() && stdout(&output).contains("\ntested\n"), "{}", stderr(&output));
    let output = run(&folder, &["make", "test", "TESTS=claude hang", "WATCH=idlewatch --idle 3s --"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("Error 121"), "{}", stderr(&output));
}

/// What the YAML file holds at this path, as Python would write it.
fn yaml(folder: &TempDir, file: &str, path: &str) -> String {
    let script = format!("import yaml; print(yaml.safe_load(open('{file}')){path})");
    let output = run(folder, &["python3", "-c", &script], &[]);
    assert!(output.status.success(), "{file}: {}", stderr(&output));
    stdout(&output).trim_end().to_owned()
}

#[test]
fn a_github_job_says_why_it_failed() {
    if !has("bash") || !has_python_module("yaml") {
        return;
    }
    let folder = folder();
    let script = yaml(&folder, "github-actions.yml", "['jobs']['agent']['steps'][2]['run']");
    for (agent, code, says) in [
        ("claude fine", 0, "did fine"),
        ("claude hang", 121, "::error title=idlewatch::the agent was silent for too long"),
        ("exit 7", 7, "::error::the agent failed with 7"),
    ] {
        let _ = fs::remove_file(folder.path().join("report.md"));
        let output =
            run(&folder, &["bash", "-e", "-c", &script], &[("AGENT", agent), ("GITHUB_STEP_SUMMARY", "summary")]);
        assert_eq!(output.status.code(), Some(code), "{agent}: {}", stderr(&output));
        assert!(stdout(&output).contains(says), "{agent}: {}", stdout(&output));
        assert_eq!(!lines(&folder, "summary").is_empty(), code == 121, "{agent}");
        let _ = fs::remove_file(folder.path().join("summary"));
    }
}

#[test]
fn a_gitlab_job_is_tried_again_when_it_was_stuck() {
    if !has_python_module("yaml") {
        return;
    }
    let folder = folder();
    let script = yaml(&folder, "gitlab-ci.yml", "['agent']['script'][0]");
    let output = run(&folder, &["sh", "-c", &script], &[("AGENT", "claude hang")]);
    assert_eq!(output.status.code(), Some(121), "{}", stderr(&output));
    assert!(yaml(&folder, "gitlab-ci.yml", "['agent']['retry']['exit_codes']").contains("121"));
    assert!(folder.path().join(yaml(&folder, "gitlab-ci.yml", "['agent']['artifacts']['paths'][0]")).exists());
}

#[test]
fn the_unit_is_one_that_systemd_takes() {
    if !has("systemd-analyze") {
        return;
    }
    let folder = folder();
    let unit = fs::read_to_string(folder.path().join("idlewatch-agent.service")).unwrap();
    // What it starts has to be there.
    let unit = unit.replace("/usr/bin/idlewatch", program());
    fs::write(folder.path().join("idlewatch-agent.service"), &unit).unwrap();
    let output = run(&folder, &["systemd-analyze", "verify", "--man=no", "./idlewatch-agent.service"], &[]);
    let said = stderr(&output);
    assert!(!said.contains("idlewatch-agent.service"), "{said}");
    // And its command line is one that idlewatch takes.
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let output = run(&folder, &["sh", "-c", &start.replace("-- claude", "--print-config -- claude")], &[]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn many_prompts_are_worked_through_and_a_stuck_one_is_tried_again() {
    if !has("parallel") {
        return;
    }
    let folder = folder();
    fs::write(folder.path().join("prompts.txt"), "one\nhang once\nthree 'quoted' $HOME\n").unwrap();
    let home = ("HOME", folder.path().to_str().unwrap());
    let output = run(&folder, &["./many-prompts.sh", "prompts.txt"], &[home, ("AGENT", "claude -p")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    for done in ["did -p one", "did -p hang once", "did -p three 'quoted' $HOME"] {
        assert!(said.contains(done), "{done}: {said}");
    }
    assert_eq!(lines(&folder, "runs").iter().filter(|run| run.contains("once")).count(), 2);
    assert_eq!(lines(&folder, "prompts.log").len(), 4);
}

#[test]
fn a_slurm_job_goes_back_into_the_queue_when_it_is_stuck() {
    if !has("bash") {
        return;
    }
    let folder = folder();
    // Slurm itself is not there: what it would be told is written down.
    write(&folder.path().join("bin/scontrol"), "echo \"$@\" >>told\n");
    for (agent, restarts, code, told) in
        [("claude fine", "0", 0, 0), ("claude hang", "0", 121, 1), ("claude hang", "3", 121, 1), ("exit 9", "0", 9, 1)]
    {
        let variables = [("AGENT", agent), ("SLURM_JOB_ID", "42"), ("SLURM_RESTART_COUNT", restarts)];
        let output = run(&folder, &["./slurm-job.sh"], &variables);
        assert_eq!(output.status.code(), Some(code), "{agent}: {}", stderr(&output));
        assert_eq!(lines(&folder, "told"), vec!["requeue 42"; told], "{agent} {restarts}");
    }
}

#[test]
fn a_kubernetes_job_knows_our_codes_and_its_command_runs() {
    if !has_python_module("yaml") {
        return;
    }
    let folder = folder();
    let rules = "['spec']['podFailurePolicy']['rules']";
    assert_eq!(yaml(&folder, "kubernetes-job.yaml", &format!("{rules}[0]['onExitCodes']['values']")), "[121, 123]");
    let fails = yaml(&folder, "kubernetes-job.yaml", &format!("{rules}[1]['onExitCodes']['values']"));
    assert_eq!(fails, "[2, 118, 119, 122, 124, 125, 126, 127]");
    let container = "['spec']['template']['spec']['containers'][0]";
    let script = format!(
        "import os, yaml; c = yaml.safe_load(open('kubernetes-job.yaml')){container}; \
         argv = c['command'] + c['args']; os.execvp(argv[0], argv)"
    );
    let output = run(&folder, &["python3", "-c", &script], &[]);
    assert_eq!(stdout(&output), "did -p make the tests pass\n", "{}", stderr(&output));
    assert!(stderr(&output).lines().all(|line| line.starts_with("{\"v\":1")), "{}", stderr(&output));
}
