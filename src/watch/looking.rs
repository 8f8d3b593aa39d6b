//! Looks at the command's processes: what they have found since the last progress, and when the next is due.

use std::time::Duration;

use super::clocks::Clocks;
use super::{Known, Look, Moment};

/// Silence of this length is worth a first look at the processes.
const SUSPECTED: Duration = Duration::from_secs(3);
/// First looks are no closer together than this: a program that prints now and then is not scanned every time.
const BETWEEN: Duration = Duration::from_secs(30);
/// A read that was found is looked at again so soon where the command has printed since. Programs draw at a beat that a
/// second is a multiple of, and this is none.
const AGAIN: Duration = Duration::from_millis(1300);
/// A look that is not answered in this time found nothing.
const ANSWER: Duration = Duration::from_secs(2);

/// What is known of the processes since the last progress.
#[derive(Debug, Default)]
pub(super) struct Looking {
    /// The progress after which this was asked.
    episode: Moment,
    asked: Option<Moment>,
    /// The look before the verdict was asked for.
    final_asked: bool,
    found: Option<Look>,
    /// A read that was found was looked at again.
    checked: bool,
    last_asked: Option<Moment>,
    last_first: Option<Moment>,
}

impl Looking {
    /// What was found, if somebody looked.
    pub(super) const fn found(&self) -> Option<&Look> {
        self.found.as_ref()
    }

    /// Whether the look before the verdict was made.
    pub(super) const fn is_settled(&self) -> bool {
        self.final_asked && self.asked.is_none()
    }

    /// Progress makes what was found before it worthless.
    pub(super) fn progressed(&mut self, progress: Moment) {
        if self.episode != progress {
            *self = Self { episode: progress, last_first: self.last_first, ..Self::default() };
        }
    }

    /// What was found is worthless: somebody has typed.
    pub(super) fn forget(&mut self) {
        *self = Self { episode: self.episode, ..Self::default() };
    }

    /// Nothing was found: what was made of it broke.
    pub(super) fn lose(&mut self) {
        self.found = None;
    }

    /// The answer.
    pub(super) fn answered(&mut self, look: Look) {
        self.asked = None;
        self.found = Some(look);
    }

    /// When the answer is no longer waited for, when a first look is due, and when the next one where the command `waits`.
    pub(super) fn moments(&self, clocks: &Clocks, waits: bool, idle: Option<Duration>) -> [Option<Moment>; 3] {
        [self.asked.map(|asked| asked + ANSWER), self.first(clocks), self.next(clocks, waits, idle)]
    }

    /// Whether to look now; `silent` is whether that is the look before the verdict.
    pub(super) fn asks(
        &mut self,
        now: Moment,
        clocks: &Clocks,
        (silent, waits): (bool, bool),
        idle: Option<Duration>,
    ) -> bool {
        if self.asked.is_some_and(|asked| now.since(asked) >= ANSWER) {
            self.asked = None;
        }
        let first = self.first(clocks).is_some_and(|due| now >= due);
        let last = !self.final_asked && silent;
        let again = self.next(clocks, waits, idle).is_some_and(|due| now >= due);
        if !(first || last || again) {
            return false;
        }
        self.final_asked |= last;
        self.checked |= again && self.is_doubtful(clocks);
        if first {
            self.last_first = Some(now);
        }
        (self.asked, self.last_asked) = (Some(now), Some(now));
        true
    }

    /// When a first look at the processes is due in this silence: nothing at all is printed, and none was made lately.
    fn first(&self, clocks: &Clocks) -> Option<Moment> {
        if self.found.is_some() || self.asked.is_some() {
            return None;
        }
        let quiet = clocks.byte.map_or(clocks.progress, |byte| byte.max(clocks.progress));
        let lately = self.last_first.map_or(Moment::START, |last| last + BETWEEN);
        Some((quiet + SUSPECTED).max(lately))
    }

    /// What was found while the command waits is looked at again once per idle period: a read may time out unseen, and a
    /// reader may go on while the command does not.
    fn next(&self, clocks: &Clocks, waits: bool, idle: Option<Duration>) -> Option<Moment> {
        let stands = waits && self.found.is_some() && self.asked.is_none();
        let soon = !self.checked && self.is_doubtful(clocks);
        Some(self.last_asked.filter(|_| stands)? + if soon { AGAIN } else { idle?.max(BETWEEN) })
    }

    /// Whether somebody was found reading, and something was printed since: whoever asks the terminal where its cursor
    /// stands, before each line that is drawn, reads the answer.
    fn is_doubtful(&self, clocks: &Clocks) -> bool {
        let reads = self.found.as_ref().is_some_and(|look| look.reads_terminal == Known::Yes);
        reads && self.last_asked.is_some_and(|asked| clocks.byte.is_some_and(|byte| byte > asked))
    }
}
