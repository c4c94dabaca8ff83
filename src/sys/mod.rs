//! The edges of the process: files, children, signals, the terminal, failpoints.

pub mod child_process;
pub mod failpoints;
pub mod messages;
pub mod paths;
pub mod private_files;
pub mod projects;
pub mod shutdown;
pub mod terminal_escape;
