//! The command's terminal, and what is typed into it.

use std::os::fd::OwnedFd;

use super::authors::Authors;
use super::pty::Pty;
use super::queries::Queries;
use super::relay::Keyboard;
use super::stdin::Stdin;
use crate::watch::Moment;

/// The command's terminal.
#[derive(Default)]
pub(super) struct Inner {
    /// Our side of it; none if the command has none, or after ours was hung up.
    pub(super) pty: Option<Pty>,
    /// The command's side of it, to see what it has left unread.
    pub(super) slave: Option<OwnedFd>,
    /// The command reads from it: something can be typed.
    pub(super) reads_pty: bool,
    /// Our own standard input, while it is to be typed.
    pub(super) stdin: Option<Stdin<'static>>,
    /// It echoes nothing, and that is not the command's doing: we have seen to it, or ours did not echo either.
    pub(super) is_silenced: bool,
    /// What is on its way.
    pub(super) keyboard: Keyboard,
    /// Who typed what may be unread.
    pub(super) authors: Authors,
    /// The key that was typed last takes the next one for what it is.
    pub(super) literal: bool,
    /// Where keys are read to.
    pub(super) buffer: Vec<u8>,
    /// How much was read there just now, or why nothing was, where that is still to be thought of.
    pub(super) read: Option<nix::Result<usize>>,
    /// Keys that were passed on and not looked at yet.
    pub(super) typed: Vec<u8>,
    /// When the last of them was.
    pub(super) typed_at: Moment,
    /// What the command asks of a terminal that is not there.
    pub(super) queries: Queries,
}
