//! The end of a run: nothing is lost, nothing stays behind, and the terminal is as it was.

use std::time::Duration;

use super::notes::Tone;
use super::records::Records;
use super::signals::{Origin, Signals};
use super::{Outcome, Session, Status, signals, tree, typeahead};
use crate::config::{Exit, Say};
use crate::exit::Reason;
use crate::signal::Signal;
use crate::watch::{Event, Moment};

/// More than any terminal or socket of the kernel holds. Whatever the command wrote before it ended is within this, or within
/// what its pipe holds; what comes after is from those it left behind.
const MOST_LEFT: u64 = 2 * 1024 * 1024;

/// How long killed processes may take to disappear before they are reported as staying.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// What is left of a session.
pub struct End {
    /// How it ended.
    pub outcome: Outcome,
    /// When.
    pub at: Moment,
    /// Nobody has said that it is not to be started again.
    pub relaunches: bool,
    /// What is kept of it.
    pub records: Records,
}

impl Session {
    /// Whether the command has ended, and with it, where we ended it, all of its tree.
    pub(super) fn is_over(&self) -> bool {
        let Some(_) = self.fate.ended else { return self.is_written_off() };
        match self.fate.reason {
            None | Some(Reason::Error) => true,
            Some(_) => self.watcher.is_exhausted() || self.is_nobody_left(),
        }
    }

    /// Whose descendants the tree is: the monitor's. Once that is gone we have adopted whomever it has left.
    fn root(&self) -> i32 {
        if self.fate.unminded { nix::unistd::getpid().as_raw() } else { self.command.monitor.pid }
    }

    /// Whoever is left of the tree; none where that cannot be seen.
    pub(super) fn rest(&self) -> Option<Vec<tree::Process>> {
        tree::descendants(self.root())
    }

    fn is_nobody_left(&self) -> bool {
        self.rest().map_or_else(|| !signals::is_there(self.command.target()), |rest| rest.is_empty())
    }

    /// Passes on the last bytes, ends what has to end, and puts everything back.
    pub(super) fn end(mut self: Box<Self>, exit: &Exit) -> End {
        self.close_prompt();
        self.drain();
        if self.fate.reason.is_some() {
            self.clear_away();
            self.drain();
        }
        self.sketch_the_end();
        self.take_title_back_at_last();
        self.flush();
        self.restore_screen();
        self.begin_line();
        self.keep_usable_settings();
        let was_killed = self.fate.reason.is_some() || matches!(self.fate.ended, Some(Status::Signal(_)));
        if let (Some(lent), true) = (&self.outer.lent, was_killed) {
            lent.give_back();
        }
        self.return_typeahead();
        // Before our side of the terminal is closed: until the monitor has taken it away from them, that would be a
        // hangup for those who live on.
        self.dismiss_monitor();
        self.fate.finished = true;
        let outcome = match (self.fate.reason, self.fate.ended) {
            (Some(reason), status) => {
                self.teller.records.lost_output = self.untaken_output();
                Outcome::Ended(reason, status)
            }
            (None, Some(status)) => {
                self.teller.records.lost_output = self.lost_output();
                let unaware = self.teller.records.lost_output.is_some() && status == Status::Code(0);
                if unaware { Outcome::Ended(Reason::Error, Some(status)) } else { Outcome::Itself(status) }
            }
            (None, None) => Outcome::Ended(Reason::Error, None),
        };
        self.mind_shells();
        for step in self.asked.shells.unfinished() {
            self.report(&Event::Ran { shell: step.text, status: step.status });
        }
        self.report(&ended(outcome, exit));
        self.teller.records.last_words = self.fate.reason.and_then(|_| self.teller.notes.take_unsaid());
        // Until the next run catches them, or we are gone, signals wait.
        let _ = Signals::hold_back();
        self.fate.last_word |=
            self.signals.arrived().iter().any(|(signal, origin)| signal.ends() && *origin != Origin::Own);
        End {
            outcome,
            at: self.clock.now(),
            // Beside one that could not be ended there is no other.
            relaunches: self.fate.ended.is_some()
                && !(self.fate.last_word || self.fate.dismissal.is_why() && matches!(outcome, Outcome::Itself(_))),
            records: std::mem::take(&mut self.teller.records),
        }
    }

    /// Reads until it would block. Waiting for the end of file would mean waiting for whoever else has the terminal.
    fn drain(&mut self) {
        if let Some(slave) = &self.inner.slave {
            // The kernel echoes a key after it has sent the signal that the key stands for, in a thread of its own. To
            // ask the other side whether it can read waits for that.
            let _ = typeahead::is_ready(slave);
        }
        for index in 0..self.flow.sources.len() {
            let mut left = MOST_LEFT.max(self.flow.sources[index].capacity());
            while left > 0 {
                self.make_room(index);
                let before = self.teller.records.tally.output;
                if !self.relay(index).may_be_more() {
                    break;
                }
                left = left.saturating_sub(self.teller.records.tally.output - before);
            }
        }
    }

    /// Somebody killed the monitor. Nothing is known of the command any more, so nothing of it may stay: whoever is there
    /// now is killed at once, and at the end whoever has come since, since one that starts others is not stopped by that.
    pub(super) fn end_abandoned(&mut self) {
        self.dismiss_monitor();
        tree::signal_all(self.root(), self.command.target(), Signal::KILL);
        let why = "the monitor process was killed from outside, so the command was killed too";
        self.tell(Say::Warnings, Tone::Act, why);
        self.fate.kills = true;
        self.fate.reason = Some(Reason::Error);
        self.fate.ended = Some(Status::Signal(Signal::KILL));
    }

    /// Ends whoever of the tree is left, and says who could not be ended.
    fn clear_away(&mut self) {
        let begun = self.clock.now();
        while !self.is_nobody_left() {
            if !self.fate.kills {
                return self.tell_rest("left running", self.rest().as_deref());
            }
            if self.clock.now().since(begun) > PATIENCE {
                return self.hang_up_on_rest();
            }
            tree::signal_all(self.root(), self.command.target(), Signal::KILL);
            std::thread::sleep(super::RESCAN);
        }
    }

    pub(super) fn tell_rest(&mut self, what: &str, rest: Option<&[tree::Process]>) {
        let names: Option<Vec<String>> = rest.map(|rest| rest.iter().map(ToString::to_string).collect());
        let who = names.map_or_else(|| "some that cannot be seen".to_owned(), |names| names.join(", "));
        self.tell(Say::Warnings, Tone::Act, &format!("{what}: {who}"));
    }
}

/// The event that tells this end.
pub(super) fn ended(outcome: Outcome, exit: &Exit) -> Event {
    let (reason, own, status) = match outcome {
        Outcome::Itself(status) => (None, status, Some(status)),
        Outcome::Ended(reason, status) => (Some(reason), exit.status(reason, status), status),
    };
    let parts = |status| match status {
        Some(Status::Code(code)) => (Some(code), None),
        Some(Status::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let (child_code, child_signal) = parts(status);
    Event::Ended { code: parts(Some(own)).0, reason, child_code, child_signal }
}

impl Drop for Session {
    /// However we leave, the terminal is as it was, and after a panic nothing of the command stays behind.
    fn drop(&mut self) {
        if !self.fate.finished {
            if let Some((index, bytes)) = self.flow.passed.bytes()
                && self.flow.sources[index].is_terminal()
            {
                // Passed on, and not looked at any more.
                self.flow.modes.follow(bytes);
            }
            self.uncover_screen();
            self.restore_screen();
        }
        if let Some(terminal) = &mut self.outer.terminal {
            terminal.restore();
        }
        if !self.fate.finished {
            self.command.monitor.link.close();
            self.command.monitor.bury();
            if let Some(lent) = &self.outer.lent {
                lent.give_back();
            }
        }
    }
}
