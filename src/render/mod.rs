//! From digests and sessions to what people and models read, within a budget. Pure; knows no store.

pub mod brief;
pub mod item_list;
pub mod page;
pub mod session_start;
pub mod timeline;
pub mod topic;
