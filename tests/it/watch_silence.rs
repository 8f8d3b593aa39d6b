//! Is it silent?

use std::time::Duration;

use idlewatch::signal::Signal;
use idlewatch::watch::{ActivityKind, Event, Known, Look, Observation, State, Stream};

use crate::watched::{Watched, seconds};

#[test]
fn silence_is_warned_of_then_asked_then_killed() {
    let mut watched = Watched::new();
    watched.prints("building\r\n").passes(seconds(100));
    assert_eq!(watched.states(), [(36, State::Quiet), (60, State::Stalled)]);
    assert!(watched.events.iter().any(|(_, event)| matches!(event, Event::IdleWarning { .. })));
    assert_eq!(watched.signals, [(seconds(60), Signal::TERM), (seconds(70), Signal::KILL)]);
}

#[test]
fn output_and_gaps_start_a_fresh_period() {
    let mut watched = Watched::new();
    watched.prints("a\r\n").passes(seconds(50)).prints("b\r\n").passes(seconds(50));
    watched.observes(&Observation::Gap(seconds(3600))).passes(seconds(59));
    assert_eq!(watched.signals, []);
    watched.passes(seconds(1));
    assert_eq!(watched.signals.len(), 1);
}

#[test]
fn a_command_that_prints_nothing_at_all_is_caught_by_its_own_limit() {
    let mut watched = Watched::with(|policy| policy.first_output = Some(seconds(10)));
    watched.passes(seconds(10));
    assert_eq!(watched.states(), [(6, State::Quiet), (10, State::Stalled)]);
    assert!(watched.evidence().contains("nothing printed since it started"), "{}", watched.evidence());
}

#[test]
fn without_a_limit_silence_lasts_for_ever() {
    let mut watched = Watched::with(|policy| policy.idle = None);
    watched.prints("x\r\n").passes(seconds(1_000_000));
    assert_eq!(watched.state(), State::Active);
}

#[test]
fn the_total_time_has_a_warning_and_an_end() {
    let mut watched = Watched::with(|policy| policy.timeout = Some(seconds(100)));
    watched.draws(seconds(110), seconds(1), |n| format!("line {n}\r\n"));
    assert_eq!(watched.states(), [(100, State::Overtime)]);
    assert!(
        watched.events.iter().any(|(at, event)| at.as_secs() == 60 && matches!(event, Event::TimeoutWarning { .. }))
    );
    assert_eq!(watched.signals[0], (seconds(100), Signal::TERM));
}

#[test]
fn a_blocked_read_is_waiting_and_is_not_ended_where_a_person_is() {
    let mut watched = Watched::new();
    watched.observes(&Observation::Attended(true));
    watched.finds(Look { reads_terminal: Known::Yes, ..Look::default() });
    watched.prints("working on it\r\n").passes(seconds(600));
    assert_eq!(watched.states(), [(3, State::Waiting)]);
    assert_eq!(watched.signals, []);
    assert!(watched.evidence().contains("blocked reading"), "{}", watched.evidence());
}

#[test]
fn a_last_line_that_looks_like_a_question_asks_nothing_where_nobody_listens() {
    let deaf = Look { reads_terminal: Known::No, ..Look::default() };
    for (look, state) in [(deaf, State::Stalled), (Look::default(), State::Waiting)] {
        let mut watched = Watched::new();
        watched.observes(&Observation::Attended(true)).finds(look);
        watched.prints("Name of the database: ").passes(seconds(70));
        assert_eq!(watched.state(), state);
    }
}

#[test]
fn a_program_that_listens_to_the_keyboard_alone_waits_unless_something_turns() {
    for (glyphs, state) in [("", State::Waiting), ("|/-\\", State::Stalled)] {
        let mut watched = Watched::new();
        watched.observes(&Observation::Attended(true)).finds(Look { listens: true, ..Look::default() });
        watched.prints("\u{7d9a}\u{884c}\u{3057}\u{307e}\u{3059}\u{304b}\r\n");
        watched.draws(seconds(70), Duration::from_millis(100), |n| {
            glyphs.chars().cycle().nth(n).map_or_else(String::new, |glyph| format!("\r{glyph} busy"))
        });
        assert_eq!(watched.state(), state, "{}", watched.evidence());
    }
}

#[test]
fn a_read_that_ends_unseen_is_noticed() {
    let mut watched = Watched::new();
    watched.finds(Look { reads_terminal: Known::Yes, ..Look::default() });
    watched.prints("working on it\r\n").passes(seconds(100));
    assert_eq!(watched.state(), State::Waiting);
    watched.finds(Look { reads_terminal: Known::No, ..Look::default() }).passes(seconds(61));
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn a_read_of_what_the_terminal_answers_is_soon_seen_to_be_none() {
    let time = |n: usize| format!("{:02}:{:02}", n / 120, n / 2 % 60);
    let bar = |n: usize| format!("\x1b[6n\x1b[24;1H\rTicks 30% | 30/100 [{}<00:50, 1.39 ticks/s]", time(n));
    for (later, state) in [(Known::No, State::Stalled), (Known::Yes, State::Waiting)] {
        let mut watched = Watched::new();
        watched.observes(&Observation::Attended(true));
        watched.finds(Look { reads_terminal: Known::Yes, ..Look::default() });
        watched.draws(seconds(61), Duration::from_millis(500), bar);
        assert_eq!(watched.state(), State::Waiting);
        let looks = watched.looks;
        watched.finds(Look { reads_terminal: later, ..Look::default() });
        watched.draws(seconds(35), Duration::from_millis(500), bar);
        assert_eq!((watched.state(), watched.looks > looks), (state, true), "{}", watched.evidence());
    }
}

#[test]
fn a_command_that_is_held_up_by_its_reader_is_not_silent() {
    let held_up = || Look { held_up: true, ..Look::default() };
    let mut watched = Watched::new();
    watched.observes(&Observation::Attended(true)).finds(held_up());
    watched.prints("a page\r\n").passes(seconds(10_000));
    assert_eq!((watched.states(), &*watched.signals), (vec![], &[][..]), "a person reads");
    watched.finds(Look::default()).passes(seconds(130));
    assert_eq!(watched.state(), State::Stalled, "the person has gone on, the command has not");

    let mut watched = Watched::new();
    watched.observes(&Observation::Attended(true)).finds(held_up());
    watched.prints("a page\r\n").passes(seconds(1000)).finds(Look::default()).types("\x11").passes(seconds(30));
    assert_eq!((watched.states(), &*watched.signals), (vec![], &[][..]), "what was read was not its silence");
    watched.passes(seconds(40));
    assert_eq!(watched.state(), State::Stalled);

    let mut watched = Watched::with(|policy| policy.max_idle = Some(seconds(1000)));
    watched.finds(held_up()).prints("a page\r\n").passes(seconds(999));
    assert_eq!(watched.signals, [], "nobody is there: the ceiling counts");
    watched.passes(seconds(2));
    assert_eq!(watched.signals[0].1, Signal::TERM);
    assert!(watched.evidence().contains("its output is not being read"), "{}", watched.evidence());
}

#[test]
fn a_terminal_that_hides_what_is_typed_asks_for_a_password() {
    let mut watched = Watched::new();
    watched.finds(Look { line_mode: Known::Yes, echo: Known::No, ..Look::default() });
    watched.prints("one moment\r\n").passes(seconds(10));
    assert_eq!(watched.state(), State::Waiting);
}

#[test]
fn the_verdict_waits_for_the_look_but_not_for_ever() {
    let mut watched = Watched::new();
    watched.prints("x\r\n").passes(seconds(59));
    let mut unanswered = watched.watcher;
    let at = |time| idlewatch::watch::Moment::after_start(time);
    let asked = unanswered.observe(at(seconds(60)), &Observation::Elapsed);
    assert_eq!(asked, [idlewatch::watch::Action::Look]);
    assert_eq!(unanswered.deadline(), Some(at(seconds(62))));
    unanswered.observe(at(seconds(62)), &Observation::Elapsed);
    assert_eq!(unanswered.state(), State::Stalled);
}

#[test]
fn a_busy_command_is_not_looked_at() {
    let mut watched = Watched::new();
    watched.draws(seconds(600), Duration::from_millis(500), |n| format!("line {n}\r\n"));
    assert_eq!(watched.looks, 0);
}

#[test]
fn any_byte_counts_where_bytes_were_asked_for() {
    let mut watched = Watched::with(|policy| policy.activity = ActivityKind::Bytes);
    watched.draws(seconds(300), seconds(1), |n| format!("\r{} busy", ['|', '/', '-', '\\'][n % 4]));
    assert_eq!(watched.states(), []);
}

#[test]
fn output_that_goes_elsewhere_counts_as_well() {
    let mut watched = Watched::new();
    for n in 0..100 {
        let line = format!("line {n}\n");
        watched.observes(&Observation::Output { stream: Stream::Stderr, bytes: line.as_bytes() }).passes(seconds(5));
    }
    assert_eq!(watched.states(), []);
    assert_eq!(watched.watcher.rows()[0], "line 77");
}

#[test]
fn the_end_of_the_command_ends_the_watch() {
    let mut watched = Watched::new();
    watched.observes(&Observation::Exited).passes(seconds(1000));
    assert_eq!(watched.states(), [(0, State::Exited)]);
    assert_eq!(watched.signals, []);
}

#[test]
fn the_cursor_is_where_a_terminal_would_report_it() {
    let mut watched = Watched::new();
    assert_eq!(watched.watcher.cursor(), (1, 1));
    watched.prints("one\r\ntwo");
    assert_eq!(watched.watcher.cursor(), (2, 4));
}
