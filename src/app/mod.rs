//! Use cases: what the command line, the MCP server and the hooks all call.

pub(crate) mod agents;
pub(crate) mod asker;
pub(crate) mod brief;
pub(crate) mod claude_mem;
pub(crate) mod close_items;
pub(crate) mod consent;
pub(crate) mod contributor;
pub(crate) mod day;
pub(crate) mod digest;
pub(crate) mod doctor;
pub(crate) mod dropped;
pub(crate) mod embedding_model;
pub(crate) mod eval;
pub(crate) mod executor;
pub(crate) mod filter;
pub(crate) mod fix;
pub(crate) mod forget;
pub(crate) mod friction;
#[cfg(feature = "web")]
pub(crate) mod health;
pub(crate) mod hook_state;
pub(crate) mod how;
pub(crate) mod known_folders;
pub(crate) mod left_sessions;
pub(crate) mod list;
mod model_call;
pub(crate) mod notes;
pub(crate) mod open_memory;
pub(crate) mod open_of_team;
pub(crate) mod orphans;
pub(crate) mod page_facts;
#[cfg(feature = "web")]
pub(crate) mod project_overview;
pub(crate) mod prompt;
pub(crate) mod raw_lines;
pub(crate) mod repair;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod rules;
pub(crate) mod running;
pub(crate) mod search;
pub(crate) mod session_start;
pub(crate) mod settings;
pub(crate) mod share;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod status;
#[cfg(feature = "sync")]
pub(crate) mod sync;
#[cfg(feature = "team")]
pub(crate) mod team;
pub(crate) mod timeline;
#[cfg(feature = "web")]
pub(crate) mod told;
pub(crate) mod topic;
pub(crate) mod transfer;
pub(crate) mod why;
pub(crate) mod wrong;

/// How a completed command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completion {
    /// Everything was done.
    Done,
    /// Done, but something was skipped because of an error.
    Partly,
}
