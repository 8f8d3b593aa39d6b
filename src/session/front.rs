//! Our terminal's foreground: taken for the command, given up, or gone.

use nix::sys::termios::LocalFlags;

use super::link::Order;
use super::signals::Signals;
use super::terminal::Terminal;
use super::{Observation, Session};

impl Session {
    /// A person is there to answer, or is not.
    pub(super) fn set_attended(&mut self, attended: bool) {
        if self.outer.attended != (attended && self.outer.has_person) {
            self.outer.attended = attended && self.outer.has_person;
            self.observe(&Observation::Attended(self.outer.attended));
        }
    }

    /// Takes our terminal for the command: raw, and the command in the foreground of its own.
    pub(super) fn come_to_front(&mut self) {
        let Some(terminal) = &mut self.outer.terminal else { return };
        // What still waits is for a terminal as it is now.
        if let Some(screen) = self.outer.screen {
            self.flow.sinks[screen].flush();
        }
        if terminal.make_raw(self.outer.shared).is_err() {
            return;
        }
        if let (Some(pty), Some(found), true) =
            (&self.inner.pty, terminal.found(), std::mem::take(&mut self.outer.strange_settings))
        {
            let _ = pty.set(found);
            self.inner.is_silenced = !found.local_flags.contains(LocalFlags::ECHO);
        }
        self.share_output();
        Signals::hold_terminal_output(false);
        self.command.order(Order::Foreground);
        self.outer.fronted = Some(self.clock.now());
        self.resize();
        self.set_attended(true);
    }

    /// Gives our terminal up: somebody else is in its foreground.
    pub(super) fn go_to_back(&mut self) {
        Signals::hold_terminal_output(true);
        self.restore_terminal();
        self.share_output();
        self.command.order(Order::Background);
        self.set_attended(false);
    }

    /// Whether somebody else has our terminal, and we go on as if it were ours.
    pub(super) fn has_lost_terminal(&self) -> bool {
        self.outer.terminal.as_ref().is_some_and(|terminal| terminal.is_raw() && !terminal.is_ours())
    }

    /// Whether somebody else has our terminal, and we would take it.
    pub(super) fn is_in_back(&self) -> bool {
        !self.outer.on_demand
            && self.inner.pty.is_some()
            && self.outer.terminal.as_ref().is_some_and(|terminal| !terminal.is_raw())
    }

    /// A shell that brings a running job to the front gives it the terminal and says nothing.
    pub(super) fn notice_front(&mut self) {
        if self.is_in_back() && self.outer.terminal.as_ref().is_some_and(Terminal::is_ours) {
            self.come_to_front();
        }
    }

    /// Takes our terminal again after a stop, where it is ours.
    pub(super) fn take_place_again(&mut self, was_raw: bool) {
        let ours = self.outer.terminal.as_ref().is_some_and(Terminal::is_ours);
        if self.inner.pty.is_some() && self.outer.terminal.is_some() {
            if ours && (was_raw || !self.outer.on_demand) { self.come_to_front() } else { self.go_to_back() }
        }
    }

    /// Puts our terminal back as it was found.
    pub(super) fn restore_terminal(&mut self) {
        if let Some(terminal) = &mut self.outer.terminal {
            terminal.restore();
        }
        self.stop_sharing();
    }

    /// Our terminal is gone, so the command's goes too: its processes get the hangup they would have got.
    pub(super) fn hang_up(&mut self) {
        if let Some(terminal) = &mut self.outer.terminal {
            terminal.forget();
        }
        self.stop_sharing();
        self.fate.dismissal.deserted();
        for source in self.flow.sources.iter_mut().filter(|source| source.is_terminal()) {
            source.close();
        }
        self.inner.keyboard.take_back();
        (self.inner.pty, self.inner.slave) = (None, None);
        // Whoever was there to answer is not any more.
        self.set_attended(false);
    }
}
