//! Sessions of other agents than Claude Code, as their clients wrote them.

mod antigravity;
mod cline;
mod codex;
mod codex_host;
mod copilot;
mod copilot_host;
mod cowork;
mod cursor;
mod cursor_host;
mod editor_tasks;
mod gemini;
mod gemini_documents;
mod gemini_host;
mod opencode;
mod opencode_files;
mod opencode_host;
mod overview;
mod pi;
mod qwen;
mod qwen_host;
mod real_clients;
mod recorded;
mod told_by_hooks;
mod vscode_copilot;
mod vscode_copilot_host;
mod windsurf;
