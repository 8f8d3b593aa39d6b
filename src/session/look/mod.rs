//! A look at what the command's processes are doing: is somebody waiting for the keyboard?
//!
//! It costs a tenth of a millisecond a process, so it is taken only when silence is suspected. What cannot be seen
//! is unknown, never no.

#[cfg(target_os = "linux")]
mod call;
#[cfg(target_os = "linux")]
mod linux;
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

use super::pty::Pty;
use crate::watch::{Known, Look};

/// Looks at the processes below `root` that have the terminal `pty`, whose other side has device number `device`.
pub fn look(root: i32, pty: Option<&Pty>, device: Option<u64>) -> Look {
    let Some(pty) = pty else { return Look { reads_terminal: readers(root, None, None), ..Look::default() } };
    let flags = pty.settings().ok().map(|settings| settings.local_flags);
    let known = |flag| flags.map_or(Known::Unknown, |flags| if flags.contains(flag) { Known::Yes } else { Known::No });
    Look {
        reads_terminal: readers(root, pty.foreground(), device),
        line_mode: known(LocalFlags::ICANON),
        echo: known(LocalFlags::ECHO),
        ..Look::default()
    }
}

#[cfg(target_os = "linux")]
fn readers(root: i32, foreground: Option<i32>, device: Option<u64>) -> Known {
    match (foreground, device) {
        (Some(foreground), Some(device)) => linux::reads_terminal(root, foreground, device),
        _ => Known::Unknown,
    }
}

#[cfg(not(target_os = "linux"))]
fn readers(_root: i32, _foreground: Option<i32>, _device: Option<u64>) -> Known {
    Known::Unknown
}
