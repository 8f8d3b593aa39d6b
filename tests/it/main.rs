//! The integration tests: one binary, one builder.
