//! What idlewatch holds does not grow with what passes through it.

use std::fs;

use crate::support::{Run, until};

/// Resident memory in KiB and open descriptors, of idlewatch and its monitor.
pub fn held(pid: i32) -> (u64, usize) {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let monitor = children.split_whitespace().filter_map(|child| child.parse().ok());
    let all: Vec<i32> = [pid].into_iter().chain(monitor).collect();
    assert_eq!(all.len(), 2, "idlewatch and its monitor: {children}");
    let resident = |pid: &i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("resident memory").to_owned();
        line.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).expect("a number")
    };
    let open = |pid: &i32| fs::read_dir(format!("/proc/{pid}/fd")).expect("descriptors").count();
    (all.iter().map(resident).sum(), all.iter().map(open).sum())
}

#[test]
#[cfg(target_os = "linux")]
fn a_flood_leaves_memory_and_descriptors_as_they_were() {
    let log = "for (n = 0; n < 16000; n++) printf \"%d a line of a log that says something about request %x\\n\", i, n * 2654435761";
    let painted = "for (n = 0; n < 24000; n++) printf \"\\033[%d;1H\\033[3%dm%d of %d words\\033[m\\033[K\", n % 24 + 1, n % 8, n, i";
    let one_line = "for (n = 0; n < 120000; n++) printf \"%07d \", n + i";
    for print in [log, painted, one_line] {
        let script = format!(
            "stty -echo; i=0; while [ $i -le 5 ]; do awk -v i=$i 'BEGIN {{ {print} }}'; echo; echo \"piece $i ends\"; \
             case $i in 0|5) read go;; esac; i=$((i+1)); done"
        );
        let mut running = Run::sh(&[], &script).in_terminal();
        running.wait_for("piece 0 ends");
        let (before, open) = held(running.pid());
        running.enter("\n");
        for piece in 1..=5 {
            running.wait_for(format!("piece {piece} ends"));
        }
        // What the flood itself needed is given back with the next wake-up.
        until("as much memory as before", || held(running.pid()).0 < before + 1024);
        assert_eq!(held(running.pid()).1, open, "descriptors after {print}");
        running.enter("\n");
        assert!(running.finish().1.success());
    }
}

/// Waits until this process sleeps and goes on to.
#[cfg(target_os = "linux")]
pub fn until_asleep(pid: i32) {
    until("sleep", || {
        let before = traces_of_work(pid);
        std::thread::sleep(std::time::Duration::from_millis(700));
        before == traces_of_work(pid)
    });
}

/// What shows that a process has run: how often it gave the processor away or had it taken, and for how long it had it.
#[cfg(target_os = "linux")]
fn traces_of_work(pid: i32) -> Vec<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a status");
    let switches = status.lines().filter(|line| line.contains("ctxt_switches")).map(ToOwned::to_owned);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a stat");
    let after_name = stat.rsplit(')').next().expect("fields").to_owned();
    switches.chain(after_name.split_whitespace().skip(11).take(2).map(ToOwned::to_owned)).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn after_the_last_key_it_sleeps() {
    for options in [&["--idle", "off"][..], &["--idle", "1h"]] {
        let script = "stty raw -echo; echo ready; exec cat";
        let mut running = Run::sh(options, script).in_terminal();
        running.wait_for("ready");
        for key in ["a", "b", "\x1b[A", "c"] {
            running.enter(key).wait_for(key);
        }
        until_asleep(running.pid());
        running.signal(libc::SIGTERM);
        running.finish();
    }
}
