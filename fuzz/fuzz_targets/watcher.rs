//! `cargo +nightly fuzz run watcher`: the same entry as the property test `no_script_breaks_a_promise`.
#![no_main]

libfuzzer_sys::fuzz_target!(|script: &[u8]| {
    idlewatch::watch::survive(script);
});
