//! Every byte arrives, unchanged and in order, also at the end.

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

use crate::support::{Run, until_gone, without_terminal};

/// Bytes of every value in an order that does not repeat soon.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    })
    .take(count)
    .collect()
}

fn sum(bytes: &[u8]) -> String {
    let output = Run::bare(&["sha256sum"]).output_of(bytes);
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

#[test]
fn ten_mebibytes_of_binary_input_reach_the_command() {
    let bytes = noise(10 << 20);
    let expected = sum(&bytes);
    for options in [&[][..], &["--pty", "mirror"], &["--pty", "never"]] {
        let output = Run::new(options, &["sha256sum"]).output_of(&bytes);
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), expected);
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), &bytes).unwrap();
    let run = Run::script("sh", "$IW -- sha256sum <in; cat in | $IW -- sha256sum").folder(folder.path());
    assert_eq!(run.in_terminal().finish().0, format!("{expected}\r\n{expected}\r\n"));
}

#[test]
fn binary_output_arrives_unchanged() {
    // A terminal changes newlines on output, and nothing else; without an outer one not even those.
    let bytes = noise(1 << 20);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("noise"), &bytes).unwrap();
    for options in [&[][..], &["--pty", "mirror"], &["--pty", "never"]] {
        let [bare, wrapped] = Run::both(options, &["cat", "noise"]).map(|run| run.folder(folder.path()));
        assert!(wrapped.output().stdout == bytes);
        // No modes are followed in what is noise by intention.
        let quiet: Vec<u8> = bytes.iter().copied().filter(|byte| !matches!(byte, 0x0e | 0x0f | 0x1b)).collect();
        fs::write(folder.path().join("noise"), &quiet).unwrap();
        assert!(wrapped.in_terminal().finish_bytes().0 == bare.in_terminal().finish_bytes().0);
        fs::write(folder.path().join("noise"), &bytes).unwrap();
    }
}

#[test]
fn a_character_cut_in_two_arrives_whole() {
    let folder = tempfile::tempdir().unwrap();
    let script = r"printf 'a\303'; while [ ! -e go ]; do sleep 0.01; done; printf '\251b\360\237'; printf '\246\200\n'";
    for mut run in Run::sh(&[], script).folder(folder.path()).both_ways() {
        run.wait_for(b"a\xc3");
        fs::write(folder.path().join("go"), "").unwrap();
        let text = run.finish_bytes().0;
        assert_eq!(String::from_utf8(text).unwrap().trim_end(), "aéb🦀\u{0}".trim_end_matches('\u{0}'));
        fs::remove_file(folder.path().join("go")).unwrap();
    }
}

#[test]
fn a_long_paste_arrives_in_order() {
    let paste = noise(64 << 10);
    let script = "stty raw -echo; echo ready; head -c 65536 | sha256sum";
    for mut run in Run::both(&[], &["sh", "-c", script]).into_iter().map(|run| run.in_terminal()) {
        run.wait_for("ready").enter(&paste).wait_for(sum(&paste));
        assert!(run.finish().1.success());
    }
}

#[test]
fn letters_that_nobody_reads_yet_are_all_there_later() {
    let folder = tempfile::tempdir().unwrap();
    let script = "stty raw -echo; echo ready; until test -e go; do sleep 0.02; done; head -c 100000 | sha256sum";
    let letters = b"0123456789".repeat(10_000);
    let mut run = Run::sh(&[], script).folder(folder.path()).in_terminal();
    run.wait_for("ready").enter(&letters[..20_000]);
    fs::write(folder.path().join("go"), "").unwrap();
    run.enter(&letters[20_000..]).wait_for(sum(&letters));
}

#[test]
fn a_long_paste_of_lines_arrives_in_order() {
    let mut lines = (0..4000).map(|line| format!("line number {line}\n")).collect::<Vec<_>>().concat();
    let expected = sum(lines.as_bytes());
    lines.push('\x04');
    let mut run = Run::sh(&[], "stty -echo; echo ready; sha256sum").in_terminal();
    run.wait_for("ready").enter(&lines).wait_for(expected);
}

#[test]
fn the_end_of_input_reaches_the_command() {
    for options in [&[][..], &["--pty", "mirror"], &["--pty", "never"]] {
        let output = Run::new(options, &["wc", "-c"]).output_of(b"12345");
        assert_eq!(output.stdout, b"5\n");
        let output = Run::new(options, &["cat"]).output_of(b"");
        assert!(output.stdout.is_empty() && output.status.success());
    }
}

/// A mebibyte of numbered lines, and a script that prints it this often, each run ending at once.
fn mebibyte() -> Vec<u8> {
    let mut text: Vec<u8> = (0..131_072).flat_map(|line| format!("{line:07}\n").into_bytes()).collect();
    text.truncate(1 << 20);
    assert_eq!(text.len(), 1 << 20);
    text
}

#[test]
fn nothing_is_lost_at_the_end_of_two_hundred_runs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("text"), mebibyte()).unwrap();
    let script = "i=0; while [ $i -lt 20 ]; do $IW -- cat text | cmp - text || exit 1; i=$((i+1)); done";
    for _ in 0..10 {
        let output = Run::script("sh", script).folder(folder.path()).output();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn nothing_is_lost_at_the_end_of_two_hundred_runs_in_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let text = mebibyte();
    fs::write(folder.path().join("text"), &text).unwrap();
    let script = "stty -opost; i=0; while [ $i -lt 10 ]; do $IW -- cat text; i=$((i+1)); done";
    for _ in 0..20 {
        let seen = Run::script("sh", script).folder(folder.path()).in_terminal().finish_bytes().0;
        assert_eq!(seen.len(), 10 * text.len());
        assert!(seen.chunks(text.len()).all(|piece| piece == text), "what came is not what was printed");
    }
}

#[test]
fn a_slow_reader_gets_everything() {
    let folder = tempfile::tempdir().unwrap();
    let text = mebibyte();
    fs::write(folder.path().join("text"), &text).unwrap();
    for options in [&[][..], &["--pty", "never"]] {
        let mut command = Run::new(options, &["cat", "text"]).folder(folder.path()).command();
        let mut child = without_terminal(&mut command).stdout(Stdio::piped()).spawn().unwrap();
        let (mut stdout, mut seen, mut buffer) = (child.stdout.take().unwrap(), Vec::new(), [0; 8192]);
        loop {
            match stdout.read(&mut buffer).unwrap() {
                0 => break,
                count => seen.extend_from_slice(&buffer[..count]),
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(seen == text);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn what_nobody_has_read_yet_when_the_command_ends_is_still_there() {
    let folder = tempfile::tempdir().unwrap();
    // More than a pipe holds, and less than everything between the command and its reader.
    let text = &mebibyte()[..100_000];
    fs::write(folder.path().join("text"), text).unwrap();
    let script = "echo pid=$$';' >&2; exec cat text";
    for options in [&[][..], &["--pty", "never"]] {
        let mut command = Run::sh(options, script).folder(folder.path()).command();
        let mut child = without_terminal(&mut command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 16];
        let count = child.stderr.as_mut().unwrap().read(&mut first).unwrap();
        let line = String::from_utf8_lossy(&first[..count]).into_owned();
        until_gone(line.trim().trim_start_matches("pid=").trim_end_matches(';').parse().unwrap());
        let output = child.wait_with_output().unwrap();
        assert!(output.stdout == text && output.status.success());
    }
}
