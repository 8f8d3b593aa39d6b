//! A command whose output nobody takes for a while: a person reads.

use std::fs;
use std::process::Stdio;

use crate::support::{Run, program, send, stderr, until, without_terminal};

/// Prints more than anybody holds, and says so when it is through.
const PAGES: &str = "seq 100000; : >through";

#[test]
fn a_person_who_reads_a_page_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    // The reader takes a page and waits for a key.
    let script = format!(
        "$IW --idle 300ms --no-guard -- sh -c '{PAGES}' | {{ head -c 1000 >/dev/null; echo page; read key </dev/tty; cat >/dev/null; }}"
    );
    let mut run = Run::script("bash", &format!("{script}; echo \"codes ${{PIPESTATUS[*]}}\""))
        .folder(folder.path())
        .in_terminal();
    run.wait_for("page");
    // Three times the limit.
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(!folder.path().join("through").exists());
    run.enter("\n").wait_for("codes 0 0");
    assert!(!run.text().contains("idlewatch"), "{}", run.text());
    run.finish_bytes();
}

#[test]
fn output_that_a_key_has_stopped_is_no_silence() {
    let script = "i=0; while :; do i=$((i+1)); echo \"line $i\"; sleep 0.01; done";
    let mut run = Run::sh(&["--idle", "1s", "--no-guard"], script).in_terminal();
    run.wait_for("line 20\r\n").enter("\x13");
    // Longer than the limit: that nothing happens in it is what is tested.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    run.enter("\x11").wait_for("line 100\r\n").enter("\x03");
    let (text, _) = run.finish();
    assert!(!text.contains("idlewatch"), "{text}");
}

#[test]
fn where_nobody_reads_the_ceiling_counts_and_what_was_not_taken_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let options = ["--idle", "300ms", "--max-idle", "1500ms", "--no-guard", "--events", "events"];
    let mut command = Run::sh(&options, PAGES).folder(folder.path()).command();
    let child = without_terminal(&mut command).stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).spawn();
    drop(command);
    let output = child.unwrap().wait_with_output().unwrap();
    drop(reader);
    assert_eq!(output.status.code(), Some(121));
    let said = stderr(&output);
    assert!(said.contains("its output is not being read") && said.contains("bytes of output were lost"), "{said}");
    let events = fs::read_to_string(folder.path().join("events")).unwrap();
    let elapsed = events
        .lines()
        .find(|line| line.contains("\"signaled\""))
        .and_then(|line| line.split_once("\"elapsed\":")?.1.split(',').next()?.parse::<u64>().ok());
    assert!(elapsed.is_some_and(|elapsed| elapsed >= 1400), "{events}");
}

#[test]
fn what_waits_for_its_reader_after_the_end_can_be_stopped_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let script = "seq 20000; : >through";
    let run = |options: &str, then: &str| {
        let mut run = Run::shell("bash").folder(folder.path()).in_terminal();
        run.enter("PS1='prompt> '\n").wait_for("prompt> ");
        let program = program();
        run.enter(format!("{program} {options} -- sh -c '{script}' | {{ read first; echo begun; {then}; wc -l; }}\n"));
        run.wait_for("begun\r\n");
        run
    };
    let mut stopped = run("", "read key </dev/tty");
    until("the end", || folder.path().join("through").exists());
    // A key that comes in the moment in which the command has ended and nobody knows stops nobody.
    stopped.until("a stop", |run| {
        let has_stopped = run.text().contains("Stopped");
        if !has_stopped {
            run.enter("\x1a");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        has_stopped
    });
    stopped.enter("fg\n").enter("\n").wait_for("19999");
}

#[test]
fn time_in_which_we_were_stopped_after_the_end_is_not_running_time() {
    let folder = tempfile::tempdir().unwrap();
    let script = "{ sh -c 'echo pid=$$\\;>&2; exec $IW --timeout 2s -- sh -c \"seq 20000; : >through\"'; echo \"code $?\" >&2; } | \
                  { read first; while [ ! -e go ]; do sleep 0.02; done; wc -l >&2; }";
    let mut run = Run::script("sh", script).folder(folder.path()).in_pipes();
    let idlewatch = run.number("pid");
    until("the end", || folder.path().join("through").exists());
    send(idlewatch, libc::SIGSTOP);
    // Longer than the limit.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    send(idlewatch, libc::SIGCONT);
    fs::write(folder.path().join("go"), "").unwrap();
    run.until("the end", |run| run.text().contains("19999") && run.text().contains("code"));
    assert!(run.text().contains("code 0"), "{}", run.text());
    run.finish_bytes();
}
