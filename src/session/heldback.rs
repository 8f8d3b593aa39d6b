//! The signal for whoever reads a terminal from the background, held back for as long as one is read.
//!
//! Whoever holds it back for each read lets it through in each wait in between, and between a key and its echo that is time.
//! So it stays held back, and a descriptor says when it has come.

#[cfg(target_os = "linux")]
pub use self::linux::HeldBack;
#[cfg(not(target_os = "linux"))]
pub use self::other::HeldBack;

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::{AsFd, BorrowedFd};

    use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
    use nix::sys::signalfd::{SfdFlags, SignalFd};

    /// Held back while it lives.
    #[derive(Debug)]
    pub struct HeldBack(SignalFd);

    impl HeldBack {
        pub fn new() -> nix::Result<Self> {
            let held = Self(SignalFd::with_flags(&this(), SfdFlags::SFD_CLOEXEC)?);
            sigprocmask(SigmaskHow::SIG_BLOCK, Some(&this()), None)?;
            Ok(held)
        }

        /// What is ready while it has come and was not let through.
        pub fn arrival(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }

        /// Lets it through if it has come.
        #[expect(clippy::unused_self, reason = "only who holds it back has something to let through")]
        pub fn let_through(&self) {
            let _ = sigprocmask(SigmaskHow::SIG_UNBLOCK, Some(&this()), None);
            let _ = sigprocmask(SigmaskHow::SIG_BLOCK, Some(&this()), None);
        }
    }

    impl Drop for HeldBack {
        fn drop(&mut self) {
            let _ = sigprocmask(SigmaskHow::SIG_UNBLOCK, Some(&this()), None);
        }
    }

    fn this() -> SigSet {
        SigSet::from(Signal::SIGTTIN)
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::os::fd::BorrowedFd;

    /// Nothing would say that it has come.
    #[derive(Debug)]
    pub enum HeldBack {}

    impl HeldBack {
        pub fn new() -> nix::Result<Self> {
            Err(nix::errno::Errno::ENOSYS)
        }

        pub fn arrival(&self) -> BorrowedFd<'_> {
            match *self {}
        }

        pub fn let_through(&self) {
            match *self {}
        }
    }
}
