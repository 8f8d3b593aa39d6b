//! Events as JSON lines: one object each, times in milliseconds.

use std::io::{self, Write};
use std::time::SystemTime;

use serde::Serialize;

use super::{Stats, escaped};
use crate::exit::Reason;
use crate::span::milliseconds;
use crate::watch::{Event, Moment};

/// The version of the format.
pub const VERSION: u8 = 1;

/// Writes the events of one run.
#[derive(Debug)]
pub struct JsonLines<W> {
    out: W,
    run: String,
    started: SystemTime,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Object<'e> {
    v: u8,
    #[serde(rename = "type")]
    kind: &'static str,
    at: String,
    run: &'e str,
    elapsed: u64,
    #[serde(flatten)]
    body: Body<'e>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Body<'e> {
    Start { command: &'e [String], pid: i32 },
    Progress { since_activity: u64, loop_suspicion: u8, state: &'static str },
    Exit { code: Option<u8>, reason: &'static str, child_status: Option<u8>, child_signal: Option<String> },
    State { from: &'static str, to: &'static str, evidence: &'e str },
    Idle { since_activity: u64, limit: u64 },
    Timeout { limit: u64 },
    Loop { pattern: &'e str, count: usize, period: u64, loop_suspicion: u8 },
    Deferred { guard: String, reason: &'e str, recheck: u64, cap_left: Option<u64> },
    Nudged { text: &'e str, submitted: bool, failed: Option<&'e str> },
    Signaled { signal: String, reason: &'static str, processes: usize, refused: &'e [String] },
    Ran { command: &'e str, status: Option<i32>, failed: Option<&'e str> },
    Extended { by: u64 },
    Reason { reason: &'static str },
    Gap { length: u64 },
    Relaunched { count: u32, why: &'e str, delay: u64, command: &'e str },
    Stats(&'e Stats),
    Nothing {},
}

impl<W: Write> JsonLines<W> {
    /// Writes to `out` about the run called `run`, which began at `started`.
    pub const fn new(out: W, run: String, started: SystemTime) -> Self {
        Self { out, run, started }
    }

    /// Writes one event as one line; its time of day follows from how long the run had gone on.
    pub fn write(&mut self, at: Moment, event: &Event) -> io::Result<()> {
        let when = self.started.checked_add(at.since_start()).unwrap_or(self.started);
        self.write_dated(when, at, event)
    }

    /// The same, for a run that was not watched all the time: the time of day is known by itself.
    pub fn write_dated(&mut self, when: SystemTime, at: Moment, event: &Event) -> io::Result<()> {
        let (kind, body) = match event {
            Event::Started { command, pid } => ("start", Body::Start { command, pid: *pid }),
            Event::Progress { since_activity, loop_suspicion, state } => {
                let (since_activity, loop_suspicion) = (milliseconds(*since_activity), *loop_suspicion);
                ("progress", Body::Progress { since_activity, loop_suspicion, state: state.name() })
            }
            Event::Ended { code, reason, child_code, child_signal } => {
                let reason = reason.map_or("exited", Reason::name);
                let child_signal = child_signal.map(|signal| signal.to_string());
                ("exit", Body::Exit { code: *code, reason, child_status: *child_code, child_signal })
            }
            Event::StateChanged { from, to, evidence } => {
                ("state", Body::State { from: from.name(), to: to.name(), evidence })
            }
            Event::IdleWarning { since_activity, limit } => {
                let (since_activity, limit) = (milliseconds(*since_activity), milliseconds(*limit));
                ("idle_warning", Body::Idle { since_activity, limit })
            }
            Event::TimeoutWarning { limit, .. } => ("timeout_warning", Body::Timeout { limit: milliseconds(*limit) }),
            Event::LoopWarning { what, suspicion } => (
                "loop_warning",
                Body::Loop {
                    pattern: &what.pattern,
                    count: what.count,
                    period: milliseconds(what.period),
                    loop_suspicion: *suspicion,
                },
            ),
            Event::GuardDeferred { guard, reason, recheck, left } => (
                "guard_deferred",
                Body::Deferred {
                    guard: guard.to_string(),
                    reason,
                    recheck: milliseconds(*recheck),
                    cap_left: left.map(milliseconds),
                },
            ),
            Event::Nudged { text, failed } => {
                ("nudged", Body::Nudged { text, submitted: failed.is_none(), failed: failed.as_deref() })
            }
            Event::Signaled { signal, reason, processes, refused } => {
                let signal = signal.to_string();
                ("signaled", Body::Signaled { signal, reason: reason.name(), processes: *processes, refused })
            }
            Event::Ran { shell, status } => {
                let failed = status.as_ref().err().map(String::as_str);
                ("ran", Body::Ran { command: shell, status: status.as_ref().ok().copied(), failed })
            }
            Event::TimeoutExtended { by } => ("timeout_extended", Body::Extended { by: milliseconds(*by) }),
            Event::ForceStopped { reason } => ("force_stopped", Body::Reason { reason: reason.name() }),
            Event::ForceCompleted => ("force_completed", Body::Nothing {}),
            Event::Gap { length } => ("gap", Body::Gap { length: milliseconds(*length) }),
            Event::Relaunched { count, why, delay, command } => {
                ("relaunched", Body::Relaunched { count: *count, why, delay: milliseconds(*delay), command })
            }
            Event::AnalysisLost => ("analysis_lost", Body::Nothing {}),
        };
        self.write_object(when, at, kind, body)
    }

    /// Writes how the run stands as one line.
    pub fn write_stats(&mut self, when: SystemTime, at: Moment, stats: &Stats) -> io::Result<()> {
        self.write_object(when, at, "session_stats", Body::Stats(stats))
    }

    fn write_object(&mut self, when: SystemTime, at: Moment, kind: &'static str, body: Body<'_>) -> io::Result<()> {
        let object = Object {
            v: VERSION,
            kind,
            at: humantime::format_rfc3339_millis(when).to_string(),
            run: &self.run,
            elapsed: milliseconds(at.since_start()),
            body,
        };
        // Whoever looks at it in a terminal must not be shown something else than there is.
        let line = escaped(&serde_json::to_string(&object)?) + "\n";
        self.out.write_all(line.as_bytes())
    }

    /// What it writes to.
    pub const fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Sends out what is held back.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::watch::{Repetition, State};

    fn line(event: &Event) -> String {
        let mut out = Vec::new();
        let mut json = JsonLines::new(&mut out, "r1".to_owned(), SystemTime::UNIX_EPOCH);
        json.write(Moment::after_start(Duration::from_millis(1500)), event).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_state_is_one_line_with_its_evidence() {
        let event =
            Event::StateChanged { from: State::Active, to: State::Quiet, evidence: "still \"here\"".to_owned() };
        assert_eq!(
            line(&event),
            "{\"v\":1,\"type\":\"state\",\"at\":\"1970-01-01T00:00:01.500Z\",\"run\":\"r1\",\"elapsed\":1500,\
             \"from\":\"active\",\"to\":\"quiet\",\"evidence\":\"still \\\"here\\\"\"}\n"
        );
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        let evidence = "a\u{202e}b\u{9b}31m\u{7f}".to_owned();
        let found = line(&Event::StateChanged { from: State::Active, to: State::Quiet, evidence: evidence.clone() });
        assert!(found.contains("a\\u202eb\\u009b31m\\u007f"), "{found}");
        let read: serde_json::Value = serde_json::from_str(&found).unwrap();
        assert_eq!(read["evidence"], evidence);
    }

    #[test]
    fn names_are_in_camel_case_and_times_in_milliseconds() {
        let idle = Event::IdleWarning { since_activity: Duration::from_secs(3), limit: Duration::from_secs(5) };
        assert!(line(&idle).contains("\"sinceActivity\":3000,\"limit\":5000"), "{}", line(&idle));
        let what = Repetition { pattern: "x".to_owned(), varies: false, count: 7, period: Duration::from_millis(250) };
        let found = line(&Event::LoopWarning { what, suspicion: 60 });
        assert!(found.contains("\"pattern\":\"x\",\"count\":7,\"period\":250,\"loopSuspicion\":60"), "{found}");
    }
}
