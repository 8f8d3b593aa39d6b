//! idlewatch beside no wrapper, a minimal relay, and other programs that put a terminal around a command.
//!
//! Everything is measured in one run, round by round with the peers taking turns, so that whatever else the machine
//! does hits all of them alike. What counts are the ratios to the minimal relay: it does nothing but pass bytes.
//!
//! `cargo bench --bench compare -- --quick` is a first look, without `--quick` it takes some minutes.

mod floor;
mod installed;
mod measure;
mod outer;
mod peers;
mod process;
mod table;
mod turns;
mod work;

use std::process::exit;

use installed::Installed;
use measure::{METRICS, Measure, Metric};
use peers::Peer;
use table::Table;

const USAGE: &str = "\
cargo bench --bench compare -- [--quick] [--only METRIC]... [--peer NAME]... [--rounds N] [--with NAME=PROGRAM]...

--quick              few rounds and little data: whether it works, not how fast
--only METRIC        this metric alone; may be repeated
--peer NAME          these peers alone, the floor, and what --with adds; may be repeated
--rounds N           how many rounds
--with NAME=PROGRAM  another build of idlewatch, to compare two";

/// What was asked for.
#[derive(Debug, Default)]
pub struct Options {
    /// Little data, few rounds.
    pub quick: bool,
    only: Vec<String>,
    peers: Vec<String>,
    rounds: Option<usize>,
    with: Vec<(String, String)>,
}

fn main() {
    let mut args = std::env::args();
    let own = args.next().unwrap_or_default();
    let args: Vec<String> = args.collect();
    if let Some((role, rest)) = args.split_first().filter(|(role, _)| role.starts_with("__")) {
        work::play(role, rest);
    }
    let own = std::env::current_exe().map_or(own, |path| path.to_string_lossy().into_owned());
    let options = read(args);
    let installed = Installed::new().unwrap_or_else(|error| refuse(&format!("no folder for copies: {error}")));
    let own = installed.copy("floor", &own);
    let mut peers = peers::all(&own, &installed);
    for (name, program) in &options.with {
        peers.push(Peer::build(name, &installed.copy(name, program)));
    }
    peers.retain(|peer| {
        let added = options.with.iter().any(|(name, _)| *name == peer.name);
        let wanted = options.peers.is_empty() || peer.name == "floor" || added || options.peers.contains(&peer.name);
        let missing = if wanted { peer.missing() } else { None };
        if let Some(why) = &missing {
            eprintln!("left out: {}: {why}", peer.name);
        }
        wanted && missing.is_none()
    });
    let mut table = Table::new(&peers);
    for metric in METRICS {
        if options.only.is_empty() || options.only.iter().any(|only| only == metric.name) {
            run(metric, &peers, &own, &options, &mut table);
        }
    }
    print!("{table}");
}

/// Measures one thing, the peers taking turns.
fn run(metric: &Metric, peers: &[Peer], own: &str, options: &Options, table: &mut Table) {
    let rounds = options.rounds.unwrap_or(if options.quick { metric.quick_rounds } else { metric.rounds });
    let mut turns: Vec<(usize, &Peer)> = peers.iter().enumerate().filter(|(_, peer)| (metric.suits)(peer)).collect();
    for round in 0..rounds {
        eprintln!("{}: round {} of {rounds}", metric.name, round + 1);
        match metric.measure {
            Measure::Apart(measure) => {
                for (column, peer) in &turns {
                    match measure(peer, own, options.quick) {
                        Ok(figures) => table.add(*column, round, figures),
                        Err(error) => eprintln!("{}: {}: {error}", metric.name, peer.name),
                    }
                }
            }
            Measure::Together(measure) => {
                let (columns, peers): (Vec<usize>, Vec<&Peer>) = turns.iter().copied().unzip();
                match measure(&peers, own, options.quick) {
                    Ok(all) => {
                        let count = all.len();
                        for (turn, found) in all.into_iter().enumerate() {
                            for (column, figures) in columns.iter().zip(found) {
                                table.add(*column, round * count + turn, figures);
                            }
                        }
                    }
                    Err(error) => eprintln!("{}: {error}", metric.name),
                }
            }
        }
        // There and back, so that nobody always comes after the same neighbour.
        turns.reverse();
    }
}

fn read(args: Vec<String>) -> Options {
    let mut options = Options::default();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().unwrap_or_else(|| refuse(&format!("{arg} needs a value")));
        match arg.as_str() {
            "--quick" => options.quick = true,
            "--only" => options.only.push(value()),
            "--peer" => options.peers.push(value()),
            "--rounds" => {
                options.rounds = Some(value().parse().unwrap_or_else(|_| refuse("--rounds takes a number")));
            }
            "--with" => match value().split_once('=') {
                Some((name, program)) => options.with.push((name.to_owned(), program.to_owned())),
                None => refuse("--with takes NAME=PROGRAM"),
            },
            // Cargo says so to every benchmark.
            "--bench" => {}
            _ => refuse(&format!("there is no option '{arg}'")),
        }
    }
    if let Some(unknown) = options.only.iter().find(|only| METRICS.iter().all(|metric| metric.name != **only)) {
        let names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        refuse(&format!("there is no metric '{unknown}'; there are: {}", names.join(", ")));
    }
    options
}

fn refuse(why: &str) -> ! {
    eprintln!("{why}\n\n{USAGE}");
    exit(2)
}
