//! What a profile in the configuration file is made of, said in words of whoever wrote it.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::cli::Known;
use crate::layers::{entries, nearest};

/// What stands behind a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Number,
    Texts,
    Marks,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// It is read elsewhere.
    Options,
}

const PROFILE: [(&str, Shape); 9] = [
    ("commands", Shape::Texts),
    ("resume", Shape::Text),
    ("status-words", Shape::OneOf(&["pastime", "work"])),
    ("busy", Shape::OneOf(&["tools"])),
    ("options", Shape::Options),
    ("turn", Shape::Marks),
    ("question", Shape::Marks),
    ("prompt", Shape::Marks),
    ("name", Shape::Text),
];

const MARK: [(&str, Shape); 4] =
    [("text", Shape::Text), ("bottom", Shape::Number), ("with", Shape::Texts), ("without", Shape::Texts)];

/// Where the table of a profile holds something that no profile has, and what would be right.
pub(super) fn misshapen(profile: &DeTable<'_>, options: &[Known]) -> Option<(usize, String)> {
    let is_option = |name: &str| options.iter().any(|option| option.name == name);
    let misplaced = entries(profile).into_iter().find(|(key, _)| is_option(key.get_ref())).map(|(key, _)| {
        let name = key.get_ref();
        (key.span().start, format!("'{name}' is an option; write options = {{ {name} = … }}"))
    });
    misplaced.or_else(|| fault_in(profile, &PROFILE, "a profile"))
}

fn fault_in(table: &DeTable<'_>, all: &[(&str, Shape)], of: &str) -> Option<(usize, String)> {
    entries(table).into_iter().find_map(|(key, value)| {
        let name = key.get_ref().as_ref();
        let Some((_, shape)) = all.iter().find(|(known, _)| *known == name) else {
            return Some((key.span().start, unknown(name, all, of)));
        };
        shape.fault(name, value)
    })
}

fn unknown(name: &str, all: &[(&str, Shape)], of: &str) -> String {
    let names = || all.iter().map(|(known, _)| *known);
    match nearest(name, names()) {
        Some(near) => format!("{of} has no '{name}'; did you mean '{near}'?"),
        // What it is called stands above, and need not be said again.
        None => format!(
            "{of} has no '{name}'; it has {}",
            names().filter(|known| *known != "name").collect::<Vec<_>>().join(", ")
        ),
    }
}

impl Shape {
    fn fault(self, name: &str, value: &Spanned<DeValue<'_>>) -> Option<(usize, String)> {
        let at = value.span().start;
        let such_as = match name {
            "commands" => "mytool",
            "resume" => "mytool --continue",
            _ => "working",
        };
        let is_text = |value: &Spanned<DeValue<'_>>| matches!(value.get_ref(), DeValue::String(_));
        match (self, value.get_ref()) {
            (Self::Options, _) | (Self::Text, DeValue::String(_)) => None,
            (Self::Text, _) => Some((at, format!("{name} must be a string; write {name} = \"{such_as}\""))),
            (Self::Number, DeValue::Integer(number)) => {
                let number = u32::from_str_radix(number.as_str(), number.radix());
                number.is_err().then(|| (at, format!("{name} must be a number of rows; write {name} = 4")))
            }
            (Self::Number, _) => Some((at, format!("{name} must be a whole number; write {name} = 4"))),
            (Self::Texts, DeValue::Array(items)) if items.iter().all(is_text) => None,
            (Self::Texts, _) => Some((at, format!("{name} must be a list of strings; write {name} = [\"{such_as}\"]"))),
            (Self::Marks, DeValue::Array(items)) => items.iter().find_map(|item| match item.get_ref() {
                DeValue::Table(mark) => fault_in(mark, &MARK, "a mark").or_else(|| {
                    let needs = "a mark needs a text to look for; write text = \"working\"";
                    mark.get("text").is_none().then(|| (item.span().start, needs.to_owned()))
                }),
                _ => Some(not_marks(item.span().start, name)),
            }),
            (Self::Marks, _) => Some(not_marks(at, name)),
            (Self::OneOf(words), DeValue::String(word)) if words.contains(&word.as_ref()) => None,
            (Self::OneOf(words), DeValue::String(word)) => {
                Some((at, format!("{name} must be {}, not \"{}\"", quoted(words), word.escape_debug())))
            }
            (Self::OneOf(words), _) => Some((at, format!("{name} must be {}", quoted(words)))),
        }
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
}

fn not_marks(at: usize, name: &str) -> (usize, String) {
    (at, format!("{name} must be a list of marks; begin each with a line [[profile.NAME.{name}]]"))
}
