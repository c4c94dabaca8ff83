//! What a user relies on when `recall` reads: every row once, no row lost to a bad neighbour, nothing that is not a person's word
//! taken for one.

#[path = "../support/mod.rs"]
mod support;

mod bad_lines;
mod choosing;
mod growth;
mod layouts;
// It asks the system what a process has read.
#[cfg(target_os = "linux")]
mod nothing_new;
mod stored;
mod undone;
mod usage;
mod words;
