//! Who adds the carriage returns where others print to our terminal too.

use super::Session;

impl Session {
    /// Where others print to our terminal too, it goes on to add the carriage returns for as long as the command's own
    /// does: then what either prints is shown as it would be without us. A terminal that is not ours adds them anyway.
    pub(super) fn share_output(&mut self) {
        let Some(screen) = self.outer.screen else { return };
        let (Some(terminal), Some(pty)) = (&mut self.outer.terminal, &self.inner.pty) else { return };
        let sink = &mut self.flow.sinks[screen];
        let adds = if terminal.is_raw() {
            // What still waits was meant for a terminal as it is now.
            if self.outer.shared && !terminal.is_shared() && !sink.is_behind() && pty.adds_returns() {
                terminal.share(true);
            }
            terminal.is_shared()
        } else {
            pty.adds_returns()
        };
        if adds != sink.adds_returns() {
            sink.set_adds_returns(adds);
        }
    }

    /// The command has printed a newline that stands alone: from here on it draws, and gets our terminal whole.
    pub(super) fn turn_output(&mut self, sink: usize) {
        if self.flow.sinks[sink].is_at_turn() {
            if let Some(terminal) = &mut self.outer.terminal {
                terminal.share(false);
            }
            self.flow.sinks[sink].set_adds_returns(false);
            self.flow.sinks[sink].flush();
        }
    }

    /// What is printed from now on is passed on as it is.
    pub(super) fn stop_sharing(&mut self) {
        if let Some(screen) = self.outer.screen {
            self.flow.sinks[screen].set_adds_returns(false);
        }
    }
}
