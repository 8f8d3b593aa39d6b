//! Questions to the terminal are answered exactly once: by the outer terminal, or by idlewatch where there is none.

use crate::support::{Run, until};

/// Asks, and prints in hexadecimal what is answered until `z` comes.
fn ask(question: &str) -> String {
    format!(
        "stty raw -echo </dev/tty; printf '{question}' >/dev/tty; \
         while :; do byte=$(dd bs=1 count=1 </dev/tty 2>/dev/null | od -An -tx1 | tr -d ' '); \
         [ $byte != 7a ] || break; answer=$answer$byte; done; echo answer=$answer"
    )
}

fn hex(bytes: &str) -> String {
    use std::fmt::Write;
    bytes.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn the_outer_terminal_answers_and_nobody_else() {
    for (question, answer) in [("\x1b[6n", "\x1b[12;34R"), ("\x1b[c", "\x1b[?62;22c"), ("\x1b[5n", "\x1b[0n")] {
        let script = ask(&question.replace('\x1b', "\\033"));
        let mut run = Run::sh(&[], &script).in_terminal();
        run.wait_for(question).enter(answer).enter("z").wait_for(format!("answer={}", hex(answer)));
        let text = run.finish().0;
        assert_eq!(text.matches(question).count(), 1);
    }
}

#[test]
fn without_an_outer_terminal_the_command_still_gets_an_answer() {
    for (question, answer) in [("\\033[6n", "\x1b[1;1R"), ("\\033[c", "\x1b[?6c"), ("\\033[5n", "\x1b[0n")] {
        // The answer to the second question, which asks for nothing but a status, marks the end of the first.
        let script = format!(
            "stty raw -echo </dev/tty; printf '{question}' >/dev/tty; head -c {} </dev/tty | od -An -tx1 | tr -d ' \\n'",
            answer.len()
        );
        let output = Run::sh(&[], &script).output();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.ends_with(&hex(answer)), "{question} gives {text:?}");
        assert!(output.status.success());
    }
}

#[test]
fn a_question_printed_to_a_redirected_output_does_not_block() {
    // Standard output is a terminal for the command, and nobody is there to answer.
    let script = "stty raw -echo </dev/tty; printf '\\033[c'; head -c 5 </dev/tty | od -An -tx1 | tr -d ' \\n'";
    let output = Run::sh(&[], script).output();
    assert!(String::from_utf8_lossy(&output.stdout).ends_with(&hex("\x1b[?6c")));
}

#[test]
#[cfg(target_os = "linux")]
fn answers_that_nobody_reads_do_not_pile_up() {
    let script = "echo first; read go; yes \"$(printf '\\033[6n')\" | head -c 8000000; echo last; read go";
    let mut run = Run::sh(&["--stdin", "inherit"], script).in_pipes();
    run.wait_for("first");
    let (before, _) = crate::weight::held(run.pid());
    run.enter("\n").wait_for("last");
    // What the flood itself needed is given back with the next wake-up.
    let pid = run.pid();
    until("as much memory as before", || crate::weight::held(pid).0 < before + 1024);
    assert!(run.enter("\n").finish_bytes().1.success());
}
