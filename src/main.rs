//! The program: everything is in the library, so that tests can reach it.
//!
//! On Linux with the GNU C library it is entered without Rust's runtime, of whose preparations a run of a short command
//! would feel each: it reads all of /proc/self/maps to find the end of the stack, and puts a handler for its overflow in
//! place, which we would take away again. What else it does is done in `session::inherited`. Elsewhere the arguments
//! reach the program only through the runtime.
#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
fn main() -> ! {
    idlewatch::run()
}

/// Where the C library enters the program.
// SAFETY: there is one `main`, of the form that C asks for, since Rust makes none.
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
#[unsafe(no_mangle)]
extern "C" fn main() -> std::ffi::c_int {
    idlewatch::run_without_runtime()
}
