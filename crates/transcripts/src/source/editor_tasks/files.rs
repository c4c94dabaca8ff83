//! Where extensions keep their tasks, and what they say of themselves by that.

use std::io;
use std::path::Path;

use serde_json::Value;

use super::rows::TaskLines;
use super::{Extension, document, tools};
use crate::client::Client;
use crate::privacy::Sanitizer;
use crate::session::ParserState;
use crate::source::delta::MadeLines;
use crate::source::discover::TranscriptFile;
use crate::source::tool_use::ToolTable;
use crate::source::{LineParser, Release, Resume, Source, TranscriptIdentity};

/// `globalStorage/<extension>/tasks/<task>/api_conversation_history.json` in an editor's folder for the user.
pub(in crate::source) const STORAGE: &str = "globalStorage";
/// The same below `profiles/<profile>`, of a profile that somebody made.
pub(in crate::source) const PROFILES: &str = "profiles";
/// Where somebody told the extension to keep them elsewhere.
const TASKS: &str = "tasks";
const HISTORY: &str = "api_conversation_history.json";

/// Nobody has tried any.
const NEWEST_TESTED: Release = Release([0, 0, 0]);

impl Source for Extension {
    fn layouts(&self) -> &'static [&'static str] {
        &[STORAGE, PROFILES, TASKS]
    }

    fn may_hold(&self, layout: &str, depth: usize, name: &[u8]) -> bool {
        if layout == TASKS { depth == 1 } else { leads_to_tasks(self.id, layout, depth, name) }
    }

    fn identify(&self, layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
        if layout == TASKS { task(self.client, below) } else { below_editor(self.client, self.id, layout, below) }
    }

    fn made_lines(&self, place: &TranscriptIdentity, path: &Path) -> Option<io::Result<MadeLines>> {
        Some(document::lines(place, path))
    }

    /// A task may have been given by the assistant in another one.
    fn look_inside(&self, file: &mut TranscriptFile) {
        if let Some(parent) = document::parent(&file.path) {
            file.place.agent = Some(std::mem::replace(&mut file.place.session, parent));
        }
    }

    /// The extension lists its tasks itself.
    fn resume(&self, _session: &str) -> Option<Resume> {
        None
    }

    fn parser<'p>(&self, place: &'p TranscriptIdentity, sanitizer: &'p Sanitizer, state: &ParserState) -> Box<dyn LineParser + 'p> {
        Box::new(TaskLines::new(place, sanitizer, state))
    }

    fn holds_reply(&self, piece: &[u8]) -> bool {
        memchr::memmem::find(piece, br#""role":"assistant""#).is_some()
    }

    fn folder_in<'l>(&self, line: &'l Value) -> Option<&'l str> {
        line["task"]["cwd"].as_str()
    }

    fn tools(&self) -> &'static ToolTable {
        &tools::TOOLS
    }

    fn newest_tested(&self) -> Release {
        NEWEST_TESTED
    }
}

/// Whether a folder so far below a layout of an editor may lead to tasks of the extension.
pub(in crate::source) fn leads_to_tasks(extension: &str, layout: &str, depth: usize, name: &[u8]) -> bool {
    let is = |expected: &str| name.eq_ignore_ascii_case(expected.as_bytes());
    match (layout, depth) {
        (PROFILES, 1) => true,
        (PROFILES, 2) => is(STORAGE),
        (STORAGE, 1) | (PROFILES, 3) => is(extension),
        (STORAGE, 2) | (PROFILES, 4) => is(TASKS),
        (STORAGE, 3) | (PROFILES, 5) => true,
        _ => false,
    }
}

/// Whose messages a file below a layout of an editor holds.
pub(in crate::source) fn below_editor(client: Client, extension: &str, layout: &str, below: &[u8]) -> Option<TranscriptIdentity> {
    let path = std::str::from_utf8(below).ok()?;
    let path = if layout == PROFILES { path.split_once('/')?.1.strip_prefix(STORAGE)?.strip_prefix('/')? } else { path };
    let (own, rest) = path.split_once('/')?;
    let is_own = own.eq_ignore_ascii_case(extension);
    task(client, rest.strip_prefix(TASKS)?.strip_prefix('/').filter(|_| is_own)?.as_bytes())
}

/// Whose messages a file below the folder of all tasks holds.
pub(in crate::source) fn task(client: Client, below: &[u8]) -> Option<TranscriptIdentity> {
    let (session, name) = std::str::from_utf8(below).ok()?.split_once('/')?;
    let is_named = !session.is_empty() && name == HISTORY;
    is_named.then(|| TranscriptIdentity { client, session: session.to_owned(), agent: None, cwd: None })
}

/// Is a file with this path the messages of a task?
pub(in crate::source) fn is_task(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == HISTORY)
}

#[cfg(test)]
mod tests {
    use super::super::ROO_CODE;
    use super::*;

    #[test]
    fn a_task_is_known_by_its_folder() {
        let at = |layout: &str, below: &str| ROO_CODE.identify(layout, below.as_bytes()).map(|place| place.session);
        let own = "rooveterinaryinc.roo-cline/tasks/0a-1/api_conversation_history.json";
        assert_eq!(at(STORAGE, own).as_deref(), Some("0a-1"));
        assert_eq!(at(STORAGE, &own.replace("rooveterinaryinc", "RooVeterinaryInc")).as_deref(), Some("0a-1"));
        assert_eq!(at(PROFILES, &format!("-2f/globalStorage/{own}")).as_deref(), Some("0a-1"));
        assert_eq!(at(TASKS, "0a-1/api_conversation_history.json").as_deref(), Some("0a-1"));
        for other in [
            "kilocode.kilo-code/tasks/0a-1/api_conversation_history.json",
            "rooveterinaryinc.roo-cline/tasks/0a-1/ui_messages.json",
            "rooveterinaryinc.roo-cline/tasks/_index.json",
            "rooveterinaryinc.roo-cline/tasks/0a-1/x/api_conversation_history.json",
        ] {
            assert_eq!(at(STORAGE, other), None, "{other}");
        }
    }

    #[test]
    fn only_folders_that_lead_to_tasks_are_entered() {
        let enters = |layout: &str, path: &str| {
            let parts = || path.split('/').enumerate();
            parts().all(|(n, name)| ROO_CODE.may_hold(layout, n + 1, name.as_bytes()))
        };
        assert!(enters(STORAGE, "rooveterinaryinc.roo-cline/tasks/0a") && enters(TASKS, "0a"));
        assert!(enters(PROFILES, "-2f/globalStorage/rooveterinaryinc.roo-cline/tasks/0a"));
        for other in
            ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline/cache", "rooveterinaryinc.roo-cline/tasks/0a/checkpoints"]
        {
            assert!(!enters(STORAGE, other), "{other}");
        }
    }
}
