//! What cannot be meant together, whatever layers it comes from: refused, with where it stands.

use std::fs;
use std::path::Path;

use super::Resolved;
use crate::cli::{EventsTo, RunCli};
use crate::config::Config;
use crate::error::Error;
use crate::report::plain;
use crate::watch::{Ladders, Step};

impl Resolved<RunCli> {
    /// Refuses the first of them.
    pub fn check_conflicts(&self, config: &Config) -> Result<(), Error> {
        self.check_texts(config)?;
        self.check_files()?;
        self.check_codes()
    }

    /// A step that nudges without a text needs one from `--nudge`.
    fn check_texts(&self, config: &Config) -> Result<(), Error> {
        let Ladders { idle, looping, waiting, timeout } = &config.policy.ladders;
        let waiting = waiting.as_deref().unwrap_or_default();
        let all = [("on-idle", &**idle), ("on-loop", looping), ("on-waiting", waiting), ("on-timeout", timeout)];
        let has_text = !config.policy.nudges.texts.is_empty();
        match all.iter().find(|(_, steps)| !has_text && steps.contains(&Step::Nudge(None))) {
            Some((name, _)) => Err(Error::usage(format!(
                "{} has the step 'nudge' without a text; write nudge:TEXT, or give the text with --nudge",
                self.named(name, 0)
            ))),
            None => Ok(()),
        }
    }

    /// Each file is written by one of us alone, and one that is read is not written at all.
    fn check_files(&self) -> Result<(), Error> {
        let records = &self.typed.cli.records;
        let events = match &records.events {
            Some(EventsTo::File(path)) => Some(path),
            _ => None,
        };
        let files = [
            ("events", events),
            ("report", records.report.as_ref().map(|to| &to.path)),
            ("record", records.record.as_ref()),
            ("checkpoint", records.checkpoint.as_ref()),
        ];
        let given: Vec<_> = files.into_iter().filter_map(|(option, path)| Some((option, path?))).collect();
        for (index, (option, path)) in given.iter().enumerate() {
            if let Some((other, _)) = given[..index].iter().find(|(_, other)| is_same_file(other, path)) {
                let (one, two) = (self.named(other, 0), self.named(option, 0));
                let path = plain(&path.to_string_lossy());
                return Err(Error::usage(format!("{one} and {two} are the same file, '{path}'; give each its own")));
            }
        }
        Ok(())
    }

    /// One reason has one code.
    fn check_codes(&self) -> Result<(), Error> {
        let codes = &self.typed.cli.exit.exit_code;
        for (index, code) in codes.iter().enumerate() {
            if let Some(other) = codes[..index].iter().find(|other| other.reason == code.reason) {
                let (named, reason, one, two) = (self.named("exit-code", index), code.reason, other.code, code.code);
                return Err(Error::usage(format!("{named} gives {reason} two codes, {one} and {two}; leave one out")));
            }
        }
        Ok(())
    }
}

/// Whether both names are of one file: the same name, or that of a file that is there. Devices and pipes can be shared.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other && one.is_file(),
        _ => one == other,
    }
}
