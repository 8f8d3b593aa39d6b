//! What is known of some programs: one TOML file each, embedded.

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

/// The profile called `name`.
pub fn by_name(name: &str) -> Option<Profile> {
    EMBEDDED.iter().find(|(known, ..)| *known == name).and_then(|(.., toml)| Profile::parse(toml, false).ok())
}

/// The profile of the program that `words`, a command and its arguments, starts.
///
/// Wrappers (`npx claude`, `env X=1 claude`, `bash -c 'cd x && claude'`) are looked through: the first word that names
/// a known command decides, but only among the first few words, since an argument may be any text.
pub fn by_command<'w>(words: impl IntoIterator<Item = &'w str>) -> Option<Profile> {
    let named = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        EMBEDDED.iter().find(|(_, commands, _)| commands.contains(&name)).map(|(name, ..)| *name)
    };
    words.into_iter().flat_map(str::split_whitespace).take(6).find_map(named).and_then(by_name)
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
        let name = |words: &[&str]| by_command(words.iter().copied()).map(|profile| profile.name);
        assert_eq!(name(&["/usr/bin/claude", "-p", "x"]).as_deref(), Some("claude"));
        assert_eq!(name(&["env", "A=1", "codex", "exec"]).as_deref(), Some("codex"));
        assert_eq!(name(&["bash", "-c", "cd x && gemini"]).as_deref(), Some("gemini"));
        assert_eq!(name(&["cargo", "build"]), None);
    }
}
