//! Every process of a tree, and what each of its threads is doing: for a report, when something is wrong.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use super::super::stat::{Stat, Ticks};
use super::super::tree;
use super::call::{Call, UNKNOWN};
use super::linux::is_terminal;
use super::memory::Memory;
use super::sockets::Sockets;
use crate::report::{Doing, Kind, Process};
use crate::watch::Moment;

/// So many processes are looked at, and so many threads of each: a look at one takes a tenth of a millisecond, and
/// meanwhile nothing is relayed.
const MOST_PROCESSES: usize = 100;
const MOST_THREADS: usize = 64;
/// So many things are said of one process.
const MOST_DOING: usize = 6;
/// A rate over less than this says nothing.
const SHORTEST: Duration = Duration::from_millis(500);

/// The processor time of every process at a moment, to compare with.
#[derive(Debug)]
pub struct Usage {
    at: Moment,
    ticks: HashMap<(i32, u64), u64>,
}

/// The processor time that the processes below `root` have used by now.
pub fn usage(now: Moment, root: i32) -> Option<Usage> {
    let family = tree::descendants(root)?;
    let ticks = family
        .iter()
        .filter_map(|process| Some(((process.pid, process.started), Stat::read(process.pid)?.sum(14..=15))));
    Some(Usage { at: now, ticks: ticks.collect() })
}

/// The processes below `root`, whose terminals have these device numbers, and how busy each has been since `before`;
/// and how many more there are.
pub fn processes(now: Moment, root: i32, terminals: &[u64], before: Option<&Usage>) -> Option<(Vec<Process>, usize)> {
    let unit = Ticks::of_system()?;
    let uptime = fs::read_to_string("/proc/uptime").ok();
    let uptime = uptime.and_then(|text| text.split('.').next()?.parse::<u64>().ok()).map(Duration::from_secs);
    let mut sockets = Sockets::default();
    let family = tree::descendants(root)?;
    let seen = family.iter().take(MOST_PROCESSES).filter_map(|process| {
        let stat = Stat::read(process.pid)?;
        let ticks = stat.sum(14..=15);
        let share = before.and_then(|before| {
            let then = before.ticks.get(&(process.pid, process.started))?;
            let wall = now.since(before.at);
            let used = unit.length(ticks.saturating_sub(*then)).as_millis();
            (wall >= SHORTEST).then(|| u32::try_from(used * 100 / wall.as_millis()).unwrap_or(u32::MAX))
        });
        let memory = Memory::of(process.pid);
        Some(Process {
            pid: process.pid,
            parent: stat.parent()?,
            command: memory.command_line().unwrap_or_else(|| format!("[{}]", process.name)),
            state: stat.state,
            cpu: unit.length(ticks),
            share,
            age: uptime.unwrap_or_default().saturating_sub(unit.length(process.started)),
            threads: usize::try_from(stat.number(20)?).ok()?,
            doing: doing(&memory, &stat, terminals, &mut sockets),
        })
    });
    Some((seen.collect(), family.len().saturating_sub(MOST_PROCESSES)))
}

fn doing(memory: &Memory, stat: &Stat, terminals: &[u64], sockets: &mut Sockets) -> Vec<Doing> {
    if matches!(stat.state, 'T' | 't') {
        return vec![Doing { kind: Kind::Stopped, detail: String::new() }];
    }
    let Ok(threads) = fs::read_dir(format!("/proc/{}/task", memory.pid)) else { return Vec::new() };
    let mut all: Vec<Doing> = Vec::new();
    for thread in threads.flatten().take(MOST_THREADS) {
        // Denied for a process of another user; gone for a thread that has just ended.
        let Ok(text) = fs::read_to_string(thread.path().join("syscall")) else { continue };
        let found = match Call::parse(&text) {
            Some(call) => waits(memory, call, terminals, sockets),
            None => vec![Doing { kind: Kind::Running, detail: String::new() }],
        };
        for doing in found {
            if !all.contains(&doing) {
                all.push(doing);
            }
        }
    }
    // Threads that merely wait for work of their own say nothing where another waits for somebody.
    let own = |doing: &Doing| matches!(doing.kind, Kind::Lock | Kind::Event) && doing.detail.is_empty();
    if all.iter().any(|doing| !own(doing)) {
        all.retain(|doing| !own(doing));
    }
    all.truncate(MOST_DOING);
    all
}

/// What a thread in this call waits for.
fn waits(memory: &Memory, call: Call, terminals: &[u64], sockets: &mut Sockets) -> Vec<Doing> {
    let one = |kind: Kind, detail: String| vec![Doing { kind, detail }];
    let ([first, second, ..], pid) = (call.arguments, memory.pid);
    match call.number {
        libc::SYS_read | libc::SYS_readv | libc::SYS_pread64 => vec![behind(pid, first, terminals, sockets)],
        libc::SYS_write | libc::SYS_writev | libc::SYS_pwrite64 => {
            let Doing { kind, detail } = behind(pid, first, terminals, sockets);
            let kind = if kind == Kind::Terminal { Kind::File } else { kind };
            let what = if detail.is_empty() { kind.name().to_owned() } else { detail };
            one(kind, format!("writing to {what}"))
        }
        libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_sendto
        | libc::SYS_sendmsg
        | libc::SYS_connect
        | libc::SYS_accept
        | libc::SYS_accept4 => vec![behind(pid, first, terminals, sockets)],
        libc::SYS_wait4 | libc::SYS_waitid => {
            let child = if call.number == libc::SYS_wait4 { first } else { second };
            // A number below zero, as a process writes it, means any child or a group.
            let child = i32::try_from(child).ok().filter(|child| *child > 0);
            one(Kind::Child, child.map_or_else(String::new, |child| child.to_string()))
        }
        libc::SYS_futex => one(Kind::Lock, String::new()),
        libc::SYS_flock | libc::SYS_fcntl => {
            let Doing { detail, .. } = behind(pid, first, terminals, sockets);
            one(Kind::Lock, detail)
        }
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => one(Kind::Timer, String::new()),
        libc::SYS_rt_sigsuspend | libc::SYS_rt_sigtimedwait => one(Kind::Signal, String::new()),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_pause => one(Kind::Signal, String::new()),
        number if is_multiplexed(number) => multiplexed(memory, call, terminals, sockets),
        UNKNOWN => one(Kind::Call, String::new()),
        number => one(Kind::Call, format!("number {number}")),
    }
}

fn is_multiplexed(number: i64) -> bool {
    #[cfg(target_arch = "x86_64")]
    if [libc::SYS_poll, libc::SYS_select, libc::SYS_epoll_wait].contains(&number) {
        return true;
    }
    let others = [libc::SYS_ppoll, libc::SYS_pselect6, libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2];
    others.contains(&number) || number == libc::SYS_restart_syscall
}

/// Whatever comes first of several things.
fn multiplexed(memory: &Memory, call: Call, terminals: &[u64], sockets: &mut Sockets) -> Vec<Doing> {
    let Some(fds) = call.reads_from(memory) else {
        return vec![Doing { kind: Kind::Event, detail: "of what cannot be seen".to_owned() }];
    };
    if fds.is_empty() {
        return vec![Doing { kind: Kind::Timer, detail: String::new() }];
    }
    let all: Vec<Doing> = fds.into_iter().map(|fd| behind(memory.pid, fd, terminals, sockets)).collect();
    let others: Vec<Doing> = all.iter().filter(|doing| doing.kind != Kind::Event).cloned().collect();
    if others.is_empty() { vec![Doing { kind: Kind::Event, detail: String::new() }] } else { others }
}

/// What is behind a descriptor.
fn behind(pid: i32, fd: u64, terminals: &[u64], sockets: &mut Sockets) -> Doing {
    if is_terminal(pid, fd, terminals) {
        return Doing { kind: Kind::Terminal, detail: String::new() };
    }
    let Ok(link) = fs::read_link(format!("/proc/{pid}/fd/{fd}")) else {
        return Doing { kind: Kind::File, detail: format!("descriptor {fd}") };
    };
    let link = link.to_string_lossy();
    if let Some(inode) = link.strip_prefix("socket:[").and_then(|rest| rest.trim_end_matches(']').parse().ok()) {
        let known = sockets.find(pid, inode).map(|socket| socket.text.clone());
        return Doing { kind: Kind::Socket, detail: known.unwrap_or_default() };
    }
    match &*link {
        pipe if pipe.starts_with("pipe:") => Doing { kind: Kind::Pipe, detail: format!("descriptor {fd}") },
        own if own.starts_with("anon_inode:") => Doing { kind: Kind::Event, detail: String::new() },
        path => Doing { kind: Kind::File, detail: path.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn what_a_process_waits_for_is_told() {
        let mut shell = Command::new("sh").args(["-c", "sleep 300; :"]).spawn().unwrap();
        let mut cat = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let (shell_id, cat_id) = (i32::try_from(shell.id()).unwrap(), i32::try_from(cat.id()).unwrap());
        let found = loop {
            let (all, _) = processes(Moment::START, own, &[], None).unwrap();
            let kind = |pid: i32| all.iter().find(|process| process.pid == pid)?.doing.first().map(|doing| doing.kind);
            let sleep = all.iter().find(|process| process.parent == shell_id).map(|process| process.pid);
            let kinds = (kind(shell_id), sleep.and_then(kind), kind(cat_id));
            if kinds == (Some(Kind::Child), Some(Kind::Timer), Some(Kind::Pipe)) {
                break all.into_iter().find(|process| Some(process.pid) == sleep).unwrap();
            }
            std::thread::yield_now();
        };
        assert_eq!(found.command, "sleep 300");
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(found.pid), nix::sys::signal::SIGKILL).unwrap();
        shell.kill().unwrap();
        cat.kill().unwrap();
        shell.wait().unwrap();
        cat.wait().unwrap();
    }
}
