//! What counts as activity, and what does not.

use std::time::Duration;

use idlewatch::watch::{Pattern, Profile, State};

use crate::watched::{Watched, seconds};

const FRAME: Duration = Duration::from_millis(100);

fn spin(n: usize) -> char {
    "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".chars().nth(n % 10).unwrap()
}

/// Where a minute of `frame` leaves a watcher that calls a minute idle.
fn after_two_minutes(frame: impl Fn(usize) -> String) -> State {
    let mut watched = Watched::new();
    watched.draws(seconds(120), FRAME, frame);
    watched.state()
}

#[test]
fn what_time_alone_changes_is_silence() {
    assert_eq!(after_two_minutes(|n| format!("\r{} Working ({}s)", spin(n), n / 10)), State::Stalled);
    assert_eq!(
        after_two_minutes(|n| format!("\r[{:02}:{:02}] 42% 3.{} MB/s", n / 600, n / 10 % 60, n % 7)),
        State::Stalled
    );
    assert_eq!(after_two_minutes(|n| format!("\x1b[H\x1b[{}mstill here\x1b[0m", 31 + n % 7)), State::Stalled);
    assert_eq!(after_two_minutes(|n| format!("\x1b]0;{} title\x07", spin(n))), State::Stalled);
    assert_eq!(after_two_minutes(|n| format!("\rWaiting{}\x1b[K", ".".repeat(n % 30))), State::Stalled);
}

#[test]
fn counters_percentages_and_lines_are_work() {
    assert_eq!(
        after_two_minutes(|n| format!("\r{} Working ({}s · {} tokens)", spin(n), n / 10, n / 20)),
        State::Active
    );
    assert_eq!(after_two_minutes(|n| format!("\r{}.{}%", n / 100, n % 100)), State::Active);
    assert_eq!(after_two_minutes(|n| format!("GET /item/{n} 200\r\n")), State::Active);
    assert_eq!(after_two_minutes(|_| ".".to_owned()), State::Active);
}

#[test]
fn a_gauge_that_goes_to_and_fro_is_no_work_and_a_counter_beside_it_is() {
    let bar = |n: usize, files: usize| format!("\r{} {files} files, {}.{n} MB\x1b[K", spin(n), n * 37 % 101);
    assert_eq!(after_two_minutes(|n| bar(n, 12)), State::Stalled);
    assert_eq!(after_two_minutes(|n| bar(n, 12 + n / 100)), State::Active);
}

#[test]
fn signs_that_move_about_are_no_work_and_a_bar_that_fills_is() {
    let fly = |n: usize| format!("\r\x1b[K{}-=O=-{}#{}#", " ".repeat(n % 31), " ".repeat(n % 17), " ".repeat(n % 13));
    assert_eq!(after_two_minutes(fly), State::Stalled);
    assert_eq!(after_two_minutes(|n| format!("\r{}", "#".repeat(1 + n / 20))), State::Active);
    let bar = |full: usize| format!("\r[{}{}]", "#".repeat(full), ".".repeat(60 - full));
    assert_eq!(after_two_minutes(|n| bar(n / 20)), State::Active);
}

#[test]
fn signs_drawn_at_random_are_a_spinner() {
    let signs = b"0123456789abcdefABCDEF~!@#$%^&*()+=";
    let scramble = |n: usize| {
        (0..10).map(|at| char::from(signs[(n * 7919 + at * at * 31 + n / 35 * at) % 35])).collect::<String>()
    };
    let frame = |n: usize| format!("\x1b[H\x1b[2K{} Thinking{}", scramble(n), ".".repeat(n / 3 % 4));
    assert_eq!(after_two_minutes(frame), State::Stalled);
    assert_eq!(after_two_minutes(|n| format!("{}\r\n  {n} words", frame(n))), State::Active);
}

#[test]
fn a_steady_log_that_differs_only_in_time_is_alive() {
    let mut watched = Watched::new();
    watched.draws(seconds(600), seconds(5), |n| format!("12:{:02}:{:02} health ok\r\n", n / 12, n % 12 * 5));
    assert_eq!(watched.states(), []);
}

#[test]
fn a_new_verb_now_and_then_is_decoration() {
    let verb = |n: usize| "x".repeat(3 + n / 150);
    assert_eq!(after_two_minutes(|n| format!("\r{} {} ({}s)\x1b[K", spin(n), verb(n), n / 10)), State::Stalled);
}

/// Whether it was ever called stalled.
fn stalled(watched: &Watched) -> bool {
    watched.states().iter().any(|(_, state)| *state == State::Stalled)
}

/// Whether a program that nobody knows, and that changes its status line at these seconds, is called stalled.
fn stages(at: &[usize]) -> bool {
    let words = ["Queued", "Building", "Uploading", "Assigning", "Deploying", "Checking", "Tidying", "Waiting"];
    let stage = |n: usize| words[at.iter().filter(|second| **second <= n / 10).count() % words.len()];
    let mut watched = Watched::new();
    watched.draws(seconds(230), FRAME, |n| format!("\r{} {} ({}s)\x1b[K", spin(n), stage(n), n / 10));
    stalled(&watched)
}

#[test]
fn stages_that_come_when_they_come_are_work_and_words_on_a_beat_are_not() {
    assert!(!stages(&[11, 29, 55, 98, 131, 180, 213]));
    assert!(stages(&[15, 30, 45, 60, 90, 105, 120]));
    let ever: Vec<usize> = (1..20).map(|n| 12 * n + n * n % 7).collect();
    assert!(stages(&ever), "nothing but other words for ever is no work");
}

#[test]
fn a_profile_says_whether_the_words_beside_a_spinner_pass_the_time_or_name_the_work() {
    let stalls = |status_words: &str, every: usize| {
        let toml = format!("name = 'x'\ncommands = ['x']\n{status_words}");
        let mut watched = Watched::with(|policy| policy.profile = Some(Profile::parse(&toml, true).unwrap()));
        let word = |n: usize| "x".repeat(3 + n / 10 / every);
        watched.draws(seconds(150), FRAME, |n| format!("\r{} {} ({}s)\x1b[K", spin(n), word(n), n / 10));
        stalled(&watched)
    };
    assert!(stalls("status-words = 'pastime'", 5) && stalls("status-words = 'pastime'", 25));
    assert!(!stalls("", 5) && stalls("", 25));
    assert!(!stalls("status-words = 'work'", 5) && !stalls("status-words = 'work'", 25));
}

#[test]
fn a_bar_that_fills_beside_a_time_is_work_and_one_that_runs_to_and_fro_is_not() {
    let bar = |full: &str, empty: &str, n: usize| format!("{}{}", full.repeat(n), empty.repeat(40 - n));
    for (full, empty) in [("#", " "), ("=", "-"), ("█", "░"), ("━", "─"), ("▰", "▱")] {
        let mut watched = Watched::new();
        watched.draws(seconds(1000), seconds(1), |n| {
            format!("\r{} [{}] {n}s\x1b[K", spin(n), bar(full, empty, 5 + n / 30))
        });
        assert_eq!(watched.states(), [], "{full}");
        let mut watched = Watched::new();
        let to_and_fro = |n: usize| 5 + (n % 40).min(40 - n % 40);
        watched.draws(seconds(120), seconds(1), |n| format!("\r[{}] {n}s\x1b[K", bar(full, empty, to_and_fro(n))));
        assert_eq!(watched.state(), State::Stalled, "{full}");
    }
}

#[test]
fn a_bar_that_fills_with_its_percentage_is_work_however_slowly() {
    let bar = |filled: usize| format!("{}{}", "━".repeat(filled), " ".repeat(20 - filled));
    let frame = |n: usize| format!("\r{} {} {:2}% {}s\x1b[K", spin(n), bar(n / 500), n / 500, n / 10);
    assert_eq!(after_two_minutes(frame), State::Active);
    let pulse = |n: usize| format!("\r{} {} 12% {}s\x1b[K", spin(n), bar(n / 100 % 20), n / 10);
    assert_eq!(after_two_minutes(pulse), State::Stalled);
}

#[test]
fn a_row_that_comes_to_rest_with_another_word_is_finished() {
    let row = |n: usize, id: usize| {
        let done = n / 10 > 50 * (id + 1);
        let time = if done { 50 * (id + 1) } else { n / 10 };
        format!("agent-{id}  {}  {}:{:02}\x1b[K\r\n", if done { "done" } else { "running" }, time / 60, time % 60)
    };
    let mut watched = Watched::new();
    watched.draws(seconds(240), FRAME, |n| format!("\x1b[H{}", (0..6).map(|id| row(n, id)).collect::<String>()));
    assert!(!stalled(&watched), "{:?}", watched.states());
}

#[test]
fn a_mark_that_changes_and_stays_is_work_and_one_that_comes_back_is_not() {
    let mark = |row: usize, done: usize| if row < done { '●' } else { ['◐', '○'][usize::from(row > done)] };
    let list =
        |done: usize| (0..9).fold(String::new(), |list, row| format!("{list}\r\n   {} task {row}", mark(row, done)));
    let status = |n: usize| format!("\x1b[H{} Working ({}s)\x1b[K", spin(n), n / 10);
    assert_eq!(after_two_minutes(|n| format!("{}{}", status(n), list(n / 200))), State::Active);
    assert_eq!(after_two_minutes(|n| format!("{}{}", status(n), list(n / 200 % 2))), State::Stalled);
}

#[test]
fn the_same_answer_once_more_above_a_painted_block_is_a_sign_of_life() {
    let mut watched = Watched::new();
    let block = |n: usize| format!("{} Polling ({}s)\x1b[K\r\n> ", spin(n), n / 10);
    for n in 0..22 {
        watched.prints(&format!("{n} of the words before it\r\n"));
    }
    watched.prints(&block(0));
    for _ in 0..10 {
        watched.draws(seconds(45), FRAME, |n| format!("\r\x1b[1A{}", block(n)));
        watched.prints(&format!("\r\x1b[1A\x1b[J● gh run view\r\n  in_progress\r\n{}", block(450)));
    }
    assert!(!stalled(&watched), "{:?}", watched.states());
    watched.draws(seconds(90), FRAME, |n| format!("\r\x1b[1A{}", block(n)));
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn the_same_answer_once_more_on_a_full_screen_is_a_sign_of_life() {
    let mut watched = Watched::new();
    watched.prints("\x1b[?1049h");
    let mut story: Vec<&str> = vec!["some words before it"; 3];
    let painted = |story: &[&str], n: usize| {
        let told = story.iter().rev().take(20).rev().fold(String::new(), |told, row| format!("{told}{row}\x1b[K\r\n"));
        format!("\x1b[?2026h\x1b[H{told}{} Polling ({}s)\x1b[K\x1b[?2026l", spin(n), n / 10)
    };
    for _ in 0..8 {
        story.extend(["● gh run view", "  in_progress"]);
        watched.draws(seconds(45), FRAME, |n| painted(&story, n));
    }
    assert!(!stalled(&watched), "{:?}", watched.states());
    watched.draws(seconds(90), FRAME, |n| painted(&story, n));
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn a_picture_that_is_cleared_and_painted_again_or_is_higher_than_the_screen_has_not_grown() {
    for rows in [8, 30] {
        let mut watched = Watched::new();
        let shown = (0..rows).fold(String::new(), |shown, row| format!("{shown}service-{row} up\r\n"));
        watched.draws(seconds(300), seconds(6), |n| format!("\x1b[2J\x1b[H{shown}{} ({}s)", spin(n), 6 * n));
        assert_eq!(watched.state(), State::Stalled, "{rows} rows");
    }
}

#[test]
fn another_thing_that_is_named_is_work_however_slowly() {
    let frame = |n: usize| format!("\r{} Installing lib_{}.js ({}s)\x1b[K", spin(n), "x".repeat(1 + n / 300), n / 10);
    assert_eq!(after_two_minutes(frame), State::Active);
    let below =
        |n: usize| format!("\x1b[H⠋ Build ({}s)\r\n  compiling src/{}.ts\x1b[K", n / 10, "x".repeat(1 + n / 300));
    assert_eq!(after_two_minutes(below), State::Active);
}

#[test]
fn the_same_that_is_done_to_another_thing_is_work() {
    let names = ["numpy", "scipy", "torch", "pandas", "attrs", "flask"];
    assert_eq!(after_two_minutes(|n| format!("\r{} Building {}\x1b[K", spin(n), names[n / 250])), State::Active);
}

#[test]
fn a_bar_that_begins_again_with_each_step_of_another_is_work() {
    let mut watched = Watched::new();
    watched.draws(seconds(1200), seconds(1), |n| format!("\x1b[HEpoch {}\r\nBatch {}%\x1b[K", n / 100, n % 100));
    assert_eq!(watched.states(), []);
}

#[test]
fn what_is_counted_beside_the_number_of_an_attempt_is_work_and_that_number_is_not() {
    let counts = |n: usize| format!("\rDownloading (attempt {}/3): {}.{}%\x1b[K", 1 + n / 600, n / 20, n % 10);
    assert_eq!(after_two_minutes(counts), State::Active);
    let hangs = |n: usize| format!("\rConnecting (attempt {}/3000), no answer\x1b[K", 1 + n / 10);
    assert_eq!(after_two_minutes(hangs), State::Stalled);
}

#[test]
fn rates_and_times_are_known_by_their_label_and_by_what_they_are_for() {
    assert_eq!(after_two_minutes(|n| format!("\r3/10 {}ms/step\x1b[K", 12 + n % 9)), State::Stalled);
    assert_eq!(after_two_minutes(|n| format!("\relapsed {}/3600\x1b[K", n / 10)), State::Stalled);
    assert_eq!(after_two_minutes(|n| format!("\rruntime: {} throughput={}\x1b[K", n / 10, n % 17)), State::Stalled);
    assert_eq!(
        after_two_minutes(|n| format!("\r1234:{:02}:{:02} waiting\x1b[K", n / 600, n / 10 % 60)),
        State::Stalled
    );
}

#[test]
fn the_name_of_the_file_being_worked_on_is_work() {
    let file = |n: usize| ["alpha", "beta", "gamma"].map(|name| name.repeat(1 + n / 30)).concat();
    assert_eq!(after_two_minutes(|n| format!("\r\x1b[2K{} Checking {}", spin(n), file(n))), State::Active);
    let krate = |n: usize| "abc".repeat(1 + n / 85);
    let build = |n: usize| format!("\x1b[HRUN cargo build {}s\r\n  # Compiling {}\x1b[K", n / 10, krate(n));
    assert_eq!(after_two_minutes(build), State::Active);
}

#[test]
fn two_decorations_that_take_turns_are_no_work() {
    let frame = |n: usize| {
        let (verb, tip) = ("x".repeat(3 + n / 150), "y".repeat(3 + (n + 75) / 150));
        format!("\x1b[H{} {verb} ({}s)\x1b[K\r\n  {tip}\x1b[K", spin(n), n / 10)
    };
    assert_eq!(after_two_minutes(frame), State::Stalled);
}

#[test]
fn text_that_comes_back_is_old_news() {
    let tips = ["press h for help", "press q to quit", "press r to run"];
    assert_eq!(after_two_minutes(|n| format!("\x1b[H\x1b[2K{}", tips[n / 50 % 3])), State::Stalled);
}

#[test]
fn a_completed_line_makes_room_for_the_same_again() {
    let mut watched = Watched::new();
    for _ in 0..3 {
        watched.draws(seconds(400), seconds(4), |n| format!("\rcopied {n:3}%")).prints("\r\n");
    }
    for row in 1..4 {
        watched.draws(seconds(300), seconds(10), |_| ".".to_owned()).prints(&format!(" [{}%]\r\n", row * 25));
    }
    assert_eq!(watched.states(), []);
    watched.prints("waiting\r\n").draws(seconds(120), FRAME, |n| format!("\r{}", ["one", "two"][n / 50 % 2]));
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn glyphs_that_are_added_one_by_one_are_work() {
    for glyph in ["·", "•", "●", "."] {
        let mut watched = Watched::new();
        watched.prints("3 workers\r\n").draws(seconds(900), seconds(10), |_| glyph.to_owned());
        assert_eq!(watched.states(), [], "{glyph}");
    }
    assert_eq!(after_two_minutes(|n| format!("\r\x1b[K{}", "●".repeat(n % 10))), State::Stalled);
    assert_eq!(after_two_minutes(|n| (if n == 0 { "still waiting" } else { "." }).to_owned()), State::Stalled);
}

#[test]
fn a_row_of_dots_that_is_longer_than_the_screen_is_work() {
    for (dot, cols, rows) in [(".", 40, 4), ("#", 20, 3), ("●", 7, 2), ("\x1b[32m.\x1b[m", 20, 5)] {
        let mut watched = Watched::new();
        watched.resizes(cols, rows).draws(seconds(500), seconds(1), |_| dot.to_owned());
        assert_eq!(watched.states(), [], "{dot} on {cols}x{rows}");
        watched.passes(seconds(120));
        assert_eq!(watched.state(), State::Stalled);
    }
    // Many at once, and then one that turns within them.
    let mut watched = Watched::new();
    watched.resizes(20, 3).draws(seconds(300), seconds(5), |n| ".F..".repeat(3 + n % 2));
    assert_eq!(watched.states(), []);
    let turned =
        |n: usize| format!("\x1b[H{}{}{}", ".".repeat(30), if n.is_multiple_of(2) { '.' } else { ':' }, ".".repeat(20));
    assert_eq!(watched.draws(seconds(120), FRAME, turned).state(), State::Stalled);
}

#[test]
fn a_frame_drawn_in_pieces_is_no_change() {
    let mut watched = Watched::new();
    for n in 0..1200_u64 {
        let pieces = ["\x1b[3A\x1b[J", "first li", "ne\r\nsecond line\r\n", "third line\r\n"];
        let gap = Duration::from_millis(if n % 7 == 0 { 40 } else { 2 });
        for piece in pieces {
            watched.prints(piece).passes(gap);
        }
        watched.passes(Duration::from_millis(90));
    }
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn a_repaint_after_a_resize_does_not_count() {
    let mut watched = Watched::new();
    watched.prints("\x1b[2J\x1b[Hsome words that are wide enough to wrap at forty").passes(seconds(50));
    watched
        .resizes(40, 24)
        .prints("\x1b[2J\x1b[Hsome words that are wide\r\nenough to wrap at forty")
        .passes(seconds(11));
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn the_echo_of_typing_does_not_count() {
    let mut watched = Watched::new();
    watched.prints("ready\r\nwait").passes(seconds(40));
    for key in ["h", "e", "l", "l", "o"] {
        watched.types(key).prints(key).passes(seconds(4));
    }
    watched.passes(seconds(2));
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn ignored_text_never_counts() {
    let mut watched = Watched::with(|policy| policy.counting.ignore = vec![Pattern::checked("poll \\d+").unwrap()]);
    watched.draws(seconds(120), seconds(1), |n| format!("poll {n}\r\n"));
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn only_chosen_lines_count() {
    let mut watched = Watched::with(|policy| policy.counting.only = vec![Pattern::checked("^done").unwrap()]);
    watched.draws(seconds(50), seconds(1), |n| format!("noise {n}\r\n"));
    watched.prints("done with one\r\n").draws(seconds(50), seconds(1), |n| format!("more noise {n}\r\n"));
    assert_eq!(watched.state(), State::Quiet);
    watched.passes(seconds(20));
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn the_evidence_says_what_still_moves() {
    let mut watched = Watched::new();
    watched.draws(seconds(61), FRAME, |n| format!("\x1b[5;1H{} Working ({}s)", spin(n), n / 10));
    assert!(watched.evidence().contains("except spinner or elapsed time (row 5)"), "{}", watched.evidence());
    let now = idlewatch::watch::Moment::after_start(seconds(61));
    assert!(watched.watcher.explain(now).contains("last visible change"), "{}", watched.watcher.explain(now));
}

#[test]
fn what_is_looked_for_and_what_is_not_in_a_coloured_flood_is_told_by_whole_lines() {
    let noise = |n: usize| format!("\x1b[90mDEBUG polling the queue of host {}\x1b[0m\r\n", n % 7).repeat(2000);
    let pattern = |text: &str| vec![Pattern::checked(text).unwrap()];
    let mut watched = Watched::with(|policy| policy.counting.ignore = pattern("^DEBUG"));
    watched.draws(seconds(100), seconds(1), noise);
    assert_eq!(watched.state(), State::Stalled, "a line cut in its middle is no other line");
    let mut watched = Watched::with(|policy| policy.counting.only = pattern("^progress"));
    watched.draws(seconds(100), seconds(1), |n| format!("{}progress: {n}\r\n{}", noise(n), noise(n)));
    assert_eq!(watched.state(), State::Active, "it may stand anywhere");
}
