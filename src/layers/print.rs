//! `--print-config`: what is in force, as a configuration file, with the place each value comes from.

use std::fmt::Write as _;

use super::{Origin, Resolved};
use crate::cli::{Kind, Known, RunCli, known};
use crate::config::Config;
use crate::error::Error;
use crate::report::{answer, is_hidden};
use crate::watch::{Ladders, Step, format_ladder};

/// Prints it on standard output.
pub fn print(resolved: &Resolved<RunCli>, config: &Config) -> Result<(), Error> {
    answer("the configuration", &text(resolved, config))
}

fn text(resolved: &Resolved<RunCli>, config: &Config) -> String {
    let all = known::<RunCli>();
    let mut text = "# The configuration in effect, and where each value comes from.\n".to_owned();
    let mut heading = "";
    for option in &all {
        if option.heading != heading {
            heading = &option.heading;
            let _ = write!(text, "\n# {heading}\n");
        }
        // A switch that is off contradicts nothing.
        let rivals = all.iter().filter(|rival| option.rivals.contains(&rival.name));
        let contradicted = option.kind != Kind::Switch && rivals.into_iter().any(|rival| resolved.typed.is_on(rival));
        let comment = if contradicted { "# " } else { "" };
        for line in lines(option, resolved, config) {
            let _ = writeln!(text, "{comment}{line}");
        }
    }
    if let Some(toml) = resolved.own.as_ref().and_then(|own| own.toml.as_deref()) {
        text.push_str(&profile(toml));
    }
    text
}

fn lines(option: &Known, resolved: &Resolved<RunCli>, config: &Config) -> Vec<String> {
    let (name, origin) = (&option.name, resolved.origin(&option.name));
    let ladders = &config.policy.ladders;
    let whole = |steps: &[Step]| format!("{name} = {}  # {origin}", quoted(&format_ladder(steps)));
    match (name.as_str(), option.kind) {
        ("on-idle", _) => vec![whole(&ladders.idle)],
        ("on-loop", _) => vec![whole(&ladders.looping)],
        ("on-timeout", _) => vec![whole(&ladders.timeout)],
        ("on-waiting", _) => waiting(ladders, &whole),
        (_, Kind::Switch) => vec![format!("{name} = {}  # {origin}", resolved.typed.is_on(option))],
        (_, Kind::Many) => {
            let values: Vec<String> = resolved.typed.values(option).iter().map(|value| quoted(value)).collect();
            vec![format!("{name} = [{}]  # {origin}", values.join(", "))]
        }
        ("profile", _) => {
            let found = config.policy.profile.as_ref().map_or("none", |profile| &profile.name);
            vec![format!(
                "{name} = {}  # {origin}; in effect: {found}",
                quoted(&resolved.typed.values(option).concat())
            )]
        }
        (_, Kind::One) => match resolved.typed.values(option).first() {
            Some(value) => vec![format!("{name} = {}  # {origin}", scalar(value))],
            None => vec![format!("# {name} is not set  # {}", Origin::Default)],
        },
    }
}

/// What is done by default depends on whether somebody is there, which no single ladder says.
fn waiting(ladders: &Ladders, whole: &dyn Fn(&[Step]) -> String) -> Vec<String> {
    match &ladders.waiting {
        Some(steps) => vec![whole(steps)],
        None => vec![
            format!("# {}, when attended", whole(&[Step::Warn])),
            format!("# {}, when unattended", whole(&ladders.idle)),
        ],
    }
}

/// A number as a number, anything else as a string.
fn scalar(value: &str) -> String {
    match value.parse::<u32>() {
        Ok(number) if number.to_string() == value => value.to_owned(),
        _ => quoted(value),
    }
}

/// In one line, whatever is in it: a comment follows.
fn quoted(value: &str) -> String {
    let mut text = "\"".to_owned();
    for letter in value.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            hidden if is_hidden(hidden) => {
                let _ = write!(text, "\\U{:08X}", u32::from(hidden));
            }
            letter => text.push(letter),
        }
    }
    text.push('"');
    text
}

/// The profile in force, if a user wrote it: without it the file above would not be whole.
fn profile(toml: &str) -> String {
    let Ok(table) = toml.parse::<toml::Table>() else { return String::new() };
    let name = table.get("name").and_then(toml::Value::as_str).unwrap_or_default().to_owned();
    let named = toml::Table::from_iter([(name, table.into())]);
    let text = toml::Table::from_iter([("profiles".to_owned(), named.into())]).to_string();
    let shown = |letter: char| match letter {
        // What is hidden stands in strings only.
        hidden if hidden != '\n' && is_hidden(hidden) => format!("\\U{:08X}", u32::from(hidden)),
        letter => letter.to_string(),
    };
    format!("\n{}", text.chars().map(shown).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_quoted_so_that_it_is_read_back() {
        for text in [
            "",
            "a",
            "a\"b\\c",
            "two\nlines\ttab",
            "\u{1}\u{7f}\u{85}",
            "\u{202e}\u{e0041}",
            "# no comment",
            "ünïcode ❯",
        ] {
            let line = format!("x = {}  # comment", quoted(text));
            let table: toml::Table = line.parse().unwrap();
            assert_eq!(table["x"].as_str(), Some(text), "{line}");
            assert!(!line.chars().any(is_hidden), "{line:?}");
        }
        assert_eq!(scalar("60"), "60");
        assert_eq!(scalar("5m"), "\"5m\"");
    }
}
