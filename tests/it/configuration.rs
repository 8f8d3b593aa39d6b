//! Configuration in layers: flag, environment, file, profile, default.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::support::Run;

/// A home with this configuration file in its usual place.
fn home(config: &str) -> TempDir {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("idlewatch");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("config.toml"), config).expect("a file");
    home
}

/// What is in force.
fn printed(run: &Run) -> String {
    let output = run.output();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn print(options: &[&str], command: &str, home: &Path, variables: &[(&str, &str)]) -> String {
    let options: Vec<&str> = ["--print-config"].into_iter().chain(options.iter().copied()).collect();
    let run = Run::new(&options, &[command]).variable("XDG_CONFIG_HOME", home);
    printed(&variables.iter().fold(run, |run, (name, value)| run.variable(*name, *value)))
}

fn has(text: &str, line: &str) {
    assert!(text.lines().any(|found| found.starts_with(line)), "'{line}' is not in:\n{text}");
}

const WITH_PROFILE: &str = "idle = '3m'\nwarn = 30\nignore = ['file']\n\
                            [profile.mine]\ncommands = ['mytool']\n\
                            [profile.mine.options]\nidle = '4m'\nwarn = 40\nloop = 4\nignore = ['profile']\n";

#[test]
fn flag_beats_environment_beats_file_beats_profile_beats_default() {
    let home = home(WITH_PROFILE);
    let text = print(&[], "mytool", home.path(), &[]);
    has(&text, &format!("idle = \"3m\"  # {}/idlewatch/config.toml:1", home.path().display()));
    has(&text, "loop = 4  # profile mine");
    has(&text, "max-idle = \"30m\"  # default");
    has(&text, "profile = \"auto\"  # default; in effect: mine");
    let text = print(&[], "mytool", home.path(), &[("IDLEWATCH_IDLE", "2m")]);
    has(&text, "idle = \"2m\"  # environment, IDLEWATCH_IDLE");
    let text = print(&["--idle", "1m"], "mytool", home.path(), &[("IDLEWATCH_IDLE", "2m")]);
    has(&text, "idle = \"1m\"  # flag");
    let text = print(&[], "other", home.path(), &[]);
    has(&text, "loop = 5  # default");
}

#[test]
fn what_is_off_by_default_can_be_switched_off() {
    let home = home("relaunch = 'any'\n");
    has(&print(&[], "true", home.path(), &[]), "relaunch = \"any\"");
    has(&print(&["--relaunch", "off"], "true", home.path(), &[]), "relaunch = \"off\"  # flag");
    has(&print(&[], "true", home.path(), &[("IDLEWATCH_RELAUNCH", "off")]), "relaunch = \"off\"  # environment");
    fs::write(home.path().join("idlewatch/config.toml"), "relaunch = 'off'").expect("a file");
    has(&print(&[], "true", home.path(), &[]), "relaunch = \"off\"  # ");
    fs::write(home.path().join("idlewatch/config.toml"), "").expect("a file");
    has(&print(&[], "true", home.path(), &[]), "relaunch = \"off\"  # default");
}

#[test]
fn a_repeated_option_comes_wholly_from_one_layer() {
    let home = home(WITH_PROFILE);
    let text = print(&[], "mytool", home.path(), &[]);
    has(&text, "ignore = [\"file\"]  # ");
    let text = print(&[], "mytool", home.path(), &[("IDLEWATCH_IGNORE", "a, b\nc")]);
    has(&text, "ignore = [\"a, b\", \"c\"]  # environment");
    let text = print(&["--ignore", "x", "--ignore", "y"], "mytool", home.path(), &[]);
    has(&text, "ignore = [\"x\", \"y\"]  # flag");
}

#[test]
fn what_contradicts_a_higher_layer_is_left_out() {
    let home = home("no-guard = true\nquiet = true");
    let text = print(&["--guard", "io", "-v"], "true", home.path(), &[]);
    has(&text, "guard = [\"io\"]  # flag");
    has(&text, "no-guard = false");
    has(&text, "verbose = true  # flag");
    has(&text, "quiet = false");
    let text = print(&[], "true", home.path(), &[("IDLEWATCH_NO_GUARD", "off")]);
    has(&text, "no-guard = false  # environment");
    has(&text, "guard = [\"cpu\", \"disk\", \"net\", \"turn\"]");
}

#[test]
fn what_is_printed_is_a_configuration_file_that_means_the_same() {
    let home = home(&format!("{WITH_PROFILE}[[profile.mine.turn]]\ntext = 'busy'\nwith = ['\\d']\n"));
    let options = ["--nudge", "go \"on\"\nnow", "--on-loop", "warn,run:echo a\\, b", "--profile", "mine", "--no-guard"];
    let first = print(&options, "mytool", home.path(), &[]);
    let again = tempfile::tempdir().expect("a folder");
    let path = again.path().join("printed.toml");
    fs::write(&path, &first).expect("a file");
    let second = print(&["--config", path.to_str().expect("a name")], "mytool", again.path(), &[]);
    let values = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split("  # ").next().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(values(&first), values(&second));
    has(&first, "on-idle = \"warn,nudge,wait:1m,nudge,wait:1m,stop\"");
    has(&first, "on-loop = \"warn,run:echo a\\\\, b\"  # flag");
    has(&first, "on-timeout = \"warn,stop\"  # default");
    has(&first, "# on-waiting = \"warn\"  # default");
}

#[test]
fn printing_needs_no_command_and_runs_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = Run::bare(&[crate::support::program(), "--print-config"]);
    has(&printed(&run), "idle = \"5m\"  # default");
    printed(&Run::new(&["--print-config"], &["touch", "started"]).folder(folder.path()));
    assert!(!folder.path().join("started").exists());
}

#[test]
fn the_layers_rule_a_real_run() {
    let home = home("idle = '200ms'\nno-guard = true\nexit-code = ['idle_timeout=77']\nquiet = true\n");
    let run = Run::sh(&[], "sleep 60").variable("XDG_CONFIG_HOME", home.path());
    assert_eq!(run.output().status.code(), Some(77));
    let run = Run::sh(&["--idle", "off"], "sleep 0.5; exit 3").variable("XDG_CONFIG_HOME", home.path());
    assert_eq!(run.output().status.code(), Some(3));
}

#[test]
fn the_layers_rule_a_replay() {
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/agent-hang.cast");
    let replay = |variable: (&str, &str), home: &Path| {
        let run = Run::bare(&[crate::support::program().as_ref(), "replay".as_ref(), recording.as_os_str()]);
        let output = run.variable("XDG_CONFIG_HOME", home).variable(variable.0, variable.1).output();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr),
        )
    };
    let nowhere = Path::new("/dev/null");
    let plain = replay(("IDLEWATCH_QUIET", "1"), nowhere);
    let short = replay(("IDLEWATCH_IDLE", "1s"), nowhere);
    assert_eq!((plain.0, short.0), (Some(0), Some(0)), "{} {}", plain.1, short.1);
    assert_ne!(plain.1, short.1);
    let filed = home("idle = '1s'\nsignal = 'INT'\nverbose = true");
    assert_eq!(replay(("IDLEWATCH_QUIET", "1"), filed.path()).1, short.1);
    let (code, message) = replay(("IDLEWATCH_IDLE", "banana"), nowhere);
    assert_eq!(code, Some(2));
    assert!(message.contains("IDLEWATCH_IDLE 'banana'"), "{message}");
}

#[test]
fn home_is_used_without_xdg_and_the_current_directory_never() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join(".config/idlewatch");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("config.toml"), "idle = '9m'").expect("a file");
    let run = Run::new(&["--print-config"], &["true"]).variable("HOME", home.path());
    has(&printed(&run.clone().variable("XDG_CONFIG_HOME", "")), "idle = \"9m\"");
    // A relative folder would be one below the current directory.
    fs::create_dir_all(home.path().join("here/idlewatch")).expect("a folder");
    fs::write(home.path().join("here/idlewatch/config.toml"), "idle = '1s'").expect("a file");
    fs::write(home.path().join("config.toml"), "idle = '1s'").expect("a file");
    fs::write(home.path().join("idlewatch.toml"), "idle = '1s'").expect("a file");
    let run = run.folder(home.path());
    has(&printed(&run.clone().variable("XDG_CONFIG_HOME", "here")), "idle = \"9m\"");
    has(&printed(&run.variable("XDG_CONFIG_HOME", "/dev/null")), "idle = \"5m\"  # default");
}

#[test]
fn a_named_file_stands_for_the_usual_one() {
    let home = home("idle = '9m'\nnonsense = 1");
    let named = tempfile::tempdir().expect("a folder");
    fs::write(named.path().join("x.toml"), "idle = '8m'").expect("a file");
    let path = named.path().join("x.toml");
    let path = path.to_str().expect("a name");
    has(&print(&["--config", path], "true", home.path(), &[]), "idle = \"8m\"");
    has(&print(&[], "true", home.path(), &[("IDLEWATCH_CONFIG", path)]), "idle = \"8m\"");
    has(&print(&["--config", "/dev/null"], "true", home.path(), &[("IDLEWATCH_CONFIG", path)]), "idle = \"5m\"");
    let relative = Run::new(&["--print-config", "--config", "x.toml"], &["true"]).folder(named.path());
    has(&printed(&relative), "idle = \"8m\"  # x.toml:1");
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let home = home("idle = '9m'");
    let path = home.path().join("idlewatch/config.toml");
    let refused = |says: &str| {
        let output = Run::new(&[], &["true"]).variable("XDG_CONFIG_HOME", home.path()).output();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(says) && message.contains("config.toml"), "{message}");
    };
    fs::write(&path, b"idle = '9m'\n# \xff").expect("a file");
    refused("line 2 is not UTF-8");
    // Nothing is forbidden to root.
    if !nix::unistd::geteuid().is_root() {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("permissions");
        refused("permission denied");
    }
    fs::remove_file(&path).expect("a file");
    fs::create_dir(&path).expect("a folder");
    refused("it is a directory");
}

#[test]
fn a_nudge_that_no_step_would_type_is_refused_unless_a_higher_layer_replaced_it() {
    let home = home("on-idle = 'warn,stop'");
    let run = |options: &[&str]| {
        let options = [&["--print-config"], options].concat();
        let output = Run::new(&options, &["true"]).variable("XDG_CONFIG_HOME", home.path()).output();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, message) = run(&["--nudge", "go on"]);
    assert_eq!(code, Some(2));
    assert!(message.contains("nudge (flag)") && message.contains("config.toml:1"), "{message}");
    assert_eq!(run(&["--nudge", "go on", "--on-idle", "nudge,stop"]).0, Some(0));
    assert_eq!(run(&["--nudge", "go on", "--on-loop", "nudge"]).0, Some(0));
    fs::write(home.path().join("idlewatch/config.toml"), "nudge = 'go on'").expect("a file");
    assert_eq!(run(&["--on-idle", "warn,stop"]).0, Some(0));
}

#[test]
fn a_profile_of_ones_own_comes_before_an_embedded_one() {
    let home = home("[profile.claude]\ncommands = ['claude']\n[profile.claude.options]\nidle = '7m'\n");
    has(&print(&[], "claude", home.path(), &[]), "idle = \"7m\"  # profile claude");
    has(&print(&["--profile", "claude"], "sh", home.path(), &[]), "idle = \"7m\"  # profile claude");
    has(&print(&["--profile", "none"], "claude", home.path(), &[]), "idle = \"5m\"  # default");
}
