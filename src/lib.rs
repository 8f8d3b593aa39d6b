//! idlewatch runs a command under a pseudo-terminal, passes everything through untouched, and when the command is
//! stuck does what it was told.
//!
//! - [`watch`] is the pure core. Events go in, decisions come out; it does no I/O and reads no clock.
//! - [`profiles`] is what is known of some programs, as data.
//! - [`report`] tells others: events as JSON lines and as words.
//! - [`replay`] shows a recording ([`cast`]) to the core: the same detectors, recorded time.
//! - [`cli`] is what was typed, [`detection`] what that means for the core.
//! - [`signal`], [`exit`], [`error`]: the words that every layer shares.

pub mod cast;
pub mod cli;
pub mod detection;
pub mod error;
pub mod exit;
pub mod profiles;
pub mod replay;
pub mod report;
pub mod signal;
pub mod watch;

/// The whole program: reads the arguments, runs, and ends the process.
pub fn run() -> ! {
    if std::env::args_os().nth(1).is_some_and(|verb| verb == "replay") {
        std::process::exit(i32::from(replayed()));
    }
    let cli = <cli::RunCli as clap::Parser>::parse();
    eprintln!("{cli:?}");
    std::process::exit(i32::from(exit::USAGE))
}

/// `idlewatch replay …`: its exit status.
fn replayed() -> u8 {
    let words = std::env::args_os().skip(1);
    match replay::run(&cli::ReplayCli::from_words(words)) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("idlewatch: {error}");
            error.code()
        }
    }
}
