//! Promises that hold for every input.

use std::time::Duration;

use idlewatch::cast::{Cast, What};
use idlewatch::watch::{Action, Event, Look, Moment, Observation, Policy, Size, Stream, Watcher, survive};
use proptest::prelude::*;

use crate::watched::{Watched, seconds};

/// Every event of a recording, each output cut into pieces of `cut` bytes that arrive at the same moment.
fn verdicts(recording: &str, cut: usize) -> Vec<(Moment, Event)> {
    verdicts_with(recording, cut, None)
}

fn verdicts_with(recording: &str, cut: usize, picture: Option<usize>) -> Vec<(Moment, Event)> {
    let mut cast = Cast::open(recording.as_bytes()).unwrap();
    let (idle, size) = (Some(seconds(30)), cast.header().size);
    let mut watcher = Watcher::new(Policy { idle, size, picture, ..Policy::default() });
    let mut events = Vec::new();
    let mut observe = |watcher: &mut Watcher, at: Moment, observation: &Observation<'_>| {
        for action in watcher.observe(at, observation) {
            match action {
                Action::Look => drop(watcher.observe(at, &Observation::Looked(Look::default()))),
                Action::Report(event) => events.push((at, event)),
                _ => {}
            }
        }
    };
    while let Some(entry) = cast.next_entry().unwrap() {
        let at = Moment::after_start(entry.at);
        while let Some(deadline) = watcher.deadline().filter(|deadline| *deadline <= at) {
            observe(&mut watcher, deadline, &Observation::Elapsed);
        }
        if let What::Output(text) = entry.what {
            for bytes in text.as_bytes().chunks(cut) {
                observe(&mut watcher, at, &Observation::Output { stream: Stream::Terminal, bytes });
            }
        }
    }
    events
}

#[test]
fn chunk_borders_never_matter() {
    for recording in [
        include_str!("../recordings/agent-asks.cast"),
        include_str!("../recordings/agent-hang.cast"),
        include_str!("../recordings/log-loop.cast"),
        include_str!("../recordings/spinner-works.cast"),
    ] {
        let whole = verdicts(recording, usize::MAX);
        for cut in [1, 2, 3, 7] {
            assert_eq!(verdicts(recording, cut), whole, "pieces of {cut}");
        }
    }
}

#[test]
fn that_a_picture_is_wanted_changes_no_verdict() {
    for recording in [
        include_str!("../recordings/agent-asks.cast"),
        include_str!("../recordings/agent-hang.cast"),
        include_str!("../recordings/log-loop.cast"),
        include_str!("../recordings/log-works.cast"),
        include_str!("../recordings/spinner-stall.cast"),
        include_str!("../recordings/spinner-works.cast"),
    ] {
        assert_eq!(verdicts_with(recording, usize::MAX, Some(100)), verdicts(recording, usize::MAX));
    }
}

#[test]
fn a_resize_at_every_step_breaks_nothing() {
    let mut watched = Watched::new();
    for n in 0..400_u16 {
        watched.prints("wide 日本語 and\x1b[3A\x1b[2Jlong enough to wrap over and over again\r\n\x1b[5;5Hx");
        watched.resizes(n * 7 % 200, n * 3 % 60).passes(Duration::from_millis(40));
    }
    assert!(!watched.watcher.rows().is_empty(), "the screen was lost");
}

#[test]
fn time_that_goes_back_is_taken_as_standing_still() {
    let mut watcher = Watcher::new(Policy::default());
    watcher.observe(Moment::after_start(seconds(100)), &Observation::Elapsed);
    let output = Observation::Output { stream: Stream::Terminal, bytes: b"x\r\n" };
    watcher.observe(Moment::after_start(seconds(50)), &output);
    assert!(watcher.deadline().unwrap() > Moment::after_start(seconds(100)));
}

#[test]
fn floods_that_hurt_emulators_are_bounded() {
    let mut watched = Watched::new();
    watched.prints(&"x\x1b[65535b\x1b[65535@\x1b[65535I\x1b[65535S".repeat(500));
    watched.prints(&format!("\x1b]0;{}\x07\x1bP{}\x1b\\\r\nok\r\n", "t".repeat(1 << 20), "d".repeat(1 << 20)));
    watched.passes(seconds(1));
    assert!(watched.watcher.rows().iter().any(|row| row.contains("ok")));
}

/// Sequences that make an emulator do much for a few bytes, alone and with others; `$` is the last row but one.
const COSTLY: [&str; 37] = [
    "\x1b[J",
    "\x1b[H\x1b[J",
    "\x1b[999;999H\x1b[1J",
    "\x1b[2J",
    "\x1b[H\x1b[2J\x1b[3J",
    "x\x1b[2J",
    "\x1b[999;999Hx\x1b[2J",
    "\x1b[?2026h\x1b[2J\x1b[?2026l",
    "\x1b[r\x1b[2J",
    "\x1b[2K",
    "\x1b[999L",
    "\x1b[H\x1b[L",
    "\x1b[999M",
    "\x1b[H\x1b[999M",
    "\x1b[2;999r\x1b[H\x1b[998M",
    "\x1b[1;$r\x1b[999S",
    "\x1b[1;$r\x1b[$H\n\n\n\n",
    "\x1b[999S",
    "\x1b[999T",
    "\x1b[999@",
    "\x1b[999P",
    "\x1b[999X",
    "x\x1b[999b",
    "\x1b#8",
    "x\x1b#8\x1b[H",
    "\x1bM",
    "\x1b[H\x1bM",
    "\x1bD",
    "\x1bE",
    "\n",
    "\x0b",
    "\x1b[?1049h\x1b[?1049l",
    "\x1b[?47hx\x1b[?47l",
    "\x1b[?01049hx\x1b[r\x1b[?1049;7l",
    "\x1bc",
    "x\x1bc\x1b[2J",
    "\x1b[4h\x1b[Hx",
];

/// What a watcher of a screen of this size computes for so much of this output.
fn costs(flood: &str, (cols, rows): (u16, u16), picture: Option<usize>) -> Duration {
    let flood = flood.replace('$', &(rows - 1).to_string());
    let bytes = flood.repeat((1 << 17) / flood.len()).into_bytes();
    let policy = Policy { size: Size { cols, rows }, picture, ..Policy::default() };
    let (mut watcher, begin) = (Watcher::new(policy), computed());
    for (n, bytes) in (0..).zip(bytes.chunks(1 << 14)) {
        let now = Moment::after_start(Duration::from_millis(n));
        watcher.observe(now, &Observation::Output { stream: Stream::Terminal, bytes });
    }
    watcher.observe(Moment::after_start(seconds(1)), &Observation::Elapsed);
    computed().saturating_sub(begin)
}

/// What this thread has computed: others that are at work count for nothing.
fn computed() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec, and `time` is one.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

#[test]
fn no_output_takes_much_longer_than_text_of_that_length() {
    for (size, picture) in [((80, 24), None), ((150, 400), None), ((150, 400), Some(100))] {
        // All of it is emulated, for the sake of what comes first.
        let text = || costs("\x1b7\x1b[5;7Hsome words \x1b[1mé\x1b[m here", size, picture);
        let mut least = text();
        for flood in COSTLY {
            // Either may fall into a moment in which the machine is slow.
            let is_slow = |least: Duration| costs(flood, size, picture) > 20 * least;
            for tries in 0.. {
                if !is_slow(least) {
                    break;
                }
                assert!(tries < 3, "{flood:?} at {size:?}, {picture:?}: text takes {least:?}");
                least = text();
            }
        }
    }
}

#[test]
fn what_a_fuzzer_found_worth_keeping_breaks_no_promise() {
    // Not part of the package.
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds.hex");
    let Ok(seeds) = std::fs::read_to_string(path) else { return };
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).expect("a digit");
    for seed in seeds.lines() {
        let script: Vec<u8> = seed.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
        survive(&script);
    }
}

/// Pieces from which terminal output is made, so that random input is more than noise.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        "[ -~]{0,40}\r\n".prop_map(String::into_bytes),
        "[⠋⠙●█░❯>] [a-z]{1,8}… \\([0-9]{1,3}s\\)\r".prop_map(String::into_bytes),
        "\x1b\\[[0-9;?]{0,8}[@-~]".prop_map(String::into_bytes),
        "[日本語é—]{1,8}".prop_map(String::into_bytes),
        Just(b"\x1b[?1049h\x1b[2J\x1b[H".to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_script_breaks_a_promise(script in proptest::collection::vec((any::<u8>(), piece()), 0..40)) {
        let bytes: Vec<u8> = script
            .into_iter()
            .flat_map(|(what, piece)| [vec![what, u8::try_from(piece.len()).unwrap_or(u8::MAX)], piece].concat())
            .collect();
        survive(&bytes);
    }

    #[test]
    fn random_bytes_break_no_promise(script in proptest::collection::vec(any::<u8>(), 0..600)) {
        survive(&script);
    }

    #[test]
    fn the_same_picture_comes_of_every_cut(pieces in proptest::collection::vec(piece(), 0..12), cols in 2_u16..90, cut in 1_usize..9) {
        let bytes = pieces.concat();
        let rows = |cut: usize| {
            let mut watcher = Watcher::new(Policy { size: Size { cols, rows: 10 }, ..Policy::default() });
            for bytes in bytes.chunks(cut) {
                watcher.observe(Moment::START, &Observation::Output { stream: Stream::Terminal, bytes });
            }
            (watcher.rows(), watcher.cursor())
        };
        prop_assert_eq!(rows(cut), rows(usize::MAX));
    }
}
