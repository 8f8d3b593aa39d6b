//! Job control: stopping and continuing, as a shell expects it of the command.
#![allow(unsafe_code, reason = "dispositions of signals")]

use std::time::Duration;

use nix::sys::signal::{
    SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal as Nix, kill, sigaction, sigprocmask,
};
use nix::unistd::{Pid, getpgrp, getpid};

use super::link::Order;
use super::place::{self, Place};
use super::pty::Pty;
use super::signals::{Origin, Signals};
use super::terminal::Terminal;
use super::{Observation, Session, Signal};

/// How long it may take until the monitor has put the command in front.
const HANDOVER: Duration = Duration::from_secs(1);

impl Session {
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
}
