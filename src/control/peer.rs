//! Who is at the other end of a socket, as the kernel says.

use std::os::fd::AsFd;

/// The user and, where the system tells, the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The user's id.
    pub user: u32,
    /// The process.
    pub pid: Option<i32>,
}

impl Peer {
    /// Whoever is at the other end of this socket; nobody if that cannot be told.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn of(socket: &impl AsFd) -> Option<Self> {
        let found = nix::sys::socket::getsockopt(socket, nix::sys::socket::sockopt::PeerCredentials).ok()?;
        Some(Self { user: found.uid(), pid: Some(found.pid()).filter(|pid| *pid > 0) })
    }

    /// Whoever is at the other end of this socket; nobody if that cannot be told.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn of(socket: &impl AsFd) -> Option<Self> {
        let (user, _) = nix::unistd::getpeereid(socket).ok()?;
        Some(Self { user: user.as_raw(), pid: None })
    }

    /// Whether it is the user who asks.
    pub fn is_same_user(self) -> bool {
        self.user == super::folder::user()
    }
}
