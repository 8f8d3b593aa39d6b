//! `ctl watch` where nothing can be drawn: the events of one run, or of all, line by line.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use nix::poll::{PollFd, PollTimeout, poll};
use serde_json::Value;

use super::super::call::Call;
use super::super::folder;
use super::super::request::Request;
use super::super::round::timeout;
use super::words::in_a_line;
use crate::error::Error;
use crate::report::plain;
use crate::session::Status;

/// How often it is looked for runs that are new.
const LOOK: Duration = Duration::from_secs(1);

/// Prints events until the run has ended; those of all runs until nobody reads them any more.
pub fn follow(folder: &Path, run: Option<&str>, json: bool) -> Result<Status, Error> {
    let mut calls: BTreeMap<String, Call> = BTreeMap::new();
    loop {
        let wanted = match run {
            Some(run) if calls.is_empty() => vec![run.to_owned()],
            Some(_) => Vec::new(),
            None => folder::runs(folder).map_err(Error::refused)?,
        };
        for name in wanted {
            if !calls.contains_key(&name)
                && let Some(mut call) =
                    Call::new(folder, &name).map_err(Error::refused)?.filter(|call| !call.is_closed())
            {
                call.ask(&Request::Subscribe);
                calls.insert(name, call);
            }
        }
        if let (Some(run), true) = (run, calls.is_empty()) {
            return Err(Error::refused(format!("run {} does not answer", plain(run))));
        }
        let watched: Vec<_> = calls.iter().filter_map(|(name, call)| Some((name.clone(), call.watched()?))).collect();
        let mut fds: Vec<_> = watched.iter().map(|(_, (fd, flags))| PollFd::new(*fd, *flags)).collect();
        // Whoever has gone away is noticed even if nothing happens.
        let out = std::io::stdout();
        fds.push(PollFd::new(std::os::fd::AsFd::as_fd(&out), nix::poll::PollFlags::empty()));
        let _ = poll(&mut fds, if run.is_some() { PollTimeout::NONE } else { timeout(LOOK) });
        if fds.last().and_then(PollFd::any) == Some(true) {
            return Ok(Status::Code(0));
        }
        let ready = watched.iter().zip(&fds).filter(|(_, fd)| fd.any() == Some(true));
        let ready: Vec<String> = ready.map(|((name, _), _)| name.clone()).collect();
        for name in ready {
            let Some(call) = calls.get_mut(&name) else { continue };
            for line in call.attend() {
                tell(run.is_none(), &name, &line, json)?;
            }
            if call.is_closed() {
                calls.remove(&name);
                if run.is_some() {
                    return Ok(Status::Code(0));
                }
            }
        }
    }
}

fn tell(named: bool, run: &str, line: &str, json: bool) -> Result<(), Error> {
    let event: Value = serde_json::from_str(line).unwrap_or_default();
    let Some(words) = in_a_line(&event) else { return Ok(()) };
    let text = match (json, named) {
        (true, _) => format!("{line}\n"),
        (false, true) => format!("{}  {words}\n", plain(run)),
        (false, false) => format!("{words}\n"),
    };
    super::print(&text).map(drop)
}
