//! The report as one JSON object. Times are in milliseconds, names as in the events.

use serde::Serialize;
use serde_json::Value;

use super::{PostMortem, VERSION};
use crate::exit::Reason;
use crate::report::{JsonLines, escaped};
use crate::span::milliseconds;
use crate::watch::Moment;

/// The version of the format.
const FORMAT: u8 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'r> {
    v: u8,
    idlewatch: &'static str,
    system: &'r str,
    run: &'r str,
    command: &'r [String],
    folder: Option<&'r str>,
    started: String,
    ended: String,
    elapsed: u64,
    summary: String,
    exit: Exit,
    verdict: Option<Verdict<'r>>,
    tried: Vec<Tried>,
    states: Vec<Band>,
    activity: Activity,
    screen: Screen<'r>,
    lines_above: &'r [String],
    processes: Option<Vec<Process<'r>>>,
    processes_left_out: usize,
    tasks: Option<Tasks<'r>>,
    resume: Option<Resume<'r>>,
    policy: serde_json::Map<String, Value>,
    events: Vec<Value>,
    events_dropped: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Exit {
    code: Option<u8>,
    reason: &'static str,
    meaning: Option<&'static str>,
    child_status: Option<u8>,
    child_signal: Option<String>,
    relaunches: u32,
    relaunch_limit_reached: bool,
}

#[derive(Serialize)]
struct Verdict<'r> {
    at: String,
    elapsed: u64,
    state: &'static str,
    evidence: &'r str,
}

#[derive(Serialize)]
struct Tried {
    at: String,
    elapsed: u64,
    what: &'static str,
    words: String,
    result: String,
}

#[derive(Serialize)]
struct Band {
    state: &'static str,
    from: u64,
    to: u64,
}

/// `bytes` and `progress` have one value for each portion of `portion` milliseconds.
#[derive(Serialize)]
struct Activity {
    portion: u64,
    bytes: Vec<u64>,
    progress: Vec<bool>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Screen<'r> {
    elapsed: u64,
    taken: &'static str,
    title: Option<&'r str>,
    cols: u16,
    cursor: Option<(usize, usize)>,
    rows: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Process<'r> {
    pid: i32,
    parent: i32,
    command: &'r str,
    state: char,
    cpu: u64,
    cpu_percent: Option<u32>,
    age: u64,
    threads: usize,
    doing: Vec<Doing<'r>>,
}

#[derive(Serialize)]
struct Doing<'r> {
    kind: &'static str,
    detail: &'r str,
}

#[derive(Serialize)]
struct Tasks<'r> {
    done: &'r [String],
    current: &'r [String],
    remaining: &'r [String],
    error: Option<&'r str>,
}

#[derive(Serialize)]
struct Resume<'r> {
    command: &'r str,
    source: &'r str,
}

/// The whole report.
pub fn render(report: &PostMortem) -> String {
    let (portion, portions) = report.chronicle.activity();
    let picture = &report.scene.picture;
    let object = Report {
        v: FORMAT,
        idlewatch: VERSION,
        system: &report.system,
        run: &report.run,
        command: &report.command,
        folder: report.folder.as_deref(),
        started: humantime::format_rfc3339_millis(report.chronicle.began()).to_string(),
        ended: humantime::format_rfc3339_millis(report.ended).to_string(),
        elapsed: milliseconds(report.chronicle.length()),
        summary: report.headline(),
        exit: exit(report),
        verdict: report.verdict().map(|(entry, state, evidence)| Verdict {
            at: humantime::format_rfc3339_millis(entry.when).to_string(),
            elapsed: milliseconds(entry.elapsed),
            state: state.name(),
            evidence,
        }),
        tried: tried(report),
        states: report.chronicle.bands().into_iter().map(band).collect(),
        activity: Activity {
            portion: milliseconds(portion),
            bytes: portions.iter().map(|portion| portion.bytes).collect(),
            progress: portions.iter().map(|portion| portion.progress).collect(),
        },
        screen: Screen {
            elapsed: milliseconds(report.scene.elapsed),
            taken: report.scene.taken.name(),
            title: picture.title.as_deref(),
            cols: picture.cols,
            cursor: picture.cursor,
            rows: picture.text(),
        },
        lines_above: &picture.above,
        processes_left_out: report.scene.left_out,
        processes: report.scene.processes.as_ref().map(|all| all.iter().map(process).collect()),
        tasks: report.tasks.as_ref().map(|tasks| match tasks {
            Ok(tasks) => Tasks { done: &tasks.done, current: &tasks.current, remaining: &tasks.remaining, error: None },
            Err(why) => Tasks { done: &[], current: &[], remaining: &[], error: Some(why) },
        }),
        resume: report.resume.as_ref().map(|resume| Resume { command: &resume.command, source: &resume.source }),
        policy: report.policy.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())).collect(),
        events: events(report),
        events_dropped: report.chronicle.dropped().0,
    };
    // Nothing in it can fail to be written.
    let mut text = escaped(&serde_json::to_string_pretty(&object).unwrap_or_default());
    text.push('\n');
    text
}

fn exit(report: &PostMortem) -> Exit {
    Exit {
        code: report.end.code,
        reason: report.end.reason.map_or("exited", Reason::name),
        meaning: report.end.reason.map(Reason::meaning),
        child_status: report.end.child_code,
        child_signal: report.end.child_signal.map(|signal| signal.to_string()),
        relaunches: report.chronicle.launches().saturating_sub(1),
        relaunch_limit_reached: report.end.gave_up,
    }
}

fn tried(report: &PostMortem) -> Vec<Tried> {
    let one = |tried: super::Tried<'_>| Tried {
        at: humantime::format_rfc3339_millis(tried.entry.when).to_string(),
        elapsed: milliseconds(tried.entry.elapsed),
        what: tried.what,
        words: tried.words,
        result: tried.result,
    };
    report.tried().into_iter().map(one).collect()
}

fn band(band: crate::report::chronicle::Band) -> Band {
    Band { state: band.state.name(), from: milliseconds(band.from), to: milliseconds(band.to) }
}

fn process(process: &crate::report::process::Process) -> Process<'_> {
    Process {
        pid: process.pid,
        parent: process.parent,
        command: &process.command,
        state: process.state,
        cpu: milliseconds(process.cpu),
        cpu_percent: process.share,
        age: milliseconds(process.age),
        threads: process.threads,
        doing: process.doing.iter().map(|doing| Doing { kind: doing.kind.name(), detail: &doing.detail }).collect(),
    }
}

/// The events as `--events` writes them, their times since the beginning of the whole run.
fn events(report: &PostMortem) -> Vec<Value> {
    let mut lines = JsonLines::new(Vec::new(), report.run.clone(), report.chronicle.began());
    let entries = report.chronicle.entries().iter();
    entries
        .filter_map(|entry| {
            lines.write_dated(entry.when, Moment::after_start(entry.elapsed), &entry.event).ok()?;
            serde_json::from_slice(&std::mem::take(lines.out())).ok()
        })
        .collect()
}
