//! What was investigated and which files were changed, according to tool uses.

use std::collections::BTreeSet;

use crate::model::digest::FileNote;
use crate::model::session::{Entry, Item, Session, ToolUse, Touch};

const MAX_FILES: usize = 24;

pub(super) fn investigated(session: &Session) -> Vec<String> {
    let changed: BTreeSet<&str> = touched(session, |how| how > Touch::Read).collect();
    let mut read: Vec<&str> = Vec::new();
    for path in touched(session, |how| how == Touch::Read).filter(|p| !changed.contains(p)) {
        if !read.contains(&path) {
            read.push(path);
        }
    }
    let mut all: Vec<String> = session.entries.iter().filter_map(delegated).take(6).collect();
    if !read.is_empty() {
        let names: Vec<&str> = read.iter().take(10).map(|p| session.relative(p)).collect();
        let more = if read.len() > 10 { format!(" and {} more", read.len() - 10) } else { String::new() };
        all.push(format!("Read {}{more}", names.join(", ")));
    }
    all
}

fn delegated(entry: &Entry) -> Option<String> {
    match &entry.item {
        Item::Tool(tool) if entry.is_main() && matches!(tool.name.as_str(), "Task" | "Agent") => {
            Some(format!("Subagent: {}", tool.line))
        }
        Item::Tool(tool) if matches!(tool.name.as_str(), "WebFetch" | "WebSearch") => Some(format!("Looked up {}", tool.line)),
        _ => None,
    }
}

fn touched(session: &Session, fits: impl Fn(Touch) -> bool) -> impl Iterator<Item = &str> {
    session.entries.iter().filter_map(move |e| match &e.item {
        Item::Tool(ToolUse { file: Some(file), .. }) if fits(file.how) => Some(file.path.as_str()),
        _ => None,
    })
}

/// Changed files, those with most changed lines first.
pub(super) fn files(session: &Session) -> Vec<FileNote> {
    let mut changed: Vec<_> = session.files().into_iter().filter(|(_, t)| t.how > Touch::Read).collect();
    changed.sort_by_key(|(_, t)| std::cmp::Reverse(t.added.saturating_add(t.removed)));
    changed.into_iter().take(MAX_FILES).map(|(path, _)| FileNote { path, verified: true }).collect()
}
