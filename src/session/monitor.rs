//! The process between idlewatch and the command.
//!
//! It leads the session of the command's terminal and is the command's parent, so that the command's process group
//! has somebody who can continue it: without that the kernel does not let a key stop it. And it outlives idlewatch:
//! when idlewatch is gone, however it went, the monitor ends what is left and gives the terminal back.
#![allow(unsafe_code, reason = "a fork, and the statuses of processes as the kernel gives them")]

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal as Nix};
use nix::unistd::{ForkResult, Pid, fork, getpgrp, getpid, getppid, setsid, tcsetpgrp};

use super::beside::StandIn;
use super::clock::Clock;
use super::inherited;
use super::link::{Link, News, Order};
use super::place::Place;
use super::signals::{self, send, send_to_group};
use super::spawn::{Failure, Newcomer, take_terminal};
use super::terminal::{self, Borrowed};
use super::tree;
use crate::signal::Signal;

/// What idlewatch keeps of its monitor.
#[derive(Debug)]
pub struct Monitor {
    /// Its process id: the root of the command's tree.
    pub pid: i32,
    /// The line to it.
    pub link: Link,
}

/// What the monitor works with, in its own process.
struct Watchman {
    link: Link,
    newcomer: Newcomer,
    child: i32,
    group: i32,
    /// idlewatch knows that the command was stopped, and may have stopped too.
    told_of_stop: bool,
    /// The command goes on or has ended since, and not by idlewatch, which may stand still: for how long now.
    rouses: Option<Clock>,
}

/// How long it may take idlewatch to stop once it knows that the command was, at most.
const SLOWEST_STOP: Duration = Duration::from_secs(10);
/// After how many milliseconds it is looked at again meanwhile.
const NEXT_LOOK: u8 = 50;

impl Monitor {
    /// Starts the monitor, and with it the command. Every signal has to be blocked, and there must be one thread.
    ///
    /// `outer` is the terminal to give back should idlewatch die. `take_over` is done by the monitor before there is a
    /// command: what is not there yet cannot be left behind.
    pub fn start(
        newcomer: Newcomer,
        outer: Option<Borrowed>,
        take_over: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<Self> {
        let (ours, theirs) = Link::pair()?;
        // SAFETY: there is one thread, so the new process may go on as this one would.
        match unsafe { fork() }? {
            ForkResult::Parent { child } => Ok(Self { pid: child.as_raw(), link: ours }),
            ForkResult::Child => {
                drop(ours);
                // After a relaunch idlewatch's handlers are in place, and signals of the command's are not for them.
                signals::let_go();
                // Nothing here is given back: this process ends as it is, and what it does not touch it does not copy.
                let mut watchman = ManuallyDrop::new(Watchman {
                    link: theirs,
                    newcomer,
                    child: 0,
                    group: 0,
                    told_of_stop: false,
                    rouses: None,
                });
                let outer = ManuallyDrop::new(outer);
                let run = || watchman.run(outer.as_ref(), take_over);
                // A panic here would unwind into idlewatch's own stack frames, which this process must not finish.
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                leave()
            }
        }
    }
}

/// Why the command was not waited for any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// A signal told us to end.
    Told(Signal),
    /// Its time is over before it has begun.
    Late,
}

impl Monitor {
    /// Waits until it is known whether the command was started: mostly a moment, but a program may lie on a disk that does
    /// not answer. Every signal is blocked.
    pub fn first_news(&self, limit: Option<Duration>) -> Result<Option<News>, Interruption> {
        let clock = Clock::start();
        loop {
            let mut fds = [PollFd::new(self.link.as_fd(), PollFlags::POLLIN)];
            if poll(&mut fds, PollTimeout::from(NEXT_LOOK)).is_ok_and(|ready| ready > 0) {
                return Ok(self.link.next_news());
            }
            self.keep_awake();
            if let Some(signal) = signals::told_to_end() {
                return Err(Interruption::Told(signal));
            }
            if limit.is_some_and(|limit| clock.now().since_start() >= limit) {
                return Err(Interruption::Late);
            }
        }
    }

    /// Ends it with everything that it has started, and what it has left to us, without waiting for what cannot be ended.
    pub fn abandon(&self) {
        end_descendants(self.pid, || ());
    }

    /// Waits for it: it has nothing more to do.
    pub fn bury(&self) {
        // Should somebody have stopped it: it has to go on to end.
        let _ = send(self.pid, Signal::CONT);
        let _ = nix::sys::wait::waitpid(Pid::from_raw(self.pid), None);
    }

    /// Lets it go on should somebody have stopped it: who means the command has to stop the command.
    pub fn keep_awake(&self) {
        if tree::is_stopped_child(self.pid) {
            let _ = send(self.pid, Signal::CONT);
        }
    }
}

/// Ends this process without running anything that belongs to idlewatch.
fn leave() -> ! {
    // SAFETY: _exit does not return and runs no code of ours.
    unsafe { libc::_exit(0) }
}

impl Watchman {
    fn run(&mut self, outer: Option<&Borrowed>, take_over: impl FnOnce() -> io::Result<()>) {
        tree::adopt_orphans();
        tree::go_on_without_parent();
        // Before there is a command that would have to be ended for want of a descriptor.
        let children = UnixStream::pair().map_err(Failure::from);
        let ready = children.and_then(|children| take_over().map(|()| children).map_err(Failure::from));
        let children = match ready.and_then(|children| self.start().map(|()| children)) {
            Ok(children) => children,
            Err(failure) => {
                give_back(outer);
                return self.link.report(News::Failed(failure));
            }
        };
        // At once: idlewatch has things to do of its own meanwhile.
        self.link.report(News::Started { pid: self.child, group: self.group });
        self.let_go(outer, &children);
        tree::take_name(c"iw-monitor");
        let Ok(children) = child_signals(children) else { return self.end_everything(outer) };
        loop {
            let alone = self.reap();
            let wait = self.rouse();
            if alone && self.child == -1 && outer.is_none() && self.rouses.is_none() {
                // There is nobody left to mind and no terminal to give back: idlewatch need not tell us to go, nor wait
                // until we have.
                return self.finish();
            }
            let mut fds =
                [PollFd::new(self.link.as_fd(), PollFlags::POLLIN), PollFd::new(children.as_fd(), PollFlags::POLLIN)];
            if poll(&mut fds, wait).is_err() {
                continue;
            }
            let ordered = fds[0].any().unwrap_or(true);
            if fds[1].any().unwrap_or(true) {
                let _ = nix::unistd::read(&children, &mut [0; 64]);
            }
            if ordered {
                // Whoever gives orders does not stand still.
                (self.told_of_stop, self.rouses) = (false, None);
                match self.link.next_order() {
                    Some(Order::Finish) => {
                        // Whoever was ended a moment ago is not left to others to bury.
                        self.reap();
                        return self.finish();
                    }
                    Some(order) => self.obey(order),
                    None => return self.end_everything(outer),
                }
            }
        }
    }

    fn start(&mut self) -> Result<(), Failure> {
        if let (Place::Orphaned | Place::Job { .. }, Some(fd)) = (self.newcomer.place, &self.newcomer.terminal) {
            setsid()?;
            take_terminal(fd.as_raw_fd())?;
        }
        let leader = match self.newcomer.place {
            Place::Job { leads: false } => Some(StandIn::new()?),
            _ => None,
        };
        let group = leader.as_ref().map(|leader| leader.group().as_raw());
        self.child = self.newcomer.start(group)?;
        if let Some(leader) = leader {
            leader.leave();
        }
        self.group = match (self.newcomer.place, group) {
            (_, Some(group)) => group,
            (Place::Ours | Place::Orphaned, None) => getpgrp().as_raw(),
            (Place::SessionLeader | Place::Job { .. }, None) => self.child,
        };
        Ok(())
    }

    /// Closes everything that this process does not need itself. It has a copy of whatever idlewatch and the command
    /// hold, and a pipe or a terminal that is still open here would never end there.
    fn let_go(&self, outer: Option<&Borrowed>, children: &(UnixStream, UnixStream)) {
        let terminal = self.newcomer.terminal.as_ref().map(AsRawFd::as_raw_fd);
        let outer = outer.map(|outer| outer.fd.as_raw_fd());
        let link = Some(self.link.as_fd().as_raw_fd());
        let (read, write) = (Some(children.0.as_raw_fd()), Some(children.1.as_raw_fd()));
        let mut keep = [link, terminal, outer, read, write];
        // Those that are not there come first.
        keep.sort_unstable();
        let missing = keep.iter().filter(|fd| fd.is_none()).count();
        inherited::close_all_but(&keep.map(Option::unwrap_or_default)[missing..]);
        terminal::replace_standard_streams(&[0, 1, 2]);
    }

    fn obey(&self, order: Order) {
        match order {
            Order::Signal(signal) | Order::SignalGroup(signal) if self.has_had(signal) => {}
            Order::Signal(signal) => drop(send(self.child, signal)),
            Order::SignalGroup(signal) if self.newcomer.place == Place::Ours => drop(send(self.child, signal)),
            Order::SignalGroup(signal) if self.has_group() => send_to_group(self.group, self.child, signal),
            Order::Foreground => self.give_terminal(Pid::from_raw(self.group)),
            Order::Background => self.give_terminal(getpgrp()),
            Order::SignalGroup(_) | Order::Awake | Order::Finish => {}
        }
    }

    /// Whether the command has had this signal already: it stands in our process group, and whoever sent it to all of that
    /// has sent it to us too. To be continued twice makes no difference, and not each time is passed on.
    fn has_had(&self, signal: Signal) -> bool {
        self.newcomer.place == Place::Ours && signal != Signal::CONT && signals::was_sent(signal)
    }

    /// Whether the command's process group is still that: its number may be another's once nobody of ours is in it.
    fn has_group(&self) -> bool {
        let is_in =
            |pid: i32| nix::unistd::getpgid(Some(Pid::from_raw(pid))).is_ok_and(|own| own.as_raw() == self.group);
        self.child != -1
            || tree::descendants(getpid().as_raw()).is_none_or(|all| all.iter().any(|process| is_in(process.pid)))
    }

    /// The kernel refuses a group that is gone; then there is nobody to give the terminal to.
    fn give_terminal(&self, group: Pid) {
        if let (Place::Job { .. }, Some(fd)) = (self.newcomer.place, &self.newcomer.terminal) {
            let _ = tcsetpgrp(fd, group);
        }
    }

    /// Tells what became of the command, and buries whoever else has died in our care. Whether nobody is left.
    fn reap(&mut self) -> bool {
        loop {
            let mut status = 0;
            // SAFETY: `status` outlives the call.
            let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG | libc::WUNTRACED | libc::WCONTINUED) };
            match pid {
                pid if pid <= 0 => return pid == -1 && Errno::last_raw() == libc::ECHILD,
                pid if pid != self.child => {}
                _ if libc::WIFSTOPPED(status) => {
                    if let Some(signal) = Signal::from_number(libc::WSTOPSIG(status)) {
                        (self.told_of_stop, self.rouses) = (true, None);
                        self.link.report(News::Stopped(signal));
                    }
                }
                _ if libc::WIFCONTINUED(status) => self.went_on(),
                _ => {
                    self.went_on();
                    self.child = -1;
                    self.link.report(News::Ended(status));
                }
            }
        }
    }

    /// The command does not stand still any more.
    fn went_on(&mut self) {
        if std::mem::take(&mut self.told_of_stop) {
            self.rouses = Some(Clock::start());
        }
    }

    /// Lets idlewatch go on if it stands still for a command that does not: whoever continued that did not mean to leave
    /// it alone, and where no shell is nobody else would. Until when to look again.
    fn rouse(&mut self) -> PollTimeout {
        let Some(clock) = &self.rouses else { return PollTimeout::NONE };
        let idlewatch = getppid().as_raw();
        let stands = tree::is_stopped(idlewatch);
        if stands {
            let _ = send(idlewatch, Signal::CONT);
        }
        if stands || clock.now().since_start() >= SLOWEST_STOP {
            self.rouses = None;
            return PollTimeout::NONE;
        }
        PollTimeout::from(NEXT_LOOK)
    }

    /// Leaves so that background processes live on: the end of a session leader hangs up on the foreground of its
    /// terminal, so nobody is left in there.
    fn finish(&self) {
        match self.newcomer.place {
            Place::Job { .. } => self.give_terminal(getpgrp()),
            Place::Orphaned => {
                if let (Ok(nobody), Some(fd)) = (StandIn::new(), &self.newcomer.terminal) {
                    let _ = tcsetpgrp(fd, nobody.group());
                }
            }
            Place::Ours | Place::SessionLeader => {}
        }
    }

    /// idlewatch is gone without a word: nothing of the command may stay behind, and the terminal is given back.
    fn end_everything(&self, outer: Option<&Borrowed>) {
        // The command itself may be gone already, by the hangup that came before we noticed; the rest is not.
        let target = self.newcomer.place.target(self.group, self.child);
        end_descendants(target, || {
            if self.has_group() {
                let _ = send(target, Signal::KILL);
            }
        });
        give_back(outer);
    }
}

fn give_back(outer: Option<&Borrowed>) {
    if let Some(outer) = outer {
        outer.give_back();
    }
}

/// Ends everybody below this process, without waiting long for who cannot be ended. Where nobody knows who they are it is
/// `target`, as kill(2) understands it; `also` is done each time.
fn end_descendants(target: i32, also: impl Fn()) {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    for _ in 0..100 {
        also();
        tree::signal_all(own, target, Signal::KILL);
        // SAFETY: no status is asked for.
        while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
        if tree::descendants(own).is_none_or(|left| left.is_empty()) {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// SIGCHLD, turned into something `poll` can see.
fn child_signals((read, write): (UnixStream, UnixStream)) -> io::Result<UnixStream> {
    signal_hook::low_level::pipe::register(libc::SIGCHLD, write)?;
    let mut child = SigSet::empty();
    child.add(Nix::SIGCHLD);
    child.thread_unblock()?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_hangs_ends_with_its_time_or_with_a_signal() {
        let (ours, theirs) = Link::pair().unwrap();
        let monitor = Monitor { pid: i32::try_from(std::process::id()).unwrap(), link: ours };
        assert_eq!(monitor.first_news(Some(Duration::from_millis(1))), Err(Interruption::Late));
        // Held back in this thread alone, as it is for the whole of idlewatch at that time.
        let mut term = SigSet::empty();
        term.add(Nix::SIGTERM);
        term.thread_block().unwrap();
        nix::sys::signal::raise(Nix::SIGTERM).unwrap();
        assert_eq!(monitor.first_news(None), Err(Interruption::Told(Signal::TERM)));
        assert_eq!(term.wait(), Ok(Nix::SIGTERM));
        let started = News::Started { pid: 42, group: 42 };
        theirs.report(started);
        assert_eq!(monitor.first_news(Some(Duration::ZERO)), Ok(Some(started)));
        drop(theirs);
        assert_eq!(monitor.first_news(None), Ok(None));
    }
}
