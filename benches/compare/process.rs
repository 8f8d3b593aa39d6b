//! What the kernel knows of a wrapper's processes.

use std::collections::BTreeMap;
use std::fs;

/// The process and all of its descendants.
pub fn family(root: i32) -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        // The name in parentheses may hold anything; after it come the state and the parent.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        children.entry(parent.unwrap_or(0)).or_default().push(pid);
    }
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        found.extend(children.get(&found[at]).into_iter().flatten());
        at += 1;
    }
    found
}

/// The processes of the wrapper itself, without the command that it runs.
fn wrapper(root: i32) -> Vec<i32> {
    family(root).into_iter().filter(|pid| !is_work(*pid)).collect()
}

fn is_work(pid: i32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let role = line.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    role.starts_with(b"__") && role != b"__relay"
}

/// A figure of the form `Name:   123 kB` from a file of /proc.
fn field(path: &str, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// What a wrapper holds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Held {
    /// Resident memory in KiB, pages that are shared counted for each process.
    pub rss: u64,
    /// Resident memory in KiB, pages that are shared divided among those who share them.
    pub pss: u64,
    /// Open descriptors.
    pub descriptors: u64,
}

/// What the wrapper's processes hold together.
pub fn held(root: i32) -> Held {
    wrapper(root).into_iter().fold(Held::default(), |held, pid| {
        let memory = format!("/proc/{pid}/smaps_rollup");
        let open = fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, |entries| entries.count() as u64);
        Held {
            rss: held.rss + field(&memory, "Rss"),
            pss: held.pss + field(&memory, "Pss"),
            descriptors: held.descriptors + open,
        }
    })
}

/// How often the wrapper's processes have gone to sleep so far, which is how often they were woken up.
pub fn sleeps(root: i32) -> u64 {
    let tasks = wrapper(root).into_iter().flat_map(|pid| {
        fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten().map(|entry| entry.path())
    });
    tasks.map(|task| field(&task.join("status").to_string_lossy(), "voluntary_ctxt_switches")).sum()
}

/// Processor time of the wrapper's processes so far, in microseconds.
pub fn spent(root: i32) -> u64 {
    let on_processor = |pid: i32| -> u64 {
        let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0)
    };
    wrapper(root).into_iter().map(on_processor).sum::<u64>() / 1000
}
