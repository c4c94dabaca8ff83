//! The hooks as Claude Code calls them: marks that lose nothing, notes that a session starts with, and nothing that ever gets in
//! anybody's way.

mod at_end;
mod before_compact;
mod budget;
mod client_memory;
mod compaction;
mod concurrent;
mod cost;
mod fail_open;
mod failure_banner;
mod known_errors;
mod later_regressions;
mod marks;
mod no_reingest;
mod off_switch;
mod open_item_lives;
mod open_items;
mod other_hosts;
mod past_questions;
pub mod payloads;
mod pipes;
mod prompt;
mod receipts;
mod regressions;
mod session_start;
mod start_sources;
mod system;
mod tail_and_records;
mod undigested;
