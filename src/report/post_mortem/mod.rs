//! The post-mortem: what happened, when, why, what was tried, and how to go on. One set of facts, three forms.

mod html;
mod json;
mod markdown;
mod paint;
mod timeline;

use std::time::{Duration, SystemTime};

use super::chronicle::{Chronicle, Entry};
use super::process::Process;
use super::tasks::Tasks;
use super::{command_line, in_words};
use crate::exit::Reason;
use crate::signal::Signal;
use crate::watch::{Event, Picture, State, span};

/// The version of idlewatch.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text with marks.
    Markdown,
    /// One object.
    Json,
    /// A page.
    Html,
}

impl Format {
    /// The form that a file name asks for.
    pub fn of(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "md" => Some(Self::Markdown),
            "json" => Some(Self::Json),
            "html" => Some(Self::Html),
            _ => None,
        }
    }
}

/// Everything that is known of a run that has ended.
#[derive(Debug, Clone)]
pub struct PostMortem {
    /// The name of the run.
    pub run: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The folder it ran in, if it is known.
    pub folder: Option<String>,
    /// The system it ran on.
    pub system: String,
    /// When it ended.
    pub ended: SystemTime,
    /// How.
    pub end: End,
    /// What happened.
    pub chronicle: Chronicle,
    /// What could be seen.
    pub scene: Scene,
    /// The command's own list of tasks, or why it could not be read; none: nobody asked.
    pub tasks: Option<Result<Tasks, String>>,
    /// How to resume; none: nobody knows.
    pub resume: Option<Resume>,
    /// The policy that was in force: options and values.
    pub policy: Vec<(&'static str, String)>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The exit code of idlewatch; none: it dies of the same signal as the command.
    pub code: Option<u8>,
    /// Why it was ended; none: it ended by itself.
    pub reason: Option<Reason>,
    /// The command's own exit code, if it has one.
    pub child_code: Option<u8>,
    /// The signal that ended the command, if one did.
    pub child_signal: Option<Signal>,
    /// It would have been started again, but not so often.
    pub gave_up: bool,
}

impl End {
    /// Whether the command was ended because something was wrong with it.
    pub fn is_stuck(&self) -> bool {
        self.reason.is_some_and(|reason| reason.is_stuck() || reason == Reason::Timeout)
    }

    /// The exit status and what it means.
    fn status(&self) -> String {
        match (self.code, self.reason, self.child_signal) {
            (Some(code), Some(reason), _) => format!("{code} ({reason})"),
            (Some(code), None, _) => format!("{code}, the command's own"),
            (None, _, Some(signal)) => format!("none: idlewatch died of {signal}, as the command did"),
            (None, _, None) => "none".to_owned(),
        }
    }

    /// How the command itself ended.
    fn child(&self) -> String {
        match (self.child_code, self.child_signal) {
            (Some(code), _) => format!("exited with {code}"),
            (None, Some(signal)) => format!("ended by {signal}"),
            (None, None) => "unknown".to_owned(),
        }
    }
}

/// What could be seen at the verdict, or where there was none at the end.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// When, in time since the beginning.
    pub elapsed: Duration,
    /// On what occasion.
    pub taken: Occasion,
    /// The screen.
    pub picture: Picture,
    /// The processes; none: they could not be seen.
    pub processes: Option<Vec<Process>>,
    /// How many more there were.
    pub left_out: usize,
}

/// When somebody looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Occasion {
    /// When the verdict fell.
    Verdict,
    /// Before the first signal.
    Signal,
    /// At the end.
    #[default]
    End,
}

impl Occasion {
    /// The word that stands for it.
    const fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Signal => "signal",
            Self::End => "end",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Verdict => "at the verdict",
            Self::Signal => "before the first signal",
            Self::End => "at the end",
        }
    }
}

/// How to resume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// With this command.
    pub command: String,
    /// Who says so.
    pub source: String,
}

/// Something that was done about the run.
struct Tried<'c> {
    entry: &'c Entry,
    /// How often, one after the other.
    times: usize,
    what: &'static str,
    words: String,
    /// What came of it.
    result: String,
}

impl PostMortem {
    /// The report in this form.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Markdown => markdown::render(self),
            Format::Json => json::render(self),
            Format::Html => html::render(self),
        }
    }

    /// What happened, in one sentence.
    fn headline(&self) -> String {
        let ended = match (self.end.reason, self.end.child_code, self.end.child_signal) {
            (Some(reason), ..) => reason.meaning().to_owned(),
            (None, Some(code), _) => format!("the command ended by itself with exit status {code}"),
            (None, None, Some(signal)) => format!("the command was ended by {signal}"),
            (None, None, None) => "the command ended by itself".to_owned(),
        };
        let mut letters = ended.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// The command as one would type it.
    fn command_line(&self) -> String {
        line(&self.command)
    }

    /// The main facts: what they are called, and what they are.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("Exit status", self.end.status()),
            ("The command itself", self.end.child()),
            ("Ran for", span(self.chronicle.length())),
            ("Started", day(self.chronicle.began())),
            ("Ended", day(self.ended)),
        ];
        if self.chronicle.launches() > 1 {
            let limit = if self.end.gave_up { ", the limit" } else { "" };
            let times = match self.chronicle.launches() - 1 {
                1 => "once".to_owned(),
                times => format!("{times} times"),
            };
            facts.push(("Relaunched", format!("{times}{limit}")));
        }
        if let Some(folder) = &self.folder {
            facts.push(("Directory", folder.clone()));
        }
        facts
    }

    /// Why it was ended: the state and the evidence, if there was a verdict.
    fn verdict(&self) -> Option<(&Entry, State, &str)> {
        self.chronicle.verdict(self.end.is_stuck())
    }

    /// What was tried, in order.
    fn tried(&self) -> Vec<Tried<'_>> {
        let entries = self.chronicle.entries();
        let is_try = |event: &Event| {
            matches!(
                event,
                Event::GuardDeferred { .. }
                    | Event::Nudged { .. }
                    | Event::Signaled { .. }
                    | Event::Ran { .. }
                    | Event::TimeoutExtended { .. }
                    | Event::ForceStopped { .. }
                    | Event::ForceCompleted
                    | Event::Relaunched { .. }
            )
        };
        let mut all: Vec<Tried<'_>> = Vec::new();
        for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| is_try(&entry.event)) {
            let Some((what, words)) = in_words(&entry.event) else { continue };
            let after = entries[index + 1..].iter().take_while(|later| !is_try(&later.event));
            let result = result(entry, after);
            match all.last_mut() {
                // Guards that speak again and again say the same in other numbers.
                Some(last) if is_deferral(&last.entry.event) && is_deferral(&entry.event) => {
                    last.times += 1;
                    (last.words, last.result) = (words, result);
                }
                _ => all.push(Tried { entry, times: 1, what, words, result }),
            }
        }
        for tried in all.iter_mut().filter(|tried| tried.times > 1) {
            tried.words = format!("{} times, last: {}", tried.times, tried.words);
        }
        all
    }

    /// Every event in words.
    fn events(&self) -> Vec<(&Entry, &'static str, String)> {
        let words = |entry: &Entry| match &entry.event {
            Event::Started { command, pid } => Some(("started", format!("process {pid}: {}", line(command)))),
            Event::Ended { code, reason, child_code, child_signal } => {
                let (code, reason, child_code, child_signal) = (*code, *reason, *child_code, *child_signal);
                let end = End { code, reason, child_code, child_signal, gave_up: false };
                Some(("ended", format!("exit status {}", end.status())))
            }
            event => in_words(event),
        };
        self.chronicle
            .entries()
            .iter()
            .filter_map(|entry| words(entry).map(|(what, words)| (entry, what, words)))
            .collect()
    }
}

const fn is_deferral(event: &Event) -> bool {
    matches!(event, Event::GuardDeferred { .. })
}

/// What came of `tried`, as far as what happened until the next try shows it. That it ended says more than that it had
/// gone on before.
fn result<'c>(tried: &Entry, after: impl Iterator<Item = &'c Entry>) -> String {
    let mut went_on = None;
    for later in after {
        let length = span(later.elapsed.saturating_sub(tried.elapsed));
        match &later.event {
            Event::StateChanged { to: State::Exited, .. } | Event::Ended { .. } => {
                return format!("it ended after {length}");
            }
            Event::Started { .. } => return "it was started".to_owned(),
            Event::StateChanged { to: State::Active, .. } if went_on.is_none() => {
                went_on = Some(format!("it resumed after {length}"));
            }
            _ => {}
        }
    }
    went_on.unwrap_or_else(|| unchanged(&tried.event).to_owned())
}

const fn unchanged(event: &Event) -> &'static str {
    match event {
        Event::GuardDeferred { .. } | Event::TimeoutExtended { .. } => "waited",
        _ => "nothing changed",
    }
}

/// A time of day.
fn day(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string().replace('T', " ").replace('Z', " UTC")
}

/// Hours, minutes and seconds since the beginning.
fn clock(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// A command as one would type it, or its beginning.
fn line(command: &[String]) -> String {
    const LONGEST: usize = 1000;
    let whole = command_line(command).replace('\n', " ⏎ ");
    match whole.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}
