//! What the command's output streams are made of, on its side and on ours.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use portable_pty::PtySize;

use super::ground::{Ground, duplicate, open};
use super::printed::{Printed, follow};
use super::relay::{Kind, Source};
use super::sink::Sink;
use super::spawn::Given;
use super::streams::Output;
use super::terminal::STANDARD;
use super::unblocked::never_block;
use crate::error::Error;
use crate::watch::Stream;

/// The command's side and ours of its output streams.
pub struct Pieces {
    /// Where we read what it prints.
    pub sources: Vec<Source>,
    /// Where we write it.
    pub sinks: Vec<Sink>,
    /// What the command gets as its standard output and error.
    pub given: [Given; 2],
    /// Files that it writes itself.
    pub printed: Vec<Printed>,
}

/// Opens what the command's output streams are made of, and where they go on our side.
pub fn outputs(ground: &Ground) -> Result<Pieces, Error> {
    let (mut sources, mut sinks, mut printed) = (Vec::new(), Vec::new(), Vec::new());
    if let (Some(_), Some(terminal)) = (&ground.slave, &ground.terminal) {
        sinks.push(Sink::own(duplicate(terminal)?));
        sources.push(Source::new(Kind::Terminal, Stream::Terminal, 0, false));
    }
    let unusable = Error::failed("cannot use the standard streams");
    let mut give = |output, fd: BorrowedFd<'_>, stream, stdout: Option<&Given>| -> Result<Given, Error> {
        Ok(match (output, &ground.slave) {
            (Output::Pty, Some(slave)) => Given::This(duplicate(slave)?),
            (Output::Closed, _) => Given::Closed,
            (Output::Inherit, _) => {
                follow(fd);
                printed.push(Printed::new(fd).map_err(&unusable)?);
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
                follow(fd);
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
    Ok(Pieces { sources, sinks, given: [stdout, stderr], printed })
}

fn side(size: PtySize) -> Result<(Kind, OwnedFd), Error> {
    let (pty, slave) = open(size, None, false)?;
    Ok((Kind::Side(pty), slave))
}

fn pipe() -> Result<(Kind, OwnedFd), Error> {
    let (read, write) = io::pipe().map_err(Error::failed("cannot open a pipe"))?;
    never_block(&read).map_err(|error| Error::failed("cannot open a pipe")(error.into()))?;
    Ok((Kind::Pipe(read.into()), write.into()))
}

fn socket() -> Result<(Kind, OwnedFd), Error> {
    let (ours, theirs) = UnixStream::pair().map_err(Error::failed("cannot open a socket"))?;
    ours.set_nonblocking(true).map_err(Error::failed("cannot open a socket"))?;
    Ok((Kind::Pipe(ours.into()), theirs.into()))
}
