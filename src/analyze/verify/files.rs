//! The files that a digest names: the row that touched each, or that names it.

use std::collections::BTreeMap;

use super::speakers::text_of;
use text::file_names::file_names_in;
use transcripts::session::{Entry, Item, RecordKey, Session, ToolUse};

/// The entry that touched a file, else one that names it.
pub(super) fn naming<'m>(
    session: &Session,
    path: &str,
    mentioned: impl FnOnce() -> &'m BTreeMap<String, RecordKey>,
) -> Vec<RecordKey> {
    let touched = session.entries.iter().find(|entry| touches(entry, path)).map(|entry| entry.key);
    touched.or_else(|| mention(path, mentioned())).into_iter().collect()
}

/// `src/a.rs` matches `/home/me/repo/src/a.rs`, but not `/home/me/repo/lib/src/aa.rs`.
fn touches(entry: &Entry, path: &str) -> bool {
    let path = path.trim_start_matches("./");
    let Item::Tool(ToolUse { file: Some(file), .. }) = &entry.item else { return false };
    file.path == path || file.path.strip_suffix(path).is_some_and(|before| before.ends_with('/'))
}

/// Every word of the session that looks like a file name, with the first entry that holds it.
pub(super) fn mentioned_names(session: &Session) -> BTreeMap<String, RecordKey> {
    let mut names = BTreeMap::new();
    for entry in &session.entries {
        for name in file_names_in(&text_of(entry)) {
            names.entry(name.to_owned()).or_insert(entry.key);
        }
    }
    names
}

fn mention(path: &str, names: &BTreeMap<String, RecordKey>) -> Option<RecordKey> {
    let path = path.trim_start_matches("./");
    let name = path.rsplit('/').next().unwrap_or(path);
    // A bare name matches its file; a path must match as a whole or as a suffix.
    let names_it = |said: &str| {
        said == path
            || said == name
            || said.strip_suffix(path).is_some_and(|b| b.ends_with('/'))
            || path.strip_suffix(said).is_some_and(|b| b.ends_with('/'))
    };
    names.iter().find(|(said, _)| names_it(said)).map(|(_, key)| *key)
}
