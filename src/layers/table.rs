//! From a table of TOML to settings, each with its line.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::nearest::nearest;
use super::setting::{Given, Origin, Place, Setting};
use crate::cli::{Kind, Known};
use crate::error::Error;

/// A text of TOML and the name of its file.
#[derive(Debug, Clone, Copy)]
pub struct Source<'s> {
    /// The file.
    pub path: &'s str,
    /// What is in it.
    pub text: &'s str,
}

impl Source<'_> {
    /// The place of a byte of the text.
    pub fn place(&self, offset: usize) -> Place {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        Place { path: self.path.to_owned(), line: 1 + memchr::memchr_iter(b'\n', before).count() }
    }

    /// An error at a byte of the text.
    pub fn error(&self, offset: usize, message: &str) -> Error {
        Error::usage(format!("{}: {message}", self.place(offset)))
    }

    /// The table that is the whole text.
    pub fn table(&self) -> Result<Spanned<DeTable<'_>>, Error> {
        DeTable::parse(self.text).map_err(|error| {
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            let offset = error.span().map_or(0, |span| span.start);
            let line = self.text[..offset].rfind('\n').map_or(self.text, |end| &self.text[end + 1..]);
            if line.trim_start().starts_with("[profile.") && message.contains("string") {
                // The option of that name is a string here.
                return self.error(offset, "'profile' is already set to a string; write this table as [profiles.NAME]");
            }
            self.error(offset, &format!("invalid TOML: {message}; an entry looks like idle = \"5m\""))
        })
    }
}

/// The entries of a table in the order in which they are written, so that the first error is the one that is said.
pub fn entries<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// The setting that one entry of a table makes.
pub fn setting(
    source: Source<'_>,
    known: &[Known],
    key: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    origin: impl Fn(Place) -> Origin,
) -> Result<Setting, Error> {
    let (name, at) = (key.get_ref().as_ref(), key.span().start);
    let Some(option) = known.iter().find(|option| option.name == name) else {
        return Err(source.error(at, &unknown(name, known)));
    };
    let refuse = |message: &str| Err(source.error(value.span().start, &format!("{name} {message}")));
    let (given, lines) = match (option.kind, value.get_ref()) {
        (Kind::Switch, DeValue::Boolean(on)) => (Given::Switch(*on), Vec::new()),
        (Kind::Switch, _) => return refuse("must be true or false"),
        (Kind::Many, DeValue::Array(items)) => {
            if items.is_empty() && option.has_default {
                let switch = option.rivals.join(" or ");
                return refuse(&format!("is an empty list; give at least one, or write {switch} = true"));
            }
            let mut values = Vec::with_capacity(items.len());
            for item in items {
                match plain(item.get_ref()) {
                    Some(text) => values.push((text, source.place(item.span().start).line)),
                    None => return refuse(&format!("must hold only strings; {}", like(option))),
                }
            }
            let (values, lines) = values.into_iter().unzip();
            (Given::Values(values), lines)
        }
        (Kind::One, DeValue::Array(_)) => return refuse(&format!("takes one value, not a list; {}", like(option))),
        (_, value) => match plain(value) {
            Some(text) => (Given::Values(vec![text]), Vec::new()),
            None => return refuse(&format!("takes {}; {}", kind(option), like(option))),
        },
    };
    Ok(Setting { name: name.to_owned(), given, origin: origin(source.place(at)), lines })
}

/// What an option takes that is no switch.
fn kind(option: &Known) -> &'static str {
    match option.kind {
        Kind::Many => "a list of strings",
        _ if is_number(option) => "a whole number",
        _ => "a string",
    }
}

/// How the option may be written.
fn like(option: &Known) -> String {
    let (name, value) = (&option.name, &option.example);
    match option.kind {
        Kind::Many => format!("write {name} = [\"{value}\"]"),
        _ if is_number(option) => format!("write {name} = {value}"),
        _ => format!("write {name} = \"{value}\""),
    }
}

fn is_number(option: &Known) -> bool {
    option.example.parse::<u32>().is_ok()
}

/// A string or a whole number, as it would be typed.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok().map(|n| n.to_string()),
        _ => None,
    }
}

fn unknown(name: &str, known: &[Known]) -> String {
    if name == "config" || name == "print-config" {
        return format!("'{name}' has no effect in a file; use --{name} on the command line");
    }
    let names = known.iter().map(|option| option.name.as_str()).chain(["profile"]);
    match nearest(name, names) {
        Some(near) => format!("unknown option '{name}'; did you mean '{near}'?"),
        None => format!("unknown option '{name}'; idlewatch --print-config lists them all"),
    }
}
