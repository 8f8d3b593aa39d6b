//! A run begins: everything is opened and the command started, in the order that makes it unnoticeable.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::RawFd;
use std::time::Duration;

use super::Session;
use super::alarm::Alarm;
use super::asked::Asked;
use super::clock::Clock;
use super::command::Command;
use super::echo::Kept;
use super::fate::Fate;
use super::flow::Flow;
use super::gaps::Gaps;
use super::ground::Ground;
use super::heartbeat::Heartbeat;
use super::inner::Inner;
use super::monitor::Monitor;
use super::notes::{Notes, Tone};
use super::outer::Outer;
use super::pieces::{Pieces, outputs};
use super::printed::Printed;
use super::prompt::Drawn;
use super::records::Records;
use super::relaunch::Time;
use super::relay::Source;
use super::scribe::LINES_ABOVE;
use super::signals::Signals;
use super::sink::Sink;
use super::stdin::Stdin;
use super::streams::{Input, Plan};
use super::surroundings::Own;
use super::teller::Teller;
use super::terminal::{STANDARD, replace_standard_streams};
use crate::config::{Config, Say};
use crate::error::Error;
use crate::watch::{Event, Moment, Observation, Policy, Size, Watcher};

/// A command that was started, and everything that was opened for it.
struct Launched {
    ground: Ground,
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    printed: Vec<Printed>,
    monitor: Monitor,
    child: i32,
    group: i32,
}

impl Launched {
    // Not inlined: the monitor copies of the stack what it touches, and would have what comes later in between.
    #[inline(never)]
    fn new(config: &Config, argv: Vec<OsString>, without: &[&str], limit: Option<Duration>) -> Result<Self, Error> {
        let mut ground = Ground::lay(config)?;
        let Pieces { sources, sinks, given, printed } = outputs(&ground)?;
        match ground.launch(argv, given, without, limit) {
            Ok((monitor, child, group)) => Ok(Self { ground, sources, sinks, printed, monitor, child, group }),
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
        let pipe = Signals::pipe().map_err(Error::failed("cannot catch signals"))?;
        let limit = time.limit.filter(|_| config.policy.ladders.timeout_ends());
        let left = limit.map(|limit| limit.saturating_sub(time.earlier));
        let launched = Launched::new(config, argv, records.taken_variables(), left)?;
        let Ground { own, plan, size, takes_terminal, in_front, .. } = launched.ground;
        if !config.relaunches() {
            let_go(plan, inherited);
        }
        let signals = Signals::catch(pipe).map_err(Error::failed("cannot catch signals"))?;
        let prints_to_terminal = launched.ground.terminal.is_some()
            || [own.stdout, own.stderr].iter().any(|stream| matches!(stream, Own::Terminal | Own::OtherTerminal));
        Signals::hold_terminal_output(prints_to_terminal && !takes_terminal);
        let mut session = Self::around(config, launched, signals, time, records);
        session.teller.records.begin(Size { cols: size.cols, rows: size.rows }.or_assumed(), &words);
        session.report(&Event::Started { command: words, pid: session.command.child });
        session.set_attended(session.outer.has_person && in_front);
        if !time.earlier.is_zero() {
            // What has become due before this start is not waited for.
            session.observe(&Observation::Elapsed);
        }
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
        let Launched { ground, sources, sinks, printed, monitor, child, group } = launched;
        let place = ground.place();
        let is_silenced = !ground.echoes();
        let Ground { own, plan, size, .. } = ground;
        Box::new(Self {
            clock: Clock::start(),
            alarm: Alarm::new(),
            kept: Kept::NotYet,
            gaps: Gaps::new(Clock::suspended()),
            watcher: Watcher::new(Policy {
                size: Size { cols: size.cols, rows: size.rows },
                timeout: time.limit,
                earlier: time.earlier,
                warned: time.warned,
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
                stdin: plan.type_stdin.then(|| Stdin::new(STANDARD[0], own.stdin)),
                is_silenced,
                ..Inner::default()
            },
            outer: Outer {
                screen: ground.terminal.as_ref().map(|_| 0),
                terminal: ground.terminal,
                lent: ground.lent,
                on_demand: plan.on_demand,
                shared: plan.shared,
                strange_settings: !ground.in_front,
                fixed_size: config.size.is_some(),
                has_person: own.stdin == Own::Terminal,
                ..Outer::default()
            },
            flow: Flow { sources, sinks, printed, ..Flow::default() },
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

/// Closes what is the command's alone, or a pipe would stay open after the command has closed it.
fn let_go(plan: Plan, inherited: &[i32]) {
    for fd in inherited {
        // It is gone afterwards, whatever the call says.
        let _ = nix::unistd::close(*fd);
    }
    // Our sinks have descriptors of their own; a reader of standard output must see its end when they are closed.
    replace_standard_streams(if plan.type_stdin { &[1] } else { &[0, 1] });
}
