//! Signals by number and name, real-time signals included.
#![forbid(unsafe_code)]

use std::fmt;
use std::str::FromStr;

/// A signal that exists on this system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signal(i32);

impl Signal {
    /// Hangup.
    pub const HUP: Self = Self(libc::SIGHUP);
    /// Interrupt.
    pub const INT: Self = Self(libc::SIGINT);
    /// Quit.
    pub const QUIT: Self = Self(libc::SIGQUIT);
    /// Kill.
    pub const KILL: Self = Self(libc::SIGKILL);
    /// Terminate.
    pub const TERM: Self = Self(libc::SIGTERM);
    /// Continue.
    pub const CONT: Self = Self(libc::SIGCONT);
    /// Stop.
    pub const STOP: Self = Self(libc::SIGSTOP);
    /// Stop typed at the terminal.
    pub const TSTP: Self = Self(libc::SIGTSTP);
    /// Broken pipe.
    pub const PIPE: Self = Self(libc::SIGPIPE);
    /// Read from the terminal in the background.
    pub const TTIN: Self = Self(libc::SIGTTIN);
    /// Written to the terminal in the background.
    pub const TTOU: Self = Self(libc::SIGTTOU);
    /// The limit on processor time is reached.
    pub const XCPU: Self = Self(libc::SIGXCPU);
    /// A child changed.
    pub const CHLD: Self = Self(libc::SIGCHLD);
    /// A file became too large.
    pub const XFSZ: Self = Self(libc::SIGXFSZ);
    /// Window size changed.
    pub const WINCH: Self = Self(libc::SIGWINCH);

    /// The signal with this number, if there is one.
    pub fn from_number(number: i32) -> Option<Self> {
        (1..=last_number()).contains(&number).then_some(Self(number))
    }

    /// The names of those that have one, without `SIG`.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Its number.
    pub const fn number(self) -> i32 {
        self.0
    }

    /// Whether it is usually sent to end a process.
    pub const fn ends(self) -> bool {
        matches!(self.0, libc::SIGHUP | libc::SIGINT | libc::SIGQUIT | libc::SIGKILL | libc::SIGTERM | libc::SIGABRT)
    }

    /// Whether its default action is to stop a process.
    pub const fn stops(self) -> bool {
        matches!(self.0, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn last_number() -> i32 {
    libc::SIGRTMAX()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn last_number() -> i32 {
    31
}

/// The names, without `SIG`, that have a number of their own.
const NAMES: &[(&str, i32)] = &[
    ("HUP", libc::SIGHUP),
    ("INT", libc::SIGINT),
    ("QUIT", libc::SIGQUIT),
    ("ILL", libc::SIGILL),
    ("TRAP", libc::SIGTRAP),
    ("ABRT", libc::SIGABRT),
    ("BUS", libc::SIGBUS),
    ("FPE", libc::SIGFPE),
    ("KILL", libc::SIGKILL),
    ("USR1", libc::SIGUSR1),
    ("SEGV", libc::SIGSEGV),
    ("USR2", libc::SIGUSR2),
    ("PIPE", libc::SIGPIPE),
    ("ALRM", libc::SIGALRM),
    ("TERM", libc::SIGTERM),
    ("CHLD", libc::SIGCHLD),
    ("CONT", libc::SIGCONT),
    ("STOP", libc::SIGSTOP),
    ("TSTP", libc::SIGTSTP),
    ("TTIN", libc::SIGTTIN),
    ("TTOU", libc::SIGTTOU),
    ("URG", libc::SIGURG),
    ("XCPU", libc::SIGXCPU),
    ("XFSZ", libc::SIGXFSZ),
    ("VTALRM", libc::SIGVTALRM),
    ("PROF", libc::SIGPROF),
    ("WINCH", libc::SIGWINCH),
    ("IO", libc::SIGIO),
    ("SYS", libc::SIGSYS),
];

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => write!(f, "SIG{name}"),
            None => write!(f, "SIG{}", self.0),
        }
    }
}

impl FromStr for Signal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("unknown signal '{text}'; use a name such as TERM, INT or KILL, or a number");
        if let Ok(number) = text.parse() {
            return Self::from_number(number).ok_or_else(unknown);
        }
        let upper = text.to_ascii_uppercase();
        let name = upper.strip_prefix("SIG").unwrap_or(&upper);
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, number)| Self(*number)).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_known_by_name_with_or_without_prefix_and_by_number() {
        for text in ["TERM", "term", "SIGTERM", "15"] {
            assert_eq!(text.parse(), Ok(Signal::TERM), "{text}");
        }
        assert!("SIGNOPE".parse::<Signal>().is_err());
        assert!("0".parse::<Signal>().is_err());
        assert_eq!(Signal::TERM.to_string(), "SIGTERM");
    }
}
