//! The edges of the process: files, children, signals, the terminal, endpoints, failpoints.

pub(crate) mod child_process;
pub(crate) mod data_folder;
pub(crate) mod download;
pub(crate) mod failpoints;
pub(crate) mod git;
pub(crate) mod git_config;
#[cfg(feature = "sync")]
pub(crate) mod host;
pub(crate) mod http;
#[cfg(any(feature = "sync", feature = "team"))]
pub(crate) mod map_as_list;
pub(crate) mod messages;
pub(crate) mod pager;
pub(crate) mod paths;
pub(crate) mod private_files;
pub(crate) mod progress;
pub(crate) mod projects;
#[cfg(any(feature = "team", feature = "web"))]
pub(crate) mod random;
pub(crate) mod run_progress;
pub(crate) mod shutdown;
pub(crate) mod terminal_escape;
pub(crate) mod threads;
