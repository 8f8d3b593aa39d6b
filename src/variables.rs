//! The environment as it is, in its order, without a copy of it.
#![allow(unsafe_code, reason = "the environment is shared with the C library")]

use std::ffi::{CStr, c_char};

/// All variables, each `NAME=value`.
///
/// They are where the kernel put them when the program was started: nothing in it changes its environment.
pub fn all() -> impl Iterator<Item = &'static CStr> {
    Variables(environ())
}

struct Variables(*const *const c_char);

impl Iterator for Variables {
    type Item = &'static CStr;

    fn next(&mut self) -> Option<&'static CStr> {
        // SAFETY: null, or a place among the pointers that end with a null pointer, which is never gone beyond.
        let variable = *unsafe { self.0.as_ref() }?;
        if variable.is_null() {
            return None;
        }
        // SAFETY: this was not the last of them.
        self.0 = unsafe { self.0.add(1) };
        // SAFETY: the pointer leads to a string that ends with a null byte and is there as long as the program.
        Some(unsafe { CStr::from_ptr(variable) })
    }
}

#[cfg(not(target_vendor = "apple"))]
fn environ() -> *const *const c_char {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: every C library has this variable, and nothing here changes it.
    unsafe { environ }
}

#[cfg(target_vendor = "apple")]
fn environ() -> *const *const c_char {
    // SAFETY: the function only says where the variable is.
    let place = unsafe { libc::_NSGetEnviron() };
    // SAFETY: it is there from the start, and nothing here changes it.
    unsafe { *place }.cast_const().cast()
}

/// Puts other variables in place of ours, for the program that this process becomes.
///
/// # Safety
///
/// `variables` has to lead to pointers to strings, of which the last is null, for as long as this process lives; and
/// nobody else may be looking.
#[cfg(not(target_os = "linux"))]
pub unsafe fn replace(variables: *const *const c_char) {
    #[cfg(not(target_vendor = "apple"))]
    {
        unsafe extern "C" {
            static mut environ: *const *const c_char;
        }
        // SAFETY: every C library has this variable; the caller sees to the rest.
        unsafe { environ = variables };
    }
    #[cfg(target_vendor = "apple")]
    {
        // SAFETY: the function only says where the variable is.
        let place = unsafe { libc::_NSGetEnviron() };
        // SAFETY: the caller sees to it.
        unsafe { *place = variables.cast_mut().cast() };
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn they_are_those_that_everybody_sees() {
        let copied: Vec<Vec<u8>> =
            std::env::vars_os().map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat()).collect();
        let seen: Vec<&[u8]> = all().map(CStr::to_bytes).filter(|variable| variable.contains(&b'=')).collect();
        assert!(!seen.is_empty());
        assert_eq!(seen, copied);
    }
}
