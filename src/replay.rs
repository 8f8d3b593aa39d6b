//! `idlewatch replay`: what would have happened. The same detectors, recorded time.
#![forbid(unsafe_code)]

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::cast::{Aside, Cast, Entry, Fault, What};
use crate::cli::{ReplayCli, Typed};
use crate::detection;
use crate::error::Error;
use crate::exit::Reason;
use crate::layers;
use crate::report::{JsonLines, Timeline, taken};
use crate::signal::Signal;
use crate::watch::{Action, Event, Guard, Look, Moment, Observation, Order, Policy, Profile, Stream, Watcher};

/// Replays a recording and prints what was found.
pub fn run(typed: Typed<ReplayCli>) -> Result<(), Error> {
    let path = &typed.cli.file.clone();
    let named = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let file = File::open(path).map_err(|error| Error::usage(named(&error)))?;
    if file.metadata().is_ok_and(|about| about.is_dir()) {
        return Err(Error::usage(named(&"it is a directory; name a recording")));
    }
    let faulty = |fault: Fault| Error::usage(named(&format!("line {}: {}", fault.line, fault.reason)));
    let cast = Cast::open(BufReader::with_capacity(1 << 16, file)).map_err(faulty)?;
    let command = cast.header().command.clone().unwrap_or_default();
    let resolved = layers::resolve(typed, [command.as_str()])?;
    let (profile, cli) = (resolved.profile(), resolved.typed.cli);
    let started = SystemTime::UNIX_EPOCH + Duration::from_secs(cast.header().timestamp.unwrap_or(0));
    if cli.marks && profile.is_none() {
        return Err(Error::usage("--marks needs a profile, and none applies; choose one with --profile NAME"));
    }
    let marks = profile.as_ref().filter(|_| cli.marks).map(Marks::new);
    let mut output = Output::new(cli.json, cli.verbose, marks, path, started);
    // Of the usual guards it is the one that looks at the screen and nothing else.
    let guards = vec![Guard::Turn];
    let policy = Policy { size: cast.header().size, guards, ..detection::policy(cli.limits, cli.detect, profile) };
    let mut replay = Replay::new(cast, policy);
    let played = replay.play(&mut |at, told, watcher| output.tell(at, told, watcher));
    let end = Moment::after_start(replay.end);
    match played.and_then(|()| output.finish(end).map_err(Stop::from)) {
        Err(Stop::Fault(fault)) => Err(faulty(fault)),
        Err(Stop::Unwritten(error)) => taken("what was found", Err(error)),
        Ok(()) => Ok(()),
    }
}

/// What is told of a replay.
enum News<'n> {
    /// Something happened. With it comes when, for the command that is seen.
    Event(&'n Event, Moment),
    /// Here a run would send this signal, and end for this reason.
    Signal(Signal, Reason),
    /// The watcher has taken something in: the screen may be another.
    Seen,
}

type Told<'t> = dyn FnMut(Moment, News<'_>, &Watcher) -> io::Result<()> + 't;

/// A watcher that is shown a recording.
struct Replay<R> {
    cast: Cast<R>,
    /// What was read in advance.
    ahead: VecDeque<Entry>,
    policy: Policy,
    watcher: Watcher,
    /// When the command that is seen was started.
    base: Duration,
    /// What was last shown.
    end: Duration,
}

/// How far ahead in a recording the answer to a look may be: for so long the watcher itself waits for it.
const ANSWER: Duration = Duration::from_secs(2);

/// A recording that cannot be read on, or events that cannot be written.
enum Stop {
    Fault(Fault),
    Unwritten(io::Error),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Unwritten(error)
    }
}

impl<R: BufRead> Replay<R> {
    fn new(cast: Cast<R>, policy: Policy) -> Self {
        let watcher = Watcher::new(policy.clone());
        Self { cast, ahead: VecDeque::new(), policy, watcher, base: Duration::ZERO, end: Duration::ZERO }
    }

    /// Shows everything.
    fn play(&mut self, told: &mut Told<'_>) -> Result<(), Stop> {
        loop {
            if self.ahead.is_empty() {
                self.ahead.extend(self.cast.next_entry()?);
            }
            if let Some(next) = self.ahead.front() {
                self.end = next.at;
            }
            // What is due before the next event may be answered by it, so that stays where it is until then.
            self.advance(self.end, told)?;
            match self.ahead.pop_front() {
                Some(entry) => self.take(&entry, told)?,
                None => return Ok(()),
            }
        }
    }

    fn take(&mut self, entry: &Entry, told: &mut Told<'_>) -> Result<(), Stop> {
        let observation = match &entry.what {
            What::Output(text) => Observation::Output { stream: Stream::Terminal, bytes: text.as_bytes() },
            What::Input(text) => Observation::Typed(text.as_bytes()),
            What::Resize(size) => {
                self.policy.size = *size;
                Observation::Resized(*size)
            }
            What::Exit => Observation::Exited,
            What::Aside(Aside::Gap(length)) => Observation::Gap(Duration::from_millis(*length)),
            What::Aside(Aside::Extend(by)) => Observation::Told(Order::Extend(Duration::from_millis(*by))),
            What::Aside(Aside::Relaunch) => {
                // The limit on the whole is one for all starts.
                let watched = self.moment(entry.at).since_start();
                self.policy.timeout = self.watcher.policy().timeout;
                self.policy.earlier += watched;
                self.policy.warned = self.watcher.has_warned_of_timeout();
                self.base = entry.at;
                self.watcher = Watcher::new(self.policy.clone());
                return Ok(());
            }
            // Given as the answer when it was asked for.
            What::Aside(Aside::Look(_)) | What::Other => return Ok(()),
        };
        self.observe(self.moment(entry.at), &observation, told)
    }

    /// Lets time pass up to `until`.
    fn advance(&mut self, until: Duration, told: &mut Told<'_>) -> Result<(), Stop> {
        let until = self.moment(until);
        while let Some(deadline) = self.watcher.deadline().filter(|deadline| *deadline <= until) {
            self.observe(deadline, &Observation::Elapsed, told)?;
        }
        Ok(())
    }

    fn observe(&mut self, at: Moment, observation: &Observation<'_>, told: &mut Told<'_>) -> Result<(), Stop> {
        let actions = self.watcher.observe(at, observation);
        self.tell(at, &actions, told)?;
        for action in &actions {
            let answer = match action {
                Action::Look => Observation::Looked(self.recorded_look(at)?),
                // Those that look outside have nothing left to look at.
                Action::Ask => Observation::Answered(Vec::new()),
                _ => continue,
            };
            self.observe(at, &answer, told)?;
        }
        Ok(())
    }

    /// What was found when somebody looked at this time. Nobody can look at processes that are gone: if nobody did
    /// then, the answer is that nothing is known.
    fn recorded_look(&mut self, at: Moment) -> Result<Look, Stop> {
        let until = self.base.saturating_add(at.since_start()).saturating_add(ANSWER);
        let mut index = 0;
        loop {
            if index == self.ahead.len() {
                match self.cast.next_entry()? {
                    Some(entry) => self.ahead.push_back(entry),
                    None => return Ok(Look::default()),
                }
            }
            let entry = &mut self.ahead[index];
            if entry.at > until || entry.what == What::Aside(Aside::Relaunch) {
                return Ok(Look::default());
            }
            if let What::Aside(Aside::Look(look)) = &mut entry.what {
                let look = std::mem::take(look);
                entry.what = What::Other;
                return Ok(look);
            }
            index += 1;
        }
    }

    fn moment(&self, at: Duration) -> Moment {
        Moment::after_start(at.saturating_sub(self.base))
    }

    fn tell(&self, at: Moment, actions: &[Action], told: &mut Told<'_>) -> Result<(), Stop> {
        for action in actions {
            match action {
                Action::Report(event) => told(at + self.base, News::Event(event, at), &self.watcher)?,
                Action::Signal { signal, reason } => {
                    told(at + self.base, News::Signal(*signal, *reason), &self.watcher)?;
                }
                _ => {}
            }
        }
        told(at + self.base, News::Seen, &self.watcher)?;
        Ok(())
    }
}

/// Why a run ends, and with what.
fn because(reason: Reason) -> String {
    let nobody = if reason == Reason::WaitingInput { " if nobody is there to answer" } else { "" };
    format!("{nobody}: {reason}, exit status {}", reason.code())
}

enum Output {
    Json(JsonLines<BufWriter<io::Stdout>>),
    Words { timeline: Timeline<BufWriter<io::Stdout>>, verbose: bool, marks: Option<Marks> },
}

/// The marks of a profile, and which of them are on the screen.
struct Marks {
    /// What each is for, and what it looks for.
    known: Vec<(&'static str, String)>,
    shown: Vec<bool>,
    ever: Vec<bool>,
}

impl Marks {
    fn new(profile: &Profile) -> Self {
        let known: Vec<_> = profile.marks().into_iter().map(|(kind, text)| (kind, text.to_owned())).collect();
        let (shown, ever) = (vec![false; known.len()], vec![false; known.len()]);
        Self { known, shown, ever }
    }

    /// Notes those that have appeared or gone.
    fn look(&mut self, at: Moment, watcher: &Watcher, timeline: &mut Timeline<impl io::Write>) -> io::Result<()> {
        for (index, row) in watcher.sightings().into_iter().enumerate() {
            let (kind, text) = &self.known[index];
            match (row, std::mem::replace(&mut self.shown[index], false)) {
                (Some(row), was) => {
                    (self.shown[index], self.ever[index]) = (true, true);
                    if !was {
                        timeline.note(at, kind, &format!("'{text}' appeared in: {row}"))?;
                    }
                }
                (None, true) => timeline.note(at, kind, &format!("'{text}' disappeared"))?,
                (None, false) => {}
            }
        }
        Ok(())
    }

    fn sum_up(&self, timeline: &mut Timeline<impl io::Write>) -> io::Result<()> {
        for ((kind, text), _) in self.known.iter().zip(&self.ever).filter(|(_, ever)| !**ever) {
            timeline.remark(&format!("never seen: the {kind} '{text}'"))?;
        }
        Ok(())
    }
}

impl Output {
    fn new(json: bool, verbose: bool, marks: Option<Marks>, path: &Path, started: SystemTime) -> Self {
        let out = BufWriter::new(io::stdout());
        if json {
            let run = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            return Self::Json(JsonLines::new(out, run, started));
        }
        Self::Words { timeline: Timeline::new(out), verbose, marks }
    }

    fn tell(&mut self, at: Moment, news: News<'_>, watcher: &Watcher) -> io::Result<()> {
        match (self, news) {
            (Self::Json(json), News::Event(event, _)) => json.write(at, event),
            (Self::Json(json), News::Signal(signal, reason)) => {
                // Nobody is there to be signalled.
                json.write(at, &Event::Signaled { signal, reason, processes: 0, refused: Vec::new() })
            }
            // A kill only insists on what was said before.
            (Self::Json(_), News::Seen) | (Self::Words { .. }, News::Signal(Signal::KILL, _)) => Ok(()),
            (Self::Words { timeline, verbose, .. }, News::Event(event, own)) => {
                timeline.write(at, event)?;
                if *verbose && matches!(event, Event::StateChanged { .. }) {
                    timeline.remark(&watcher.explain(own))?;
                }
                Ok(())
            }
            (Self::Words { timeline, .. }, News::Signal(_, reason)) => {
                timeline.note(at, "ended", &format!("would have been ended here{}", because(reason)))
            }
            (Self::Words { timeline, marks, .. }, News::Seen) => match marks {
                Some(marks) => marks.look(at, watcher, timeline),
                None => Ok(()),
            },
        }
    }

    fn finish(&mut self, end: Moment) -> io::Result<()> {
        match self {
            Self::Json(json) => json.flush(),
            Self::Words { timeline, marks, .. } => {
                if let Some(marks) = marks {
                    marks.sum_up(timeline)?;
                }
                if timeline.is_empty() {
                    timeline.note(end, "active", "until the end of the recording; nothing would have been done")?;
                }
                timeline.flush()
            }
        }
    }
}
