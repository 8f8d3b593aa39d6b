//! What is known of one program: marks on its screen, as data.

use serde::Deserialize;

use super::Pattern;
use super::waiting::View;

/// The marks of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// What it is called.
    pub name: String,
    /// The commands it is started by.
    pub commands: Vec<String>,
    /// The command that goes on where it was, if there is one.
    pub resume: Option<String>,
    pub(super) status_words: StatusWords,
    /// Whose processor time is work.
    pub busy: Busy,
    turn: Vec<Mark>,
    question: Vec<Mark>,
    prompt: Vec<Mark>,
}

/// What other words in a program's status line, the one that turns or times, mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum StatusWords {
    /// Nobody knows: they count where they change as work does.
    #[default]
    #[serde(skip)]
    Unknown,
    /// They pass the time: verbs and tips.
    Pastime,
    /// They say what is being done.
    Work,
}

/// Whose processor time says that a program works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Busy {
    /// Its own as well.
    #[default]
    #[serde(skip)]
    All,
    /// Only that of the tools it has started: what it uses itself draws, and may be much.
    Tools,
}

/// Text in a region of the screen, with the company it must and must not keep there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    text: Pattern,
    bottom: usize,
    with: Vec<Pattern>,
    without: Vec<Pattern>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    name: String,
    commands: Vec<String>,
    resume: Option<String>,
    #[serde(default, rename = "status-words")]
    status_words: StatusWords,
    #[serde(default)]
    busy: Busy,
    #[serde(default)]
    turn: Vec<MarkFile>,
    #[serde(default)]
    question: Vec<MarkFile>,
    #[serde(default)]
    prompt: Vec<MarkFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkFile {
    text: String,
    /// How many of the lowest rows that are not blank it is looked for in.
    #[serde(default = "all_rows")]
    bottom: usize,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
}

const fn all_rows() -> usize {
    usize::MAX
}

impl Profile {
    /// Reads a profile; its patterns are checked only if `checked`, since that compiles them.
    pub fn parse(toml: &str, checked: bool) -> Result<Self, String> {
        let file: ProfileFile = toml::from_str(toml).map_err(|error| error.to_string())?;
        let pattern = |source: &String| {
            if !checked {
                return Ok(Pattern::trusted(source));
            }
            let fault = |error: String| {
                let reason = error.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                format!("'{source}' is not a regular expression: {}", reason.trim().trim_start_matches("error: "))
            };
            match Pattern::checked(source).map_err(fault)? {
                pattern if pattern.is_anywhere() => {
                    Err(format!("'{source}' matches every row; make it require something, as in x+ for x*"))
                }
                pattern => Ok(pattern),
            }
        };
        let mark = |mark: &MarkFile| {
            if mark.bottom == 0 {
                return Err("bottom = 0 looks at no row; write 1 or more, or remove it".to_owned());
            }
            Ok::<_, String>(Mark {
                text: pattern(&mark.text)?,
                bottom: mark.bottom,
                with: mark.with.iter().map(pattern).collect::<Result<_, _>>()?,
                without: mark.without.iter().map(pattern).collect::<Result<_, _>>()?,
            })
        };
        if file.commands.iter().any(|command| command.trim().is_empty()) {
            return Err("a command cannot be empty; write its name, as in commands = [\"claude\"]".to_owned());
        }
        let marks = |all: &[MarkFile]| all.iter().map(mark).collect::<Result<Vec<_>, _>>();
        let (turn, question, prompt) = (marks(&file.turn)?, marks(&file.question)?, marks(&file.prompt)?);
        let ProfileFile { name, commands, resume, status_words, busy, .. } = file;
        Ok(Self { name, commands, resume, status_words, busy, turn, question, prompt })
    }

    /// Every mark: what it is for, and the text it looks for.
    pub fn marks(&self) -> Vec<(&'static str, &str)> {
        self.kinds()
            .into_iter()
            .flat_map(|(kind, marks)| marks.iter().map(move |mark| (kind, mark.text.source())))
            .collect()
    }

    /// Of every mark, in the same order, the row it is in, if it is there.
    pub(super) fn sightings(&self, view: View<'_>) -> Vec<Option<String>> {
        let all = self.kinds().into_iter().flat_map(|(_, marks)| marks);
        all.map(|mark| mark.find(view).map(|(row, _)| row)).collect()
    }

    fn kinds(&self) -> [(&'static str, &[Mark]); 3] {
        [("turn", &self.turn), ("question", &self.question), ("prompt", &self.prompt)]
    }

    /// The words that say a turn is in progress.
    pub(super) fn turn(&self, view: View<'_>) -> Option<String> {
        find(&self.turn, view).map(|(_, words)| words)
    }

    /// The words that ask.
    pub(super) fn question(&self, view: View<'_>) -> Option<String> {
        find(&self.question, view).map(|(row, _)| row)
    }

    /// The words that show it sits at its prompt.
    pub(super) fn prompt(&self, view: View<'_>) -> Option<String> {
        find(&self.prompt, view).map(|(row, _)| row)
    }
}

/// The row a mark is in, and its words.
fn find(marks: &[Mark], view: View<'_>) -> Option<(String, String)> {
    marks.iter().find_map(|mark| mark.find(view))
}

impl Mark {
    fn find(&self, view: View<'_>) -> Option<(String, String)> {
        let (row, found) = view.bottom(self.bottom).find_map(|row| Some((row, self.text.find(row)?)))?;
        let present = |pattern: &Pattern| view.bottom(self.bottom).any(|row| pattern.is_match(row));
        (self.with.iter().all(present) && !self.without.iter().any(present)).then(|| (row.to_owned(), found.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::screen::Cursor;

    fn rows(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_mark_needs_its_region_and_its_company() {
        let toml = "name = 'x'\ncommands = ['x']\n[[question]]\ntext = 'cancel'\nbottom = 2\nwith = ['1\\.']\nwithout = ['busy']";
        let profile = Profile::parse(toml, true).unwrap();
        let question = |text: &str| {
            let rows = rows(text);
            profile.question(View { rows: &rows, cursor: Cursor::default(), alternate: false }).is_some()
        };
        assert!(question("1. yes\nesc to cancel"));
        assert!(!question("esc to cancel"));
        assert!(!question("1. yes busy\nesc to cancel"));
        assert!(!question("1. yes\nesc to cancel\nmore\nrows"));
    }

    #[test]
    fn a_wrong_profile_is_refused_with_a_reason() {
        assert!(Profile::parse("name = 'x'\ncommands = []\nfoo = 1", true).unwrap_err().contains("foo"));
        assert!(
            Profile::parse("name = 'x'\ncommands = []\n[[turn]]\ntext = '('", true).unwrap_err().contains("unclosed")
        );
    }
}
