//! Guards speak for a silent command: when they are asked, what their word is worth, and when it ends.
//!
//! Any guard can defer. The cap is looked at before the guards and cannot be argued with. When a guard that has
//! deferred lets go, one full idle period of grace begins, so that a command that has just finished its silent work
//! gets the time to say so. One that still measures has not deferred: it is asked again soon, and what it says then
//! counts. None of this touches the clock of silence itself.

use std::time::Duration;

use super::{Answer, Guard, Moment, Policy, SHORTEST, Word};

/// How often guards that speak are asked again, within these bounds.
const OFTEN: Duration = Duration::from_secs(1);
const SELDOM: Duration = Duration::from_mins(1);
/// Guards that have not answered in this time have nothing to say.
const ANSWER: Duration = Duration::from_secs(15);

/// The limits that guards are held to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Silence that is worth asking about.
    pub(super) idle: Duration,
    /// Silence that no guard can defer; none: a guard can defer for ever.
    pub(super) cap: Option<Duration>,
    /// When the silence began.
    pub(super) since: Moment,
}

impl Bounds {
    /// Those of a command that has `printed` something or not.
    pub(super) fn new(policy: &Policy, printed: bool, since: Moment) -> Self {
        Self { idle: policy.silence(printed).unwrap_or_default(), cap: policy.max_idle, since }
    }

    /// When the cap is reached.
    fn capped(self) -> Option<Moment> {
        self.cap.map(|cap| self.since + cap.max(self.idle))
    }
}

/// How far the asking has come in one episode of silence.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Guarding {
    /// Nobody was asked yet.
    #[default]
    Fresh,
    /// Asked at this moment, the answer is on its way; whether a guard had deferred before.
    Asked(Moment, bool),
    /// No guard spoke, but one still measures; to be asked again at this moment, and whether one had deferred before.
    Unsure(Moment, bool),
    /// A guard spoke; to be asked again at this moment.
    Deferred(Moment),
    /// The guard that spoke let go; grace until this moment.
    Grace(Moment),
    /// Nobody speaks for the command.
    Open,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ruling {
    /// Ask the guards.
    Ask,
    /// Wait: for an answer, for the next asking, for the end of the grace.
    Wait,
    /// Nothing stands in the way.
    Go,
}

/// A guard that spoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Deferral {
    pub(super) guard: Guard,
    pub(super) reason: String,
    /// When it is asked again.
    pub(super) recheck: Duration,
    /// How long it can still defer; none: for ever.
    pub(super) left: Option<Duration>,
}

impl Guarding {
    /// Whether the ladder may go on.
    pub(super) fn rule(&mut self, now: Moment, bounds: Bounds, any: bool) -> Ruling {
        if !any || bounds.capped().is_some_and(|capped| now >= capped) {
            *self = Self::Open;
        }
        match *self {
            Self::Open => Ruling::Go,
            Self::Fresh => {
                *self = Self::Asked(now, false);
                Ruling::Ask
            }
            Self::Unsure(again, deferred) if now >= again => {
                *self = Self::Asked(now, deferred);
                Ruling::Ask
            }
            // Asked once more at the end of the grace: it may have begun to work again.
            Self::Deferred(again) | Self::Grace(again) if now >= again => {
                *self = Self::Asked(now, matches!(self, Self::Deferred(_)));
                Ruling::Ask
            }
            Self::Asked(at, deferred) if now.since(at) >= ANSWER => {
                self.settle(now, bounds, deferred);
                // What follows from that follows now: in full silence nobody comes back to ask.
                self.rule(now, bounds, any)
            }
            Self::Asked(..) | Self::Unsure(..) | Self::Deferred(_) | Self::Grace(_) => Ruling::Wait,
        }
    }

    /// Takes the answers in. Gives the deferral, if a guard spoke.
    pub(super) fn answered(&mut self, now: Moment, bounds: Bounds, answers: &[Answer]) -> Option<Deferral> {
        let Self::Asked(_, deferred) = *self else { return None };
        let spoke = answers.iter().find_map(|answer| match &answer.word {
            Word::Speaks(reason) => Some((&answer.guard, reason)),
            Word::Nothing | Word::Measuring => None,
        });
        let Some((guard, reason)) = spoke else {
            if answers.iter().any(|answer| answer.word == Word::Measuring) {
                *self = Self::Unsure(now + SHORTEST, deferred);
            } else {
                self.settle(now, bounds, deferred);
            }
            return None;
        };
        let capped = bounds.capped();
        let mut again = now + (bounds.idle / 4).clamp(OFTEN, SELDOM);
        if let Some(capped) = capped {
            again = again.min(capped);
        }
        *self = Self::Deferred(again);
        Some(Deferral {
            guard: guard.clone(),
            reason: reason.clone(),
            recheck: again.since(now),
            left: capped.map(|capped| capped.since(now)),
        })
    }

    /// Nobody spoke.
    fn settle(&mut self, now: Moment, bounds: Bounds, deferred: bool) {
        let grace = now + bounds.idle;
        *self =
            if deferred { Self::Grace(bounds.capped().map_or(grace, |capped| grace.min(capped))) } else { Self::Open };
    }

    /// When to come back if nothing happens before.
    pub(super) fn deadline(&self, bounds: Bounds) -> Option<Moment> {
        let next = match *self {
            Self::Fresh | Self::Open => None,
            Self::Asked(at, _) => Some(at + ANSWER),
            Self::Unsure(again, _) | Self::Deferred(again) | Self::Grace(again) => Some(again),
        };
        next.map(|next| bounds.capped().map_or(next, |capped| next.min(capped)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::after_start(Duration::from_secs(seconds))
    }

    const BOUNDS: Bounds =
        Bounds { idle: Duration::from_mins(5), cap: Some(Duration::from_mins(30)), since: Moment::START };

    fn speaks(reason: Option<&str>) -> Vec<Answer> {
        vec![Answer { guard: Guard::Cpu, word: reason.map(ToOwned::to_owned).into() }]
    }

    #[test]
    fn nobody_who_speaks_lets_the_ladder_go_at_once() {
        let mut guarding = Guarding::default();
        assert_eq!(guarding.rule(at(300), BOUNDS, true), Ruling::Ask);
        assert_eq!(guarding.rule(at(300), BOUNDS, true), Ruling::Wait);
        assert_eq!(guarding.answered(at(300), BOUNDS, &speaks(None)), None);
        assert_eq!(guarding.rule(at(300), BOUNDS, true), Ruling::Go);
        assert_eq!(Guarding::default().rule(at(300), BOUNDS, false), Ruling::Go);
    }

    #[test]
    fn a_deferral_says_when_it_is_checked_again_and_what_the_cap_leaves() {
        let mut guarding = Guarding::default();
        guarding.rule(at(300), BOUNDS, true);
        let deferral = guarding.answered(at(300), BOUNDS, &speaks(Some("busy"))).unwrap();
        assert_eq!(deferral.recheck, Duration::from_mins(1));
        assert_eq!(deferral.left, Some(Duration::from_mins(25)));
        assert_eq!(guarding.deadline(BOUNDS), Some(at(360)));
        assert_eq!(guarding.rule(at(359), BOUNDS, true), Ruling::Wait);
        assert_eq!(guarding.rule(at(360), BOUNDS, true), Ruling::Ask);
    }

    #[test]
    fn a_guard_that_lets_go_leaves_one_idle_period_of_grace() {
        let mut guarding = Guarding::default();
        guarding.rule(at(300), BOUNDS, true);
        guarding.answered(at(300), BOUNDS, &speaks(Some("busy")));
        guarding.rule(at(360), BOUNDS, true);
        guarding.answered(at(360), BOUNDS, &speaks(None));
        assert_eq!(guarding, Guarding::Grace(at(660)));
        assert_eq!(guarding.rule(at(659), BOUNDS, true), Ruling::Wait);
        assert_eq!(guarding.rule(at(660), BOUNDS, true), Ruling::Ask);
        guarding.answered(at(660), BOUNDS, &speaks(None));
        assert_eq!(guarding.rule(at(660), BOUNDS, true), Ruling::Go);
    }

    #[test]
    fn a_guard_that_still_measures_is_asked_again_soon_and_has_not_deferred() {
        let measures = [Answer { guard: Guard::Cpu, word: Word::Measuring }];
        for deferred in [false, true] {
            let mut guarding = if deferred { Guarding::Deferred(at(300)) } else { Guarding::default() };
            assert_eq!(guarding.rule(at(300), BOUNDS, true), Ruling::Ask);
            assert_eq!(guarding.answered(at(300), BOUNDS, &measures), None);
            assert_eq!(guarding.rule(at(300), BOUNDS, true), Ruling::Wait);
            let again = guarding.deadline(BOUNDS).unwrap();
            assert_eq!(again, at(300) + SHORTEST);
            assert_eq!(guarding.rule(again, BOUNDS, true), Ruling::Ask);
            guarding.answered(again, BOUNDS, &speaks(None));
            // Grace is for the one that let go.
            let then = if deferred { Guarding::Grace(again + BOUNDS.idle) } else { Guarding::Open };
            assert_eq!(guarding, then);
        }
    }

    #[test]
    fn the_cap_is_not_argued_with() {
        let mut guarding = Guarding::default();
        let mut now = 300;
        while guarding.rule(at(now), BOUNDS, true) != Ruling::Go {
            guarding.answered(at(now), BOUNDS, &speaks(Some("busy")));
            now += 1;
            assert!(now <= 1800);
        }
        assert_eq!(now, 1800);
    }

    #[test]
    fn a_guard_that_never_answers_has_nothing_to_say() {
        let mut guarding = Guarding::default();
        guarding.rule(at(300), BOUNDS, true);
        assert_eq!(guarding.deadline(BOUNDS), Some(at(315)));
        assert_eq!(guarding.rule(at(314), BOUNDS, true), Ruling::Wait);
        assert_eq!(guarding.rule(at(315), BOUNDS, true), Ruling::Go);
    }

    #[test]
    fn a_guard_that_spoke_and_no_longer_answers_has_let_go() {
        let mut guarding = Guarding::default();
        guarding.rule(at(300), BOUNDS, true);
        guarding.answered(at(300), BOUNDS, &speaks(Some("busy")));
        assert_eq!(guarding.rule(at(360), BOUNDS, true), Ruling::Ask);
        assert_eq!(guarding.rule(at(375), BOUNDS, true), Ruling::Wait);
        assert_eq!(guarding.deadline(BOUNDS), Some(at(675)));
    }
}
