//! Where the command stands among sessions and process groups: as it would without us.

use nix::unistd::{Pid, getpgid, getpgrp, getpid, getppid, getsid};

/// The command's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In our own session and process group: it has no terminal of its own.
    Ours,
    /// It leads a session, as we do.
    SessionLeader,
    /// In a process group that cannot be stopped by a key, as ours: no shell is there to continue it.
    Orphaned,
    /// In a process group that can be stopped and continued, which it leads only if we lead ours.
    Job {
        /// It leads the group.
        leads: bool,
    },
}

impl Place {
    /// The place for a command with a terminal of its own. One that does not have the terminal from the start is
    /// stopped when it wants it, so it has to be a job.
    pub fn under_terminal(has_it_from_the_start: bool) -> Self {
        let leads = getpgrp() == getpid();
        if has_it_from_the_start {
            if getsid(None) == Ok(getpid()) {
                return Self::SessionLeader;
            }
            if is_orphaned() {
                return Self::Orphaned;
            }
        }
        Self::Job { leads }
    }

    /// Whom to signal to reach the command, for kill(2): its process group, or itself where one of us is in that.
    pub const fn target(self, group: i32, child: i32) -> i32 {
        match self {
            Self::SessionLeader | Self::Job { .. } => -group,
            Self::Ours | Self::Orphaned => child,
        }
    }
}

/// Whether nobody in our session outside our process group is the parent of one of us.
pub fn is_orphaned() -> bool {
    let (session, group) = (getsid(None), getpgrp());
    let mut parent = getppid();
    loop {
        if parent.as_raw() <= 0 || getsid(Some(parent)) != session {
            return true;
        }
        if getpgid(Some(parent)) != Ok(group) {
            return false;
        }
        match parent_of(parent) {
            Some(next) => parent = next,
            // It cannot be told: a job is the usual case.
            None => return false,
        }
    }
}

#[cfg(target_os = "linux")]
fn parent_of(pid: Pid) -> Option<Pid> {
    super::stat::Stat::read(pid.as_raw())?.parent().map(Pid::from_raw)
}

#[cfg(not(target_os = "linux"))]
fn parent_of(_pid: Pid) -> Option<Pid> {
    None
}
