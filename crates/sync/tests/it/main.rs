//! What the crate promises, by subject.

mod machines;
mod property;
mod support;
