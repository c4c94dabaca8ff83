//! Sessions of other agents than Claude Code, as their clients wrote them.

mod codex;
mod codex_host;
mod copilot;
mod gemini;
mod gemini_host;
mod pi;
mod qwen;
mod qwen_host;
mod real_clients;
mod recorded;
