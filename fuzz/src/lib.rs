//! The checks of the fuzz targets, shared with recall's own tests.

#![forbid(unsafe_code)]

#[path = "../../tests/fuzzing/bodies/mod.rs"]
pub mod bodies;
