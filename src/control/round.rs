//! All runs asked at once how they stand: one poll, and a time after which nobody is waited for.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Deserialize;
use serde_json::Value;

use super::call::Call;
use super::folder::{self, Address, Trouble};
use super::request::Request;
use crate::report::{Stats, escaped};
use crate::session::Clock;
use crate::watch::Moment;

/// A run that does not answer in this time is said not to.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// So many are asked at once: there are only so many descriptors.
const AT_ONCE: usize = 200;

/// A run in progress.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its id.
    pub run: String,
    /// The process of its idlewatch, where the system tells.
    pub pid: Option<i32>,
    /// How it stands; none: it does not answer.
    pub answer: Option<Told>,
    /// Why it does not answer, where that is known.
    pub why: Option<String>,
}

/// How a run says that it stands.
#[derive(Debug, Clone)]
pub struct Told {
    /// The line, safe to be shown.
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
        Some(Self { line: relayed(line)?, elapsed, stats })
    }
}

/// A JSON line that came from a run, safe to be shown; none if it is no JSON.
pub fn relayed(line: &str) -> Option<String> {
    let value: Value = serde_json::from_str(line).ok()?;
    // Between the parts there may be blanks of all kinds, which cannot be written as escapes.
    let line = if line.contains(|c: char| c < ' ') { value.to_string() } else { line.to_owned() };
    Some(escaped(&line))
}

/// What a run says that it cannot do, if the line says so.
pub fn refusal(line: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(line).ok()?;
    (answer["type"] == "error").then(|| answer["message"].as_str().unwrap_or("it refuses").to_owned())
}

/// One time of asking, a part of the runs after the other.
#[derive(Debug)]
pub struct Round {
    /// Who is still to be asked, the last first.
    rest: Vec<Address>,
    /// Who was asked, and what it said: how it stands, or why it does not say.
    calls: Vec<(Call, Option<Result<Told, String>>)>,
    found: Vec<Found>,
    /// Since these were asked.
    clock: Clock,
}

impl Round {
    /// Asks these runs; those that are gone are left out, and what is no run.
    pub fn begin(mut runs: Vec<Address>) -> Self {
        runs.reverse();
        let mut round = Self { rest: runs, calls: Vec::new(), found: Vec::new(), clock: Clock::start() };
        round.call();
        round
    }

    /// Asks the next few.
    fn call(&mut self) {
        while self.calls.len() < AT_ONCE
            && let Some(address) = self.rest.pop()
        {
            match Call::new(&address) {
                Ok(Some(mut call)) => {
                    call.ask(&Request::Stats);
                    self.calls.push((call, None));
                }
                Ok(None) | Err(Trouble::Unusable(_)) => {}
                // There is room when those who were called have answered.
                Err(Trouble::NoRoom(_)) if !self.calls.is_empty() => {
                    self.rest.push(address);
                    break;
                }
                Err(Trouble::NoRoom(why)) => {
                    self.found.push(Found { run: address.run, pid: None, answer: None, why: Some(why) });
                }
            }
        }
        self.clock = Clock::start();
    }

    /// What to poll.
    pub fn watched(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>, PollFlags)> {
        self.calls.iter().enumerate().filter(|(_, (_, said))| said.is_none()).filter_map(|(index, (call, _))| {
            let (fd, flags) = call.watched()?;
            Some((index, fd, flags))
        })
    }

    /// Takes in what this one has said.
    pub fn attend(&mut self, index: usize) {
        if let Some((call, said)) = self.calls.get_mut(index) {
            let heard = |line: &String| Told::read(line).map(Ok).or_else(|| refusal(line).map(Err));
            let heard = call.attend().iter().find_map(heard);
            *said = said.take().or(heard);
        }
    }

    /// How long those who were asked are still waited for.
    pub fn left(&self) -> Duration {
        let waits = self.calls.iter().any(|(call, said)| said.is_none() && !call.is_closed());
        let left = PATIENCE.saturating_sub(self.clock.now().since(Moment::START));
        if waits { left } else { Duration::ZERO }
    }

    /// Whether everybody was asked and waited for. Asks the next, where nobody is waited for any more.
    pub fn is_over(&mut self) -> bool {
        while self.left().is_zero() {
            self.settle();
            if self.rest.is_empty() {
                return true;
            }
            self.call();
        }
        false
    }

    /// Notes what those who were asked have said. Who hung up without a word has just ended.
    fn settle(&mut self) {
        for (call, said) in self.calls.drain(..) {
            let (answer, why) = match said {
                Some(Ok(told)) => (Some(told), None),
                Some(Err(why)) => (None, Some(why)),
                None if call.is_closed() && call.fault().is_none() => continue,
                None => (None, call.fault().map(ToOwned::to_owned)),
            };
            self.found.push(Found { run: call.run, pid: call.pid, answer, why });
        }
    }

    /// What was found, the oldest run first.
    pub fn end(mut self) -> Vec<Found> {
        self.settle();
        self.found.sort_by(|one, other| {
            let started = |found: &Found| found.answer.as_ref().map(|told| told.stats.started.clone());
            started(one).cmp(&started(other)).then_with(|| one.run.cmp(&other.run))
        });
        self.found
    }
}

/// Asks all runs, and waits for their answers.
pub fn ask_all(folders: &[PathBuf]) -> Result<Vec<Found>, String> {
    let mut round = Round::begin(folder::runs(folders).map_err(Trouble::words)?);
    while !round.is_over() {
        let watched: Vec<_> = round.watched().collect();
        let mut fds: Vec<_> = watched.iter().map(|(_, fd, flags)| PollFd::new(*fd, *flags)).collect();
        match poll(&mut fds, timeout(round.left())) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(format!("cannot wait: {error}")),
        }
        let ready = watched.iter().zip(&fds).filter(|(_, fd)| fd.any() == Some(true));
        let ready: Vec<usize> = ready.map(|((index, ..), _)| *index).collect();
        for index in ready {
            round.attend(index);
        }
    }
    Ok(round.end())
}

/// For `poll`, rounded up.
pub fn timeout(left: Duration) -> PollTimeout {
    let whole = i32::try_from(left.as_millis()).unwrap_or(i32::MAX - 1) + 1;
    PollTimeout::try_from(whole).unwrap_or(PollTimeout::MAX)
}
