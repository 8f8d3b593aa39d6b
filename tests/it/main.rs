//! The integration tests: one binary, one builder.
//!
//! A test that needs a program the machine does not have says so and passes; with `IDLEWATCH_TEST_REQUIRE_ALL` set,
//! as in CI, it fails instead.

mod bad_input;
mod completions;
mod configuration;
mod ends;
mod generated;
mod invariants;
mod support;
