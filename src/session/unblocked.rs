//! Open files of our own that do not hold us up.

use std::os::fd::AsFd;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

/// Has reads and writes say so where they would have to wait. It is set for everybody who shares the open file.
pub fn never_block(fd: &impl AsFd) -> nix::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).map(drop)
}
