//! What is known of some programs: one TOML file each, embedded.
#![forbid(unsafe_code)]

mod own;
mod script;
mod shape;
mod started;

pub use own::Own;

use crate::cli::Known;
use crate::watch::Profile;

/// The embedded profiles: the commands that start the program, and its marks.
const EMBEDDED: [(&str, &[&str], &str); 5] = [
    ("claude", &["claude", "claude-code"], include_str!("claude.toml")),
    ("codex", &["codex"], include_str!("codex.toml")),
    ("gemini", &["gemini", "gemini-cli"], include_str!("gemini.toml")),
    ("opencode", &["opencode", "opencode-ai"], include_str!("opencode.toml")),
    ("aider", &["aider", "aider-chat"], include_str!("aider.toml")),
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
    started::program(&words.into_iter().collect::<Vec<_>>(), &embedded).is_some()
}

fn embedded(command: &str) -> Option<usize> {
    EMBEDDED.iter().position(|(_, commands, _)| commands.contains(&command))
}

/// The profile called `name`, or for `auto` that of the program which `words`, a command and its arguments, starts. Those
/// that a user wrote come first.
pub fn find<'w>(
    name: &str,
    words: impl IntoIterator<Item = &'w str>,
    mut own: Vec<Own>,
    known: &[Known],
) -> Result<Option<Own>, String> {
    let index = match name {
        "none" => return Ok(None),
        "auto" => started::program(&words.into_iter().collect::<Vec<_>>(), &|word| {
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
            Err(format!("no such profile; use one of {}, auto or none", there.join(", ")))
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

    fn name(words: &[&str]) -> Option<String> {
        find("auto", words.iter().copied(), Vec::new(), &[]).unwrap().map(|own| own.profile.name)
    }

    /// What is typed behind `idlewatch --`; a word in quotes is one.
    fn typed(line: &str) -> Option<String> {
        let words = script::simple_commands(line);
        name(&words[0].iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn the_command_decides_also_behind_a_path_or_a_wrapper() {
        for (line, profile) in [
            ("claude", "claude"),
            ("/usr/bin/claude -p x", "claude"),
            ("env A=1 codex exec", "codex"),
            ("env -u B -i A=1 codex", "codex"),
            ("sudo -u me claude", "claude"),
            ("sudo -Hu me -- claude", "claude"),
            ("sudo --user=me env A=b nice -n 5 aider", "aider"),
            ("timeout -k 5s 1h claude", "claude"),
            ("timeout -k5s --signal INT 1h claude", "claude"),
            ("nohup stdbuf -oL setsid claude", "claude"),
            ("taskset -c 0 ionice -c3 gemini", "gemini"),
            ("npx @anthropic-ai/claude-code", "claude"),
            ("npx -y @google/gemini-cli@latest -p x", "gemini"),
            ("npx --package @openai/codex codex", "codex"),
            ("npm exec -- @openai/codex", "codex"),
            ("pnpm dlx opencode-ai", "opencode"),
            ("bun x opencode-ai@1.2", "opencode"),
            ("uvx --from aider-chat aider", "aider"),
            ("uv tool run aider-chat", "aider"),
            ("pipx run aider-chat", "aider"),
            ("nix run nixpkgs#claude-code -- -p x", "claude"),
            ("mise exec -- claude", "claude"),
            ("direnv exec . claude", "claude"),
            ("op run --env-file .env -- claude", "claude"),
            ("docker run -it --rm -v /a:/b image claude", "claude"),
            ("docker compose exec -u me box claude", "claude"),
            ("node /path/to/claude", "claude"),
            ("node --max-old-space-size=8192 /x/node_modules/@anthropic-ai/claude-code/cli.js", "claude"),
            ("node /x/@openai/codex/bin/codex.js exec", "codex"),
            ("python3.11 -X utf8 -m aider --model x", "aider"),
            ("./venv/bin/python ./venv/bin/aider", "aider"),
            ("ssh -t -p 22 host 'cd x && claude'", "claude"),
            ("ssh -t host -- claude --continue", "claude"),
            ("su - me -c 'codex exec x'", "codex"),
            ("script -qec 'claude -p x' /dev/null", "claude"),
            ("bash -c 'claude -p x'", "claude"),
            ("bash -c 'cd x && gemini'", "gemini"),
            ("bash --norc -o pipefail -lc 'cat x | A=1 claude -p | tee y'", "claude"),
            ("sh -c 'while ! claude --continue; do sleep 1; done'", "claude"),
            ("bash -c 'exec env A=1 bash -c \"codex\"'", "codex"),
            ("sh ./claude.sh", "claude"),
        ] {
            assert_eq!(typed(line).as_deref(), Some(profile), "{line}");
        }
        assert!(knows(["env", "A=1", "/usr/bin/codex"]) && !knows(["cargo", "build", "x"]));
    }

    #[test]
    fn an_argument_is_only_a_text() {
        for line in [
            "cargo build",
            "grep -r claude .",
            "grep -- claude .",
            "vim claude.md",
            "vim claude",
            "cat codex.txt",
            "ls -l codex",
            "npm install claude",
            "npm install -g @anthropic-ai/claude-code",
            "npm run claude",
            "pip install aider-chat",
            "git checkout claude",
            "git log --author claude",
            "sudo -u claude ls",
            "sudo grep -r claude .",
            "env HOME=/home/claude ls",
            "timeout 1h grep claude x",
            "npx prettier claude",
            "make claude",
            "cargo run -- claude",
            "tail -f /var/log/claude",
            "bash -c 'grep -r claude .'",
            "bash -c 'echo claude; ls codex'",
            "bash -c 'for x in claude codex; do echo $x; done'",
            "bash build.sh claude",
            "python3 -c claude",
            "python3 train.py claude",
            "python3 -m pip install aider",
            "node build.js claude",
            "ssh claude uptime",
            "docker run claude",
            "docker pull claude",
            "su claude -c ls",
            "man claude",
        ] {
            assert_eq!(typed(line), None, "{line}");
        }
        assert_eq!(name(&[]), None);
    }

    #[test]
    fn one_word_may_be_a_whole_line() {
        assert_eq!(name(&["/usr/bin/claude -p Explain codex"]).as_deref(), Some("claude"));
        assert_eq!(name(&["bash --norc -c cd x && gemini"]).as_deref(), Some("gemini"));
        assert_eq!(name(&["grep -r claude ."]), None);
        assert_eq!(name(&["/opt/my tools/claude"]).as_deref(), Some("claude"));
    }
}
