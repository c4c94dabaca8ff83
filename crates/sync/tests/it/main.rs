//! What the crate promises, by subject.

#[cfg(feature = "s3")]
mod bucket;
mod carriers;
mod damage;
mod folder;
mod history;
mod machines;
mod property;
mod ssh;
mod sshd;
mod support;
