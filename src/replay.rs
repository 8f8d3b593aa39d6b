//! `idlewatch replay`: what would have happened. The same detectors, recorded time.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::cast::{Cast, Entry, Fault, What};
use crate::cli::{ReplayCli, Typed};
use crate::detection;
use crate::error::Error;
use crate::layers;
use crate::report::{JsonLines, Timeline};
use crate::watch::{Action, Event, Look, Moment, Observation, Policy, Stream, Watcher};

/// Replays a recording and prints what was found.
pub fn run(typed: Typed<ReplayCli>) -> Result<(), Error> {
    let path = &typed.cli.file.clone();
    let named = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let file = File::open(path).map_err(|error| Error::usage(named(&error)))?;
    let faulty = |fault: Fault| Error::usage(named(&format!("line {}: {}", fault.line, fault.reason)));
    let mut cast = Cast::open(BufReader::with_capacity(1 << 16, file)).map_err(faulty)?;
    let command = cast.header().command.clone().unwrap_or_default();
    let resolved = layers::resolve(typed, [command.as_str()])?;
    let (profile, cli) = (resolved.profile(), resolved.typed.cli);
    let policy = Policy { size: cast.header().size, ..detection::policy(cli.limits, cli.detect, profile) };
    let started = SystemTime::UNIX_EPOCH + Duration::from_secs(cast.header().timestamp.unwrap_or(0));
    let mut output = Output::new(cli.json, cli.verbose, path, started);
    let mut replay = Replay { watcher: Watcher::new(policy), end: Moment::START };
    let mut told = |at: Moment, event: &Event, watcher: &Watcher| output.tell(at, event, watcher);
    let result = loop {
        match cast.next_entry().map_err(faulty)? {
            Some(entry) => match replay.take(&entry, &mut told) {
                Ok(()) => {}
                Err(error) => break Err(error),
            },
            None => break replay.advance(replay.end, &mut told),
        }
    };
    match result.and_then(|()| output.flush()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Error::internal(format!("cannot write the events: {error}"))),
        Ok(()) => Ok(()),
    }
}

type Told<'t> = dyn FnMut(Moment, &Event, &Watcher) -> io::Result<()> + 't;

/// A watcher that is shown a recording.
struct Replay {
    watcher: Watcher,
    end: Moment,
}

impl Replay {
    fn take(&mut self, entry: &Entry, told: &mut Told<'_>) -> io::Result<()> {
        let at = Moment::after_start(entry.at);
        self.end = at;
        self.advance(at, told)?;
        let observation = match &entry.what {
            What::Output(text) => Observation::Output { stream: Stream::Terminal, bytes: text.as_bytes() },
            What::Input(text) => Observation::Typed(text.as_bytes()),
            What::Resize(size) => Observation::Resized(*size),
            What::Exit => Observation::Exited,
            What::Other => return Ok(()),
        };
        self.observe(at, &observation, told)
    }

    /// Lets time pass up to `until`.
    fn advance(&mut self, until: Moment, told: &mut Told<'_>) -> io::Result<()> {
        while let Some(deadline) = self.watcher.deadline().filter(|deadline| *deadline <= until) {
            self.observe(deadline, &Observation::Elapsed, told)?;
        }
        Ok(())
    }

    fn observe(&mut self, at: Moment, observation: &Observation<'_>, told: &mut Told<'_>) -> io::Result<()> {
        let mut actions = self.watcher.observe(at, observation);
        // Nobody can look at processes that are gone: the answer is that nothing is known.
        while actions.contains(&Action::Look) {
            self.tell(at, &actions, told)?;
            actions = self.watcher.observe(at, &Observation::Looked(Look::default()));
        }
        self.tell(at, &actions, told)
    }

    fn tell(&self, at: Moment, actions: &[Action], told: &mut Told<'_>) -> io::Result<()> {
        actions.iter().try_for_each(|action| match action {
            Action::Report(event) => told(at, event, &self.watcher),
            _ => Ok(()),
        })
    }
}

enum Output {
    Json(JsonLines<BufWriter<io::Stdout>>),
    Words { timeline: Timeline<BufWriter<io::Stdout>>, verbose: bool },
}

impl Output {
    fn new(json: bool, verbose: bool, path: &Path, started: SystemTime) -> Self {
        let out = BufWriter::new(io::stdout());
        if json {
            let run = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            return Self::Json(JsonLines::new(out, run, started));
        }
        Self::Words { timeline: Timeline::new(out), verbose }
    }

    fn tell(&mut self, at: Moment, event: &Event, watcher: &Watcher) -> io::Result<()> {
        match self {
            Self::Json(json) => json.write(at, event),
            Self::Words { timeline, verbose } => {
                timeline.write(at, event)?;
                if *verbose {
                    timeline.remark(&watcher.explain(at))?;
                }
                Ok(())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Json(json) => json.flush(),
            Self::Words { timeline, .. } => timeline.flush(),
        }
    }
}
