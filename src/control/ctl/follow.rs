//! `ctl watch` where nothing can be drawn: the events of one run, or of all, line by line.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::Value;

use super::super::call::Call;
use super::super::folder::{self, Address, Trouble};
use super::super::request::Request;
use super::super::round::{refusal, relayed, timeout};
use super::words::in_a_line;
use super::{gone, refused, unheard};
use crate::error::Error;
use crate::report::{plain, say};
use crate::session::Status;

/// How often it is looked for runs that are new.
const LOOK: Duration = Duration::from_secs(1);

/// Prints events until the run has ended; those of all runs until nobody reads them any more.
pub fn follow(folders: &[PathBuf], run: Option<&Address>, json: bool) -> Result<Status, Error> {
    match run {
        Some(run) => follow_one(run, json),
        None => follow_all(folders, json),
    }
}

fn follow_one(address: &Address, json: bool) -> Result<Status, Error> {
    let (run, out) = (address.run.as_str(), std::io::stdout());
    let mut call = Call::new(address).map_err(refused)?.ok_or_else(|| gone(run))?;
    call.ask(&Request::Subscribe);
    loop {
        let Some((fd, flags)) = call.watched() else {
            return call.fault().map_or(Ok(Status::Code(0)), |why| Err(unheard(run, why)));
        };
        let reader = PollFd::new(out.as_fd(), PollFlags::empty());
        if !wait(&mut [PollFd::new(fd, flags), reader], PollTimeout::NONE) {
            return Ok(Status::Code(0));
        }
        for line in call.attend() {
            if let Some(why) = refusal(&line) {
                return Err(unheard(run, &why));
            }
            tell(None, &line, json)?;
        }
    }
}

fn follow_all(folders: &[PathBuf], json: bool) -> Result<Status, Error> {
    let out = std::io::stdout();
    let mut calls: BTreeMap<Address, Call> = BTreeMap::new();
    // What was said of runs that cannot be followed, so that it is not said every second.
    let mut said = BTreeSet::new();
    loop {
        let known = match folder::runs(folders) {
            // Those who are followed have taken all there is; the others have their turn when one of them has ended.
            Err(Trouble::NoRoom(_)) if !calls.is_empty() => Vec::new(),
            known => known.map_err(refused)?,
        };
        for address in known {
            if calls.contains_key(&address) {
                continue;
            }
            match Call::new(&address) {
                Ok(Some(mut call)) if !call.is_closed() => {
                    call.ask(&Request::Subscribe);
                    calls.insert(address, call);
                }
                Ok(_) | Err(Trouble::Unusable(_)) => {}
                Err(Trouble::NoRoom(why)) => {
                    if said.insert((None, String::new())) {
                        say(&format!("not all runs can be followed: {}", plain(&why)));
                    }
                    break;
                }
            }
        }
        let watched: Vec<_> =
            calls.iter().filter_map(|(address, call)| Some((address.clone(), call.watched()?))).collect();
        let mut fds: Vec<_> = watched.iter().map(|(_, (fd, flags))| PollFd::new(*fd, *flags)).collect();
        fds.push(PollFd::new(out.as_fd(), PollFlags::empty()));
        if !wait(&mut fds, timeout(LOOK)) {
            return Ok(Status::Code(0));
        }
        let ready = watched.iter().zip(&fds).filter(|(_, fd)| fd.any() == Some(true));
        let ready: Vec<Address> = ready.map(|((address, _), _)| address.clone()).collect();
        for address in ready {
            let Some(call) = calls.get_mut(&address) else { continue };
            for line in call.attend() {
                let why = refusal(&line);
                if why.is_none_or(|why| said.insert((Some(address.clone()), why))) {
                    tell(Some(&address.run), &line, json)?;
                }
            }
            if call.is_closed() {
                if let Some(why) = call.fault()
                    && said.insert((Some(address.clone()), why.to_owned()))
                {
                    say(&format!("run {}: {}", plain(&address.run), plain(why)));
                }
                calls.remove(&address);
            }
        }
    }
}

/// Waits for something to come. Whether anybody is there to be told, who is the last of these: it is noticed even if
/// nothing happens.
fn wait(fds: &mut [PollFd<'_>], patience: PollTimeout) -> bool {
    let _ = poll(fds, patience);
    fds.last().and_then(PollFd::any) != Some(true)
}

fn tell(run: Option<&str>, line: &str, json: bool) -> Result<(), Error> {
    let event: Value = serde_json::from_str(line).unwrap_or_default();
    let (Some(words), Some(line)) = (in_a_line(&event), relayed(line)) else { return Ok(()) };
    let text = match (json, run) {
        (true, _) => format!("{line}\n"),
        (false, Some(run)) => format!("{}  {words}\n", plain(run)),
        (false, None) => format!("{words}\n"),
    };
    super::print(&text).map(drop)
}
