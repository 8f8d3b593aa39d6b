//! What was asked for, on standard output.

use std::io::{self, ErrorKind, Write};

use crate::error::Error;

/// Prints it. `what` names it should that fail.
pub fn answer(what: &str, text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    taken(what, out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Whether it was printed. A reader that has left has seen enough.
pub fn taken(what: &str, printed: io::Result<()>) -> Result<(), Error> {
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::internal(format!("cannot print {what}: {error}")))
        }
        _ => Ok(()),
    }
}
