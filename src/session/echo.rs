//! From a key to its echo: whoever types looks for it, and nothing is to come in between.
//!
//! A wait is planned for everything that can happen, and to plan it is work in memory that has gone cold since the last one.
//! So letters are on their way before anything is thought of, and until their echo is there the last plan is kept: what was
//! typed is looked at together with what comes of it, so no deadline has moved.

use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::PollFlags;

use super::heldback::HeldBack;
use super::keptset::{Heard, KeptSet};
use super::ready::{Ready, Watched};
use super::terminal::Terminal;
use super::{AN_ECHO, Session};
use crate::control::Server;
use crate::watch::Moment;

/// Letters and their echo are looked at so long after that. A shorter wait would be one that the processor has to be told of
/// at once, in the middle of all this.
const A_BLINK: Duration = Duration::from_millis(10);

/// What ends a wait in which nothing happens.
#[derive(Clone, Copy)]
enum End {
    /// The alarm, after this long; none if that is never.
    Alarm(Option<Duration>),
    /// The wait itself, since most likely something happens before.
    Itself(Duration),
}

/// What there is to mind where that is one terminal, which the kernel is to keep.
pub(super) enum Kept {
    /// Nobody has waited for it yet.
    NotYet,
    /// This, with the signal held back that nobody who reads from the background is to be stopped by.
    This(KeptSet<Waited>, HeldBack),
    /// There is no such terminal, or the kernel refuses.
    Never,
}

impl Kept {
    /// What holds back the signal for whoever reads from the background, if it is held back.
    pub(super) fn held_back(&self) -> Option<&HeldBack> {
        match self {
            Self::This(_, held) => Some(held),
            Self::NotYet | Self::Never => None,
        }
    }
}

/// How a wait for one terminal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waited {
    /// A person has typed, and nothing else has happened.
    Typed,
    /// The command has printed, and nothing else has happened.
    Printed,
    /// The time is over.
    Over,
    /// Something else has happened, or may have.
    Other,
}

impl Session {
    /// Whether there is nothing to mind but the keyboard and what the command prints to its terminal.
    pub(super) fn minds_one_terminal(&self) -> bool {
        let records = &self.teller.records;
        let alone = matches!(&self.flow.sources[..], [source] if source.is_terminal() && !self.is_held(source));
        let visited = records.control.as_ref().is_some_and(|control| control.has_guests() || control.is_resting());
        let behind = self.inner.keyboard.is_behind()
            || records.behind().next().is_some()
            || self.flow.sinks.iter().any(|sink| sink.is_behind() || sink.holds_return());
        let front = self.outer.terminal.as_ref().is_some_and(Terminal::is_raw);
        alone && front && !visited && !behind && self.inner.stdin.is_none() && self.fate.ended.is_none()
    }

    /// Waits where nothing else is to be minded.
    pub(super) fn wait_for_keys(&mut self, timeout: Option<Duration>) -> Ready {
        match self.wait_for_one(End::Alarm(timeout)) {
            Waited::Typed if self.read_keys() => {
                self.gaps.wait_ends();
                self.gaps.wait_begins();
                let all = !self.inner.keyboard.is_behind();
                if all && self.wait_for_one(End::Itself(AN_ECHO)) == Waited::Printed {
                    self.pass_on(0);
                    // At once, whatever else there is to do: the kernel's own thread that carries the echo on may wait for
                    // this processor. What ends this wait is there for the next one.
                    self.gaps.wait_ends();
                    self.gaps.wait_begins();
                    if self.wait_for_one(End::Itself(A_BLINK)) == Waited::Over {
                        self.understand();
                    }
                }
                Ready::Letters
            }
            Waited::Typed => Ready::These(vec![(Watched::Terminal, PollFlags::POLLIN)]),
            Waited::Printed => Ready::These(vec![(Watched::Source(0), PollFlags::POLLIN)]),
            Waited::Over => Ready::These(Vec::new()),
            // Whatever it is, it is there already.
            Waited::Other => self.wait_for_all(Some(Duration::ZERO)),
        }
    }

    /// After letters: passes on what comes of them, and looks at both soon after. Whatever else happens is left to the next
    /// wait, and so is what is to be done at `wake`.
    pub(super) fn follow_letters(&mut self, wake: Option<Moment>) {
        let (blink, echo) = (self.clock.now() + A_BLINK, self.inner.typed_at + AN_ECHO);
        while !self.inner.typed.is_empty() && self.minds_one_terminal() {
            let look = if self.flow.passed.bytes().is_some() { blink } else { echo };
            let end = wake.map_or(look, |wake| wake.min(look));
            self.gaps.wait_begins();
            let waited = self.wait_for_one(End::Alarm(Some(end.since(self.clock.now()))));
            let awake = self.woke_up(wake);
            match waited {
                Waited::Printed => {
                    self.pass_on(0);
                }
                Waited::Over => self.understand(),
                Waited::Typed | Waited::Other => return,
            }
            self.ran_at(awake);
        }
    }

    /// Has the kernel keep what there is to mind where that is one terminal, as soon as it is waited for. Whether it does.
    pub(super) fn have_it_kept(&mut self) -> bool {
        if matches!(self.kept, Kept::NotYet) {
            self.kept = self.keep().ok().flatten().map_or(Kept::Never, |(set, held)| Kept::This(set, held));
        }
        matches!(self.kept, Kept::This(..))
    }

    /// All that there is to mind, which stays the same for as long as the command runs.
    fn keep(&self) -> nix::Result<Option<(KeptSet<Waited>, HeldBack)>> {
        let (Some(terminal), Some(pty)) = (&self.outer.terminal, &self.inner.pty) else { return Ok(None) };
        let held = HeldBack::new()?;
        let door = self.teller.records.control.as_ref().map(Server::door);
        let others = [self.signals.as_fd(), self.command.monitor.link.as_fd(), held.arrival()].into_iter().chain(door);
        let all = [(Waited::Typed, terminal.as_fd()), (Waited::Printed, pty.as_fd())].into_iter();
        let all = all.chain(self.alarm.bell().map(|bell| (Waited::Over, bell)));
        let set = KeptSet::new(all.chain(others.map(|fd| (Waited::Other, fd))))?;
        Ok(Some((set, held)))
    }

    /// Waits for this one terminal and for whatever else may happen.
    fn wait_for_one(&mut self, end: End) -> Waited {
        let Kept::This(kept, _) = &self.kept else { return Waited::Other };
        let (until, limit) = match end {
            End::Alarm(None) => (None, None),
            End::Alarm(Some(timeout)) => {
                let now = self.alarm.now();
                let until = now + timeout;
                // Where there is no alarm the wait ends by itself.
                (Some(until), self.alarm.ready_by(until, now).is_none().then_some(timeout))
            }
            End::Itself(limit) => (None, Some(limit)),
        };
        match kept.wait(limit) {
            Heard::One(Waited::Over) => {
                self.alarm.rang();
                // It may have been set for a wait that has ended before.
                if until.is_some_and(|until| self.alarm.now() >= until) { Waited::Over } else { Waited::Other }
            }
            Heard::One(waited) => waited,
            Heard::Several => Waited::Other,
            Heard::Nothing => Waited::Over,
            Heard::Refused => {
                self.kept = Kept::Never;
                Waited::Other
            }
        }
    }
}
