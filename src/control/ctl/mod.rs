//! `idlewatch ctl`: the runs that are going on, asked and steered.

mod follow;
mod live;
mod name;
mod page;
mod table;
mod words;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use nix::poll::{PollFd, poll};
use serde_json::{Value, json};

use super::call::Call;
use super::folder;
use super::request::Request;
use super::round::{Found, ask_all, timeout};
use crate::cli::{CtlCli, CtlVerb};
use crate::error::Error;
use crate::past;
use crate::report::{VERSION, plain};
use crate::session::{Clock, Status};
use crate::watch::Moment;

/// How long an order may take to be answered.
const ORDER: Duration = Duration::from_secs(5);
/// The same for a nudge, which is answered when the command has taken it or has not.
const NUDGE: Duration = Duration::from_secs(25);

/// Does what was asked. Gives what to exit with.
pub fn run(cli: CtlCli) -> Result<Status, Error> {
    let folder = folder::place();
    let CtlCli { verb, json } = cli;
    match verb {
        CtlVerb::List { ids: true } => list_ids(&folder),
        CtlVerb::List { ids: false } => list(&folder, json),
        CtlVerb::Status { run } => status(&folder, run.as_deref(), json),
        CtlVerb::Watch { run } => watch(&folder, run.as_deref(), json),
        CtlVerb::Extend { run, by } => order(&folder, run.as_deref(), &Request::Extend(by), json),
        CtlVerb::Nudge { run, text } => order(&folder, run.as_deref(), &Request::Nudge(text), json),
        CtlVerb::Stop { run } => order(&folder, run.as_deref(), &Request::Stop, json),
        CtlVerb::Complete { run } => order(&folder, run.as_deref(), &Request::Complete, json),
        CtlVerb::History(which) => past::run(&which, json, Clock::time_of_day()).map(|()| Status::Code(0)),
        CtlVerb::Explain { run } => order(&folder, run.as_deref(), &Request::Explain, json),
    }
}

fn list(folder: &Path, json: bool) -> Result<Status, Error> {
    let found = ask_all(folder).map_err(Error::refused)?;
    if json {
        let lines: String = found.iter().map(|found| json_line(found) + "\n").collect();
        return print(&lines);
    }
    if found.is_empty() {
        return print("no run is going on\n");
    }
    let terminal = io::stdout().is_terminal();
    let width = terminal.then(width).flatten();
    print(&lines(&table::table(&found, width, terminal && page::has_colours())))
}

/// For completions: whoever listens, without waiting for anybody.
fn list_ids(folder: &Path) -> Result<Status, Error> {
    let mut ids = String::new();
    for run in folder::runs(folder).map_err(Error::refused)? {
        if let Ok(Some(call)) = Call::new(folder, &run) {
            ids.push_str(&plain(&call.run));
            ids.push('\n');
        }
    }
    print(&ids)
}

fn status(folder: &Path, name: Option<&str>, json: bool) -> Result<Status, Error> {
    let found = find(folder, name)?;
    if json {
        return print(&(json_line(&found) + "\n"));
    }
    let terminal = io::stdout().is_terminal();
    let width = terminal.then(width).flatten();
    print(&lines(&page::page(&found, width, terminal && page::has_colours())))
}

fn watch(folder: &Path, name: Option<&str>, json: bool) -> Result<Status, Error> {
    let run = match name {
        Some(_) => Some(find_id(folder, name)?),
        None => None,
    };
    let draws = !json && io::stdout().is_terminal() && io::stdin().is_terminal() && page::can_draw();
    match live::Screen::open().filter(|_| draws) {
        Some(screen) => live::watch(screen, folder, run.as_deref()),
        None => follow::follow(folder, run.as_deref(), json),
    }
}

/// The run of this name, as it stands.
fn find(folder: &Path, name: Option<&str>) -> Result<Found, Error> {
    let mut all = ask_all(folder).map_err(Error::refused)?;
    let index = name::find(name, &all).map_err(Error::refused)?;
    Ok(all.swap_remove(index))
}

/// The id of the run of this name. One that is named by its whole id is not asked first.
fn find_id(folder: &Path, name: Option<&str>) -> Result<String, Error> {
    let runs = folder::runs(folder).map_err(Error::refused)?;
    match runs.into_iter().find(|run| name == Some(run)).map(|run| (Call::new(folder, &run), run)) {
        Some((Ok(Some(_)), run)) => Ok(run),
        _ => Ok(find(folder, name)?.run),
    }
}

/// Asks one run for something, and says what it answers.
fn order(folder: &Path, name: Option<&str>, request: &Request, json: bool) -> Result<Status, Error> {
    let run = find_id(folder, name)?;
    let gone = || Error::refused(format!("run {} has just ended", plain(&run)));
    let mut call = Call::new(folder, &run).map_err(Error::refused)?.ok_or_else(gone)?;
    call.ask(request);
    let patience = if matches!(request, Request::Nudge(_)) { NUDGE } else { ORDER };
    let clock = Clock::start();
    loop {
        let left = patience.saturating_sub(clock.now().since(Moment::START));
        let Some((fd, flags)) = call.watched() else { return Err(gone()) };
        if left.is_zero() {
            return Err(Error::refused(format!(
                "run {} does not answer; perhaps it is stopped, and does it when it goes on",
                plain(&run)
            )));
        }
        let _ = poll(&mut [PollFd::new(fd, flags)], timeout(left));
        if let Some(line) = call.attend().first() {
            return answered(&run, line, json);
        }
    }
}

fn answered(run: &str, line: &str, json: bool) -> Result<Status, Error> {
    let answer: Value = serde_json::from_str(line).unwrap_or_default();
    let text = |key: &str| answer[key].as_str().unwrap_or_default();
    let refused = text("type") == "error";
    if json {
        print(&format!("{line}\n"))?;
        return Ok(Status::Code(u8::from(refused)));
    }
    match text("type") {
        "error" => Err(Error::refused(format!("run {}: {}", plain(run), plain(text("message"))))),
        "explanation" => print(&text("text").lines().map(|line| plain(line) + "\n").collect::<String>()),
        _ => Ok(Status::Code(0)),
    }
}

/// A run as a JSON line: as it stands, or that it does not answer.
fn json_line(found: &Found) -> String {
    match &found.answer {
        Some(told) => told.line.clone(),
        None => {
            json!({ "v": VERSION, "type": "not_answering", "run": found.run, "idlewatchPid": found.pid }).to_string()
        }
    }
}

fn lines(all: &[String]) -> String {
    all.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// The columns of the terminal that is printed to.
fn width() -> Option<usize> {
    page::size_of(&io::stdout()).map(|(columns, _)| columns)
}

/// Prints. A reader that is gone has seen enough.
fn print(text: &str) -> Result<Status, Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::refused(format!("cannot print: {error}")))
        }
        _ => Ok(Status::Code(0)),
    }
}
