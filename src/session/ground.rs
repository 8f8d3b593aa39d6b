//! Everything that is there before the command is: its terminal, what is known of ours, and then the command itself.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use nix::sys::termios::{LocalFlags, Termios};
use portable_pty::PtySize;

use super::environment::Environment;
use super::lent::Lent;
use super::link::News;
use super::monitor::{Interruption, Monitor};
use super::place::Place;
use super::pty::Pty;
use super::signals::Signals;
use super::spawn::{Failure, Given, Launch};
use super::streams::{Input, Output, Plan};
use super::surroundings::Surroundings;
use super::terminal::{Borrowed, STANDARD, Terminal};
use super::{inherited, tree, typeahead};
use crate::config::Config;
use crate::error::Error;
use crate::report::{plain, quoted};
use crate::signal::Signal;
use crate::watch::Size;

/// Programs that start a pager do so because their output is a terminal. Where ours is not, they would not have.
const NO_PAGER: &[&CStr] = &[
    c"PAGER=cat",
    c"GIT_PAGER=cat",
    c"MANPAGER=cat",
    c"SYSTEMD_PAGER=cat",
    c"BAT_PAGER=cat",
    c"DELTA_PAGER=cat",
    c"GH_PAGER=cat",
    c"AWS_PAGER=",
];

/// The size of a terminal that nobody looks at.
const PLAIN_SIZE: PtySize =
    PtySize { rows: Size::ASSUMED.rows, cols: Size::ASSUMED.cols, pixel_width: 0, pixel_height: 0 };

/// Everything that is there before the command is.
pub struct Ground {
    /// What we were started with.
    pub own: Surroundings,
    /// What the command gets of it.
    pub plan: Plan,
    /// The size of its terminal.
    pub size: PtySize,
    /// Our terminal.
    pub terminal: Option<Terminal>,
    /// The settings our terminal was found with.
    settings: Option<Termios>,
    /// Our terminal, if the command reads from it directly.
    pub lent: Option<Lent>,
    /// We are in our terminal's foreground.
    pub in_front: bool,
    /// The command has our terminal from the start.
    pub takes_terminal: bool,
    /// Our side of the command's terminal.
    pub pty: Option<Pty>,
    /// The other side of it.
    pub slave: Option<OwnedFd>,
}

impl Ground {
    /// Opens the command's terminal.
    pub fn lay(config: &Config) -> Result<Self, Error> {
        let own = Surroundings::look();
        let mut plan = Plan::new(config.pty, config.stdin, config.types(), own);
        // A command that wants it is stopped, which is how we know. One that ignores that, as in a substitution of an
        // interactive bash, would get an error.
        plan.on_demand &= !inherited::was_ignored(Signal::TTIN);
        if config.types() && config.insists_on_typing && plan.stdin != Input::Pty {
            return Err(Error::usage(
                "nothing can be typed into the command, which does not read from its terminal; \
                 use --stdin pty, or remove --nudge and key: steps",
            ));
        }
        // From here to `catch` signals wait: none may find us half ready, and one that tells of a new size is not lost
        // once the size is known.
        Signals::hold_back().map_err(Error::failed("cannot block signals"))?;
        let mut terminal = if plan.pty { Terminal::find() } else { None };
        let size = size(config, terminal.as_ref());
        let settings = terminal.as_ref().and_then(|terminal| terminal.settings().ok());
        // The command may have changed its settings as soon as it is there.
        let lent = if plan.lends { Lent::new(STANDARD[0], !plan.piped).ok() } else { None };
        let (pty, slave) =
            if plan.pty { open(size, settings.as_ref(), !plan.type_stdin).map(both)? } else { (None, None) };
        let in_front = terminal.as_ref().is_none_or(Terminal::is_ours);
        let takes_terminal = plan.pty && terminal.is_some() && in_front && !plan.on_demand;
        if let (Some(terminal), Some(settings), true) = (&mut terminal, &settings, takes_terminal) {
            terminal.will_be_raw(settings.clone(), plan.shared);
        }
        Ok(Self { own, plan, size, terminal, settings, lent, in_front, takes_terminal, pty, slave })
    }

    /// Nobody came to read what was typed too early: it is for whoever comes next.
    pub fn return_typeahead(&mut self) {
        if let (Some(terminal), Some(pty), Some(slave), Some(settings)) =
            (&mut self.terminal, &self.pty, &self.slave, &self.settings)
            && let Ok(unread) = typeahead::take_unread(pty, slave, settings)
            && !unread.is_empty()
        {
            typeahead::give_back(terminal, &unread);
        }
    }

    /// Makes our terminal raw and moves into the command's what was typed before that.
    fn take_over(&self) -> io::Result<()> {
        let (Some(terminal), Some(pty), Some(settings), true) =
            (&self.terminal, &self.pty, &self.settings, self.takes_terminal)
        else {
            return Ok(());
        };
        let waiting = typeahead::take(terminal, settings)?;
        terminal.enforce()?;
        if !waiting.is_empty() {
            pty.set(&typeahead::silent(settings))?;
            File::from(pty.as_fd().try_clone_to_owned()?).write_all(&waiting)?;
            if let Some(slave) = &self.slave {
                // What is written to a master is worked on later, by the kernel's own thread, under the settings of that
                // time. To ask the other side whether it can read waits for that.
                typeahead::is_ready(slave)?;
            }
            pty.set(settings)?;
        }
        Ok(())
    }

    /// Whether the command finds a terminal that shows what is typed.
    pub fn echoes(&self) -> bool {
        match (&self.settings, &self.lent) {
            (Some(settings), _) => settings.local_flags.contains(LocalFlags::ECHO),
            (None, Some(lent)) => lent.echoed(),
            (None, None) => !self.plan.type_stdin,
        }
    }

    /// Where the command will stand.
    pub fn place(&self) -> Place {
        match &self.pty {
            None => Place::Ours,
            // A shell that reads from a terminal makes itself the leader of a process group. If it had to leave ours for
            // that, it would leave the foreground too, and could not get back where its errors go elsewhere.
            Some(_) if self.terminal.is_none() && self.plan.stdin == Input::Pty => Place::Job { leads: true },
            Some(_) => Place::under_terminal(self.takes_terminal),
        }
    }

    /// Starts the command with these output streams. Gives the monitor, the process and its group.
    pub fn launch(
        &self,
        argv: Vec<OsString>,
        outputs: [Given; 2],
        without: &[&str],
        limit: Option<Duration>,
    ) -> Result<(Monitor, i32, i32), Error> {
        let stdin = match (self.plan.stdin, &self.slave) {
            (Input::Pty, Some(slave)) => Given::This(duplicate(slave)?),
            (Input::Null, _) => Given::Null,
            (Input::Closed, _) => Given::Closed,
            (Input::Inherit | Input::Pty, _) => Given::Ours,
        };
        let name = argv[0].clone();
        let [stdout, stderr] = outputs;
        let launch = Launch {
            argv,
            streams: [stdin, stdout, stderr],
            terminal: self.slave.as_ref().map(duplicate).transpose()?,
            place: self.place(),
            foreground: self.takes_terminal || self.terminal.is_none() || self.plan.type_stdin,
            environment: Environment::new(if self.plan.stdout == Output::SidePty { NO_PAGER } else { &[] }, without),
        };
        let lent = self.lent.as_ref().map(Lent::to_give_back).transpose()?.flatten();
        let outer = match (lent, &self.terminal, &self.settings) {
            (None, Some(terminal), Some(found)) => {
                Some(Borrowed { fd: duplicate(terminal)?, found: found.clone(), lent: false })
            }
            (lent, ..) => lent,
        };
        let newcomer = launch.prepare().map_err(|error| cannot_run(&name, error.into()))?;
        tree::adopt_orphans();
        let monitor =
            Monitor::start(newcomer, outer, || self.take_over()).map_err(Error::failed("cannot start a process"))?;
        let error = match monitor.first_news(limit) {
            Ok(Some(News::Started { pid, group })) => return Ok((monitor, pid, group)),
            Ok(Some(News::Failed(failure))) => {
                monitor.bury();
                return Err(cannot_run(&name, failure));
            }
            Ok(_) => Error::internal("the monitor process ended before the command was started"),
            Err(Interruption::Told(signal)) => {
                Error::told(signal, format!("ended by {signal} before '{}' could be started", printable(&name)))
            }
            Err(Interruption::Late) => Error::late(format!("timed out before '{}' could be started", printable(&name))),
        };
        monitor.abandon();
        Err(error)
    }
}

fn size(config: &Config, terminal: Option<&Terminal>) -> PtySize {
    match (config.size, terminal.and_then(Terminal::size)) {
        (Some(fixed), _) => PtySize { rows: fixed.rows, cols: fixed.cols, pixel_width: 0, pixel_height: 0 },
        (None, Some(outer)) => outer,
        (None, None) => PLAIN_SIZE,
    }
}

/// Opens a pseudo-terminal; `like` are the settings it starts with, otherwise it is one that nobody looks at.
pub fn open(size: PtySize, like: Option<&Termios>, echoes: bool) -> Result<(Pty, OwnedFd), Error> {
    let (pty, slave) = Pty::open(size, like).map_err(|error| match error.raw_os_error() {
        // That is how the kernel says it.
        Some(libc::ENOSPC) => Error::internal("cannot open a pseudo-terminal: all of them are in use"),
        _ => Error::failed("cannot open a pseudo-terminal")(error),
    })?;
    if like.is_none() {
        pty.make_plain(echoes).map_err(Error::failed("cannot set up the pseudo-terminal"))?;
    }
    Ok((pty, slave))
}

fn both<A, B>((one, other): (A, B)) -> (Option<A>, Option<B>) {
    (Some(one), Some(other))
}

fn printable(name: &OsStr) -> String {
    plain(&name.to_string_lossy())
}

fn cannot_run(name: &OsStr, failure: Failure) -> Error {
    let name = printable(name);
    let (Failure::Preparing(errno) | Failure::Running(errno)) = failure;
    let error = io::Error::from_raw_os_error(errno);
    match failure {
        // As shells are given it with -c, and other wrappers in quotes.
        Failure::Running(libc::ENOENT) if is_a_line(&name) => Error::not_found(format!(
            "cannot run '{name}': no program has this name; remove the quotes around it, or use sh -c {}",
            quoted(&name)
        )),
        Failure::Running(libc::ENOENT) => Error::not_found(format!("cannot run '{name}': {error}")),
        // Not the command's fault.
        Failure::Preparing(_) | Failure::Running(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::EAGAIN) => {
            Error::internal(format!("cannot start '{name}': {error}"))
        }
        Failure::Running(_) => Error::cannot_run(format!("cannot run '{name}': {error}")),
    }
}

/// A name and its arguments in one word. A path may have a space in it.
fn is_a_line(name: &str) -> bool {
    name.split_once(' ').is_some_and(|(first, _)| !first.contains('/'))
}

/// The same open file once more.
pub fn duplicate(fd: &impl AsFd) -> Result<OwnedFd, Error> {
    fd.as_fd().try_clone_to_owned().map_err(Error::failed("cannot duplicate a descriptor"))
}
