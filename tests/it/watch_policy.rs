//! What is done about it: guards, ladders, orders, in made-up time.

use idlewatch::exit::Reason;
use idlewatch::signal::Signal;
use idlewatch::watch::{
    Event, Guard, Known, Ladders, Look, Nudges, Observation, Order, Pattern, Policy, State, Step, parse_ladder,
};

use crate::watched::{Watched, seconds};

/// Idle after a minute, capped at ten, with a guard.
fn guarded() -> Watched {
    Watched::with(|policy| {
        policy.guards = vec![Guard::Cpu];
        policy.max_idle = Some(seconds(600));
    })
}

fn deferrals(watched: &Watched) -> usize {
    watched.events.iter().filter(|(_, event)| matches!(event, Event::GuardDeferred { .. })).count()
}

pub fn first_signal(watched: &Watched) -> Option<u64> {
    watched.signals.first().map(|(at, _)| at.as_secs())
}

pub fn nudging(texts: &[&str], most: usize) -> impl FnOnce(&mut Policy) {
    let nudges = Nudges { texts: texts.iter().map(|text| (*text).to_owned()).collect(), most };
    move |policy: &mut Policy| {
        policy.ladders = Ladders::usual(&nudges, seconds(30));
        policy.nudges = nudges;
    }
}

// The eight cases of a guard that speaks for silent work.

#[test]
fn work_that_finishes_in_silence_leaves_the_person_an_idle_period_to_return() {
    let mut watched = guarded();
    watched.guard = Some("busy");
    watched.prints("working\r\n").passes(seconds(200));
    assert!(deferrals(&watched) > 0);
    watched.guard = None;
    watched.passes(seconds(50)).types("go on\r").prints("go on\r\nright away\r\n").passes(seconds(55));
    assert_eq!(watched.signals, []);
    assert_eq!(watched.state(), State::Quiet);
}

#[test]
fn work_that_finishes_and_nobody_returns_ends_after_the_grace() {
    let mut watched = guarded();
    watched.guard = Some("busy");
    watched.prints("working\r\n").passes(seconds(200));
    watched.guard = None;
    watched.passes(seconds(300));
    // The guard lets go when it is next asked, at most a quarter of the limit later; then one whole limit of grace.
    let ended = first_signal(&watched).unwrap();
    assert!((260..=276).contains(&ended), "{ended}");
}

#[test]
fn a_turn_speaks_only_while_it_prints() {
    let profile = idlewatch::profiles::by_name("claude");
    let mut watched = Watched::with(|policy| {
        policy.guards = vec![Guard::Turn];
        policy.max_idle = Some(seconds(3600));
        policy.profile = profile;
    });
    // The turn is marked as in progress and its spinner turns, but nothing that counts has changed for long: it is
    // stuck, and is ended. Not as soon as it is silent, since healthy turns are silent for a while too.
    watched.draws(seconds(400), seconds(1), |n| {
        let glyph = ['✻', '✳', '✶', '✢'][n % 4];
        format!("\x1b[H\x1b[2Jhello\r\n\r\n{glyph} Thinking… ({n}s · esc to interrupt)\r\n\r\n❯ ")
    });
    assert!(watched.signals.first().is_some_and(|(_, signal)| *signal == Signal::TERM), "{:?}", watched.states());
    let first = first_signal(&watched).unwrap();
    assert!((120..200).contains(&first), "{first}");
}

#[test]
fn a_guard_that_never_lets_go_holds_until_the_cap() {
    let mut watched = guarded();
    watched.guard = Some("busy");
    watched.prints("working\r\n").passes(seconds(1000));
    assert_eq!(first_signal(&watched), Some(600));
}

#[test]
fn a_guard_that_never_answers_holds_nothing_up_for_long() {
    let mut watched = guarded();
    watched.guards_hang = true;
    watched.prints("working\r\n").passes(seconds(100));
    assert_eq!(first_signal(&watched), Some(75));
}

#[test]
fn guards_measure_once_in_a_silence_whatever_is_warned_of() {
    for warn in [1, 60, 100] {
        let mut watched = Watched::with(|policy| {
            policy.guards = vec![Guard::Cpu];
            policy.warn = warn;
        });
        watched.prints("working\r\n").passes(seconds(30)).prints("working on\r\n").passes(seconds(50));
        assert_eq!(watched.measures, [seconds(30 + 36)], "{warn}");
        watched.prints("and on\r\n").passes(seconds(80));
        assert_eq!(watched.measures, [66, 80 + 36].map(seconds), "{warn}");
        assert_eq!(first_signal(&watched), Some(80 + 60), "{warn}");
    }
    let mut turn = Watched::with(|policy| policy.guards = vec![Guard::Turn]);
    turn.prints("working\r\n").passes(seconds(100));
    assert_eq!(turn.measures, [], "nobody measures");
}

#[test]
fn guards_that_measure_wake_nobody_up_more_often() {
    let wakes = |guards: Vec<Guard>| {
        let mut watched = Watched::with(|policy| policy.guards = guards);
        watched.prints("working\r\n");
        let mut wakes = Vec::new();
        while let Some(deadline) = watched.watcher.deadline().filter(|_| watched.signals.is_empty()) {
            wakes.push(deadline);
            watched.passes_to(deadline);
        }
        wakes
    };
    assert_eq!(wakes(vec![Guard::Cpu, Guard::File("log".into())]), wakes(Vec::new()));
}

#[test]
fn what_comes_with_the_last_output_is_not_done_in_silence() {
    for (idle, breath) in [(300, 1000), (2, 500)] {
        let mut watched = Watched::with(|policy| policy.idle = Some(seconds(idle)));
        watched.passes(seconds(1)).prints("working\r\n");
        let from = watched.watcher.silent_from().since_start();
        assert_eq!(from, seconds(1) + std::time::Duration::from_millis(breath), "{idle}");
    }
}

#[test]
fn a_command_that_ends_during_a_deferral_is_left_alone() {
    let mut watched = guarded();
    watched.guard = Some("busy");
    watched.prints("working\r\n").passes(seconds(100)).observes(&Observation::Exited).passes(seconds(1000));
    assert_eq!(watched.signals, []);
    assert_eq!(watched.watcher.ending_reason(), None);
}

#[test]
fn a_person_who_returns_during_a_deferral_starts_a_new_period() {
    let mut watched = guarded();
    watched.guard = Some("busy");
    watched.prints("working\r\n").passes(seconds(580)).types("hello\r").prints("hello\r\nyes?\r\n");
    watched.guard = None;
    watched.passes(seconds(50));
    assert_eq!(watched.signals, []);
    watched.passes(seconds(20));
    assert_eq!(first_signal(&watched), Some(640));
}

#[test]
fn a_guard_that_falters_for_a_moment_is_believed_again() {
    let mut watched = guarded();
    watched.guard = Some("busy");
    watched.prints("working\r\n").passes(seconds(100));
    watched.guard = None;
    watched.passes(seconds(16));
    watched.guard = Some("busy");
    watched.passes(seconds(300));
    assert_eq!(watched.signals, []);
}

#[test]
fn turn_after_turn_the_cap_counts_from_the_last_progress() {
    let mut watched = guarded();
    watched.guard = Some("busy");
    for turn in 0..10 {
        watched.prints(&format!("turn {turn}\r\n")).passes(seconds(500));
    }
    assert_eq!(watched.signals, []);
    watched.passes(seconds(101));
    assert_eq!(first_signal(&watched), Some(4500 + 600));
}

#[test]
fn a_deferral_touches_no_other_clock() {
    let mut watched = Watched::with(|policy| {
        policy.guards = vec![Guard::Cpu];
        policy.timeout = Some(seconds(120));
    });
    watched.guard = Some("busy");
    watched.prints("working\r\n").passes(seconds(121));
    assert_eq!(watched.signals, [(seconds(120), Signal::TERM)]);
    assert_eq!(watched.watcher.ending_reason(), Some(Reason::Timeout));
}

// Ladders.

#[test]
fn steps_are_taken_in_order_and_progress_starts_again_below() {
    let mut watched = Watched::with(|policy| {
        policy.ladders.idle = parse_ladder("warn,run:date,wait:20s,int,wait:20s,stop").unwrap();
    });
    watched.prints("a\r\n").passes(seconds(90));
    assert_eq!(watched.done, [(seconds(60), "warn"), (seconds(60), "run")]);
    assert_eq!(watched.signals, [(seconds(80), Signal::INT)]);
    watched.prints("b\r\n").passes(seconds(75));
    assert_eq!(watched.watcher.ending_reason(), None, "it recovered");
    watched.passes(seconds(100));
    let later: Vec<Signal> = watched.signals.iter().map(|(_, signal)| *signal).collect();
    assert_eq!(later, [Signal::INT, Signal::INT, Signal::TERM, Signal::KILL]);
}

fn signals(watched: &Watched) -> Vec<(u64, Signal)> {
    watched.signals.iter().map(|(at, signal)| (at.as_secs(), *signal)).collect()
}

/// Idle after a minute, and then told to end at once.
fn told_to_end(ladder: &str) -> Watched {
    let steps = parse_ladder(ladder).unwrap();
    let mut watched = Watched::with(|policy| policy.ladders.idle = steps);
    watched.prints("a\r\n").passes(seconds(60));
    assert_eq!(signals(&watched), [(60, Signal::TERM)]);
    watched
}

#[test]
fn last_words_hold_no_step_up_and_are_no_excuse() {
    let mut watched = told_to_end("term,wait:4s,hup,wait:30s,kill");
    for _ in 0..3 {
        watched.prints("bye\r\n").passes(seconds(4));
        assert_eq!(watched.watcher.ending_reason(), Some(Reason::IdleTimeout));
    }
    watched.passes(seconds(30));
    assert_eq!(signals(&watched), [(60, Signal::TERM), (64, Signal::HUP), (94, Signal::KILL)]);

    let mut watched = told_to_end("term,wait:30s,kill");
    watched.prints("bye\r\n").passes(seconds(29));
    assert_eq!(watched.watcher.ending_reason(), Some(Reason::IdleTimeout), "it has said nothing more");
}

#[test]
fn a_command_that_works_on_although_it_was_told_to_end_is_let_off() {
    let mut watched = told_to_end("term,wait:30s,kill");
    watched.draws(seconds(20), seconds(1), |n| format!("line {n}\r\n"));
    assert_eq!(watched.watcher.ending_reason(), None);
    watched.passes(seconds(58));
    assert_eq!(signals(&watched), [(60, Signal::TERM)]);
    watched.passes(seconds(40));
    assert_eq!(signals(&watched), [(60, Signal::TERM), (139, Signal::TERM), (169, Signal::KILL)]);
}

#[test]
fn after_the_last_step_a_signal_is_the_reason_for_a_while() {
    let mut watched = told_to_end("term");
    watched.prints("bye\r\n").passes(seconds(9));
    assert_eq!(watched.watcher.ending_reason(), Some(Reason::IdleTimeout));
    watched.passes(seconds(1));
    assert_eq!(watched.watcher.ending_reason(), None, "it has not ended of that");
    watched.passes(seconds(51));
    assert_eq!(signals(&watched), [(60, Signal::TERM), (120, Signal::TERM)]);
}

#[test]
fn somebody_who_gives_more_time_or_is_asked_about_the_signal_decides() {
    let mut watched = told_to_end("term,wait:5s,kill");
    watched.observes(&Observation::Told(Order::Extend(seconds(600)))).prints("bye\r\n").passes(seconds(9));
    assert_eq!(watched.watcher.ending_reason(), Some(Reason::IdleTimeout));
    watched.passes(seconds(500));
    assert_eq!((signals(&watched).len(), watched.watcher.ending_reason()), (1, None));

    for attended in [true, false] {
        let mut watched = told_to_end("term,wait:5s,kill");
        watched.observes(&Observation::Attended(attended)).prints("Really quit? [y/N] ").passes(seconds(30));
        assert_eq!(watched.state(), State::Waiting);
        assert_eq!(signals(&watched).len(), if attended { 1 } else { 2 });
    }
}

#[test]
fn a_loop_is_only_warned_of_unless_the_ladder_says_more() {
    for (ladder, ends) in [("warn", false), ("warn,stop", true)] {
        let mut watched = Watched::with(|policy| policy.ladders.looping = parse_ladder(ladder).unwrap());
        watched.draws(seconds(400), seconds(2), |_| "Error: connection refused, retrying\r\n".to_owned());
        assert!(watched.done.iter().any(|(_, what)| *what == "warn"), "{ladder}");
        assert_eq!(!watched.signals.is_empty(), ends, "{ladder}");
        assert_eq!(watched.watcher.ending_reason(), ends.then_some(Reason::Loop));
    }
}

#[test]
fn a_question_is_ended_only_where_nobody_is() {
    for attended in [true, false] {
        let mut watched = Watched::with(|policy| policy.ladders.waiting = Some(vec![Step::Warn, Step::Stop]));
        watched.observes(&Observation::Attended(attended));
        watched.prints("Continue? [y/N] ").passes(seconds(600));
        assert_eq!(watched.signals.is_empty(), attended);
        assert_eq!(watched.watcher.ending_reason(), (!attended).then_some(Reason::WaitingInput));
    }
}

#[test]
fn a_prompt_waits_for_its_answer_and_then_the_next_step_is_taken() {
    let ladder = |policy: &mut Policy| {
        policy.idle = None;
        policy.timeout = Some(seconds(100));
        policy.ladders.timeout = parse_ladder("prompt,stop").unwrap();
    };
    let mut watched = Watched::with(ladder);
    watched.observes(&Observation::Attended(true));
    watched.prints("a\r\n").passes(seconds(159));
    assert_eq!(watched.done, [(seconds(100), "prompt")]);
    assert_eq!(watched.signals, []);
    watched.passes(seconds(2));
    assert_eq!(watched.signals, [(seconds(160), Signal::TERM)]);

    let mut watched = Watched::with(ladder);
    watched.observes(&Observation::Attended(true)).prints("a\r\n").passes(seconds(110));
    watched
        .observes(&Observation::Told(Order::Extend(seconds(900))))
        .draws(seconds(850), seconds(10), |n| format!("line {n}\r\n"));
    assert_eq!(watched.signals, []);
    watched.draws(seconds(200), seconds(10), |n| format!("more {n}\r\n"));
    assert_eq!(watched.done.iter().filter(|(_, what)| *what == "prompt").count(), 2);

    let mut watched = Watched::with(ladder);
    watched.prints("a\r\n").passes(seconds(101));
    assert_eq!(watched.signals, [(seconds(100), Signal::TERM)], "nobody is there to ask");
}

#[test]
fn what_a_person_says_is_the_reason() {
    for (order, reason) in
        [(Order::Stop, Reason::Stopped), (Order::Abort, Reason::Aborted), (Order::Complete, Reason::Completed)]
    {
        let mut watched = Watched::new();
        watched.prints("a\r\n").observes(&Observation::Told(order)).passes(seconds(11));
        assert_eq!(watched.watcher.ending_reason(), Some(reason));
        assert_eq!(watched.signals, [(seconds(0), Signal::TERM), (seconds(10), Signal::KILL)]);
    }
}

#[test]
fn what_says_that_it_is_done_is_ended_as_a_success() {
    let done = |policy: &mut Policy| {
        policy.done = Some(Pattern::checked("ALL DONE").unwrap());
        policy.done_idle = seconds(5);
    };
    let mut watched = Watched::with(done);
    watched.prints("working\r\nALL DONE\r\n").passes(seconds(6));
    assert_eq!(watched.watcher.ending_reason(), Some(Reason::Completed));

    let mut watched = Watched::with(done);
    watched.prints("working\r\n").passes(seconds(30));
    assert_eq!(watched.watcher.ending_reason(), None);
}

#[test]
fn time_that_nobody_watched_is_no_silence() {
    let mut watched = Watched::new();
    watched.prints("a\r\n").passes(seconds(50)).observes(&Observation::Gap(seconds(7200))).passes(seconds(50));
    assert_eq!(watched.signals, []);
    assert!(watched.events.iter().any(|(_, event)| matches!(event, Event::Gap { .. })));
}

// What a person says meanwhile.

/// A command into which the only nudge of the run is being typed when the analysis breaks.
#[cfg(debug_assertions)]
fn broken_while_nudged() -> Watched {
    let mut watched = Watched::with(nudging(&["go on"], 1));
    watched.finds(Look { line_mode: Known::No, ..Look::default() });
    watched.prints("hello\r\n> ").passes(seconds(60));
    assert_eq!(watched.typed, [(seconds(60), b"go on".to_vec())]);
    watched.watcher.break_down();
    watched
}

#[cfg(debug_assertions)]
#[test]
fn what_was_done_and_ordered_outlives_the_analysis() {
    let is_lost = |(_, event): &(_, Event)| *event == Event::AnalysisLost;
    let mut watched = broken_while_nudged();
    watched.passes(seconds(120));
    assert_eq!(watched.events.iter().filter(|event| is_lost(event)).count(), 1);
    assert_eq!(watched.typed.iter().filter(|(_, bytes)| bytes == b"go on").count(), 1);
    assert!(watched.typed.iter().any(|(_, bytes)| bytes == b"\r"), "the nudge was not completed");
    assert_eq!(watched.watcher.ending_reason(), Some(Reason::IdleTimeout));

    let mut watched = broken_while_nudged();
    watched.observes(&Observation::Told(Order::Extend(seconds(600)))).passes(seconds(599));
    assert!(watched.events.iter().any(is_lost));
    assert_eq!(watched.events.iter().filter(|(_, event)| matches!(event, Event::TimeoutExtended { .. })).count(), 1);
    assert_eq!(watched.signals, []);

    let mut watched = broken_while_nudged();
    watched.observes(&Observation::Told(Order::Stop)).passes(seconds(11));
    assert_eq!(watched.watcher.ending_reason(), Some(Reason::Stopped));
    assert_eq!(watched.signals, [(seconds(60), Signal::TERM), (seconds(70), Signal::KILL)]);
}

/// A stalled command whose ladder has a long way to go.
fn stalled(ladder: &str) -> Watched {
    let steps = parse_ladder(ladder).unwrap();
    let mut watched = Watched::with(|policy| policy.ladders.idle = steps);
    watched.prints("a\r\n").passes(seconds(62));
    assert_eq!(watched.state(), State::Stalled);
    watched
}

#[test]
fn more_time_holds_the_ladder_and_then_it_begins_again() {
    let mut watched = stalled("warn,wait:30s,stop");
    watched.observes(&Observation::Told(Order::Extend(seconds(600)))).passes(seconds(599));
    assert_eq!(watched.signals, []);
    watched.passes(seconds(40));
    assert_eq!(first_signal(&watched), Some(62 + 600 + 30));
}

#[test]
fn less_time_than_was_given_already_takes_nothing_back() {
    let mut watched = stalled("wait:30s,stop");
    for by in [600, 10] {
        watched.observes(&Observation::Told(Order::Extend(seconds(by))));
    }
    watched.passes(seconds(700));
    assert_eq!(first_signal(&watched), Some(62 + 600 + 30));
}

#[test]
fn more_time_after_the_end_of_the_time_counts_from_now_and_any_amount_is_borne() {
    let mut watched = Watched::with(|policy| {
        policy.timeout = Some(seconds(100));
        policy.ladders.timeout = parse_ladder("warn,wait:1h,stop").unwrap();
    });
    watched.draws(seconds(150), seconds(10), |n| format!("line {n}\r\n"));
    assert_eq!(watched.state(), State::Overtime);
    watched.observes(&Observation::Told(Order::Extend(seconds(300))));
    assert_eq!(watched.watcher.policy().timeout.map(|limit| limit.as_secs() / 10), Some(45));
    assert_eq!(watched.state(), State::Active);
    for _ in 0..3 {
        watched.observes(&Observation::Told(Order::Extend(std::time::Duration::MAX)));
    }
    watched.passes(seconds(5));
    assert_eq!(watched.signals, []);
}

#[test]
fn a_nudge_that_is_asked_for_is_typed_also_while_everything_else_is_held() {
    let mut watched = stalled("wait:1h,stop");
    watched.observes(&Observation::Told(Order::Extend(seconds(600))));
    watched.observes(&Observation::Told(Order::Nudge("go on".to_owned())));
    assert!(watched.watcher.refusal(&Order::Nudge("more".to_owned())).is_some_and(|why| why.contains("another nudge")));
    watched.passes(seconds(20));
    let typed: Vec<&[u8]> = watched.typed.iter().map(|(_, bytes)| &bytes[..]).collect();
    assert_eq!(typed[..2], [&b"go on"[..], b"\r"]);
    assert!(watched.watcher.refusal(&Order::Nudge("more".to_owned())).is_none());
}

#[test]
fn a_nudge_that_is_asked_for_is_refused_by_a_menu_and_while_somebody_types() {
    let nudged = |watched: &Watched| {
        let failed = watched.events.iter().find_map(|(_, event)| match event {
            Event::Nudged { failed, .. } => Some(failed.clone()),
            _ => None,
        });
        failed.flatten().unwrap_or_default()
    };
    let mut watched = Watched::new();
    watched.prints("Do you want this?\r\n❯ 1. Yes\r\n  2. No\r\n").passes(std::time::Duration::from_millis(100));
    watched.observes(&Observation::Told(Order::Nudge("go on".to_owned()))).passes(seconds(1));
    assert_eq!((nudged(&watched).as_str(), watched.typed.len()), ("a menu is on the screen", 0));
    let mut watched = Watched::new();
    watched.prints("> ").types("hal").passes(seconds(1));
    watched.observes(&Observation::Told(Order::Nudge("go on".to_owned()))).passes(seconds(1));
    assert_eq!((nudged(&watched).as_str(), watched.typed.len()), ("someone is typing", 0));
}

#[test]
fn what_is_being_ended_or_has_ended_takes_no_orders() {
    let mut watched = Watched::new();
    watched.prints("a\r\n").observes(&Observation::Told(Order::Stop));
    let why = watched.watcher.refusal(&Order::Extend(seconds(60))).unwrap();
    assert!(why.contains("already being ended"), "{why}");
    watched.observes(&Observation::Told(Order::Complete)).passes(seconds(1));
    assert_eq!(watched.watcher.ending_reason(), Some(Reason::Stopped));
    watched.observes(&Observation::Exited);
    assert_eq!(watched.watcher.refusal(&Order::Stop).as_deref(), Some("the command has ended"));
}
