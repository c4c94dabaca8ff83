//! Use cases: what the command line, the MCP server and the hooks all call.

pub mod close_items;
pub mod consent;
pub mod contributor;
pub mod digest;
pub mod doctor;
pub mod filter;
pub mod forget;
pub mod hook_state;
pub mod known_folders;
pub mod notes;
pub mod orphans;
pub mod raw_lines;
pub mod repair;
pub mod session_start;
pub mod topic;

/// How a completed command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// Everything was done.
    Done,
    /// Done, but something was skipped because of an error.
    Partly,
}
