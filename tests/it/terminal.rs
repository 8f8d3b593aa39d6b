//! The command's terminal is like the one idlewatch runs in.

use std::fs;

use nix::sys::termios::{InputFlags, LocalFlags, OutputFlags, SpecialCharacterIndices as Key, Termios};

use crate::exhaustion::can_fail;
use crate::support::{Run, program, send};

#[test]
fn the_size_is_that_of_the_outer_terminal() {
    let run = Run::new(&[], &["stty", "size"]);
    assert_eq!(run.in_terminal_of(132, 43).finish().0, "43 132\r\n");
    assert_eq!(run.in_terminal_of(0, 0).finish().0, "0 0\r\n");
    let script = "$IW -- sh -c 'stty size <&1' >out; cat out";
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Run::script("sh", script).folder(folder.path()).in_terminal_of(99, 11).finish().0, "11 99\r\n");
}

#[test]
fn the_size_is_ordinary_without_an_outer_terminal_or_as_asked_for() {
    let ask = "stty size <&1; stty size <&2; stty size </dev/tty";
    assert_eq!(Run::sh(&[], ask).output().stdout, b"24 80\n24 80\n24 80\n");
    assert_eq!(Run::sh(&["--size", "100x30"], ask).output().stdout, b"30 100\n30 100\n30 100\n");
    assert_eq!(Run::sh(&["--size", "100x30"], "stty size").in_terminal().finish().0, "30 100\r\n");
}

#[test]
fn a_resize_reaches_the_command() {
    let script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done";
    for mut run in Run::both(&[], &["sh", "-c", script]).into_iter().map(|run| run.in_terminal()) {
        run.wait_for("ready").resize(100, 30).wait_for("30 100\r\n").resize(33, 12).wait_for("12 33\r\n");
        run.signal(libc::SIGTERM).finish_bytes();
    }
}

#[test]
fn a_resize_reaches_output_that_goes_elsewhere_too() {
    let folder = tempfile::tempdir().unwrap();
    let script = "$IW -- sh -c 'exec 4>&1; echo ready >/dev/tty; while [ \"$(stty size <&4)\" != \"30 100\" ]; do sleep 0.02; done' >out";
    let mut run = Run::script("sh", script).folder(folder.path()).in_terminal();
    run.wait_for("ready").resize(100, 30);
    assert!(run.finish().1.success());
}

#[test]
fn a_fixed_size_stays_fixed() {
    let script = "trap 'stty size; exit' USR1; echo ready; while :; do sleep 0.02; done";
    let mut run = Run::sh(&["--size", "70x20"], script).in_terminal();
    run.wait_for("ready").resize(100, 30).signal(libc::SIGWINCH).signal(libc::SIGUSR1).wait_for("20 70");
    assert!(run.finish().1.success());
}

fn usual(_: &mut Termios) {}

fn unusual(settings: &mut Termios) {
    settings.control_chars[Key::VINTR as usize] = 0x18;
    settings.control_chars[Key::VEOF as usize] = 0x05;
    settings.control_chars[Key::VERASE as usize] = 0x08;
    settings.control_chars[Key::VSUSP as usize] = 0;
    settings.local_flags.remove(LocalFlags::ECHOCTL | LocalFlags::IEXTEN);
    settings.local_flags.insert(LocalFlags::TOSTOP | LocalFlags::ECHONL);
    settings.input_flags.remove(InputFlags::IXON);
    settings.input_flags.insert(InputFlags::IXANY | InputFlags::IUTF8 | InputFlags::ISTRIP);
}

fn without_returns(settings: &mut Termios) {
    settings.output_flags.remove(OutputFlags::ONLCR);
    settings.local_flags.remove(LocalFlags::ECHO);
}

fn without_processing(settings: &mut Termios) {
    settings.output_flags.remove(OutputFlags::OPOST);
    settings.local_flags.remove(LocalFlags::ISIG | LocalFlags::ICANON);
}

#[test]
fn the_settings_are_those_of_the_outer_terminal_and_stay_so() {
    for change in [usual, unusual, without_returns, without_processing] {
        let [bare, wrapped] =
            Run::both(&[], &["sh", "-c", "stty -a; stty -g"]).map(|run| run.in_terminal_with(80, 24, change));
        let mut runs = [bare, wrapped];
        let [bare, wrapped] = runs.each_mut().map(|run| String::from_utf8_lossy(&run.finish_bytes().0).into_owned());
        assert_eq!(wrapped, bare);
        assert_eq!(runs[1].settings(), runs[1].found());
    }
}

#[test]
fn settings_that_the_command_changes_work_and_do_not_outlive_it() {
    let mut run = Run::sh(&[], "stty -echo -icanon; echo ready; head -c 3; stty raw").in_terminal();
    let before = run.found();
    run.wait_for("ready\r\n").enter("abc");
    let text = String::from_utf8_lossy(&run.finish_bytes().0).into_owned();
    assert_eq!(text, "ready\r\nabc");
    assert_eq!(run.settings(), before);
}

#[test]
fn the_controlling_terminal_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo question >/dev/tty; read answer </dev/tty; echo got $answer";
    fs::write(folder.path().join("ask"), script).unwrap();
    for redirections in ["", ">out", "2>err", "</dev/null", "</dev/null >out 2>err"] {
        for prefix in ["", "$IW --"] {
            let script = format!("{prefix} sh ask {redirections}; [ ! -e out ] || cat out; rm -f out err");
            let mut run = Run::script("sh", &script).folder(folder.path()).in_terminal();
            run.wait_for("question").enter("yes\n").wait_for("got yes");
            assert!(run.finish().1.success(), "{script}");
        }
    }
}

#[test]
fn without_an_outer_terminal_what_is_said_to_the_terminal_is_seen() {
    let output = Run::sh(&[], "echo shown >/dev/tty; echo printed").output();
    // Where the errors go: a terminal is where a program speaks to a person.
    assert_eq!(output.stdout, b"printed\n");
    assert_eq!(output.stderr, b"shown\n");
}

#[test]
fn others_of_a_script_print_to_its_terminal_as_if_it_were_theirs() {
    let script = "(until [ -e go ]; do sleep 0.01; done; echo beside; touch done) & \
                  $IW -- sh -c 'echo own; touch go; until [ -e done ]; do sleep 0.01; done; echo own again'; wait; echo end";
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::script("sh", script).folder(folder.path()).in_terminal();
    assert_eq!(run.finish_bytes().0, b"own\r\nbeside\r\nown again\r\nend\r\n");
    assert_eq!(run.settings(), run.found());
}

#[test]
fn a_script_shows_what_was_printed_under_the_settings_it_was_printed_for() {
    // Each line is printed right before the settings change: whoever looked at them afterwards would take it wrong.
    let drawing = "for n in 1 2 3 4 5 6 7 8 9; do echo lines; printf 'half a line'; stty raw; \
                   printf 'down\\nacross\\r\\nboth\\n\\n'; stty sane; echo lines again; stty -onlcr; printf 'down\\n'; \
                   stty onlcr; done";
    let [bare, wrapped] = ["", "$IW -- "].map(|prefix| {
        let mut run = Run::script("sh", &format!("{prefix}sh -c \"$DRAWING\"; echo end"))
            .variable("DRAWING", drawing)
            .in_terminal();
        String::from_utf8_lossy(&run.finish_bytes().0).into_owned()
    });
    assert!(bare.contains("down\nacross\r\nboth\n\nlines again\r\ndown\nlines\r\n"), "{bare:?}");
    assert_eq!(wrapped, bare);
}

#[test]
fn a_long_output_in_a_script_is_shown_as_without() {
    let [bare, wrapped] = ["", "$IW -- "].map(|prefix| {
        let mut run = Run::script("sh", &format!("{prefix}seq 1 60000; echo end")).in_terminal();
        String::from_utf8_lossy(&run.finish_bytes().0).into_owned()
    });
    // Where a read ends between the two and the rest is late, the return is there twice, which shows nothing.
    assert!(wrapped.replace("\r\r\n", "\r\n") == bare);
}

#[test]
fn whoever_is_told_of_a_new_size_by_somebody_else_takes_it() {
    // In a session of its own, so that the kernel says nothing.
    let inner = "trap \"stty size\" WINCH; echo ready; while :; do sleep 0.02; done";
    let outer = format!("echo \"pid=$$;\"; exec $IW -- sh -c '{inner}'");
    let mut run = Run::bare(&["setsid", "-w", "sh", "-c", &outer]).in_terminal_of(80, 24);
    let pid = run.number("pid");
    run.wait_for("ready");
    send(pid, libc::SIGWINCH);
    // Nothing has changed, but the command is to draw itself anew.
    run.wait_for("24 80").resize(100, 30);
    send(pid, libc::SIGWINCH);
    run.wait_for("30 100");
    send(pid, libc::SIGKILL);
    run.finish();
}

#[test]
fn a_new_size_is_not_missed_while_the_command_is_started() {
    if !can_fail() {
        return;
    }
    // Between having asked for the size and being ready to hear of another.
    let slow = ["-qq", "-o", "/dev/null", "-P", "/dev/ptmx", "-e", "inject=openat:delay_enter=1s"];
    let script = "until [ \"$(stty size)\" = '33 77' ]; do sleep 0.02; done; echo resized";
    let command = [&["strace"], &slow[..], &[program(), "--", "sh", "-c", script]].concat();
    let mut run = Run::bare(&command).in_terminal_of(80, 24);
    run.until("the terminal is open once more", |run| {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", run.pid())).unwrap_or_default();
        let opened = |fd: fs::DirEntry| {
            let number: Option<i32> = fd.file_name().to_str().and_then(|name| name.parse().ok());
            number > Some(2) && fs::read_link(fd.path()).is_ok_and(|file| file.starts_with("/dev/pts"))
        };
        let open = |child: &str| fs::read_dir(format!("/proc/{child}/fd")).is_ok_and(|fds| fds.flatten().any(opened));
        run.has_ended() || children.split_whitespace().any(open)
    });
    run.resize(77, 33).wait_for("resized");
    assert!(run.finish().1.success());
}
