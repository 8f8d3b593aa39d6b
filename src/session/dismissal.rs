//! Whether the command has ended because somebody told it to: by a key, a signal, a hangup. Then it is not started again.

use std::time::Duration;

use crate::signal::Signal;
use crate::watch::Moment;

/// Who ends this soon after having been interrupted has ended because of it.
const SOON: Duration = Duration::from_secs(30);
const EVER: Moment = Moment::after_start(Duration::MAX);

/// What the command was told.
#[derive(Debug, Default)]
pub struct Dismissal {
    /// If it ends before this, that is why.
    until: Option<Moment>,
}

impl Dismissal {
    /// Somebody has sent this signal, which usually ends a process. Not everybody who interrupts one, or hangs up on a
    /// service to have it read its settings anew, means that: it is taken so only if the end comes soon.
    pub fn told(&mut self, signal: Signal, now: Moment) {
        let may_go_on = matches!(signal, Signal::INT | Signal::QUIT | Signal::HUP);
        self.until = self.until.max(Some(if may_go_on { now + SOON } else { EVER }));
    }

    /// There is nobody left to run for.
    pub fn deserted(&mut self) {
        self.until = Some(EVER);
    }

    /// It has ended. How long its output takes after that makes no difference.
    pub fn ended(&mut self, now: Moment) {
        self.until = self.until.filter(|until| now < *until).map(|_| EVER);
    }

    /// Whether it has ended because of it.
    pub fn is_why(&self) -> bool {
        self.until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(signals: &[(Signal, u64)], ended: u64) -> bool {
        let at = |seconds| Moment::START + Duration::from_secs(seconds);
        let mut dismissal = Dismissal::default();
        for (signal, seconds) in signals {
            dismissal.told(*signal, at(*seconds));
        }
        dismissal.ended(at(ended));
        dismissal.is_why()
    }

    #[test]
    fn an_interrupt_that_is_survived_is_none() {
        assert!(!after(&[], 5));
        for signal in [Signal::INT, Signal::QUIT, Signal::HUP] {
            assert!(after(&[(signal, 100)], 129), "{signal}");
            assert!(!after(&[(signal, 100)], 131), "{signal}");
            assert!(after(&[(signal, 100), (signal, 200)], 201), "{signal}");
        }
    }

    #[test]
    fn whoever_terminates_means_it() {
        assert!(after(&[(Signal::TERM, 100)], 5000));
        assert!(after(&[(Signal::TERM, 100), (Signal::HUP, 101)], 5000));
    }
}
