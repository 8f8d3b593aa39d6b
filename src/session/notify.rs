//! What a service manager is told, where we are its service: systemd's protocol, and that of those who speak it too.
//!
//! With `WatchdogSec=` the manager ends a service that does not say in time that it is well. We say so only as long as
//! the command is not stuck.

use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use crate::report::plain;
use crate::watch::{Event, Moment, State};

/// Nobody has to know more often than this.
const SHORTEST: Duration = Duration::from_millis(10);

/// The variables by which a manager says where and how often. What is for us is not for the command.
pub const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// A guard that speaks for the command is asked again after a while; the answer may take this long.
const ANSWER: Duration = Duration::from_secs(10);

/// The longest status that is sent.
const LONGEST: usize = 500;

/// The line to the manager.
#[derive(Debug)]
pub struct Notify {
    socket: UnixDatagram,
    /// How often the manager wants to hear that all is well.
    every: Option<Duration>,
    next: Moment,
    /// The command is stuck.
    stuck: bool,
    /// So long somebody speaks for it nevertheless.
    spoken_for: Moment,
    /// That it was started has not reached the manager.
    unready: bool,
}

impl Notify {
    /// The manager that the environment names, if there is one and it listens.
    pub fn find() -> Option<Self> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let manager = address(variable(VARIABLES[0])?.as_encoded_bytes())?;
        let socket = UnixDatagram::unbound().ok()?;
        socket.set_nonblocking(true).ok()?;
        socket.connect_addr(&manager).ok()?;
        let number = |name: &str| variable(name).and_then(|value| value.to_str()?.parse::<u64>().ok());
        let mine = variable(VARIABLES[2]).is_none() || number(VARIABLES[2]) == Some(u64::from(std::process::id()));
        // Twice in the time, as the manager's own manual has it.
        let every = number(VARIABLES[1])
            .filter(|time| mine && *time > 1)
            .map(|time| Duration::from_micros(time / 2).max(SHORTEST));
        let (next, spoken_for) = (Moment::START, Moment::START);
        Some(Self { socket, every, next, stuck: false, spoken_for, unready: true })
    }

    /// The command was started, for the first time or again.
    pub fn begin(&mut self) {
        (self.next, self.spoken_for, self.stuck) = (Moment::START, Moment::START, false);
        self.send("STATUS=active");
        self.mind(Moment::START);
    }

    /// Something happened.
    pub fn event(&mut self, at: Moment, event: &Event) {
        match event {
            Event::StateChanged { to, evidence, .. } => {
                self.stuck = matches!(to, State::Stalled | State::Looping | State::Overtime);
                self.spoken_for = Moment::START;
                let status = plain(&format!("{to}: {evidence}"));
                self.send(&format!("STATUS={}", &status[..status.floor_char_boundary(LONGEST)]));
            }
            Event::GuardDeferred { recheck, .. } => self.spoken_for = at + *recheck + ANSWER,
            Event::Relaunched { .. } => self.send("STATUS=relaunching"),
            _ => {}
        }
        self.mind(at);
    }

    /// When the manager has to be told next that all is well; never while it is not.
    pub fn deadline(&self) -> Option<Moment> {
        self.every.filter(|_| !self.stuck || self.next <= self.spoken_for).map(|_| self.next)
    }

    /// How often it has to be told.
    pub fn every(&self) -> Option<Duration> {
        self.every
    }

    /// Says that all is well, if it is and the time has come.
    pub fn mind(&mut self, now: Moment) {
        if let (Some(every), true) = (self.every, self.deadline().is_some_and(|deadline| now >= deadline)) {
            self.next = now + every;
            if !self.stuck || now <= self.spoken_for {
                self.send("WATCHDOG=1");
            }
        }
    }

    /// Nothing runs, and that is as it should be.
    pub fn pause(&mut self) {
        self.send("WATCHDOG=1");
    }

    /// The run is over.
    pub fn close(&mut self) {
        self.send("STOPPING=1");
    }

    /// Sends it if the manager can take it. What it cannot take is old news soon, except that we are ready.
    fn send(&mut self, message: &str) {
        let sent = if self.unready {
            self.socket.send(format!("READY=1\n{message}").as_bytes())
        } else {
            self.socket.send(message.as_bytes())
        };
        self.unready &= sent.is_err();
    }
}

/// A path, or a name that is in no folder.
fn address(name: &[u8]) -> Option<SocketAddr> {
    use std::os::unix::ffi::OsStrExt;
    match name {
        #[cfg(target_os = "linux")]
        [b'@', name @ ..] => <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name).ok(),
        [b'/', ..] => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(name)).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notify() -> (Notify, UnixDatagram) {
        let (socket, manager) = UnixDatagram::pair().unwrap();
        socket.set_nonblocking(true).unwrap();
        manager.set_nonblocking(true).unwrap();
        let every = Some(Duration::from_secs(10));
        let (next, spoken_for) = (Moment::START, Moment::START);
        (Notify { socket, every, next, stuck: false, spoken_for, unready: true }, manager)
    }

    fn heard(manager: &UnixDatagram) -> Vec<String> {
        let mut buffer = [0; 1000];
        let next =
            || manager.recv(&mut buffer).ok().map(|length| String::from_utf8_lossy(&buffer[..length]).into_owned());
        std::iter::from_fn(next).collect()
    }

    fn at(seconds: u64) -> Moment {
        Moment::after_start(Duration::from_secs(seconds))
    }

    fn state(to: State) -> Event {
        Event::StateChanged { from: State::Active, to, evidence: "so\u{1b}\nit is".to_owned() }
    }

    #[test]
    fn it_is_well_until_it_is_stuck() {
        let (mut notify, manager) = notify();
        notify.begin();
        assert_eq!(heard(&manager), ["READY=1\nSTATUS=active", "WATCHDOG=1"]);
        assert_eq!(notify.deadline(), Some(at(10)));
        notify.mind(at(9));
        assert!(heard(&manager).is_empty());
        notify.mind(at(10));
        assert_eq!(heard(&manager), ["WATCHDOG=1"]);
        notify.event(at(12), &state(State::Stalled));
        assert_eq!(heard(&manager), ["STATUS=stalled: so it is"]);
        assert_eq!(notify.deadline(), None);
        notify.mind(at(30));
        assert!(heard(&manager).is_empty());
        notify.event(at(31), &state(State::Active));
        assert_eq!(heard(&manager), ["STATUS=active: so it is", "WATCHDOG=1"]);
        notify.close();
        assert_eq!(heard(&manager), ["STOPPING=1"]);
    }

    #[test]
    fn a_guard_that_speaks_for_the_command_speaks_to_the_manager_too() {
        let (mut notify, manager) = notify();
        notify.begin();
        notify.event(at(5), &state(State::Stalled));
        let (guard, reason) = (crate::watch::Guard::Cpu, String::new());
        let recheck = Duration::from_secs(20);
        notify.event(at(6), &Event::GuardDeferred { guard, reason, recheck, left: None });
        heard(&manager);
        notify.mind(at(10));
        assert_eq!(heard(&manager), ["WATCHDOG=1"]);
        notify.mind(at(37));
        assert!(heard(&manager).is_empty());
        assert_eq!(notify.deadline(), None);
    }

    #[test]
    fn a_manager_that_is_slow_learns_later_that_it_was_started() {
        let (mut notify, manager) = notify();
        while notify.socket.send(b"STATUS=x").is_ok() {}
        notify.begin();
        heard(&manager);
        notify.event(at(1), &state(State::Quiet));
        assert!(heard(&manager)[0].starts_with("READY=1\nSTATUS=quiet"));
    }

    #[test]
    fn names_that_are_no_addresses_are_none() {
        assert!(address(b"").is_none() && address(b"vsock:2:1").is_none() && address(&[b'/'; 300]).is_none());
        assert!(address(b"/run/x").is_some());
    }
}
