//! The checks of the fuzz targets, shared with recall's own tests.

#![forbid(unsafe_code)]

#[path = "../../tests/stress/fuzzing/bodies/mod.rs"]
pub mod bodies;
#[path = "../../tests/support/invisible.rs"]
mod invisible;
