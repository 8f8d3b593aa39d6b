//! Shell commands that run beside the watched command: a guard's question, a step of a ladder.
//!
//! They never hold up the relay: they are started, and looked after when the kernel says that a child has changed.
#![allow(unsafe_code, reason = "what is done between fork and exec")]

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::clock::Clock;
use super::{inherited, signals};
use crate::signal::Signal;
use crate::watch::Moment;

/// What a shell command was started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A guard asks.
    Guard,
    /// A step of a ladder.
    Step,
}

/// One that runs.
#[derive(Debug)]
struct Running {
    child: Child,
    text: String,
    purpose: Purpose,
    until: Option<Moment>,
}

/// One that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What was run.
    pub text: String,
    /// What for.
    pub purpose: Purpose,
    /// The exit code, or why there is none.
    pub status: Result<i32, String>,
}

/// All that run.
#[derive(Debug, Default)]
pub struct Shells(Vec<Running>);

/// How long a guard may take to answer.
const GUARD_LIMIT: Duration = Duration::from_secs(10);
/// How long guards may take to go that were ended with the run, and how often they are looked at meanwhile.
const LAST_WAIT: Duration = Duration::from_millis(200);
const NEXT_LOOK: Duration = Duration::from_millis(1);

impl Shells {
    /// Starts one, with these variables.
    pub fn start(
        &mut self,
        now: Moment,
        text: &str,
        purpose: Purpose,
        variables: &[(&str, String)],
    ) -> Result<(), Done> {
        let until = (purpose == Purpose::Guard).then(|| now + GUARD_LIMIT);
        match spawn(text, variables) {
            Ok(child) => {
                self.0.push(Running { child, text: text.to_owned(), purpose, until });
                Ok(())
            }
            Err(error) => Err(Done { text: text.to_owned(), purpose, status: Err(error.to_string()) }),
        }
    }

    /// Steps that have not ended. They live on, and nobody will know how they end.
    pub fn unfinished(&self) -> Vec<Done> {
        let steps = self.0.iter().filter(|running| running.purpose == Purpose::Step);
        let done = |running: &Running| Done {
            text: running.text.clone(),
            purpose: running.purpose,
            status: Err("it was still running when the run ended".to_owned()),
        };
        steps.map(done).collect()
    }

    /// Whether a guard is still thinking.
    pub fn guards_run(&self) -> bool {
        self.0.iter().any(|running| running.purpose == Purpose::Guard)
    }

    /// When the next one has run for too long.
    pub fn deadline(&self) -> Option<Moment> {
        self.0.iter().filter_map(|running| running.until).min()
    }

    /// Buries whoever else has ended and is ours by now: what shell commands have left behind, and those of them that were
    /// ended. `monitor` is not, nor are those that are still to be told of.
    #[cfg(target_os = "linux")]
    pub fn bury_others(&self, monitor: i32) {
        use nix::sys::wait::{Id, WaitPidFlag, waitid, waitpid};
        let known =
            |pid: i32| pid == monitor || self.0.iter().any(|running| i32::try_from(running.child.id()) == Ok(pid));
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        while let Ok(status) = waitid(Id::All, flags)
            && let Some(pid) = status.pid().filter(|pid| !known(pid.as_raw()))
        {
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }

    /// Only where we adopt orphans are there any.
    #[cfg(not(target_os = "linux"))]
    pub fn bury_others(&self, _monitor: i32) {}

    /// Those that have ended, or have just been ended because they took too long.
    pub fn ended(&mut self, now: Moment) -> Vec<Done> {
        let mut done = Vec::new();
        self.0.retain_mut(|running| {
            let late = running.until.is_some_and(|until| now >= until);
            if late {
                end(&running.child);
            }
            let status = match running.child.try_wait() {
                // It may take its time to go, in a call that nothing interrupts; it is buried when it has.
                Ok(_) if late => Ok(Err("it took too long".to_owned())),
                Ok(None) => return true,
                Ok(Some(status)) => {
                    Ok(status.code().ok_or_else(|| format!("ended by signal {}", status.signal().unwrap_or_default())))
                }
                Err(error) => Err(error),
            };
            let status = status.unwrap_or_else(|error| Err(error.to_string()));
            done.push(Done { text: std::mem::take(&mut running.text), purpose: running.purpose, status });
            false
        });
        done
    }
}

impl Drop for Shells {
    fn drop(&mut self) {
        self.0.retain(|running| running.purpose == Purpose::Guard);
        self.0.iter().for_each(|running| end(&running.child));
        let clock = Clock::start();
        // One that has become another user, or hangs in the kernel, is left to whoever buries what we leave.
        while clock.now().since_start() < LAST_WAIT {
            self.0.retain_mut(|running| matches!(running.child.try_wait(), Ok(None)));
            if self.0.is_empty() {
                return;
            }
            std::thread::sleep(NEXT_LOOK);
        }
    }
}

fn spawn(text: &str, variables: &[(&str, String)]) -> io::Result<Child> {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", text])
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    // What we were started with is the command's, and is here for its next start: a lock must not stay taken because a
    // step lives on.
    let keep_from_it = || {
        inherited::close_later();
        inherited::restore_signals();
        Ok(())
    };
    // SAFETY: between fork and exec there are only calls that may be made there.
    unsafe { shell.pre_exec(keep_from_it) };
    shell.spawn()
}

/// Ends one with everything it has started.
fn end(child: &Child) {
    if let Ok(pid) = i32::try_from(child.id()) {
        // The child is not reaped yet, so its process group is its own.
        let _ = signals::send(-pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_ends_is_told_with_its_code() {
        let mut shells = Shells::default();
        shells.start(Moment::START, "exit 3", Purpose::Step, &[]).unwrap();
        let done = loop {
            if let Some(done) = shells.ended(Moment::START).pop() {
                break done;
            }
            std::thread::yield_now();
        };
        assert_eq!(done, Done { text: "exit 3".to_owned(), purpose: Purpose::Step, status: Ok(3) });
    }

    #[test]
    fn a_guard_that_takes_too_long_is_ended() {
        let mut shells = Shells::default();
        shells.start(Moment::START, "sleep 100", Purpose::Guard, &[]).unwrap();
        assert!(shells.ended(Moment::START + Duration::from_secs(9)).is_empty());
        assert_eq!(shells.deadline(), Some(Moment::START + GUARD_LIMIT));
        let done = shells.ended(Moment::START + GUARD_LIMIT);
        assert_eq!(done[0].status, Err("it took too long".to_owned()));
        assert!(!shells.guards_run());
    }
}
