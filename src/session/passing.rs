//! What the command prints, on its way: passed on first, and looked at second.

use nix::errno::Errno;

use super::relay::{Found, Source};
use super::{Observation, Session};
use crate::signal::Signal;

impl Session {
    /// Passes on what the command printed and looks at it.
    pub(super) fn relay(&mut self, index: usize) -> Found {
        let found = self.pass_on(index);
        self.understand();
        found
    }

    /// Passes on what the command printed. Looks at it too, unless more is to come at once: from a command that is in the
    /// middle of something or answers a key, or as soon as a reader that has enough for the moment has not. Then all that
    /// is looked at together.
    pub(super) fn pass_on(&mut self, index: usize) -> Found {
        if !self.flow.passed.is_from(index) {
            self.understand();
        }
        let (source, now) = (&self.flow.sources[index], self.clock.now());
        let (sink, busy) = (source.sink, source.is_busy(now));
        let found = match source.fd(self.inner.pty.as_ref()) {
            Some(fd) => self.flow.passed.pass(fd, index, now, busy, &mut self.flow.sinks[sink]),
            None => Found::End,
        };
        let half = self.flow.sinks[sink].holds_return();
        let soon = found == Found::Dry && busy;
        let more_to_come = found == Found::Full || soon || !self.inner.typed.is_empty() || half;
        if !more_to_come || self.flow.passed.is_full() {
            self.understand();
        }
        self.check_sink(sink);
        if found == Found::End {
            self.end_of(index);
        }
        self.flow.sources[index].was_read(self.clock.now());
        found
    }

    /// Looks at what was passed on, in either direction: what it leaves the terminal in, and what the watcher makes of it.
    pub(super) fn understand(&mut self) {
        self.understand_typed();
        let passed = std::mem::take(&mut self.flow.passed);
        if let Some((index, bytes)) = passed.bytes() {
            let Source { stream, answer, .. } = self.flow.sources[index];
            self.teller.records.tally.output += bytes.len() as u64;
            if self.flow.sources[index].is_terminal() {
                self.share_output();
                self.flow.modes.follow(bytes);
                self.say_held_back();
                if let Some(mut drawn) = self.drawn.take() {
                    drawn.add(bytes, self.flow.modes.is_alternate(), self.screen_size());
                    self.drawn = Some(drawn);
                }
                self.show_prompt();
            }
            if let Some(heartbeat) = &mut self.teller.heartbeat {
                heartbeat.printed(self.clock.now(), stream, bytes);
            }
            self.observe(&Observation::Output { stream, bytes });
            if answer {
                self.answer(bytes);
            }
        }
        self.flow.passed = passed.seen();
    }

    /// Nobody can write to this source any more, so whoever reads from its sink has to learn that.
    fn end_of(&mut self, index: usize) {
        let (sink, is_terminal) = (self.flow.sources[index].sink, self.flow.sources[index].is_terminal());
        self.flow.sources[index].close();
        if !is_terminal && self.flow.sources.iter().all(|source| source.sink != sink || source.is_closed()) {
            self.flow.sinks[sink].close();
        }
    }

    /// A reader that is gone is the command's affair: it gets what it would have got without us.
    pub(super) fn check_sink(&mut self, index: usize) {
        self.turn_output(index);
        if self.flow.sinks[index].broken().is_none() || self.outer.screen == Some(index) {
            return;
        }
        let mine = |source: &&mut Source| source.sink == index && !source.is_terminal();
        if self.flow.sources.iter_mut().filter(mine).any(|source| source.side().is_some()) {
            // A pipe does it by itself once it is closed; a terminal gives no signal, so we do, and before the command
            // can see an error instead.
            match self.flow.sinks[index].broken() {
                Some(Errno::EPIPE) => self.signal_group(Signal::PIPE),
                Some(Errno::EFBIG) => self.signal_group(Signal::XFSZ),
                _ => {}
            }
        }
        self.flow.sources.iter_mut().filter(mine).for_each(Source::close);
    }

    /// A reader has room again: what the command has printed meanwhile is there, most likely, without asking first.
    pub(super) fn go_on(&mut self, sink: usize) {
        for index in 0..self.flow.sources.len() {
            let source = &self.flow.sources[index];
            if source.sink == sink && !source.is_closed() && !self.is_held(source) {
                self.pass_on(index);
            }
        }
    }
}
