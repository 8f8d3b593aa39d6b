//! What is known of some programs: one TOML file each, embedded.

mod own;
mod shape;

pub use own::Own;

use crate::cli::Known;
use crate::watch::Profile;

/// The embedded profiles: the commands that start the program, and its marks.
const EMBEDDED: [(&str, &[&str], &str); 5] = [
    ("claude", &["claude"], include_str!("claude.toml")),
    ("codex", &["codex"], include_str!("codex.toml")),
    ("gemini", &["gemini", "gemini-cli"], include_str!("gemini.toml")),
    ("opencode", &["opencode"], include_str!("opencode.toml")),
    ("aider", &["aider"], include_str!("aider.toml")),
];

/// The names of all profiles.
pub fn names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, ..)| *name)
}

/// The embedded profile called `name`.
pub fn by_name(name: &str) -> Option<Profile> {
    EMBEDDED
        .iter()
        .find(|(known, ..)| *known == name)
        .and_then(|(.., toml)| Own::embedded(toml, &[]).ok())
        .map(|own| own.profile)
}

/// Whether `words`, a command and its arguments, start a program that has an embedded profile.
pub fn knows<'w>(words: impl IntoIterator<Item = &'w str>) -> bool {
    commands(words).any(|word| embedded(word).is_some())
}

/// What may be the command that `words` start, wrappers and their arguments included.
fn commands<'w>(words: impl IntoIterator<Item = &'w str>) -> impl Iterator<Item = &'w str> {
    let words = words.into_iter().flat_map(str::split_whitespace).take(6);
    words.map(|word| word.rsplit('/').next().unwrap_or(word))
}

fn embedded(command: &str) -> Option<usize> {
    EMBEDDED.iter().position(|(_, commands, _)| commands.contains(&command))
}

/// The profile called `name`, or for `auto` that of the program which `words`, a command and its arguments, starts. Those
/// that a user wrote come first.
///
/// Wrappers (`npx claude`, `env X=1 claude`, `bash -c 'cd x && claude'`) are looked through: the first word that names
/// a known command decides, but only among the first few words, since an argument may be any text.
pub fn find<'w>(
    name: &str,
    words: impl IntoIterator<Item = &'w str>,
    mut own: Vec<Own>,
    known: &[Known],
) -> Result<Option<Own>, String> {
    let index = match name {
        "none" => return Ok(None),
        "auto" => commands(words).find_map(|word| {
            let written = own.iter().position(|own| own.profile.commands.iter().any(|command| command == word));
            written.map(Ok).or_else(|| embedded(word).map(Err))
        }),
        _ => {
            let written = own.iter().position(|own| own.profile.name == name).map(Ok);
            written.or_else(|| EMBEDDED.iter().position(|(known, ..)| *known == name).map(Err))
        }
    };
    match index {
        Some(Ok(written)) => Ok(Some(own.swap_remove(written))),
        Some(Err(embedded)) => Own::embedded(EMBEDDED[embedded].2, known).map(Some),
        None if name == "auto" => Ok(None),
        None => {
            let embedded = EMBEDDED.iter().map(|(name, ..)| *name);
            let there: Vec<&str> = own.iter().map(|own| own.profile.name.as_str()).chain(embedded).collect();
            Err(format!("there is no such profile; use one of {}, auto or none", there.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_sound_and_agrees_with_the_table() {
        for (name, commands, toml) in EMBEDDED {
            let profile = Profile::parse(toml, true).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(profile.name, name);
            assert_eq!(profile.commands, commands);
        }
    }

    #[test]
    fn the_command_decides_also_behind_a_path_or_a_wrapper() {
        let name =
            |words: &[&str]| find("auto", words.iter().copied(), Vec::new(), &[]).unwrap().map(|own| own.profile.name);
        assert_eq!(name(&["/usr/bin/claude", "-p", "x"]).as_deref(), Some("claude"));
        assert_eq!(name(&["env", "A=1", "codex", "exec"]).as_deref(), Some("codex"));
        assert_eq!(name(&["bash", "-c", "cd x && gemini"]).as_deref(), Some("gemini"));
        assert_eq!(name(&["cargo", "build"]), None);
        assert!(knows(["env", "A=1", "/usr/bin/codex"]) && !knows(["cargo", "build", "x"]));
    }
}
