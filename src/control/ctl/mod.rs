//! `idlewatch ctl`: runs in progress, queried and controlled.

mod follow;
mod live;
mod name;
mod page;
mod table;
mod words;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use nix::poll::{PollFd, poll};
use serde_json::{Value, json};

use super::call::Call;
use super::folder::{self, Address, Trouble};
use super::request::Request;
use super::round::{Found, Told, ask_all, relayed, timeout};
use crate::cli::{CtlCli, CtlVerb};
use crate::error::Error;
use crate::past;
use crate::report::{VERSION, answer, escaped, plain};
use crate::session::{Clock, Status};
use crate::watch::{Moment, span};

/// How long an order may take to be answered.
const ORDER: Duration = Duration::from_secs(5);
/// The same for a nudge, which is answered when the command has taken it or has not.
const NUDGE: Duration = Duration::from_secs(25);
/// How much of a command is enough to know it again.
const SHORT: usize = 60;

/// Does what was asked. Gives what to exit with.
pub fn run(cli: CtlCli) -> Result<Status, Error> {
    let folders = folder::places();
    let CtlCli { verb, json } = cli;
    match verb {
        CtlVerb::List { ids: true } => list_ids(&folders),
        CtlVerb::List { ids: false } => list(&folders, json),
        CtlVerb::Status { run } => status(&folders, run.as_deref(), json),
        CtlVerb::Watch { run } => watch(&folders, run.as_deref(), json),
        CtlVerb::Extend { run, by } => order(&folders, run.as_deref(), &Request::Extend(by), json),
        CtlVerb::Nudge { run: None, text } if is_a_run(&folders, &text) => {
            Err(Error::usage(format!("no text given: '{text}' is a run; write: idlewatch ctl nudge {text} 'go on'")))
        }
        CtlVerb::Nudge { run, text } => order(&folders, run.as_deref(), &Request::Nudge(text), json),
        CtlVerb::Stop { run } => order(&folders, run.as_deref(), &Request::Stop, json),
        CtlVerb::Complete { run } => order(&folders, run.as_deref(), &Request::Complete, json),
        CtlVerb::History(which) => past::run(&which, json, Clock::time_of_day()).map(|()| Status::Code(0)),
        CtlVerb::Explain { run } => order(&folders, run.as_deref(), &Request::Explain, json),
    }
}

fn list(folders: &[PathBuf], json: bool) -> Result<Status, Error> {
    let found = ask_all(folders).map_err(Error::refused)?;
    if json {
        let lines: String = found.iter().map(|found| json_line(found) + "\n").collect();
        return print(&lines);
    }
    if found.is_empty() {
        return print("no run is in progress\n");
    }
    let terminal = io::stdout().is_terminal();
    let width = terminal.then(width).flatten();
    print(&lines(&table::table(&found, width, terminal && page::has_colours())))
}

/// For completions: whoever listens, without waiting for anybody.
fn list_ids(folders: &[PathBuf]) -> Result<Status, Error> {
    let mut ids = String::new();
    for address in folder::runs(folders).map_err(refused)? {
        if let Ok(Some(call)) = Call::new(&address) {
            ids.push_str(&plain(&call.run));
            ids.push('\n');
        }
    }
    print(&ids)
}

fn status(folders: &[PathBuf], name: Option<&str>, json: bool) -> Result<Status, Error> {
    let found = find(folders, name)?;
    if json {
        return print(&(json_line(&found) + "\n"));
    }
    let terminal = io::stdout().is_terminal();
    let width = terminal.then(width).flatten();
    print(&lines(&page::page(&found, width, terminal && page::has_colours())))
}

fn watch(folders: &[PathBuf], name: Option<&str>, json: bool) -> Result<Status, Error> {
    let run = match name {
        Some(_) => Some(find_address(folders, name)?),
        None => None,
    };
    let draws = !json && io::stdout().is_terminal() && io::stdin().is_terminal() && page::can_draw();
    match live::Screen::open().filter(|_| draws) {
        Some(screen) => live::watch(screen, folders, run.as_ref()),
        None => follow::follow(folders, run.as_ref(), json),
    }
}

/// The run of this name, as it stands.
fn find(folders: &[PathBuf], name: Option<&str>) -> Result<Found, Error> {
    let mut all = ask_all(folders).map_err(Error::refused)?;
    match name::find(name, &all) {
        Ok(index) => Ok(all.swap_remove(index)),
        // What cannot be called is passed over only where it was not named.
        Err(why) => match named(folders, name)?.map(|address| Call::new(&address)) {
            Some(Err(trouble)) => Err(refused(trouble)),
            _ => Err(Error::refused(why)),
        },
    }
}

/// The run whose whole id this is.
fn named(folders: &[PathBuf], name: Option<&str>) -> Result<Option<Address>, Error> {
    Ok(folder::runs(folders).map_err(refused)?.into_iter().find(|address| Some(address.run.as_str()) == name))
}

/// Where the run of this name listens. One that is named by its whole id is not asked first.
fn find_address(folders: &[PathBuf], name: Option<&str>) -> Result<Address, Error> {
    if let Some(address) = named(folders, name)?
        && let Ok(Some(_)) = Call::new(&address)
    {
        return Ok(address);
    }
    let run = find(folders, name)?.run;
    named(folders, Some(&run))?.ok_or_else(|| gone(&run))
}

/// Whether this is a run's whole name, which nobody would want to have typed.
fn is_a_run(folders: &[PathBuf], text: &str) -> bool {
    text == "last" || named(folders, Some(text)).is_ok_and(|address| address.is_some_and(|address| address.run == text))
}

fn refused(trouble: Trouble) -> Error {
    Error::refused(plain(&trouble.words()))
}

fn gone(run: &str) -> Error {
    Error::refused(format!("run {} has just ended", plain(run)))
}

/// A run goes on, and nothing is to be heard of it.
fn unheard(run: &str, why: &str) -> Error {
    Error::refused(format!("run {} does not answer: {}", plain(run), plain(why)))
}

/// Asks one run for something, and says what it answers; where that is only that it was done, of which command.
fn order(folders: &[PathBuf], name: Option<&str>, request: &Request, json: bool) -> Result<Status, Error> {
    let address = find_address(folders, name)?;
    let run = address.run.as_str();
    let mut call = Call::new(&address).map_err(refused)?.ok_or_else(|| gone(run))?;
    let done = if json { None } else { done(request) };
    if done.is_some() {
        call.ask(&Request::Stats);
    }
    call.ask(request);
    let patience = if matches!(request, Request::Nudge(_)) { NUDGE } else { ORDER };
    let clock = Clock::start();
    let mut command = String::new();
    loop {
        let left = patience.saturating_sub(clock.now().since(Moment::START));
        let Some((fd, flags)) = call.watched() else {
            return Err(call.fault().map_or_else(|| gone(run), |why| unheard(run, why)));
        };
        if left.is_zero() {
            return Err(Error::refused(format!(
                "run {} does not answer; if it is stopped, it will act once continued",
                plain(run)
            )));
        }
        let _ = poll(&mut [PollFd::new(fd, flags)], timeout(left));
        for line in call.attend() {
            match Told::read(&line) {
                Some(told) => command = table::cut(&table::quoted(&told.stats.command), SHORT),
                None => {
                    return answered(
                        run,
                        &line,
                        json,
                        done.map(|done| format!("run {} {done}: {command}", plain(run))),
                    );
                }
            }
        }
    }
}

/// What is to be said of a run that did what it was told; nothing where the answer says it.
fn done(request: &Request) -> Option<String> {
    Some(match request {
        Request::Stop => "is being ended".to_owned(),
        Request::Complete => "is being ended as a success".to_owned(),
        Request::Extend(by) => format!("will be left alone for {}", span(*by)),
        Request::Nudge(_) => "has accepted the text".to_owned(),
        _ => return None,
    })
}

fn answered(run: &str, line: &str, json: bool, done: Option<String>) -> Result<Status, Error> {
    let answer: Value = serde_json::from_str(line).unwrap_or_default();
    let text = |key: &str| answer[key].as_str().unwrap_or_default();
    let refused = text("type") == "error";
    if json {
        let line = relayed(line).ok_or_else(|| unheard(run, "its answer is not JSON"))?;
        print(&format!("{line}\n"))?;
        return Ok(Status::Code(u8::from(refused)));
    }
    match text("type") {
        "error" => Err(Error::refused(format!("run {}: {}", plain(run), plain(text("message"))))),
        "explanation" => print(&text("text").lines().map(|line| plain(line) + "\n").collect::<String>()),
        _ => print(&done.map(|done| done + "\n").unwrap_or_default()),
    }
}

/// A run as a JSON line: as it stands, or that it does not answer.
fn json_line(found: &Found) -> String {
    if let Some(told) = &found.answer {
        return told.line.clone();
    }
    let mut line = json!({ "v": VERSION, "type": "not_answering", "run": found.run, "idlewatchPid": found.pid });
    if let Some(why) = &found.why {
        line["message"] = why.as_str().into();
    }
    escaped(&line.to_string())
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
    answer("the answer", text).map(|()| Status::Code(0))
}
