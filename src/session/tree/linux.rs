//! The process tree from /proc, and signals that cannot hit a process that has taken over an id.
#![allow(unsafe_code, reason = "nothing wraps pidfd_send_signal(2)")]

use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::super::clock::Clock;
use super::super::signals::{is_there, send};
use super::super::stat::{Stat, Ticks};
use super::{Key, Medium, Member, Process, TreeWork};
use crate::signal::Signal;

/// When a process started that /proc does not show: nobody else did then, the first ones of the kernel apart.
const HIDDEN: u64 = 0;

pub fn adopt_orphans() -> bool {
    nix::sys::prctl::set_child_subreaper(true).is_ok()
}

pub fn go_on_without_parent() {
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::SIGCONT);
}

pub fn take_name(name: &CStr) {
    let _ = nix::sys::prctl::set_name(name);
}

pub fn descendants(root: i32) -> Option<Vec<Process>> {
    let mut all: Vec<(i32, Process)> =
        fs::read_dir("/proc").ok()?.filter_map(|entry| read(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect();
    let own = i32::try_from(std::process::id()).ok()?;
    if !all.iter().any(|(_, process)| process.pid == own) {
        // A /proc that does not show us shows nobody.
        return None;
    }
    // A parent that has ended while this was read has left its children to somebody else.
    let listed: HashSet<i32> = all.iter().map(|(_, process)| process.pid).collect();
    let known = |parent: i32| parent == 0 || listed.contains(&parent);
    all = all
        .into_iter()
        .filter_map(|(parent, process)| if known(parent) { Some((parent, process)) } else { read(process.pid) })
        .collect();
    // Where it shows only who is ours, set-uid programs are not: of those their parents know.
    let hides = !listed.contains(&1);
    let mut family = HashSet::from([root]);
    let mut found = Vec::new();
    // Ids wrap around, so a child can come before its parent: go through until nobody is added.
    loop {
        let before = found.len();
        for (parent, process) in &all {
            if family.contains(parent) && family.insert(process.pid) {
                found.push(process.clone());
            }
        }
        if hides && found.len() == before {
            let unlisted: Vec<i32> = family.iter().flat_map(|pid| children(*pid)).collect();
            found.extend(unlisted.into_iter().filter(|pid| family.insert(*pid)).filter_map(unlisted_process));
        }
        if found.len() == before {
            return Some(found);
        }
    }
}

/// The children of a process, also those that /proc does not show otherwise. Nobody where the kernel does not tell.
fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// A child that was not listed: it has come since, or is hidden.
fn unlisted_process(pid: i32) -> Option<Process> {
    if Stat::read(pid).is_some() {
        return read(pid).map(|(_, process)| process);
    }
    is_there(pid).then(|| Process { pid, started: HIDDEN, name: "hidden".to_owned() })
}

/// The parent and the process with this id, unless it is gone or only waits to be reaped.
fn read(pid: i32) -> Option<(i32, Process)> {
    let stat = Stat::read(pid)?;
    let (parent, started) = (stat.parent()?, stat.number(22)?);
    (!matches!(stat.state, 'Z' | 'X')).then_some((parent, Process { pid, started, name: stat.name }))
}

/// Whether it was signalled, or is gone already.
pub fn signal(process: &Process, signal: Signal) -> bool {
    // SAFETY: pidfd_open takes an id and flags by value and gives a new descriptor or an error.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, process.pid, 0) };
    let Ok(fd) = i32::try_from(fd) else { return false };
    if fd < 0 {
        return match Errno::last() {
            Errno::ESRCH => true,
            _ => !is_same(process) || matches!(send(process.pid, signal), Ok(()) | Err(Errno::ESRCH)),
        };
    }
    // SAFETY: the kernel just made this descriptor for us alone.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // The descriptor is fixed now: if the start time fits, the signal cannot reach anybody else.
    if !is_same(process) {
        return true;
    }
    let info = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: `fd` is a process descriptor; without a siginfo the call acts like kill.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd.as_raw_fd(), signal.number(), info, 0) };
    sent == 0 || Errno::last() == Errno::ESRCH
}

pub fn is_same(process: &Process) -> bool {
    match read(process.pid) {
        Some((_, now)) => now.started == process.started,
        // Nobody but a child of somebody who was just asked is told apart no better than that.
        None => process.started == HIDDEN && Stat::read(process.pid).is_none() && is_there(process.pid),
    }
}

pub fn is_stopped(pid: i32) -> Option<bool> {
    Stat::read(pid).map(|stat| stat.state == 'T')
}

pub fn is_stopped_child(child: i32) -> bool {
    // Whoever is asked stays as it is.
    let flags = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    waitid(Id::Pid(Pid::from_raw(child)), flags).is_ok_and(|status| status != WaitStatus::StillAlive)
}

pub fn family(root: i32) -> Option<HashMap<Key, Member>> {
    let (unit, now) = (Ticks::of_system()?, Clock::since_boot());
    let member = |process: Process| {
        let age = now.saturating_sub(unit.length(process.started));
        // Their page faults, of which even the shortest have some, and their time.
        let buried = |stat: Stat| [11, 13, 16, 17].into_iter().filter_map(|field| stat.number(field)).sum();
        let buried = Stat::read(process.pid).map(buried).unwrap_or_default();
        ((process.pid, process.started), Member { age, buried })
    };
    Some(descendants(root)?.into_iter().map(member).collect())
}

pub fn work(root: i32, terminals: &[u64]) -> Option<TreeWork> {
    let unit = Ticks::of_system()?;
    let mut work = TreeWork::default();
    for process in descendants(root)? {
        let draws = has_terminal(process.pid, terminals);
        let group = &mut work.groups[usize::from(!draws)];
        group.held_up += held_up(process.pid).unwrap_or_default();
        let Some(stat) = Stat::read(process.pid) else { continue };
        // User and system time of a process and of those it has waited for.
        group.used += unit.length(stat.sum(14..=17));
        if draws {
            work.own.insert((process.pid, process.started), unit.length(stat.sum(14..=15)));
        }
    }
    Some(work)
}

/// How long a process could have run and did not get a core: of its threads the one that waited longest, since one that
/// draws may get what it needs while another, which works, does not.
fn held_up(pid: i32) -> Option<Duration> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    threads.filter_map(|thread| waited(&fs::read_to_string(thread.path().join("schedstat")).ok()?)).max()
}

/// The second field of a thread's `schedstat`, in nanoseconds.
fn waited(schedstat: &str) -> Option<Duration> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

/// Whether a standard stream of the process is one of these terminals. Where it cannot be told, it may be.
fn has_terminal(pid: i32, terminals: &[u64]) -> bool {
    (0..3).any(|fd| match device_of(pid, fd) {
        Ok(device) => device.is_some_and(|device| terminals.contains(&device)),
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
    })
}

/// The number of the device that a descriptor of a process is, if it is one. Other files are not looked at: theirs may
/// be a file system that does not answer, which is what the process hangs in.
pub fn device_of(pid: i32, fd: u64) -> std::io::Result<Option<u64>> {
    let path = format!("/proc/{pid}/fd/{fd}");
    if !fs::read_link(&path)?.starts_with("/dev") {
        return Ok(None);
    }
    fs::metadata(path).map(|metadata| Some(metadata.rdev()))
}

pub use super::traffic::received as bytes_received;

pub fn bytes_moved(root: i32, medium: Medium) -> Option<u64> {
    let family = descendants(root)?;
    let moved: Vec<u64> = family.iter().filter_map(|process| moved(process.pid, medium)).collect();
    // Denied for processes of other users; if for all of them, nothing is known.
    (!moved.is_empty()).then(|| moved.iter().sum())
}

fn moved(pid: i32, medium: Medium) -> Option<u64> {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let value = |name: &str| io.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    let [read, written] = match medium {
        Medium::Any => ["rchar:", "wchar:"],
        Medium::Disk => ["read_bytes:", "write_bytes:"],
    };
    Some(value(read)? + value(written)?)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_tree_is_seen_and_ended_also_in_sessions_of_its_own() {
        let mut shell = Command::new("sh").args(["-c", "setsid sleep 300 & sleep 301 & wait"]).spawn().unwrap();
        let root = i32::try_from(shell.id()).unwrap();
        let tree = loop {
            let tree = descendants(root).unwrap();
            if tree.iter().filter(|process| process.name == "sleep").count() == 2 {
                break tree;
            }
            std::thread::yield_now();
        };
        for process in &tree {
            assert!(signal(process, Signal::KILL));
        }
        shell.wait().unwrap();
        assert_eq!(descendants(root), Some(Vec::new()));
    }

    #[test]
    fn a_thread_that_gets_no_core_is_seen_beside_one_that_needs_none() {
        let (own, done) = (std::process::id().cast_signed(), AtomicBool::new(false));
        let main = || waited(&fs::read_to_string(format!("/proc/{own}/schedstat")).ok()?);
        if main().is_none() {
            return;
        }
        // SAFETY: the set is plain numbers, for which zeros are a value.
        let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: it takes nothing and has no effect on our memory.
        let core = usize::try_from(unsafe { libc::sched_getcpu() }).unwrap();
        // SAFETY: a core that there is fits into the set.
        unsafe { libc::CPU_SET(core, &mut one) };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    // SAFETY: the set outlives the call, which only reads it.
                    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const one) };
                    while !done.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let seen = (0..500).any(|_| {
                std::thread::sleep(Duration::from_millis(10));
                held_up(own) > main().map(|main| main + Duration::from_millis(100))
            });
            done.store(true, Ordering::Relaxed);
            assert!(seen);
        });
    }

    #[test]
    fn a_process_that_took_over_an_id_is_left_alone() {
        let mut sleep = Command::new("sleep").arg("300").spawn().unwrap();
        let (_, mut process) = read(i32::try_from(sleep.id()).unwrap()).unwrap();
        process.started += 1;
        assert!(signal(&process, Signal::KILL));
        assert!(sleep.try_wait().unwrap().is_none());
        sleep.kill().unwrap();
        sleep.wait().unwrap();
    }
}
