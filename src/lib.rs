//! idlewatch runs a command under a pseudo-terminal, passes everything through untouched, and when the command is
//! stuck does what it was told.
//!
//! - [`watch`] is the pure core. Events go in, decisions come out; it does no I/O and reads no clock.
//! - [`cli`] is what was typed.
//! - [`signal`], [`exit`], [`error`]: the words that every layer shares.

pub mod cli;
pub mod error;
pub mod exit;
pub mod signal;
pub mod watch;

/// The whole program: reads the arguments, runs, and ends the process.
pub fn run() -> ! {
    let cli = <cli::RunCli as clap::Parser>::parse();
    eprintln!("{cli:?}");
    std::process::exit(i32::from(exit::USAGE))
}
