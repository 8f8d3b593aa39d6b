//! The JSON Schema of the events, and that every event keeps to it.
//!
//! The validator knows the keywords that the schema uses, and fails on any other.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, SystemTime};

use idlewatch::exit::Reason;
use idlewatch::manual::EVENTS_SCHEMA;
use idlewatch::report::JsonLines;
use idlewatch::signal::Signal;
use idlewatch::watch::{Event, Guard, Moment, Repetition, State};
use serde_json::{Value, json};

use crate::support::{fixture, program};

/// Fails unless this is an event.
pub fn check(event: &Value) {
    let schema: Value = serde_json::from_str(EVENTS_SCHEMA).expect("JSON");
    if let Err(fault) = fits(&schema, &schema, event) {
        let name = event["type"].as_str().unwrap_or_default();
        let closer = fits(&schema, &schema["$defs"][name], event).err().unwrap_or(fault);
        panic!("{closer}: {event}");
    }
}

fn is_event(value: &Value) -> bool {
    let schema: Value = serde_json::from_str(EVENTS_SCHEMA).expect("JSON");
    fits(&schema, &schema, value).is_ok()
}

/// Whether `value` is as `schema`, a part of `whole`, has it; if not, why.
fn fits(whole: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    for (keyword, rule) in schema.as_object().ok_or("a schema is an object")? {
        let good = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let path = rule.as_str().and_then(|path| path.strip_prefix('#')).ok_or("a reference within")?;
                fits(whole, whole.pointer(path).ok_or_else(|| format!("there is no {path}"))?, value)?;
                true
            }
            "oneOf" => {
                let all = rule.as_array().ok_or("oneOf is a list")?;
                all.iter().filter(|one| fits(whole, one, value).is_ok()).count() == 1
            }
            "type" => match rule {
                Value::Array(names) => names.iter().any(|name| is_of_type(value, name)),
                name => is_of_type(value, name),
            },
            "const" => value == rule,
            "enum" => rule.as_array().ok_or("enum is a list")?.contains(value),
            // These say nothing about values of another type.
            "minimum" => value.as_i64().is_none_or(|number| rule.as_i64().is_some_and(|least| number >= least)),
            "maximum" => value.as_i64().is_none_or(|number| rule.as_i64().is_some_and(|most| number <= most)),
            "pattern" => {
                let pattern =
                    regex::Regex::new(rule.as_str().ok_or("a pattern is text")?).map_err(|e| e.to_string())?;
                value.as_str().is_none_or(|text| pattern.is_match(text))
            }
            "items" => {
                value.as_array().into_iter().flatten().try_for_each(|item| fits(whole, rule, item))?;
                true
            }
            "properties" => {
                for (name, rule) in rule.as_object().ok_or("properties are an object")? {
                    if let Some(own) = value.get(name) {
                        fits(whole, rule, own).map_err(|fault| format!("{name}: {fault}"))?;
                    }
                }
                true
            }
            "required" => {
                let names = rule.as_array().ok_or("required is a list")?;
                names.iter().all(|name| name.as_str().is_some_and(|name| value.get(name).is_some()))
            }
            "additionalProperties" if *rule == Value::Bool(false) => {
                let known = schema["properties"].as_object().ok_or("without properties it means nothing here")?;
                value.as_object().is_none_or(|own| own.keys().all(|name| known.contains_key(name)))
            }
            other => return Err(format!("the validator does not know the keyword {other}")),
        };
        if !good {
            return Err(format!("{keyword} {rule} does not hold"));
        }
    }
    Ok(())
}

fn is_of_type(value: &Value, name: &Value) -> bool {
    match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        other => panic!("the validator does not know the type {other:?}"),
    }
}

/// The type of an event. A new kind of event does not compile here until it has one; then it belongs into `samples`.
fn kind(event: &Event) -> &'static str {
    match event {
        Event::Started { .. } => "start",
        Event::Progress { .. } => "progress",
        Event::Ended { .. } => "exit",
        Event::StateChanged { .. } => "state",
        Event::IdleWarning { .. } => "idle_warning",
        Event::TimeoutWarning { .. } => "timeout_warning",
        Event::LoopWarning { .. } => "loop_warning",
        Event::GuardDeferred { .. } => "guard_deferred",
        Event::Nudged { .. } => "nudged",
        Event::Signaled { .. } => "signaled",
        Event::Ran { .. } => "ran",
        Event::TimeoutExtended { .. } => "timeout_extended",
        Event::ForceStopped { .. } => "force_stopped",
        Event::ForceCompleted => "force_completed",
        Event::Gap { .. } => "gap",
        Event::Relaunched { .. } => "relaunched",
        Event::AnalysisLost => "analysis_lost",
    }
}

fn samples() -> Vec<Event> {
    let (text, time) = ("\u{1b}\"text\"\n".to_owned(), Duration::from_millis(1500));
    let what = Repetition { pattern: text.clone(), varies: true, count: 5, period: time };
    let mut all = vec![
        Event::Started { command: vec!["make".to_owned(), text.clone()], pid: 17 },
        Event::IdleWarning { since_activity: time, limit: time },
        Event::TimeoutWarning { elapsed: time, limit: time },
        Event::LoopWarning { what, suspicion: 100 },
        Event::GuardDeferred { guard: Guard::Cpu, reason: text.clone(), recheck: time, left: Some(time) },
        Event::GuardDeferred { guard: Guard::Command(text.clone()), reason: text.clone(), recheck: time, left: None },
        Event::Nudged { text: text.clone(), failed: None },
        Event::Nudged { text: text.clone(), failed: Some(text.clone()) },
        Event::Signaled { signal: Signal::TERM, reason: Reason::Loop, processes: 3, refused: vec![text.clone()] },
        Event::Ran { shell: text.clone(), status: Ok(-1) },
        Event::Ran { shell: text.clone(), status: Err(text.clone()) },
        Event::TimeoutExtended { by: time },
        Event::ForceCompleted,
        Event::Gap { length: time },
        Event::Relaunched { count: 1, why: text.clone(), delay: time, command: text.clone() },
        Event::AnalysisLost,
        Event::Ended { code: None, reason: None, child_code: None, child_signal: Some(Signal::KILL) },
    ];
    for state in State::ALL {
        all.push(Event::Progress { since_activity: time, loop_suspicion: 0, state });
        all.push(Event::StateChanged { from: state, to: state, evidence: text.clone() });
    }
    for reason in Reason::ALL {
        all.push(Event::ForceStopped { reason });
        all.push(Event::Ended { code: Some(255), reason: Some(reason), child_code: Some(0), child_signal: None });
    }
    all
}

fn written(event: &Event) -> Value {
    let mut out = Vec::new();
    let mut lines = JsonLines::new(&mut out, "r1".to_owned(), SystemTime::UNIX_EPOCH);
    lines.write(Moment::after_start(Duration::from_millis(1500)), event).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn every_event_keeps_to_the_schema_and_the_schema_has_no_other() {
    let schema: Value = serde_json::from_str(EVENTS_SCHEMA).unwrap();
    let mut kinds = BTreeSet::new();
    for event in samples() {
        let line = written(&event);
        assert_eq!(line["type"], kind(&event));
        kinds.insert(kind(&event).to_owned());
        check(&line);
    }
    let one_of = schema["oneOf"].as_array().unwrap().iter();
    let known: BTreeSet<String> =
        one_of.map(|one| one["$ref"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()).collect();
    // What is told only where it is asked for is checked there.
    kinds.insert("session_stats".to_owned());
    assert_eq!(kinds, known);
}

#[test]
fn what_is_no_event_is_refused() {
    let good = json!({"v": 1, "type": "gap", "at": "2026-01-02T03:04:05.678Z", "run": "r", "elapsed": 5, "length": 6});
    check(&good);
    let with = |name: &str, value: Value| {
        let mut changed = good.clone();
        changed[name] = value;
        changed
    };
    for wrong in [
        with("v", json!(2)),
        with("type", json!("nap")),
        with("type", json!("force_completed")),
        with("at", json!("yesterday")),
        with("run", json!(7)),
        with("elapsed", json!(-1)),
        with("elapsed", json!(1.5)),
        with("length", json!("6")),
        with("length", Value::Null),
        with("more", json!(true)),
        json!({"v": 1, "type": "gap", "at": "2026-01-02T03:04:05.678Z", "run": "r", "elapsed": 5}),
        json!([]),
        json!("gap"),
    ] {
        assert!(!is_event(&wrong), "{wrong}");
    }
    let mut state = written(&Event::StateChanged { from: State::Active, to: State::Quiet, evidence: String::new() });
    state["to"] = json!("asleep");
    assert!(!is_event(&state));
    let mut start = written(&Event::Started { command: vec!["x".to_owned()], pid: 1 });
    start["command"] = json!(["x", 5]);
    assert!(!is_event(&start));
}

#[test]
fn a_keyword_that_the_validator_does_not_know_is_a_fault() {
    let schema = json!({"multipleOf": 5});
    assert!(fits(&schema, &schema, &json!(10)).unwrap_err().contains("multipleOf"));
}

#[test]
fn a_replay_keeps_to_it_too() {
    for name in ["agent-hang", "log-loop", "question"] {
        let file = fixture("../recordings").join(format!("{name}.cast"));
        let output = Command::new(program()).args(["replay", "--json", "--idle", "30s"]).arg(file).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.is_empty());
        text.lines().for_each(|line| check(&serde_json::from_str(line).unwrap()));
    }
}
