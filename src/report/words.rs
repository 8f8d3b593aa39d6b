//! Events in words: what kind it is, and what there is to say about it.

use crate::watch::{Event, span};

/// An event in words; nothing where another event says the same.
pub fn in_words(event: &Event) -> Option<(&'static str, String)> {
    Some(match event {
        Event::StateChanged { to, evidence, .. } => (to.name(), evidence.clone()),
        // The state that comes with it says the same, and the start and the end are plain to see.
        Event::IdleWarning { .. } | Event::Started { .. } | Event::Progress { .. } | Event::Ended { .. } => {
            return None;
        }
        Event::TimeoutWarning { elapsed, limit } => {
            let share = elapsed.as_millis() * 100 / limit.as_millis().max(1);
            ("warning", format!("{share}% of the time limit ({}) has passed", span(*limit)))
        }
        Event::LoopWarning { what, suspicion } => {
            ("warning", format!("possible loop ({suspicion} of 100): {}", what.in_words()))
        }
        Event::GuardDeferred { guard, reason, recheck, left } => {
            let left = left.map_or_else(|| "no ceiling".to_owned(), |left| format!("ceiling in {}", span(left)));
            ("deferred", format!("guard {guard}: {reason}; asked again in {}, {left}", span(*recheck)))
        }
        Event::Nudged { text, failed: None } if text.starts_with("key:") => ("nudged", format!("pressed {text}")),
        Event::Nudged { text, failed: None } => ("nudged", format!("typed and submitted '{}'", short(text))),
        Event::Nudged { text, failed: Some(why) } => ("nudged", format!("'{}' was not accepted: {why}", short(text))),
        Event::Signaled { signal, reason, processes, refused } => {
            let refused =
                if refused.is_empty() { String::new() } else { format!(", not permitted for {}", refused.join(", ")) };
            let plural = if *processes == 1 { "" } else { "es" };
            ("signaled", format!("{signal} to {processes} process{plural} ({reason}){refused}"))
        }
        Event::Ran { shell, status: Ok(126) } => ("ran", format!("'{shell}' exited with 126: cannot be run")),
        Event::Ran { shell, status: Ok(127) } => ("ran", format!("'{shell}' exited with 127: not found")),
        Event::Ran { shell, status: Ok(code) } => ("ran", format!("'{shell}' exited with {code}")),
        Event::Ran { shell, status: Err(why) } => ("ran", format!("'{shell}' failed: {why}")),
        Event::TimeoutExtended { by } => ("extended", format!("{} more", span(*by))),
        Event::ForceStopped { reason } => ("stopped", reason.meaning().to_owned()),
        Event::ForceCompleted => ("completed", "ended as a success".to_owned()),
        Event::Gap { length } => ("gap", format!("not watched for {}; a new idle period begins", span(*length))),
        Event::Relaunched { count, why, delay, command } => {
            ("relaunched", format!("'{command}' (relaunch {count}) after {}, because {why}", span(*delay)))
        }
        Event::AnalysisLost => {
            ("warning", "the screen can no longer be read; from now on any byte counts as activity".to_owned())
        }
    })
}

/// The beginning of a text, which says enough.
fn short(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn numbers_are_those_of_the_run() {
        let said = |event: Event| in_words(&event).unwrap().1;
        let warning = Event::TimeoutWarning { elapsed: Duration::from_millis(1205), limit: Duration::from_secs(2) };
        assert_eq!(said(warning), "60% of the time limit (2s) has passed");
        let again = Event::Relaunched {
            count: 1,
            why: "it crashed".to_owned(),
            delay: Duration::from_secs(1),
            command: "make".to_owned(),
        };
        assert_eq!(said(again), "'make' (relaunch 1) after 1s, because it crashed");
    }
}
