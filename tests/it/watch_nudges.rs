//! What is typed into a silent command, and when nothing is, in made-up time.

use std::time::Duration;

use idlewatch::watch::{Event, Known, Look, Observation, Order, State, parse_ladder};

use crate::watch_policy::{first_signal, nudging};
use crate::watched::{Watched, seconds};

#[test]
fn a_nudge_is_typed_and_submitted_and_its_echo_does_not_count() {
    let mut watched = Watched::with(nudging(&["please go on"], 1));
    watched.finds(Look { line_mode: Known::No, ..Look::default() });
    watched.prints("\x1b[?25hhello\r\n> ").passes(seconds(60));
    assert_eq!(watched.typed, [(seconds(60), b"please go on".to_vec())]);
    watched.prints("please go on").passes(seconds(1));
    assert_eq!(watched.typed.last().unwrap().1, b"\r");
    // The program takes it, shows it again above, and says nothing more.
    watched.prints("\r\x1b[K\r\n\x1b[Aplease go on\r\n> ").passes(seconds(5));
    let nudged = watched.events.iter().find_map(|(_, event)| match event {
        Event::Nudged { text, failed } => Some((text.clone(), failed.clone())),
        _ => None,
    });
    assert_eq!(nudged, Some(("please go on".to_owned(), None)));
    watched.passes(seconds(60));
    assert!(first_signal(&watched).is_some_and(|at| (90..=100).contains(&at)), "{:?}", watched.signals);
}

#[test]
fn a_line_that_stays_on_the_screen_is_submitted_once() {
    let mut watched = Watched::with(nudging(&["sleep 600"], 1));
    watched.finds(Look { line_mode: Known::No, ..Look::default() });
    watched.prints("hello\r\n> ").passes(seconds(60)).prints("sleep 600").passes(seconds(1));
    watched.prints("\r\n").passes(seconds(20));
    let typed: Vec<&[u8]> = watched.typed.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    assert_eq!(typed, [b"sleep 600" as &[u8], b"\r"]);
    assert!(watched.events.iter().any(|(_, event)| matches!(event, Event::Nudged { failed: None, .. })));
}

#[test]
fn a_turn_that_hangs_is_nudged_although_the_program_listens_to_its_user() {
    let nudges = nudging(&["please go on"], 1);
    let mut watched = Watched::with(|policy| {
        nudges(policy);
        policy.profile = idlewatch::profiles::by_name("claude");
    });
    watched.finds(Look { line_mode: Known::No, reads_terminal: Known::Yes, ..Look::default() });
    watched.observes(&Observation::Attended(true));
    watched.prints("\x1b[2J\x1b[Hhello\r\n\r\n✻ Thinking…\r\n\r\n❯ \r\n  esc to interrupt\x1b[A\r\x1b[2C");
    watched.passes(seconds(61));
    assert_eq!(watched.typed.first(), Some(&(seconds(60), b"please go on".to_vec())), "{:?}", watched.states());
}

#[test]
fn that_a_nudge_is_queued_behind_a_turn_that_hangs_is_no_progress() {
    let nudges = nudging(&["please go on"], 1);
    let mut watched = Watched::with(|policy| {
        nudges(policy);
        policy.profile = idlewatch::profiles::by_name("claude");
    });
    watched.finds(Look { line_mode: Known::No, ..Look::default() });
    watched.observes(&Observation::Attended(true));
    watched.prints("\x1b[2J\x1b[Hhello\r\n\r\n✻ Thinking…\r\n\r\n❯ \r\n  esc to interrupt\x1b[A\r\x1b[2C");
    watched.passes(seconds(60)).prints("please go on").passes(std::time::Duration::from_millis(600));
    assert_eq!(watched.typed.last().unwrap().1, b"\r", "{:?}", watched.typed);
    watched.prints("\x1b[2J\x1b[Hhello\r\n\r\n✻ Thinking…\r\n  ⎿  Queued · ctrl+x ctrl+s to send now\r\n\r\n❯ \r\n");
    watched.prints("  esc to interrupt\x1b[A\r\x1b[2C").passes(seconds(60));
    assert!(first_signal(&watched).is_some_and(|at| (90..=100).contains(&at)), "{:?}", watched.signals);
}

#[test]
fn that_a_queued_nudge_pushes_down_what_turns_is_no_progress_either() {
    let nudges = nudging(&["please go on"], 1);
    let mut watched = Watched::with(|policy| {
        nudges(policy);
        policy.profile = idlewatch::profiles::by_name("gemini");
    });
    watched.finds(Look { line_mode: Known::No, ..Look::default() }).observes(&Observation::Attended(true));
    // Above the line that turns, which says something else beside it from then on.
    let frame = |queued: &'static str, beside: &'static str| {
        move |n: usize| {
            let glyph = ['⠋', '⠙', '⠹', '⠸'][n % 4];
            let status = format!("{glyph} Thinking... (esc to cancel, {}s){beside}", n / 4);
            format!("\x1b[H\x1b[Jhello\r\n\r\n{queued}{status}\r\n────\r\n > \x1b[D")
        }
    };
    let step = std::time::Duration::from_millis(250);
    watched.draws(seconds(60), step, frame("", "")).prints("please go on").passes(2 * step);
    assert_eq!(watched.typed.last().unwrap().1, b"\r", "{:?}", watched.typed);
    watched.draws(seconds(70), step, frame("  Queued:\r\n    please go on\r\n\r\n", "    ? for shortcuts"));
    assert!(first_signal(&watched).is_some_and(|at| (90..=100).contains(&at)), "{:?}", watched.events);
}

#[test]
fn what_a_key_makes_room_for_is_typed_although_the_screen_has_changed() {
    let ladder = "warn,key:esc,wait:3s,nudge:please go on,wait:30s,stop";
    for (attended, typed) in [(true, false), (false, false), (true, true)] {
        let mut watched = Watched::with(|policy| {
            policy.ladders.idle = parse_ladder(ladder).unwrap();
            policy.nudges.most = 1;
            policy.profile = idlewatch::profiles::by_name("claude");
        });
        watched.finds(Look { line_mode: Known::No, ..Look::default() }).observes(&Observation::Attended(attended));
        watched.prints("\x1b[2J\x1b[Hhello\r\n\r\n✻ Thinking…\r\n\r\n❯ \r\n  esc to interrupt\x1b[A\r\x1b[2C");
        watched.passes(seconds(61));
        assert_eq!(watched.typed, [(seconds(60), b"\x1b".to_vec())]);
        // With something new to be seen, or without.
        let after = if attended { "" } else { "  Interrupted · What should it do instead?" };
        watched.prints(&format!("\x1b[2J\x1b[Hhello\r\n\r\n{after}\r\n\r\n❯ \r\n\x1b[A\r\x1b[2C"));
        if typed {
            watched.types("no, leave it");
        }
        watched.passes(seconds(3));
        let nudged = watched.typed.iter().any(|(_, bytes)| bytes == b"please go on");
        assert_eq!(nudged, !typed, "{:?}", watched.typed);
    }
}

#[test]
fn what_answers_every_key_and_hangs_again_is_ended_once_there_is_nothing_left_to_type() {
    for (attended, works_on) in [(false, false), (true, false), (false, true)] {
        let mut watched = Watched::with(|policy| {
            let ladder = "warn,key:esc,wait:3s,nudge:please go on,wait:30s,nudge,wait:30s,stop";
            policy.ladders.idle = parse_ladder(ladder).unwrap();
            policy.nudges.most = 1;
        });
        watched.finds(Look { line_mode: Known::No, ..Look::default() }).observes(&Observation::Attended(attended));
        watched.prints("hello\r\n");
        let (mut seen, mut escapes) = (0, 0);
        for round in 0..600 {
            watched.passes(seconds(1));
            while let Some((_, bytes)) = watched.typed.get(seen) {
                seen += 1;
                let answer = if bytes == b"\x1b" { "the request was given up" } else { "this is another request" };
                escapes += usize::from(bytes == b"\x1b");
                watched.prints(&format!("{answer} ({round})\r\n"));
            }
            if works_on && escapes > 1 && round % 7 == 0 {
                watched.prints(&format!("and something else is done, {round} of it\r\n"));
            }
        }
        let ended = first_signal(&watched);
        assert_eq!(ended.is_some(), !works_on, "attended: {attended}, {escapes} escapes, {:?}", watched.events);
        assert_eq!(escapes, 2, "attended: {attended}");
    }
}

#[test]
fn whom_a_key_has_brought_back_to_the_prompt_is_not_ended_while_a_person_is_there() {
    for attended in [true, false] {
        let mut watched = Watched::with(|policy| {
            policy.ladders.idle = parse_ladder("warn,key:esc,wait:3s,nudge:please go on,wait:30s,stop").unwrap();
            policy.nudges.most = 0;
            policy.profile = idlewatch::profiles::by_name("claude");
        });
        watched.finds(Look { line_mode: Known::No, ..Look::default() }).observes(&Observation::Attended(attended));
        watched.prints("\x1b[2J\x1b[Hhello\r\n\r\n✻ Thinking…\r\n\r\n❯ \r\n  esc to interrupt\x1b[A\r\x1b[2C");
        watched.passes(seconds(61));
        assert_eq!(watched.typed, [(seconds(60), b"\x1b".to_vec())]);
        watched.prints("\x1b[2J\x1b[Hhello\r\n\r\n  Interrupted by somebody\r\n\r\n❯ \r\n\x1b[A\r\x1b[2C");
        watched.passes(seconds(600));
        assert_eq!(first_signal(&watched).is_some(), !attended, "{:?}", watched.events);
    }
}

#[test]
fn nothing_is_typed_into_a_menu_that_a_profile_knows_as_a_question() {
    let mut watched = Watched::with(|policy| policy.profile = idlewatch::profiles::by_name("claude"));
    watched.finds(Look { line_mode: Known::No, ..Look::default() });
    watched
        .prints("\x1b[2J\x1b[HDo you want to proceed?\r\n ❯ 1. Yes\r\n   2. No\r\n\r\n Esc to cancel")
        .passes(seconds(5));
    assert!(watched.evidence().contains("Do you want to proceed?"), "{}", watched.evidence());
    watched.observes(&Observation::Told(Order::Nudge("please go on".to_owned()))).passes(seconds(5));
    assert_eq!(watched.typed, []);
    let refused = |event: &Event| matches!(event, Event::Nudged { failed: Some(why), .. } if why.contains("menu"));
    assert!(watched.events.iter().any(|(_, event)| refused(event)), "{:?}", watched.events);
}

#[test]
fn progress_after_a_nudge_starts_a_new_period_and_the_number_is_counted() {
    let mut watched = Watched::with(nudging(&["one", "two"], 2));
    watched.finds(Look { line_mode: Known::Yes, ..Look::default() });
    for round in 0..4 {
        watched.prints(&format!("answer {round}\r\n")).passes(seconds(70));
    }
    let typed: Vec<&[u8]> = watched.typed.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    assert_eq!(typed, [b"one\n", b"two\n"]);
}

#[test]
fn nothing_is_typed_into_a_menu_a_question_or_a_password() {
    for screen in ["Do it?\r\n❯ 1. Yes\r\n  2. No\r\n", "Continue? [y/N] "] {
        let mut watched = Watched::with(nudging(&["go on"], 2));
        watched.prints(screen).passes(seconds(300));
        assert_eq!(watched.typed, [], "{screen}");
    }
    let mut watched = Watched::with(nudging(&["go on"], 2));
    watched.finds(Look { line_mode: Known::Yes, echo: Known::No, ..Look::default() });
    watched.prints("working\r\n").passes(seconds(300));
    assert_eq!(watched.typed, []);
}

#[test]
fn nothing_is_typed_there_either_where_hardly_any_silence_is_allowed() {
    let menu = "Do you want to run rm -rf build?\r\n❯ 1. Yes\r\n  2. No\r\n";
    for screen in [menu, "Password for bob:", "Enter passphrase for key: ", "Continue? [y/N] "] {
        for idle in [300, 500, 1000, 1900].map(Duration::from_millis) {
            let nudges = nudging(&["go on"], 2);
            let mut watched = Watched::with(|policy| {
                nudges(policy);
                policy.idle = Some(idle);
            });
            watched.finds(Look { line_mode: Known::No, ..Look::default() });
            watched.prints(screen).passes(seconds(30));
            assert_eq!(watched.typed, [], "{screen} {idle:?}");
            assert!(watched.states().iter().any(|(_, state)| *state == State::Waiting), "{:?}", watched.states());
            assert!(watched.states().iter().all(|(_, state)| *state != State::Stalled), "{:?}", watched.states());
        }
    }
}

#[test]
fn nothing_is_typed_into_a_menu_that_has_just_been_drawn() {
    let menu = "Do you want to run rm -rf build?\r\n❯ 1. Yes\r\n  2. No\r\n";
    for (idle, screen) in [(None, menu), (Some(seconds(60)), menu), (None, "working\r\n")] {
        let mut watched = Watched::with(|policy| {
            policy.idle = idle;
            policy.timeout = Some(seconds(90));
            policy.ladders.timeout = parse_ladder("nudge:go on").unwrap();
            policy.nudges.most = 1;
        });
        watched.finds(Look { line_mode: Known::No, ..Look::default() });
        watched.prints("working\r\n").passes(seconds(50)).prints("still working\r\n").passes(seconds(39));
        watched.passes(Duration::from_millis(900)).prints(screen).passes(seconds(5));
        assert_eq!(watched.typed.is_empty(), screen == menu, "{idle:?}: {:?}", watched.typed);
        let refused = |event: &Event| matches!(event, Event::Nudged { failed: Some(why), .. } if why.contains("menu"));
        assert_eq!(watched.events.iter().any(|(_, event)| refused(event)), screen == menu, "{:?}", watched.events);
    }
}

#[test]
fn nobody_is_interrupted_while_typing() {
    let mut watched = Watched::with(nudging(&["go on"], 1));
    watched.finds(Look { line_mode: Known::No, ..Look::default() });
    watched.prints("hello\r\n").passes(seconds(58)).types("wait\r").passes(seconds(4));
    assert_eq!(watched.typed, []);
    watched.passes(seconds(3));
    assert_eq!(watched.typed[0].0, seconds(63));

    // Nor is anything added to what somebody has begun and left.
    let mut watched = Watched::with(nudging(&["go on"], 1));
    watched.finds(Look { line_mode: Known::No, ..Look::default() });
    watched.prints("hello\r\n").passes(seconds(30)).types("wai").passes(seconds(300));
    assert_eq!(watched.typed, []);
}

#[test]
fn somebody_who_presses_escape_and_then_types_is_typing() {
    for word in ["Please", "Xerox", "^x", "_x", "]x", "[x", "Ok"] {
        let mut watched = Watched::with(nudging(&["go on"], 1));
        watched.finds(Look { line_mode: Known::No, ..Look::default() });
        watched.prints("hello\r\n").passes(seconds(57)).types("\x1b").passes(seconds(4));
        assert_eq!(watched.typed, [], "Escape alone is a key");
        watched.types(word).passes(seconds(300));
        assert_eq!(watched.typed, [], "{word:?}");
    }
}

#[test]
fn what_a_person_types_behind_a_nudge_is_theirs_to_submit() {
    let mut watched = Watched::with(nudging(&["go on"], 1));
    watched.finds(Look { line_mode: Known::No, ..Look::default() });
    watched.prints("hello\r\n> ").passes(seconds(60)).prints("go on").types("wait").prints("wait").passes(seconds(30));
    assert_eq!(watched.typed, [(seconds(60), b"go on".to_vec())]);
    let failed =
        |event: &Event| matches!(event, Event::Nudged { failed: Some(why), .. } if why.contains("typed there already"));
    assert!(watched.events.iter().any(|(_, event)| failed(event)), "{:?}", watched.events);
}

#[test]
fn a_key_is_pressed_neither_while_somebody_types_nor_behind_what_they_have_begun() {
    let presses =
        |policy: &mut idlewatch::watch::Policy| policy.ladders.idle = parse_ladder("key:enter,wait:1h").unwrap();
    let mut watched = Watched::with(presses);
    watched.finds(Look { line_mode: Known::No, ..Look::default() });
    watched.prints("hello\r\n").passes(seconds(58)).types("wait\r").passes(seconds(4));
    assert_eq!(watched.typed, []);
    watched.passes(seconds(3));
    assert_eq!(watched.typed, [(seconds(63), b"\r".to_vec())]);

    let mut watched = Watched::with(presses);
    watched.finds(Look { line_mode: Known::No, ..Look::default() });
    watched.prints("hello\r\n").passes(seconds(30)).types("rm -rf ha").passes(seconds(300));
    assert_eq!(watched.typed, []);
}
