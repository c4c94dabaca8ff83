//! What is read beside transcripts: marks of hooks, memory files of Claude's, statements of a team, where machines
//! exchange, the database of another tool.

pub(crate) mod claude_mem;
pub(crate) mod client_memory;
pub(crate) mod mark;
pub(crate) mod sync_places;
pub(crate) mod team_files;
