//! What is measured of all peers at once: each waits until it is its turn, and has a short one.
//!
//! A machine is faster in one second than in the next. Whoever is measured within the same tenths of a second has had
//! the same machine.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};

use crate::measure::{Turn, float, id, less};
use crate::outer::{Place, Running, start};
use crate::peers::Peer;
use crate::process::spent;
use crate::table::{Better, Figure};
use crate::work::{END_OF_SLICE, Kind};

/// What is printed where, and what to call its speed and its cost.
const FLOODS: &[(Kind, Place, &str, &str)] = &[
    (Kind::Log, Place::Terminal, "log lines to a terminal", "processor time, log lines to a terminal"),
    (Kind::Frames, Place::Terminal, "coloured frames to a terminal", "processor time, coloured frames to a terminal"),
    (Kind::Lines, Place::Terminal, "a write for each line to a terminal", "processor time, a write for each line"),
    (Kind::Long, Place::Terminal, "long lines to a terminal", "processor time, long lines to a terminal"),
    (Kind::Log, Place::Pipe, "log lines to a pipe", "processor time, log lines to a pipe"),
    (Kind::Frames, Place::Pipe, "coloured frames to a pipe", "processor time, coloured frames to a pipe"),
];

/// So many turns before everybody is started anew: where the kernel happened to put a process is luck.
const TURNS: usize = 4;

/// How fast output passes, and what that costs.
pub fn bulk(peers: &[&Peer], own: &str, quick: bool) -> io::Result<Vec<Turn>> {
    let turns = if quick { 1 } else { TURNS };
    let mut dice = DICE;
    let mut all: Vec<Turn> = vec![vec![Vec::new(); peers.len()]; turns];
    for (kind, place, speed, cost) in FLOODS {
        let size: u64 = if quick { 1 << 20 } else { 8 << 20 };
        // One write for each line is slow for everybody.
        let size = if *kind == Kind::Lines { size / 2 } else { size };
        let mut floods = peers
            .iter()
            .map(|peer| Flood::start(peer, own, *kind, size, *place))
            .collect::<io::Result<Vec<Flood>>>()?;
        sleep(Duration::from_millis(300));
        for figures in &mut all {
            for which in shuffled(peers.len(), &mut dice) {
                let (seconds, processor) = floods[which].slice()?;
                let megabytes = float(size) / 1e6;
                let value = megabytes / seconds;
                figures[which].push(Figure { name: speed, unit: "MB/s", value, better: Better::More });
                if peers[which].relays() {
                    figures[which].push(less(cost, "ms/MB", processor * 1e3 / megabytes));
                }
            }
        }
        for flood in floods {
            flood.running.end();
        }
    }
    Ok(all)
}

/// With what the dice begin: the same orders each time.
const DICE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Who comes after whom, another order each turn: whoever always came after the same one, or after itself, would find the
/// machine as that one leaves it.
fn shuffled(count: usize, dice: &mut u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        // Xorshift.
        *dice ^= *dice << 13;
        *dice ^= *dice >> 7;
        *dice ^= *dice << 17;
        order.swap(last, usize::try_from(*dice % (last as u64 + 1)).unwrap_or(last));
    }
    order
}

/// A command that floods when it is told to.
struct Flood {
    running: Running,
    signal: File,
    _folder: tempfile::TempDir,
}

impl Flood {
    fn start(peer: &Peer, own: &str, kind: Kind, size: u64, place: Place) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("signal");
        mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR)?;
        // For reading too, or it would wait here for whoever reads.
        let signal = OpenOptions::new().read(true).write(true).open(&path)?;
        let running = start(&peer.argv(&[own, "__slices", kind.name(), &size.to_string(), &text_of(&path)]), place)?;
        Ok(Self { running, signal, _folder: folder })
    }

    /// Gives the seconds that a slice took, and the wrapper's seconds of processor time.
    fn slice(&mut self) -> io::Result<(f64, f64)> {
        let before = spent(id(&self.running));
        let mut buffer = vec![0; 64 * 1024];
        let _ends = end_in_time(id(&self.running));
        let begun = Instant::now();
        self.signal.write_all(b"x")?;
        loop {
            match self.running.read(&mut buffer) {
                0 => {
                    return Err(io::Error::other(
                        "a wrapper has ended before its slice, or was ended since the slice did not",
                    ));
                }
                count if buffer[count - 1] == END_OF_SLICE => break,
                _ => {}
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        // What it may still have to think about.
        self.running.drain_for(Duration::from_millis(60));
        let processor = spent(id(&self.running)).saturating_sub(before);
        Ok((seconds, float(processor) / 1e6))
    }
}

/// No slice takes as long.
const MOST: Duration = Duration::from_mins(1);

/// Ends this wrapper if what is given back still lives after that: unbuffer was once seen to keep the end of a slice.
fn end_in_time(pid: i32) -> Sender<()> {
    let (lives, waits) = channel();
    spawn(move || {
        if waits.recv_timeout(MOST) == Err(RecvTimeoutError::Timeout) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    });
    lives
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Whoever types fast needs longer. What a wrapper still does about the last key is over by then, for nobody's next one to
/// fall into it.
const BETWEEN_KEYS: Duration = Duration::from_millis(12);

/// How long a key takes to come back.
pub fn latency(peers: &[&Peer], own: &str, quick: bool) -> io::Result<Vec<Turn>> {
    let mut all = Vec::new();
    for peer in peers {
        let mut running = start(&peer.argv(&[own, "__echo"]), Place::Terminal)?;
        if !running.wait_for(b"ready") {
            return Err(io::Error::other(format!("{} ended before it was ready", peer.name)));
        }
        // The rest of the line, and whatever a wrapper does at first.
        running.drain_for(Duration::from_millis(200));
        all.push(running);
    }
    let (mut times, mut dice): (Vec<Vec<f64>>, _) = (vec![Vec::new(); peers.len()], DICE);
    for _ in 0..if quick { 20 } else { 150 } {
        for which in shuffled(peers.len(), &mut dice) {
            sleep(BETWEEN_KEYS);
            let mut buffer = [0; 64];
            let begun = Instant::now();
            all[which].type_in(b"x")?;
            if all[which].read(&mut buffer) == 0 {
                return Err(io::Error::other(format!("{} ended", peers[which].name)));
            }
            times[which].push(begun.elapsed().as_secs_f64() * 1e6);
        }
    }
    for mut running in all {
        let _ = running.type_in(b"q");
        running.child.wait()?;
    }
    let figures = times.into_iter().map(|mut times| {
        times.sort_by(f64::total_cmp);
        vec![
            less("key to echo, median", "µs", times[times.len() / 2]),
            less("key to echo, 99 of 100", "µs", times[times.len() * 99 / 100]),
        ]
    });
    Ok(vec![figures.collect()])
}
