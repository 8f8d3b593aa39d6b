//! Everything that is opened before the command runs, in the order that makes it unnoticeable.

use std::collections::VecDeque;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::termios::Termios;
use portable_pty::PtySize;

use super::alarm::Alarm;
use super::asked::Asked;
use super::clock::Clock;
use super::command::Command;
use super::environment::Environment;
use super::fate::Fate;
use super::flow::Flow;
use super::gaps::Gaps;
use super::heartbeat::Heartbeat;
use super::inner::Inner;
use super::link::News;
use super::monitor::{Interruption, Monitor};
use super::notes::{Notes, Tone};
use super::outer::Outer;
use super::place::Place;
use super::prompt::Drawn;
use super::pty::Pty;
use super::records::Records;
use super::relaunch::Time;
use super::relay::{Kind, Source};
use super::scribe::LINES_ABOVE;
use super::signals::Signals;
use super::sink::Sink;
use super::spawn::{Failure, Given, Launch};
use super::streams::{Input, Output, Plan};
use super::surroundings::{Own, Surroundings};
use super::teller::Teller;
use super::terminal::{STANDARD, Terminal, replace_standard_streams};
use super::{Session, inherited, signals, tree, typeahead};
use crate::config::{Config, Say};
use crate::error::Error;
use crate::report::plain;
use crate::signal::Signal;
use crate::watch::{Event, Moment, Policy, Size, Stream, Watcher};

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

/// The command's side and ours of one of its output streams.
struct Pieces {
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    given: [Given; 2],
    files: Vec<(File, u64)>,
}

/// Everything that is there before the command is.
struct Ground {
    own: Surroundings,
    plan: Plan,
    size: PtySize,
    terminal: Option<Terminal>,
    /// The settings our terminal was found with.
    settings: Option<Termios>,
    /// We are in our terminal's foreground.
    in_front: bool,
    /// The command has our terminal from the start.
    takes_terminal: bool,
    pty: Option<Pty>,
    slave: Option<OwnedFd>,
}

impl Ground {
    /// Opens the command's terminal.
    fn lay(config: &Config) -> Result<Self, Error> {
        let own = Surroundings::look();
        let mut plan = Plan::new(config.pty, config.stdin, config.types(), own);
        // A command that wants it is stopped, which is how we know. One that ignores that, as in a substitution of an
        // interactive bash, would get an error.
        plan.on_demand &= !inherited::was_ignored(Signal::TTIN);
        if config.types() && config.insists_on_typing && plan.stdin != Input::Pty {
            return Err(Error::usage(
                "nothing can be typed into the command: it does not read from its terminal; \
                 use --stdin pty, or leave out --nudge and key: steps",
            ));
        }
        let mut terminal = if plan.pty { Terminal::find() } else { None };
        let size = size(config, terminal.as_ref());
        let settings = terminal.as_ref().and_then(|terminal| terminal.settings().ok());
        let (pty, slave) =
            if plan.pty { open(size, settings.as_ref(), !plan.type_stdin).map(both)? } else { (None, None) };
        // From here to `catch` signals wait: none may find us half ready.
        Signals::hold_back().map_err(failed("cannot block signals"))?;
        let in_front = terminal.as_ref().is_none_or(Terminal::is_ours);
        let takes_terminal = plan.pty && terminal.is_some() && in_front && !plan.on_demand;
        if let (Some(terminal), Some(settings), true) = (&mut terminal, &settings, takes_terminal) {
            terminal.will_be_raw(settings.clone(), plan.shared);
        }
        Ok(Self { own, plan, size, terminal, settings, in_front, takes_terminal, pty, slave })
    }

    /// Nobody came to read what was typed too early: it is for whoever comes next.
    fn return_typeahead(&mut self) {
        if let (Some(terminal), Some(slave), Some(settings)) = (&mut self.terminal, &self.slave, &self.settings)
            && let Ok(unread) = typeahead::take(slave, settings)
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

    fn place(&self) -> Place {
        match &self.pty {
            None => Place::Ours,
            // A shell that reads from a terminal makes itself the leader of a process group. If it had to leave ours for
            // that, it would leave the foreground too, and could not get back where its errors go elsewhere.
            Some(_) if self.terminal.is_none() && self.plan.stdin == Input::Pty => Place::Job { leads: true },
            Some(_) => Place::under_terminal(self.takes_terminal),
        }
    }

    /// Starts the command with these output streams. Gives the monitor, the process and its group.
    fn launch(
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
        let outer = match (&self.terminal, &self.settings) {
            (Some(terminal), Some(settings)) => Some((duplicate(terminal)?, settings.clone())),
            _ => None,
        };
        let newcomer = launch.prepare().map_err(|error| cannot_run(&name, error.into()))?;
        tree::adopt_orphans();
        let monitor = Monitor::start(newcomer, outer, || self.take_over()).map_err(failed("cannot start a process"))?;
        let error = match monitor.first_news(limit) {
            Ok(Some(News::Started { pid, group })) => return Ok((monitor, pid, group)),
            Ok(Some(News::Failed(failure))) => {
                bury(&monitor);
                return Err(cannot_run(&name, failure));
            }
            Ok(_) => Error::internal("the monitor process ended before the command was started"),
            Err(Interruption::Told(signal)) => {
                Error::told(signal, format!("ended by {signal} before '{}' could be started", printable(&name)))
            }
            Err(Interruption::Late) => {
                Error::late(format!("the time was over before '{}' could be started", printable(&name)))
            }
        };
        monitor.abandon();
        Err(error)
    }
}

/// A command that was started, and everything that was opened for it.
struct Launched {
    ground: Ground,
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    files: Vec<(File, u64)>,
    monitor: Monitor,
    child: i32,
    group: i32,
}

impl Launched {
    // Not inlined: the monitor copies of the stack what it touches, and would have what comes later in between.
    #[inline(never)]
    fn new(config: &Config, argv: Vec<OsString>, without: &[&str], limit: Option<Duration>) -> Result<Self, Error> {
        let mut ground = Ground::lay(config)?;
        let Pieces { sources, sinks, given, files } = outputs(&ground)?;
        match ground.launch(argv, given, without, limit) {
            Ok((monitor, child, group)) => Ok(Self { ground, sources, sinks, files, monitor, child, group }),
            Err(error) => {
                ground.return_typeahead();
                Err(error)
            }
        }
    }
}

impl Session {
    /// Opens everything and starts the command.
    pub(super) fn start(
        config: &Config,
        argv: Vec<OsString>,
        inherited: &[RawFd],
        time: Time,
        records: &mut Records,
    ) -> Result<Box<Self>, Error> {
        let words: Vec<String> = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let pipe = Signals::pipe().map_err(failed("cannot catch signals"))?;
        let limit = time.limit.filter(|_| config.policy.ladders.timeout_ends());
        let left = limit.map(|limit| limit.saturating_sub(time.earlier));
        let launched = Launched::new(config, argv, records.taken_variables(), left)?;
        let Ground { own, plan, size, takes_terminal, in_front, .. } = launched.ground;
        if !config.relaunches() {
            let_go(plan, inherited);
        }
        let signals = Signals::catch(pipe).map_err(failed("cannot catch signals"))?;
        let prints_to_terminal = launched.ground.terminal.is_some()
            || [own.stdout, own.stderr].iter().any(|stream| matches!(stream, Own::Terminal | Own::OtherTerminal));
        Signals::hold_terminal_output(prints_to_terminal && !takes_terminal);
        let mut session = Self::around(config, launched, signals, time, records);
        session.teller.records.begin(Size { cols: size.cols, rows: size.rows }.or_assumed(), &words);
        session.report(&Event::Started { command: words, pid: session.command.child });
        session.set_attended(session.outer.has_person && in_front);
        session.share_output();
        if let Err(why) = session.teller.records.listen() {
            session.tell(Say::Everything, Tone::Remark, &format!("no control socket: {why}"));
        }
        Ok(session)
    }

    /// The session of a command that was started.
    // Not inlined, for the sake of the stack, as above.
    #[inline(never)]
    fn around(config: &Config, launched: Launched, signals: Signals, time: Time, records: &mut Records) -> Box<Self> {
        let Launched { ground, sources, sinks, files, monitor, child, group } = launched;
        let place = ground.place();
        let Ground { own, plan, size, .. } = ground;
        Box::new(Self {
            clock: Clock::start(),
            alarm: Alarm::new(),
            gaps: Gaps::new(Clock::suspended()),
            watcher: Watcher::new(Policy {
                size: Size { cols: size.cols, rows: size.rows },
                timeout: time.limit,
                earlier: time.earlier,
                picture: config.report.as_ref().map(|_| LINES_ABOVE),
                ladders: match plan.stdin {
                    Input::Pty => config.policy.ladders.clone(),
                    _ => config.policy.ladders.without_typing(),
                },
                ..config.policy.clone()
            }),
            signals,
            command: Command { monitor, child, group, place },
            inner: Inner {
                pty: ground.pty,
                slave: ground.slave,
                reads_pty: plan.stdin == Input::Pty,
                type_stdin: plan.type_stdin,
                is_silenced: plan.type_stdin && ground.terminal.is_none(),
                ..Inner::default()
            },
            outer: Outer {
                screen: ground.terminal.as_ref().map(|_| 0),
                terminal: ground.terminal,
                on_demand: plan.on_demand,
                shared: plan.shared,
                strange_settings: !ground.in_front,
                fixed_size: config.size.is_some(),
                has_person: own.stdin == Own::Terminal,
                ..Outer::default()
            },
            flow: Flow { sources, sinks, files, ..Flow::default() },
            asked: Asked::default(),
            teller: Teller {
                notes: Notes::new(config.say),
                progress_every: config.progress_every,
                progress: records.progress_every(config).map(|every| (every, Moment::START + every)),
                heartbeat: config.heartbeat.map(Heartbeat::new),
                records: std::mem::take(records),
            },
            prompt: None,
            drawn: config.prompts().then(Drawn::default),
            fate: Fate { kills: config.policy.ending.kill_after.is_some(), ..Fate::default() },
            queue: VecDeque::new(),
            performing: false,
        })
    }
}

/// Waits for the monitor, which has nothing more to do.
pub(super) fn bury(monitor: &Monitor) {
    // Should somebody have stopped it: it has to go on to end.
    let _ = signals::send(monitor.pid, Signal::CONT);
    let _ = nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(monitor.pid), None);
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> Error {
    move |error| Error::internal(format!("{what}: {error}"))
}

fn printable(name: &OsStr) -> String {
    plain(&name.to_string_lossy())
}

fn cannot_run(name: &OsStr, failure: Failure) -> Error {
    let name = printable(name);
    let (Failure::Preparing(errno) | Failure::Running(errno)) = failure;
    let error = io::Error::from_raw_os_error(errno);
    match failure {
        Failure::Running(libc::ENOENT) => Error::not_found(format!("cannot run '{name}': {error}")),
        // Not the command's fault.
        Failure::Preparing(_) | Failure::Running(libc::EMFILE | libc::ENFILE | libc::ENOMEM | libc::EAGAIN) => {
            Error::internal(format!("cannot start '{name}': {error}"))
        }
        Failure::Running(_) => Error::cannot_run(format!("cannot run '{name}': {error}")),
    }
}

fn size(config: &Config, terminal: Option<&Terminal>) -> PtySize {
    match (config.size, terminal.and_then(Terminal::size)) {
        (Some(fixed), _) => PtySize { rows: fixed.rows, cols: fixed.cols, pixel_width: 0, pixel_height: 0 },
        (None, Some(outer)) => outer,
        (None, None) => PLAIN_SIZE,
    }
}

fn open(size: PtySize, like: Option<&Termios>, echoes: bool) -> Result<(Pty, OwnedFd), Error> {
    let (pty, slave) = Pty::open(size, like).map_err(|error| match error.raw_os_error() {
        // That is how the kernel says it.
        Some(libc::ENOSPC) => Error::internal("cannot open a pseudo-terminal: all that there can be are in use"),
        _ => failed("cannot open a pseudo-terminal")(error),
    })?;
    if like.is_none() {
        pty.make_plain(echoes).map_err(failed("cannot set up the pseudo-terminal"))?;
    }
    Ok((pty, slave))
}

/// Opens what the command's output streams are made of, and where they go on our side.
fn outputs(ground: &Ground) -> Result<Pieces, Error> {
    let (mut sources, mut sinks, mut files) = (Vec::new(), Vec::new(), Vec::new());
    if let (Some(_), Some(terminal)) = (&ground.slave, &ground.terminal) {
        sinks.push(Sink::own(duplicate(terminal)?));
        sources.push(Source::new(Kind::Terminal, Stream::Terminal, 0, false));
    }
    let unusable = failed("cannot use the standard streams");
    let mut give = |output, fd: BorrowedFd<'_>, stream, stdout: Option<&Given>| -> Result<Given, Error> {
        Ok(match (output, &ground.slave) {
            (Output::Pty, Some(slave)) => Given::This(duplicate(slave)?),
            (Output::Closed, _) => Given::Closed,
            (Output::Inherit, _) => {
                let file = File::from(duplicate(&fd)?);
                let size = file.metadata().map_or(0, |metadata| metadata.len());
                files.push((file, size));
                Given::Ours
            }
            (Output::SameAsStdout, _) => match stdout {
                Some(Given::This(fd)) => Given::This(duplicate(fd)?),
                _ => Given::Ours,
            },
            (Output::Pty | Output::SidePty | Output::Pipe | Output::Socket, _) => {
                let (kind, given) = match output {
                    Output::Pipe => pipe()?,
                    Output::Socket => socket()?,
                    _ => side(ground.size)?,
                };
                sources.push(Source::new(kind, stream, sinks.len(), output == Output::SidePty));
                sinks.push(Sink::stream(fd).map_err(&unusable)?);
                Given::This(given)
            }
        })
    };
    let stdout = give(ground.plan.stdout, STANDARD[1], Stream::Stdout, None)?;
    let stderr = give(ground.plan.stderr, STANDARD[2], Stream::Stderr, Some(&stdout))?;
    if let (Some(_), None) = (&ground.slave, &ground.terminal) {
        // What is written to a terminal that nobody has is shown where the errors go.
        if sinks.is_empty() {
            sinks.push(Sink::stream(STANDARD[1]).map_err(&unusable)?);
        }
        sources.push(Source::new(Kind::Terminal, Stream::Stdout, sinks.len() - 1, true));
    }
    Ok(Pieces { sources, sinks, given: [stdout, stderr], files })
}

fn side(size: PtySize) -> Result<(Kind, OwnedFd), Error> {
    let (pty, slave) = open(size, None, false)?;
    Ok((Kind::Side(pty), slave))
}

fn pipe() -> Result<(Kind, OwnedFd), Error> {
    let (read, write) = io::pipe().map_err(failed("cannot open a pipe"))?;
    let read = OwnedFd::from(read);
    let flags = fcntl(&read, FcntlArg::F_GETFL).map(OFlag::from_bits_retain);
    flags
        .and_then(|flags| fcntl(&read, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)))
        .map_err(|error| failed("cannot open a pipe")(error.into()))?;
    Ok((Kind::Pipe(read), write.into()))
}

fn socket() -> Result<(Kind, OwnedFd), Error> {
    let (ours, theirs) = UnixStream::pair().map_err(failed("cannot open a socket"))?;
    ours.set_nonblocking(true).map_err(failed("cannot open a socket"))?;
    Ok((Kind::Pipe(ours.into()), theirs.into()))
}

fn duplicate(fd: &impl AsFd) -> Result<OwnedFd, Error> {
    fd.as_fd().try_clone_to_owned().map_err(failed("cannot duplicate a descriptor"))
}

/// Closes what is the command's alone, or a pipe would stay open after the command has closed it.
fn let_go(plan: Plan, inherited: &[i32]) {
    for fd in inherited {
        // SAFETY: these were open when we were started and nothing of ours uses them.
        unsafe { nix::libc::close(*fd) };
    }
    // Our sinks have descriptors of their own; a reader of standard output must see its end when they are closed.
    replace_standard_streams(if plan.type_stdin { &[1] } else { &[0, 1] });
}

fn both<A, B>((one, other): (A, B)) -> (Option<A>, Option<B>) {
    (Some(one), Some(other))
}
