//! Patches in the form of OpenAI's models, which several clients have: `*** Begin Patch`, then a part for each file.

use crate::model::session::{FileTouch, Item, ToolUse, Touch};
use crate::privacy::Sanitizer;

/// A file that a patch names, and what becomes of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: String,
    pub(super) kind: ChangeKind,
    /// Lines added and removed.
    pub(super) added: u32,
    pub(super) removed: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Add,
    Update,
    Delete,
}

impl Change {
    pub(super) fn new(path: &str, kind: ChangeKind) -> Self {
        Self { path: path.trim().to_owned(), kind, added: 0, removed: 0 }
    }

    /// The touch of a file that is still there. A relative path is below `cwd`.
    pub(super) fn touch(&self, cwd: Option<&str>) -> Option<FileTouch> {
        let how = match self.kind {
            ChangeKind::Add => Touch::Written,
            ChangeKind::Update => Touch::Edited,
            ChangeKind::Delete => return None,
        };
        Some(FileTouch { path: absolute(&self.path, cwd), how, added: self.added, removed: self.removed })
    }

    /// Counts a line of a diff.
    pub(super) fn count(&mut self, line: &str) {
        self.added += u32::from(line.starts_with('+'));
        self.removed += u32::from(line.starts_with('-'));
    }
}

/// A path as the session's folder makes it absolute.
pub(super) fn absolute(path: &str, cwd: Option<&str>) -> String {
    match cwd {
        Some(cwd) if !path.starts_with('/') => format!("{}/{}", cwd.trim_end_matches('/'), path.trim_start_matches("./")),
        _ => path.to_owned(),
    }
}

/// The changes of a patch, in order; none if the text is no patch. Text before and after it does not count.
pub(super) fn changes(text: &str) -> Vec<Change> {
    let mut all: Vec<Change> = Vec::new();
    let Some((_, patch)) = text.split_once("*** Begin Patch") else { return all };
    for line in patch.split("*** End Patch").next().unwrap_or_default().lines() {
        let part = |start: &str| line.strip_prefix(start);
        if let Some(path) = part("*** Add File: ") {
            all.push(Change::new(path, ChangeKind::Add));
        } else if let Some(path) = part("*** Update File: ") {
            all.push(Change::new(path, ChangeKind::Update));
        } else if let Some(path) = part("*** Delete File: ") {
            all.push(Change::new(path, ChangeKind::Delete));
        } else if let Some(path) = part("*** Move to: ") {
            // The file goes on under another name.
            if let Some(moved) = all.last_mut() {
                path.trim().clone_into(&mut moved.path);
            }
        } else if let Some(change) = all.last_mut() {
            change.count(line);
        }
    }
    all
}

/// A tool use for each file of a patch.
pub(super) fn edits((id, tool): (&str, &str), all: &[Change], cwd: Option<&str>, sanitizer: &Sanitizer) -> Vec<Item> {
    let edit = |change: &Change| {
        let touch = change.touch(cwd).map(|touch| FileTouch { path: sanitizer.clean(&touch.path), ..touch });
        let line = match &touch {
            Some(touch) => touch.path.clone(),
            None => format!("delete {}", sanitizer.clean(&absolute(&change.path, cwd))),
        };
        Item::Tool(ToolUse::new(id, tool, line, touch.filter(|touch| !touch.path.is_empty())))
    };
    all.iter().map(edit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_its_files() {
        let text = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.rs\n+one\n+two\n*** Update File: /r/b.rs\n*** Move to: /r/c.rs\n@@ fn\n-x\n+y\n z\n*** Delete File: d\n*** End Patch\nEOF";
        let found: Vec<_> =
            changes(text).into_iter().map(|c| (c.path.clone(), c.kind, c.added, c.removed, c.touch(Some("/p")))).collect();
        let touch = |path: &str, how, added, removed| Some(FileTouch { path: path.into(), how, added, removed });
        assert_eq!(
            found,
            [
                ("a.rs".into(), ChangeKind::Add, 2, 0, touch("/p/a.rs", Touch::Written, 2, 0)),
                ("/r/c.rs".into(), ChangeKind::Update, 1, 1, touch("/r/c.rs", Touch::Edited, 1, 1)),
                ("d".into(), ChangeKind::Delete, 0, 0, None),
            ]
        );
        assert!(changes("git diff\n+++ a\n").is_empty());
    }
}
