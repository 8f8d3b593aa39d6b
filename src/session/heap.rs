//! What a flood needed goes back to the system after it.
#![allow(unsafe_code, reason = "nothing wraps mallopt(3)")]

/// From here on the allocator takes pieces of this size from the system one by one, and gives each of them back.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 128 * 1024;

/// Large pieces are given back as soon as they are free. The C library begins like that, but keeps all pieces that are no
/// larger than the largest that it ever got back.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_large_pieces_back() {
    // SAFETY: the call takes two numbers. It may come at any time.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
}

/// Other allocators give them back as they see fit.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_large_pieces_back() {}
