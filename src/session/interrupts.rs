//! Keys that are signals, and signals to more than one process.

use nix::sys::termios::{LocalFlags, SpecialCharacterIndices as Key};

use super::place::Place;
use super::pty::Pty;
use super::{Session, signals};
use crate::signal::Signal;

/// The signals that these keys cause in the command's terminal, where the command itself stands in its foreground.
/// `literal` is whether the key before these takes the first of them for what it is, and then whether the last does.
pub fn signals_typed(pty: &Pty, group: i32, typed: &[u8], literal: &mut bool) -> Vec<Signal> {
    let Ok(settings) = pty.settings() else { return Vec::new() };
    let has = |flags| settings.local_flags.contains(flags);
    let is = |key: Key, typed: u8| {
        let key = settings.control_chars[key as usize];
        key != libc::_POSIX_VDISABLE && key == typed
    };
    let mut signals = Vec::new();
    for key in typed {
        if std::mem::take(literal) {
            continue;
        }
        let causes = [(Key::VINTR, Signal::INT), (Key::VQUIT, Signal::QUIT)];
        let signal = causes.into_iter().find(|(cause, _)| has(LocalFlags::ISIG) && is(*cause, *key));
        signals.extend(signal.map(|(_, signal)| signal).filter(|signal| !signals.contains(signal)));
        *literal = signal.is_none() && has(LocalFlags::ICANON | LocalFlags::IEXTEN) && is(Key::VLNEXT, *key);
    }
    // Who stands in the foreground is asked only where it matters: most keys are no signal.
    if !signals.is_empty() && pty.foreground() != Some(group) {
        signals.clear();
    }
    signals
}

impl Session {
    /// Without us these keys would reach everybody in our process group: a make or a script that runs us, the other
    /// end of a pipeline. They did not, because our terminal is raw; so we pass them on.
    pub(super) fn spread(&self, signals: &[Signal]) {
        if self.command.place != Place::SessionLeader {
            for signal in signals {
                to_our_group(*signal);
            }
        }
    }

    /// Signals the command's process group at once, without the detour over the monitor.
    pub(super) fn signal_group(&self, signal: Signal) {
        if let (None, Place::Job { .. } | Place::SessionLeader | Place::Orphaned) =
            (self.fate.ended, self.command.place)
        {
            // The monitor has not told us of the command's end, so its process id is its own.
            signals::send_to_group(self.command.group, self.command.child, signal);
        }
    }
}

/// Signals our process group and not ourselves: our own copy is recognised by its origin.
fn to_our_group(signal: Signal) {
    let _ = signals::send(0, signal);
}
