//! The command's process tree: who is in it, and how all of it is signalled.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod traffic;
#[cfg(target_os = "linux")]
use linux as system;

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
use other as system;

use std::collections::HashMap;
use std::ffi::CStr;
use std::fmt;
use std::time::Duration;

use super::signals::send;
use crate::report::plain;
use crate::signal::Signal;

/// One process, told apart from a later one with the same id by when it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// When it started, in the kernel's own unit.
    pub started: u64,
    /// What it is called.
    pub name: String,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A process chooses its own name, and this is shown to people.
        let name = plain(&self.name);
        write!(f, "{} ({name})", self.pid)
    }
}

/// Makes orphans in the tree our children, so that none escapes by double fork. False where it cannot be done.
pub fn adopt_orphans() -> bool {
    system::adopt_orphans()
}

/// Lets this process go on when its parent ends, should somebody have stopped it.
pub fn go_on_without_parent() {
    system::go_on_without_parent();
}

/// Gives this process a name of its own, where there is such a thing: whoever kills all that is called idlewatch is to
/// leave somebody to clear away.
pub fn take_name(name: &CStr) {
    system::take_name(name);
}

/// All living descendants of `root`, in sessions of their own or not. None where it cannot be told.
pub fn descendants(root: i32) -> Option<Vec<Process>> {
    system::descendants(root)
}

/// Sends a signal to every descendant of `root`, or where they are not known to `target`, as kill(2) understands it;
/// stopped ones are continued, or they could not act on it. Gives those that could not be signalled.
pub fn signal_all(root: i32, target: i32, signal: Signal) -> Vec<Process> {
    // A snapshot first: once the first process is gone, its children no longer show whose they were.
    let Some(snapshot) = descendants(root) else {
        let _ = send(target, signal);
        return Vec::new();
    };
    let refused = snapshot.iter().filter(|process| !system::signal(process, signal)).cloned().collect();
    if !signal.stops() && signal != Signal::CONT && signal != Signal::KILL {
        for process in &snapshot {
            system::signal(process, Signal::CONT);
        }
    }
    refused
}

/// Whether this process is still there.
pub fn is_alive(process: &Process) -> bool {
    system::is_same(process)
}

/// Whether this process is stopped. Where it cannot be told, it may be.
pub fn is_stopped(pid: i32) -> bool {
    system::is_stopped(pid).unwrap_or(true)
}

/// The same for a child of ours, which is asked more quickly.
pub fn is_stopped_child(child: i32) -> bool {
    system::is_stopped_child(child)
}

/// One of a tree, as it is told apart from others: its id, and when it started.
pub type Key = (i32, u64);

/// What is known of one of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// How long ago it started.
    pub age: Duration,
    /// What its children have used that have ended and that it has waited for, all in one number: it grows with each.
    pub buried: u64,
}

/// The descendants of `root`. None where it cannot be told.
pub fn family(root: i32) -> Option<HashMap<Key, Member>> {
    system::family(root)
}

/// What processes have done since they began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// The processor time they have used, the children they have waited for included.
    pub used: Duration,
    /// How long they could have run and did not get a core.
    pub held_up: Duration,
}

/// The work of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeWork {
    /// Of those that have a standard stream on a terminal of the command's, and of the others.
    pub groups: [Work; 2],
    /// The processor time that each of the former has used itself, without its children's, by its id and its start.
    pub own: HashMap<Key, Duration>,
}

/// The work of the descendants of `root`; the command's terminals have these device numbers. None where it cannot be told.
pub fn work(root: i32, terminals: &[u64]) -> Option<TreeWork> {
    system::work(root, terminals)
}

#[cfg(target_os = "linux")]
pub use linux::device_of;

/// What the bytes were read from and written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// Files, pipes, terminals, anything.
    Any,
    /// A disk: what was in memory already, or stays there, is left out.
    Disk,
}

/// The bytes that the descendants of `root` have read and written there. None where it cannot be told.
pub fn bytes_moved(root: i32, medium: Medium) -> Option<u64> {
    system::bytes_moved(root, medium)
}

/// The bytes that each network connection of the descendants of `root` has received, by a number of its own. None where
/// it cannot be told.
pub fn bytes_received(root: i32) -> Option<HashMap<u64, u64>> {
    system::bytes_received(root)
}
