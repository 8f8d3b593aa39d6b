//! A look at what the command's processes are doing: is somebody waiting for the keyboard, or for the terminal to go on?
//!
//! It costs a tenth of a millisecond a process, so it is taken only when silence is suspected. What cannot be seen
//! is unknown, never no.

#[cfg(target_os = "linux")]
mod call;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod snapshot;
#[cfg(target_os = "linux")]
mod sockets;

#[cfg(target_os = "linux")]
pub use snapshot::{Usage, processes, usage};

#[cfg(not(target_os = "linux"))]
mod unseen;
#[cfg(not(target_os = "linux"))]
pub use unseen::{Usage, processes, usage};

use nix::sys::termios::LocalFlags;

#[cfg(target_os = "linux")]
use self::linux::Keyboard;
use super::lent::Lent;
use super::pty::Pty;
use crate::watch::{Known, Look};

/// Looks at the processes below `root` that have the terminal `pty`, or `lent`, or both. They and all others that the
/// command has for its streams have these device numbers on the other side: a pager reads from whichever of them it finds.
pub fn look(root: i32, pty: Option<&Pty>, lent: Option<&Lent>, terminals: &[u64]) -> Look {
    if pty.is_none() && lent.is_none() {
        return Look::default();
    }
    let settings = pty.map_or_else(|| lent.and_then(Lent::settings), |pty| pty.settings().ok());
    let flags = settings.map(|settings| settings.local_flags);
    let known = |flag| flags.map_or(Known::Unknown, |flags| if flags.contains(flag) { Known::Yes } else { Known::No });
    let foregrounds = [pty.and_then(Pty::foreground), lent.and_then(Lent::foreground)];
    let mut found = foregrounds.into_iter().flatten().map(|foreground| readers(root, foreground, terminals));
    let first = found.next().unwrap_or((Known::Unknown, false));
    // Of the second only what it has found counts: that a process group is not in front of it says nothing.
    let second = found.next().filter(|(reads, listens)| *reads == Known::Yes || *listens);
    let (reads_terminal, listens) = if first.0 == Known::Yes { first } else { second.unwrap_or(first) };
    Look {
        reads_terminal,
        listens,
        line_mode: known(LocalFlags::ICANON),
        echo: known(LocalFlags::ECHO),
        held_up: is_stopped(root, pty.and_then(Pty::device)),
        ..Look::default()
    }
}

/// Whether somebody reads from the terminal, and whether somebody at least listens to it and to nobody else.
#[cfg(target_os = "linux")]
fn readers(root: i32, foreground: i32, terminals: &[u64]) -> (Known, bool) {
    if terminals.is_empty() {
        return (Known::Unknown, false);
    }
    match linux::keyboard(root, foreground, terminals) {
        Keyboard::Awaited => (Known::Yes, false),
        Keyboard::Heard => (Known::Unknown, true),
        Keyboard::Unknown => (Known::Unknown, false),
        Keyboard::Ignored => (Known::No, false),
    }
}

#[cfg(not(target_os = "linux"))]
fn readers(_root: i32, _foreground: i32, _terminals: &[u64]) -> (Known, bool) {
    (Known::Unknown, false)
}

/// Whether somebody has stopped the terminal's output, and a process waits for it to go on.
#[cfg(target_os = "linux")]
fn is_stopped(root: i32, device: Option<u64>) -> bool {
    device.is_some_and(|device| linux::is_stopped(root, &[device]))
}

#[cfg(not(target_os = "linux"))]
fn is_stopped(_root: i32, _device: Option<u64>) -> bool {
    false
}
