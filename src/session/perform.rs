//! What the watcher decides, done; and what came of it, told.

use std::path::PathBuf;
use std::time::Duration;

use super::files::Seen;
use super::guards::Guards;
use super::lent::Lent;
use super::notes::{Room, Tone};
use super::pty::Pty;
use super::relay::Source;
use super::shell::{Done, Purpose};
use super::terminal::Terminal;
use super::{Session, clock::Clock, look, signals, tree};
use crate::config::Say;
use crate::exit::Reason;
use crate::report::in_words;
use crate::signal::Signal;
use crate::watch::{Action, Answer, Event, Guard, Known, Moment, Observation, State, Word, span};

/// What a shell ends with where it cannot run, or does not find, what it was told to: a slip, of which nobody would know.
const CANNOT_RUN: i32 = 126;
const NOT_FOUND: i32 = 127;

impl Session {
    pub(super) fn perform(&mut self, action: &Action) {
        match action {
            Action::Report(event) => self.report(event),
            Action::Look => self.look(),
            Action::Measure => self.measure(),
            Action::Ask => self.ask_guards(),
            Action::Warn { evidence, limit, known, .. } => self.warn(evidence, *limit, *known),
            Action::Type(bytes) => self.type_ours(bytes),
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
            _ if known && self.teller.notes.says(Say::Reasons) => format!("warning: the limit of {limit} has passed"),
            _ => format!("warning: {evidence} (limit {limit})"),
        };
        self.tell(Say::Warnings, Tone::Warning, &text);
    }

    /// Tells whoever listens, and the person if it matters to one.
    pub(super) fn report(&mut self, event: &Event) {
        self.teller.records.event(self.clock.now(), event);
        self.tell_losses();
        if let Some(heartbeat) = &mut self.teller.heartbeat {
            heartbeat.event(event);
        }
        self.note(event);
        if let Event::StateChanged { to: State::Active, .. } = event {
            self.teller.notes.outlast_title();
            self.say_held_back();
        }
        let (weight, tone) = match event {
            Event::StateChanged { to: State::Waiting, .. } if self.outer.attended => (Say::Reasons, Tone::Warning),
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
        while let Some(loss) = self.teller.records.next_loss() {
            if self.room() == Room::None {
                // Not over what the command draws, where it would be gone with the title.
                self.teller.records.keep_loss(loss);
            } else {
                self.tell(Say::Warnings, Tone::Warning, &loss.0);
            }
        }
    }

    pub(super) fn tell_progress(&mut self, now: Moment) {
        if let Some((every, next)) = &mut self.teller.progress {
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
        if !self.teller.notes.says(weight) {
            return;
        }
        let room = self.room();
        if room != Room::NoTerminal && !self.flow.modes.is_between_sequences() {
            return self.teller.notes.hold_back(tone, text);
        }
        if let (Some(bytes), Some(screen)) = (self.teller.notes.tell(tone, text, room), self.outer.screen) {
            self.flow.sinks[screen].take(&bytes);
        }
    }

    /// Says what had to wait until the command is between two sequences, if it is.
    pub(super) fn say_held_back(&mut self) {
        while self.flow.modes.is_between_sequences() {
            if self.teller.notes.is_titled_too_long() {
                self.take_title_back();
            }
            let Some((tone, text)) = self.teller.notes.next_held_back() else { return };
            self.tell(Say::Warnings, tone, &text);
        }
    }

    pub(super) fn room(&mut self) -> Room {
        // What was passed on already says where there is any.
        self.understand();
        if self.outer.screen.is_none() || !self.outer.terminal.as_ref().is_some_and(Terminal::is_raw) {
            return Room::NoTerminal;
        }
        let draws = self.inner.pty.as_ref().is_none_or(|pty| !pty.is_in_line_mode());
        let at_start = self.watcher.cursor().1 == 1;
        if !draws && at_start { Room::Line } else { Room::None }
    }

    pub(super) fn take_title_back(&mut self) {
        let own = self.watcher.title().map(ToOwned::to_owned);
        if let (Some(bytes), Some(screen)) = (self.teller.notes.take_back(own.as_deref()), self.outer.screen) {
            self.flow.sinks[screen].take(&bytes);
        }
    }

    fn look(&mut self) {
        let (mut terminals, lent) = (self.terminals(), self.outer.lent.as_ref());
        terminals.extend(lent.and_then(Lent::device));
        let mut look = look::look(self.command.monitor.pid, self.inner.pty.as_ref(), lent, &terminals);
        if self.inner.is_silenced && look.echo != Known::Yes {
            // It was so before the command, so it says nothing about it.
            look.echo = Known::Unknown;
        } else {
            self.inner.is_silenced = false;
        }
        look.paste = if self.flow.modes.is_paste_bracketed() { Known::Yes } else { Known::No };
        let is_full = |source: &Source| !source.is_closed() && !self.flow.sinks[source.sink].has_room();
        look.held_up |= self.flow.sources.iter().any(is_full);
        for file in &mut self.flow.printed {
            look.file_grew |= file.has_changed();
        }
        look.typed = self.outer.lent.as_mut().and_then(Lent::typed);
        self.observe(&Observation::Looked(look));
    }

    /// The device numbers of the command's terminals.
    pub(super) fn terminals(&self) -> Vec<u64> {
        let sides = self.flow.sources.iter().filter_map(Source::side);
        self.inner.pty.iter().chain(sides).filter_map(Pty::device).collect()
    }

    /// What guards saw in an earlier silence says nothing of this one.
    fn measure(&mut self) {
        self.asked.guards = Guards::default();
        for answer in self.hear_guards(false) {
            self.asked.guards.keep(answer);
        }
    }

    /// What guards say. Those that go by files say it later, and only if that is `awaited`.
    fn hear_guards(&mut self, awaited: bool) -> Vec<Answer> {
        let files: Vec<PathBuf> = self
            .watcher
            .guards()
            .filter_map(|guard| if let Guard::File(path) = guard { Some(path.clone()) } else { None })
            .collect();
        let now = self.clock.now();
        let unseen: Vec<Seen> =
            files.iter().filter_map(|path| self.asked.files.look(now, path, awaited).err()).collect();
        let mut answers: Vec<Answer> = unseen.into_iter().filter_map(|seen| self.saw(seen)).collect();
        let terminals = self.terminals();
        let busy = self.watcher.policy().profile.as_ref().map(|profile| profile.busy).unwrap_or_default();
        let root = self.command.monitor.pid;
        let output = (terminals.as_slice(), self.watcher.last_output());
        let silence = (now, now.since(self.watcher.silent_from()));
        answers.extend(self.asked.guards.ask(silence, self.watcher.guards(), root, output, busy));
        answers
    }

    /// What a guard says that goes by a file, if somebody waits for it.
    fn saw(&mut self, seen: Seen) -> Option<Answer> {
        let word = match seen.mark {
            Ok(mark) => {
                let silent = self.clock.now().since(self.watcher.silent_from());
                self.asked.guards.file(&seen.path, mark, Clock::time_of_day(), silent)
            }
            Err(why) => {
                if seen.awaited {
                    let text = format!("guard file:{}: {why}", seen.path.display());
                    self.tell(Say::Warnings, Tone::Warning, &text);
                }
                Word::Nothing
            }
        };
        let answer = Answer { guard: Guard::File(seen.path), word };
        if seen.awaited {
            return Some(self.asked.guards.complete(answer));
        }
        self.asked.guards.keep(answer);
        None
    }

    fn ask_guards(&mut self) {
        let now = self.clock.now();
        let answers = self.hear_guards(true);
        self.asked.answers = answers.into_iter().map(|answer| self.asked.guards.complete(answer)).collect();
        let commands: Vec<String> = self
            .watcher
            .guards()
            .filter_map(|guard| match guard {
                Guard::Command(shell) => Some(shell.clone()),
                _ => None,
            })
            .collect();
        for shell in commands {
            if let Err(done) = self.asked.shells.start(now, &shell, Purpose::Guard, &self.variables()) {
                self.answered(done);
            }
        }
        self.pass_answers_on();
    }

    /// What a shell command may want to know.
    fn variables(&self) -> [(&'static str, String); 2] {
        [("IDLEWATCH_PID", self.command.child.to_string()), ("IDLEWATCH_STATE", self.watcher.state().to_string())]
    }

    fn answered(&mut self, done: Done) {
        let word = match done.status {
            Ok(0) => Word::Speaks(format!("'{}' succeeded", done.text)),
            Ok(_) => Word::Nothing,
            Err(why) => {
                self.tell(Say::Warnings, Tone::Warning, &format!("guard cmd:{}: {why}", done.text));
                Word::Nothing
            }
        };
        self.asked.answers.push(Answer { guard: Guard::Command(done.text), word });
    }

    fn pass_answers_on(&mut self) {
        if !self.asked.are_thinking() {
            let answers = std::mem::take(&mut self.asked.answers);
            self.observe(&Observation::Answered(answers));
        }
    }

    /// Looks after what runs beside the command, for guards and for steps.
    pub(super) fn mind_shells(&mut self) {
        let mut asked = false;
        for done in self.asked.shells.ended(self.clock.now()) {
            match done.purpose {
                Purpose::Guard => {
                    asked = true;
                    self.answered(done);
                }
                Purpose::Step => self.report(&Event::Ran { shell: done.text, status: done.status }),
            }
        }
        for seen in self.asked.files.seen(self.clock.now()) {
            if let Some(answer) = self.saw(seen) {
                asked = true;
                self.asked.answers.push(answer);
            }
        }
        self.asked.shells.bury_others(self.command.monitor.pid);
        if asked {
            self.pass_answers_on();
        }
    }

    fn run_shell(&mut self, shell: &str) {
        let now = self.clock.now();
        if let Err(done) = self.asked.shells.start(now, shell, Purpose::Step, &self.variables()) {
            self.report(&Event::Ran { shell: done.text, status: done.status });
        }
    }

    fn signal_tree(&mut self, signal: Signal, reason: Reason) {
        self.sketch_before_signal();
        // Should somebody have stopped it: nobody else can tell us of the end.
        let _ = signals::send(self.command.monitor.pid, Signal::CONT);
        let processes = tree::descendants(self.command.monitor.pid).map_or(1, |tree| tree.len());
        if processes == 0 && self.fate.ended.is_some() {
            // There is nobody left to signal. A tree that only cannot be seen is told of.
            return;
        }
        let refused = tree::signal_all(self.command.monitor.pid, self.command.target(), signal);
        if signal == Signal::KILL {
            let pid = self.command.child;
            self.write_off_later(refused.iter().any(|process| process.pid == pid));
        }
        let refused = refused.iter().map(ToString::to_string).collect();
        self.report(&Event::Signaled { signal, reason, processes, refused });
    }
}
