//! The configuration file: where it is, and what it says.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use toml::de::DeValue;

use super::setting::{Origin, Setting};
use super::table::{Source, entries, setting};
use crate::cli::{Known, check_values};
use crate::error::Error;
use crate::profiles::Own;

/// No configuration is this large; a device that never ends is.
const MOST_BYTES: u64 = 1 << 20;

/// What a configuration file says.
#[derive(Debug, Default)]
pub struct ConfigFile {
    /// Where it is; none: there is no file.
    pub path: Option<PathBuf>,
    /// The options it sets.
    pub settings: Vec<Setting>,
    /// The profiles it holds.
    pub profiles: Vec<Own>,
}

impl ConfigFile {
    /// Reads the file at `path`, which somebody named.
    pub fn named(path: &Path, known: &[Known]) -> Result<Self, Error> {
        let text = read(path).map_err(|why| refuse(path, &why))?;
        Self::parse(path, &text, known)
    }

    /// Reads the file at its usual place, if there is one.
    pub fn usual(known: &[Known]) -> Result<Self, Error> {
        let Some(path) = our_usual_place() else { return Ok(Self::default()) };
        if path.try_exists().is_err() {
            // A folder that we may not look into is somebody else's: HOME as sudo or su left it.
            return Ok(Self::default());
        }
        match read(&path) {
            Ok(text) => Self::parse(&path, &text, known),
            Err(Unreadable::Missing) => Ok(Self::default()),
            Err(why) => Err(refuse(&path, &why)),
        }
    }

    fn parse(path: &Path, text: &str, known: &[Known]) -> Result<Self, Error> {
        let source = Source { path: &path.display().to_string(), text };
        let table = source.table()?;
        let mut found = Self { path: Some(path.to_owned()), ..Self::default() };
        for (key, value) in entries(table.get_ref()) {
            match (key.get_ref().as_ref(), value.get_ref()) {
                // `profile = "claude"` is the option and `[profile.NAME]` a profile. TOML has no room for both in one
                // file: `[profiles.NAME]` is the same and leaves the key free.
                ("profile" | "profiles", DeValue::Table(profiles)) => {
                    found.profiles.extend(Own::read_all(source, known, profiles)?);
                }
                _ => found.settings.push(setting(source, known, key, value, Origin::File)?),
            }
        }
        found.check()?;
        Ok(found)
    }

    /// A slip is told at once, not on the day when the profile is chosen that it stands in.
    fn check(&self) -> Result<(), Error> {
        Own::check_rivals(&self.profiles)?;
        let profiles = self.profiles.iter().map(|own| own.options.as_slice());
        let layers = [self.settings.as_slice()].into_iter().chain(profiles).filter(|settings| !settings.is_empty());
        let mut layers = layers.peekable();
        if layers.peek().is_some() { check_values(layers) } else { Ok(()) }
    }
}

/// Whether there is a file at its usual place that we can look at.
pub fn is_in_usual_place() -> bool {
    our_usual_place().is_some_and(|path| nix::sys::stat::stat(&path).is_ok())
}

fn our_usual_place() -> Option<PathBuf> {
    usual_place(|name| std::env::var_os(name).map(PathBuf::from))
}

/// `$XDG_CONFIG_HOME/idlewatch/config.toml`. A relative folder is not taken, as the XDG specification has it: it would
/// let the current directory choose.
fn usual_place(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("idlewatch/config.toml"))
}

/// Why a file could not be read.
enum Unreadable {
    Missing,
    Because(String),
}

fn read(path: &Path) -> Result<String, Unreadable> {
    let fault = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Unreadable::Missing,
        ErrorKind::IsADirectory => Unreadable::Because("it is a directory; name a file".to_owned()),
        ErrorKind::PermissionDenied => Unreadable::Because("permission denied; make it readable".to_owned()),
        _ => Unreadable::Because(error.to_string()),
    };
    let file = File::open(path).map_err(fault)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(fault)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Unreadable::Because("larger than 1 MiB; name a configuration file".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + memchr::memchr_iter(b'\n', &error.as_bytes()[..error.utf8_error().valid_up_to()]).count();
        Unreadable::Because(format!("line {line} is not UTF-8; save it as UTF-8"))
    })
}

fn refuse(path: &Path, why: &Unreadable) -> Error {
    let reason = match why {
        Unreadable::Missing => "no such file; name one that exists, or /dev/null for none",
        Unreadable::Because(reason) => reason,
    };
    Error::usage(format!("cannot read the configuration file {}: {reason}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{RunCli, known};

    fn parse(text: &str) -> Result<ConfigFile, String> {
        ConfigFile::parse(Path::new("c.toml"), text, &known::<RunCli>()).map_err(|error| error.to_string())
    }

    #[test]
    fn strings_numbers_booleans_and_lists_are_values() {
        let file = parse("idle = \"1m\"\nwarn = 0x10\nquiet = true\nignore = ['a',\n 'b']\nguard = 'io'").unwrap();
        let arguments: Vec<_> = file.settings.iter().flat_map(Setting::arguments).collect();
        assert_eq!(arguments, ["--idle=1m", "--warn=16", "--quiet", "--ignore=a", "--ignore=b", "--guard=io"]);
        assert_eq!(file.settings[3].lines, [4, 5]);
    }

    #[test]
    fn a_fault_is_said_with_its_line_and_what_would_be_right() {
        for (text, says) in [
            ("idle = '1m'\nidel = '5m'", "c.toml:2: unknown option 'idel'; did you mean 'idle'?"),
            ("\n\nmax_idle = '5m'", "c.toml:3: unknown option 'max_idle'; did you mean 'max-idle'?"),
            ("config = 'x'", "c.toml:1: 'config' has no effect in a file"),
            ("idle = ", "c.toml:1: invalid TOML: "),
            ("a = 1\na = 2", "c.toml:2: invalid TOML: "),
            ("profile = 'x'\n[profile.x]\ncommands = ['x']", "c.toml:2: 'profile' is already set to a string"),
            ("idle = 1.5", "c.toml:1: idle takes a string; write idle = \"5m\""),
            ("idle = true", "c.toml:1: idle takes a string; write idle = \"5m\""),
            ("warn = 1.5", "c.toml:1: warn takes a whole number; write warn = 60"),
            ("nudge = true", "c.toml:1: nudge takes a list of strings; write nudge = [\"go on\"]"),
            ("idle = ['1m']", "c.toml:1: idle takes one value, not a list; write idle = \"5m\""),
            ("quiet = 'yes'", "c.toml:1: quiet must be true or false"),
            ("guard = []", "write no-guard = true"),
            ("ignore = [1.5]", "c.toml:1: ignore must hold only strings; write ignore = ["),
            ("[idle]\nx = 1", "c.toml:1: idle takes a string; write"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }

    #[test]
    fn the_usual_place_is_never_below_the_current_directory() {
        let place = |xdg: Option<&str>, home: Option<&str>| {
            usual_place(|name| if name == "HOME" { home } else { xdg }.map(PathBuf::from))
        };
        assert_eq!(place(Some("/x"), Some("/h")).unwrap(), Path::new("/x/idlewatch/config.toml"));
        assert_eq!(place(None, Some("/h")).unwrap(), Path::new("/h/.config/idlewatch/config.toml"));
        assert_eq!(place(Some("x"), Some("/h")).unwrap(), Path::new("/h/.config/idlewatch/config.toml"));
        assert_eq!(place(Some(""), Some("h")), None);
        assert_eq!(place(None, None), None);
    }
}
