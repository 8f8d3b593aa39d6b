//! The recording of a run: what the watcher sees, written as it sees it, without ever holding up the relay.
//!
//! It is fed with the watcher's own observations and their moments, so that a replay sees the same at the same times.
//! Typed input is not among what is written, nor when it was typed.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::events::Loss;
use super::outlet::{Existing, Outlet, Rest, Trouble};
use crate::cast::{Aside, write};
use crate::report::{command_line, in_words, plain};
use crate::span::milliseconds;
use crate::watch::{Event, Moment, Observation, Order, Size, Stream};

/// Variables that are worth knowing to whoever plays it; nothing else of the environment is written.
const VARIABLES: [&str; 2] = ["SHELL", "TERM"];

/// Writes a recording.
pub struct Recorder {
    outlet: Outlet,
    /// One for each stream.
    joined: [write::Joined; 3],
    /// When the command that runs now was started.
    base: Duration,
    /// When something was last written.
    last: Duration,
    /// The header is written.
    begun: bool,
    /// How and when the command ended, unless it is started again.
    ended: Option<(Duration, i32)>,
    size: Option<Size>,
}

impl Recorder {
    /// Opens the file, and empties it if it is there.
    pub fn open(path: &Path) -> Result<Self, Loss> {
        match Outlet::open(path, Existing::Overwrite) {
            Ok(outlet) => Ok(Self {
                outlet,
                joined: Default::default(),
                base: Duration::ZERO,
                last: Duration::ZERO,
                begun: false,
                ended: None,
                size: None,
            }),
            Err(error) => Err(Loss(format!("cannot write the recording: {}: {error}", path.display()))),
        }
    }

    /// The command is about to be watched, for the first time or again.
    pub fn begin(&mut self, size: Size, now: SystemTime, command: &[String]) -> Option<Loss> {
        if self.begun {
            self.ended = None;
            self.put_cut();
            let lost = self.put(&write::aside(self.base, &Aside::Relaunch));
            return self.resized(self.base, size).or(lost);
        }
        self.begun = true;
        self.size = Some(size);
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let variable = |name| std::env::var_os(name).map(|value| (name, value.to_string_lossy().into_owned()));
        let env: BTreeMap<&'static str, String> = VARIABLES.into_iter().filter_map(variable).collect();
        self.put(&write::header(size, since.as_secs(), &command_line(command), &env))
    }

    /// So much time has passed since the command was started, and it is started again.
    pub fn shift(&mut self, by: Duration) {
        self.base = self.base.saturating_add(by);
    }

    /// The watcher is told this.
    pub fn observed(&mut self, at: Moment, observation: &Observation<'_>) -> Option<Loss> {
        let at = self.at(at);
        match observation {
            Observation::Output { stream, bytes } => {
                let text = self.joined[*stream as usize].push(bytes, *stream != Stream::Terminal);
                if text.is_empty() { None } else { self.put(&write::output(at, &text)) }
            }
            Observation::Resized(size) => self.resized(at, *size),
            Observation::Looked(look) => self.put(&write::aside(at, &Aside::Look(look.clone()))),
            Observation::Gap(length) => self.put(&write::aside(at, &Aside::Gap(milliseconds(*length)))),
            Observation::Told(Order::Extend(by)) => self.put(&write::aside(at, &Aside::Extend(milliseconds(*by)))),
            // What was typed, and when, is nobody's business; the others change no state.
            Observation::Typed(_)
            | Observation::Answered(_)
            | Observation::Told(_)
            | Observation::Unasked
            | Observation::Attended(_)
            | Observation::Exited
            | Observation::Elapsed => None,
        }
    }

    /// This happened: a mark for whoever plays it.
    pub fn event(&mut self, at: Moment, event: &Event) -> Option<Loss> {
        let at = self.at(at);
        if let Event::Ended { code, child_code, child_signal, .. } = event {
            let by_signal = child_signal.map(|signal| 128 + signal.number());
            // Of one that is not known to have ended, or never began, ours is what the recording ends with.
            let status = child_code.map(i32::from).or(by_signal).or(code.map(i32::from));
            self.ended = status.map(|status| (at, status));
        }
        let (what, words) = in_words(event)?;
        self.put(&write::marker(at, &plain(&format!("{what}: {words}"))))
    }

    /// Writes the end. Gives what else has to be said.
    pub fn close(&mut self) -> Option<Loss> {
        self.put_cut();
        let lost = self.ended.take().and_then(|(at, status)| self.put(&write::exit(at.max(self.last), status)));
        let rest = match self.outlet.close() {
            Rest { dropped: 0, unread: false } => None,
            Rest { dropped: 0, unread: true } => Some("the end of the recording was not read".to_owned()),
            Rest { dropped, .. } => Some(format!("{dropped} parts of the recording were dropped")),
        };
        lost.or(rest.map(Loss))
    }

    /// Writes what is left of characters that never came to their end: the next start's output does not go on with them.
    fn put_cut(&mut self) {
        for mut joined in std::mem::take(&mut self.joined) {
            if let Some(left) = joined.finish() {
                self.put(&write::output(self.last, left));
            }
        }
    }

    /// The time in the recording: that of the run, after everything before a relaunch. It never goes back.
    fn at(&mut self, at: Moment) -> Duration {
        self.last = self.last.max(self.base.saturating_add(at.since_start()));
        self.last
    }

    fn resized(&mut self, at: Duration, size: Size) -> Option<Loss> {
        if self.size.replace(size) == Some(size) { None } else { self.put(&write::resize(at, size)) }
    }

    fn put(&mut self, line: &[u8]) -> Option<Loss> {
        Some(Loss(match self.outlet.put(line)? {
            Trouble::Slow => "dropping parts of the recording: its reader is too slow".to_owned(),
            Trouble::Broken(error) => format!("the recording stops here: {error}"),
        }))
    }

    /// What to poll while something waits to be written.
    pub fn behind(&self) -> Option<BorrowedFd<'_>> {
        self.outlet.behind()
    }

    /// Writes what waits.
    pub fn flush(&mut self) {
        self.outlet.flush();
    }
}
