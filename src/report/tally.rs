//! What a run comes to, added up as it goes: little, however long it lasts.

use std::collections::BTreeMap;
use std::time::Duration;

use super::history::PastRun;
use super::short::{cut, cut_all};
use super::timeline::plain;
use crate::exit::Reason;
use crate::span::milliseconds;
use crate::watch::{Event, Moment, State};

/// How many parts of a run are told apart.
const PARTS: usize = 32;
/// How much of a command line, and of a single word, is kept.
const MOST_WORDS: usize = 2000;
const LONGEST_WORD: usize = 300;

/// The sums of one run, over all its relaunches.
#[derive(Debug, Default)]
pub struct Tally {
    command: Vec<String>,
    pid: i32,
    state: State,
    /// Since when.
    since: Duration,
    states: BTreeMap<&'static str, Duration>,
    nudges: u32,
    signals: u32,
    deferrals: u32,
    relaunches: u32,
    activity: Activity,
    /// When the command that runs now was started.
    base: Duration,
    /// The last progress that was counted.
    progress: Moment,
    ended: Option<Ended>,
}

#[derive(Debug, Clone)]
struct Ended {
    at: Duration,
    code: Option<u8>,
    reason: &'static str,
    child_status: Option<u8>,
    child_signal: Option<String>,
}

impl Tally {
    /// Adds an event of the command that has run for `at`.
    pub fn event(&mut self, at: Moment, event: &Event) {
        let at = self.base.saturating_add(at.since_start());
        match event {
            Event::Started { command, pid } => {
                if self.command.is_empty() {
                    self.command = cut_all(command.iter().map(|word| plain(word)), MOST_WORDS, LONGEST_WORD);
                }
                self.pid = *pid;
                (self.progress, self.ended) = (Moment::START, None);
                self.enter(at, State::Active);
            }
            Event::StateChanged { to, .. } => self.enter(at, *to),
            Event::Nudged { .. } => self.nudges = self.nudges.saturating_add(1),
            Event::Signaled { .. } => self.signals = self.signals.saturating_add(1),
            Event::GuardDeferred { .. } => self.deferrals = self.deferrals.saturating_add(1),
            Event::Ended { code, reason, child_code, child_signal } => {
                self.enter(at, State::Exited);
                self.ended = Some(Ended {
                    at,
                    code: *code,
                    reason: reason.map_or("exited", Reason::name),
                    child_status: *child_code,
                    child_signal: child_signal.map(|signal| signal.to_string()),
                });
            }
            _ => {}
        }
    }

    /// So much time has passed since the command was started, and it is started again.
    pub fn shift(&mut self, by: Duration) {
        self.relaunches = self.relaunches.saturating_add(1);
        self.base = self.base.saturating_add(by);
        self.since = self.base;
    }

    /// The last progress was at this moment.
    pub fn progress(&mut self, at: Moment) {
        if at > self.progress {
            self.progress = at;
            self.activity.count(self.base.saturating_add(at.since_start()));
        }
    }

    /// What it came to; nothing if it never ended.
    pub fn finish(&self, run: String, at: String, folder: &str) -> Option<PastRun> {
        let ended = self.ended.clone()?;
        let (activity, span) = self.activity.clone().over(ended.at);
        let states = self.states.iter().filter(|(_, time)| !time.is_zero());
        Some(PastRun {
            v: 1,
            run,
            at,
            elapsed: milliseconds(ended.at),
            command: self.command.clone(),
            cwd: cut(&plain(folder), MOST_WORDS),
            pid: self.pid,
            code: ended.code,
            reason: ended.reason.to_owned(),
            child_status: ended.child_status,
            child_signal: ended.child_signal,
            states: states.map(|(name, time)| ((*name).to_owned(), milliseconds(*time))).collect(),
            nudges: self.nudges,
            signals: self.signals,
            deferrals: self.deferrals,
            relaunches: self.relaunches,
            activity,
            activity_span: milliseconds(span),
        })
    }

    fn enter(&mut self, at: Duration, state: State) {
        if self.state != State::Exited {
            *self.states.entry(self.state.name()).or_default() += at.saturating_sub(self.since);
        }
        (self.state, self.since) = (state, at);
    }
}

/// How much happened in each part of a run. When the parts are used up, two become one.
#[derive(Debug, Clone)]
struct Activity {
    span: Duration,
    parts: [u32; PARTS],
}

impl Default for Activity {
    fn default() -> Self {
        Self { span: Duration::from_secs(1), parts: [0; PARTS] }
    }
}

impl Activity {
    fn index(&self, at: Duration) -> usize {
        usize::try_from(at.as_millis() / self.span.as_millis().max(1)).unwrap_or(usize::MAX)
    }

    fn count(&mut self, at: Duration) {
        self.stretch(at);
        let part = &mut self.parts[self.index(at)];
        *part = part.saturating_add(1);
    }

    /// Makes the parts longer until they reach to `at`.
    fn stretch(&mut self, at: Duration) {
        while self.index(at) >= PARTS {
            for part in 0..PARTS {
                let two = self.parts.get(2 * part..2 * part + 2).unwrap_or(&[]);
                self.parts[part] = two.iter().fold(0, |sum, count| sum.saturating_add(*count));
            }
            self.span = self.span.saturating_mul(2);
        }
    }

    /// The parts of a run that lasted so long.
    fn over(mut self, lasted: Duration) -> (Vec<u32>, Duration) {
        self.stretch(lasted);
        (self.parts[..=self.index(lasted)].to_vec(), self.span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::after_start(Duration::from_secs(seconds))
    }

    fn changed(to: State) -> Event {
        Event::StateChanged { from: State::Active, to, evidence: String::new() }
    }

    #[test]
    fn times_and_counts_add_up_over_a_relaunch() {
        let mut tally = Tally::default();
        let started = Event::Started { command: vec!["a\u{1b}b".to_owned(), "x".repeat(5000)], pid: 7 };
        let ended =
            Event::Ended { code: Some(121), reason: Some(Reason::IdleTimeout), child_code: None, child_signal: None };
        tally.event(Moment::START, &started);
        tally.progress(at(1));
        tally.event(at(4), &changed(State::Quiet));
        tally.event(at(10), &ended);
        let (why, command) = (String::new(), String::new());
        tally.event(at(10), &Event::Relaunched { count: 1, why, delay: Duration::from_secs(5), command });
        tally.shift(Duration::from_secs(15));
        tally.event(Moment::START, &started);
        tally.progress(at(2));
        tally.progress(at(2));
        tally.event(at(3), &ended);
        let past = tally.finish("r".to_owned(), String::new(), "/").unwrap();
        assert_eq!((past.elapsed, past.relaunches), (18_000, 1));
        assert_eq!(past.states, BTreeMap::from([("active".to_owned(), 7000), ("quiet".to_owned(), 6000)]));
        assert_eq!(past.command[0], "ab");
        assert!(past.command[1].len() < 400 && past.command[1].ends_with('…'));
        assert_eq!(past.activity.len(), 19);
        assert_eq!((past.activity[1], past.activity[17], past.activity.iter().sum::<u32>()), (1, 1, 2));
    }

    #[test]
    fn however_long_it_lasts_the_parts_are_as_many() {
        let mut activity = Activity::default();
        for second in 0..100_000 {
            activity.count(Duration::from_secs(second));
        }
        let (counts, span) = activity.over(Duration::from_secs(100_000));
        assert_eq!((counts.len(), span), (25, Duration::from_secs(4096)));
        assert_eq!(counts.iter().sum::<u32>(), 100_000);
        // Also where nothing happened in the end.
        let mut activity = Activity::default();
        activity.count(Duration::ZERO);
        let (counts, _) = activity.over(Duration::from_secs(1 << 40));
        assert_eq!((counts.len() <= PARTS, counts[0]), (true, 1));
    }
}
