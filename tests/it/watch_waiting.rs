//! Is it waiting for a person?

use std::time::Duration;

use idlewatch::profiles;
use idlewatch::watch::{Known, Look, Observation, Pattern, State};

use crate::watched::{Watched, seconds};

#[test]
fn a_question_waits_and_is_never_ended_where_a_person_is() {
    let mut watched = Watched::new();
    watched.observes(&Observation::Attended(true));
    watched.prints("Continue? [y/N] ").passes(seconds(3600));
    assert_eq!(watched.states(), [(2, State::Waiting)]);
    assert_eq!(watched.signals, []);
}

#[test]
fn who_sends_a_person_elsewhere_waits_for_them_whatever_it_hears() {
    let states = |text: &str, frame: &'static str, profile: &str| {
        let mut watched = Watched::with(|policy| policy.profile = profiles::by_name(profile));
        watched.finds(Look { reads_terminal: Known::No, ..Look::default() }).observes(&Observation::Attended(true));
        watched.prints(text).draws(seconds(300), seconds(1), |n| frame.replace('*', ["⠋", "⠙", "⠹"][n % 3]));
        watched.states().iter().map(|(_, state)| *state).collect::<Vec<_>>()
    };
    let waits = [State::Waiting];
    let signs_in = "To sign in, use a web browser to open the page https://example.com/device and enter the code\r\n\
                    ABCD-EFGH to authenticate.\r\n";
    assert_eq!(states(signs_in, "", "none"), waits);
    assert_eq!(states(signs_in, "\r* Waiting", "none"), waits);
    let login = "Attempting to open the login page in your default browser.\r\nIf it does not open, go to:\r\n\r\n\
                 https://example.com/authorize?client=7&redirect=http%3A%2F%2Flocalhost\r\n";
    assert_eq!(states(login, "", "none"), waits);
    // A server on this machine, an address that is only told, and a turn that hangs.
    for (text, profile) in [
        ("Serving on http://127.0.0.1:8000/\r\nOpen it in your browser\r\n", "none"),
        ("Pushing to https://example.com/x.git\r\n", "none"),
        (&*format!("{signs_in}\r\nesc to interrupt\r\n"), "claude"),
    ] {
        assert_eq!(states(text, "", profile).last(), Some(&State::Stalled), "{text}");
    }
}

#[test]
fn a_question_that_is_printed_over_was_none() {
    let mut watched = Watched::new();
    watched.draws(seconds(100), seconds(1), |n| format!("step {n}: ready? yes\r\n"));
    assert_eq!(watched.states(), []);
}

#[test]
fn an_answer_makes_it_active_again() {
    let mut watched = Watched::new();
    watched.prints("Name: ").passes(seconds(30)).types("me\r").prints("me\r\nHello me\r\n").passes(seconds(1));
    assert_eq!(watched.states(), [(2, State::Waiting), (30, State::Active)]);
}

#[test]
fn a_full_screen_program_waits_unless_something_turns() {
    let mut editor = Watched::new();
    editor.prints("\x1b[?1049h\x1b[Hdef f():\r\n~\r\n~").passes(seconds(300));
    assert_eq!(editor.states(), [(5, State::Waiting)]);
    let mut busy = Watched::new();
    busy.prints("\x1b[?1049h\x1b[Hagent").draws(seconds(120), Duration::from_millis(200), |n| {
        format!("\x1b[10;1H{} thinking", ['◐', '◓', '◑', '◒'][n % 4])
    });
    assert_eq!(busy.state(), State::Stalled);
}

#[test]
fn who_waits_is_seen_to_wait_however_short_a_silence_is_allowed() {
    for text in ["Welcome\r\n> ", "\x1b[?1049h\x1b[Hdef f():\r\n~\r\n~", "Continue? [y/N] "] {
        for idle in 3..=6 {
            let mut watched = Watched::with(|policy| policy.idle = Some(seconds(idle)));
            watched.observes(&Observation::Attended(true)).prints(text).passes(seconds(300));
            assert_eq!(watched.state(), State::Waiting, "{text:?}, {idle}");
            assert_eq!(watched.signals, [], "{text:?}, {idle}");
        }
    }
}

#[test]
fn a_screen_that_only_shows_the_time_of_day_is_not_stuck() {
    let mut watched = Watched::new();
    watched.prints("\x1b[?1049h").draws(seconds(300), seconds(1), |n| {
        format!("\x1b[HEvery 1.0s: ls   host: Mon Nov 16 10:{:02}:{:02} 2026\r\n\r\nfile", n / 60, n % 60)
    });
    assert_eq!(watched.state(), State::Waiting);
}

#[test]
fn a_screen_to_be_looked_at_needs_no_reader_of_keys() {
    let deaf = || Look { reads_terminal: Known::No, ..Look::default() };
    let mut clock = Watched::new();
    clock.finds(deaf()).prints("\x1b[?1049h").draws(seconds(300), seconds(1), |n| {
        format!("\x1b[HEvery 1.0s: ls   host: Mon Nov 16 10:{:02}:{:02} 2026\r\n\r\nfile", n / 60, n % 60)
    });
    assert_eq!(clock.state(), State::Waiting);
    let mut gauge = Watched::new();
    gauge.finds(deaf()).prints("\x1b[?1049h").draws(seconds(300), seconds(1), |_| "\x1b[HCopying\r\n20%".to_owned());
    assert_eq!(gauge.state(), State::Stalled);
}

/// Where three minutes of a full screen that shows what `rows` gives each second leave a watcher.
fn full_screen(rows: impl Fn(usize) -> String) -> State {
    let mut watched = Watched::new();
    watched.prints("\x1b[?1049h").draws(seconds(180), seconds(1), |n| format!("\x1b[H{}", rows(n)));
    watched.state()
}

#[test]
fn the_ages_in_a_table_are_not_a_turn_and_one_time_or_a_spinner_is() {
    let pod = |name: &str, age: usize| format!("{name}  1/1  Running  {}m{:02}s\r\n", 5 + age / 60, age % 60);
    assert_eq!(full_screen(|n| format!("NAME  AGE\r\n{}{}", pod("web", n), pod("db", n + 7))), State::Waiting);
    assert_eq!(full_screen(|n| format!("agent\r\n\r\nworking {}s", n + 1)), State::Stalled);
    let spin = |n: usize| ['◐', '◓', '◑', '◒'][n % 4];
    assert_eq!(full_screen(|n| format!("{} working {}s\r\n  a call {}s", spin(n), n + 9, n + 1)), State::Stalled);
}

#[test]
fn a_time_that_ticks_once_a_minute_is_no_turn() {
    let mut watched = Watched::new();
    watched.prints("\x1b[?1049h").draws(seconds(600), seconds(5), |n| {
        format!("\x1b[Hinbox, read {} minutes ago\r\n> Re: hello\r\n  q quit", 2 + n / 12)
    });
    assert!(watched.states().iter().all(|(_, state)| *state != State::Stalled), "{:?}", watched.states());
}

#[test]
fn a_gauge_that_goes_to_and_fro_is_no_pulse() {
    assert_eq!(full_screen(|n| format!("GPU 210 MHz  power {} / 400 W\r\nF10 quit", 52 + n % 2)), State::Waiting);
    assert_eq!(full_screen(|n| format!("{}\r\nF10 quit", ["asking", "ASKING"][n % 2])), State::Stalled);
}

#[test]
fn the_time_a_machine_has_been_up_is_no_turn() {
    assert_eq!(full_screen(|n| format!("uptime 3h {}m {}s\r\ncpu 12%", n / 60, n % 60)), State::Waiting);
    assert_eq!(full_screen(|n| format!("backing up {}m {}s\r\ncpu 12%", n / 60, n % 60)), State::Stalled);
}

#[test]
fn a_menu_holds_while_something_blinks_above_it() {
    let mut watched = Watched::new();
    watched.prints("\x1b[5;1HProceed?\r\n ❯ 1. Yes\r\n   2. No");
    watched.draws(seconds(120), Duration::from_millis(600), |n| format!("\x1b[1;1H{}", ['●', ' '][n % 2]));
    assert_eq!(watched.states(), [(2, State::Waiting)]);
}

#[test]
fn a_list_above_a_spinner_is_not_a_menu() {
    let mut watched = Watched::new();
    watched.prints("> 1. do this\r\n  2. do that\r\n");
    watched.draws(seconds(120), Duration::from_millis(200), |n| {
        format!("\x1b[10;1H{} working ({}s)", ['◐', '◓', '◑', '◒'][n % 4], n / 5)
    });
    assert_eq!(watched.state(), State::Stalled);
}

#[test]
fn the_user_can_say_what_a_question_looks_like() {
    let mut watched = Watched::with(|policy| policy.waiting = vec![Pattern::checked("^feed me").unwrap()]);
    watched.prints("feed me\r\n").passes(seconds(10));
    assert_eq!(watched.state(), State::Waiting);
}

#[test]
fn a_profile_knows_a_turn_from_a_prompt() {
    let screen = |footer: &str| format!("\x1b[2J\x1b[Hhello\r\n{0}\r\n❯ \r\n{0}\r\n{footer}", "─".repeat(40));
    let mut turn = Watched::with(|policy| policy.profile = profiles::by_name("claude"));
    turn.prints(&screen("esc to interrupt")).passes(seconds(70));
    assert_eq!(turn.state(), State::Stalled);
    assert!(turn.evidence().contains("turn in progress: 'esc to interrupt'"), "{}", turn.evidence());
    let mut prompt = Watched::with(|policy| policy.profile = profiles::by_name("claude"));
    prompt.prints(&screen("? for shortcuts")).passes(seconds(70));
    assert_eq!(prompt.state(), State::Waiting);
}

#[test]
fn a_message_that_a_person_has_begun_is_waited_for() {
    for typed in ["half a message", "\x1b[200~pasted\rlines\x1b[201~"] {
        let mut watched = Watched::new();
        watched.observes(&Observation::Attended(true));
        // Long after the limit: reading is not silence of the command's.
        watched.prints("Some agent\r\n> ").passes(seconds(600)).types(typed).prints("half a message");
        watched.passes(seconds(3 * 3600));
        assert_eq!(watched.state(), State::Waiting, "{typed:?}");
        assert_eq!(watched.signals, [], "{typed:?}");
        // Submitted, it is the command's turn, and silence is silence again.
        watched.types("\r").prints("\r\nworking\r\n").passes(seconds(3600));
        assert_ne!(watched.signals, [], "{typed:?}");
    }
}

#[test]
fn what_is_typed_into_a_command_that_does_not_ask_is_no_excuse() {
    let mut watched = Watched::new();
    watched.observes(&Observation::Attended(true));
    watched.prints("compiling\r\n").passes(seconds(60)).types("typed ahead").prints("typed ahead");
    watched.passes(seconds(3600));
    assert_ne!(watched.signals, []);
}

#[test]
fn a_question_that_was_read_for_long_leaves_a_whole_period_after_the_answer() {
    let mut watched = Watched::new();
    watched.observes(&Observation::Attended(true));
    watched.prints("Some agent\r\n> ").passes(seconds(600)).types("x\r").prints("x\r\n").passes(seconds(59));
    assert_eq!(watched.signals, []);
    watched.passes(seconds(10));
    assert_eq!(watched.signals.len(), 1);
}

#[test]
fn a_prompt_that_is_drawn_anew_is_given_the_time_for_it() {
    let mut watched = Watched::new();
    watched.observes(&Observation::Attended(true));
    let drawn = "\x1b[2J\x1b[HSome agent\r\n> ";
    let half = "\x1b[2J\x1b[HSome agent\r\nloading";
    watched.prints(half).passes(seconds(1)).prints(drawn).passes(seconds(600));
    // All of it was seen before, so it is no progress; and the prompt is not there for a while.
    watched.prints(half).passes(seconds(3)).prints(drawn);
    watched.passes(seconds(600));
    assert_eq!(watched.state(), State::Waiting);
    assert_eq!(watched.signals, []);
}

#[test]
fn what_the_terminal_reports_is_nobody_typing() {
    for report in ["\x1b[<35;10;20M", "\x1b[I", "\x1b[5;30R"] {
        // New words beside the cursor count although the mouse moves.
        let mut works = Watched::new();
        works.observes(&Observation::Attended(true));
        for n in 0..300 {
            let word = format!("{}{}", char::from(b'a' + u8::try_from(n % 26).unwrap()), "xyz".repeat(n / 26 + 1));
            works.prints(&format!("\x1b[5;1H{word}\x1b[K")).passes(Duration::from_millis(250)).types(report);
            works.passes(Duration::from_millis(250));
        }
        assert_eq!(works.signals, [], "{report:?}");
        // And a spinner above a prompt is not kept alive by it.
        let mut hangs = Watched::new();
        hangs.observes(&Observation::Attended(true));
        for n in 0..200 {
            let glyph = ['|', '/', '-', '\\'][n % 4];
            hangs.prints(&format!("\x1b[H{glyph} busy {n}s\r\n> ")).passes(seconds(1)).types(report);
        }
        assert_ne!(hangs.signals, [], "{report:?}");
    }
}

#[test]
fn a_draft_is_found_however_it_comes_and_ends_when_it_is_taken() {
    for typed in ["hello\rhalf a message", "\x15new text", "\x1b[Itext", "\x1b[Dtext", "text\x1b"] {
        let mut watched = Watched::new();
        watched.observes(&Observation::Attended(true));
        watched.prints("Some agent\r\n> ").passes(seconds(600)).types(typed).prints("text").passes(seconds(600));
        assert_eq!(watched.signals, [], "{typed:?}");
    }
    for taken in ["y", "a\x7f", "fix it\x1b[13u"] {
        let mut watched = Watched::new();
        watched.observes(&Observation::Attended(true));
        watched.prints("Overwrite? (y/N) ").passes(seconds(30)).types(taken).prints("\r\nworking\r\n");
        watched.passes(seconds(3)).prints("more work\r\n").passes(seconds(600));
        assert_ne!(watched.signals, [], "{taken:?}");
    }
}

#[test]
fn a_draft_outlives_a_closed_lid_and_the_turn_in_which_it_was_begun() {
    let mut watched = Watched::new();
    watched.observes(&Observation::Attended(true));
    watched.prints("Some agent\r\n> ").passes(seconds(60)).types("half").prints("half").passes(seconds(60));
    watched.observes(&Observation::Gap(seconds(40_000))).passes(seconds(3600));
    assert_eq!(watched.signals, []);

    let mut ahead = Watched::with(|policy| policy.profile = profiles::by_name("gemini"));
    ahead.observes(&Observation::Attended(true));
    ahead
        .prints("\x1b[2J\x1b[Hhello\r\n⠋ Thinking (esc to cancel, 3s)\r\n> ")
        .passes(seconds(3))
        .types("half")
        .prints("half");
    ahead.passes(seconds(3)).prints("\x1b[2J\x1b[Hhello\r\nthe answer\r\n> half").passes(seconds(3600));
    assert_eq!(ahead.signals, [], "{:?}", ahead.states());
}

#[test]
fn what_seems_to_wait_now_and_then_is_ended_all_the_same() {
    let mut watched = Watched::with(|policy| policy.idle = Some(seconds(10)));
    watched.observes(&Observation::Attended(true));
    for n in 0..30 {
        watched.prints(&format!("\x1b[H busy {}s\r\n> ", n * 4)).passes(seconds(4));
    }
    assert_ne!(watched.signals, [], "{:?}", watched.states());
}

#[test]
fn a_clock_below_the_prompt_is_furniture_and_one_above_it_times_the_work() {
    for (row, state) in [(24, State::Waiting), (1, State::Stalled)] {
        let mut watched = Watched::new();
        watched.prints("\x1b[3;1Hmydb> ");
        watched.draws(seconds(70), seconds(1), |n| format!("\x1b7\x1b[{row};1Hrunning for {n}s\x1b8"));
        assert_eq!(watched.state(), state, "{}", watched.evidence());
    }
}

#[test]
fn the_time_in_which_an_answer_was_waited_for_is_no_silence_where_only_the_terminal_knows_of_it() {
    for typed in [None, Some(seconds(1))] {
        let mut watched = Watched::new();
        watched.observes(&Observation::Attended(true));
        watched.finds(Look { reads_terminal: Known::Yes, ..Look::default() }).passes(seconds(100));
        assert_eq!(watched.state(), State::Waiting);
        let looks = watched.looks;
        watched.finds(Look { reads_terminal: Known::No, typed, ..Look::default() });
        while watched.looks == looks {
            watched.passes(seconds(1));
        }
        watched.finds(Look { reads_terminal: Known::No, ..Look::default() }).passes(seconds(50));
        assert_eq!(watched.signals.is_empty(), typed.is_some(), "{typed:?}: {:?}", watched.signals);
        watched.passes(seconds(300));
        assert!(!watched.signals.is_empty());
    }
}
