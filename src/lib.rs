//! idlewatch runs a command under a pseudo-terminal, passes everything through untouched, and when the command is
//! stuck does what it was told.
//!
//! - [`watch`] is the pure core. Events go in, decisions come out; it does no I/O and reads no clock.
//! - [`session`] is the shell around it: descriptors, signals, children and the clock.
//! - [`replay`] shows the core a recording instead ([`cast`]): the same code, recorded time.
//! - [`report`] tells what happened: JSON lines, words, the history, the post-mortem; [`past`] shows the history.
//! - [`control`] lets others ask a run: its socket, and `ctl`.
//! - [`cli`] is what was typed; [`layers`] puts the environment, the configuration file and the profile in front of
//!   it; [`config`] and [`detection`] are what it means, [`profiles`] what is known of programs.
//! - `scan` finds things in bytes, `span` writes lengths of time, `variables` is the environment as it is.
//! - [`manual`] is what the man page says beyond the options.
//! - [`signal`], [`mod@exit`], [`error`]: the words that every layer shares.

// The files that ask the system for what no crate wraps say so at their top.
#![deny(unsafe_code)]

pub mod cast;
pub mod cli;
pub mod config;
pub mod control;
pub mod detection;
pub mod error;
pub mod exit;
pub mod layers;
pub mod manual;
pub mod past;
pub mod profiles;
pub mod replay;
pub mod report;
mod scan;
pub mod session;
pub mod signal;
mod span;
mod variables;
pub mod watch;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::exit;
use std::sync::Mutex;

use cli::{Invocation, RunCli, Typed};
use config::{Config, Say};
use error::Error;
use session::{Outcome, Status};

/// The whole program: reads the arguments, runs, and ends the process.
pub fn run() -> ! {
    let result = cli::parse().and_then(|invocation| match invocation {
        Invocation::Run(typed) => watch_over(*typed),
        Invocation::Plain(args, before) => watch_over_plain(args, before),
        Invocation::Ctl(cli) => guarded(|| control::ctl::run(*cli)),
        Invocation::Replay(typed) => replay::run(*typed).map(|()| Status::Code(0)),
    });
    match result {
        Ok(status) => status.leave(),
        Err(error) => {
            report::say(&format!("{error}"));
            exit(i32::from(error.code()))
        }
    }
}

/// The same for a program that was entered without Rust's runtime. Gives what to exit with after a panic.
pub fn run_without_runtime() -> i32 {
    session::prepare_process();
    // Nothing may unwind into the C library.
    panic::catch_unwind(|| run()).map_or(PANICKED, |never| never)
}

/// What Rust's runtime exits with after a panic.
const PANICKED: i32 = 101;

/// Runs a command, or says by what it would be watched.
fn watch_over(typed: Typed<RunCli>) -> Result<Status, Error> {
    let words: Vec<String> = typed.cli.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let resolved = layers::resolve(typed, words.iter().map(String::as_str))?;
    let mut config = Config::new(resolved.typed.cli.clone(), resolved.profile());
    config.insists_on_typing = resolved.insists_on_typing(&config);
    config.events_named = resolved.named("events", 0);
    resolved.check_conflicts(&config)?;
    resolved.check_effect(&config)?;
    if resolved.typed.cli.print_config {
        return layers::print(&resolved, &config).map(|()| Status::Code(0));
    }
    drop(resolved);
    watched(&config)
}

/// The same where nothing but the command was typed, which comes after `before` other arguments.
fn watch_over_plain(mut args: Vec<OsString>, before: usize) -> Result<Status, Error> {
    let words: Vec<String> = args[before..].iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if !layers::are_empty(words.iter().map(String::as_str)) {
        return watch_over(Typed::new(args)?);
    }
    args.drain(..before);
    watched(&Config::new(RunCli::without_options(args), None))
}

/// Runs the command; gives what to exit with.
fn watched(config: &Config) -> Result<Status, Error> {
    let failed = |error: Error| error.with_code_of(|reason| config.exit.code(reason));
    let (reason, status) = match guarded(|| session::run(config)).map_err(failed)? {
        Outcome::Itself(status) => return Ok(status),
        Outcome::Ended(reason, status) => (reason, status),
    };
    let own = config.exit.status(reason, status);
    if config.say >= Say::Warnings {
        report::say(&format!("{} ({reason}, {own})", reason.meaning()));
    }
    Ok(own)
}

/// Turns a panic into an error that is said once the terminal is itself again.
fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    static SAID: Mutex<String> = Mutex::new(String::new());
    panic::set_hook(Box::new(|info| {
        if let (Ok(mut said), false) = (SAID.lock(), watch::panic_is_contained()) {
            *said = info.to_string();
        }
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let said = SAID.lock().map(|said| said.clone()).unwrap_or_default();
        Err(Error::internal(format!("internal error, please report it: {said}")))
    })
}
