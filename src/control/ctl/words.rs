//! Events that came as JSON, as a person reads them.

use std::time::Duration;

use serde_json::Value;

use crate::report::{clock, plain};

/// Fields that every event has.
const COMMON: [&str; 5] = ["v", "type", "at", "run", "elapsed"];

/// One line for an event, or for what went wrong; none if it is an answer.
pub fn in_a_line(event: &Value) -> Option<String> {
    let kind = event["type"].as_str().filter(|kind| !matches!(*kind, "ok" | "session_stats"))?;
    let elapsed = event["elapsed"].as_u64().map(|elapsed| clock(Duration::from_millis(elapsed)));
    let text = |key: &str| event[key].as_str().unwrap_or_default();
    let words = match kind {
        "state" => format!("{} -> {}: {}", text("from"), text("to"), text("evidence")),
        _ => fields(event),
    };
    Some(format!("{:>11}  {:<16} {}", elapsed.unwrap_or_default(), plain(kind), plain(&words)).trim_end().to_owned())
}

fn fields(event: &Value) -> String {
    let own = event.as_object().into_iter().flatten().filter(|(key, value)| {
        let empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        !COMMON.contains(&key.as_str()) && !empty
    });
    own.map(|(key, value)| {
        format!("{key}={}", value.as_str().map_or_else(|| value.to_string(), |text| format!("'{text}'")))
    })
    .collect::<Vec<String>>()
    .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_and_does_nothing_to_the_terminal() {
        let event = serde_json::json!({
            "v": 1, "type": "state", "at": "x", "run": "r", "elapsed": 61_000, "from": "active", "to": "quiet",
            "evidence": "still \u{1b}[31mhere\n"
        });
        assert_eq!(in_a_line(&event).unwrap(), "  0:01:01.0  state            active -> quiet: still [31mhere");
        let event =
            serde_json::json!({"type": "exit", "elapsed": 0, "code": 119, "reason": "stopped", "childStatus": null});
        assert_eq!(in_a_line(&event).unwrap(), "  0:00:00.0  exit             code=119 reason='stopped'");
        assert_eq!(in_a_line(&serde_json::json!({"type": "ok"})), None);
    }
}
