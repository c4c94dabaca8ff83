//! Copilot Chat in VS Code: the only module that knows how the editor writes its chats and how their tools are called. Written from the published
//! sources of the editor; no release was tried.
//!
//! A chat is a document of requests, each with the user's words and what was answered. Older releases write it whole; newer ones append changes
//! of it to a log, which begins anew from time to time. Lines are made of the document as it is now: one of what was asked, and once that is
//! answered one of each text and each call. What a tool was given and what it answered stands in the metadata of a result; of a request that
//! has none, in what was shown.

mod chat;
mod document;
mod files;
mod log;
mod rows;
#[cfg(test)]
mod tests;
mod tools;

/// The client.
pub(super) struct VsCodeCopilot;
