//! A profile that comes with options, or that a user wrote: `[profile.NAME]` in the configuration file.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::shape::misshapen;
use crate::cli::Known;
use crate::error::Error;
use crate::layers::{Origin, Place, Setting, Source, entries, setting};
use crate::watch::Profile;

/// A profile with the options it sets.
#[derive(Debug, Clone)]
pub struct Own {
    /// The profile.
    pub profile: Profile,
    /// The options it sets, where nobody else does.
    pub options: Vec<Setting>,
    /// What a user wrote, without the options; nothing for an embedded one.
    pub toml: Option<String>,
    /// Where a user wrote it.
    pub place: Option<Place>,
}

impl Own {
    /// Reads an embedded profile. Nearly all are without options and are not looked at twice.
    pub(super) fn embedded(text: &str, known: &[Known]) -> Result<Self, String> {
        if !text.contains("\n[options]") {
            return Ok(Self { profile: Profile::parse(text, false)?, options: Vec::new(), toml: None, place: None });
        }
        let mut plain: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
        plain.remove("options");
        let profile = Profile::parse(&plain.to_string(), false)?;
        let source = Source { path: "profile", text };
        let table = source.table().map_err(|error| error.to_string())?;
        let options = options(source, known, table.get_ref(), |_| Origin::Profile(profile.name.clone(), None));
        Ok(Self { options: options.map_err(|error| error.to_string())?, profile, toml: None, place: None })
    }

    /// Reads the tables of all profiles in a configuration file.
    pub fn read_all(source: Source<'_>, known: &[Known], profiles: &DeTable<'_>) -> Result<Vec<Self>, Error> {
        entries(profiles)
            .into_iter()
            .map(|(name, value)| match value.get_ref() {
                DeValue::Table(table) => Self::read(source, known, name.get_ref(), name.span().start, table),
                _ => Err(source.error(
                    name.span().start,
                    &format!("a profile must be a table; write [profile.{}]", name.get_ref()),
                )),
            })
            .collect()
    }

    fn read(source: Source<'_>, known: &[Known], name: &str, at: usize, table: &DeTable<'_>) -> Result<Self, Error> {
        if name == "auto" || name == "none" {
            return Err(source.error(
                at,
                &format!("a profile cannot be called '{name}', which is a value of --profile; choose another name"),
            ));
        }
        if let Some((at, reason)) = misshapen(table, known) {
            return Err(source.error(at, &format!("profile {name}: {reason}")));
        }
        let origin = |place: Place| Origin::Profile(name.to_owned(), Some(place));
        let options = options(source, known, table, origin)?;
        let mut whole = toml::Table::new();
        whole.insert("commands".to_owned(), vec![name.to_owned()].into());
        for (key, value) in entries(table).into_iter().filter(|(key, _)| key.get_ref() != "options") {
            let Some(plain) = plain(value) else { continue };
            if key.get_ref() == "name" && plain.as_str() != Some(name) {
                return Err(
                    source.error(value.span().start, &format!("the profile is called '{name}' above; remove the name"))
                );
            }
            whole.insert(key.get_ref().to_string(), plain);
        }
        whole.insert("name".to_owned(), name.into());
        let toml = whole.to_string();
        let profile = Profile::parse(&toml, true).map_err(|error| {
            let (at, reason) = fault(table).unwrap_or((at, short(&error)));
            source.error(at, &format!("profile {name}: {reason}"))
        })?;
        Ok(Self { profile, options, toml: Some(toml), place: Some(source.place(at)) })
    }

    /// Refuses two profiles of one name, and two for one command: only the first would ever be chosen.
    pub fn check_rivals(all: &[Self]) -> Result<(), Error> {
        for (index, own) in all.iter().enumerate() {
            let name = &own.profile.name;
            let place = |own: &Self| own.place.as_ref().map(ToString::to_string).unwrap_or_default();
            for other in &all[..index] {
                let (here, there) = (place(own), place(other));
                if other.profile.name == *name {
                    return Err(Error::usage(format!(
                        "{here}: profile {name} is already defined at {there}; remove one"
                    )));
                }
                let is_shared = |command: &&String| other.profile.commands.contains(command);
                if let Some(command) = own.profile.commands.iter().find(is_shared) {
                    let other = &other.profile.name;
                    return Err(Error::usage(format!(
                        "{here}: profile {name} is for the command '{command}', and so is profile {other} at {there}; remove it \
                         from one"
                    )));
                }
            }
        }
        Ok(())
    }
}

fn options(
    source: Source<'_>,
    known: &[Known],
    table: &DeTable<'_>,
    origin: impl Fn(Place) -> Origin,
) -> Result<Vec<Setting>, Error> {
    let Some(value) = table.get("options") else { return Ok(Vec::new()) };
    let DeValue::Table(options) = value.get_ref() else {
        return Err(source.error(value.span().start, "options must be a table; write [profile.NAME.options]"));
    };
    let one = |(key, value): (&Spanned<_>, &Spanned<_>)| match key.get_ref() {
        name if name == "profile" => {
            Err(source.error(key.span().start, "a profile cannot choose the profile; remove this line"))
        }
        _ => setting(source, known, key, value, &origin),
    };
    entries(options).into_iter().map(one).collect()
}

/// Where in a profile its fault lies. The parser of profiles knows no lines of this file, so it is shown ever smaller
/// pieces until it refuses one.
fn fault(table: &DeTable<'_>) -> Option<(usize, String)> {
    let refused = |key: &str, value: toml::Value| {
        let mut piece = toml::Table::from_iter([("name".to_owned(), "x".into())]);
        piece.insert("commands".to_owned(), toml::Value::Array(Vec::new()));
        piece.insert(key.to_owned(), value);
        Profile::parse(&piece.to_string(), true).err().map(|error| short(&error))
    };
    entries(table).into_iter().filter(|(key, _)| key.get_ref() != "options").find_map(|(key, value)| {
        let name = key.get_ref().as_ref();
        let reason = refused(name, plain(value)?)?;
        let DeValue::Array(items) = value.get_ref() else { return Some((key.span().start, reason)) };
        let inner = items.iter().find_map(|item| {
            let DeValue::Table(mark) = item.get_ref() else { return None };
            let whole = refused(name, toml::Value::Array(vec![plain(item)?]))?;
            let part = entries(mark).into_iter().find_map(|(part, value)| {
                let mut alone = toml::Table::from_iter([("text".to_owned(), "x".into())]);
                alone.insert(part.get_ref().to_string(), plain(value)?);
                refused(name, toml::Value::Array(vec![alone.into()])).map(|reason| (part.span().start, reason))
            });
            Some(part.unwrap_or((item.span().start, whole)))
        });
        Some(inner.unwrap_or((key.span().start, reason)))
    })
}

/// The line that says what is wrong; those before it are a drawing of a text that nobody wrote.
fn short(error: &str) -> String {
    let last = error.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    last.trim().trim_start_matches("error: ").replace('`', "'")
}

/// The value without its place; nothing for what no profile holds.
fn plain(value: &Spanned<DeValue<'_>>) -> Option<toml::Value> {
    Some(match value.get_ref() {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok()?.into(),
        DeValue::Boolean(on) => (*on).into(),
        DeValue::Array(items) => items.iter().map(plain).collect::<Option<Vec<_>>>()?.into(),
        DeValue::Table(table) => {
            let pairs = table.iter().map(|(key, value)| Some((key.get_ref().to_string(), plain(value)?)));
            pairs.collect::<Option<toml::Table>>()?.into()
        }
        DeValue::Float(_) | DeValue::Datetime(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{RunCli, known};

    fn read(text: &str) -> Result<Vec<Own>, String> {
        let source = Source { path: "c.toml", text };
        let table = source.table().unwrap();
        let DeValue::Table(profiles) = table.get_ref().get("profile").unwrap().get_ref() else { panic!() };
        Own::read_all(source, &known::<RunCli>(), profiles).map_err(|error| error.to_string())
    }

    #[test]
    fn a_profile_in_the_file_is_like_an_embedded_one() {
        let own = read("[profile.mine]\ncommands = ['m']\n[[profile.mine.turn]]\ntext = 'busy'\nbottom = 2").unwrap();
        let same = "name = 'mine'\ncommands = ['m']\n[[turn]]\ntext = 'busy'\nbottom = 2";
        assert_eq!(own[0].profile, Profile::parse(same, true).unwrap());
        assert_eq!(read("[profile.mine]").unwrap()[0].profile.commands, ["mine"]);
    }

    #[test]
    fn a_fault_in_a_profile_is_said_with_its_line() {
        for (text, says) in [
            (
                "[profile.m]\nfoo = 1",
                "c.toml:2: profile m: a profile has no 'foo'; it has commands, resume, status-words, busy, options, turn, question, prompt",
            ),
            (
                "[profile.m]\ncommand = ['x']",
                "c.toml:2: profile m: a profile has no 'command'; did you mean 'commands'?",
            ),
            ("[profile.m]\nidle = '5m'", "c.toml:2: profile m: 'idle' is an option; write options = { idle = … }"),
            (
                "[profile.m]\ncommands = 'x'",
                "c.toml:2: profile m: commands must be a list of strings; write commands = [\"mytool\"]",
            ),
            ("[profile.m]\ncommands = ['x', 1]", "c.toml:2: profile m: commands must be a list of strings"),
            ("[profile.m]\nresume = 1.5", "c.toml:2: profile m: resume must be a string"),
            (
                "[profile.m]\nstatus-words = 'fun'",
                "c.toml:2: profile m: status-words must be \"pastime\" or \"work\", not \"fun\"",
            ),
            ("[profile.m]\nturn = 'x'", "c.toml:2: profile m: turn must be a list of marks; begin each with"),
            ("[profile.m]\nturn = ['x']", "c.toml:2: profile m: turn must be a list of marks; begin each with"),
            (
                "[profile.m]\n[[profile.m.turn]]\ntext = 'a'\nbottom = 'x'",
                "c.toml:4: profile m: bottom must be a whole number; write bottom = 4",
            ),
            (
                "[profile.m]\n[[profile.m.turn]]\ntext = 'a'\nbottom = -1",
                "c.toml:4: profile m: bottom must be a number of rows",
            ),
            (
                "[profile.m]\n[[profile.m.turn]]\ntext = 'a'\nrow = 1",
                "c.toml:4: profile m: a mark has no 'row'; it has text",
            ),
            (
                "[profile.m]\n[[profile.m.turn]]\ntext = 'a'\n[[profile.m.turn]]\ntext = '('",
                "c.toml:5: profile m: '(' is not a regular expression: unclosed group",
            ),
            (
                "[profile.m]\n[[profile.m.turn]]\ntext = 'a'\nwith = ['[']",
                "c.toml:4: profile m: '[' is not a regular expression: unclosed",
            ),
            ("[profile.m]\n[[profile.m.turn]]\ntext = ''", "c.toml:3: profile m: '' matches every row"),
            (
                "[profile.m]\n[[profile.m.turn]]\ntext = 'a'\nwithout = ['x*']",
                "c.toml:4: profile m: 'x*' matches every row",
            ),
            ("[profile.m]\n[[profile.m.turn]]\nbottom = 1", "c.toml:2: profile m: a mark needs a text to look for"),
            (
                "[profile.m]\n[[profile.m.turn]]\ntext = 'a'\nbottom = 0",
                "c.toml:4: profile m: bottom = 0 looks at no row",
            ),
            ("[profile.m]\ncommands = ['']", "c.toml:2: profile m: a command cannot be empty"),
            ("[profile.m]\nname = 'other'", "c.toml:2: the profile is called 'm' above"),
            ("[profile.auto]\n", "c.toml:1: a profile cannot be called 'auto'"),
            ("[profile]\nm = 1", "c.toml:2: a profile must be a table"),
            ("[profile.m.options]\nidel = '5m'", "c.toml:2: unknown option 'idel'; did you mean 'idle'?"),
            ("[profile.m.options]\nprofile = 'm'", "c.toml:2: a profile cannot choose"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn an_embedded_profile_may_have_options() {
        let text = "name = 'x'\ncommands = ['x']\n\n[options]\nidle = '9m'\n";
        let own = Own::embedded(text, &known::<RunCli>()).unwrap();
        assert_eq!(own.options[0].arguments(), ["--idle=9m"]);
        assert_eq!(own.options[0].origin.to_string(), "profile x");
    }
}
