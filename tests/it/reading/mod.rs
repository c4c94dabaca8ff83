//! What a user relies on when `recall` reads: every row once, no row lost to a bad neighbour, nothing that is not a person's word
//! taken for one.

mod bad_lines;
mod commits;
mod copies;
mod growth;
mod layouts;
mod selection;
// It asks the system what a process has read.
mod authorship;
mod evidence;
#[cfg(target_os = "linux")]
mod nothing_new;
mod pull_requests;
mod steps;
mod stored;
mod undo;
mod usage;
