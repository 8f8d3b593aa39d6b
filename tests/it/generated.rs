//! The man page and the completions are what the command line produces.
//!
//! With `IDLEWATCH_BLESS=1` the files are written instead of compared.

use std::fmt::Write as _;
use std::path::Path;

use idlewatch::manual;

use crate::completions;
use crate::support::Run;

fn check(file: &str, produced: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("IDLEWATCH_BLESS").is_some() {
        std::fs::write(&path, produced).expect("it can be written");
    }
    let committed = std::fs::read(&path).unwrap_or_default();
    assert!(
        committed == produced,
        "{file} is not what the command line produces; write it with IDLEWATCH_BLESS=1 cargo test generated"
    );
}

#[test]
fn the_completions_are_up_to_date() {
    check("completions/idlewatch.bash", completions::bash().as_bytes());
    check("completions/_idlewatch", completions::zsh().as_bytes());
    check("completions/idlewatch.fish", completions::fish().as_bytes());
}

fn man_page(command: clap::Command, title: &str, sections: &str) -> String {
    // What stands below the options in the help is a section of its own here, and the page is the same in every build.
    let command = command.after_help(None).after_long_help(None).long_version(None);
    // What the short help leaves out would stand here without its description.
    let command = command.mut_args(|arg| arg.hide_short_help(false));
    let several: Vec<Vec<String>> = command.get_arguments().map(defaults).filter(|all| all.len() > 1).collect();
    let man = clap_mangen::Man::new(command)
        .title(title)
        .source(concat!("idlewatch ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    let mut produced = Vec::new();
    man.render(&mut produced).expect("it can be written");
    // In the name a space would keep the page out of the index.
    let spaced = format!(".SH NAME\n{}", title.replace('-', " "));
    let mut page = String::from_utf8(produced).expect("text").replacen(&spaced, &format!(".SH NAME\n{title}"), 1);
    // With commas between it would look like one value, and is refused as one.
    for values in several {
        page = page.replace(&format!("[default: {}]", values.join(",")), &format!("[default: {}]", values.join(" ")));
    }
    page + sections
}

fn defaults(arg: &clap::Arg) -> Vec<String> {
    arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect()
}

/// The verbs of `ctl`, which have no pages of their own.
fn verbs(command: &clap::Command) -> String {
    let mut text = ".SH VERBS\n".to_owned();
    for verb in command.get_subcommands() {
        let words: Vec<String> = verb
            .get_positionals()
            .map(|arg| {
                let name = arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
                if arg.is_required_set() { format!("\\fI{name}\\fR") } else { format!("[\\fI{name}\\fR]") }
            })
            .collect();
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = write!(text, ".TP\n\\fB{}\\fR {}\n{about}.\n", verb.get_name(), words.join(" "));
        for option in verb.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_global_set()) {
            let (name, help) = (option.get_long().unwrap_or_default(), option.get_help().map(ToString::to_string));
            let short = option.get_short().map(|short| format!("\\fB\\-{short}\\fR, ")).unwrap_or_default();
            let value = option.get_value_names().filter(|_| option.get_action().takes_values());
            let value =
                value.and_then(|names| names.first()).map(|name| format!(" \\fI{name}\\fR")).unwrap_or_default();
            let default: Vec<_> = option.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
            let default = if default.is_empty() || value.is_empty() {
                String::new()
            } else {
                format!(" (default: {})", default.join(", "))
            };
            let help = help.unwrap_or_default();
            let _ = write!(text, ".RS\n.TP\n{short}\\fB\\-\\-{name}\\fR{value}\n{help}{default}.\n.RE\n");
        }
    }
    text
}

/// The man pages, by their names.
fn pages() -> [(&'static str, String); 3] {
    let run = idlewatch::cli::command().long_about(manual::DESCRIPTION);
    let run = man_page(run, "idlewatch", &manual::sections());
    let run = run.replacen(".SH DESCRIPTION\n", &format!("{}.SH DESCRIPTION\n", manual::SYNOPSIS), 1);
    // All of its options again, without their values, would say nothing.
    let replay = idlewatch::cli::replay_command().override_usage("idlewatch replay [OPTIONS] FILE.cast");
    let replay = man_page(replay, "idlewatch-replay", &manual::replay_sections());
    let ctl = idlewatch::cli::ctl_command();
    let sections = verbs(&ctl) + &manual::ctl_sections();
    let page = man_page(ctl, "idlewatch-ctl", &sections);
    // What stands there leads to pages that do not exist.
    let (begin, end) = (page.find(".SH Verbs").expect("theirs"), page.find(".SH VERBS").expect("ours"));
    let ctl = [&page[..begin], &page[end..]].concat();
    [("man/idlewatch.1", run), ("man/idlewatch-replay.1", replay), ("man/idlewatch-ctl.1", ctl)]
}

#[test]
fn the_man_pages_are_up_to_date() {
    for (file, produced) in pages() {
        check(file, produced.as_bytes());
    }
}

#[test]
fn no_option_in_a_man_page_is_without_text() {
    for (page, text) in pages() {
        let lines: Vec<&str> = text.lines().collect();
        let tagged = lines.windows(3).filter(|three| three[0] == ".TP");
        for three in tagged {
            assert!(!three[2].starts_with('.') && !three[2].trim().is_empty(), "{page}: {} says nothing", three[1]);
        }
    }
}

#[test]
fn no_section_stands_twice_in_a_man_page() {
    for (page, text) in pages() {
        let mut names: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix(".SH "))
            .map(|name| name.trim_matches('"').to_uppercase())
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{page}: {names:?}");
    }
}

#[test]
fn the_example_of_a_configuration_file_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("config.toml");
    std::fs::write(&path, idlewatch::manual::EXAMPLE_FILE).expect("a file");
    let output = Run::new(&["--print-config", "--config", path.to_str().expect("a name")], &["mt"]).output();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("max-idle = \"1h\"  # profile mytool"), "{text}");
}
