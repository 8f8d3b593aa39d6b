//! Job control: to a shell, idlewatch is the command.

use std::fs;
use std::path::Path;

use nix::sys::termios::{LocalFlags, OutputFlags};
use tempfile::TempDir;

use crate::support::{Run, Running, has, program, send, send_if_there, state, until};

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];
const PREFIXES: [&str; 2] = ["", "$IW -- "];

/// Runs this in every shell, with the command as it is and under idlewatch. The scripts are files, so that nothing
/// that is waited for is in what is typed.
fn everywhere(test: impl Fn(&mut Running, &str, &Path)) {
    // Not a shell's loop around sleep: a shell that waits for its child to become sleep (vfork) cannot be stopped.
    for shell in SHELLS.into_iter().filter(|shell| has(shell) && has("perl")) {
        for prefix in PREFIXES {
            let folder = folder();
            let mut run = Run::shell(shell).folder(folder.path()).variable("HOME", folder.path()).in_terminal();
            test(&mut run, prefix, folder.path());
            run.enter("exit\n").finish_bytes();
        }
    }
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let scripts = [
        ("reads", "echo pid=$$';'; read line; echo \"got $line\""),
        ("works", "$| = 1; print \"pid=$$;\"; select(undef, undef, undef, 0.02) until -e 'go'; print \"has ended\n\""),
        (
            "catches",
            "$| = 1; $SIG{TSTP} = sub { print 'caught' }; print \"pid=$$;\"; select(undef, undef, undef, 0.02) until -e 'go'",
        ),
        // Not before it is in front: what is typed to bring it there would have it read, and be stopped for that.
        (
            "listens",
            "use POSIX (); $| = 1; print \"pid=$$;\"; \
             select(undef, undef, undef, 0.02) until POSIX::tcgetpgrp(0) == getpgrp; \
             vec($in, 0, 1) = 1; select($in, undef, undef, undef); sysread(STDIN, $line, 99); print \"got $line\"",
        ),
        ("restores", "was=$(stty -g); echo pid=$$';'; read line; stty \"$was\"; printf 'one\\ntwo\\n'"),
        ("prompt", "echo \"at the prompt\""),
    ];
    for (name, script) in scripts {
        fs::write(folder.path().join(name), script).unwrap();
    }
    folder
}

/// Waits until the shell takes commands.
fn prompt(run: &mut Running) {
    run.enter("sh prompt\n").wait_for("at the prompt");
}

fn until_stopped(pid: i32) {
    until(&format!("the stop of {}", fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()), || {
        state(pid) == Some('T')
    });
}

/// The process that the shell started: idlewatch, or the command itself.
fn job(pid: i32, shell: i32) -> i32 {
    let parent = |pid: i32| -> i32 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap()
    };
    let mut pid = pid;
    while parent(pid) != shell {
        pid = parent(pid);
    }
    pid
}

#[test]
fn a_stopped_job_comes_back_to_the_front() {
    everywhere(|run, prefix, _| {
        run.enter(format!("{prefix}sh reads\n"));
        let pid = run.number("pid");
        run.until_in_front(job(pid, run.pid())).enter("\x1a");
        until_stopped(job(pid, run.pid()));
        prompt(run);
        run.enter("fg\n");
        until("going on", || state(pid) != Some('T'));
        run.enter("hello\n").wait_for("got hello");
    });
}

#[test]
fn a_job_is_stopped_again_and_again() {
    everywhere(|run, prefix, _| {
        run.enter(format!("{prefix}sh reads\n"));
        let pid = run.number("pid");
        for _ in 0..5 {
            run.until_in_front(job(pid, run.pid())).enter("\x1a");
            until_stopped(job(pid, run.pid()));
            prompt(run);
            run.enter("fg\n");
            until("going on", || state(pid) != Some('T'));
        }
        run.enter("hello\n").wait_for("got hello");
    });
}

#[test]
fn a_stopped_job_goes_on_in_the_background() {
    everywhere(|run, prefix, folder| {
        run.enter(format!("{prefix}perl works\n"));
        let pid = run.number("pid");
        run.until_in_front(job(pid, run.pid())).enter("\x1a");
        until_stopped(job(pid, run.pid()));
        prompt(run);
        run.enter("bg\n");
        until("going on", || state(pid) != Some('T'));
        prompt(run);
        let job = job(pid, run.pid());
        fs::write(folder.join("go"), "").unwrap();
        run.wait_for("has ended");
        until("its end", || state(job).is_none());
    });
}

#[test]
fn a_job_started_in_the_background_can_be_brought_to_the_front() {
    everywhere(|run, prefix, folder| {
        run.enter(format!("{prefix}perl works &\n"));
        let pid = run.number("pid");
        prompt(run);
        // What is typed meanwhile is given back letter by letter, between which more could be typed.
        let job = job(pid, run.pid());
        run.enter("fg\n").until_in_front(job);
        fs::write(folder.join("go"), "").unwrap();
        run.wait_for("has ended");
        prompt(run);
    });
}

/// Starts a script in the background that stops because it wants to read, brings it to the front and lets it.
fn read_in_front(run: &mut Running, prefix: &str, script: &str) {
    run.enter(format!("{prefix}sh {script} &\n"));
    let pid = run.number("pid");
    until_stopped(job(pid, run.pid()));
    prompt(run);
    run.enter("fg\n");
    until("going on", || state(pid) != Some('T'));
    run.enter("hello\n");
}

#[test]
fn a_background_job_that_wants_to_read_waits_for_the_front() {
    everywhere(|run, prefix, _| {
        read_in_front(run, prefix, "reads");
        run.wait_for("got hello");
    });
}

/// As every program with a line editor does.
#[test]
fn settings_that_a_job_saves_in_the_background_are_good_in_the_front() {
    everywhere(|run, prefix, _| {
        read_in_front(run, prefix, "restores");
        run.wait_for("one\r\ntwo\r\n");
    });
}

#[test]
fn a_running_job_that_is_brought_to_the_front_has_the_keyboard_although_nobody_says_so() {
    everywhere(|run, prefix, _| {
        run.enter(format!("{prefix}perl listens &\n"));
        let pid = run.number("pid");
        prompt(run);
        let ours = job(pid, run.pid());
        run.enter("fg\n").until_in_front(ours);
        run.enter("hello\n").wait_for("got hello");
        prompt(run);
    });
}

#[test]
fn the_shell_sees_a_job_that_was_stopped_by_another_process() {
    for signal in [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU] {
        everywhere(|run, prefix, _| {
            run.enter(format!("{prefix}perl works\n"));
            let pid = run.number("pid");
            send(pid, signal);
            until_stopped(job(pid, run.pid()));
            prompt(run);
            run.enter("fg\n");
            until("going on", || state(pid) != Some('T'));
            run.until_in_front(job(pid, run.pid())).enter("\x03");
            prompt(run);
        });
    }
}

#[test]
fn what_the_shell_started_can_be_stopped_and_continued_from_outside() {
    for signal in [libc::SIGSTOP, libc::SIGTSTP] {
        everywhere(|run, prefix, _| {
            run.enter(format!("{prefix}sh reads\n"));
            let pid = run.number("pid");
            let job = job(pid, run.pid());
            send(job, signal);
            until_stopped(job);
            prompt(run);
            run.enter("fg\n");
            until("going on", || state(job) != Some('T') && state(pid) != Some('T'));
            run.enter("hello\n").wait_for("got hello");
        });
    }
}

#[test]
fn a_command_can_catch_the_stop_key() {
    everywhere(|run, prefix, folder| {
        run.enter(format!("{prefix}perl catches\n"));
        let pid = run.number("pid");
        run.until_in_front(job(pid, run.pid())).enter("\x1a").wait_for("caught");
        fs::write(folder.join("go"), "").unwrap();
        prompt(run);
    });
}

#[test]
fn the_terminal_is_the_shells_while_the_job_is_stopped() {
    for shell in SHELLS.into_iter().filter(|shell| has(shell)) {
        let folder = folder();
        let [bare, wrapped] = PREFIXES.map(|prefix| {
            let mut run = Run::shell(shell).folder(folder.path()).variable("HOME", folder.path()).in_terminal();
            run.enter(format!("{prefix}sh reads\n"));
            let pid = run.number("pid");
            run.until_in_front(job(pid, run.pid())).enter("\x1a");
            until_stopped(job(pid, run.pid()));
            run.enter("stty -a >stopped\n");
            run.until("the settings", |_| {
                fs::read_to_string(folder.path().join("stopped")).is_ok_and(|text| text.contains("extproc"))
            });
            let settings = fs::read_to_string(folder.path().join("stopped")).unwrap();
            fs::remove_file(folder.path().join("stopped")).unwrap();
            settings
        });
        assert_eq!(wrapped, bare, "{shell}");
    }
}

#[test]
fn an_interrupt_ends_the_job_and_leaves_the_shell() {
    everywhere(|run, prefix, _| {
        run.enter(format!("{prefix}perl works\n"));
        let pid = run.number("pid");
        run.until_in_front(job(pid, run.pid())).enter("\x03");
        until("its end", || state(pid).is_none());
        prompt(run);
    });
}

#[test]
fn a_shell_under_idlewatch_has_job_control() {
    for shell in SHELLS.into_iter().filter(|shell| has(shell)) {
        let folder = folder();
        let inner = match shell {
            "bash" => "$IW -- bash --norc --noprofile -i",
            "zsh" => "$IW -- zsh -f -i",
            _ => "$IW -- fish --no-config -i",
        };
        let mut run = Run::shell("bash").folder(folder.path()).variable("HOME", folder.path()).in_terminal();
        run.enter(format!("{inner}\n"));
        prompt(&mut run);
        run.enter("sh reads\n");
        let pid = run.number("pid");
        // Blocked in its read, so the inner shell has given it the terminal.
        until("its read", || state(pid) == Some('S'));
        run.enter("\x1a");
        until_stopped(pid);
        prompt(&mut run);
        run.enter("fg\n");
        until("going on", || state(pid) != Some('T'));
        run.enter("hello\n").wait_for("got hello");
        run.enter("exit\n").enter("exit\n");
        run.finish_bytes();
    }
}

#[test]
fn silence_while_stopped_is_not_idleness() {
    let folder = folder();
    let mut run = Run::shell("bash").folder(folder.path()).in_terminal();
    run.enter("$IW --idle 2s -- sh reads\n");
    let pid = run.number("pid");
    run.enter("\x1a");
    until_stopped(job(pid, run.pid()));
    // Longer than the limit, by the clock of another process.
    run.enter("sleep 2.5; sh prompt\n").wait_for("at the prompt").enter("fg\n");
    until("going on", || state(pid) != Some('T'));
    run.enter("hello\n").wait_for("got hello").enter("exit\n").finish_bytes();
}

/// A shell that takes the terminal from its job without a word, once it may.
const TAKES: &str = "use POSIX; $| = 1; $SIG{TTOU} = 'IGNORE'; my $job = fork; \
    if (!$job) { setpgrp; POSIX::tcsetpgrp(0, $$); $SIG{TTOU} = 'DEFAULT'; exec @ARGV } \
    select(undef, undef, undef, 0.01) until -e 'go'; POSIX::tcsetpgrp(0, getpgrp); print \"taken by the shell\n\"; \
    waitpid($job, 0); print \"status=$?;\"";

/// Its job, as soon as that has the terminal.
fn only_child(run: &mut Running) -> i32 {
    run.until("a terminal of its own", |run| run.settings() != run.found());
    let shell = run.pid();
    fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap().trim().parse().unwrap()
}

#[test]
fn a_terminal_that_somebody_takes_without_a_word_is_left_to_them() {
    if !has("perl") {
        return;
    }
    for watched in [&["--", "sh", "-c", "echo pid=$PPID';'; sleep 300"][..], &["ctl", "watch"]] {
        let folder = tempfile::tempdir().unwrap();
        let argv = [&["perl", "-e", TAKES, program()][..], watched].concat();
        let mut run = Run::bare(&argv).folder(folder.path()).in_terminal();
        let job = only_child(&mut run);
        fs::write(folder.path().join("go"), "").unwrap();
        run.wait_for("taken by the shell").enter("typed\n");
        run.until("the settings", |run| run.settings() == run.found());
        // Stopped, as whoever reads from the background, or at work in it: a signal ends it.
        send(job, libc::SIGTERM);
        send_if_there(job, libc::SIGCONT);
        run.wait_for("status=15;").finish_bytes();
    }
}

#[test]
fn a_terminal_that_was_taken_and_lets_nobody_print_from_the_background_is_left_to_them() {
    if !has("perl") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = "until [ -e print ]; do sleep 0.02; done; echo printed in the back; exec sleep 300";
    let mut run = Run::bare(&["perl", "-e", TAKES, program(), "--", "sh", "-c", script])
        .folder(folder.path())
        .in_terminal_with(80, 24, |settings| settings.local_flags.insert(LocalFlags::TOSTOP));
    let job = only_child(&mut run);
    fs::write(folder.path().join("go"), "").unwrap();
    run.wait_for("taken by the shell");
    fs::write(folder.path().join("print"), "").unwrap();
    run.wait_for("printed in the back").until("the settings", |run| run.settings() == run.found());
    send(job, libc::SIGTERM);
    run.wait_for("status=15;").finish_bytes();
}

#[test]
fn a_job_that_was_stopped_from_outside_has_the_terminal_again() {
    for shell in SHELLS.into_iter().filter(|shell| has(shell)) {
        let folder = folder();
        let mut run = Run::shell(shell).folder(folder.path()).variable("HOME", folder.path()).in_terminal();
        run.enter("$IW -- sh reads\n");
        let pid = run.number("pid");
        let job = job(pid, run.pid());
        run.until_in_front(job);
        send(job, libc::SIGSTOP);
        until_stopped(job);
        prompt(&mut run);
        run.enter("fg\n").until("its settings", |run| !run.settings().output_flags.contains(OutputFlags::OPOST));
        run.enter("hello\n").wait_for("got hello").enter("exit\n").finish_bytes();
    }
}

#[test]
fn what_bash_substitutes_can_ask_its_user() {
    // There, whoever wants the terminal is not stopped for it but gets an error.
    if !has("bash") {
        return;
    }
    let folder = folder();
    let mut run = Run::shell("bash").folder(folder.path()).variable("HOME", folder.path()).in_terminal();
    prompt(&mut run);
    run.enter("echo \"it says $($IW -- sh reads)\"\n");
    run.until("its turn", |run| !run.settings().local_flags.contains(LocalFlags::ICANON));
    run.enter("hello\n").wait_for("it says pid=").wait_for("got hello").enter("exit\n").finish_bytes();
}

#[test]
fn a_stop_key_where_nobody_could_continue_it_stops_nothing() {
    for prefix in ["", "$IW --"] {
        let script = format!("echo x | {prefix} sh -c 'read line </dev/tty; echo got $line'; :");
        let mut run = Run::script("sh", &script).in_terminal();
        if !prefix.is_empty() {
            run.until("its turn", |run| run.settings() != run.found());
        }
        run.enter("\x1a").enter("hello\n").wait_for("got hello");
        assert!(run.finish().1.success());
    }
}
