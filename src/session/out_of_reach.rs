//! Who cannot be ended: a program that has become another user, or one that hangs in the kernel. Nobody is waited for in
//! vain.

use std::time::Duration;

use super::ending::PATIENCE;
use super::link::Order;
use super::relay::Source;
use super::{RESCAN, Session, tree};

/// How long a command may take to end of SIGKILL: it may have much memory to give back, or wait for a disk.
const SLOWEST_END: Duration = Duration::from_secs(10);

impl Session {
    /// The command was sent SIGKILL, or was to be and we may not.
    pub(super) fn write_off_later(&mut self, refused: bool) {
        let now = self.clock.now();
        self.fate.written_off = Some(if refused { now } else { now + SLOWEST_END });
    }

    /// Whether the command does not end, whatever is done.
    pub(super) fn is_written_off(&self) -> bool {
        self.fate.written_off.is_some_and(|moment| self.clock.now() >= moment)
    }

    /// Whoever is left could not be killed. A hangup of their terminal comes from the kernel, which asks nobody whether it
    /// may: the session's leader hears of it when its terminal goes, the foreground when that leader does.
    pub(super) fn hang_up_on_rest(&mut self) {
        let mut rest = self.rest();
        self.return_typeahead();
        for source in self.flow.sources.iter_mut().filter(|source| source.is_terminal()) {
            Source::close(source);
        }
        (self.inner.pty, self.inner.slave) = (None, None);
        self.dismiss_monitor();
        let begun = self.clock.now();
        while rest.as_ref().is_some_and(|rest| !rest.is_empty()) && self.clock.now().since(begun) < PATIENCE / 2 {
            std::thread::sleep(RESCAN);
            // They are ours now, and those that are dead and hidden look as if they were not.
            self.asked.shells.bury_others(self.command.monitor.pid);
            if let Some(rest) = &mut rest {
                rest.retain(tree::is_alive);
            }
        }
        if rest.as_ref().is_none_or(|rest| !rest.is_empty()) {
            self.tell_rest("could not be killed and still running", rest.as_deref());
        }
    }

    /// Lets the monitor go, and waits until it has.
    pub(super) fn dismiss_monitor(&mut self) {
        if !std::mem::replace(&mut self.fate.unminded, true) {
            self.command.order(Order::Finish);
            self.command.monitor.bury();
        }
    }
}
