//! What idlewatch was started with, noted before Rust's runtime, or what stands in for it, changes any of it.
#![allow(unsafe_code, reason = "it runs before main, and asks for what no crate passes on")]

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::signal::Signal;

/// Signals that were ignored, one bit each (bit 0 is signal 1).
static IGNORED: AtomicU64 = AtomicU64::new(0);
/// Signals that were blocked, one bit each.
static BLOCKED: AtomicU64 = AtomicU64::new(0);
/// Which of descriptors 0, 1 and 2 were closed, one bit each.
static CLOSED: AtomicU8 = AtomicU8::new(0);

/// Runs before `main`: Rust's runtime, or [`prepare_process`] in its place, ignores SIGPIPE and opens /dev/null in place
/// of closed standard descriptors, and the command has to find both as they were.
#[used]
#[cfg_attr(any(target_os = "linux", target_os = "android"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static NOTE_AT_START: extern "C" fn() = note_at_start;

extern "C" fn note_at_start() {
    let (mut ignored, mut blocked, mut closed) = (0_u64, 0_u64, 0_u8);
    // SAFETY: an all-zero sigset_t is a valid value for sigprocmask to overwrite.
    let mut mask: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: a null new set only asks; `mask` outlives the call.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, std::ptr::null(), &raw mut mask) };
    for number in 1..=64 {
        // SAFETY: an all-zero sigaction is a valid value for the call to overwrite.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: a null new action only asks; a number the system does not have is answered with an error.
        let known = unsafe { libc::sigaction(number, std::ptr::null(), &raw mut action) } == 0;
        if known && action.sa_sigaction == libc::SIG_IGN {
            ignored |= bit(number);
        }
        // SAFETY: `mask` was filled in above; a number that does not exist is answered with an error.
        if unsafe { libc::sigismember(&raw const mask, number) } == 1 {
            blocked |= bit(number);
        }
    }
    for fd in 0..3 {
        // SAFETY: F_GETFD reads a flag and fails harmlessly on a closed descriptor.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } == -1 {
            closed |= 1 << fd;
        }
    }
    IGNORED.store(ignored, Ordering::Relaxed);
    BLOCKED.store(blocked, Ordering::Relaxed);
    CLOSED.store(closed, Ordering::Relaxed);
}

/// Does for this process what Rust's runtime does before `main`: a reader that is gone is an error and no signal, and
/// what is opened first does not become a standard stream by accident.
pub fn prepare_process() {
    // SAFETY: SIG_IGN needs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    // In ascending order: the lowest number that is free is the one that is taken.
    for fd in (0..3).filter(|fd| was_closed(*fd)) {
        // SAFETY: the path is a string that ends with a null byte.
        if unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) } != fd {
            // Somebody would find something else there than what it takes it for.
            std::process::abort();
        }
    }
}

const fn bit(number: i32) -> u64 {
    1 << (number - 1)
}

/// Whether this standard descriptor was closed when idlewatch was started.
pub fn was_closed(fd: RawFd) -> bool {
    CLOSED.load(Ordering::Relaxed) & (1 << fd) != 0
}

/// Whether this signal was ignored when idlewatch was started.
pub fn was_ignored(signal: Signal) -> bool {
    IGNORED.load(Ordering::Relaxed) & bit(signal.number()) != 0
}

/// Gives the calling process the signal dispositions and the mask that idlewatch was started with.
///
/// Made for the moment between fork and exec: handlers fall back to the default at exec by themselves, so only what
/// was ignored has to be said. Async-signal-safe.
pub fn restore_signals() {
    let (ignored, blocked) = (IGNORED.load(Ordering::Relaxed), BLOCKED.load(Ordering::Relaxed));
    // SAFETY: an all-zero sigset_t is a valid value for sigemptyset to overwrite.
    let mut mask: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `mask` outlives the call.
    unsafe { libc::sigemptyset(&raw mut mask) };
    for number in 1..=64 {
        if ignored & bit(number) != 0 {
            // SAFETY: SIG_IGN needs no handler, and the signal was ignored before, so it can be.
            unsafe { libc::signal(number, libc::SIG_IGN) };
        }
        if blocked & bit(number) != 0 {
            // SAFETY: `mask` is an initialised set and the number was a member of one before.
            unsafe { libc::sigaddset(&raw mut mask, number) };
        }
    }
    // SAFETY: `mask` is an initialised set; a null old set is allowed.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut()) };
}

/// The descriptors above 2 that idlewatch was given, which are the command's and not ours.
///
/// Called before idlewatch opens any of its own.
pub fn descriptors() -> Vec<RawFd> {
    let listing = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    // Since Linux 6.2 its size is how many there are. Mostly they are the three of the standard streams, each of which is open
    // by now, and to list them would take six times as long.
    if cfg!(target_os = "linux") && std::fs::metadata(listing).is_ok_and(|listing| listing.len() == 3) {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(listing) else { return Vec::new() };
    let mut found: Vec<RawFd> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|fd: &RawFd| *fd > 2)
        .collect();
    // The listing's own descriptor was among them and is closed by now.
    // SAFETY: F_GETFD reads a flag and fails harmlessly on a closed descriptor.
    found.retain(|fd| unsafe { libc::fcntl(*fd, libc::F_GETFD) } != -1);
    found
}

/// Closes every descriptor above 2 except `keep`, which is in order.
///
/// For a process that owns none of the others: whoever does is code that it never returns to.
pub fn close_all_but(keep: &[RawFd]) {
    if close_between(keep).is_none() {
        for fd in descriptors().into_iter().filter(|fd| !keep.contains(fd)) {
            // SAFETY: as above, nothing in this process uses it.
            unsafe { libc::close(fd) };
        }
    }
}

/// Marks every descriptor above 2 to be closed when another program is begun. Nothing where the kernel cannot (before
/// Linux 5.11): ours are marked anyway.
#[cfg(target_os = "linux")]
pub fn close_later() {
    // SAFETY: the call takes three numbers and closes nothing.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

/// Marks nothing where the kernel cannot.
#[cfg(not(target_os = "linux"))]
pub fn close_later() {}

/// The same in one call for each gap; none where the kernel cannot (before Linux 5.9).
#[cfg(target_os = "linux")]
fn close_between(keep: &[RawFd]) -> Option<()> {
    let mut first = 3;
    for last in keep.iter().map(|fd| fd.cast_unsigned() - 1).chain([u32::MAX]) {
        if first <= last {
            // SAFETY: the call takes three numbers; what it closes nothing in this process uses.
            let answer = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
            (answer == 0).then_some(())?;
        }
        first = last.wrapping_add(2);
    }
    Some(())
}

#[cfg(not(target_os = "linux"))]
fn close_between(_: &[RawFd]) -> Option<()> {
    None
}
