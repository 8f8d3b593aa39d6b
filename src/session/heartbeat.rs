//! A line on standard error now and then while the command prints nothing, for those who take silence for death: CI
//! services end a job that has printed nothing for a while.

use std::io::IsTerminal;
use std::time::Duration;

use super::Session;
use super::notes::{Room, Tone};
use crate::report::{plain, say_at_once};
use crate::watch::{Event, Moment, State, Stream, span};

/// When to say something next.
#[derive(Debug)]
pub struct Heartbeat {
    every: Duration,
    next: Moment,
    /// When the command last printed.
    printed: Moment,
    /// Whether what it prints to standard output, and to standard error, stands in the middle of a line.
    midline: [bool; 2],
    /// Who last spoke for it while it was silent.
    spoken: Option<String>,
}

impl Heartbeat {
    /// Says something after so much silence, and again each time.
    pub fn new(every: Duration) -> Self {
        let start = Moment::START;
        Self { every, next: start + every, printed: start, midline: [false; 2], spoken: None }
    }

    /// When it is due.
    pub fn deadline(&self) -> Moment {
        self.next
    }

    /// The command printed.
    pub fn printed(&mut self, now: Moment, stream: Stream, bytes: &[u8]) {
        (self.printed, self.next) = (now, now + self.every);
        self.midline[usize::from(stream == Stream::Stderr)] = bytes.last() != Some(&b'\n');
        self.spoken = None;
    }

    /// Something happened that may be worth a word.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::GuardDeferred { guard, reason, .. } => self.spoken = Some(format!("{guard} guard: {reason}")),
            Event::StateChanged { .. } => self.spoken = None,
            _ => {}
        }
    }

    /// What to say now; the next time is one period later.
    fn beat(&mut self, now: Moment, state: State) -> String {
        self.next = now + self.every;
        let why = match (&self.spoken, state) {
            (Some(spoken), _) => format!(" ({spoken})"),
            (None, State::Active) => String::new(),
            (None, state) => format!(" ({state})"),
        };
        format!("{} elapsed, no output for {}{why}", span(now.since_start()), span(now.since(self.printed)))
    }
}

impl Session {
    /// Says that the command is still there, where that disturbs nobody.
    pub(super) fn beat(&mut self, now: Moment) {
        let (state, behind) = (self.watcher.state(), self.flow.sinks.iter().any(super::Sink::is_behind));
        let (is_terminal, room) = (std::io::stderr().is_terminal(), self.room());
        let apart = self.flow.sources.iter().any(|source| source.stream == Stream::Stderr);
        let Some(heartbeat) = &mut self.teller.heartbeat else { return };
        let text = heartbeat.beat(now, state);
        if behind {
            // Whoever reads has something to read.
            return;
        }
        if !is_terminal || room == Room::NoTerminal {
            say_at_once(&plain(&text), std::mem::take(&mut heartbeat.midline[usize::from(apart)]));
        } else if room == Room::Line
            && self.flow.modes.is_between_sequences()
            && let (Some(bytes), Some(screen)) = (self.teller.notes.tell(Tone::Remark, &text, room), self.outer.screen)
        {
            self.flow.sinks[screen].take(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Guard;

    fn at(seconds: u64) -> Moment {
        Moment::after_start(Duration::from_secs(seconds))
    }

    #[test]
    fn it_is_due_after_each_period_of_silence() {
        let mut heartbeat = Heartbeat::new(Duration::from_mins(1));
        heartbeat.printed(at(30), Stream::Stdout, b"hello");
        assert_eq!(heartbeat.deadline(), at(90));
        assert_eq!(heartbeat.beat(at(90), State::Active), "1m 30s elapsed, no output for 1m 00s");
        assert_eq!(heartbeat.deadline(), at(150));
        assert_eq!(heartbeat.midline, [true, false]);
    }

    #[test]
    fn it_says_who_speaks_for_the_command() {
        let mut heartbeat = Heartbeat::new(Duration::from_mins(1));
        let reason = "98% of a core".to_owned();
        heartbeat.event(&Event::GuardDeferred { guard: Guard::Cpu, reason, recheck: Duration::ZERO, left: None });
        assert!(heartbeat.beat(at(60), State::Stalled).ends_with("(cpu guard: 98% of a core)"));
        heartbeat.printed(at(61), Stream::Stdout, b"\n");
        assert!(heartbeat.beat(at(121), State::Quiet).ends_with("no output for 1m 00s (quiet)"));
    }
}
