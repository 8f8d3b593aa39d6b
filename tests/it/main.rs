//! The integration tests: one binary, one builder.
//!
//! A test that needs a program the machine does not have says so and passes; with `IDLEWATCH_TEST_REQUIRE_ALL` set,
//! as in CI, it fails instead.

mod arguments;
mod bad_input;
mod bytes;
mod completions;
mod configuration;
mod control;
mod ctl;
mod ctl_trouble;
mod ends;
mod environment;
mod events;
mod examples;
mod exhaustion;
mod faults;
mod gaps;
mod generated;
mod guards;
mod heartbeat;
mod history;
mod invariants;
mod jobs;
mod keys;
mod killing;
mod leftovers;
mod losses;
mod notify;
mod policy;
mod programs;
mod prompt;
mod queries;
mod readme;
mod record;
mod relaunch;
mod replay;
mod report;
mod report_page;
mod restore;
mod schema;
mod signals;
mod storms;
mod streams;
mod support;
mod terminal;
mod typeahead;
mod watch_activity;
mod watch_loops;
mod watch_nudges;
mod watch_policy;
mod watch_properties;
mod watch_silence;
mod watch_waiting;
mod watched;
mod weight;
