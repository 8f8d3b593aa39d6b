//! What can be asked of a run: one JSON object in a line.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::watch::typeable;

/// A request that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// How does it stand?
    Stats,
    /// Why is it thought to do what it does, at length?
    Explain,
    /// Tell every event from now on.
    Subscribe,
    /// Leave it alone for this long, and let it run this much longer.
    Extend(Duration),
    /// Type this and submit it.
    Nudge(String),
    /// End it.
    Stop,
    /// End it as a success.
    Complete,
}

/// Why a line is no request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Whoever wrote it does not speak this language.
    Garbage(String),
    /// A request that does not exist or lacks something.
    Wrong(String),
}

impl Request {
    /// The word that stands for it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stats => "get_session_stats",
            Self::Explain => "explain",
            Self::Subscribe => "subscribe",
            Self::Extend(_) => "extend_timeout",
            Self::Nudge(_) => "nudge",
            Self::Stop => "force_stop",
            Self::Complete => "force_complete",
        }
    }

    /// Reads a line. Fields that are not known are left to those who know them.
    pub fn read(line: &[u8]) -> Result<Self, Fault> {
        let garbage = |what: String| Fault::Garbage(format!("not a request: {what}"));
        let object: Map<String, Value> = serde_json::from_slice(line).map_err(|error| garbage(error.to_string()))?;
        let kind = object.get("type").and_then(Value::as_str);
        let kind = kind.ok_or_else(|| garbage("it has no type; write {\"type\":\"get_session_stats\"}".into()))?;
        Ok(match kind {
            "get_session_stats" => Self::Stats,
            "explain" => Self::Explain,
            "subscribe" => Self::Subscribe,
            "force_stop" => Self::Stop,
            "force_complete" => Self::Complete,
            "extend_timeout" => match object.get("by").and_then(Value::as_u64) {
                Some(by @ 1..) => Self::Extend(Duration::from_millis(by)),
                _ => return Err(Fault::Wrong("extend_timeout needs 'by', in milliseconds".to_owned())),
            },
            "nudge" => {
                let text = object.get("text").and_then(Value::as_str);
                let text = text.ok_or_else(|| Fault::Wrong("nudge needs 'text'".to_owned()))?;
                Self::Nudge(typeable(text).map_err(|why| Fault::Wrong(format!("nudge: {why}")))?)
            }
            other => return Err(Fault::Wrong(format!("unknown request '{}'", crate::cli::visible(other)))),
        })
    }

    /// The line that says it.
    pub fn line(&self) -> String {
        let mut object = serde_json::json!({ "type": self.name() });
        match self {
            Self::Extend(by) => object["by"] = crate::span::milliseconds(*by).into(),
            Self::Nudge(text) => object["text"] = text.as_str().into(),
            Self::Stats | Self::Explain | Self::Subscribe | Self::Stop | Self::Complete => {}
        }
        format!("{object}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_read_as_it_is_written() {
        let all = [
            Request::Stats,
            Request::Explain,
            Request::Subscribe,
            Request::Extend(Duration::from_mins(15)),
            Request::Nudge("go \"on\"".to_owned()),
            Request::Stop,
            Request::Complete,
        ];
        for request in all {
            assert_eq!(Request::read(request.line().trim_end().as_bytes()), Ok(request));
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_unknown_types_are_named() {
        assert_eq!(Request::read(br#"{"type":"force_stop","v":7,"why":"x"}"#), Ok(Request::Stop));
        assert_eq!(Request::read(br#"{"type":"dance"}"#), Err(Fault::Wrong("unknown request 'dance'".to_owned())));
    }

    #[test]
    fn what_lacks_something_is_wrong_and_what_is_no_object_is_garbage() {
        for line in [
            &br#"{"type":"extend_timeout"}"#[..],
            br#"{"type":"extend_timeout","by":0}"#,
            br#"{"type":"extend_timeout","by":-5}"#,
            br#"{"type":"nudge"}"#,
            br#"{"type":"nudge","text":"\u0003"}"#,
            br#"{"type":"nudge","text":"  "}"#,
        ] {
            assert!(matches!(Request::read(line), Err(Fault::Wrong(_))), "{line:?}");
        }
        for line in [&b"hello"[..], b"", b"[1]", b"{}", b"{\"type\":1}", b"\xff\x00", &[b'['; 10_000]] {
            assert!(matches!(Request::read(line), Err(Fault::Garbage(_))), "{line:?}");
        }
    }
}
