//! The tasks that Cline and what was made of it, Roo Code and Kilo Code, keep as extensions of an editor. Written from their published sources; no
//! release was tried.
//!
//! A task is a folder with documents that are written whole each time. `api_conversation_history.json` has what was sent to the model and what it
//! answered: a line is made of each message. What the user said stands in tags among what the extension says in the user's name. Calls of tools
//! are blocks, or in older releases XML in the text. `ui_messages.json` has when each message was and what each call of the model used; the folder
//! and the parent of a task stand in `history_item.json` beside it or in a list of all tasks.

mod calls;
mod document;
mod files;
mod results;
mod rows;
#[cfg(test)]
mod tests;
mod tools;
mod xml;

use crate::client::Client;

pub(super) use self::document::lines;
pub(super) use self::files::{PROFILES, STORAGE, below_editor, is_task, leads_to_tasks, task};
pub(super) use self::rows::TaskLines;
pub(super) use self::tools::TOOLS;

/// An extension of an editor that keeps its sessions there and nowhere else.
pub(super) struct Extension {
    client: Client,
    /// Its id, which its folder in the storage of the editor has for a name.
    id: &'static str,
}

pub(super) static ROO_CODE: Extension = Extension { client: Client::RooCode, id: "rooveterinaryinc.roo-cline" };
pub(super) static KILO_CODE: Extension = Extension { client: Client::KiloCode, id: "kilocode.kilo-code" };
