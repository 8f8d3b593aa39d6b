//! Prints which functions of a program are called, in the order of their first call, one symbol a line.
//!
//! ```text
//! cargo run --example layout -- PROGRAM > FILE
//! ```
//!
//! A linker that is given this puts them side by side. A run calls one function in seven, and the others between them are
//! mapped with them for nothing: that was most of the program's memory, and a sixth of the time of a short run.
//! `packaging/build` does it.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod runs;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod symbols;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod trace;

use std::error::Error;
use std::ffi::OsStr;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [program] = arguments.as_slice() else {
        eprintln!("usage: layout PROGRAM");
        return ExitCode::from(2);
    };
    match called(program) {
        Ok(names) => {
            for name in names {
                println!("{name}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("layout: {}: {error}", program.display());
            ExitCode::FAILURE
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn called(program: &OsStr) -> Result<Vec<String>, Box<dyn Error>> {
    let symbols = symbols::Symbols::read(program)?;
    let mut calls = trace::Calls::default();
    runs::all(program, &symbols, &mut calls)?;
    Ok(calls.in_order().flat_map(|address| symbols.names(address)).cloned().collect())
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn called(_: &OsStr) -> Result<Vec<String>, Box<dyn Error>> {
    Err("calls can only be seen on Linux on x86-64".into())
}
