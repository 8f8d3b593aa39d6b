//! A regular expression that is compiled when it is first needed: start-up pays for none.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::Regex;

/// A regular expression by its source.
#[derive(Debug, Clone)]
pub struct Pattern {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// The pattern `source`, checked now: for what a person wrote.
    pub fn checked(source: &str) -> Result<Self, String> {
        let regex = Regex::new(source).map_err(|error| error.to_string())?;
        Ok(Self { source: source.to_owned(), compiled: OnceLock::from(Some(regex)) })
    }

    /// The pattern `source`, compiled at its first use: for what a test has checked. A wrong one matches nothing.
    pub fn trusted(source: &str) -> Self {
        Self { source: source.to_owned(), compiled: OnceLock::new() }
    }

    /// Whether it occurs in empty text, and so in every line: nothing can be told by it.
    pub fn is_anywhere(&self) -> bool {
        self.is_match("")
    }

    /// What was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(&self.source).ok()).as_ref()
    }

    /// Whether it occurs in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    /// What it finds in `text`: its first group, else the whole match.
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        let found = self.regex()?.captures(text)?;
        found.get(1).or_else(|| found.get(0)).map(|found| found.as_str())
    }

    /// What is compared of what it finds in `text`: all its groups, a blank between them; without any, the whole match.
    pub fn captured<'t>(&self, text: &'t str) -> Option<Cow<'t, str>> {
        let regex = self.regex()?;
        // Looking for groups allocates, whether there are any or not.
        let found = regex.find(text)?;
        if regex.captures_len() == 1 {
            return Some(found.as_str().into());
        }
        let groups = regex.captures(text)?;
        let mut groups = groups.iter().skip(1).flatten().map(|group| group.as_str());
        let first = groups.next().unwrap_or(found.as_str());
        Some(groups.fold(first.into(), |joined, group| joined + " " + group))
    }

    /// `text` without what matches.
    pub fn remove(&self, text: &str) -> String {
        self.regex().map_or_else(|| text.to_owned(), |regex| regex.replace_all(text, "").into_owned())
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_groups_are_compared_and_without_any_the_whole_match() {
        for (pattern, text, captured) in [
            (r"(Read|Write)\((.*)\)", "* Read(a.c)", Some("Read a.c")),
            (r"Read\((.*)\)", "* Read(a.c)", Some("a.c")),
            (r"Read\(.*\)", "* Read(a.c) now", Some("Read(a.c)")),
            (r"Read\((.*)\)|Write\((.*)\)", "* Write(a.c)", Some("a.c")),
            (r"Read(!)?", "* Read(a.c)", Some("Read")),
            (r"(Read|Write)\((.*)\)", "* List(a.c)", None),
        ] {
            assert_eq!(Pattern::trusted(pattern).captured(text).as_deref(), captured, "{pattern}");
        }
    }
}
