//! What each of the command's streams is, and where it goes.

use std::fs;
use std::io::{Read, Write};
#[cfg(target_os = "linux")]
use std::os::unix::{fs::OpenOptionsExt, process::ExitStatusExt};
use std::process::Stdio;
use std::thread;

#[cfg(target_os = "linux")]
use crate::exhaustion::can_fail;
#[cfg(target_os = "linux")]
use crate::support::reads;
use crate::support::{Run, has, until, without_terminal};

/// Which of the three streams are terminals for the command: `t` or `-` for each.
const ASK: &str = r"sh -c 'for fd in 0 1 2; do if [ -t $fd ]; then printf t >&3; else printf - >&3; fi; done'";

fn terminals(prefix: &str, redirections: &str, in_terminal: bool) -> String {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::script("sh", &format!("{prefix} {ASK} 3>seen {redirections}")).folder(folder.path());
    let status = if in_terminal { run.in_terminal().finish().1 } else { run.output().status };
    assert!(status.success(), "{prefix} {redirections}");
    fs::read_to_string(folder.path().join("seen")).unwrap()
}

const REDIRECTIONS: [&str; 9] =
    ["", "</dev/null", ">out", "2>err", ">out 2>&1", "</dev/null >out 2>err", "2>&1 | cat", "<&-", "</dev/null | cat"];

#[test]
fn output_is_always_a_terminal_for_the_command() {
    let expected = ["ttt", "-tt", "ttt", "ttt", "ttt", "-tt", "ttt", "-tt", "-tt"];
    for (redirections, expected) in REDIRECTIONS.into_iter().zip(expected) {
        assert_eq!(terminals("$IW --", redirections, true), expected, "{redirections}");
        let expected = format!("-{}", &expected[1..]);
        assert_eq!(terminals("$IW --", redirections, false), expected, "{redirections} without a terminal");
    }
}

#[test]
fn mirrored_streams_are_terminals_where_ours_are() {
    for redirections in REDIRECTIONS {
        for in_terminal in [true, false] {
            assert_eq!(
                terminals("$IW --pty mirror --", redirections, in_terminal),
                terminals("", redirections, in_terminal),
                "{redirections} in a terminal: {in_terminal}"
            );
        }
    }
}

#[test]
fn without_a_pseudo_terminal_no_output_is_a_terminal() {
    for redirections in ["", "2>err", ">out 2>&1", "2>&1 | cat"] {
        assert_eq!(terminals("$IW --pty never --", redirections, true), "t--", "{redirections}");
        assert_eq!(terminals("$IW --pty never --", redirections, false), "---", "{redirections}");
    }
}

#[test]
fn standard_input_can_be_chosen() {
    for (option, in_terminal, expected) in
        [("pty", false, "ttt"), ("null", true, "-tt"), ("inherit", true, "ttt"), ("inherit", false, "-tt")]
    {
        assert_eq!(terminals(&format!("$IW --stdin {option} --"), "", in_terminal), expected, "{option}");
    }
    let output = Run::new(&["--stdin", "null"], &["cat"]).output_of(b"not for you");
    assert!(output.stdout.is_empty());
    let output = Run::new(&["--stdin", "pty"], &["cat"]).output_of(b"typed\nwithout end");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "typed\nwithout end");
}

#[test]
fn errors_stay_apart_from_output() {
    for options in ["", "--pty mirror", "--pty never"] {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("$IW {options} -- sh -c 'echo out; echo err >&2' 2>err");
        let run = Run::script("sh", &script).folder(folder.path());
        assert_eq!(run.output().stdout, b"out\n");
        assert_eq!(fs::read(folder.path().join("err")).unwrap(), b"err\n");
        assert_eq!(run.in_terminal().finish().0, "out\r\n");
        assert_eq!(fs::read(folder.path().join("err")).unwrap(), b"err\n");
        let output = Run::script("sh", &format!("$IW {options} -- sh -c 'echo out; echo err >&2'")).output();
        assert_eq!((output.stdout, output.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
    }
}

#[test]
fn output_and_errors_that_go_to_one_place_keep_their_order() {
    let script = "i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    for options in [&[][..], &["--pty", "mirror"], &["--pty", "never"]] {
        let folder = tempfile::tempdir().unwrap();
        let [bare, wrapped] = Run::both(options, &["sh", "-c", script]);
        assert_eq!(wrapped.in_pipes().finish().0, bare.in_pipes().finish().0);
        assert_eq!(wrapped.in_terminal().finish().0, bare.in_terminal().finish().0);
        let both = |run: &Run, name: &str| {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            let mut command = run.command();
            command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
            assert!(without_terminal(&mut command).status().unwrap().success());
            fs::read_to_string(folder.path().join(name)).unwrap()
        };
        assert_eq!(both(&wrapped, "wrapped"), both(&bare, "bare"));
    }
}

#[test]
fn output_is_appended_where_a_file_is_open_for_appending() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "echo first >log; $IW -- echo second >>log; (echo third; $IW -- echo fourth; echo fifth) >>log; cat log";
    let output = Run::script("sh", script).folder(folder.path()).output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "first\nsecond\nthird\nfourth\nfifth\n");
}

#[test]
fn a_reader_that_leaves_ends_the_command() {
    for options in ["", "--pty mirror", "--pty never"] {
        for endless in [
            "yes",
            "sh -c \"trap '' PIPE; while echo y; do :; done\"",
            "perl -e '$SIG{PIPE} = q(IGNORE); 1 while print qq(y\\n)'",
        ] {
            if endless.starts_with("perl") && !has("perl") {
                continue;
            }
            let run = Run::script("bash", &format!("$IW {options} -- {endless} | head -1"));
            assert_eq!(run.output().stdout, b"y\n", "{options} {endless}");
            let (text, status) = run.in_terminal().finish();
            assert!(text.starts_with("y\r\n") && status.success(), "{options} {endless}: {text}");
        }
    }
}

#[test]
fn a_command_whose_reader_left_ends_as_it_does_without() {
    let script = "$P yes | head -1; echo ${PIPESTATUS[0]}";
    for (options, prefix) in [("", ""), ("--pty always", "$IW"), ("--pty mirror", "$IW"), ("--pty never", "$IW")] {
        let run = Run::script("bash", &script.replace("$P", &format!("{prefix} {options}")));
        assert_eq!(run.output().stdout, b"y\n141\n", "{options}");
    }
}

#[test]
fn closed_streams_stay_closed() {
    let folder = tempfile::tempdir().unwrap();
    for options in ["", "--pty mirror", "--pty never"] {
        for (redirections, expected) in [("<&-", "0"), (">&-", "1"), ("2>&-", "2"), ("<&- >&- 2>&-", "012")] {
            // `[` is the shell itself, so /proc/self is the command.
            let ask = "for fd in 0 1 2; do [ -e /proc/self/fd/$fd ] || printf $fd >&3; done";
            let script = format!("$IW {options} -- sh -c '{ask}' 3>seen {redirections}");
            for in_terminal in [false, true] {
                let run = Run::script("sh", &script).folder(folder.path());
                let status = if in_terminal { run.in_terminal().finish().1 } else { run.output().status };
                assert!(status.success(), "{script}");
                let seen = fs::read_to_string(folder.path().join("seen")).unwrap();
                assert_eq!(seen, expected, "{script} in a terminal: {in_terminal}");
            }
        }
    }
}

#[test]
fn a_writer_learns_that_the_command_closed_its_input() {
    for options in [&[][..], &["--pty", "mirror"], &["--pty", "never"]] {
        let mut run = Run::sh(options, "exec <&-; echo closed; while [ ! -e go ]; do sleep 0.02; done");
        let folder = tempfile::tempdir().unwrap();
        run = run.folder(folder.path());
        let mut command = run.command();
        let mut child = without_terminal(&mut command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 7]).unwrap();
        until("a broken pipe", || stdin.write_all(b"x").is_err());
        fs::write(folder.path().join("go"), "").unwrap();
        assert!(child.wait().unwrap().success());
    }
}

/// How a command ends that closes one of its streams and then waits until its reader has seen the end of it.
fn ends_after_closing(options: &[&str], stream: i32) -> Option<i32> {
    let folder = tempfile::tempdir().unwrap();
    let wait = "i=0; while [ ! -e go ]; do sleep 0.02; i=$((i+1)); [ $i -lt 250 ] || exit 9; done";
    let mut command = Run::sh(options, &format!("exec {stream}>&-; {wait}")).folder(folder.path()).command();
    without_terminal(&mut command).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let mut text = Vec::new();
    let reader: &mut dyn Read = if stream == 1 { &mut stdout } else { &mut stderr };
    reader.read_to_end(&mut text).unwrap();
    fs::write(folder.path().join("go"), "").unwrap();
    assert!(text.is_empty());
    child.wait().unwrap().code()
}

#[test]
fn a_reader_learns_that_the_command_closed_its_output() {
    for mode in ["never", "mirror", "always"] {
        assert_eq!(ends_after_closing(&["--pty", mode], 1), Some(0), "{mode}: the end came only with the command's");
    }
}

#[test]
fn an_inherited_pipe_ends_when_the_command_closes_it() {
    let folder = tempfile::tempdir().unwrap();
    let command = "exec 3>&-; i=0; while [ ! -e go ]; do sleep 0.02; i=$((i+1)); [ $i -lt 500 ] || exit 9; done";
    let script = format!("mkfifo p; (cat p; touch go) & $IW -- sh -c '{command}' 3>p; code=$?; wait; exit $code");
    let run = Run::script("bash", &script).folder(folder.path());
    assert_eq!(run.output().status.code(), Some(0));
}

#[test]
fn no_carriage_return_is_added_where_no_terminal_shows_it() {
    for options in [&[][..], &["--pty", "mirror"], &["--pty", "never"]] {
        let output = Run::sh(options, r"printf 'a\nb\r\nc\n'; printf 'e\n' >&2").output();
        assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"a\nb\r\nc\n"[..], &b"e\n"[..]));
        let folder = tempfile::tempdir().unwrap();
        let script = format!(r"$IW {} -- printf 'a\nb\n' >out; $IW -- cat out", options.join(" "));
        let run = Run::script("sh", &script).folder(folder.path());
        assert_eq!(run.in_terminal().finish().0, "a\r\nb\r\n");
        assert_eq!(fs::read(folder.path().join("out")).unwrap(), b"a\nb\n");
    }
}

#[test]
fn a_hundred_run_at_once() {
    let runs: Vec<_> = (0..100)
        .map(|number| {
            thread::spawn(move || {
                let run = Run::sh(&[], &format!("read x; echo $x {number}; exit {number}"));
                if number % 2 == 0 {
                    let output = run.output_of(b"hello\n");
                    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
                } else {
                    let mut terminal = run.in_terminal();
                    let (text, status) = terminal.enter("hello\n").finish_bytes();
                    (String::from_utf8_lossy(&text).replace("\r\n", "\n"), status.code())
                }
            })
        })
        .collect();
    for (number, run) in (0..).zip(runs) {
        let (text, code) = run.join().unwrap();
        assert!(text.ends_with(&format!("hello {number}\n")), "{text}");
        assert_eq!(code, Some(number));
    }
}

#[test]
fn output_that_cannot_be_written_is_no_success() {
    for script in ["echo important", "echo important; sleep 0.2", "echo important; sleep 0.2; exit 0"] {
        let output = Run::script("sh", &format!("$IW -- sh -c '{script}' >/dev/full")).output();
        assert_eq!(output.status.code(), Some(125), "{script}");
        let said = crate::support::stderr(&output);
        assert!(said.contains("cannot write to standard output: No space left on device"), "{said}");
        let shown = Run::script("sh", &format!("$IW -- sh -c '{script}' >/dev/full; echo \"code $?\""))
            .in_terminal()
            .finish()
            .0;
        assert!(shown.contains("cannot write to standard output") && shown.contains("code 125"), "{shown}");
    }
    let output = Run::script("sh", "$IW --preserve-status -- echo important >/dev/full").output();
    assert_eq!(output.status.code(), Some(125));
    // Its own status says enough.
    let output = Run::script("sh", "$IW -- sh -c 'echo important; exit 7' >/dev/full").output();
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn a_command_that_takes_a_reader_that_has_left_well_has_its_own_status() {
    for options in ["", "--pty mirror", "--pty never"] {
        let script = format!(
            "{{ $IW {options} -- sh -c 'trap \"exit 0\" PIPE; while :; do echo y; done'; echo $? >code; }} | head -n 1"
        );
        let folder = tempfile::tempdir().unwrap();
        Run::script("sh", &script).folder(folder.path()).output();
        assert_eq!(fs::read_to_string(folder.path().join("code")).unwrap(), "0\n", "{options}");
    }
}

#[test]
fn a_script_in_the_background_leaves_the_keyboard_to_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let script = "$IW -- sh -c 'touch started; exec sleep 300' </dev/null >/dev/null 2>&1 & \
                  until [ -e started ]; do sleep 0.01; done; printf 'name? '; read name; echo \"hello <$name>\"; kill $!";
    let mut run = Run::script("sh", script).folder(folder.path()).in_terminal();
    run.wait_for("name? ");
    assert_eq!(run.settings(), run.found());
    run.enter("bob\n").wait_for("hello <bob>");
    assert!(run.finish().1.success());
}

#[test]
fn a_terminal_that_the_command_reads_directly_is_left_as_it_is() {
    for pty in ["always", "mirror", "never"] {
        let mut run = Run::new(&["--stdin", "inherit", "--pty", pty], &["cat"]).in_terminal();
        // Shown by the terminal, and then by the command.
        run.enter("a wor\x7frd\n").wait_for("rd\r\n").wait_for("a word");
        run.enter("\x04");
        assert!(run.finish().1.success(), "{pty}");
        let mut run = Run::sh(&["--stdin", "inherit", "--pty", pty], "echo ready; exec cat").in_terminal();
        run.wait_for("ready").enter("\x03");
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&run.finish().1), Some(libc::SIGINT), "{pty}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn input_that_another_reader_was_faster_to_take_is_not_waited_for() {
    if !can_fail() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("pipe");
    nix::unistd::mkfifo(&name, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut pipe = fs::File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(&name).unwrap();
    // Between having been told that there is something and reading it.
    let slow = "strace -D -qq -o /dev/null -P $PWD/pipe -e inject=read:delay_enter=1s";
    let script = format!("exec {slow} $IW --stdin pty -- sh -c 'echo ready; exec cat' <pipe");
    let mut run = Run::script("sh", &script).folder(folder.path()).in_pipes();
    let pid = run.wait_for("ready").pid();
    until("what is taken from it", || {
        pipe.write_all(b"x").unwrap();
        until("its read", || reads(pid, &name));
        pipe.read(&mut [0; 16]).is_ok()
    });
    run.signal(libc::SIGTERM);
    assert_eq!(run.finish().1.signal(), Some(libc::SIGTERM));
}
