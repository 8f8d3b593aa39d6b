//! The shell around the pure core: the only place with descriptors, signals, children and the clock.
//!
//! One thread and one `poll`. It ends at the watcher's next deadline (`alarm`), so nothing ticks. Bytes are relayed first
//! and looked at second. The session performs what the watcher decides and decides nothing itself.
//!
//! ```text
//!  keyboard ──► Keyboard ──► pty ──► command            idlewatch ── link ── monitor ── command
//!  screen   ◄── Sink ◄────── pty, pipes ◄── command         (one poll)        (its session, its parent)
//! ```
//!
//! A `Session` holds the parts, each in a file of its own: `command`, its terminal (`inner`) and ours (`outer`), what
//! it prints (`flow`), who is asked about it (`asked`) and told of it (`teller`), and how it ends (`fate`). What is
//! done with them is in files that say what: `setup` begins, `ready` waits, `passing` and `typing` relay, `echo` brings
//! the one after the other without delay, `perform` does what the watcher says, `front` and `job` follow the shell,
//! `serve` answers clients, `ending` puts everything back, with `readers` and `restoring`; `run` and `relaunch` start
//! the command again. `look` sees what its processes wait for, `guards` what they do, and `tree` signals all of them.
//! What is said to the person goes through `notes`.

mod alarm;
mod asked;
mod authors;
mod beside;
mod checkpoint;
mod clock;
mod command;
mod dismissal;
mod echo;
mod ending;
mod environment;
mod events;
mod fate;
mod files;
mod flow;
mod front;
mod gaps;
mod ground;
mod guards;
mod heap;
mod heartbeat;
mod heldback;
mod inherited;
mod inner;
mod interrupts;
mod job;
mod keptset;
mod lent;
mod link;
mod look;
mod modes;
mod monitor;
mod notes;
mod notify;
mod out_of_reach;
mod outer;
mod outlet;
mod passing;
mod pause;
mod perform;
mod pieces;
mod place;
mod pollset;
mod printed;
mod prompt;
mod pty;
mod queries;
mod readers;
mod ready;
mod record;
mod records;
mod relaunch;
mod relay;
mod restoring;
mod returns;
mod run;
mod scribe;
mod serve;
mod setup;
mod sharing;
mod shell;
mod signals;
mod sink;
mod spawn;
#[cfg(target_os = "linux")]
mod stat;
mod status;
mod stdin;
mod streams;
mod surroundings;
mod tally;
mod teller;
mod terminal;
mod tree;
mod typeahead;
mod typing;
mod unblocked;
mod whole_file;

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::time::Duration;

use nix::poll::PollFlags;
use portable_pty::PtySize;

pub use inherited::prepare_process;
pub use run::run;
pub use status::Status;

pub(crate) use self::clock::Clock;
pub(crate) use self::place::is_orphaned;
pub(crate) use self::printed::we_wrote;
pub(crate) use self::signals::Signals;
pub(crate) use self::sink::Sink;
pub(crate) use self::terminal::{Terminal, size_of};

use self::alarm::Alarm;
use self::asked::Asked;
use self::command::Command;
use self::echo::Kept;
use self::fate::Fate;
use self::flow::Flow;
use self::gaps::{Gap, Gaps};
use self::heartbeat::Heartbeat;
use self::inner::Inner;
use self::link::{News, Order};
use self::outer::Outer;
use self::place::Place;
use self::prompt::{Drawn, Prompt};
use self::ready::{Ready, Watched};
use self::relay::Source;
use self::signals::Origin;
use self::teller::Teller;
use crate::control::{Server, TRY_AGAIN};
use crate::exit::Reason;
use crate::signal::Signal;
use crate::watch::{Action, Moment, Observation, Size, Watcher};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The command ended by itself.
    Itself(Status),
    /// We ended it for this reason, and this was its own status, if it is known to have ended at all.
    Ended(Reason, Option<Status>),
}

/// A command that runs.
struct Session {
    clock: Clock,
    /// What ends a wait.
    alarm: Alarm,
    /// What is waited for where that is one terminal.
    kept: Kept,
    /// Time that nobody could watch.
    gaps: Gaps,
    watcher: Watcher,
    signals: Signals,
    command: Command,
    inner: Inner,
    outer: Outer,
    flow: Flow,
    asked: Asked,
    teller: Teller,
    /// A question to the person, while it is shown.
    prompt: Option<Prompt>,
    /// What lies below it, where a prompt may come.
    drawn: Option<Drawn>,
    fate: Fate,
    /// What is still to be done, in order.
    queue: VecDeque<Action>,
    /// Somebody further up is at it.
    performing: bool,
}

/// If nothing more comes within this, what was passed on is looked at.
const A_MOMENT: Duration = Duration::from_millis(1);
/// What was typed is looked at together with what comes of it, or after this if nothing does. A shorter wait would have to be
/// set up between a key and its echo; within this there is an end to wait for anyhow while somebody types.
const AN_ECHO: Duration = Duration::from_millis(500);
/// A reader that had enough and takes nothing within this has paused.
const A_WHILE: Duration = Duration::from_millis(100);
/// How often a job in the background asks whether it is in front again.
const BACK: Duration = Duration::from_secs(1);
/// How often the rest of a tree that is being ended is looked at.
const RESCAN: Duration = Duration::from_millis(20);

impl Session {
    /// Relays and watches until the command has ended.
    fn watch(&mut self) {
        while !self.is_over() {
            let now = self.clock.now();
            let wake = if self.fate.ended.is_some() {
                // The command is gone and others of its tree are not: they give no sign when they go.
                Some(now + RESCAN)
            } else {
                let progress = self.teller.progress.map(|(_, next)| next);
                let beat = self.teller.heartbeat.as_ref().map(Heartbeat::deadline);
                let resting = self.teller.records.control.as_ref().is_some_and(Server::is_resting);
                let door = resting.then(|| now + TRY_AGAIN);
                let asked = self.asked.deadline();
                let others = [asked, progress, beat, self.teller.records.deadline(), door, self.fate.written_off];
                self.watcher.deadline().into_iter().chain(others.into_iter().flatten()).min()
            };
            let back = self.is_in_back().then(|| now + BACK);
            let half = self.flow.sinks.iter().any(Sink::holds_return);
            let patience = if half || self.flow.passed.bytes().is_some() {
                Some(A_MOMENT)
            } else {
                (!self.inner.typed.is_empty()).then_some(AN_ECHO)
            };
            let unseen = patience.map(|patience| now + patience);
            let busy = self.flow.sinks.iter().any(Sink::is_busy).then(|| now + A_WHILE);
            self.gaps.wait_begins();
            let ready =
                self.wait([wake, unseen, busy, back].into_iter().flatten().min().map(|moment| moment.since(now)));
            let awake = self.woke_up(wake);
            match ready {
                Ready::Letters => self.follow_letters(wake),
                Ready::These(ready) => {
                    if !ready.iter().any(|(what, _)| what.is_relayed()) {
                        if unseen.is_none() {
                            self.flow.sinks.iter_mut().for_each(Sink::pause);
                        }
                        self.flow.sinks.iter_mut().for_each(Sink::release_return);
                        self.understand();
                    }
                    for (what, events) in ready {
                        self.attend(what, events);
                    }
                }
            }
            let now = self.clock.now();
            let due = wake.is_some_and(|wake| now >= wake);
            if due || self.flow.passed.is_due(now) {
                self.understand();
            }
            if due {
                self.keep_deadlines(now);
            }
            self.ran_at(awake);
            // After everything else: whoever asks waits for the relay, never the other way round.
            if let Some(control) = &mut self.teller.records.control {
                control.wake();
                if control.has_guests() {
                    self.serve();
                }
            }
        }
        self.understand();
        if self.fate.ended.is_none() {
            self.fate.reason = self.watcher.ending_reason();
        }
    }

    /// Does what was to be done by now. What has become due since we woke up is done the next time, which is at once.
    fn keep_deadlines(&mut self, now: Moment) {
        if self.teller.progress.is_some_and(|(_, next)| now >= next) {
            self.tell_progress(now);
        }
        if self.teller.heartbeat.as_ref().is_some_and(|heartbeat| now >= heartbeat.deadline()) {
            self.beat(now);
        }
        self.teller.records.mind(now);
        if self.asked.deadline().is_some_and(|deadline| now >= deadline) {
            self.mind_shells();
        }
        if self.watcher.deadline().is_some_and(|deadline| now >= deadline) {
            self.observe(&Observation::Elapsed);
        }
    }

    /// A wait is over that was to end at `wake`. Says since when.
    fn woke_up(&mut self, wake: Option<Moment>) -> Moment {
        self.gaps.wait_ends();
        self.leave_out_stop();
        let awake = self.clock.now();
        self.notice_gaps(wake);
        self.notice_front();
        awake
    }

    /// We ran at this moment. Should somebody stop us, it is since then at most: in the next wait, or before we come to it.
    fn ran_at(&mut self, awake: Moment) {
        // Or later, if more was done since; and the clock may have been put back.
        self.gaps.alive = self.gaps.alive.max(awake).min(self.clock.now());
    }

    fn notice_gaps(&mut self, wake: Option<Moment>) {
        match self.gaps.noticed(self.clock.now(), wake, Clock::suspended()) {
            Some(Gap::Suspended(length)) => self.observe(&Observation::Gap(length)),
            Some(Gap::Missed(since)) => self.skip_to(since),
            None => {}
        }
    }

    fn attend(&mut self, what: Watched, events: PollFlags) {
        // In the order in which it happened: nothing else is looked at before what was printed.
        if !what.is_relayed() {
            self.understand();
        }
        match what {
            Watched::Signals => {
                for (signal, origin) in self.signals.arrived() {
                    self.signalled(signal, origin);
                }
                for signal in self.signals.take_for_command() {
                    self.command.order(Order::SignalGroup(signal));
                }
            }
            Watched::HeldBack => {
                if let Some(held) = self.kept.held_back() {
                    held.let_through();
                }
            }
            Watched::Link => self.hear(),
            Watched::Terminal => self.read_terminal(),
            Watched::Stdin => self.read_stdin(),
            Watched::Keyboard => {
                if let Some(pty) = &self.inner.pty {
                    self.inner.keyboard.flush(pty.as_fd());
                }
            }
            Watched::Source(index) => {
                self.pass_on(index);
            }
            Watched::Records => self.teller.records.flush(),
            Watched::Sink(index) => {
                if events.contains(PollFlags::POLLNVAL) {
                    return;
                }
                self.flow.sinks[index].flush();
                self.check_sink(index);
                self.go_on(index);
            }
            Watched::Control(which) => {
                if let Some(control) = &mut self.teller.records.control {
                    control.attend(which, events);
                }
            }
        }
    }

    /// What the monitor has to say.
    fn hear(&mut self) {
        match self.command.monitor.link.next_news() {
            Some(News::Stopped(signal)) => self.stopped(signal),
            Some(News::Ended(status)) => {
                self.fate.ended = Some(Status::from_raw(status));
                self.fate.dismissal.ended(self.clock.now());
                self.fate.reason = self.watcher.ending_reason();
                if self.fate.reason.is_none() {
                    self.observe(&Observation::Exited);
                } else {
                    self.watcher.conclude();
                }
            }
            Some(News::Started { .. }) => {}
            // It had told us of the end and left with it, since nobody was left.
            Some(News::Failed(_)) | None if self.fate.ended.is_some() => {}
            Some(News::Failed(_)) | None => self.end_abandoned(),
        }
    }

    /// Tells the watcher, and does what it says.
    fn observe(&mut self, observation: &Observation<'_>) {
        if !matches!(observation, Observation::Output { .. }) {
            self.understand();
        }
        self.leave_out_stop();
        self.observe_at(self.clock.now(), observation);
    }

    /// The same for what happened at this moment, since when nothing else has been observed.
    fn observe_at(&mut self, now: Moment, observation: &Observation<'_>) {
        #[cfg(debug_assertions)]
        match std::env::var_os("IDLEWATCH_TEST_PANIC") {
            None => {}
            Some(analysis) if analysis == "analysis" => self.watcher.break_down(),
            Some(relay) if relay == "relay" && !matches!(observation, Observation::Output { .. }) => {}
            Some(prompt) if prompt == "prompt" && !self.asks() => {}
            Some(_) => panic!("a test asked for this"),
        }
        self.teller.records.observed(now, observation);
        self.tell_losses();
        self.queue.extend(self.watcher.observe(now, observation));
        if let Some(scribe) = self.teller.records.scribe() {
            scribe.observed(now, observation, &self.watcher);
        }
        self.teller.records.progress(now - self.watcher.since_activity(now));
        // What is done may be answered at once, and the answer may ask for more: that comes after what was asked first.
        if std::mem::replace(&mut self.performing, true) {
            return;
        }
        while let Some(action) = self.queue.pop_front() {
            self.perform(&action);
        }
        self.performing = false;
    }

    /// Leaves out the time in which somebody had stopped us. When that began is not known, but we ran when the last wait
    /// ended.
    fn leave_out_stop(&mut self) {
        if Signals::were_continued() && self.gaps.were_stopped() {
            self.gaps.stopped += self.clock.rewind_to(self.gaps.alive);
        }
    }

    /// Leaves out the time since `moment`: nobody could watch.
    fn skip_to(&mut self, moment: Moment) {
        let gap = self.clock.rewind_to(moment);
        self.observe(&Observation::Gap(gap));
    }

    /// The size that the command's terminals are to have: that of ours.
    fn size_of_ours(&self) -> Option<PtySize> {
        self.outer.terminal.as_ref().filter(|_| !self.outer.fixed_size).and_then(Terminal::size)
    }

    /// Whether our terminal has another size than the command's.
    fn is_resized(&self) -> bool {
        let own = self.size_of_ours();
        own.is_some() && self.inner.pty.as_ref().is_some_and(|pty| size_of(&pty.as_fd()) != own)
    }

    /// Gives the command's terminals the size of ours.
    fn resize(&mut self) {
        let Some(size) = self.size_of_ours() else { return };
        let sides = self.flow.sources.iter().filter_map(Source::side);
        for pty in self.inner.pty.iter().chain(sides) {
            // A terminal that is gone needs no size.
            let _ = pty.resize(size);
        }
        self.observe(&Observation::Resized(Size { cols: size.cols, rows: size.rows }.or_assumed()));
    }

    /// A signal reached us: it is meant for the command.
    fn signalled(&mut self, signal: Signal, origin: Origin) {
        let told_to_end = origin != Origin::Own && signal.ends();
        if told_to_end {
            self.fate.dismissal.told(signal, self.clock.now());
        }
        self.fate.last_word |= told_to_end && self.watcher.ending_reason().is_some();
        match (signal, origin) {
            // Somebody has taken our terminal without a word, and does not let the background print.
            (Signal::TTOU, Origin::Kernel) if self.has_lost_terminal() => self.go_to_back(),
            // What we have sent ourselves, and what the kernel sends to whoever of a process group uses the terminal from
            // the background: where the command shares ours it has its own already. It also has the limit on processor time
            // itself, which we have reached here with our own.
            (_, Origin::Own) | (Signal::TTIN | Signal::TTOU | Signal::XCPU, Origin::Kernel) => {}
            (Signal::CHLD, Origin::Kernel) => {
                self.mind_shells();
                self.command.monitor.keep_awake();
            }
            (Signal::WINCH, Origin::Kernel) => self.resize(),
            // The kernel tells only the foreground, and whoever is there may have to tell us.
            (Signal::WINCH, Origin::Process) if self.is_resized() => self.resize(),
            (Signal::CONT, _) => self.continued(),
            (Signal::HUP, _) if self.outer.terminal.as_ref().is_some_and(Terminal::is_gone) => {
                self.hang_up();
                // Whoever leads a session hears of it from its terminal. Of others only the monitor would.
                if self.command.place != Place::SessionLeader {
                    self.command.order(Order::SignalGroup(signal));
                }
            }
            // From our own terminal while it is not raw: the whole foreground is meant, and where the command shares
            // our process group it has its own already.
            (Signal::INT | Signal::QUIT | Signal::TSTP | Signal::HUP, Origin::Kernel) => {
                if self.command.place != Place::Ours {
                    self.command.order(Order::SignalGroup(signal));
                }
            }
            // Mostly sent to all of a process group, of which only we are left to hear it; and whoever means us alone
            // wants it to end or to stop, with all that it has started.
            (Signal::INT | Signal::QUIT | Signal::TSTP | Signal::HUP | Signal::TERM, Origin::Process) => {
                self.command.order(Order::SignalGroup(signal));
            }
            (_, Origin::Kernel | Origin::Process) => self.command.order(Order::Signal(signal)),
        }
    }
}
