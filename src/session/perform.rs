//! What the watcher decides, done; and what came of it, told.

use std::os::fd::AsFd;
use std::time::Duration;

use super::notes::{Room, Tone};
use super::pty::Pty;
use super::relay::Source;
use super::shell::{Done, Purpose};
use super::terminal::Terminal;
use super::{Session, look, signals, tree};
use crate::config::Say;
use crate::exit::Reason;
use crate::report::in_words;
use crate::signal::Signal;
use crate::watch::{Action, Answer, Event, Guard, Known, Moment, Observation, State, span};

/// What a shell ends with where it cannot run, or does not find, what it was told to: a slip, of which nobody would know.
const CANNOT_RUN: i32 = 126;
const NOT_FOUND: i32 = 127;

impl Session {
    pub(super) fn perform(&mut self, action: &Action) {
        match action {
            Action::Report(event) => self.report(event),
            Action::Look => self.look(),
            Action::Ask => self.ask_guards(),
            Action::Warn { evidence, limit, known, .. } => self.warn(evidence, *limit, *known),
            Action::Type(bytes) => {
                if let Some(pty) = &self.pty {
                    self.keyboard.enter(pty.as_fd(), bytes);
                }
            }
            Action::Run(shell) => self.run_shell(shell),
            Action::Prompt { about, evidence } => self.open_prompt(*about, evidence),
            Action::ClosePrompt => self.close_prompt(),
            Action::Signal { signal, reason } => self.signal_tree(*signal, *reason),
        }
    }

    /// Warns of what a limit has passed for. In a title there is no room for more than the evidence.
    fn warn(&mut self, evidence: &str, limit: Option<Duration>, known: bool) {
        let limit = limit.map(span).unwrap_or_default();
        let text = match self.room() {
            Room::None => evidence.to_owned(),
            _ if known && self.notes.says(Say::Reasons) => format!("warning: the limit of {limit} has passed"),
            _ => format!("warning: {evidence} (limit {limit})"),
        };
        self.tell(Say::Warnings, Tone::Warning, &text);
    }

    /// Tells whoever listens, and the person if it matters to one.
    pub(super) fn report(&mut self, event: &Event) {
        self.records.event(self.clock.now(), event);
        self.tell_losses();
        if let Some(heartbeat) = &mut self.heartbeat {
            heartbeat.event(event);
        }
        self.note(event);
        if let Event::StateChanged { to, .. } = event {
            match to {
                // The guards compare with what they see now.
                State::Quiet | State::Waiting => drop(self.hear_guards()),
                State::Active => {
                    self.notes.outlast_title();
                    self.say_held_back();
                }
                _ => {}
            }
        }
        let (weight, tone) = match event {
            Event::StateChanged { to: State::Waiting, .. } if self.attended => (Say::Reasons, Tone::Warning),
            // Of a gap: a person who suspends a laptop knows, and a script reads the event.
            Event::StateChanged { .. } | Event::Gap { .. } => (Say::Reasons, Tone::Remark),
            Event::Signaled { .. }
            | Event::Nudged { .. }
            | Event::Ran { status: Err(_) | Ok(CANNOT_RUN | NOT_FOUND), .. } => (Say::Warnings, Tone::Act),
            Event::LoopWarning { .. } | Event::TimeoutWarning { .. } | Event::AnalysisLost => {
                (Say::Warnings, Tone::Warning)
            }
            _ => (Say::Everything, Tone::Remark),
        };
        if let Some((what, words)) = in_words(event) {
            self.tell(weight, tone, &format!("{what}: {words}"));
        }
    }

    /// Says what of the records was lost, if anything was.
    pub(super) fn tell_losses(&mut self) {
        while let Some(loss) = self.records.next_loss() {
            if self.room() == Room::None {
                // Not over what the command draws, where it would be gone with the title.
                self.records.keep_loss(loss);
            } else {
                self.tell(Say::Warnings, Tone::Warning, &loss.0);
            }
        }
    }

    pub(super) fn tell_progress(&mut self, now: Moment) {
        if let Some((every, next)) = &mut self.progress {
            *next = now + *every;
        }
        self.report(&Event::Progress {
            since_activity: self.watcher.since_activity(now),
            loop_suspicion: self.watcher.loop_suspicion(now),
            state: self.watcher.state(),
        });
    }

    /// Says something to the person, where it does not disturb.
    pub(super) fn tell(&mut self, weight: Say, tone: Tone, text: &str) {
        if !self.notes.says(weight) {
            return;
        }
        let room = self.room();
        if room != Room::NoTerminal && !self.modes.is_between_sequences() {
            return self.notes.hold_back(tone, text);
        }
        if let (Some(bytes), Some(screen)) = (self.notes.tell(tone, text, room), self.screen) {
            self.sinks[screen].take(&bytes);
        }
    }

    /// Says what had to wait until the command is between two sequences, if it is.
    pub(super) fn say_held_back(&mut self) {
        while self.modes.is_between_sequences() {
            if self.notes.is_titled_too_long() {
                self.take_title_back();
            }
            let Some((tone, text)) = self.notes.next_held_back() else { return };
            self.tell(Say::Warnings, tone, &text);
        }
    }

    pub(super) fn room(&mut self) -> Room {
        // What was passed on already says where there is any.
        self.understand();
        if self.screen.is_none() || !self.terminal.as_ref().is_some_and(Terminal::is_raw) {
            return Room::NoTerminal;
        }
        let draws = self.pty.as_ref().is_none_or(|pty| !pty.is_in_line_mode());
        let at_start = self.watcher.cursor().1 == 1;
        if !draws && at_start { Room::Line } else { Room::None }
    }

    pub(super) fn take_title_back(&mut self) {
        let own = self.watcher.title().map(ToOwned::to_owned);
        if let (Some(bytes), Some(screen)) = (self.notes.take_back(own.as_deref()), self.screen) {
            self.sinks[screen].take(&bytes);
        }
    }

    fn look(&mut self) {
        let device = self.pty.as_ref().and_then(Pty::device);
        let mut look = look::look(self.monitor.pid, self.pty.as_ref(), device);
        if self.terminal.is_none() {
            // We ourselves switched it off, so it says nothing about the command.
            look.echo = Known::Unknown;
        }
        look.paste = if self.modes.is_paste_bracketed() { Known::Yes } else { Known::No };
        let is_full = |source: &Source| !source.is_closed() && !self.sinks[source.sink].has_room();
        look.held_up |= self.sources.iter().any(is_full);
        for (file, size) in &mut self.files {
            let now = file.metadata().map_or(*size, |metadata| metadata.len());
            look.file_grew |= now != *size;
            *size = now;
        }
        self.observe(&Observation::Looked(look));
    }

    fn hear_guards(&mut self) -> Vec<Answer> {
        let sides = self.sources.iter().filter_map(Source::side);
        let terminals: Vec<u64> = self.pty.iter().chain(sides).filter_map(Pty::device).collect();
        let busy = self.watcher.policy().profile.as_ref().map(|profile| profile.busy).unwrap_or_default();
        self.guards.ask(self.clock.now(), self.watcher.guards(), self.monitor.pid, &terminals, busy)
    }

    fn ask_guards(&mut self) {
        let now = self.clock.now();
        self.answers = self.hear_guards();
        let commands: Vec<String> = self
            .watcher
            .guards()
            .filter_map(|guard| match guard {
                Guard::Command(shell) => Some(shell.clone()),
                _ => None,
            })
            .collect();
        for shell in commands {
            if let Err(done) = self.shells.start(now, &shell, Purpose::Guard, &self.variables()) {
                self.answered(done);
            }
        }
        self.pass_answers_on();
    }

    /// What a shell command may want to know.
    fn variables(&self) -> [(&'static str, String); 2] {
        [("IDLEWATCH_PID", self.child.to_string()), ("IDLEWATCH_STATE", self.watcher.state().to_string())]
    }

    fn answered(&mut self, done: Done) {
        let speaks = match done.status {
            Ok(0) => Some(format!("'{}' says so", done.text)),
            Ok(_) => None,
            Err(why) => {
                self.tell(Say::Warnings, Tone::Warning, &format!("guard cmd:{}: {why}", done.text));
                None
            }
        };
        self.answers.push(Answer { guard: Guard::Command(done.text), speaks });
    }

    fn pass_answers_on(&mut self) {
        if !self.shells.guards_run() {
            let answers = std::mem::take(&mut self.answers);
            self.observe(&Observation::Answered(answers));
        }
    }

    /// Looks after the shell commands that run beside the command.
    pub(super) fn mind_shells(&mut self) {
        let mut asked = false;
        for done in self.shells.ended(self.clock.now()) {
            match done.purpose {
                Purpose::Guard => {
                    asked = true;
                    self.answered(done);
                }
                Purpose::Step => self.report(&Event::Ran { shell: done.text, status: done.status }),
            }
        }
        self.shells.bury_others(self.monitor.pid);
        if asked {
            self.pass_answers_on();
        }
    }

    fn run_shell(&mut self, shell: &str) {
        let now = self.clock.now();
        if let Err(done) = self.shells.start(now, shell, Purpose::Step, &self.variables()) {
            self.report(&Event::Ran { shell: done.text, status: done.status });
        }
    }

    fn signal_tree(&mut self, signal: Signal, reason: Reason) {
        self.sketch_before_signal();
        // Should somebody have stopped it: nobody else can tell us of the end.
        let _ = signals::send(self.monitor.pid, Signal::CONT);
        let processes = tree::descendants(self.monitor.pid).map_or(1, |tree| tree.len());
        if processes == 0 && self.ended.is_some() {
            // There is nobody left to signal. A tree that only cannot be seen is told of.
            return;
        }
        let refused = tree::signal_all(self.monitor.pid, self.target(), signal);
        let refused = refused.iter().map(ToString::to_string).collect();
        self.report(&Event::Signaled { signal, reason, processes, refused });
    }
}
