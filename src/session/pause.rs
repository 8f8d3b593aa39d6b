//! The pause between two starts, in which signals are heard and clients are answered.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::PollFlags;

use super::clock::Clock;
use super::place;
use super::pollset::PollSet;
use super::ready::Watched;
use super::records::Records;
use super::serve::limits;
use super::signals::{Signals, send};
use crate::control::{Answer, Request, Server, TRY_AGAIN};
use crate::exit::Reason;
use crate::report::{Stats, say};
use crate::signal::Signal;
use crate::span::milliseconds;
use crate::watch::{Event, Moment, Policy, State, span};

/// How a pause between two starts ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paused {
    /// It is over.
    Over,
    /// This signal ends the program.
    Signal(Signal),
    /// Somebody said to leave it at that, for this reason.
    Told(Reason),
}

/// How the run stood when its command ended.
pub struct Standing {
    /// How long the last start went on.
    pub lasted: Moment,
    /// When something that counts changed last.
    pub active: Moment,
    /// What it is held to; the time goes on in the pause.
    pub policy: Policy,
}

impl Standing {
    /// The figures, so long after that.
    fn stats(&self, passed: Duration, records: &Records) -> Stats {
        let since = (self.lasted + passed).since(self.active);
        let limits = limits(&self.policy, Moment::START + passed);
        Stats { since_activity: milliseconds(since), ..records.tally.stats(limits) }
    }
}

/// Waits this long between two starts. Signals and clients are heard; afterwards signals are held back again. Gives
/// also how long it was, without the time in which we were stopped.
pub fn pause(
    length: Duration,
    heartbeat: Option<Duration>,
    standing: &Standing,
    records: &mut Records,
) -> io::Result<(Paused, Duration)> {
    let mut beats = 0;
    let mut clock = Clock::start();
    let mut signals = Signals::pipe().and_then(Signals::catch)?;
    let paused = loop {
        let left = length.saturating_sub(clock.now().since_start());
        if left.is_zero() {
            break Paused::Over;
        }
        let beat = heartbeat.map(|every| every.saturating_mul(beats + 1));
        if beat.is_some_and(|beat| clock.now().since_start() >= beat) {
            beats += 1;
            say(&format!("relaunching the command in {}", span(left)));
            continue;
        }
        let left = beat.map_or(left, |beat| left.min(beat.saturating_sub(clock.now().since_start())));
        let resting = records.control.as_ref().is_some_and(Server::is_resting);
        let wait = if resting { left.min(TRY_AGAIN) } else { left };
        // A service manager is to know that all is well.
        records.pause();
        let wait = records.longest_pause().map_or(wait, |longest| longest.min(wait));
        let mut set = PollSet::new();
        set.add(Watched::Signals, signals.as_fd(), PollFlags::POLLIN);
        for (which, fd, flags) in records.control.iter().flat_map(Server::watched) {
            set.add(Watched::Control(which), fd, flags);
        }
        // Readers of the records catch up.
        for fd in records.behind() {
            set.add(Watched::Records, fd, PollFlags::POLLOUT);
        }
        let ready = set.wait(Some(wait)).ready();
        let arrived = signals.arrived();
        if let Some((signal, _)) = arrived.iter().find(|(signal, _)| signal.ends()) {
            break Paused::Signal(*signal);
        }
        records.flush();
        // Where nobody could continue us, the kernel would not stop us either.
        if arrived.iter().any(|(signal, _)| signal.stops()) && !place::is_orphaned() {
            let before = clock.now();
            // Here we stand until somebody continues us.
            let _ = send(nix::unistd::getpid().as_raw(), Signal::STOP);
            clock.rewind_to(before);
        }
        if let Some(control) = &mut records.control {
            control.wake();
            for (what, events) in ready {
                if let Watched::Control(which) = what {
                    control.attend(which, events);
                }
            }
        }
        let passed = clock.now().since_start();
        if let Some(reason) = serve_paused(length.saturating_sub(passed), passed, standing, records) {
            break Paused::Told(reason);
        }
    };
    Signals::hold_back()?;
    // What came after the last look would go with the pipe that it is in.
    let late = signals.arrived().into_iter().find(|(signal, _)| signal.ends()).map(|(signal, _)| signal);
    let paused = late.filter(|_| paused == Paused::Over).map_or(paused, Paused::Signal);
    Ok((paused, clock.now().since_start()))
}

/// Answers whatever is asked while the command is not there. Gives why it is not to be started again, if somebody
/// says so.
fn serve_paused(left: Duration, passed: Duration, standing: &Standing, records: &mut Records) -> Option<Reason> {
    let now = standing.lasted + passed;
    let evidence = format!("relaunching in {}", span(left));
    while let Some((guest, request)) = records.control.as_mut().and_then(Server::next_request) {
        let (answer, told) = match &request {
            Request::Stats => {
                let tasks = records.tasks();
                let stats = Stats { evidence: evidence.clone(), tasks, ..standing.stats(passed, records) };
                (Answer::Stats(Clock::time_of_day(), now, Box::new(stats)), None)
            }
            Request::Explain => (Answer::Explanation(format!("{}: {evidence}", State::Exited)), None),
            Request::Subscribe => (Answer::Done, None),
            Request::Extend(_) | Request::Nudge(_) => {
                (Answer::Refused(format!("the command is not running: {evidence}")), None)
            }
            Request::Stop => (Answer::Done, Some((Reason::Stopped, Event::ForceStopped { reason: Reason::Stopped }))),
            Request::Complete => (Answer::Done, Some((Reason::Completed, Event::ForceCompleted))),
        };
        if let Some(control) = &mut records.control {
            control.answer(guest, &request, answer);
        }
        if let Some((reason, event)) = told {
            records.event(now, &event);
            return Some(reason);
        }
    }
    None
}
