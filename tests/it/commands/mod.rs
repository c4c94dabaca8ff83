//! The commands as a user meets them: what they print, what they refuse, and how they end.

mod arguments;
mod brief;
mod claude_mem;
mod closed_output;
mod config;
mod day;
mod digest;
mod doctor;
mod doctor_memory;
mod fix;
mod friction;
mod how;
mod items;
mod progress;
mod raw;
mod redact;
pub mod report;
mod resume;
mod search;
mod search_and_show;
mod settling;
mod shutdown;
mod stats;
mod status;
mod timeline;
mod transfer;
mod wrong_replies;
