//! All runs asked at once how they stand: one poll, and a time after which nobody is waited for.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Deserialize;

use super::call::Call;
use super::folder;
use super::request::Request;
use crate::report::Stats;
use crate::session::Clock;
use crate::watch::Moment;

/// A run that does not answer in this time is said not to.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// So many are asked at once: there are only so many descriptors.
const AT_ONCE: usize = 200;

/// A run that is going on.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its id.
    pub run: String,
    /// The process of its idlewatch, where the system tells.
    pub pid: Option<i32>,
    /// How it stands; none: it does not answer.
    pub answer: Option<Told>,
}

/// How a run says that it stands.
#[derive(Debug, Clone)]
pub struct Told {
    /// The line as it came.
    pub line: String,
    /// How long it has been going on, in milliseconds.
    pub elapsed: u64,
    /// The figures.
    pub stats: Stats,
}

impl Told {
    /// Reads a line; none if it is another kind of line.
    pub fn read(line: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Line {
            elapsed: u64,
            #[serde(flatten)]
            stats: Stats,
        }
        let Line { elapsed, stats } = serde_json::from_str(line).ok()?;
        Some(Self { line: line.to_owned(), elapsed, stats })
    }
}

/// One time of asking.
#[derive(Debug)]
pub struct Round {
    calls: Vec<(Call, Option<Told>)>,
    clock: Clock,
}

impl Round {
    /// Asks these runs; those that are gone are left out.
    pub fn begin(folder: &Path, runs: &[String]) -> Result<Self, String> {
        let mut calls = Vec::new();
        for run in runs {
            if let Some(mut call) = Call::new(folder, run)? {
                call.ask(&Request::Stats);
                calls.push((call, None));
            }
        }
        Ok(Self { calls, clock: Clock::start() })
    }

    /// What to poll.
    pub fn watched(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>, PollFlags)> {
        self.calls.iter().enumerate().filter(|(_, (_, told))| told.is_none()).filter_map(|(index, (call, _))| {
            let (fd, flags) = call.watched()?;
            Some((index, fd, flags))
        })
    }

    /// Takes in what this one has said.
    pub fn attend(&mut self, index: usize) {
        if let Some((call, told)) = self.calls.get_mut(index) {
            let heard = call.attend().iter().find_map(|line| Told::read(line));
            *told = told.take().or(heard);
        }
    }

    /// How long there is still something to wait for; none: it is over.
    pub fn left(&self) -> Option<Duration> {
        let waits = self.calls.iter().any(|(call, told)| told.is_none() && !call.is_closed());
        let left = PATIENCE.saturating_sub(self.clock.now().since(Moment::START));
        Some(left).filter(|left| waits && !left.is_zero())
    }

    /// What was found, the oldest run first. Who hung up without an answer has just ended.
    pub fn end(self) -> Vec<Found> {
        let late = self.clock.now().since(Moment::START) >= PATIENCE;
        let ended = |call: &Call| call.pid.is_some() && call.is_closed() && !late;
        let found = self.calls.into_iter().filter(|(call, told)| told.is_some() || !ended(call));
        let mut found: Vec<Found> = found.map(|(Call { run, pid, .. }, answer)| Found { run, pid, answer }).collect();
        found.sort_by(|one, other| {
            let started = |found: &Found| found.answer.as_ref().map(|told| told.stats.started.clone());
            started(one).cmp(&started(other)).then_with(|| one.run.cmp(&other.run))
        });
        found
    }
}

/// Asks all runs, and waits for their answers.
pub fn ask_all(folder: &Path) -> Result<Vec<Found>, String> {
    let mut all = Vec::new();
    for runs in folder::runs(folder)?.chunks(AT_ONCE) {
        let mut round = Round::begin(folder, runs)?;
        while let Some(left) = round.left() {
            let watched: Vec<_> = round.watched().collect();
            let mut fds: Vec<_> = watched.iter().map(|(_, fd, flags)| PollFd::new(*fd, *flags)).collect();
            match poll(&mut fds, timeout(left)) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(format!("cannot wait: {error}")),
            }
            let ready: Vec<usize> = watched
                .iter()
                .zip(&fds)
                .filter(|(_, fd)| fd.any() == Some(true))
                .map(|((index, ..), _)| *index)
                .collect();
            for index in ready {
                round.attend(index);
            }
        }
        all.extend(round.end());
    }
    Ok(all)
}

/// For `poll`, rounded up.
pub fn timeout(left: Duration) -> PollTimeout {
    let whole = i32::try_from(left.as_millis()).unwrap_or(i32::MAX - 1) + 1;
    PollTimeout::try_from(whole).unwrap_or(PollTimeout::MAX)
}
