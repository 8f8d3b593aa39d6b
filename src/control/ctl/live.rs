//! `ctl watch` in a terminal: drawn in place, once a second and when the window changes, until `q`.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, poll};
use serde_json::Value;

use super::super::call::Call;
use super::super::folder::{self, Address};
use super::super::request::Request;
use super::super::round::{Found, PATIENCE, Round, Told, refusal, timeout};
use super::words::in_a_line;
use super::{gone, page, refused, table, unheard};
use crate::error::Error;
use crate::report::plain;
use crate::session::{Clock, Signals, Sink, Status, Terminal, is_orphaned};
use crate::signal::Signal;
use crate::watch::Moment;

/// How often everything is asked again.
const TICK: Duration = Duration::from_secs(1);
/// How many events are kept to be shown.
const KEPT: usize = 200;
/// The alternate screen, no cursor, no wrapped lines; and the way back.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &[u8] = b"\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The terminal while it is drawn on. It is given back on drop.
pub struct Screen {
    terminal: Terminal,
    out: Sink,
    entered: bool,
}

impl Screen {
    /// The terminal, if there is one and we have it.
    pub fn open() -> Option<Self> {
        let terminal = Terminal::find().filter(Terminal::is_ours)?;
        let out = Sink::own(terminal.as_fd().try_clone_to_owned().ok()?);
        Some(Self { terminal, out, entered: false })
    }

    fn enter(&mut self) -> Result<(), Error> {
        self.terminal.make_raw(false).map_err(|error| Error::refused(format!("cannot draw: {error}")))?;
        self.entered = true;
        self.out.take(ENTER);
        Ok(())
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.entered) {
            self.out.take(LEAVE);
            // A terminal that takes nothing any more is not waited for.
            for _ in 0..10 {
                let Some(fd) = self.out.fd().filter(|_| self.out.is_behind()) else { break };
                let _ = poll(&mut [PollFd::new(fd, PollFlags::POLLOUT)], timeout(Duration::from_millis(100)));
                self.out.flush();
            }
            self.terminal.restore();
        }
    }

    /// Columns and rows.
    fn size(&self) -> (usize, usize) {
        page::size_of(&self.terminal).unwrap_or((80, 24))
    }

    fn draw(&mut self, lines: &[String]) {
        self.out.flush();
        if self.out.is_behind() {
            // The next picture will do.
            return;
        }
        let (_, rows) = self.size();
        let mut text = String::from("\x1b[H");
        for (index, line) in lines.iter().take(rows).enumerate() {
            text.push_str(if index == 0 { "" } else { "\r\n" });
            text.push_str(line);
            text.push_str("\x1b[K");
        }
        text.push_str("\x1b[J");
        self.out.take(text.as_bytes());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}

/// What is asked and shown.
enum Subject<'a> {
    All { folders: &'a [PathBuf], round: Option<Round>, found: Option<Vec<Found>> },
    One(Box<One>),
}

/// One run.
struct One {
    call: Call,
    events: VecDeque<String>,
    /// How it stood, and when that was.
    told: Option<(Moment, Told)>,
    /// It was asked how it stands and has not answered yet. It is not asked more and more.
    asked: bool,
    /// Why it does not say anything, though it goes on.
    refusal: Option<String>,
}

/// Draws until it is told to stop; gives what to exit with.
pub fn watch(mut screen: Screen, folders: &[PathBuf], run: Option<&Address>) -> Result<Status, Error> {
    let mut subject = match run {
        None => Subject::All { folders, round: None, found: None },
        Some(address) => {
            let mut call = Call::new(address).map_err(refused)?.ok_or_else(|| gone(&address.run))?;
            call.ask(&Request::Subscribe);
            Subject::One(Box::new(One { call, events: VecDeque::new(), told: None, asked: false, refusal: None }))
        }
    };
    let signals = Signals::pipe().and_then(Signals::catch);
    let mut signals = signals.map_err(|error| Error::internal(error.to_string()))?;
    screen.enter()?;
    let clock = Clock::start();
    let mut tick = Moment::START;
    loop {
        let now = clock.now();
        if now >= tick {
            subject.ask()?;
            tick = now + TICK;
        }
        let ready = wait(&screen, &signals, &subject, tick.since(now));
        let keys = if ready.terminal { read_keys(&screen) } else { Keys::None };
        let mut redraw = false;
        let mut suspended = false;
        for (signal, _) in if ready.signals { signals.arrived() } else { Vec::new() } {
            match signal {
                Signal::WINCH | Signal::CONT => redraw = true,
                Signal::TSTP => suspended = true,
                signal if signal.ends() => return Ok(Status::Signal(signal)),
                _ => {}
            }
        }
        match keys {
            Keys::Quit => return Ok(Status::Code(0)),
            Keys::Suspend => suspended = true,
            Keys::None => {}
        }
        // Where nobody could continue us, the kernel would not stop us either.
        if suspended && !is_orphaned() {
            if let Some(status) = suspend(&mut screen, &mut signals)? {
                return Ok(status);
            }
            redraw = true;
        }
        redraw |= subject.attend(&ready.calls, clock.now());
        if let Some(last) = subject.ended() {
            drop(screen);
            return super::print(&format!("{}\n", last?));
        }
        if redraw || ready.nothing {
            let size = screen.size();
            let lines = subject.lines(size, clock.now());
            screen.draw(&lines);
        }
    }
}

/// What `poll` said.
struct Ready {
    terminal: bool,
    signals: bool,
    calls: Vec<usize>,
    nothing: bool,
}

fn wait(screen: &Screen, signals: &Signals, subject: &Subject<'_>, left: Duration) -> Ready {
    let watched = subject.watched();
    let mut fds =
        vec![PollFd::new(screen.terminal.as_fd(), PollFlags::POLLIN), PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
    fds.extend(watched.iter().map(|(_, fd, flags)| PollFd::new(*fd, *flags)));
    let left = subject.left().map_or(left, |round| round.min(left));
    let polled = poll(&mut fds, timeout(left));
    let is_ready = |fd: &PollFd<'_>| polled.is_ok() && fd.any() == Some(true);
    let calls = watched.iter().zip(&fds[2..]).filter(|(_, fd)| is_ready(fd)).map(|((index, ..), _)| *index).collect();
    Ready {
        terminal: is_ready(&fds[0]),
        signals: is_ready(&fds[1]) || polled.is_err(),
        calls,
        nothing: polled == Ok(0),
    }
}

/// What was typed.
enum Keys {
    None,
    Quit,
    Suspend,
}

fn read_keys(screen: &Screen) -> Keys {
    if !screen.terminal.is_ours() {
        // Whoever reads from the background is stopped for it, or gets an error where nobody could continue it.
        return if screen.terminal.is_gone() || is_orphaned() { Keys::Quit } else { Keys::Suspend };
    }
    let mut buffer = [0; 64];
    match nix::unistd::read(&screen.terminal, &mut buffer) {
        Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => Keys::None,
        // The terminal is gone.
        Ok(0) | Err(_) => Keys::Quit,
        // An escape sequence, such as an arrow, may have any letter in it.
        Ok(_) if buffer[0] == 0x1b => Keys::None,
        Ok(count) if buffer[..count].iter().any(|key| matches!(key, b'q' | b'Q' | 3 | 4)) => Keys::Quit,
        Ok(count) if buffer[..count].contains(&0x1a) => Keys::Suspend,
        Ok(_) => Keys::None,
    }
}

/// Gives the terminal back and stops, until somebody continues us in its foreground; or gives what to exit with, where
/// we were ended meanwhile or the terminal is gone.
fn suspend(screen: &mut Screen, signals: &mut Signals) -> Result<Option<Status>, Error> {
    screen.leave();
    loop {
        if let Some(signal) = signals.stop() {
            return Ok(Some(Status::Signal(signal)));
        }
        if screen.terminal.is_gone() {
            return Ok(Some(Status::Code(0)));
        }
        if screen.terminal.is_ours() {
            break;
        }
    }
    screen.enter().map(|()| None)
}

impl Subject<'_> {
    fn ask(&mut self) -> Result<(), Error> {
        match self {
            Self::All { folders, round, .. } => {
                if round.is_none() {
                    *round = Some(Round::begin(folder::runs(folders).map_err(refused)?));
                }
            }
            Self::One(one) => {
                if !std::mem::replace(&mut one.asked, true) {
                    one.call.ask(&Request::Stats);
                }
            }
        }
        Ok(())
    }

    fn watched(&self) -> Vec<(usize, BorrowedFd<'_>, PollFlags)> {
        match self {
            Self::All { round, .. } => round.iter().flat_map(Round::watched).collect(),
            Self::One(one) => one.call.watched().map(|(fd, flags)| (0, fd, flags)).into_iter().collect(),
        }
    }

    /// How long the answers that are still to come are waited for.
    fn left(&self) -> Option<Duration> {
        match self {
            Self::All { round, .. } => round.as_ref().map(Round::left),
            Self::One(_) => None,
        }
    }

    /// Takes in what has come. Whether there is something new to show.
    fn attend(&mut self, ready: &[usize], now: Moment) -> bool {
        match self {
            Self::All { round, found, .. } => {
                if let Some(round) = round {
                    for index in ready {
                        round.attend(*index);
                    }
                }
                match round.take_if(Round::is_over) {
                    Some(round) => *found = Some(round.end()),
                    None => return false,
                }
                true
            }
            Self::One(_) if ready.is_empty() => false,
            Self::One(one) => {
                one.attend(now);
                true
            }
        }
    }

    /// The last words of a run that has ended, or of which nothing more can be heard.
    fn ended(&self) -> Option<Result<String, Error>> {
        match self {
            Self::One(one) if one.call.is_closed() => Some(one.last()),
            _ => None,
        }
    }

    fn lines(&self, (width, rows): (usize, usize), now: Moment) -> Vec<String> {
        let colours = page::has_colours();
        match self {
            Self::All { found, .. } => {
                let going_on = match found.as_ref().map(Vec::len) {
                    None => "asking all runs".to_owned(),
                    Some(0) => "no run is in progress".to_owned(),
                    Some(1) => "1 run".to_owned(),
                    Some(several) => format!("{several} runs"),
                };
                let mut lines = vec![table::cut(&format!("idlewatch: {going_on}   q: quit"), width), String::new()];
                if let Some(found) = found.as_ref().filter(|found| !found.is_empty()) {
                    lines.extend(table::table(found, Some(width), colours));
                }
                lines
            }
            Self::One(one) => one.lines(width, rows, now, colours),
        }
    }
}

impl One {
    fn attend(&mut self, now: Moment) {
        for line in self.call.attend() {
            if let Some(told) = Told::read(&line) {
                (self.told, self.asked, self.refusal) = (Some((now, told)), false, None);
                continue;
            }
            if let Some(why) = refusal(&line) {
                (self.asked, self.refusal) = (false, Some(why));
            }
            self.events.extend(serde_json::from_str::<Value>(&line).ok().as_ref().and_then(in_a_line));
        }
        self.events.drain(..self.events.len().saturating_sub(KEPT));
    }

    fn last(&self) -> Result<String, Error> {
        let run = &self.call.run;
        match self.call.fault().or(self.refusal.as_deref()) {
            Some(why) => Err(unheard(run, why)),
            None => Ok(self.events.back().cloned().unwrap_or_else(|| format!("run {} has ended", plain(run)))),
        }
    }

    fn lines(&self, width: usize, rows: usize, now: Moment, colours: bool) -> Vec<String> {
        let run = &self.call.run;
        let told = self.told.as_ref().filter(|(at, _)| now.since(*at) < PATIENCE + TICK);
        let (answer, why) = (told.map(|(_, told)| told.clone()), self.refusal.clone());
        let found = Found { run: run.clone(), pid: self.call.pid, answer, why };
        let mut lines = vec![table::cut(&format!("idlewatch: {}   q: quit", plain(run)), width), String::new()];
        lines.extend(page::page(&found, Some(width), colours));
        lines.push(String::new());
        let room = rows.saturating_sub(lines.len());
        let events = self.events.iter().skip(self.events.len().saturating_sub(room));
        lines.extend(events.map(|line| table::cut(line, width)));
        lines
    }
}
