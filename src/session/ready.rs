//! The one place where we wait: for whatever is ready first, or for the next deadline.

use std::os::fd::AsFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::Session;
use super::prompt::Prompt;
use super::relay::Source;
use super::terminal::STANDARD;
use crate::control::{Server, Which};

/// What a descriptor in the poll set means.
#[derive(Debug, Clone, Copy)]
pub enum Watched {
    /// A signal has arrived.
    Signals,
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
    pub(super) fn wait(&self, timeout: Option<Duration>) -> Vec<(Watched, PollFlags)> {
        let (input, output) = (PollFlags::POLLIN, PollFlags::POLLOUT);
        let (mut names, mut fds) = (Vec::with_capacity(8), Vec::with_capacity(8));
        let mut watch = |what, fd, flags| {
            names.push(what);
            fds.push(PollFd::new(fd, flags));
        };
        watch(Watched::Signals, self.signals.as_fd(), input);
        watch(Watched::Link, self.command.monitor.link.as_fd(), input);
        if let Some(pty) = &self.inner.pty {
            if self.inner.keyboard.is_behind() {
                watch(Watched::Keyboard, pty.as_fd(), output);
            }
            if self.inner.keyboard.has_room() {
                if let Some(terminal) = self.outer.terminal.as_ref().filter(|terminal| terminal.is_raw()) {
                    watch(Watched::Terminal, terminal.as_fd(), input);
                }
                if self.inner.type_stdin {
                    watch(Watched::Stdin, STANDARD[0], input);
                }
            }
        }
        for (index, source) in self.flow.sources.iter().enumerate() {
            if let (Some(fd), false) = (source.fd(self.inner.pty.as_ref()), self.is_held(source)) {
                watch(Watched::Source(index), fd, input);
            }
        }
        for (index, sink) in self.flow.sinks.iter().enumerate() {
            if let (Some(fd), true) = (sink.fd(), sink.is_behind()) {
                watch(Watched::Sink(index), fd, output);
            }
        }
        for fd in self.teller.records.behind() {
            watch(Watched::Records, fd, output);
        }
        for (which, fd, flags) in self.teller.records.control.iter().flat_map(Server::watched) {
            watch(Watched::Control(which), fd, flags);
        }
        // Rounded up: a wake-up before the deadline would only have to wait again.
        let mut timeout = timeout.map_or(PollTimeout::NONE, |timeout| {
            let whole = timeout.saturating_add(Duration::from_micros(999)).as_millis();
            i32::try_from(whole).ok().and_then(|whole| PollTimeout::try_from(whole).ok()).unwrap_or(PollTimeout::MAX)
        });
        // After a signal its pipe is ready: to be seen now, before anything is concluded from how late it is.
        while let Err(error) = poll(&mut fds, timeout) {
            if error != Errno::EINTR {
                // Out of memory for the moment.
                return Vec::new();
            }
            timeout = PollTimeout::ZERO;
        }
        names
            .into_iter()
            .zip(fds)
            .filter_map(|(name, fd)| fd.revents().filter(|events| !events.is_empty()).map(|events| (name, events)))
            .collect()
    }
}
