//! Job control: the foreground, stopping and continuing, as a shell expects it of the command.

use std::time::Duration;

use nix::sys::signal::{
    SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal as Nix, kill, sigaction, sigprocmask,
};
use nix::sys::termios::{LocalFlags, SpecialCharacterIndices as Key};
use nix::unistd::{Pid, getpgrp, getpid};

use super::link::Order;
use super::place::{self, Place};
use super::pty::Pty;
use super::signals::{self, Origin, Signals};
use super::terminal::Terminal;
use super::{Observation, Session, Signal};

/// How long it may take until the monitor has put the command in front.
const HANDOVER: Duration = Duration::from_secs(1);

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
        }
        self.share_output();
        Signals::hold_terminal_output(false);
        self.command.order(Order::Foreground);
        self.outer.fronted = Some(self.clock.now());
        self.resize();
        self.set_attended(true);
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
    fn stop_sharing(&mut self) {
        if let Some(screen) = self.outer.screen {
            self.flow.sinks[screen].set_adds_returns(false);
        }
    }

    /// Puts our terminal back as it was found.
    fn restore_terminal(&mut self) {
        if let Some(terminal) = &mut self.outer.terminal {
            terminal.restore();
        }
        self.stop_sharing();
    }

    /// Gives our terminal up: somebody else is in its foreground.
    pub(super) fn go_to_back(&mut self) {
        Signals::hold_terminal_output(true);
        self.restore_terminal();
        self.share_output();
        self.command.order(Order::Background);
        self.set_attended(false);
    }

    /// The command was stopped.
    pub(super) fn stopped(&mut self, signal: Signal) {
        self.stop_too(signal);
        // However that went: nobody need see to it that we go on.
        self.command.order(Order::Awake);
    }

    /// Stops with the command, for the shell to see; unless there is none, or the command only wanted the terminal and can
    /// have it.
    fn stop_too(&mut self, signal: Signal) {
        self.close_prompt();
        self.relay_all();
        let ours = self.outer.terminal.as_ref().is_some_and(Terminal::is_ours);
        let has_it = self.inner.pty.as_ref().and_then(Pty::foreground) == Some(self.command.group);
        // It may have asked for the terminal a moment before it got it.
        let just_got_it = self.outer.fronted.is_some_and(|at| self.clock.now().since(at) < HANDOVER);
        if matches!(signal, Signal::TTIN | Signal::TTOU) && self.inner.pty.is_some() && ours && (!has_it || just_got_it)
        {
            self.outer.on_demand = false;
            if !has_it {
                self.come_to_front();
            }
            self.command.order(Order::SignalGroup(Signal::CONT));
            return;
        }
        if place::is_orphaned() {
            // No shell is there to see it and to continue us, so the kernel would not have let a key stop it where we
            // stand. If it wanted to be stopped, or wants the terminal, it is silent to us.
            if signal == Signal::TSTP {
                self.command.order(Order::SignalGroup(Signal::CONT));
            }
            return;
        }
        if self.watcher.is_ending() {
            // Nobody wants it continued.
            return;
        }
        if signal == Signal::STOP && getpgrp() != getpid() {
            // Somebody means the command alone, and no shell looks at us: we are part of a script, which goes on to wait.
            return;
        }
        let was_raw = self.outer.terminal.as_ref().is_some_and(Terminal::is_raw);
        for (signal, origin) in self.stand_still(signal) {
            self.signalled(signal, origin);
        }
        self.take_place_again(was_raw);
        self.let_continue(true);
    }

    /// Gives our terminal back and stops, until somebody continues us. Gives the signals that came meanwhile, without the
    /// one that continued us: what that is for is done by whoever asks for this, and only once.
    pub(super) fn stand_still(&mut self, signal: Signal) -> Vec<(Signal, Origin)> {
        self.restore_terminal();
        let before = self.clock.now();
        self.stop_ourselves(signal);
        self.clock.rewind_to(before);
        // That is done with.
        Signals::were_continued();
        self.signals.arrived().into_iter().filter(|(signal, _)| *signal != Signal::CONT).collect()
    }

    /// Takes our terminal again after a stop, where it is ours.
    pub(super) fn take_place_again(&mut self, was_raw: bool) {
        let ours = self.outer.terminal.as_ref().is_some_and(Terminal::is_ours);
        if self.inner.pty.is_some() && self.outer.terminal.is_some() {
            if ours && (was_raw || !self.outer.on_demand) { self.come_to_front() } else { self.go_to_back() }
        }
    }

    /// Passes on what is there, so that it is shown under the settings it was printed for.
    fn relay_all(&mut self) {
        for index in 0..self.flow.sources.len() {
            while self.flow.sinks[self.flow.sources[index].sink].has_room() && self.relay(index).may_be_more() {}
        }
    }

    fn stop_ourselves(&self, signal: Signal) {
        let Ok(number) = Nix::try_from(signal.number()) else { return };
        let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
        // SAFETY: the default action runs no code of ours; what was there before is put back below.
        let before = if signal == Signal::STOP { None } else { unsafe { sigaction(number, &default) }.ok() };
        let (mut this, mut mask) = (SigSet::empty(), SigSet::empty());
        this.add(number);
        let _ = sigprocmask(SigmaskHow::SIG_UNBLOCK, Some(&this), Some(&mut mask));
        if signal == Signal::STOP || self.command.place == Place::Ours {
            let _ = kill(getpid(), number);
        } else {
            // A key stops the whole process group, and so do we.
            let _ = kill(Pid::from_raw(0), number);
        }
        // Here we stand until somebody continues us.
        let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&mask), None);
        if let Some(before) = before {
            // SAFETY: `before` is the action that was in place a moment ago.
            let _ = unsafe { sigaction(number, &before) };
        }
    }

    /// Somebody continued us from outside. How long we stood still is not known, so nothing is held against the
    /// command; unless we did not stand still at all.
    pub(super) fn continued(&mut self) {
        self.leave_out_stop();
        let gap = std::mem::take(&mut self.gaps.stopped);
        if !gap.is_zero() {
            self.observe(&Observation::Gap(gap));
        }
        self.close_prompt();
        self.relay_all();
        if let (Some(terminal), true) = (&self.outer.terminal, self.inner.pty.is_some()) {
            match (terminal.is_ours(), terminal.is_raw()) {
                (true, false) if !self.outer.on_demand => self.come_to_front(),
                // A shell that has stopped and continued us has had it as it likes it in between.
                (true, true) => terminal.insist(),
                (false, true) => self.go_to_back(),
                (_, false) => {}
            }
        }
        self.let_continue(false);
    }

    /// Passes a continue on. In our own process group the command has had what ended our stop from the shell already,
    /// unless it was meant for us alone.
    fn let_continue(&self, after_stop: bool) {
        if self.command.place != Place::Ours {
            self.command.order(Order::SignalGroup(Signal::CONT));
        } else if !after_stop || super::tree::is_stopped(self.command.child) {
            self.command.order(Order::Signal(Signal::CONT));
        }
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

/// Signals our process group and not ourselves: our own copy is recognised by its origin.
fn to_our_group(signal: Signal) {
    let _ = signals::send(0, signal);
}
