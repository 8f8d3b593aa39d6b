//! Signals that reach idlewatch, turned into something `poll` can see, with where they came from.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal as Nix, sigaction, sigprocmask};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::WithRawSiginfo;

use super::inherited;
use crate::signal::Signal;

/// Who sent a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The kernel: a key typed at the terminal, a hangup, a timer.
    Kernel,
    /// A process.
    Process,
    /// We ourselves.
    Own,
}

/// The signals that are caught, and those that have arrived.
pub struct Signals {
    delivery: SignalDelivery<UnixStream, WithRawSiginfo>,
}

impl Signals {
    /// Holds back every signal until [`catch`](Self::catch), so that none is lost in between.
    pub fn hold_back() -> io::Result<()> {
        if inherited::was_ignored(Signal::CHLD) {
            // It would keep us and the monitor from learning how a child ended.
            default_action(Nix::SIGCHLD)?;
        }
        Ok(sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None)?)
    }

    /// Catches whatever a process can be sent, except what was ignored when we were started: it stays ignored.
    ///
    /// Not caught: KILL and STOP cannot be; SEGV, BUS, ILL and FPE mean that we ourselves are broken, or are meant to
    /// end us at once.
    pub fn catch() -> io::Result<Self> {
        // Rust's own handlers for these swallow the first one that is sent from outside.
        for signal in [Nix::SIGSEGV, Nix::SIGBUS] {
            default_action(signal)?;
        }
        let (read, write) = UnixStream::pair()?;
        let caught = (1..=libc::SIGSYS).chain(real_time()).filter(|number| {
            let never = [libc::SIGKILL, libc::SIGSTOP];
            let broken = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];
            !never.contains(number)
                && !broken.contains(number)
                && Signal::from_number(*number)
                    .is_some_and(|signal| signal == Signal::CHLD || !inherited::was_ignored(signal))
        });
        let delivery = SignalDelivery::with_pipe(read, write, WithRawSiginfo, caught)?;
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
        Self::hold_terminal_output(true);
        Ok(Self { delivery })
    }

    /// Holds back TTOU, or lets it through. While it is held back we may write to a terminal in whose background we
    /// are; caught and not held back, the write would be tried again for ever.
    pub fn hold_terminal_output(hold: bool) {
        let mut this = SigSet::empty();
        this.add(Nix::SIGTTOU);
        let how = if hold { SigmaskHow::SIG_BLOCK } else { SigmaskHow::SIG_UNBLOCK };
        let _ = sigprocmask(how, Some(&this), None);
    }

    /// The signals that have arrived since the last call.
    pub fn arrived(&mut self) -> Vec<(Signal, Origin)> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        self.delivery
            .pending()
            .filter_map(|info| {
                let signal = Signal::from_number(info.si_signo)?;
                // A positive code means the kernel, anything else a process.
                let origin = if info.si_code > 0 {
                    Origin::Kernel
                } else {
                    // SAFETY: a signal sent by a process carries its id.
                    if unsafe { info.si_pid() } == own { Origin::Own } else { Origin::Process }
                };
                Some((signal, origin))
            })
            .collect()
    }
}

/// Sends a signal to whom kill(2) understands by `target`, but never to everybody.
pub fn send(target: i32, signal: Signal) -> nix::Result<()> {
    if target == -1 {
        return Err(Errno::ESRCH);
    }
    // SAFETY: kill takes two numbers and has no effect on our memory.
    Errno::result(unsafe { libc::kill(target, signal.number()) }).map(drop)
}

fn default_action(signal: Nix) -> io::Result<()> {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: the default action runs no code of ours.
    unsafe { sigaction(signal, &default) }?;
    Ok(())
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn real_time() -> std::ops::RangeInclusive<i32> {
    libc::SIGRTMIN()..=libc::SIGRTMAX()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn real_time() -> std::ops::RangeInclusive<i32> {
    #[allow(clippy::reversed_empty_ranges, reason = "there are none")]
    {
        1..=0
    }
}
