//! A watcher whose time is made up: hours pass in milliseconds.

use std::time::Duration;

use idlewatch::signal::Signal;
use idlewatch::watch::{Action, Answer, Event, Guard, Look, Moment, Observation, Policy, Size, State, Stream, Watcher};

/// Drives a watcher and keeps what it says.
pub struct Watched {
    pub watcher: Watcher,
    now: Moment,
    look: Look,
    pub looks: usize,
    pub events: Vec<(Duration, Event)>,
    pub signals: Vec<(Duration, Signal)>,
    /// What the guards say when they are asked; none of them speaks at first.
    pub guard: Option<&'static str>,
    /// The guards never answer.
    pub guards_hang: bool,
    /// When the guards were to begin to measure.
    pub measures: Vec<Duration>,
    /// What was typed into the command.
    pub typed: Vec<(Duration, Vec<u8>)>,
    /// The other things that were done, by name.
    pub done: Vec<(Duration, &'static str)>,
}

pub fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

impl Watched {
    /// Idle after a minute, anything else as the policy says by default.
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Policy)) -> Self {
        let mut policy = Policy { idle: Some(seconds(60)), ..Policy::default() };
        change(&mut policy);
        let (events, signals) = (Vec::new(), Vec::new());
        let (typed, done) = (Vec::new(), Vec::new());
        let (now, look) = (Moment::START, Look::default());
        let (guard, guards_hang, measures) = (None, false, Vec::new());
        let watcher = Watcher::new(policy);
        Self { watcher, now, look, looks: 0, events, signals, guard, guards_hang, measures, typed, done }
    }

    /// From now on a look at the processes finds this.
    pub fn finds(&mut self, look: Look) -> &mut Self {
        self.look = look;
        self
    }

    pub fn prints(&mut self, text: &str) -> &mut Self {
        self.observes(&Observation::Output { stream: Stream::Terminal, bytes: text.as_bytes() })
    }

    pub fn types(&mut self, text: &str) -> &mut Self {
        self.observes(&Observation::Typed(text.as_bytes()))
    }

    pub fn resizes(&mut self, cols: u16, rows: u16) -> &mut Self {
        self.observes(&Observation::Resized(Size { cols, rows }))
    }

    pub fn observes(&mut self, observation: &Observation<'_>) -> &mut Self {
        for action in self.watcher.observe(self.now, observation) {
            match action {
                Action::Look => {
                    self.looks += 1;
                    let look = self.look.clone();
                    self.observes(&Observation::Looked(look));
                }
                Action::Report(event) => self.events.push((self.now.since_start(), event)),
                Action::Signal { signal, .. } => self.signals.push((self.now.since_start(), signal)),
                Action::Measure => self.measures.push(self.now.since_start()),
                Action::Ask if self.guards_hang => {}
                Action::Ask => {
                    let word = self.guard.map(ToOwned::to_owned).into();
                    self.observes(&Observation::Answered(vec![Answer { guard: Guard::Cpu, word }]));
                }
                Action::Type(bytes) => self.typed.push((self.now.since_start(), bytes)),
                Action::Warn { .. } => self.done.push((self.now.since_start(), "warn")),
                Action::Run(_) => self.done.push((self.now.since_start(), "run")),
                Action::Prompt { .. } => self.done.push((self.now.since_start(), "prompt")),
                Action::ClosePrompt => self.done.push((self.now.since_start(), "close prompt")),
            }
        }
        self
    }

    /// Lets time pass as the session does: up to each deadline.
    pub fn passes(&mut self, time: Duration) -> &mut Self {
        self.passes_to(self.now + time)
    }

    pub fn passes_to(&mut self, until: Moment) -> &mut Self {
        while let Some(deadline) = self.watcher.deadline().filter(|deadline| *deadline <= until) {
            self.now = deadline;
            self.observes(&Observation::Elapsed);
        }
        self.now = until;
        self
    }

    /// Prints what `frame` gives, once each `step`, for `time`.
    pub fn draws(&mut self, time: Duration, step: Duration, frame: impl Fn(usize) -> String) -> &mut Self {
        for index in 0..usize::try_from(time.as_millis() / step.as_millis()).unwrap() {
            self.prints(&frame(index)).passes(step);
        }
        self
    }

    pub fn state(&self) -> State {
        self.watcher.state()
    }

    /// Every state it was in, with the second it began.
    pub fn states(&self) -> Vec<(u64, State)> {
        let state = |(at, event): &(Duration, Event)| match event {
            Event::StateChanged { to, .. } => Some((at.as_secs(), *to)),
            _ => None,
        };
        self.events.iter().filter_map(state).collect()
    }

    /// The evidence for the state it is in.
    pub fn evidence(&self) -> &str {
        let evidence = |(_, event): &'_ (Duration, Event)| matches!(event, Event::StateChanged { .. });
        match self.events.iter().rev().find(|event| evidence(event)) {
            Some((_, Event::StateChanged { evidence, .. })) => evidence,
            _ => "",
        }
    }

    pub fn loop_warnings(&self) -> usize {
        self.events.iter().filter(|(_, event)| matches!(event, Event::LoopWarning { .. })).count()
    }
}
