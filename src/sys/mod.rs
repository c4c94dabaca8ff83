//! The edges of the process: files, children, signals, the terminal, endpoints, failpoints.

pub(crate) mod child_process;
pub(crate) mod download;
pub(crate) mod failpoints;
pub(crate) mod git;
pub(crate) mod git_config;
#[cfg(feature = "sync")]
pub(crate) mod host;
pub(crate) mod http;
pub(crate) mod messages;
pub(crate) mod pager;
pub(crate) mod paths;
pub(crate) mod private_files;
pub(crate) mod progress;
pub(crate) mod projects;
pub(crate) mod shutdown;
pub(crate) mod sqlite_files;
pub(crate) mod terminal_escape;
pub(crate) mod threads;
