//! The steps of a ladder, as they are written: `warn,nudge:go on,wait:2m,term,wait:10s,kill`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::typeable;
use crate::signal::Signal;
use crate::span;

/// One thing to do about a command that is stuck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Tell the person.
    Warn,
    /// Type this into the command and submit it; without a text, the next of `--nudge`.
    Nudge(Option<String>),
    /// Do nothing for this long.
    Wait(Duration),
    /// Press this key.
    Key(Key),
    /// Send this signal to the whole process tree.
    Signal(Signal),
    /// Run this in a shell.
    Run(String),
    /// Ask the person, where there is one.
    Prompt,
    /// End the command and start it again.
    Relaunch,
    /// End the command: `--signal`, then SIGKILL after `--kill-after`.
    Stop,
}

/// A key that can be pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(&'static str, &'static [u8]);

/// The keys by name, with what a terminal sends for them.
const KEYS: &[Key] = &[
    Key("enter", b"\r"),
    Key("esc", b"\x1b"),
    Key("tab", b"\t"),
    Key("space", b" "),
    Key("backspace", b"\x7f"),
    Key("up", b"\x1b[A"),
    Key("down", b"\x1b[B"),
    Key("right", b"\x1b[C"),
    Key("left", b"\x1b[D"),
    Key("home", b"\x1b[H"),
    Key("end", b"\x1b[F"),
    Key("pageup", b"\x1b[5~"),
    Key("pagedown", b"\x1b[6~"),
    Key("ctrl-c", b"\x03"),
    Key("ctrl-d", b"\x04"),
    Key("ctrl-z", b"\x1a"),
    Key("y", b"y"),
    Key("n", b"n"),
    Key("q", b"q"),
];

impl Key {
    /// Its name.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// What a terminal sends for it.
    pub const fn bytes(self) -> &'static [u8] {
        self.1
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        KEYS.iter().copied().find(|key| key.0.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<&str> = KEYS.iter().map(|key| key.0).collect();
            format!("unknown key '{name}'; use one of {}", names.join(", "))
        })
    }
}

/// The words that need nothing after them, for help and for messages.
const WORDS: &str = "warn, nudge[:TEXT], wait:DUR, key:NAME, int, term, hup, quit, kill, signal:NAME, run:SHELL, \
                     prompt, relaunch, stop";

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (word, rest) = match text.split_once(':') {
            Some((word, rest)) => (word.trim(), Some(rest)),
            None => (text.trim(), None),
        };
        let needed = |what: &str| rest.filter(|rest| !rest.trim().is_empty()).ok_or(format!("'{word}' needs {what}"));
        let step = match word {
            "nudge" => {
                let text = rest.map(typeable).transpose();
                return text.map(Self::Nudge).map_err(|why| format!("nudge: {why}"));
            }
            "wait" => {
                let text = needed("a duration, as in wait:30s")?.trim();
                let error = |error| format!("'wait:{text}': {error}; write wait:DUR, as in wait:30s");
                return span::parse(text).map(Self::Wait).map_err(error);
            }
            "key" => return needed("a name, as in key:enter")?.trim().parse().map(Self::Key),
            "signal" => return needed("a name, as in signal:USR1")?.trim().parse().map(Self::Signal),
            "run" => return needed("a shell command, as in run:date").map(|shell| Self::Run(shell.to_owned())),
            "warn" => Self::Warn,
            "prompt" => Self::Prompt,
            "relaunch" => Self::Relaunch,
            "stop" => Self::Stop,
            "int" => Self::Signal(Signal::INT),
            "term" => Self::Signal(Signal::TERM),
            "hup" => Self::Signal(Signal::HUP),
            "quit" => Self::Signal(Signal::QUIT),
            "kill" => Self::Signal(Signal::KILL),
            _ => return Err(format!("unknown step '{word}'; use {WORDS}")),
        };
        match rest {
            None => Ok(step),
            Some(rest) => Err(format!("'{word}' takes no value, but got '{rest}'; write '{word}' alone")),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Warn => f.write_str("warn"),
            Self::Nudge(None) => f.write_str("nudge"),
            Self::Nudge(Some(text)) => write!(f, "nudge:{}", escape(text)),
            Self::Wait(duration) => write!(f, "wait:{}", humantime::format_duration(*duration)),
            Self::Key(key) => write!(f, "key:{}", key.name()),
            Self::Signal(Signal::INT) => f.write_str("int"),
            Self::Signal(Signal::TERM) => f.write_str("term"),
            Self::Signal(Signal::HUP) => f.write_str("hup"),
            Self::Signal(Signal::QUIT) => f.write_str("quit"),
            Self::Signal(Signal::KILL) => f.write_str("kill"),
            Self::Signal(signal) => write!(f, "signal:{}", signal.to_string().trim_start_matches("SIG")),
            Self::Run(shell) => write!(f, "run:{}", escape(shell)),
            Self::Prompt => f.write_str("prompt"),
            Self::Relaunch => f.write_str("relaunch"),
            Self::Stop => f.write_str("stop"),
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace(',', "\\,")
}

/// Reads a whole ladder. A comma inside of a text is written `\,`.
pub fn parse_ladder(text: &str) -> Result<Vec<Step>, String> {
    let mut pieces = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ',' => pieces.push(String::new()),
            '\\' => match letters.next() {
                Some(next @ (',' | '\\')) => push(&mut pieces, next),
                next => {
                    push(&mut pieces, '\\');
                    if let Some(next) = next {
                        push(&mut pieces, next);
                    }
                }
            },
            _ => push(&mut pieces, letter),
        }
    }
    pieces.iter().map(|piece| piece.parse()).collect()
}

fn push(pieces: &mut [String], letter: char) {
    if let Some(last) = pieces.last_mut() {
        last.push(letter);
    }
}

/// Writes a ladder as it is read.
pub fn format_ladder(steps: &[Step]) -> String {
    let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
    steps.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_is_written_as_it_is_read() {
        for text in [
            "warn",
            "warn,nudge,wait:1m,nudge:go on,wait:30s,term,wait:10s,kill",
            "key:enter,signal:USR1,run:echo a\\, b | tr a b,prompt,relaunch,stop",
        ] {
            assert_eq!(format_ladder(&parse_ladder(text).unwrap()), text);
        }
        assert_eq!(parse_ladder("nudge:yes\\, go: now").unwrap(), [Step::Nudge(Some("yes, go: now".to_owned()))]);
        assert_eq!(parse_ladder("nudge:one\n\ttwo").unwrap(), [Step::Nudge(Some("one\n\ttwo".to_owned()))]);
        assert_eq!(parse_ladder("warn, term").unwrap(), [Step::Warn, Step::Signal(Signal::TERM)]);
    }

    #[test]
    fn a_wrong_step_is_named_and_the_right_ones_are_said() {
        for (text, says) in [
            ("fly", "unknown step 'fly'"),
            ("warn,", "unknown step ''"),
            ("wait", "needs a duration"),
            ("wait:soon", "'wait:soon': not a duration; write wait:DUR, as in wait:30s"),
            ("key:any", "unknown key 'any'"),
            ("signal:NOPE", "unknown signal 'NOPE'"),
            ("run:", "needs a shell command"),
            ("nudge:", "nudge: nothing to type"),
            ("nudge: ", "nudge: nothing to type"),
            ("nudge:a\x03b", "nudge: it contains the control character"),
            ("kill:9", "takes no value"),
        ] {
            let error = parse_ladder(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
