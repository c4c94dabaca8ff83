//! Where sessions come from.

pub mod claude_code;
pub mod discover;
pub mod json;
pub mod project;
