//! What is done about it, with real processes: exit codes, guards, nudges, relaunches.

use std::ffi::OsStr;
use std::fs;
use std::process::Stdio;

use nix::sys::termios::LocalFlags;

use crate::support::{Run, fixture, has, has_python_module, node_package, program, stderr, without_terminal};

/// Prints a question and waits for its answer on the terminal.
const ASKS: &str = "printf 'Name? '; read name; echo \"hello $name\"";

#[test]
fn each_way_to_end_has_its_code() {
    let spinner = "while :; do for c in / - '|'; do printf '\\r%s working' \"$c\"; sleep 0.05; done; done";
    let again = "while :; do echo 'Error: cannot connect to the server'; sleep 0.02; done";
    for (options, script, code, reason) in [
        (&["--idle", "1s", "--no-guard"] as &[&str], spinner, 121, "idle_timeout"),
        (&["--loop-for", "1s", "--on-loop", "stop"], again, 122, "loop"),
        (&["--idle", "1s"], "printf 'Name? '; read name </dev/tty", 123, "waiting_input"),
        (&["--timeout", "500ms"], "sleep 300", 124, "timeout"),
        (&["--done", "FINISHED", "--done-idle", "300ms"], "echo FINISHED; sleep 300", 0, "completed"),
    ] {
        let output = Run::sh(options, script).output();
        assert_eq!(output.status.code(), Some(code), "{reason}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{reason}: {}", stderr(&output));
    }
}

#[test]
fn an_attended_question_lives_on() {
    let mut run = Run::sh(&["--idle", "2s"], ASKS).in_terminal();
    run.wait_for("Name? ");
    // The warning proves that the limit has passed and that it was noticed.
    run.wait_for("idlewatch: ");
    run.enter("you\r").wait_for("hello you");
    assert_eq!(run.finish().1.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_question_of_a_process_in_a_session_of_its_own_lives_on() {
    // As `su -c` and `screen` do it: what is in front waits for its child, and the child reads the terminal.
    let command = ["sh", "-c", "setsid --wait sh -c \"$0\"; exit $?", ASKS];
    let mut run = Run::new(&["--idle", "4s"], &command).in_terminal();
    run.wait_for("Name? ").wait_for("idlewatch: ");
    run.enter("you\r").wait_for("hello you");
    assert_eq!(run.finish().1.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_question_of_an_event_loop_that_is_never_seen_at_rest_lives_on() {
    if !has("python3") {
        return;
    }
    // As a loop that often goes round looks on a machine whose processors are taken.
    let program = "import select\nheard = select.epoll()\nheard.register(0, select.EPOLLIN)\n\
                   print('Name? ', end='', flush=True)\nwhile not heard.poll(0): pass\nprint('hello', input())";
    let mut run = Run::new(&["--idle", "4s", "--no-guard"], &["python3", "-c", program]).in_terminal();
    run.wait_for("Name? ").wait_for("idlewatch: ");
    run.enter("you\r").wait_for("hello you");
    assert_eq!(run.finish().1.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_that_reads_the_persons_terminal_itself_lives_on() {
    let folder = tempfile::tempdir().unwrap();
    for words in ["--pty never", "--stdin inherit", "--pty mirror --relaunch crash"] {
        let limits = "--idle 1s --no-guard --events fd:3";
        let script = format!("$IW {words} {limits} -- head -n 1 3>&1 >log 2>&1; echo status=$?; cat log");
        let mut run = Run::script("sh", &script).folder(folder.path()).in_terminal();
        run.wait_for("\"evidence\":\"blocked reading from the terminal").enter("some text\r");
        let (text, _) = run.finish();
        assert!(text.contains("status=0"), "{words}: {text}");
    }
}

#[test]
fn own_codes_and_the_commands_own_status() {
    let stuck = |options: &[&str]| {
        let all = [&["--idle", "300ms", "--no-guard"], options].concat();
        Run::sh(&all, "trap 'exit 7' TERM; while :; do sleep 0.05; done").output().status.code()
    };
    assert_eq!(stuck(&[]), Some(121));
    assert_eq!(stuck(&["--exit-code", "idle_timeout=75"]), Some(75));
    assert_eq!(stuck(&["--preserve-status"]), Some(7));
}

#[test]
fn last_words_make_no_success_of_an_end_and_do_not_put_it_off() {
    let options = ["--idle", "1s", "--no-guard", "--on-idle", "term,wait:2s,kill"];
    // It says something, and then it ends at once, soon after, or never.
    for rest in ["exit 0", "sleep 1; exit 0", ":"] {
        let script = format!("echo hi; trap 'echo bye $$; {rest}' TERM; while :; do sleep 300 & wait; done");
        let output = Run::sh(&options, &script).output();
        assert_eq!(output.status.code(), Some(121), "{rest}: {}", stderr(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("bye"), "{rest}");
    }
}

#[test]
fn steps_of_a_ladder_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let ladder = "run:echo $IDLEWATCH_STATE >state,signal:USR1,wait:5s,stop";
    let script = "trap 'while [ ! -s state ]; do sleep 0.01; done; exit 3' USR1; while :; do sleep 0.05; done";
    let output = Run::sh(&["--idle", "300ms", "--no-guard", "--on-idle", ladder, "--preserve-status"], script)
        .folder(folder.path())
        .output();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(folder.path().join("state")).unwrap(), "stalled\n");
}

#[test]
fn nudges_are_submitted_to_programs_that_read_lines_and_to_those_that_read_keys() {
    let bash = &["bash", "--norc", "--noprofile", "-i"] as &[&str];
    let python = &["python3", "-q"] as &[&str];
    for (program, command, text, answer) in [
        ("bash", bash, "echo $((40+2))", "42"),
        ("python3", python, "print(40+2)", "42"),
        ("sh", &["sh", "-c", ASKS] as &[&str], "you", "hello you"),
    ] {
        if !has(program) {
            continue;
        }
        let options = ["--idle", "700ms", "--no-guard", "--nudge", text, "--max-nudges", "1", "--nudge-wait", "300ms"];
        let waiting = format!("nudge:{text},wait:2s,stop");
        let options = [&options[..], &["--on-waiting", &waiting, "-v"]].concat();
        let output = Run::new(&options, command).command().stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(answer), "{program}: {text:?} {}", stderr(&output));
        assert!(stderr(&output).contains("typed and submitted"), "{program}: {}", stderr(&output));
    }
}

#[test]
fn a_program_that_waits_for_a_server_in_another_thread_is_not_asking() {
    if !has("python3") {
        return;
    }
    let script = "import select, socket, threading\n\
                  ours, theirs = socket.socketpair()\n\
                  threading.Thread(target=lambda: select.select([ours], [], []), daemon=True).start()\n\
                  print('working', flush=True)\n\
                  select.select([open('/dev/tty')], [], [])";
    let output = Run::new(&["--idle", "1s", "--no-guard"], &["python3", "-c", script]).output();
    assert_eq!(output.status.code(), Some(121), "{}", stderr(&output));
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_that_takes_keys_waits_for_a_person_and_one_that_asks_another_does_not() {
    if !has("python3") {
        return;
    }
    // As a server for developers does it: whoever has come may stay connected and say nothing.
    let script = "import select, socket, sys\n\
                  door = socket.create_server(('127.0.0.1', 0))\n\
                  asks = socket.create_connection(door.getsockname())\n\
                  guest, _ = door.accept()\n\
                  print('ready', flush=True)\n\
                  select.select([sys.stdin, door, {'serves': guest, 'asks': asks}[sys.argv[1]]], [], [])\n\
                  print('hello', input())";
    let start = |how| Run::new(&["--idle", "2s"], &["python3", "-c", script, how]).in_terminal();
    let mut run = start("serves");
    run.wait_for("ready").wait_for("idlewatch: ");
    run.enter("you\r").wait_for("hello you");
    assert_eq!(run.finish().1.code(), Some(0));
    assert_eq!(start("asks").finish().1.code(), Some(121));
}

/// Nudges a program that says back what was submitted to it, without a terminal and in one.
fn is_nudged(command: &[&OsStr]) {
    // Long enough for the program to start, also where many others do.
    let options = ["--idle", "6s", "--no-guard", "-v", "--on-waiting", "nudge:go on,wait:1s,stop"];
    let options = [&options[..], &["--on-idle", "nudge:go on,wait:1s,stop", "--max-nudges", "1"]].concat();
    // The test's terminal answers no questions.
    let run = Run::new(&options, command).variable("TERM", "xterm").variable("PROMPT_TOOLKIT_NO_CPR", "1");

    let output = without_terminal(&mut run.command()).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("got: go on").count(), 1, "{command:?}: {text:?} {}", stderr(&output));
    assert!(stderr(&output).contains("nudged: typed and submitted 'go on'"), "{command:?}: {}", stderr(&output));
    assert!(matches!(output.status.code(), Some(121 | 123)), "{command:?}: {}", stderr(&output));

    let mut run = run.in_terminal();
    let said = ["got: go on", "nudged: typed and submitted 'go on'"];
    run.until("the answer and the notice", |run| said.iter().all(|text| run.text().contains(text)));
    assert_eq!(run.text().matches("got: go on").count(), 1, "{command:?}: {:?}", run.text());
}

#[test]
fn a_nudge_is_submitted_to_a_program_of_prompt_toolkit() {
    if has_python_module("prompt_toolkit") {
        is_nudged(&["python3".as_ref(), fixture("prompt_toolkit_echo.py").as_os_str()]);
    }
}

#[test]
fn a_nudge_is_submitted_to_a_program_of_ink() {
    let Some(packages) = node_package("ink-text-input", "ink") else { return };
    // Modules are looked for beside the script.
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("echo.mjs");
    fs::copy(fixture("ink/echo.mjs"), &script).unwrap();
    std::os::unix::fs::symlink(packages.join("node_modules"), folder.path().join("node_modules")).unwrap();
    is_nudged(&["node".as_ref(), script.as_os_str()]);
}

#[test]
fn a_nudge_for_runs_in_general_is_left_out_where_it_cannot_be_typed() {
    let run = Run::new(&["--idle", "300ms", "--nudge-wait", "1h"], &["cat"]).variable("IDLEWATCH_NUDGE", "go on");
    assert_eq!(run.output_of(b"data\n").stdout, b"data\n");
    let options = ["--idle", "300ms", "--nudge-wait", "1h", "--stdin", "null", "--on-loop", "warn"];
    let mut run = Run::sh(&options, "sleep 300");
    run = run.variable("IDLEWATCH_NUDGE", "go on");
    assert_eq!(run.output().status.code(), Some(121));
}

#[test]
fn a_nudge_that_cannot_be_typed_is_refused_before_anything_starts() {
    let output = Run::sh(&["--nudge", "go on"], "touch started").output_of(b"data");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--stdin pty"), "{}", stderr(&output));
}

#[test]
fn a_file_that_the_command_prints_to_directly_is_watched_too() {
    let folder = tempfile::tempdir().unwrap();
    let script = "for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done; sleep 300";
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let mut command = Run::sh(&["--pty", "mirror", "--idle", "1s", "--no-guard"], script).command();
    let output = command.stdin(Stdio::null()).stdout(log).output().unwrap();
    assert_eq!(output.status.code(), Some(121), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(folder.path().join("log")).unwrap(), "1\n2\n3\n4\n5\n6\n");
}

#[test]
fn our_own_lines_in_a_file_that_the_command_prints_to_are_no_sign_of_life() {
    let modes: [&[&str]; 3] =
        [&["--explain"], &["--heartbeat", "300ms"], &["--quiet", "--events", "fd:1", "--progress-every", "300ms"]];
    for mode in modes {
        let log = tempfile::tempfile().unwrap();
        let limits = ["--pty", "mirror", "--idle", "1s", "--timeout", "20s", "--no-guard"];
        let mut command = Run::sh(&[&limits, mode].concat(), "echo here; exec sleep 300").command();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        assert_eq!(command.status().unwrap().code(), Some(121), "{mode:?}");
    }
}

#[test]
fn a_command_that_never_prints_anything_has_a_limit_of_its_own() {
    let options = ["--idle", "off", "--first-output", "500ms", "--no-guard"];
    assert_eq!(Run::sh(&options, "sleep 300").output().status.code(), Some(121));
    assert_eq!(Run::sh(&options, "echo here; sleep 1").output().status.code(), Some(0));
}

#[test]
fn what_is_printed_to_a_file_of_its_own_is_the_first_output_too() {
    let options = ["--pty", "mirror", "--idle", "off", "--first-output", "1s", "--no-guard", "--explain"];
    let mut command = Run::sh(&options, "echo here; sleep 2.5; exit 3").command();
    let output = command.stdin(Stdio::null()).stdout(tempfile::tempfile().unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

#[test]
fn a_warning_is_coloured_only_where_colours_are_wanted() {
    for (name, value, line) in [
        ("TERM", "xterm-256color", "\x1b[33midlewatch: "),
        ("NO_COLOR", "1", "hello\r\nidlewatch: "),
        ("TERM", "dumb", "hello\r\nidlewatch: "),
    ] {
        let options = ["--idle", "1s", "--no-guard", "--on-idle", "warn"];
        let run = Run::sh(&options, "echo hello; exec sleep 300").variable("TERM", "xterm").variable(name, value);
        let mut run = run.in_terminal();
        run.wait_for(line).enter("\x03");
        run.finish();
    }
}

#[test]
fn over_a_drawn_screen_the_warning_is_in_the_title_and_is_taken_back() {
    let script = "printf '\\033[?1049h\\033]2;own title\\007drawn'; stty raw -echo; sleep 3; printf ' more'; sleep 1; \
                  printf '\\033[?1049l'";
    let options = ["--idle", "1s", "--no-guard", "--on-idle", "warn", "--on-waiting", "warn"];
    let mut run = Run::sh(&options, script).variable("TERM", "xterm").in_terminal();
    run.wait_for("\x1b[22;2t\x1b]2;idlewatch: ").wait_for("\x07").wait_for("\x1b[23;2t\x1b]2;own title");
    assert_eq!(run.finish().1.code(), Some(0));
}

#[test]
fn a_hang_behind_a_last_line_that_looks_like_a_question_is_a_hang() {
    let script = "printf 'Connecting to database: '; exec sleep 300";
    for mut run in Run::sh(&["--idle", "500ms", "--no-guard"], script).both_ways() {
        assert_eq!(run.finish_bytes().1.code(), Some(121));
    }
}

#[test]
fn a_terminal_that_another_process_reads_for_its_client_is_waited_at() {
    if !has("tmux") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("server");
    let socket = socket.to_str().unwrap();
    let tmux = ["tmux", "-f", "/dev/null", "-S", socket, "new", "sh -c 'printf inside; sleep 300'"];
    let options = ["--idle", "6s", "--no-guard", "--events", "events"];
    let run = Run::new(&options, &tmux).folder(folder.path()).variable("TERM", "xterm").variable("TMUX", "");
    let mut run = run.in_terminal();
    let events = || fs::read_to_string(folder.path().join("events")).unwrap_or_default();
    run.wait_for("inside").until("a verdict", |_| events().contains(r#""to":"waiting""#));
    run.signal(libc::SIGTERM).finish_bytes();
    Run::bare(&["tmux", "-S", socket, "kill-server"]).output();
}

#[test]
fn a_command_that_prints_nothing_at_first_is_ended_in_its_own_time() {
    for idle in ["off", "1h"] {
        let options = ["--first-output", "1s", "--idle", idle, "--timeout", "20s"];
        assert_eq!(Run::sh(&options, "exec sleep 300").output().status.code(), Some(121), "--idle {idle}");
    }
}

#[test]
fn a_share_of_silence_is_an_event_and_a_share_of_the_time_is_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--idle", "5s", "--warn", "10", "--events", "events"];
    let output = Run::sh(&options, "sleep 1").folder(folder.path()).output();
    let events = fs::read_to_string(folder.path().join("events")).unwrap();
    assert!(events.contains("idle_warning") && events.contains(r#""to":"quiet""#), "{events}");
    assert_eq!(stderr(&output), "");
    let output = Run::sh(&["--timeout", "5s", "--warn", "10"], "sleep 1").output();
    assert!(stderr(&output).contains("of the time limit (5s) has passed"), "{}", stderr(&output));
}

#[test]
fn a_shell_command_knows_the_run_and_one_that_cannot_be_run_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let ladder = "run:echo $IDLEWATCH_PID $IDLEWATCH_STATE >told; echo noise,run:no-such-program,wait:1s,stop";
    let options = ["--idle", "500ms", "--no-guard", "--on-idle", ladder];
    let output = Run::sh(&options, "echo $$ >pid; exec sleep 300").folder(folder.path()).output();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("told"), format!("{} stalled\n", read("pid").trim()));
    let said = stderr(&output);
    assert!(said.contains("'no-such-program' exited with 127: not found"), "{said}");
    assert!(output.stdout.is_empty() && !said.contains("noise"), "{said}");
}

#[test]
fn a_warning_says_that_it_is_one_and_what_limit_has_passed() {
    for (options, script, words) in [
        (&["--idle", "1s"] as &[&str], "sleep 300", "nothing printed since it started 1s ago (limit 1s)"),
        (&["--idle", "1s"], "echo here; sleep 300", "screen unchanged for 1s (limit 1s)"),
        (&["--timeout", "1s", "--warn", "100"], "sleep 300", "running for 1s (limit 1s)"),
        (&["--idle", "3s"], "printf 'Name? '; read name </dev/tty", "unchanged for 3s (limit 3s)"),
    ] {
        let said = stderr(&Run::sh(&[options, &["--no-guard"]].concat(), script).output());
        let warned = said.lines().find(|line| line.ends_with(words));
        assert!(warned.is_some_and(|line| line.starts_with("idlewatch: warning: ")), "{words}: {said}");
        let said = stderr(&Run::sh(&[options, &["--no-guard", "-v"]].concat(), script).output());
        let evidence = words.split(" (limit").next().unwrap();
        assert_eq!(said.matches(evidence).count(), 1, "{words}: {said}");
        assert!(said.contains("idlewatch: warning: "), "{words}: {said}");
    }
}

/// In a script whose input holds nothing: then the command can be typed to.
fn with_no_input(run: &Run) -> std::process::Output {
    without_terminal(&mut run.command()).stdin(Stdio::null()).output().expect("it starts")
}

#[test]
fn nothing_is_typed_into_a_password_where_nobody_looks_on_either() {
    let script = "printf 'Secret value: '; stty -echo; read line; stty echo; echo \"got $line.\"";
    for ladder in ["nudge:go on,stop", "nudge:go on,wait:100ms,stop"] {
        let options = ["--idle", "300ms", "--no-guard", "--on-idle", ladder, "--on-waiting", ladder];
        let output = with_no_input(&Run::sh(&options, script));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("got") && output.status.code() == Some(123), "{text} {}", stderr(&output));
    }
}

#[test]
fn what_is_typed_where_nobody_looks_is_not_echoed_into_the_output() {
    let script = "echo ready; read line; echo \"got $line.\"";
    let options = ["--idle", "300ms", "--no-guard", "--nudge", "go on", "--on-waiting", "nudge,wait:20s,stop"];
    let output = with_no_input(&Run::sh(&options, script));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ready\ngot go on.\n", "{}", stderr(&output));
}

#[test]
fn keys_behind_a_line_that_nobody_reads_are_not_echoed_either() {
    let keys = "key:esc,wait:20ms,".repeat(20);
    let ladder = format!("nudge:go on,wait:20ms,{keys}stop");
    let options = ["--idle", "300ms", "--no-guard", "--on-idle", &ladder, "--stdin", "pty"];
    let output = with_no_input(&Run::sh(&options, "echo ready; sleep 300"));
    let shown = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
    assert!(shown.starts_with("ready\n") && !shown.contains("^["), "{shown}");
}

#[test]
fn a_terminal_that_showed_nothing_before_the_command_is_no_password() {
    let asleep = "echo ready; sleep 300";
    let options = ["--idle", "300ms", "--no-guard", "--nudge", "go on", "--nudge-wait", "1s"];
    let mut run =
        Run::sh(&options, asleep).in_terminal_with(80, 24, |settings| settings.local_flags.remove(LocalFlags::ECHO));
    run.wait_for("typed and submitted 'go on'");
    drop(run);
    // A run inside a run prints to a terminal that was made for output alone.
    let inside = [program(), "--idle", "300ms", "--no-guard", "--", "sh", "-c", asleep];
    let output = Run::new(&[], &inside).output();
    assert_eq!(output.status.code(), Some(121), "{}", stderr(&output));
}

#[test]
fn a_password_is_seen_where_the_terminal_showed_nothing_at_first() {
    let script = "stty echo; echo ready; read line; stty -echo; echo again; read line";
    let options = ["--idle", "300ms", "--explain"];
    let mut run =
        Run::sh(&options, script).in_terminal_with(80, 24, |settings| settings.local_flags.remove(LocalFlags::ECHO));
    run.wait_for("waiting: ").enter("go\n").wait_for("again").wait_for("a password");
}

#[test]
fn who_polls_the_keyboard_still_does_after_it_was_stopped() {
    if !has("python3") {
        return;
    }
    let script = "import select, sys, time\nprint('ready', flush=True)\np = select.poll()\np.register(0, 1)\np.poll()\nprint('heard')";
    let mut run = Run::shell("bash").in_terminal();
    run.enter("PS1='prompt> '\n").wait_for("prompt> ");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("polls.py");
    std::fs::write(&file, script).unwrap();
    run.enter(format!("{} --idle 1s --no-guard -- python3 {}\n", crate::support::program(), file.display()));
    run.wait_for("ready").enter("\x1a").wait_for("Stopped").enter("fg\n");
    // Three times the limit: that nothing happens in it is what is tested.
    std::thread::sleep(std::time::Duration::from_secs(3));
    run.enter("x\n").wait_for("heard");
}

#[test]
fn who_reads_the_terminal_of_its_errors_waits_for_a_person_too() {
    // As `less` does. Where nobody looks on, the output, the errors and the keyboard are terminals of their own.
    let output = with_no_input(&Run::sh(&["--idle", "1s", "--no-guard"], "echo some text; head -n 1 <&2"));
    assert_eq!(output.status.code(), Some(123), "{}", stderr(&output));
}
