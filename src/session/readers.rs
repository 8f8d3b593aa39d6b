//! Whoever still reads when the command has ended: how long it is waited for, and what it never took.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;

use super::pollset::{PollSet, Waited};
use super::ready::Watched;
use super::signals::Origin;
use super::terminal::Terminal;
use super::{Session, Status, place};
use crate::control::Server;
use crate::exit::Reason;
use crate::signal::Signal;
use crate::watch::Stream;

/// How long readers of what we have ended may take to take anything.
const PATIENCE: Duration = Duration::from_secs(2);

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

impl Session {
    /// Waits until the reader has taken enough for one more portion.
    pub(super) fn make_room(&mut self, index: usize) {
        let sink = self.flow.sources[index].sink;
        while !self.flow.sinks[sink].has_room() && self.wait_for(sink) {}
    }

    /// Waits until every reader has taken everything.
    pub(super) fn flush(&mut self) {
        for sink in 0..self.flow.sinks.len() {
            self.flow.sinks[sink].release_return();
            while self.flow.sinks[sink].is_behind() && self.wait_for(sink) {}
        }
    }

    /// Waits for a slow reader. A signal that would have ended the command while it wrote ends the waiting, and so does
    /// the limit on the whole. Meanwhile clients are answered, and a service manager hears that all is well.
    fn wait_for(&mut self, sink: usize) -> bool {
        let Some(fd) = self.flow.sinks[sink].fd() else { return false };
        let mut set = PollSet::new();
        set.add(Watched::Sink(sink), fd, PollFlags::POLLOUT);
        set.add(Watched::Signals, self.signals.as_fd(), PollFlags::POLLIN);
        for (which, fd, flags) in self.teller.records.control.iter().flat_map(Server::watched) {
            set.add(Watched::Control(which), fd, flags);
        }
        let (now, left) = (self.clock.now(), self.left());
        let until_told = self.teller.records.deadline().map(|moment| moment.since(now));
        self.gaps.wait_begins();
        let waited = set.wait(left.into_iter().chain(until_told).min());
        self.gaps.wait_ends();
        // First: time in which we were stopped is not over.
        match self.heed_signals() {
            Heeded::End => return false,
            Heeded::Stop => return true,
            Heeded::Nothing => {}
        }
        self.teller.records.mind(self.clock.now());
        let only_told = until_told.is_some_and(|told| left.is_none_or(|left| told < left));
        let Waited::Ready(ready) = waited else {
            if only_told {
                return true;
            }
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
                // The key.
                Signal::TSTP if origin != Origin::Own && !place::is_orphaned() => {
                    let was_raw = self.outer.terminal.as_ref().is_some_and(Terminal::is_raw);
                    arrived.extend(self.stand_still(signal));
                    self.take_place_again(was_raw);
                    heeded = Heeded::Stop;
                }
                // Of those for whoever uses the terminal from the background, the others are no more for us here than before.
                Signal::TTOU if origin == Origin::Kernel && self.has_lost_terminal() => self.go_to_back(),
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
    pub(super) fn lost_output(&self) -> Option<String> {
        let broken = self.flow.sinks.iter().enumerate().filter_map(|(index, sink)| Some((index, sink.broken()?)));
        let mut losses = broken.filter(|(index, error)| self.outer.screen != Some(*index) && *error != Errno::EPIPE);
        let (index, error) = losses.next()?;
        let errors = self.flow.sources.iter().any(|source| source.sink == index && source.stream == Stream::Stderr);
        let name = if errors { "error" } else { "output" };
        Some(format!("cannot write to standard {name}: {}", error.desc()))
    }

    /// What of the output nobody has taken, in words.
    pub(super) fn untaken_output(&self) -> Option<String> {
        let sinks = self.flow.sinks.iter().enumerate().filter(|(index, _)| self.outer.screen != Some(*index));
        let left: usize = sinks.map(|(_, sink)| sink.left()).sum();
        (left > 0).then(|| format!("{left} bytes of output were lost: their reader has stopped reading"))
    }
}
