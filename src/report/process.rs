//! A process of the command's, and what it was doing when somebody looked.

use std::fmt;
use std::time::Duration;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// The id of its parent.
    pub parent: i32,
    /// Its command line, or its name in brackets where it has none.
    pub command: String,
    /// The kernel's letter for its state.
    pub state: char,
    /// The processor time it has used.
    pub cpu: Duration,
    /// The share of one core that it used of late, in percent; none: not known.
    pub share: Option<u32>,
    /// How long it has been there.
    pub age: Duration,
    /// How many threads it has.
    pub threads: usize,
    /// What its threads do, each thing once; nothing: that cannot be seen.
    pub doing: Vec<Doing>,
}

/// What a thread is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doing {
    /// What kind of thing.
    pub kind: Kind,
    /// More about it: a path, an address, a descriptor; may be empty.
    pub detail: String,
}

/// What a thread can be doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It runs.
    Running,
    /// It is stopped.
    Stopped,
    /// It reads from the terminal, or waits until it can.
    Terminal,
    /// It waits for a socket.
    Socket,
    /// It waits for a pipe.
    Pipe,
    /// It waits for a child to end.
    Child,
    /// It waits for a file, a device or a disk.
    File,
    /// It waits for a lock.
    Lock,
    /// It sleeps.
    Timer,
    /// It waits for a signal.
    Signal,
    /// It waits for something of its own: an event, a timer in its loop.
    Event,
    /// It is in another system call.
    Call,
}

impl Kind {
    /// The word that stands for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Terminal => "terminal",
            Self::Socket => "socket",
            Self::Pipe => "pipe",
            Self::Child => "child",
            Self::File => "file",
            Self::Lock => "lock",
            Self::Timer => "timer",
            Self::Signal => "signal",
            Self::Event => "event",
            Self::Call => "call",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Running => "runs",
            Self::Stopped => "is stopped",
            Self::Terminal => "reads the terminal",
            Self::Socket => "waits for a socket",
            Self::Pipe => "waits for a pipe",
            Self::Child => "waits for a child",
            Self::File => "waits for a file",
            Self::Lock => "waits for a lock",
            Self::Timer => "sleeps",
            Self::Signal => "waits for a signal",
            Self::Event => "waits for an event of its own",
            Self::Call => "is in a system call",
        }
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.words())?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, " ({})", self.detail) }
    }
}

impl Process {
    /// What it does, in words.
    pub fn activity(&self) -> String {
        if self.doing.is_empty() {
            return "cannot be seen".to_owned();
        }
        self.doing.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }
}

/// Puts children below their parents, each with how deep it lies.
pub fn as_tree(processes: &[Process]) -> Vec<(usize, &Process)> {
    let known = |pid: i32| processes.iter().any(|process| process.pid == pid);
    let mut waiting: Vec<(usize, &Process)> = processes
        .iter()
        .filter(|process| !known(process.parent) || process.parent == process.pid)
        .map(|p| (0, p))
        .collect();
    waiting.reverse();
    let mut tree: Vec<(usize, &Process)> = Vec::with_capacity(processes.len());
    while let Some((depth, process)) = waiting.pop() {
        tree.push((depth, process));
        let children = processes.iter().rev().filter(|child| child.parent == process.pid && child.pid != process.pid);
        waiting.extend(children.map(|child| (depth + 1, child)));
        if tree.len() > processes.len() {
            // Ids that were taken over while somebody looked could form a circle.
            break;
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        Process {
            pid,
            parent,
            command: String::new(),
            state: 'S',
            cpu: Duration::ZERO,
            share: None,
            age: Duration::ZERO,
            threads: 1,
            doing: Vec::new(),
        }
    }

    #[test]
    fn children_stand_below_their_parents() {
        let all = [process(5, 1), process(9, 7), process(6, 5), process(7, 5), process(8, 6)];
        let shown: Vec<(usize, i32)> = as_tree(&all).iter().map(|(depth, process)| (*depth, process.pid)).collect();
        assert_eq!(shown, [(0, 5), (1, 6), (2, 8), (1, 7), (2, 9)]);
    }

    #[test]
    fn a_circle_does_not_hang() {
        let all = [process(1, 9), process(5, 6), process(6, 5), process(2, 1), process(3, 3)];
        assert!(as_tree(&all).len() <= all.len() + 1);
    }
}
