//! What cannot be meant together, whatever layers it comes from: refused, with where it stands.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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
        let written = given.iter().filter(|(option, _)| *option != "checkpoint");
        let overwrites = |path: &Path| self.file.as_ref().is_some_and(|file| is_same_file(file, path));
        if let Some((option, path)) = written.into_iter().find(|(_, path)| overwrites(path)) {
            let (named, path) = (self.named(option, 0), plain(&path.to_string_lossy()));
            return Err(Error::usage(format!("{named} is the configuration file itself, '{path}'; name another file")));
        }
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
                return Err(Error::usage(format!("{named} gives {reason} two codes, {one} and {two}; remove one")));
            }
        }
        Ok(())
    }
}

/// Whether both names are of one file: by what the kernel says where it is there, by its folder and name where it will
/// be made. Devices and pipes can be shared.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino()),
        (Err(_), Err(_)) => place(one) == place(other),
        _ => false,
    }
}

/// Where a file will be made. A folder that is not there is taken as it is written.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    match (folder.and_then(|folder| fs::canonicalize(folder).ok()), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}
