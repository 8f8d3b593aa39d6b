//! Whether the command is started again, with what, and after how long.

use std::ffi::OsString;
use std::time::Duration;

use super::{Outcome, Status};
use crate::config::{Config, Relaunch};
use crate::exit::Reason;
use crate::report::plain;

/// A run that ends this soon has failed to start.
const AT_ONCE: Duration = Duration::from_secs(5);
/// So many of them in a row, and it is given up.
const FAILURES: u32 = 3;
/// The pause grows up to this.
const LONGEST: Duration = Duration::from_mins(5);

/// The limit on the running time, which is one for all starts.
#[derive(Debug, Clone, Copy)]
pub struct Time {
    /// How long all of them together may run, if that is limited.
    pub limit: Option<Duration>,
    /// How long the earlier ones have, pauses included.
    pub earlier: Duration,
    /// Whether one of them has said that the time is running out: in a pause nobody does.
    pub warned: bool,
}

/// What has happened so far.
#[derive(Debug)]
pub struct Relaunches<'c> {
    policy: &'c Relaunch,
    original: &'c [OsString],
    count: u32,
    failures: u32,
    /// The run that is going on was started with `--relaunch-with`.
    resumed: bool,
    /// It was wanted once more and not done, for this reason.
    gave_up: Option<String>,
}

/// One more start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    /// How often by now.
    pub count: u32,
    /// Why.
    pub why: String,
    /// After this pause.
    pub delay: Duration,
    /// With this.
    pub argv: Vec<OsString>,
}

impl Again {
    /// What is started, in words.
    pub fn command(&self) -> String {
        let words: Vec<String> = self.argv.iter().map(|word| plain(&word.to_string_lossy())).collect();
        match words.as_slice() {
            [shell, dash_c, command] if shell == "sh" && dash_c == "-c" => command.clone(),
            words => words.join(" "),
        }
    }
}

impl<'c> Relaunches<'c> {
    /// Nothing has happened yet.
    pub fn new(config: &'c Config) -> Self {
        Self {
            policy: &config.relaunch,
            original: &config.command,
            count: 0,
            failures: 0,
            resumed: false,
            gave_up: None,
        }
    }

    /// Why the command is not started again although it would have been, not so often.
    pub fn gave_up(&self) -> Option<&str> {
        self.gave_up.as_deref()
    }

    /// What follows from a run that lasted this long; `asked` is whether a step of the ladder wants it, and `left` is what
    /// is left of its time.
    pub fn after(&mut self, outcome: &Outcome, lasted: Duration, asked: bool, left: Option<Duration>) -> Option<Again> {
        let (wanted, why) = match outcome {
            Outcome::Itself(Status::Code(0)) => return None,
            Outcome::Itself(Status::Code(code)) => (self.policy.after_crash, format!("it exited with {code}")),
            Outcome::Itself(Status::Signal(signal)) => (self.policy.after_crash, format!("it was ended by {signal}")),
            Outcome::Ended(reason, _) => (self.policy.after_stuck && reason.is_stuck() || asked, reason.to_string()),
        };
        self.failures = if lasted < AT_ONCE && !is_stuck(outcome) { self.failures + 1 } else { 0 };
        if !wanted {
            return None;
        }
        if self.failures >= FAILURES {
            let at_once = AT_ONCE.as_secs();
            self.gave_up = Some(format!("{why}, within {at_once} seconds for the {FAILURES}rd time in a row"));
            return None;
        }
        if self.count >= self.policy.most {
            self.gave_up = Some(format!("{why}, after {} of {} relaunches", self.count, self.policy.most));
            return None;
        }
        let delay = self.policy.delay.saturating_mul(1 << self.count.min(16)).min(LONGEST.max(self.policy.delay));
        if left.is_some_and(|left| left <= delay) {
            self.gave_up = Some(format!("{why}, and its time would be over before a relaunch"));
            return None;
        }
        // A resume that fails at once has nothing to resume: start afresh.
        let fresh = self.resumed && self.failures > 0;
        self.resumed = self.policy.with.is_some() && !fresh;
        let argv = match (&self.policy.with, fresh) {
            (Some(with), false) => vec!["sh".into(), "-c".into(), with.into()],
            _ => self.original.to_vec(),
        };
        self.count += 1;
        Some(Again { count: self.count, why, delay, argv })
    }
}

fn is_stuck(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Ended(reason, _) if *reason != Reason::Error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Signal;

    const LONG: Duration = Duration::from_mins(10);

    fn policy(crash: bool, stuck: bool, with: Option<&str>) -> Relaunch {
        Relaunch {
            after_crash: crash,
            after_stuck: stuck,
            with: with.map(ToOwned::to_owned),
            most: 5,
            delay: Duration::from_secs(1),
        }
    }

    fn relaunches<'c>(policy: &'c Relaunch, original: &'c [OsString]) -> Relaunches<'c> {
        Relaunches { policy, original, count: 0, failures: 0, resumed: false, gave_up: None }
    }

    const CRASH: Outcome = Outcome::Itself(Status::Code(1));
    const STUCK: Outcome = Outcome::Ended(Reason::IdleTimeout, Some(Status::Signal(Signal::TERM)));

    #[test]
    fn a_success_is_never_started_again() {
        let (policy, original) = (policy(true, true, None), ["x".into()]);
        assert_eq!(relaunches(&policy, &original).after(&Outcome::Itself(Status::Code(0)), LONG, false, None), None);
    }

    #[test]
    fn each_kind_of_end_needs_its_own_word() {
        let original = ["x".into()];
        for (crash, stuck) in [(true, false), (false, true)] {
            let policy = policy(crash, stuck, None);
            assert_eq!(relaunches(&policy, &original).after(&CRASH, LONG, false, None).is_some(), crash);
            assert_eq!(relaunches(&policy, &original).after(&STUCK, LONG, false, None).is_some(), stuck);
            assert!(relaunches(&policy, &original).after(&STUCK, LONG, true, None).is_some());
        }
        let timeout = Outcome::Ended(Reason::Timeout, Some(Status::Code(0)));
        assert_eq!(relaunches(&policy(true, true, None), &original).after(&timeout, LONG, false, None), None);
    }

    #[test]
    fn the_pause_grows_and_the_number_is_limited() {
        let (policy, original) = (policy(true, false, None), ["x".into()]);
        let mut relaunches = relaunches(&policy, &original);
        let delays: Vec<u64> = std::iter::from_fn(|| relaunches.after(&CRASH, LONG, false, None))
            .map(|again| again.delay.as_secs())
            .collect();
        assert_eq!(delays, [1, 2, 4, 8, 16]);
        assert_eq!(relaunches.gave_up(), Some("it exited with 1, after 5 of 5 relaunches"));
    }

    #[test]
    fn three_deaths_within_seconds_stop_it() {
        let (policy, original) = (policy(true, false, None), ["x".into()]);
        let mut relaunches = relaunches(&policy, &original);
        assert!(relaunches.after(&CRASH, Duration::from_secs(1), false, None).is_some());
        assert!(relaunches.after(&CRASH, Duration::from_secs(1), false, None).is_some());
        assert_eq!(relaunches.after(&CRASH, Duration::from_secs(1), false, None), None);
        assert_eq!(relaunches.gave_up(), Some("it exited with 1, within 5 seconds for the 3rd time in a row"));
    }

    #[test]
    fn a_resume_that_fails_at_once_falls_back_to_a_fresh_start() {
        let (policy, original) = (policy(true, true, Some("x --continue")), ["x".into()]);
        let mut relaunches = relaunches(&policy, &original);
        assert_eq!(relaunches.after(&STUCK, LONG, false, None).unwrap().command(), "x --continue");
        assert_eq!(relaunches.after(&CRASH, Duration::from_secs(1), false, None).unwrap().command(), "x");
        assert_eq!(relaunches.after(&STUCK, LONG, false, None).unwrap().command(), "x --continue");
    }
}
