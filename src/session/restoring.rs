//! Our terminal at the end of a run: the screen, the settings and what was typed, for whoever comes next.

use super::{Session, Status, typeahead};
use crate::config::Say;

impl Session {
    /// Whatever the command was in the middle of, what is written to the terminal now is not a part of it.
    fn cut_off_sequence(&mut self) {
        if let (true, Some(screen)) = (self.flow.modes.cut_off(), self.outer.screen) {
            self.flow.sinks[screen].take(b"\x18");
        }
    }

    pub(super) fn take_title_back_at_last(&mut self) {
        if self.teller.notes.is_titled() {
            self.cut_off_sequence();
            self.take_title_back();
        }
    }

    /// Undoes the modes that the command left on.
    pub(super) fn restore_screen(&mut self) {
        let undo = self.flow.modes.undo(self.screen_size().rows.into());
        if let (Some(screen), false) = (self.outer.screen, undo.is_empty()) {
            self.cut_off_sequence();
            self.flow.sinks[screen].take(&undo);
            self.flush();
        }
    }

    /// What we have to say about the end stands in a line of its own.
    pub(super) fn begin_line(&mut self) {
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
    pub(super) fn keep_usable_settings(&mut self) {
        let by_itself = self.fate.reason.is_none() && matches!(self.fate.ended, Some(Status::Code(_)));
        let (Some(terminal), Some(pty)) = (&mut self.outer.terminal, &self.inner.pty) else { return };
        if let (true, Ok(left)) = (by_itself, pty.settings()) {
            terminal.adopt(&left);
        }
    }

    /// What the person typed and nobody read is for whoever reads the terminal next.
    pub(super) fn return_typeahead(&mut self) {
        let Some(terminal) = self.outer.terminal.as_mut().filter(|terminal| terminal.is_raw()) else { return };
        let (Some(pty), Some(slave)) = (&self.inner.pty, &self.inner.slave) else { return };
        let mut unread =
            pty.settings().and_then(|settings| typeahead::take_unread(pty, slave, &settings)).unwrap_or_default();
        unread.extend(self.inner.keyboard.take_back());
        let mut unread = self.inner.authors.leave_out_ours(unread);
        if !unread.is_empty() {
            // Whatever was typed since we last looked comes after that.
            unread.extend(typeahead::take_late(terminal));
            typeahead::give_back(terminal, &unread);
        }
    }
}
