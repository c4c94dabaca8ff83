//! From digests and sessions to what people and models read, within a budget. Pure; knows no store.

pub(crate) mod brief;
pub(crate) mod chain;
pub(crate) mod dropped;
#[cfg(feature = "web")]
pub(crate) mod html;
pub(crate) mod item_list;
pub(crate) mod known_command;
pub(crate) mod known_failure;
pub(crate) mod page;
pub(crate) mod quoted;
pub(crate) mod report;
pub(crate) mod session_start;
pub(crate) mod terminal;
pub(crate) mod timeline;
pub(crate) mod topic;
