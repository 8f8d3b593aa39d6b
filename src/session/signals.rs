//! Signals that reach idlewatch, turned into something `poll` can see, with where they came from.
#![allow(unsafe_code, reason = "dispositions of signals, and where they come from")]

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use nix::errno::Errno;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal as Nix, sigaction, sigprocmask};

use super::inherited;
use super::unblocked::never_block;
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

/// Where [`note`] writes what arrives; -1 while nobody reads it.
static NOTES: AtomicI32 = AtomicI32::new(NEVER);
/// Nothing was ever caught.
const NEVER: i32 = -2;
/// Signals for which there was no room, a bit each.
static MISSED: AtomicU64 = AtomicU64::new(0);
/// Somebody has continued us, and nobody has asked since.
static CONTINUED: AtomicBool = AtomicBool::new(false);

/// What somebody sends on purpose. A shell ignores some of them in what it starts in the background of a script.
const FOR_COMMAND: [i32; 7] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGALRM];

/// What [`note`] writes of one signal: its number, its code, and the process that sent it where one did.
const SIZE: usize = 12;

/// The signals that are caught, and those that have arrived.
///
/// All of them share one handler and one pipe: a table of handlers, as signal libraries have it, would be copied for
/// each of sixty signals, which was most of what a short run cost.
pub struct Signals {
    read: PipeReader,
    /// What has arrived for the command alone.
    for_command: Vec<Signal>,
}

/// Both ends of the pipe that signals are noted in.
pub struct Pipe(PipeReader, PipeWriter);

impl Signals {
    /// Holds back every signal until [`catch`](Self::catch), so that none is lost in between.
    pub fn hold_back() -> io::Result<()> {
        if inherited::was_ignored(Signal::CHLD) {
            // It would keep us and the monitor from learning how a child ended.
            default_action(Nix::SIGCHLD)?;
        }
        Ok(sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None)?)
    }

    /// Catches whatever a process can be sent, except what was ignored when we were started: it stays ignored, but for
    /// what somebody may send to the command by our id.
    ///
    /// Not caught: KILL and STOP cannot be; SEGV, BUS, ILL and FPE mean that we ourselves are broken, or are meant to
    /// end us at once.
    pub fn catch(pipe: Pipe) -> io::Result<Self> {
        // Rust's own handlers for these swallow the first one that is sent from outside.
        for signal in [Nix::SIGSEGV, Nix::SIGBUS] {
            default_action(signal)?;
        }
        // Closed on drop, where a handler can be sure not to be using it.
        NOTES.store(pipe.1.into_raw_fd(), Ordering::SeqCst);
        let signals = Self { read: pipe.0, for_command: Vec::new() };
        let caught = (1..=libc::SIGSYS).chain(real_time()).filter(|number| {
            let never = [libc::SIGKILL, libc::SIGSTOP];
            let broken = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];
            !never.contains(number)
                && !broken.contains(number)
                && Signal::from_number(*number).is_some_and(|signal| {
                    signal == Signal::CHLD || !inherited::was_ignored(signal) || FOR_COMMAND.contains(number)
                })
        });
        caught.for_each(handle);
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
        Self::hold_terminal_output(true);
        Ok(signals)
    }

    /// What [`catch`](Self::catch) needs, while nothing depends on it yet.
    pub fn pipe() -> io::Result<Pipe> {
        let (read, write) = io::pipe()?;
        never_block(&read)?;
        never_block(&write)?;
        Ok(Pipe(read, write))
    }

    /// Holds back TTOU, or lets it through. While it is held back we may write to a terminal in whose background we
    /// are; caught and not held back, it tells us that we are.
    pub fn hold_terminal_output(hold: bool) {
        let mut this = SigSet::empty();
        this.add(Nix::SIGTTOU);
        let how = if hold { SigmaskHow::SIG_BLOCK } else { SigmaskHow::SIG_UNBLOCK };
        let _ = sigprocmask(how, Some(&this), None);
    }

    /// Stands still until somebody continues us, where nothing has to be put in order first. Gives the signal that tells us
    /// to end, if one has come before. One that comes from now on ends us by itself: to be noted and then stopped would be
    /// to sleep over it.
    pub fn stop(&mut self) -> Option<Signal> {
        let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
        let ending = [Nix::SIGHUP, Nix::SIGINT, Nix::SIGQUIT, Nix::SIGTERM];
        let caught = ending.map(|signal| {
            // What was ignored when we were started stays so.
            let ignored = Signal::from_number(signal as i32).is_some_and(inherited::was_ignored);
            // SAFETY: the default action runs no code of ours; what was there before is put back below.
            if ignored { None } else { unsafe { sigaction(signal, &default) }.ok() }
        });
        let told = self.arrived().into_iter().map(|(signal, _)| signal).find(|signal| signal.ends());
        if told.is_none() {
            let _ = nix::sys::signal::kill(nix::unistd::getpid(), Nix::SIGSTOP);
            // Here we stand.
        }
        for (signal, action) in ending.into_iter().zip(caught) {
            if let Some(action) = action {
                // SAFETY: `action` is what was in place a moment ago.
                let _ = unsafe { sigaction(signal, &action) };
            }
        }
        told
    }

    /// Whether somebody has continued us since this was last asked. Known before the signal itself is heard: whatever is
    /// concluded from the time has to know it.
    pub fn were_continued() -> bool {
        CONTINUED.load(Ordering::Relaxed) && CONTINUED.swap(false, Ordering::SeqCst)
    }

    /// The signals that have arrived since the last call, but for those that were ignored when we were started.
    pub fn arrived(&mut self) -> Vec<(Signal, Origin)> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let mut found = Vec::new();
        let mut notes = [0; 64 * SIZE];
        // Each note is written at once and the room is a whole number of them, so none is cut.
        while let Ok(count @ 1..) = self.read.read(&mut notes) {
            found.extend(notes[..count].chunks_exact(SIZE).filter_map(|note| {
                let number = |at: usize| note[at..at + 4].try_into().map(i32::from_ne_bytes).ok();
                let (signal, code, sender) = (Signal::from_number(number(0)?)?, number(4)?, number(8)?);
                // A positive code means the kernel, anything else a process.
                let origin = match (code > 0, sender == own) {
                    (true, _) => Origin::Kernel,
                    (false, true) => Origin::Own,
                    (false, false) => Origin::Process,
                };
                Some((signal, origin))
            }));
        }
        let missed = MISSED.swap(0, Ordering::SeqCst);
        found.extend((1..=64).filter(|number| missed & 1_u64.rotate_left(*number) != 0).filter_map(|number| {
            let signal = Signal::from_number(number.cast_signed())?;
            let kernels = [Signal::CHLD, Signal::WINCH].contains(&signal);
            Some((signal, if kernels { Origin::Kernel } else { Origin::Process }))
        }));
        found.retain(|(signal, origin)| {
            let ignored = *signal != Signal::CHLD && inherited::was_ignored(*signal);
            if ignored && *origin == Origin::Process {
                self.for_command.push(*signal);
            }
            !ignored
        });
        found
    }

    /// Those of the ignored ones that a process has sent since the last call. To us they mean nothing; but a command may have
    /// its own use for them, as a server has that a script or `nohup` has started and that is told by one to read its
    /// settings again. Where it has none, they are ignored as they are here.
    pub fn take_for_command(&mut self) -> Vec<Signal> {
        std::mem::take(&mut self.for_command)
    }
}

/// The signal that would end us and waits, while all are held back, if there is one.
pub fn told_to_end() -> Option<Signal> {
    let mut set = SigSet::empty().as_ref().to_owned();
    // SAFETY: `set` is a set of signals and outlives the call.
    unsafe { libc::sigpending(&raw mut set) };
    let waits = |signal: &Signal| {
        // SAFETY: as above; the call only reads it.
        let waits = unsafe { libc::sigismember(&raw const set, signal.number()) } == 1;
        waits && !inherited::was_ignored(*signal)
    };
    [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT].into_iter().find(waits)
}

/// Whether a process has sent us this signal, which is held back, since this was last asked.
#[cfg(target_os = "linux")]
pub fn was_sent(signal: Signal) -> bool {
    // SAFETY: an all-zero sigset_t is a valid value for sigemptyset to overwrite.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` outlives the call.
    unsafe { libc::sigemptyset(&raw mut set) };
    // SAFETY: `set` is a set of signals; a number that does not exist is answered with an error.
    unsafe { libc::sigaddset(&raw mut set, signal.number()) };
    // SAFETY: an all-zero siginfo_t is a valid value for the call to overwrite.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: all three outlive the call.
    let taken = unsafe { libc::sigtimedwait(&raw const set, &raw mut info, &raw const at_once) };
    // A positive code means the kernel.
    taken == signal.number() && info.si_code <= 0
}

/// Whether a process has sent us this signal, which nobody can tell here.
#[cfg(not(target_os = "linux"))]
pub fn was_sent(_: Signal) -> bool {
    false
}

/// In a new process: nothing is caught any more, and what was ignored when we were started is so again.
pub fn let_go() {
    if NOTES.load(Ordering::SeqCst) == NEVER {
        return;
    }
    for number in (1..=libc::SIGSYS).chain(real_time()) {
        // SAFETY: the old action is only written to `action`, which outlives the call.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: as above; a number that the system does not have is refused.
        let known = unsafe { libc::sigaction(number, std::ptr::null(), &raw mut action) } == 0;
        if known && action.sa_sigaction == note as *const () as libc::sighandler_t {
            let ignored = Signal::from_number(number).is_some_and(inherited::was_ignored);
            // SAFETY: neither runs any code of ours.
            unsafe { libc::signal(number, if ignored { libc::SIG_IGN } else { libc::SIG_DFL }) };
        }
    }
}

impl Drop for Signals {
    /// Signals that arrive from now on are swallowed.
    fn drop(&mut self) {
        let write = NOTES.swap(-1, Ordering::SeqCst);
        // SAFETY: the descriptor was ours alone and is taken out of use; handlers run on this one thread, so none is
        // between reading its number and writing.
        unsafe { libc::close(write) };
    }
}

/// Notes each arrival of this signal. A number that the system does not have is left alone.
fn handle(number: i32) {
    // SAFETY: an all-zero sigaction is a valid value to be filled in.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = note as *const () as libc::sighandler_t;
    // A read from a terminal in whose background we are would be tried again for ever, and so would a write to it.
    let restart = if [libc::SIGTTIN, libc::SIGTTOU].contains(&number) { 0 } else { libc::SA_RESTART };
    action.sa_flags = libc::SA_SIGINFO | restart;
    // SAFETY: the set outlives the call. One note is written after the other.
    unsafe { libc::sigfillset(&raw mut action.sa_mask) };
    // SAFETY: `note` has the form that SA_SIGINFO asks for and only does what a handler may; `action` outlives the call.
    unsafe { libc::sigaction(number, &raw const action, std::ptr::null_mut()) };
}

/// The handler. Async-signal-safe: it reads and writes atomics, writes to a pipe, and leaves `errno` as it was.
extern "C" fn note(number: libc::c_int, info: *const libc::siginfo_t, _: *const libc::c_void) {
    let errno = Errno::last_raw();
    // SAFETY: the kernel hands SA_SIGINFO handlers a valid siginfo_t, or none.
    let (code, sender) = match unsafe { info.as_ref() } {
        // SAFETY: a signal that a process sent carries that process's id; any other is not asked for one.
        Some(info) if info.si_code <= 0 => (info.si_code, unsafe { info.si_pid() }),
        Some(info) => (info.si_code, 0),
        None => (0, 0),
    };
    if number == libc::SIGCONT {
        CONTINUED.store(true, Ordering::SeqCst);
    }
    let mut note = [0; SIZE];
    note[..4].copy_from_slice(&number.to_ne_bytes());
    note[4..8].copy_from_slice(&code.to_ne_bytes());
    note[8..].copy_from_slice(&sender.to_ne_bytes());
    // SAFETY: `note` outlives the call, and a descriptor of -1 is refused.
    let written = unsafe { libc::write(NOTES.load(Ordering::SeqCst), note.as_ptr().cast(), SIZE) };
    if written == -1 {
        // The pipe is full of signals that nobody has looked at. That there was one more is kept, as the kernel does.
        MISSED.fetch_or(1_u64.rotate_left(number.cast_unsigned()), Ordering::SeqCst);
    }
    Errno::set_raw(errno);
}

/// Sends a signal to whom kill(2) understands by `target`, but never to everybody.
pub fn send(target: i32, signal: Signal) -> nix::Result<()> {
    if target == -1 {
        return Err(Errno::ESRCH);
    }
    // SAFETY: kill takes two numbers and has no effect on our memory.
    Errno::result(unsafe { libc::kill(target, signal.number()) }).map(drop)
}

/// Whether somebody is there whom kill(2) understands by `target`, be it somebody whom we may not signal.
pub fn is_there(target: i32) -> bool {
    // SAFETY: kill takes two numbers and has no effect on our memory; the signal 0 is none.
    target != -1 && Errno::result(unsafe { libc::kill(target, 0) }) != Err(Errno::ESRCH)
}

/// Sends a signal to the process group of a command, and to the one that the command has left it for: `timeout` and
/// `setsid` do that.
pub fn send_to_group(group: i32, child: i32, signal: Signal) {
    let _ = send(-group, signal);
    if child > 0
        && let Ok(own) = nix::unistd::getpgid(Some(nix::unistd::Pid::from_raw(child)))
        && own.as_raw() != group
    {
        let _ = send(-own.as_raw(), signal);
    }
}

fn default_action(signal: Nix) -> io::Result<()> {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: the default action runs no code of ours.
    unsafe { sigaction(signal, &default) }?;
    Ok(())
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
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
