//! What is measured, and how.

use std::io;
use std::time::{Duration, Instant};

use crate::outer::{Place, Running, start};
use crate::peers::Peer;
use crate::process::{held, sleeps, spent};
use crate::table::{Better, Figure};
use crate::turns::{bulk, latency};
use crate::work::Kind;

/// Something that can be measured of a peer.
pub struct Metric {
    /// What to call it after `--only`.
    pub name: &'static str,
    /// How often.
    pub rounds: usize,
    /// How often in a hurry.
    pub quick_rounds: usize,
    /// Of whom.
    pub suits: fn(&Peer) -> bool,
    /// One round of it.
    pub measure: Measure,
}

/// How one round goes. All are given the path of this program, and whether little data is enough.
pub enum Measure {
    /// One peer after the other.
    Apart(fn(&Peer, &str, bool) -> Figures),
    /// All of them at once, taking turns.
    Together(fn(&[&Peer], &str, bool) -> io::Result<Vec<Turn>>),
}

type Figures = io::Result<Vec<Figure>>;

/// What each peer showed when it was its turn, in their order.
pub type Turn = Vec<Vec<Figure>>;

/// Everything there is to measure.
pub const METRICS: &[Metric] = &[
    Metric { name: "bulk", rounds: 6, quick_rounds: 1, suits: |_| true, measure: Measure::Together(bulk) },
    Metric {
        name: "latency",
        rounds: 10,
        quick_rounds: 1,
        suits: Peer::takes_keys,
        measure: Measure::Together(latency),
    },
    Metric { name: "start", rounds: 120, quick_rounds: 5, suits: |_| true, measure: Measure::Apart(start_up) },
    Metric { name: "wakeups", rounds: 1, quick_rounds: 1, suits: |_| true, measure: Measure::Apart(wakeups) },
    Metric { name: "memory", rounds: 1, quick_rounds: 1, suits: Peer::relays, measure: Measure::Apart(memory) },
    Metric { name: "soak", rounds: 1, quick_rounds: 1, suits: Peer::relays, measure: Measure::Apart(soak) },
    Metric { name: "many", rounds: 1, quick_rounds: 1, suits: Peer::relays, measure: Measure::Apart(many) },
];

/// A figure of which less is better.
pub fn less(name: &'static str, unit: &'static str, value: f64) -> Figure {
    Figure { name, unit, value, better: Better::Less }
}

/// The wrapper's process id.
pub fn id(running: &Running) -> i32 {
    i32::try_from(running.child.id()).unwrap_or(0)
}

/// A number to reckon with.
#[allow(clippy::cast_precision_loss, reason = "no figure here has more than fifty bits")]
pub const fn float(number: u64) -> f64 {
    number as f64
}

/// How long it takes to run `true`.
fn start_up(peer: &Peer, _: &str, _: bool) -> Figures {
    let mut figures = Vec::new();
    for (place, name) in
        [(Place::Pipe, "start and end, in a script"), (Place::Terminal, "start and end, in a terminal")]
    {
        let argv = peer.argv(&["true"]);
        let begun = Instant::now();
        let mut running = start(&argv, place)?;
        let mut buffer = [0; 4096];
        while running.read(&mut buffer) > 0 {}
        running.child.wait()?;
        figures.push(less(name, "ms", begun.elapsed().as_secs_f64() * 1e3));
    }
    Ok(figures)
}

/// How often the wrapper wakes up while nothing happens, and while a spinner turns.
fn wakeups(peer: &Peer, own: &str, quick: bool) -> Figures {
    let length = Duration::from_secs(if quick { 2 } else { 10 });
    let mut figures = Vec::new();
    for (work, name) in [
        (["__sleep", "3600", ""], "wake-ups while silent"),
        (["__spin", "10", "3600"], "wake-ups at a spinner of 10 Hz"),
    ] {
        let mut running = start(&peer.argv(&[own, work[0], work[1], work[2]]), Place::Terminal)?;
        running.drain_for(Duration::from_secs(1));
        let before = sleeps(id(&running));
        running.drain_for(length);
        let count = sleeps(id(&running)).saturating_sub(before);
        running.end();
        figures.push(less(name, "/s", float(count) / length.as_secs_f64()));
    }
    Ok(figures)
}

/// What is held while nothing happens, and after a flood.
fn memory(peer: &Peer, own: &str, quick: bool) -> Figures {
    let size: u64 = if quick { 16 << 20 } else { 256 << 20 };
    let mut figures = Vec::new();
    let mut idle = start(&peer.argv(&[own, "__sleep", "3600"]), Place::Terminal)?;
    idle.drain_for(Duration::from_millis(500));
    let before = held(id(&idle));
    idle.end();
    figures.push(less("resident memory, silent", "KiB", float(before.rss)));
    figures.push(less("of that its share, silent", "KiB", float(before.pss)));
    for (kind, rss, pss) in [
        (Kind::Log, "resident memory after 256 MiB of log lines", "of that its share, after log lines"),
        (Kind::Frames, "resident memory after 256 MiB of frames", "of that its share, after frames"),
    ] {
        let mut flooded = start(&peer.argv(&[own, "__print", kind.name(), &size.to_string()]), Place::Terminal)?;
        if !flooded.wait_for(b"ready") {
            return Err(io::Error::other("it ended before it was ready"));
        }
        flooded.drain_for(Duration::from_secs(1));
        let after = held(id(&flooded));
        flooded.end();
        figures.push(less(rss, "KiB", float(after.rss)));
        figures.push(less(pss, "KiB", float(after.pss)));
        if after.descriptors != before.descriptors {
            let (was, is) = (before.descriptors, after.descriptors);
            eprintln!("{}: {was} descriptors before {} and {is} after", peer.name, kind.name());
        }
    }
    Ok(figures)
}

/// A spinner of a thousand frames in a second for half a minute.
fn soak(peer: &Peer, own: &str, quick: bool) -> Figures {
    let length = Duration::from_secs(if quick { 2 } else { 30 });
    let mut running = start(&peer.argv(&[own, "__spin", "1000", "3600"]), Place::Terminal)?;
    running.drain_for(Duration::from_secs(1));
    let (before, spent_before) = (held(id(&running)), spent(id(&running)));
    running.drain_for(length);
    let (after, spent_after) = (held(id(&running)), spent(id(&running)));
    running.end();
    Ok(vec![
        less(
            "spinner of 1000 Hz: processor",
            "ms/s",
            float(spent_after.saturating_sub(spent_before)) / 1e3 / length.as_secs_f64(),
        ),
        less("spinner of 1000 Hz: memory grown", "KiB", float(after.rss.saturating_sub(before.rss))),
        less("spinner of 1000 Hz: descriptors grown", "", float(after.descriptors.saturating_sub(before.descriptors))),
    ])
}

/// Two hundred at once, each with a spinner.
fn many(peer: &Peer, own: &str, quick: bool) -> Figures {
    let (count, seconds) = if quick { (20, 3) } else { (200, 60) };
    let argv = peer.argv(&[own, "__spin", "10", "3600"]);
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(start(&argv, Place::Terminal)?);
    }
    drain_all(&mut all, Duration::from_secs(2));
    let ids: Vec<i32> = all.iter().map(id).collect();
    let sum = |of: fn(i32) -> u64| ids.iter().map(|id| of(*id)).sum::<u64>();
    let (memory, busy) = (sum(|id| held(id).pss), sum(spent));
    drain_all(&mut all, Duration::from_secs(seconds));
    let (memory_after, busy_after) = (sum(|id| held(id).pss), sum(spent));
    let gone = all.iter_mut().filter_map(|running| running.child.try_wait().transpose()).count();
    all.into_iter().for_each(Running::end);
    if gone > 0 {
        return Err(io::Error::other(format!("{gone} of {count} ended by themselves")));
    }
    let each = f64::from(count);
    Ok(vec![
        less("many at once: memory of each", "KiB", float(memory_after) / each),
        less("many at once: memory grown", "KiB", float(memory_after.saturating_sub(memory)) / each),
        less(
            "many at once: processor of each",
            "ms/s",
            float(busy_after.saturating_sub(busy)) / 1e3 / each / float(seconds),
        ),
    ])
}

fn drain_all(all: &mut [Running], length: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < length {
        all.iter_mut().for_each(Running::drain_now);
        std::thread::sleep(Duration::from_millis(20));
    }
}
