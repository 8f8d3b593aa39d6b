//! The socket of a run: who comes is let in if it is the same user, and whatever they do, the run goes on.
//!
//! Requests come in as JSON lines and each is answered with one line, in order; a client that subscribes is told every
//! event as well. Nothing here waits: what a client does not take is kept for a while and then dropped, with a count.

use std::fs::Permissions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use nix::poll::PollFlags;
use serde::Serialize;

use super::folder;
use super::guest::{Guest, LONGEST, TooLong};
use super::peer::Peer;
use super::request::{Fault, Request};
use crate::report::{JsonLines, Stats, VERSION, escaped};
use crate::watch::{Event, Moment};

/// How many clients at once.
const MOST: usize = 128;
/// How soon a door that could let nobody in is tried again.
pub const TRY_AGAIN: Duration = Duration::from_secs(1);
/// How many are let in before anything else gets a turn.
const AT_ONCE: usize = 16;

/// What a descriptor of the server means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Somebody wants to come in.
    Door,
    /// A client.
    Guest(u64),
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It was done.
    Done,
    /// It was not, and why.
    Refused(String),
    /// It is being typed; the event that tells of it is the answer.
    Later,
    /// How the run stands at this moment.
    Stats(SystemTime, Moment, Box<Stats>),
    /// Why, at length.
    Explanation(String),
}

/// The socket and its clients. It is removed on drop.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
    /// The process that made it: a copy of this in another process removes nothing.
    owner: u32,
    run: String,
    lines: JsonLines<Vec<u8>>,
    guests: Vec<Guest>,
    next: u64,
    /// Nobody could be let in for want of descriptors or memory; tried again a little later.
    resting: bool,
}

impl Server {
    /// Listens for the run of this name. In words why not, where it cannot.
    pub fn open(run: &str, started: SystemTime) -> Result<Self, String> {
        let path = folder::socket(&folder::make()?, run)?;
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let listener = UnixListener::bind(&path).map_err(failed)?;
        let server = Self {
            listener,
            path: path.clone(),
            owner: std::process::id(),
            run: run.to_owned(),
            lines: JsonLines::new(Vec::new(), run.to_owned(), started),
            guests: Vec::new(),
            next: 0,
            resting: false,
        };
        // The folder keeps everybody else out; this says so once more. From here on the socket is removed on drop.
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(failed)?;
        server.listener.set_nonblocking(true).map_err(failed)?;
        Ok(server)
    }

    /// Where clients come in.
    pub fn door(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// What to poll.
    pub fn watched(&self) -> impl Iterator<Item = (Which, BorrowedFd<'_>, PollFlags)> {
        let door = (!self.resting).then(|| (Which::Door, self.door(), PollFlags::POLLIN));
        let guests = self.guests.iter().filter_map(|guest| {
            let (fd, flags) = guest.watched()?;
            Some((Which::Guest(guest.id), fd, flags))
        });
        door.into_iter().chain(guests)
    }

    /// Whether the door has to be tried again soon.
    pub fn is_resting(&self) -> bool {
        self.resting
    }

    /// Whether there are clients.
    pub fn has_guests(&self) -> bool {
        !self.guests.is_empty()
    }

    /// Whether somebody wants every event.
    pub fn is_followed(&self) -> bool {
        self.guests.iter().any(|guest| guest.subscribed)
    }

    /// Tries the door again, if it has rested.
    pub fn wake(&mut self) {
        if std::mem::take(&mut self.resting) {
            self.let_in();
        }
    }

    /// Lets somebody in, or takes in what a client has said.
    pub fn attend(&mut self, which: Which, events: PollFlags) {
        match which {
            Which::Door => self.let_in(),
            Which::Guest(id) => {
                if let Some(guest) = self.guests.iter_mut().find(|guest| guest.id == id) {
                    guest.attend(events);
                }
            }
        }
    }

    fn let_in(&mut self) {
        for _ in 0..AT_ONCE {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // It has left before it was let in.
                Err(error) if matches!(error.raw_os_error(), Some(libc::ECONNABORTED | libc::EINTR)) => continue,
                Err(_) => {
                    // It stays at the door, so the door is always ready: not to be asked for a while.
                    self.resting = true;
                    return;
                }
            };
            if !Peer::of(&stream).is_some_and(Peer::is_same_user) {
                continue;
            }
            let mut guest = Guest::new(self.next, stream);
            self.next += 1;
            if self.guests.len() >= MOST {
                let line = self.error(None, "too many clients");
                guest.show_out(&line);
                continue;
            }
            self.guests.push(guest);
        }
    }

    /// The next request that can be answered now. What is none is answered here.
    pub fn next_request(&mut self) -> Option<(u64, Request)> {
        for index in 0..self.guests.len() {
            while let Some(line) = self.guests[index].next_line() {
                let fault = match line {
                    Ok(line) if line.is_empty() => continue,
                    Ok(line) => match Request::read(&line) {
                        Ok(request) => return Some((self.guests[index].id, request)),
                        Err(fault) => fault,
                    },
                    Err(TooLong) => Fault::Garbage(format!("not a request: a line of more than {LONGEST} bytes")),
                };
                match fault {
                    Fault::Garbage(why) => {
                        let line = self.error(None, &why);
                        self.guests[index].show_out(&line);
                    }
                    Fault::Wrong(why) => {
                        let line = self.error(None, &why);
                        self.guests[index].answer(&line);
                    }
                }
            }
        }
        self.guests.retain(|guest| !guest.is_done());
        None
    }

    /// Answers a request.
    pub fn answer(&mut self, id: u64, request: &Request, answer: Answer) {
        let name = request.name();
        let line = match answer {
            Answer::Done => self.done(name),
            Answer::Refused(why) => self.error(Some(name), &why),
            Answer::Explanation(text) => Reply { text: Some(&text), ..self.reply("explanation") }.line(),
            Answer::Later => Vec::new(),
            Answer::Stats(when, at, mut stats) => {
                stats.shorten();
                // Writing to memory cannot fail.
                let _ = self.lines.write_stats(when, at, &stats);
                std::mem::take(self.lines.out())
            }
        };
        let Some(guest) = self.guests.iter_mut().find(|guest| guest.id == id) else { return };
        match request {
            Request::Subscribe => guest.subscribed = true,
            Request::Nudge(text) if line.is_empty() => guest.awaits = Some(text.clone()),
            _ => {}
        }
        guest.answer(&line);
    }

    /// Tells an event to those who want it.
    pub fn event(&mut self, when: SystemTime, at: Moment, event: &Event) {
        if self.guests.is_empty() {
            return;
        }
        match event {
            Event::Nudged { text, failed } => self.settle(Some(text), failed.as_deref()),
            Event::Ended { .. } => self.settle(None, Some("the command has ended")),
            _ => {}
        }
        if !self.is_followed() {
            return;
        }
        let _ = self.lines.write_dated(when, at, event);
        let line = std::mem::take(self.lines.out());
        let run = &self.run;
        for guest in self.guests.iter_mut().filter(|guest| guest.subscribed) {
            guest.tell(&line, |count| Reply { count: Some(count), ..Reply::new(run, "dropped") }.line());
        }
    }

    /// Answers those who wait for a nudge: for this one, or for any.
    fn settle(&mut self, typed: Option<&String>, failed: Option<&str>) {
        let line = match failed {
            Some(why) => self.error(Some("nudge"), why),
            None => self.done("nudge"),
        };
        for guest in &mut self.guests {
            let waits = guest.awaits.as_ref().is_some_and(|text| typed.is_none_or(|typed| typed == text));
            if waits {
                guest.awaits = None;
                guest.answer(&line);
            }
        }
    }

    fn done(&self, request: &str) -> Vec<u8> {
        Reply { request: Some(request), ..self.reply("ok") }.line()
    }

    fn error(&self, request: Option<&str>, message: &str) -> Vec<u8> {
        Reply { request, message: Some(message), ..self.reply("error") }.line()
    }

    fn reply(&self, kind: &'static str) -> Reply<'_> {
        Reply::new(&self.run, kind)
    }
}

/// A line that is neither an event nor figures.
#[derive(Serialize)]
struct Reply<'a> {
    v: u8,
    #[serde(rename = "type")]
    kind: &'static str,
    run: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

impl<'a> Reply<'a> {
    const fn new(run: &'a str, kind: &'static str) -> Self {
        Self { v: VERSION, kind, run, request: None, message: None, text: None, count: None }
    }

    fn line(&self) -> Vec<u8> {
        // Words and numbers can always be written.
        let line = escaped(&serde_json::to_string(self).unwrap_or_default()) + "\n";
        line.into_bytes()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.owner == std::process::id() {
            // Whoever has removed it already has done no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
