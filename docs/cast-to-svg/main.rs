//! Turns a recording into a moving picture: one SVG file that needs nothing else, no script, no font, no request.
//!
//! ```text
//! cargo run --example picture -- FILE.cast FILE.svg
//! ```
//!
//! Each row of the terminal is a strip of everything it ever shows, seen through a window as high as one row. What
//! moves is the strip, in steps. Where nothing moves (reduced motion, a viewer without animation) the end is seen.
#![forbid(unsafe_code)]

mod screen;
mod svg;
#[cfg(test)]
mod tests;
mod title;

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::ExitCode;
use std::time::Duration;

use idlewatch::cast::{Cast, What};
use screen::{Frame, Screen};

/// How long a picture is shown at least: what comes sooner is part of the same.
const SHORTEST: Duration = Duration::from_millis(80);

/// How long the end stays before it all begins again.
const REST: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [from, to] = arguments.as_slice() else {
        eprintln!("usage: picture FILE.cast FILE.svg");
        return ExitCode::from(2);
    };
    let made = File::open(from).map_err(Into::into).and_then(|file| picture(BufReader::new(file)));
    match made.and_then(|svg| Ok(fs::write(to, svg)?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("picture: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The moving picture of a recording.
fn picture(recording: impl BufRead) -> Result<String, Box<dyn Error>> {
    let mut cast = Cast::open(recording).map_err(|fault| fault.reason)?;
    let size = cast.header().size;
    let mut screen = Screen::new(size)?;
    let mut film: Vec<(Duration, Frame)> = Vec::new();
    // When the picture began that is not yet finished.
    let mut since: Option<Duration> = None;
    while let Some(entry) = cast.next_entry().map_err(|fault| format!("line {}: {}", fault.line, fault.reason))? {
        if !matches!(entry.what, What::Output(_) | What::Resize(_)) {
            continue;
        }
        match since {
            Some(at) if entry.at >= at + SHORTEST => {
                add(&mut film, at, screen.frame());
                since = Some(entry.at);
            }
            Some(_) => {}
            None => since = Some(entry.at),
        }
        screen.take(&entry.what);
    }
    add(&mut film, since.unwrap_or_default(), screen.frame());
    if film.is_empty() {
        return Err("it shows nothing".into());
    }
    Ok(svg::draw(size, &film, REST))
}

/// Adds a frame, unless it shows nothing new. Before something is seen nothing begins.
fn add(film: &mut Vec<(Duration, Frame)>, at: Duration, frame: Frame) {
    let seen = film.last().map_or_else(|| !frame.is_blank(), |(_, last)| *last != frame);
    if seen {
        film.push((at, frame));
    }
}
