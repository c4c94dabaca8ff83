//! The checks, which the test run of recall shares.

#![forbid(unsafe_code)]

#[path = "../../tests/fuzzing/bodies/mod.rs"]
pub mod bodies;
