//! A service manager is told how it goes, over a real socket.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::{Child, Stdio};

use crate::support::{Run, until, without_terminal};

/// A manager that listens.
struct Manager {
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl Manager {
    fn new(socket: UnixDatagram) -> Self {
        socket.set_nonblocking(true).unwrap();
        Self { socket, heard: Vec::new() }
    }

    fn listen(&mut self) {
        let mut buffer = [0; 4096];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            self.heard.extend(String::from_utf8_lossy(&buffer[..length]).lines().map(ToOwned::to_owned));
        }
    }

    fn hears(&mut self, line: &str) -> bool {
        self.listen();
        self.heard.iter().any(|heard| heard.starts_with(line))
    }

    fn count(&mut self, line: &str) -> usize {
        self.listen();
        self.heard.iter().filter(|heard| *heard == line).count()
    }
}

fn start(run: &Run) -> Child {
    without_terminal(&mut run.command())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn a_manager_hears_of_the_start_the_states_and_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let mut manager = Manager::new(UnixDatagram::bind(&path).unwrap());
    let run =
        Run::sh(&["--idle", "3s", "--no-guard", "--on-idle", "wait:3s,stop"], "echo $NOTIFY_SOCKET-; exec sleep 300");
    let run = run.variable("NOTIFY_SOCKET", &path).variable("WATCHDOG_USEC", "1000000");
    let mut child = start(&run);
    until("readiness", || manager.hears("READY=1"));
    until("a sign of life", || manager.count("WATCHDOG=1") >= 2);
    until("a status", || manager.hears("STATUS=stalled: screen unchanged for 3s"));
    let before = manager.count("WATCHDOG=1");
    until("the end", || !manager.hears("nothing") && child.try_wait().unwrap().is_some());
    assert_eq!(manager.count("WATCHDOG=1"), before, "{:?}", manager.heard);
    assert_eq!(manager.heard.last().unwrap(), "STOPPING=1");
    assert_eq!(manager.count("READY=1"), 1);
    // What is for us is not for the command.
    assert_eq!(std::io::read_to_string(child.stdout.take().unwrap()).unwrap(), "-\n");
}

#[test]
fn while_a_reader_takes_its_time_the_manager_hears_that_all_is_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let mut manager = Manager::new(UnixDatagram::bind(&path).unwrap());
    // As much as the reader's pipe holds, and a little that waits for it here.
    let run = Run::sh(&[], "head -c 66000 /dev/zero; : >done").folder(folder.path());
    let mut child = start(&run.variable("NOTIFY_SOCKET", &path).variable("WATCHDOG_USEC", "200000"));
    until("its last word", || folder.path().join("done").exists());
    let before = manager.count("WATCHDOG=1");
    until("signs of life", || manager.count("WATCHDOG=1") >= before + 3);
    assert_eq!(child.try_wait().unwrap(), None);
    assert_eq!(child.wait_with_output().unwrap().stdout.len(), 66_000);
}

#[test]
fn a_name_that_is_in_no_folder_is_found_too() {
    let name = format!("idlewatch-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let mut manager = Manager::new(UnixDatagram::bind_addr(&address).unwrap());
    let run = Run::sh(&[], "exit 4").variable("NOTIFY_SOCKET", format!("@{name}"));
    assert_eq!(run.output().status.code(), Some(4));
    assert!(manager.hears("READY=1") && manager.hears("STOPPING=1"));
    assert_eq!(manager.count("WATCHDOG=1"), 0);
}

#[test]
fn a_watchdog_of_somebody_else_is_not_ours() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let mut manager = Manager::new(UnixDatagram::bind(&path).unwrap());
    let run = Run::sh(&[], "sleep 1").variable("NOTIFY_SOCKET", &path).variable("WATCHDOG_USEC", "100000");
    run.variable("WATCHDOG_PID", "1").output();
    assert_eq!(manager.count("WATCHDOG=1"), 0);
    assert!(manager.hears("READY=1"));
}

#[test]
fn what_is_not_used_is_left_to_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let mut manager = Manager::new(UnixDatagram::bind(&path).unwrap());
    let show = "echo $NOTIFY_SOCKET $WATCHDOG_USEC";
    let with = |options: &[&str], socket: &str| {
        let run = Run::sh(options, show).variable("NOTIFY_SOCKET", socket).variable("WATCHDOG_USEC", "5000000");
        String::from_utf8(run.output().stdout).unwrap()
    };
    let name = path.to_str().unwrap();
    assert_eq!(with(&["--no-notify"], name), format!("{name} 5000000\n"));
    assert!(!manager.hears("READY=1"));
    assert_eq!(with(&[], "/nowhere/at/all"), "/nowhere/at/all 5000000\n");
    assert_eq!(with(&[], name), "\n");
}

#[test]
fn between_two_starts_the_manager_hears_that_all_is_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let mut manager = Manager::new(UnixDatagram::bind(&path).unwrap());
    let options = ["--relaunch", "crash", "--relaunch-delay", "2s", "--max-relaunches", "1"];
    let run = Run::sh(&options, "exit 3").variable("NOTIFY_SOCKET", &path).variable("WATCHDOG_USEC", "400000");
    let mut child = start(&run);
    // The kernel keeps only ten messages for a manager that does not read.
    until("the end", || !manager.hears("nothing") && child.try_wait().unwrap().is_some());
    assert_eq!((manager.count("READY=1"), manager.count("STOPPING=1")), (1, 1));
    assert!(manager.count("WATCHDOG=1") >= 10, "{:?}", manager.heard);
    assert!(manager.hears("STATUS=relaunching"));
}
