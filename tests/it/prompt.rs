//! The question to the person, over whatever is on the screen.

use std::os::unix::process::ExitStatusExt;

use crate::support::Run;

const OPTIONS: [&str; 4] = ["--timeout", "500ms", "--on-timeout", "prompt,stop"];

#[test]
fn a_person_at_the_prompt_can_skip_abort_or_go_on() {
    let options = ["--timeout", "500ms", "--on-timeout", "prompt,stop"];
    for (key, code) in [("k", 119), ("a", 118)] {
        let mut run = Run::sh(&options, "sleep 300").in_terminal();
        // The first keys after it has opened may have been meant for the command, so they do not count.
        run.wait_for("kill and abort").until("its end", |run| run.enter(key).has_ended());
        let (text, status) = run.finish();
        assert_eq!(status.code(), Some(code), "{text}");
    }
    let script = "printf 'before '; sleep 1; read key; echo \"got $key\"";
    let mut run = Run::sh(&options, script).in_terminal();
    run.wait_for("kill and abort").until("the status", |run| run.enter("s").text().contains("last byte"));
    run.until("the end of the prompt", |run| run.enter("e").text().contains("\x1b[?1049l"));
    run.enter(" typed\r").wait_for("got ");
    let (text, status) = run.finish();
    assert!(text.contains(" typed"), "{text}");
    assert_eq!(status.code(), Some(0), "{text}");
}

#[test]
fn keys_that_interrupt_are_for_the_command_at_the_prompt_too() {
    let mut run = Run::sh(&OPTIONS, "trap 'echo interr''upted; exit 7' INT; sleep 300").in_terminal();
    run.wait_for("kill and abort").enter("\x03").wait_for("interrupted");
    let (text, status) = run.finish();
    assert_eq!(status.code(), Some(7), "{text}");
    assert!(text.find("\x1b[?1049l") < text.find("interrupted"), "{text:?}");
    // Whoever is impatient types it twice, and what was typed before is no answer.
    for keys in ["\x03\x03", "\x1b[Ak\x03"] {
        let mut run = Run::sh(&OPTIONS, "sleep 300").in_terminal();
        run.wait_for("kill and abort").enter(keys);
        assert_eq!(run.finish().1.signal(), Some(libc::SIGINT), "{keys:?}");
    }
}

#[test]
fn arrows_and_pastes_are_no_answer_to_the_prompt() {
    let mut run = Run::sh(&["--timeout", "500ms", "--on-timeout", "prompt,stop"], "sleep 300").in_terminal();
    run.wait_for("kill and abort").until("the status", |run| run.enter("s").text().contains("last byte"));
    run.enter("\x1b[A").enter("make a plan").until("its end", |run| run.enter("k").has_ended());
    assert_eq!(run.finish().1.code(), Some(119));
}

#[test]
fn a_prompt_over_a_full_screen_program_is_painted_over_and_back() {
    let script = "printf '\\033[?1049h\\033[2J\\033[3;5H\\033[31mred\\033[m\\033[5;1H'; stty raw -echo; sleep 1; \
                  dd bs=1 count=1 2>/dev/null; printf '\\033[?1049lend'";
    let mut run = Run::sh(&["--timeout", "500ms", "--on-timeout", "prompt,stop"], script).in_terminal();
    run.wait_for("kill and abort").until("the picture", |run| run.enter("e").text().matches("red").count() > 1);
    run.enter("x").wait_for("end");
    assert_eq!(run.finish().1.code(), Some(0));
}

#[test]
fn a_prompt_waits_for_the_end_of_a_sequence() {
    let script = "printf '\\033[3'; sleep 1.5; printf '1mred\\033[m'; exec sleep 300";
    let mut run = Run::sh(&OPTIONS, script).in_terminal();
    run.wait_for("kill and abort").until("its end", |run| run.enter("k").has_ended());
    let (text, status) = run.finish();
    assert_eq!(status.code(), Some(119), "{text}");
    assert!(text.find("\x1b[31mred").is_some_and(|red| red < text.find("kill and abort").unwrap()), "{text:?}");
}

#[test]
fn a_prompt_over_a_program_that_has_all_keys_as_sequences_reads_letters() {
    for (way, on, back) in [("\\033[>8u", "\x1b[>0u", "\x1b[<1u"), ("\\033[=8u", "\x1b[>0u", "\x1b[<1u"), ("", "", "")]
    {
        let script = format!("stty raw -echo; printf '\\033[?1049h{way}ready'; exec sleep 300");
        let mut run = Run::sh(&[&["-q"], &OPTIONS[..]].concat(), &script).in_terminal();
        run.wait_for("kill and abort");
        // What a terminal sends that was told so and not told otherwise since.
        let sequences = run.text().rfind("8u") > run.text().rfind("\x1b[>0u");
        let key = if sequences { "\x1b[107u" } else { "k" };
        run.until("its end", |run| run.enter(key).has_ended());
        let (text, status) = run.finish();
        assert_eq!(status.code(), Some(119), "{text:?}");
        let (_, after) = text.split_once("ready").expect("it began");
        assert!(after.starts_with(&format!("{on}\x1b[r")), "{after:?}");
        let (_, after) = after.split_once("is taken.\r\n").expect("the whole of it");
        assert!(after.starts_with(&format!("{back}\x1b[r")), "{after:?}");
    }
}

#[test]
fn a_prompt_that_cannot_be_shown_is_skipped() {
    // The command reads the keyboard itself, so there is nothing that could be covered or asked.
    for how in [["--pty", "never"], ["--stdin", "inherit"]] {
        let options = [&how[..], &["--kill-after", "1s"], &OPTIONS[..]].concat();
        let run = Run::sh(&options, "exec sleep 20").in_terminal();
        let (text, status) = run.finish();
        assert_eq!(status.code(), Some(124), "{how:?}: {text}");
        assert!(!text.contains("[e] extend"), "{how:?}: {text}");
    }
}
