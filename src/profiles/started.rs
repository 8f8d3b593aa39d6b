//! Which program a command line starts, behind everything that only starts others.
//!
//! An argument may be any text: `grep -r claude .` searches, and `npm install codex` installs. So a name is believed only
//! where a command stands: in front, behind a wrapper with its options, in the script of a shell, behind a runner of
//! packages, or as what an interpreter runs.

use super::script::simple_commands;

/// Wrappers in wrappers, scripts in scripts: so deep it is looked.
const DEEPEST: usize = 8;

/// Programs that start the command behind their options, one kind a line: their names; the words of which one has to follow,
/// as in `npm exec claude`, if any; how many words stand before the command; the options whose value is a word of its own.
///
/// It is one text, since every command is looked up in it: a table of texts would have to be relocated first.
const WRAPPERS: &str = "\
sudo doas | | 0 | -u -g -h -p -C -D -R -r -t -T -U --user --group --host --prompt --chdir --chroot --close-from --role \
 --type --command-timeout --other-user
env | | 0 | -u -C --unset --chdir
nice | | 0 | -n --adjustment
ionice | | 0 | -c -n --class --classdata
timeout | | 1 | -s -k --signal --kill-after
stdbuf | | 0 | -i -o -e --input --output --error
time | | 0 | -f -o --format --output
exec | | 0 | -a
nohup setsid command builtin eval unbuffer rlwrap torsocks dbus-run-session systemd-inhibit | | 0 |
caffeinate | | 0 | -t -w
systemd-run | | 0 | -p -u -E -M --property --unit --setenv --slice --machine --uid --gid
proxychains proxychains4 | | 0 | -f
strace ltrace | | 0 | -a -b -e -E -I -o -O -p -P -s -S -u -X
taskset chrt chroot faketime | | 1 |
npx bunx pnpx | | 0 | -p -c --package --call
uvx | | 0 | -p --from --with --python --index
npm | exec x | 0 | -p -w --package --workspace
pnpm yarn bun | exec dlx x | 0 | -p -C --package --cwd --dir
pipx | run | 0 | --spec --python
uv poetry pipenv rye hatch | run | 0 | -p --from --with --python --project --directory
mise | exec x | 0 | -C --cd
nix | run | 0 |
direnv | exec | 1 |
op doppler infisical dotenvx | run | 0 | -f -p -c --env-file --account --project --config --env
docker podman | run exec | 1 | -a -e -h -l -m -p -u -v -w --add-host --cpus --entrypoint --env --env-file --hostname \
 --index --label --memory --mount --name --network --platform --publish --user --volume --workdir";

/// Words between such a program and the one that says that it runs something.
const BETWEEN: &str = "compose container tool";

const SHELLS: &str = "sh bash dash zsh fish ksh ash";

/// What they run stands behind their options.
const INTERPRETERS: &str = "node bun deno python pypy";

fn is_among(all: &str, word: &str) -> bool {
    all.split_ascii_whitespace().any(|one| one == word)
}

/// What `known` says of the program that `words`, a command and its arguments, start. One word alone may be a whole line
/// for a shell.
pub(super) fn program<T>(words: &[&str], known: &dyn Fn(&str) -> Option<T>) -> Option<T> {
    started(words, known, DEEPEST)
}

fn started<T>(words: &[&str], known: &dyn Fn(&str) -> Option<T>, depth: usize) -> Option<T> {
    let words = &words[words.iter().take_while(|word| is_assignment(word)).count()..];
    let (first, rest) = words.split_first()?;
    if let Some(found) = names(first).find_map(known) {
        return Some(found);
    }
    let depth = depth.checked_sub(1)?;
    if first.contains(|c: char| c.is_whitespace() || ";&|()".contains(c)) {
        return in_script(first, known, depth);
    }
    let name = first.rsplit('/').next().unwrap_or(first);
    if let Some(command) = WRAPPERS.lines().find_map(|line| wrapped(line, name, rest)) {
        return started(command, known, depth);
    }
    if is_among(SHELLS, name) {
        return in_shell(rest, known, depth);
    }
    match name {
        "su" | "script" => {
            let call = rest.iter().position(|word| is_call(word))?;
            return in_script(rest.get(call + 1)?, known, depth);
        }
        // What follows the host is a line for the shell there.
        "ssh" => {
            let takes = "-b -c -D -E -e -F -I -i -J -L -l -m -o -p -Q -R -S -W -w";
            return in_script(&behind(rest, takes, 1).join(" "), known, depth);
        }
        _ => {}
    }
    is_interpreter(name).then(|| interpreted(rest)).flatten().and_then(|script| names(script).find_map(known))
}

/// The command behind `name` and its options, if `line` is about it.
fn wrapped<'s, 'w>(line: &str, name: &str, rest: &'s [&'w str]) -> Option<&'s [&'w str]> {
    let mut parts = line.split('|');
    if !is_among(parts.next()?, name) {
        return None;
    }
    let (verbs, before, takes) = (parts.next()?, parts.next()?.trim().parse().ok()?, parts.next()?);
    if verbs.trim().is_empty() {
        return Some(behind(rest, takes, before));
    }
    let rest = behind(rest, takes, 0);
    let rest = &rest[rest.iter().take_while(|word| is_among(BETWEEN, word)).count()..];
    let (verb, rest) = rest.split_first()?;
    is_among(verbs, verb).then(|| behind(rest, takes, before))
}

/// What follows options, their values and so many words more.
fn behind<'s, 'w>(mut words: &'s [&'w str], takes: &str, before: usize) -> &'s [&'w str] {
    while let [option, rest @ ..] = words {
        words = match *option {
            "--" => {
                words = rest;
                break;
            }
            option if has_value_behind(option, takes) => rest.get(1..).unwrap_or_default(),
            option if option.len() > 1 && option.starts_with('-') || is_assignment(option) => rest,
            _ => break,
        };
    }
    let words = words.get(before..).unwrap_or_default();
    words.strip_prefix(&["--"]).filter(|_| before > 0).unwrap_or(words)
}

/// Whether the value of an option is the next word: `--user me`, `-u me`, `-Hu me`; not `-ume`.
fn has_value_behind(option: &str, takes: &str) -> bool {
    let has_value = |option: &str| is_among(takes, option);
    if option.starts_with("--") {
        return has_value(option);
    }
    let Some(letters) = option.strip_prefix('-') else { return false };
    let value = letters.char_indices().find(|(_, letter)| has_value(&format!("-{letter}")));
    value.is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `-c`, also among other letters.
fn is_call(word: &str) -> bool {
    word == "--command" || word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
}

fn in_shell<T>(words: &[&str], known: &dyn Fn(&str) -> Option<T>, depth: usize) -> Option<T> {
    let script = behind(words, "-o -O --rcfile --init-file", 0);
    let options = &words[..words.len() - script.len()];
    let script = script.first()?;
    if options.iter().any(|option| is_call(option)) {
        in_script(script, known, depth)
    } else {
        names(script).find_map(known)
    }
}

fn in_script<T>(script: &str, known: &dyn Fn(&str) -> Option<T>, depth: usize) -> Option<T> {
    simple_commands(script).iter().find_map(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        started(&words, known, depth)
    })
}

fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    is_among(INTERPRETERS, plain)
}

/// What an interpreter runs: a file, or behind `-m` a module; nothing where the program stands in the arguments.
fn interpreted<'w>(words: &[&'w str]) -> Option<&'w str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "-m" => return words.next().copied(),
            "-c" | "-e" | "-p" | "--eval" | "--print" => return None,
            "-r" | "-W" | "-X" | "-C" | "--require" | "--import" | "--loader" => {
                words.next();
            }
            "run" | "x" | "--" => {}
            option if option.starts_with('-') => {}
            file => return Some(file),
        }
    }
    None
}

/// What a program may be called: its file, with and without the ending of a script or the version of a package, and the
/// package it lies in.
fn names(word: &str) -> impl Iterator<Item = &str> {
    let file = word.rsplit(['/', '#']).next().unwrap_or(word);
    let bare = [".js", ".mjs", ".cjs", ".py", ".sh", ".exe"].iter().find_map(|ending| file.strip_suffix(ending));
    let versioned = file.split_once(['@', '=']).map(|(name, _)| name).filter(|name| !name.is_empty());
    let package = word.rsplit_once("node_modules/").and_then(|(_, inside)| {
        let mut parts = inside.split('/');
        parts.find(|part| !part.starts_with(['@', '.']))
    });
    [Some(file), bare, versioned, package].into_iter().flatten()
}
