//! The command finds its surroundings as idlewatch found them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Run, has};

/// An option without effect, for what is only the same in a terminal: without one, idlewatch makes one.
const IN_TERMINAL: &str = "--pty always";

/// Runs a shell script around `$P COMMAND` without and with idlewatch, with pipes and in a terminal, and compares.
fn same(options: &str, script: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "abcdef").unwrap();
    let run = |prefix: &str| Run::bare(&["sh", "-c", script]).variable("P", prefix).folder(folder.path());
    let (bare, wrapped) = (run(""), run(&format!("{} {options} --", crate::support::program())));
    let without = |text: Vec<u8>| String::from_utf8(text).unwrap();
    if !options.contains(IN_TERMINAL) {
        assert_eq!(without(wrapped.output().stdout), without(bare.output().stdout), "{script}");
    }
    assert_eq!(wrapped.in_terminal().finish().0, bare.in_terminal().finish().0, "{script}");
}

#[test]
fn umask_limits_niceness_and_folder_are_kept() {
    same("", "umask 027; $P sh -c umask");
    same("", "ulimit -n 123; ulimit -c 0; ulimit -s 4096; $P sh -c 'ulimit -a'");
    same("", "$P nice; nice -n 7 $P nice");
    same("", "$P pwd; cd /; $P pwd");
    same("", "$P sh -c 'cat /proc/self/oom_score_adj; cat /proc/self/cgroup'");
}

#[test]
fn the_environment_is_kept() {
    same("--pty mirror", "unset P_; A='' B='x y' $P sh -c 'unset P _; exec env' | sort");
    // With a terminal there is no reason to keep pagers away either.
    let [bare, wrapped] = Run::both(&[], &["env"]);
    assert_eq!(wrapped.in_terminal().finish().0, bare.in_terminal().finish().0);
}

#[test]
fn variables_stay_in_their_order_where_pagers_are_kept_away() {
    let script = "exec env -i PATH=\"$PATH\" Z=1 PAGER=less A=2 \"$IW\" -- env";
    let output = Run::script("sh", script).output();
    let text = String::from_utf8(output.stdout).unwrap();
    let variables: Vec<&str> = text.lines().skip(1).collect();
    let added = ["GIT_PAGER", "MANPAGER", "SYSTEMD_PAGER", "BAT_PAGER", "DELTA_PAGER", "GH_PAGER"];
    let mut expected: Vec<String> = ["Z=1", "PAGER=cat", "A=2"].map(ToOwned::to_owned).into();
    expected.extend(added.map(|name| format!("{name}=cat")));
    expected.push("AWS_PAGER=".to_owned());
    assert_eq!(variables, expected);
}

#[test]
fn a_script_that_names_no_interpreter_is_run_by_the_shell_with_the_same_variables() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    fs::write(&script, "echo \"$0 $* $PAGER $A\"").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let run = Run::new(&[], &["./script", "one", "two three"]).folder(folder.path()).variable("A", "b");
    assert_eq!(String::from_utf8_lossy(&run.output().stdout), "./script one two three cat b\n");
    let text = run.variable("PAGER", "more").in_terminal().finish().0;
    assert_eq!(text, "./script one two three more b\r\n");
}

#[test]
fn descriptors_are_inherited_and_none_is_added() {
    let list = "ls -1 /proc/self/fd";
    same("", &format!("$P {list}"));
    same("", &format!("$P {list} 3<file 7>/dev/null"));
    same("", &format!("$P {list} <&-"));
    same("", &format!("$P {list} 2>&-"));
    same("", &format!("$P {list} <&- 2>&- 9<file"));
    same("", &format!("$P sh -c '{list} >&3' 3>listed >&-; cat listed"));
    same("", &format!("$P sh -c '{list} >&3' 3>listed <&- >&- 2>&-; cat listed"));
}

#[test]
fn an_inherited_descriptor_shares_its_offset() {
    same("", "exec 3<file; head -c2 <&3 >/dev/null; $P sh -c 'dd bs=1 count=2 <&3 2>/dev/null'; cat <&3");
    same("", "exec 3<>file; $P sh -c 'printf XY >&3'; cat <&3; cat file");
}

#[test]
fn standard_input_is_read_no_further_than_the_command_reads_it() {
    same("", "(head -c1; $P dd bs=1 count=2 2>/dev/null; cat) <file");
    same("", "printf 'one\\ntwo\\nthree\\n' | ($P sh -c 'read x; echo got $x'; cat)");
}

#[test]
fn signal_state_is_as_it_was_found() {
    let show = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status";
    same("", &format!("$P {show}"));
    same("", &format!("trap '' PIPE INT USR1 TSTP TTOU CHLD; $P {show}"));
    same("", &format!("trap '' HUP TERM QUIT TTIN WINCH; $P {show}"));
    same("", &format!("env --ignore-signal $P {show}"));
    same("", &format!("env --block-signal=USR1,TERM,PIPE,CHLD,WINCH,RTMIN $P {show}"));
    same("", &format!("env --default-signal=PIPE $P {show}"));
    same("--pty mirror", &format!("$P {show}"));
    same("--pty never", &format!("trap '' PIPE INT; $P {show}"));
}

#[test]
fn under_nohup_a_hangup_stays_ignored() {
    if !has("nohup") {
        return;
    }
    same(
        "",
        "nohup $P grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status 2>/dev/null; cat nohup.out 2>/dev/null; rm -f nohup.out",
    );
    let mut run = Run::bare(&["sh", "-c", r#"exec nohup "$IW" -- sh -c 'echo begun; read x; echo got $x'"#]).in_pipes();
    run.wait_for("begun").signal(libc::SIGHUP).enter("hello\n").wait_for("got hello");
    assert!(run.finish().1.success());
}

#[test]
fn what_was_ignored_reaches_a_command_that_has_a_use_for_it() {
    if !has("python3") {
        return;
    }
    let server = "import os, signal, sys\nnames = sys.argv[1:]\n\
                  def hear(number, frame):\n os.write(1, b'heard %s\\n' % signal.Signals(number).name.encode()); sys.exit()\n\
                  for name in names: signal.signal(getattr(signal, name), hear)\n\
                  print('begun', flush=True)\nwhile True: signal.pause()";
    for (ignores, name, number) in [
        ("trap '' INT QUIT HUP", "SIGINT", libc::SIGINT),
        ("trap '' INT QUIT HUP", "SIGQUIT", libc::SIGQUIT),
        ("trap '' INT QUIT HUP", "SIGHUP", libc::SIGHUP),
        ("trap '' USR1", "SIGUSR1", libc::SIGUSR1),
    ] {
        let script = format!("{ignores}; exec \"$IW\" -- python3 -c \"$1\" {name}");
        let mut run = Run::bare(&["sh", "-c", &script, "sh", server]).in_pipes();
        run.wait_for("begun").signal(number).wait_for(format!("heard {name}"));
        assert!(run.finish().1.success(), "{name}");
    }
    // One that has no use for it goes on, and so does its end.
    let script = "trap '' INT HUP; exec \"$IW\" -- sh -c 'echo begun; read x; echo got $x'";
    let mut run = Run::bare(&["sh", "-c", script]).in_pipes();
    run.wait_for("begun").signal(libc::SIGINT).signal(libc::SIGHUP).enter("hello\n").wait_for("got hello");
    assert!(run.finish().1.success());
}

#[test]
fn the_process_group_and_session_look_as_they_do_without() {
    // Whether it leads its group and its session, and whether it is in the foreground of its terminal.
    let show = r#"perl -e '
        open my $stat, "<", "/proc/self/stat"; my @f = split / /, (<$stat> =~ s/.*\) //r);
        my ($group, $session, $front) = @f[2, 3, 5];
        printf "%d %d %d %d\n", $group == $$, $session == $$, $front == $group, $front > 0'"#;
    if !has("perl") {
        return;
    }
    same(IN_TERMINAL, &format!("exec $P {show}"));
    same(IN_TERMINAL, &format!("$P {show}; true"));
    same("--pty mirror", &format!("$P {show}; true"));
}
