//! Codex: the only module that knows how its rollouts are written and how its tools are called.
//!
//! A rollout is a file of JSON lines. Four generations of it are out there; every field is optional and may have any type, and what is unknown
//! is counted by name and never fatal. Seen with the clients 0.29, 0.55, 0.96, 0.128, 0.150 and 0.169:
//!
//! | since | what is told where |
//! |---|---|
//! | 0.29 | bare items of the model's API, without times or folder: prompts are among messages in the user's name |
//! | 0.55 | items in envelopes with times; words also as events, which hold nothing of the client's own |
//! | 0.128 | borders of turns; compactions |
//! | 0.150 | finished items: words, commands with their exit code, changes of files. Calls say no more, and in code mode less |

mod calls;
mod files;
mod items;
mod review;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client of OpenAI's.
pub(super) struct Codex;
