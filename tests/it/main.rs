//! The integration tests: one binary, one builder.

mod replay;
mod watch_activity;
mod watch_loops;
mod watch_properties;
mod watch_purity;
mod watch_silence;
mod watch_waiting;
mod watched;
