//! The completions: what clap generates, and around it the things it cannot know: that the words after the options are
//! a command with completions of its own, that `ctl` and `replay` are verbs only as the first word, and which runs are
//! in progress.

use clap::{Arg, ArgAction, Command, ValueHint};
use clap_complete::Shell;
use idlewatch::cli::{command, ctl_command, replay_command, whole_command};

use crate::support::{Run, has};

fn generate(shell: Shell, command: Command, name: &str) -> String {
    let mut command = without_files(command);
    let mut produced = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut produced);
    String::from_utf8(produced).expect("text")
}

/// A duration, a number or a text is no file, and none is offered for it.
fn without_files(command: Command) -> Command {
    let names_one =
        |arg: &Arg| arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.contains("FILE")));
    let command = command.mut_args(|arg| {
        let is_else = arg.get_action().takes_values() && arg.get_value_hint() == ValueHint::Unknown && !names_one(&arg);
        // The runs in progress are put in place of what stands there.
        if is_else && arg.get_id() != "run" { arg.value_hint(ValueHint::Other) } else { arg }
    });
    command.mut_subcommands(without_files)
}

/// The options that are followed by a value, as they are typed.
fn with_value() -> Vec<String> {
    let command = command();
    let takes = command.get_arguments().filter(|arg| matches!(arg.get_action(), ArgAction::Set | ArgAction::Append));
    let written = takes.flat_map(|arg| {
        let short = arg.get_short().map(|letter| format!("-{letter}"));
        short.into_iter().chain(arg.get_long().map(|name| format!("--{name}")))
    });
    written.collect()
}

/// The verbs of `ctl` that take a run.
fn of_a_run() -> Vec<String> {
    let command = ctl_command();
    let takes = command.get_subcommands().filter(|verb| verb.get_positionals().any(|arg| arg.get_id() == "run"));
    takes.map(|verb| verb.get_name().to_owned()).collect()
}

pub fn bash() -> String {
    let generated = generate(Shell::Bash, whole_command(), "idlewatch");
    let wrapper = include_str!("completions/wrapper.bash").replace("WITH_VALUE", &with_value().join("|"));
    let wrapper = wrapper.replace("OF_A_RUN", &of_a_run().join("|"));
    let tail = generated.find("\nif [[ \"${BASH_VERSINFO[0]}\" -eq 4").expect("the end of the script");
    format!("{}\n\n{wrapper}", generated[..tail].trim_end())
}

pub fn zsh() -> String {
    let body = |text: String| {
        let tail = text.find("if [ \"$funcstack[1]\"").expect("the end of the script");
        let text = text[..tail].replace("#compdef idlewatch-replay\n", "").replace("#compdef idlewatch-ctl\n", "");
        text.trim().to_owned()
    };
    let run = body(generate(Shell::Zsh, command(), "idlewatch")).replace("_idlewatch() {", "_idlewatch_run() {");
    let replay = body(generate(Shell::Zsh, replay_command(), "idlewatch-replay"));
    let replay = replay.replace("autoload -U is-at-least\n", "");
    let ctl = body(generate(Shell::Zsh, ctl_command().name("idlewatch-ctl"), "idlewatch-ctl"))
        .replace("autoload -U is-at-least\n", "");
    let runs = "or as last:_default'";
    assert!(ctl.contains(runs), "the script has changed");
    let ctl = ctl.replace(runs, "or as last:_idlewatch_runs'");
    format!("{run}\n\n{}\n\n{}\n\n{}", replay.trim(), ctl.trim(), include_str!("completions/wrapper.zsh"))
}

pub fn fish() -> String {
    let generated = generate(Shell::Fish, whole_command(), "idlewatch");
    // An option whose value is being typed is an error to argparse, and would get no values offered.
    let fault = "-- $cmd 2>/dev/null\n    or return\n";
    assert!(generated.contains(fault), "the script has changed");
    let generated = generated.replacen(fault, "-- $cmd 2>/dev/null\n    or return 0\n", 1);
    let with_value = with_value();
    // What it is told first must not look like an option of its own, and a -- would be taken for one of ours.
    assert!(with_value[0].len() == 2, "a short option comes first: {with_value:?}");
    format!(
        "{}\n# The words after the options are a command, with completions of its own.\n\
         complete -c idlewatch -n 'not __fish_idlewatch_using_subcommand replay; \
         and not __fish_idlewatch_using_subcommand ctl' -d Command -a '(__fish_complete_subcommand {})'\n\
         # The runs in progress.\n\
         complete -c idlewatch -f -n '__fish_idlewatch_using_subcommand ctl; and __fish_seen_subcommand_from {}' -d Run \
         -a 'last (idlewatch ctl list --ids 2>/dev/null)'\n",
        generated.trim_end(),
        with_value.join(" "),
        of_a_run().join(" ")
    )
}

/// What bash offers for these words, the last of which is being typed.
fn offered_by_bash(words: &[&str]) -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/completions/idlewatch.bash");
    let script = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
                  _idlewatch_words idlewatch \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; \
                  printf '%s\\n' \"${COMPREPLY[@]}\"";
    let argv: Vec<&str> = ["bash", "-c", script, "bash", file].into_iter().chain(words.iter().copied()).collect();
    String::from_utf8_lossy(&Run::bare(&argv).output().stdout).into_owned()
}

fn offers(offered: &str, word: &str) -> bool {
    offered.lines().any(|line| line.split('\t').next() == Some(word))
}

#[test]
fn bash_completes_options_values_and_the_command() {
    if !has("bash") {
        return;
    }
    assert!(offers(&offered_by_bash(&["idlewatch", "--max-i"]), "--max-idle"));
    assert!(offers(&offered_by_bash(&["idlewatch", "--signal", "US"]), "USR1"));
    assert!(offers(&offered_by_bash(&["idlewatch", "--profile", "cl"]), "claude"));
    assert!(offers(&offered_by_bash(&["idlewatch", "--idle", "5m", "tru"]), "true"));
    assert!(offers(&offered_by_bash(&["idlewatch", "--quiet", "--", "tru"]), "true"));
    assert!(offers(&offered_by_bash(&["idlewatch", "repl"]), "replay"));
    assert!(offers(&offered_by_bash(&["idlewatch", "replay", "--js"]), "--json"));
    assert!(offers(&offered_by_bash(&["idlewatch", "ct"]), "ctl"));
    assert!(offers(&offered_by_bash(&["idlewatch", "ctl", "ext"]), "extend"));
    assert!(offers(&offered_by_bash(&["idlewatch", "ctl", "status", "--js"]), "--json"));
    assert!(offers(&offered_by_bash(&["idlewatch", "ctl", "status", "la"]), "last"));
    assert!(offers(&offered_by_bash(&["idlewatch", "ctl", "status", "--json", "la"]), "last"));
    assert!(offers(&offered_by_bash(&["idlewatch", "ctl", "--json", "stop", ""]), "last"));
    assert!(!offers(&offered_by_bash(&["idlewatch", "ctl", "status", "last", "la"]), "last"));
    assert!(!offers(&offered_by_bash(&["idlewatch", "ctl", "list", "la"]), "last"));
    assert!(offers(&offered_by_bash(&["idlewatch", "ctl", "history", "--reason", "idle"]), "idle_timeout"));
    assert!(offers(&offered_by_bash(&["idlewatch", "ctl", "history", "--reason", "ex"]), "exited"));
    // A time is no file.
    assert!(offered_by_bash(&["idlewatch", "--record", "/et"]).contains("/etc"));
    assert!(!offered_by_bash(&["idlewatch", "--idle", "/et"]).contains("/etc"));
    // Here it is an argument of the command.
    assert!(!offers(&offered_by_bash(&["idlewatch", "make", "--max-i"]), "--max-idle"));
}

#[test]
fn fish_completes_options_values_and_the_command() {
    if !has("fish") {
        return;
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/completions/idlewatch.fish");
    let offered = |line: &str| {
        let own = "complete -c mytool -f -a 'alpha beta'";
        let script = format!("source {file}; {own}; complete -C '{line}'");
        let run = Run::bare(&["fish", "--no-config", "-c", &script]);
        String::from_utf8_lossy(&run.output().stdout).into_owned()
    };
    assert!(offers(&offered("idlewatch --max-i"), "--max-idle"));
    assert!(offers(&offered("idlewatch --signal US"), "USR1"));
    assert!(offers(&offered("idlewatch --idle 5m tru"), "true"));
    assert!(offered("idlewatch --record /et").contains("/etc"));
    assert!(!offered("idlewatch --idle /et").contains("/etc"));
    assert!(offers(&offered("idlewatch replay --js"), "--json"));
    assert!(offers(&offered("idlewatch ctl ext"), "extend"));
    assert!(offers(&offered("idlewatch ctl status la"), "last"));
    assert!(offers(&offered("idlewatch ctl history --reason idle"), "idle_timeout"));
    // What the command itself takes.
    for before in ["", "-- ", "--idle 5m ", "-i 5m -- ", "--quiet -- "] {
        assert!(offers(&offered(&format!("idlewatch {before}mytool al")), "alpha"), "{before}");
    }
}

#[test]
fn zsh_completes_options_values_and_the_command() {
    if !has("zsh") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let completions = concat!(env!("CARGO_MANIFEST_DIR"), "/completions");
    // What is typed is shown as the key has left it.
    let settings = format!(
        "fpath=('{completions}' $fpath); autoload -Uz compinit; compinit -u -D; unset zle_bracketed_paste\n\
         _mytool() {{ compadd alpha beta }}; compdef _mytool mytool; path=($PWD $path)\n\
         complete-and-show() {{ zle complete-word; print -r -- \"<$BUFFER>\"; BUFFER=; zle reset-prompt }}\n\
         zle -N complete-and-show; bindkey '^I' complete-and-show; PS1='ready: '\n"
    );
    std::fs::write(folder.path().join(".zshrc"), settings).unwrap();
    let tool = folder.path().join("mytool");
    std::fs::write(&tool, "").unwrap();
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // Without the configuration of the machine.
    let zsh = Run::bare(&["zsh", "-d", "-i"]).folder(folder.path()).variable("ZDOTDIR", folder.path());
    let mut zsh = zsh.in_terminal_of(200, 24);
    for (typed, completed) in [
        ("idlewatch --max-i", "idlewatch --max-idle="),
        ("idlewatch --signal US", "idlewatch --signal USR"),
        ("idlewatch repl", "idlewatch replay "),
        ("idlewatch ctl ext", "idlewatch ctl extend "),
        ("idlewatch myto", "idlewatch mytool "),
        ("idlewatch -q -- myto", "idlewatch -q -- mytool "),
        ("idlewatch -- myto", "idlewatch -- mytool "),
        ("idlewatch mytool al", "idlewatch mytool alpha "),
        ("idlewatch -i 5m -- mytool al", "idlewatch -i 5m -- mytool alpha "),
        ("idlewatch -- mytool al", "idlewatch -- mytool alpha "),
        ("idlewatch -- mytool x al", "idlewatch -- mytool x alpha "),
    ] {
        zsh.wait_for("ready: ").enter(typed).enter("\t").wait_for("<").wait_for(">");
        let text = zsh.text();
        let shown = &text[text.rfind('<').unwrap()..=text.rfind('>').unwrap()];
        assert_eq!(shown, format!("<{completed}>"), "{typed}");
    }
    zsh.enter("exit\r");
    zsh.finish();
}

#[test]
fn zsh_reads_the_completions() {
    if !has("zsh") {
        return;
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/completions/_idlewatch");
    let output = Run::bare(&["zsh", "-f", "-n", file]).output();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
