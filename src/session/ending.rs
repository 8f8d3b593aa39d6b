//! The end of a run: nothing is lost, nothing stays behind, and the terminal is as it was.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;

use super::notes::Tone;
use super::pollset::{PollSet, Waited};
use super::ready::Watched;
use super::records::Records;
use super::setup::bury;
use super::signals::{Origin, Signals};
use super::terminal::Terminal;
use super::{Outcome, Session, Status, place, signals, tree, typeahead};
use crate::config::{Exit, Say};
use crate::control::Server;
use crate::exit::Reason;
use crate::signal::Signal;
use crate::watch::{Event, Moment, Stream};

/// More than any pipe or terminal of the kernel holds. Whatever the command wrote before it ended is within this;
/// what comes after is from those it left behind.
const MOST_LEFT: u64 = 2 * 1024 * 1024;

/// How long killed processes may take to disappear before they are reported as staying, and readers of what we have ended
/// to take anything.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// What has come of the signals that arrived in a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heeded {
    /// Nothing.
    Nothing,
    /// We were stopped, and go on.
    Stop,
    /// It is over.
    End,
}

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

    /// Whoever is left of the tree; none where that cannot be seen.
    pub(super) fn rest(&self) -> Option<Vec<tree::Process>> {
        tree::descendants(self.command.monitor.pid)
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
        self.return_typeahead();
        // Before our side of the terminal is closed: until the monitor has taken it away from them, that would be a
        // hangup for those who live on.
        self.dismiss_monitor();
        self.fate.finished = true;
        let outcome = match (self.fate.reason, self.fate.ended) {
            (Some(reason), status) => {
                self.teller.records.lost_output = self.untaken_output();
                Outcome::Ended(reason, status.unwrap_or(Status::Signal(Signal::KILL)))
            }
            (None, Some(status)) => {
                self.teller.records.lost_output = self.lost_output();
                let unaware = self.teller.records.lost_output.is_some() && status == Status::Code(0);
                if unaware { Outcome::Ended(Reason::Error, status) } else { Outcome::Itself(status) }
            }
            (None, None) => Outcome::Ended(Reason::Error, Status::Signal(Signal::KILL)),
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
            let mut left = MOST_LEFT;
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

    /// Waits until the reader has taken enough for one more portion.
    fn make_room(&mut self, index: usize) {
        let sink = self.flow.sources[index].sink;
        while !self.flow.sinks[sink].has_room() && self.wait_for(sink) {}
    }

    /// Waits until every reader has taken everything.
    fn flush(&mut self) {
        for sink in 0..self.flow.sinks.len() {
            self.flow.sinks[sink].release_return();
            while self.flow.sinks[sink].is_behind() && self.wait_for(sink) {}
        }
    }

    /// Waits for a slow reader. A signal that would have ended the command while it wrote ends the waiting, and so does
    /// the limit on the whole. Meanwhile clients are answered.
    fn wait_for(&mut self, sink: usize) -> bool {
        let Some(fd) = self.flow.sinks[sink].fd() else { return false };
        let mut set = PollSet::new();
        set.add(Watched::Sink(sink), fd, PollFlags::POLLOUT);
        set.add(Watched::Signals, self.signals.as_fd(), PollFlags::POLLIN);
        for (which, fd, flags) in self.teller.records.control.iter().flat_map(Server::watched) {
            set.add(Watched::Control(which), fd, flags);
        }
        let waited = set.wait(self.left());
        // First: time in which we were stopped is not over.
        match self.heed_signals() {
            Heeded::End => return false,
            Heeded::Stop => return true,
            Heeded::Nothing => {}
        }
        let Waited::Ready(ready) = waited else {
            if self.fate.reason.is_none() && !self.fate.give_up && !self.was_killed() {
                self.fate.reason = Some(Reason::Timeout);
            }
            self.fate.give_up = true;
            return false;
        };
        let mut takes = false;
        for (what, events) in ready {
            match what {
                Watched::Sink(_) => takes = true,
                Watched::Control(which) => {
                    if let Some(control) = &mut self.teller.records.control {
                        control.attend(which, events);
                    }
                }
                _ => {}
            }
        }
        self.serve();
        self.flow.sinks[sink].flush();
        self.turn_output(sink);
        // Whoever takes something, however slowly, gets its time anew; whoever only asks does not give it any.
        let until = self.clock.now() + PATIENCE;
        self.fate.patience = if takes { Some(until) } else { self.fate.patience.or(Some(until)) };
        self.flow.sinks[sink].broken().is_none()
    }

    /// Hears what has arrived while a reader was waited for.
    fn heed_signals(&mut self) -> Heeded {
        let mut heeded = Heeded::Nothing;
        let mut arrived = VecDeque::from(self.signals.arrived());
        while let Some((signal, origin)) = arrived.pop_front() {
            match signal {
                signal if signal.ends() => {
                    self.fate.ended = Some(Status::Signal(signal));
                    self.fate.give_up = true;
                    self.fate.last_word = true;
                    return Heeded::End;
                }
                Signal::CHLD => self.command.monitor.keep_awake(),
                Signal::CONT if heeded == Heeded::Nothing => {
                    self.leave_out_stop();
                    heeded = Heeded::Stop;
                }
                // The key. Those for whoever uses the terminal from the background are no more for us here than before.
                Signal::TSTP if origin != Origin::Own && !place::is_orphaned() => {
                    let was_raw = self.outer.terminal.as_ref().is_some_and(Terminal::is_raw);
                    arrived.extend(self.stand_still(signal));
                    self.take_place_again(was_raw);
                    heeded = Heeded::Stop;
                }
                _ => {}
            }
        }
        self.gaps.alive = self.clock.now();
        heeded
    }

    /// Whether a signal that told it to end did so at once.
    fn was_killed(&self) -> bool {
        self.fate.dismissal.is_why() && matches!(self.fate.ended, Some(Status::Signal(_)))
    }

    /// How long a reader may still take that has stopped. What we have ended does not wait for it long.
    fn left(&self) -> Option<Duration> {
        let now = self.clock.now();
        let until = match (self.fate.reason, self.fate.give_up) {
            (_, true) => Some(now),
            (Some(_), false) => Some(self.fate.patience.unwrap_or(now + PATIENCE)),
            // Without us it would have been ended in the middle of a write.
            (None, false) if self.was_killed() => Some(self.fate.patience.unwrap_or(now + PATIENCE)),
            (None, false) => {
                let policy = self.watcher.policy();
                policy.timeout.filter(|_| policy.ladders.timeout_ends()).map(|limit| policy.due(limit))
            }
        };
        until.map(|until| until.since(now))
    }

    /// What of the output could not be written, in words. The command need not know: without us it would have been told
    /// when it wrote that, and would hardly have called it a success. That a reader has left is no loss.
    fn lost_output(&self) -> Option<String> {
        let broken = self.flow.sinks.iter().enumerate().filter_map(|(index, sink)| Some((index, sink.broken()?)));
        let mut losses = broken.filter(|(index, error)| self.outer.screen != Some(*index) && *error != Errno::EPIPE);
        let (index, error) = losses.next()?;
        let errors = self.flow.sources.iter().any(|source| source.sink == index && source.stream == Stream::Stderr);
        let name = if errors { "error" } else { "output" };
        Some(format!("cannot write to standard {name}: {}", error.desc()))
    }

    /// What of the output nobody has taken, in words.
    fn untaken_output(&self) -> Option<String> {
        let sinks = self.flow.sinks.iter().enumerate().filter(|(index, _)| self.outer.screen != Some(*index));
        let left: usize = sinks.map(|(_, sink)| sink.left()).sum();
        (left > 0).then(|| format!("{left} bytes of output are lost: whoever reads it has stopped"))
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
            tree::signal_all(self.command.monitor.pid, self.command.target(), Signal::KILL);
            std::thread::sleep(super::RESCAN);
        }
    }

    pub(super) fn tell_rest(&mut self, what: &str, rest: Option<&[tree::Process]>) {
        let names: Option<Vec<String>> = rest.map(|rest| rest.iter().map(ToString::to_string).collect());
        let who = names.map_or_else(|| "some that cannot be seen".to_owned(), |names| names.join(", "));
        self.tell(Say::Warnings, Tone::Act, &format!("{what}: {who}"));
    }

    /// Whatever the command was in the middle of, what is written to the terminal now is not a part of it.
    fn cut_off_sequence(&mut self) {
        if let (true, Some(screen)) = (self.flow.modes.cut_off(), self.outer.screen) {
            self.flow.sinks[screen].take(b"\x18");
        }
    }

    fn take_title_back_at_last(&mut self) {
        if self.teller.notes.is_titled() {
            self.cut_off_sequence();
            self.take_title_back();
        }
    }

    /// Undoes the modes that the command left on.
    fn restore_screen(&mut self) {
        let undo = self.flow.modes.undo();
        if let (Some(screen), false) = (self.outer.screen, undo.is_empty()) {
            self.cut_off_sequence();
            self.flow.sinks[screen].take(&undo);
            self.flush();
        }
    }

    /// What we have to say about the end stands in a line of its own.
    fn begin_line(&mut self) {
        // Where the cursor is after the alternate screen only the terminal knows.
        let speaks =
            self.fate.reason.is_some() && self.teller.notes.says(Say::Warnings) && !self.flow.modes.is_alternate();
        if speaks {
            self.cut_off_sequence();
        }
        if let (true, false, Some(screen)) = (speaks, self.watcher.cursor().1 == 1, self.outer.screen) {
            self.flow.sinks[screen].take(b"\r\n");
            self.flush();
        }
    }

    /// Settings that a command changed on purpose stay, as they would without us: `stty erase ^H`, `reset`. But only
    /// if it ended by itself and left a terminal that a person can use; otherwise what was found is put back.
    fn keep_usable_settings(&mut self) {
        let by_itself = self.fate.reason.is_none() && matches!(self.fate.ended, Some(Status::Code(_)));
        let (Some(terminal), Some(pty)) = (&mut self.outer.terminal, &self.inner.pty) else { return };
        if let (true, Ok(left)) = (by_itself, pty.settings()) {
            terminal.adopt(&left);
        }
    }

    /// What was typed and not read is for whoever reads the terminal next.
    pub(super) fn return_typeahead(&mut self) {
        let Some(terminal) = self.outer.terminal.as_mut().filter(|terminal| terminal.is_raw()) else { return };
        let (Some(pty), Some(slave)) = (&self.inner.pty, &self.inner.slave) else { return };
        let mut unread = pty.settings().and_then(|settings| typeahead::take(slave, &settings)).unwrap_or_default();
        unread.extend(self.inner.keyboard.take_back());
        if !unread.is_empty() {
            // Whatever was typed since we last looked comes after that.
            unread.extend(typeahead::take_late(terminal));
            typeahead::give_back(terminal, &unread);
        }
    }
}

/// The event that tells this end.
pub(super) fn ended(outcome: Outcome, exit: &Exit) -> Event {
    let (reason, own, status) = match outcome {
        Outcome::Itself(status) => (None, status, status),
        Outcome::Ended(reason, status) => (Some(reason), exit.status(reason, status), status),
    };
    let parts = |status| match status {
        Status::Code(code) => (Some(code), None),
        Status::Signal(signal) => (None, Some(signal)),
    };
    let (child_code, child_signal) = parts(status);
    Event::Ended { code: parts(own).0, reason, child_code, child_signal }
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
            bury(&self.command.monitor);
        }
    }
}
