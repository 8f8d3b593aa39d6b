//! Events in, decisions out.

use super::{Action, Moment, Observation, Policy};
use crate::exit::Reason;
use crate::signal::Signal;

/// The pure core: no I/O, no clock, no thread.
#[derive(Debug)]
pub struct Watcher {
    policy: Policy,
    last_output: Moment,
    ending: Option<Step>,
}

/// How far the ending has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Asked at this moment.
    Asked(Moment),
    /// Killed: nothing is left to do.
    Killed,
}

impl Watcher {
    /// A watcher whose run begins at [`Moment::START`].
    pub fn new(policy: Policy) -> Self {
        Self { policy, last_output: Moment::START, ending: None }
    }

    /// Takes in what happened at `now` and says what to do about it.
    pub fn observe(&mut self, now: Moment, observation: &Observation<'_>) -> Vec<Action> {
        match observation {
            Observation::Output { .. } | Observation::Gap(_) => self.last_output = now,
            Observation::Typed(_) | Observation::Resized(_) | Observation::Looked(_) | Observation::Elapsed => {}
        }
        self.decide(now).into_iter().collect()
    }

    /// When to call [`observe`](Self::observe) with [`Observation::Elapsed`] if nothing happens before.
    pub fn deadline(&self) -> Option<Moment> {
        match self.ending {
            None => Some(self.last_output + self.policy.idle?),
            Some(Step::Asked(at)) => Some(at + self.policy.ending.kill_after?),
            Some(Step::Killed) => None,
        }
    }

    fn decide(&mut self, now: Moment) -> Option<Action> {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return None;
        }
        let (signal, step) = match self.ending {
            None => (self.policy.ending.signal, Step::Asked(now)),
            Some(_) => (Signal::KILL, Step::Killed),
        };
        self.ending = Some(step);
        Some(Action::Signal { signal, reason: Reason::IdleTimeout })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::watch::{Ending, Stream};

    fn at(seconds: u64) -> Moment {
        Moment::after_start(Duration::from_secs(seconds))
    }

    fn watcher() -> Watcher {
        Watcher::new(Policy {
            idle: Some(Duration::from_mins(1)),
            ending: Ending { signal: Signal::TERM, kill_after: Some(Duration::from_secs(10)) },
        })
    }

    fn signal(signal: Signal) -> Vec<Action> {
        vec![Action::Signal { signal, reason: Reason::IdleTimeout }]
    }

    #[test]
    fn silence_is_asked_then_killed() {
        let mut watcher = watcher();
        assert_eq!(watcher.observe(at(59), &Observation::Elapsed), []);
        assert_eq!(watcher.deadline(), Some(at(60)));
        assert_eq!(watcher.observe(at(60), &Observation::Elapsed), signal(Signal::TERM));
        assert_eq!(watcher.deadline(), Some(at(70)));
        assert_eq!(watcher.observe(at(70), &Observation::Elapsed), signal(Signal::KILL));
        assert_eq!(watcher.deadline(), None);
    }

    #[test]
    fn output_and_gaps_start_a_fresh_period() {
        let mut watcher = watcher();
        watcher.observe(at(50), &Observation::Output { stream: Stream::Terminal, bytes: b"x" });
        assert_eq!(watcher.deadline(), Some(at(110)));
        watcher.observe(at(100), &Observation::Gap(Duration::from_hours(1)));
        assert_eq!(watcher.deadline(), Some(at(160)));
    }
}
