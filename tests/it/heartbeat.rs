//! The sign of life: when it is given, where, and where not.

use crate::support::Run;

#[test]
fn a_quiet_command_is_said_to_be_there_also_with_quiet() {
    let script = "printf 'working... '; sleep 3; echo done";
    let output = Run::sh(&["-q", "--heartbeat", "1s", "--pty", "never"], script).output();
    assert_eq!(output.stdout, b"working... done\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let beats: Vec<&str> = said.lines().collect();
    assert!(beats.len() >= 2, "{said}");
    for beat in &beats {
        assert!(beat.starts_with("idlewatch: ") && beat.contains("s elapsed, no output for "), "{said}");
    }
}

#[test]
fn it_begins_a_line_of_its_own_once() {
    let script = "$IW -q --heartbeat 700ms -- sh -c 'printf working; sleep 2; echo; echo done' 2>&1";
    let output = Run::script("sh", script).output();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.starts_with("working\nidlewatch: "), "{text}");
    assert!(!text.contains("\n\nidlewatch"), "{text}");
    assert!(text.ends_with("\ndone\n"), "{text}");
}

#[test]
fn a_command_that_prints_needs_none_and_without_being_asked_there_is_none() {
    let script = "i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo $i; sleep 0.05; done";
    assert_eq!(Run::sh(&["--heartbeat", "20s"], script).output().stderr, b"");
    assert_eq!(Run::sh(&[], "sleep 1").output().stderr, b"");
}

#[test]
fn it_says_which_guard_speaks() {
    let options = ["--heartbeat", "1s", "--idle", "2s", "--max-idle", "6s", "--guard", "cmd:true"];
    let output = Run::sh(&options, "exec sleep 300").output();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("(cmd:true guard: 'true' succeeded)"), "{said}");
}

#[test]
fn in_a_terminal_it_is_a_line_where_there_is_room_and_nothing_on_a_drawn_screen() {
    let mut run = Run::sh(&["--heartbeat", "500ms"], "echo begin; read go").in_terminal();
    run.wait_for("begin\r\n").wait_for("elapsed, no output for").wait_for("\r\n").enter("\n");
    run.finish();
    // A screen of its own, and the middle of a line.
    for script in
        ["stty -icanon -echo; printf '\\033[?1049h\\033[Hdrawn'; sleep 3; printf end", "printf 'half a line'; sleep 3"]
    {
        let (text, _) = Run::sh(&["--heartbeat", "500ms"], script).in_terminal().finish();
        assert!(!text.contains("elapsed"), "{text}");
    }
}

#[test]
fn a_reader_of_it_that_has_stopped_holds_nobody_up() {
    let script = "{ yes | head -c 70000 >&2 & $IW --heartbeat 100ms -- sh -c 'sleep 1; echo done >&3'; } 3>&1 2>&4";
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = Run::script("sh", &format!("exec 4>&1 >out; {script}")).command();
    let folder = tempfile::tempdir().unwrap();
    command.current_dir(folder.path()).stdin(std::process::Stdio::null()).stdout(writer);
    let mut child = crate::support::without_terminal(&mut command).spawn().unwrap();
    drop(command);
    crate::support::until("its end", || std::fs::read(folder.path().join("out")).is_ok_and(|out| out == b"done\n"));
    drop(reader);
    child.wait().unwrap();
}
