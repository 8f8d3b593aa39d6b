//! What is typed into the command's terminal: by the person, from our own standard input, as an answer to a question.

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::termios::SpecialCharacterIndices as Key;

use super::inner::Inner;
use super::prompt::Prompt;
use super::{Observation, Session, interrupts};

/// A terminal never gives more at a time.
const READ: usize = 4096;

impl Session {
    /// What the person typed.
    pub(super) fn read_terminal(&mut self) {
        if self.inner.read.is_none() && self.read_keys() {
            return;
        }
        let Some(found) = self.inner.read.take() else { return };
        // The same each time: to clear one for every key would be work for nothing.
        let buffer = std::mem::take(&mut self.inner.buffer);
        self.take_typed(found.map(|count| &buffer[..count]));
        self.inner.buffer = buffer;
    }

    /// Reads what the person typed. Where that is letters and nothing else is to be thought of first, they are on their way
    /// right then, which it says: whoever types waits for the echo.
    pub(super) fn read_keys(&mut self) -> bool {
        let (Some(terminal), Some(pty)) = (&self.outer.terminal, &self.inner.pty) else { return false };
        if !terminal.is_raw() {
            // Given up in this very turn: what is typed now is for somebody else.
            return false;
        }
        let buffer = &mut self.inner.buffer;
        buffer.resize(READ, 0);
        let found = match self.kept.held_back() {
            Some(held) => terminal.read_while(held, buffer),
            None => terminal.read(buffer),
        };
        let unseen = !self.inner.typed.is_empty() || self.flow.passed.bytes().is_some();
        match found.map(|count| &buffer[..count]) {
            Ok(typed @ [_, ..]) if !unseen && self.prompt.is_none() && is_text(typed) => {
                self.inner.keyboard.enter(pty.as_fd(), typed);
                self.inner.authors.the_person(typed);
                self.inner.typed.extend_from_slice(typed);
                self.inner.typed_at = self.clock.now();
                true
            }
            _ => {
                self.inner.read = Some(found);
                false
            }
        }
    }

    fn take_typed(&mut self, found: nix::Result<&[u8]>) {
        let Some(terminal) = &self.outer.terminal else { return };
        match found {
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Ok([]) if !terminal.is_gone() => {
                // Somebody has set it to whole lines, and this was the end-of-file of one.
                terminal.insist();
                if let Some(end) = self.end_key() {
                    self.type_persons(&[end]);
                }
            }
            // Somebody has taken it without a word; or has had it for a moment, and it is ours again.
            Err(Errno::EIO) if !terminal.is_gone() => {
                if !terminal.is_ours() {
                    self.go_to_back();
                }
            }
            Ok([]) | Err(_) => self.hang_up(),
            Ok(typed) if self.prompt.as_ref().is_some_and(Prompt::is_shown) => self.answer_prompt(typed),
            Ok(typed) => self.pass_keys(typed),
        }
    }

    /// Types what the person typed into the command's terminal.
    pub(super) fn pass_keys(&mut self, typed: &[u8]) {
        if is_text(typed) {
            // Whoever types letters looks for their echo, and hardly ever are they keys that signal: that is asked later.
            self.type_persons(typed);
            self.understand();
        } else {
            // Before they arrive, since the command may be gone right after; and after those that were typed before them.
            self.understand();
            self.notice_signals(typed);
            self.type_persons(typed);
        }
        // Once they have their echo.
        self.inner.typed.extend_from_slice(typed);
        self.inner.typed_at = self.clock.now();
    }

    /// Types what a person has typed.
    fn type_persons(&mut self, typed: &[u8]) {
        self.type_in(typed);
        self.inner.authors.the_person(typed);
    }

    /// Types what no person has typed.
    pub(super) fn type_ours(&mut self, text: &[u8]) {
        if self.outer.terminal.is_some() {
            self.inner.authors.we(text);
        }
        self.type_in(text);
    }

    /// Types this into the command's terminal. Where nobody looks at that, its echo would only be in the output.
    fn type_in(&mut self, typed: &[u8]) {
        let Inner { pty: Some(pty), slave, keyboard, .. } = &mut self.inner else { return };
        let mut enter = || keyboard.enter(pty.as_fd(), typed);
        if self.outer.terminal.is_some() { enter() } else { pty.while_silent(slave.as_ref(), enter) }
    }

    /// Passes on to others what these keys mean to more than the command.
    fn notice_signals(&mut self, typed: &[u8]) {
        let Some(pty) = &self.inner.pty else { return };
        let signals = interrupts::signals_typed(pty, self.command.group, typed, &mut self.inner.literal);
        for signal in &signals {
            self.fate.dismissal.told(*signal, self.clock.now());
        }
        self.spread(&signals);
    }

    /// Looks at what the person typed a moment ago.
    pub(super) fn understand_typed(&mut self) {
        let mut typed = std::mem::take(&mut self.inner.typed);
        if !typed.is_empty() {
            if is_text(&typed) {
                self.notice_signals(&typed);
            }
            self.leave_out_stop();
            // The clock may have been put back since.
            let when = self.inner.typed_at.min(self.clock.now());
            self.observe_at(when, &Observation::Typed(&typed));
            typed.clear();
        }
        self.inner.typed = typed;
    }

    /// Our own standard input, typed into the command's terminal.
    pub(super) fn read_stdin(&mut self) {
        let (Some(_), Some(stdin)) = (&self.inner.pty, &self.inner.stdin) else { return };
        let mut buffer = [0; READ];
        match stdin.read(&mut buffer) {
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Ok(0) | Err(_) => {
                self.inner.stdin = None;
                // Twice: the first ends a line that was not finished.
                if let Some(end) = self.end_key() {
                    self.type_ours(&[end; 2]);
                }
            }
            Ok(count) => self.type_ours(&buffer[..count]),
        }
    }

    /// The key that stands for the end of the input.
    fn end_key(&self) -> Option<u8> {
        let settings = self.inner.pty.as_ref()?.settings().ok()?;
        Some(settings.control_chars[Key::VEOF as usize])
    }

    /// Answers questions to a terminal that is not there.
    pub(super) fn answer(&mut self, bytes: &[u8]) {
        // Whoever asks without end and reads no answer gets no more of them: of a flood a little is answered at a time.
        for questions in bytes.chunks(READ) {
            let watcher = &mut self.watcher;
            let answers = self.inner.queries.answer(questions, || watcher.cursor());
            if !answers.is_empty() && self.inner.keyboard.has_room() {
                self.type_ours(&answers);
            }
        }
    }
}

/// Whether all of these keys are letters and the like.
fn is_text(typed: &[u8]) -> bool {
    typed.iter().all(|key| key.is_ascii_graphic() || *key == b' ')
}
