//! What happened in a run, kept small: events with their times, and how much there was to see when.

use std::time::{Duration, SystemTime};

use crate::watch::{Event, Moment, State};

/// So many events are kept from the beginning, and so many from the end.
const FIRST: usize = 60;
const LAST: usize = 240;

/// Activity is kept in so many portions at most; when they are full, two become one.
const PORTIONS: usize = 240;
/// The length of a portion at first.
const SHORTEST: Duration = Duration::from_millis(250);

/// The record of a run, relaunches included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chronicle {
    began: SystemTime,
    /// When the launch that is going on began, in time since the beginning.
    launched: Duration,
    launches: u32,
    /// The latest time that was told.
    latest: Duration,
    entries: Vec<Entry>,
    dropped: usize,
    portion: Duration,
    activity: Vec<Portion>,
}

/// An event and when it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The time of day.
    pub when: SystemTime,
    /// The time since the beginning, in which a run that was stopped stands still.
    pub elapsed: Duration,
    /// What happened.
    pub event: Event,
}

/// What there was to see in a portion of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Portion {
    /// Bytes that were printed.
    pub bytes: u64,
    /// Something counted as progress.
    pub progress: bool,
}

/// A state and how long it lasted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Band {
    /// The state.
    pub state: State,
    /// From when, since the beginning.
    pub from: Duration,
    /// Until when.
    pub to: Duration,
}

impl Chronicle {
    /// A run that begins now.
    pub const fn new(began: SystemTime) -> Self {
        Self {
            began,
            launched: Duration::ZERO,
            launches: 0,
            latest: Duration::ZERO,
            entries: Vec::new(),
            dropped: 0,
            portion: SHORTEST,
            activity: Vec::new(),
        }
    }

    /// Takes in an event of the launch that has gone on for `at`. The progress of every half minute is not kept.
    pub fn event(&mut self, when: SystemTime, at: Moment, event: &Event) {
        if matches!(event, Event::Started { .. }) {
            self.launches += 1;
        }
        if matches!(event, Event::Progress { .. }) {
            return;
        }
        let elapsed = self.elapsed(at);
        self.latest = self.latest.max(elapsed);
        self.entries.push(Entry { when, elapsed, event: event.clone() });
        if self.entries.len() > FIRST + LAST {
            self.entries.remove(FIRST);
            self.dropped += 1;
        }
    }

    /// So much time has passed since the command was started, and it is started again: each launch has a clock of its own.
    pub fn shift(&mut self, by: Duration) {
        self.launched = self.launched.saturating_add(by).max(self.latest);
    }

    /// Takes in that so many bytes were printed by now, and when something last counted as progress.
    pub fn seen(&mut self, at: Moment, bytes: u64, progress: Moment) {
        self.latest = self.latest.max(self.elapsed(at));
        if bytes > 0 {
            self.portion_at(at).bytes += bytes;
        }
        if progress > Moment::START {
            self.portion_at(progress).progress = true;
        }
    }

    /// How long the run had gone on when the launch that goes on had for `at`.
    pub fn elapsed(&self, at: Moment) -> Duration {
        self.launched.saturating_add(at.since_start())
    }

    fn portion_at(&mut self, at: Moment) -> &mut Portion {
        let elapsed = self.elapsed(at);
        loop {
            let index = usize::try_from(elapsed.as_nanos() / self.portion.as_nanos()).unwrap_or(usize::MAX);
            if index < PORTIONS {
                if self.activity.len() <= index {
                    self.activity.resize(index + 1, Portion::default());
                }
                return &mut self.activity[index];
            }
            let both = |pair: &[Portion]| Portion {
                bytes: pair.iter().map(|portion| portion.bytes).sum(),
                progress: pair.iter().any(|portion| portion.progress),
            };
            self.activity = self.activity.chunks(2).map(both).collect();
            self.portion = self.portion.saturating_mul(2);
        }
    }

    /// When it began.
    pub const fn began(&self) -> SystemTime {
        self.began
    }

    /// How long it has gone on.
    pub const fn length(&self) -> Duration {
        self.latest
    }

    /// The events that were kept, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many events were not kept, and before which of those that were.
    pub const fn dropped(&self) -> (usize, usize) {
        (self.dropped, FIRST)
    }

    /// How long a portion of the activity is, and all of them.
    pub fn activity(&self) -> (Duration, &[Portion]) {
        (self.portion, &self.activity)
    }

    /// How often the command was started.
    pub const fn launches(&self) -> u32 {
        self.launches
    }

    /// The states one after the other. Between two launches there is none.
    pub fn bands(&self) -> Vec<Band> {
        let mut bands: Vec<Band> = Vec::new();
        let mut now: Option<(State, Duration)> = None;
        for entry in &self.entries {
            let next = match &entry.event {
                Event::Started { .. } => Some(State::Active),
                Event::StateChanged { to: State::Exited, .. } | Event::Ended { .. } => None,
                Event::StateChanged { to, .. } => Some(*to),
                _ => continue,
            };
            if let Some((state, from)) = now {
                bands.push(Band { state, from, to: entry.elapsed });
            }
            now = next.map(|state| (state, entry.elapsed));
        }
        if let Some((state, from)) = now {
            bands.push(Band { state, from, to: self.latest });
        }
        bands.retain(|band| band.from < band.to);
        bands
    }

    /// What was last found wrong in the last launch, if anything was and still is: when, what and why. With `ended_for_it`
    /// what came after does not matter: a command may well print something when it is told to end.
    pub fn verdict(&self, ended_for_it: bool) -> Option<(&Entry, State, &str)> {
        self.entries.iter().rev().find_map(|entry| match &entry.event {
            Event::Started { .. } => Some(None),
            Event::StateChanged { to: State::Exited, .. } => None,
            Event::StateChanged { to, .. } if ended_for_it && !is_wrong(*to) => None,
            Event::StateChanged { to, evidence, .. } => Some(is_wrong(*to).then_some((entry, *to, evidence.as_str()))),
            _ => None,
        })?
    }
}

/// Whether a run in this state may be ended for it.
pub const fn is_wrong(state: State) -> bool {
    matches!(state, State::Waiting | State::Stalled | State::Looping | State::Overtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::after_start(Duration::from_secs(seconds))
    }

    fn day(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn started() -> Event {
        Event::Started { command: vec!["x".to_owned()], pid: 1 }
    }

    fn state(from: State, to: State) -> Event {
        Event::StateChanged { from, to, evidence: format!("because {to}") }
    }

    #[test]
    fn a_long_run_takes_no_more_room_than_a_short_one() {
        let mut chronicle = Chronicle::new(day(0));
        chronicle.event(day(0), at(0), &started());
        for second in 1..100_000 {
            chronicle.seen(at(second), 10, at(second - 1));
            chronicle.event(day(second), at(second), &Event::ForceCompleted);
        }
        assert_eq!(chronicle.entries().len(), FIRST + LAST);
        assert_eq!(chronicle.dropped(), (100_000 - FIRST - LAST, FIRST));
        assert_eq!(chronicle.entries()[0].event, started());
        assert_eq!(chronicle.entries().last().unwrap().elapsed, Duration::from_secs(99_999));
        let (length, portions) = chronicle.activity();
        assert!(portions.len() <= PORTIONS && length.as_secs_f64() * 240.0 >= 99_999.0);
        assert_eq!(portions.iter().map(|portion| portion.bytes).sum::<u64>(), 999_990);
    }

    #[test]
    fn states_are_bands_and_a_second_launch_follows_the_first() {
        let mut chronicle = Chronicle::new(day(100));
        chronicle.event(day(100), at(0), &started());
        chronicle.event(day(110), at(10), &state(State::Active, State::Stalled));
        chronicle.event(day(115), at(15), &state(State::Stalled, State::Exited));
        assert_eq!(
            chronicle.verdict(false).map(|(_, state, why)| (state, why)),
            Some((State::Stalled, "because stalled"))
        );
        // Whatever the clocks of the day have done since.
        chronicle.shift(Duration::from_secs(20));
        chronicle.event(day(5_000_000), at(0), &started());
        assert_eq!(chronicle.verdict(true), None);
        chronicle.event(day(125), at(5), &state(State::Active, State::Looping));
        chronicle.seen(at(8), 1, at(0));
        let seconds: Vec<(State, u64, u64)> =
            chronicle.bands().iter().map(|band| (band.state, band.from.as_secs(), band.to.as_secs())).collect();
        assert_eq!(
            seconds,
            [(State::Active, 0, 10), (State::Stalled, 10, 15), (State::Active, 20, 25), (State::Looping, 25, 28),]
        );
        assert_eq!(chronicle.launches(), 2);
    }

    #[test]
    fn what_got_well_again_is_no_verdict_unless_it_was_ended_for_it() {
        let mut chronicle = Chronicle::new(day(0));
        chronicle.event(day(0), at(0), &started());
        chronicle.event(day(9), at(9), &state(State::Active, State::Stalled));
        chronicle.event(day(12), at(12), &state(State::Stalled, State::Active));
        assert_eq!(chronicle.verdict(false), None);
        assert_eq!(chronicle.verdict(true).map(|(_, state, _)| state), Some(State::Stalled));
    }
}
