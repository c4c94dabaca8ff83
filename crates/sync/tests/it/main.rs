//! What the crate promises, by subject.

mod carriers;
mod damage;
mod folder;
mod machines;
mod property;
mod ssh;
mod support;
