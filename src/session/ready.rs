//! Where a run waits: for whatever is ready first, or for the next deadline.

use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::PollFlags;

use super::Session;
use super::pollset::PollSet;
use super::prompt::Prompt;
use super::relay::Source;
use crate::control::{Server, Which};

/// What a descriptor in the poll set means.
#[derive(Debug, Clone, Copy)]
pub enum Watched {
    /// A signal has arrived.
    Signals,
    /// A signal has come that is held back.
    HeldBack,
    /// The monitor has something to say.
    Link,
    /// A person has typed.
    Terminal,
    /// Our own standard input, which is typed into the command's terminal.
    Stdin,
    /// The command's terminal takes more of what was typed.
    Keyboard,
    /// The command has printed.
    Source(usize),
    /// A reader takes more of what was printed.
    Sink(usize),
    /// A reader takes more of the records.
    Records,
    /// Somebody asks something of the run.
    Control(Which),
}

/// What a wait has found.
pub enum Ready {
    /// Letters that were typed. They are on their way, and so is their echo if it was there at once.
    Letters,
    /// All this; nothing if the time is over.
    These(Vec<(Watched, PollFlags)>),
}

impl Watched {
    /// Whether it is passed on first, and what was passed on before is looked at second.
    pub fn is_relayed(self) -> bool {
        matches!(self, Self::Terminal | Self::Source(_) | Self::Sink(_))
    }
}

impl Session {
    /// Whether what the command prints there has to wait.
    pub(super) fn is_held(&self, source: &Source) -> bool {
        let covered = self.prompt.as_ref().is_some_and(Prompt::is_shown) && self.outer.screen == Some(source.sink);
        // Whoever works on what it got is not given more: it and the command take turns best like that. But what the
        // command prints while its reader has paused is to be seen.
        let sink = &self.flow.sinks[source.sink];
        covered || sink.is_busy() || !sink.has_room()
    }

    /// Waits until something is there to do, at most this long.
    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> Ready {
        // In the middle of output nobody looks for an echo.
        if self.have_it_kept() && self.flow.passed.bytes().is_none() && self.minds_one_terminal() {
            return self.wait_for_keys(timeout);
        }
        self.wait_for_all(timeout)
    }

    /// The same, whatever there is to mind.
    pub(super) fn wait_for_all(&self, timeout: Option<Duration>) -> Ready {
        let (input, output) = (PollFlags::POLLIN, PollFlags::POLLOUT);
        let mut set = PollSet::new();
        set.add(Watched::Signals, self.signals.as_fd(), input);
        if let Some(held) = self.kept.held_back() {
            set.add(Watched::HeldBack, held.arrival(), input);
        }
        set.add(Watched::Link, self.command.monitor.link.as_fd(), input);
        if let Some(pty) = &self.inner.pty {
            if self.inner.keyboard.is_behind() {
                set.add(Watched::Keyboard, pty.as_fd(), output);
            }
            if self.inner.keyboard.has_room() {
                if let Some(terminal) = self.outer.terminal.as_ref().filter(|terminal| terminal.is_raw()) {
                    set.add(Watched::Terminal, terminal.as_fd(), input);
                }
                if let Some(stdin) = &self.inner.stdin {
                    set.add(Watched::Stdin, stdin.fd(), input);
                }
            }
        }
        for (index, source) in self.flow.sources.iter().enumerate() {
            if let (Some(fd), false) = (source.fd(self.inner.pty.as_ref()), self.is_held(source)) {
                set.add(Watched::Source(index), fd, input);
            }
        }
        for (index, sink) in self.flow.sinks.iter().enumerate() {
            if let (Some(fd), true) = (sink.fd(), sink.is_behind()) {
                set.add(Watched::Sink(index), fd, output);
            }
        }
        for fd in self.teller.records.behind() {
            set.add(Watched::Records, fd, output);
        }
        for (which, fd, flags) in self.teller.records.control.iter().flat_map(Server::watched) {
            set.add(Watched::Control(which), fd, flags);
        }
        Ready::These(set.wait_by(&self.alarm, timeout).ready())
    }
}
