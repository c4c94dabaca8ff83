//! Qwen Code: the only module that knows how it writes its sessions and how its tools are called. Seen with 0.5.2 to 0.24.4.
//!
//! Rows have the envelope of Claude Code's (an id, that of the row before, folder, branch), and messages of Gemini's: parts with texts,
//! calls of functions and their responses. Subagents have files of their own since 0.24.

mod files;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client of Alibaba's.
pub(super) struct QwenCode;
