//! Is it looping?

use std::time::Duration;

use idlewatch::watch::State;

use crate::watched::{Watched, seconds};

#[test]
fn a_loop_is_warned_of_and_then_called_one() {
    let mut watched = Watched::new();
    watched.draws(seconds(200), seconds(1), |n| format!("12:00:{:02} connection refused\r\n", n % 60));
    assert_eq!(watched.loop_warnings(), 1);
    assert_eq!(watched.states(), [(120, State::Looping)]);
    let evidence = watched.evidence();
    assert!(
        evidence.contains("lines like '12:00:") && evidence.contains("connection refused' seen 120 times"),
        "{evidence}"
    );
}

#[test]
fn news_ends_a_loop() {
    let mut watched = Watched::new();
    watched.draws(seconds(150), seconds(1), |_| "error: no route\r\n".to_owned());
    assert_eq!(watched.state(), State::Looping);
    watched.draws(seconds(120), seconds(1), |n| format!("copied part {n}\r\n"));
    assert_eq!(watched.state(), State::Active);
}

#[test]
fn what_repeats_between_news_is_counted_from_the_last_of_them() {
    let mut watched = Watched::new();
    let part = |n: usize| if n % 400 == 399 { "abcdefgh".get(n / 400..=n / 400) } else { None };
    watched.draws(seconds(600), Duration::from_millis(250), |n| match part(n) {
        Some(part) => format!("got the lock for part {part}\r\n"),
        None => "cannot lock, waiting\r\n".to_owned(),
    });
    assert_eq!(watched.states(), []);
    watched.draws(seconds(130), Duration::from_millis(250), |_| "cannot lock, waiting\r\n".to_owned());
    assert_eq!(watched.state(), State::Looping);
}

#[test]
fn a_complaint_now_and_then_makes_no_loop_of_a_log() {
    let log = |every: usize| {
        let mut watched = Watched::new();
        watched.draws(seconds(200), Duration::from_millis(600), |n| {
            let time = format!("12:{:02}:{:02}", n / 60 % 60, n % 60);
            let said = if n % every == 0 { "WARN upstream timeout" } else { "INFO GET /health 200" };
            format!("{time} {said}\r\n")
        });
        watched.state()
    };
    assert_eq!(log(7), State::Active);
    assert_eq!(log(3), State::Looping);
}

#[test]
fn a_log_says_the_same_whatever_moment_and_request_its_lines_name() {
    let log = |line: fn(usize) -> String| {
        let mut watched = Watched::new();
        watched.draws(seconds(200), Duration::from_millis(250), line);
        watched.state()
    };
    let id = |n: usize| {
        let drawn = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("3fa8b2c1-{:04x}-4{:03x}-a7c6-{:012x}", drawn >> 48, drawn >> 36 & 0xfff, drawn >> 8 & 0xffff_ffff_ffff)
    };
    assert_eq!(log(|n| format!("[{}.{:06}] polling\r\n", 1_763_500_000 + n / 4, n * 7919 % 1_000_000)), State::Looping);
    assert_eq!(log(|n| format!("[{:5}.{:06}] polling\r\n", 1234 + n / 4, n * 7919 % 1_000_000)), State::Looping);
    assert_eq!(log(|n| format!("{} polling\r\n", 1_763_500_000 + n / 4)), State::Looping);
    assert_eq!(log(|n| format!("stored {} bytes\r\n", 1_763_500_000 + n)), State::Active);
    assert_eq!(log(|n| format!("{} is prime\r\n", 1_000_000_007 + 2 * n)), State::Active);
    assert_eq!(log(|n| format!("{} saved\r\n", 1_763_500_000_123_456_789 + 7919 * n)), State::Active);
    assert_eq!(
        log(|n| format!("epoch {n} loss 1.{:04} val_error 0.{:04}\r\n", 9000 - n * 7, 5000 - n * 3)),
        State::Active
    );

    let mut watched = Watched::new();
    watched.draws(seconds(200), Duration::from_millis(250), |n| format!("request {} begins\r\n", id(n)));
    assert_eq!(watched.state(), State::Looping);
    let mut watched = Watched::new();
    watched.draws(seconds(200), seconds(3), |n| format!("12:00:{:02} request {} failed: 503\r\n", n % 60, id(n)));
    assert_eq!(watched.state(), State::Looping);
}

#[test]
fn training_and_batches_that_name_their_errors_are_never_a_loop() {
    let noise = |n: usize| n * 7919 % 1009;
    let watch = |time: Duration, line: &dyn Fn(usize) -> String| {
        let mut watched = Watched::new();
        watched.draws(time, Duration::from_millis(250), |n| format!("{}\r\n", line(n)));
        assert_eq!((watched.loop_warnings(), watched.states()), (0, vec![]), "{}", line(1));
    };
    watch(seconds(3600), &|n| format!("step {n} train_error: 0.0{:02}", 99 - n / 150));
    watch(seconds(300), &|n| format!("12:{:02}:{:02} train_error: 0.{:04}", n / 240, n / 4 % 60, 1000 + noise(n)));
    watch(seconds(300), &|n| format!("step {n} error={}.{}e-04", noise(n) / 100, noise(n) % 10));
    watch(seconds(300), &|n| format!("processed {}.{}k records, {} errors", n / 10, n % 10, n / 50 + 1));

    let mut watched = Watched::new();
    watched.draws(seconds(200), seconds(1), |n| format!("error: 1.{n} is no version\r\n"));
    assert_eq!(watched.state(), State::Looping);
}

#[test]
fn a_number_that_goes_on_in_place_between_warnings_is_work() {
    let warned = |counter: fn(usize) -> String| {
        let mut watched = Watched::new();
        watched.draws(seconds(200), Duration::from_millis(250), |n| {
            format!("{}\r[mp4] warning: invalid dts in stream 0\r\n{}\r", counter(n), counter(n))
        });
        watched.state()
    };
    assert_eq!(warned(|n| format!("frame={n:5} fps= 25 speed=1.02x")), State::Active);
    assert_eq!(warned(|n| format!("frame=    7 fps= {n:2} elapsed {n}s")), State::Looping);
    assert_eq!(warned(|n| format!("attempt {n}")), State::Looping);
}

#[test]
fn the_same_sign_for_ever_is_a_loop_and_the_frame_of_a_table_is_none() {
    let printed = |line: fn(usize) -> &'static str| {
        let mut watched = Watched::new();
        watched.draws(seconds(150), Duration::from_millis(100), |n| format!("{}\r\n", line(n)));
        watched.state()
    };
    assert_eq!(printed(|_| "y"), State::Looping);
    assert_eq!(printed(|_| "......."), State::Looping);
    assert_eq!(printed(|n| ["+-----+-----+", "|  .  |  x  |", "|  x  |  .  |"][n % 3]), State::Active);
}

#[test]
fn a_loop_that_falls_silent_is_silence() {
    let mut watched = Watched::new();
    watched.draws(seconds(150), seconds(1), |_| "error: no route\r\n".to_owned()).passes(seconds(70));
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn the_same_failing_call_on_a_painted_screen_is_seen() {
    let mut watched = Watched::new();
    let mut story: Vec<String> = Vec::new();
    for n in 0..60 {
        story.extend(["● Let me try again".to_owned(), "  Bash(make) running".to_owned()]);
        for frame in 0..10 {
            if frame == 5 {
                story.pop();
                story.extend([format!("  Bash(make) failed: exit 1 at 12:00:{n:02}"), String::new()]);
            }
            let status = format!("✻ Working ({}s · {} tokens)", n * 4, n * 30 + frame);
            let visible = story.iter().skip(story.len().saturating_sub(20)).cloned().chain([status]);
            let rows: Vec<String> =
                visible.enumerate().map(|(row, text)| format!("\x1b[{};1H\x1b[K{text}", row + 1)).collect();
            watched.prints(&format!("\x1b[?2026h{}\x1b[?2026l", rows.concat())).passes(Duration::from_millis(400));
        }
    }
    assert!(watched.loop_warnings() >= 1);
    assert!(watched.states().iter().all(|(_, state)| *state != State::Stalled), "{:?}", watched.states());
}

#[test]
fn work_that_looks_alike_is_never_a_loop() {
    let kinds: [fn(usize) -> String; 6] = [
        |n| format!("   Compiling crate-{n} v0.1.{n}\r\n"),
        |n| format!("Downloading shard {n:04} of 9000\r\n"),
        |n| format!("| {n:4} | 0.{n} |\r\n+------+------+\r\n"),
        |n| format!("10.0.0.{} - - [16/Nov/2026:00:40:21 +0000] \"GET /{n} HTTP/1.1\" 200\r\n", n % 255),
        |n| format!("Epoch {n}/9000\r\nloss: 0.{n}\r\n"),
        |n| format!("\r{n}% [{}]", "#".repeat(n % 70)),
    ];
    for kind in kinds {
        let mut watched = Watched::new();
        watched.draws(seconds(150), Duration::from_millis(200), kind);
        assert_eq!((watched.loop_warnings(), watched.states()), (0, vec![]), "{}", kind(1));
    }
}
