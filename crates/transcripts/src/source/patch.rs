//! Patches in the form of OpenAI's models, which several clients have: `*** Begin Patch`, then a part for each file.

use crate::privacy::Sanitizer;
use crate::privacy::raw::RawText;
use crate::session::{FileTouch, Item, ToolUse, Touch};

/// A file that a patch names, and what becomes of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: RawText<'static>,
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
    pub(super) fn new(path: &RawText<'_>, kind: ChangeKind) -> Self {
        Self { path: path.trim().into_owned(), kind, added: 0, removed: 0 }
    }

    /// The touch of a file that is still there, at its path as it is kept.
    fn touch(&self, path: &str) -> Option<FileTouch> {
        let how = match self.kind {
            ChangeKind::Add => Touch::Written,
            ChangeKind::Update => Touch::Edited,
            ChangeKind::Delete => return None,
        };
        Some(FileTouch { path: path.to_owned(), how, added: self.added, removed: self.removed })
    }

    /// Counts a line of a diff.
    pub(super) fn count(&mut self, line: &RawText<'_>) {
        self.added += u32::from(line.starts_with("+"));
        self.removed += u32::from(line.starts_with("-"));
    }
}

/// A path as the session's folder makes it absolute.
pub(super) fn absolute(path: &str, cwd: Option<&str>) -> String {
    match cwd {
        Some(cwd) if !path.starts_with('/') => format!("{}/{}", cwd.trim_end_matches('/'), path.trim_start_matches("./")),
        _ => path.to_owned(),
    }
}

/// The same of a path that has not passed the sanitizer.
fn absolute_raw<'p>(path: &'p RawText<'_>, cwd: Option<&str>) -> RawText<'p> {
    match cwd {
        Some(cwd) if !path.starts_with("/") => {
            let below = path.part(|path| Some(path.trim_start_matches("./"))).unwrap_or_default();
            RawText::joined(&[cwd.trim_end_matches('/').into(), below], "/")
        }
        _ => path.into(),
    }
}

/// The changes of a patch, in order; none if the text is no patch. Text before and after it does not count.
pub(super) fn changes(text: &RawText<'_>) -> Vec<Change> {
    let mut all: Vec<Change> = Vec::new();
    let patch = text.part(|text| text.split_once("*** Begin Patch")?.1.split("*** End Patch").next());
    for line in patch.iter().flat_map(RawText::lines) {
        let part = |start: &str| line.strip_prefix(start);
        if let Some(path) = part("*** Add File: ") {
            all.push(Change::new(&path, ChangeKind::Add));
        } else if let Some(path) = part("*** Update File: ") {
            all.push(Change::new(&path, ChangeKind::Update));
        } else if let Some(path) = part("*** Delete File: ") {
            all.push(Change::new(&path, ChangeKind::Delete));
        } else if let Some(path) = part("*** Move to: ") {
            // The file goes on under another name.
            if let Some(moved) = all.last_mut() {
                moved.path = path.trim().into_owned();
            }
        } else if let Some(change) = all.last_mut() {
            change.count(&line);
        }
    }
    all
}

/// A tool use for each file of a patch.
pub(super) fn edits((id, tool): (&str, &str), all: &[Change], cwd: Option<&str>, sanitizer: &Sanitizer) -> Vec<Item> {
    let edit = |change: &Change| {
        // A relative path is below `cwd`.
        let path = sanitizer.clean(absolute_raw(&change.path, cwd));
        let touch = change.touch(&path);
        let line = if touch.is_some() { path } else { format!("delete {path}") };
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
        let found: Vec<_> = changes(&text.into()).into_iter().map(|c| (c.touch("p"), c.path, c.kind, c.added, c.removed)).collect();
        let touch = |how, added, removed| Some(FileTouch { path: "p".into(), how, added, removed });
        assert_eq!(
            found,
            [
                (touch(Touch::Written, 2, 0), "a.rs".into(), ChangeKind::Add, 2, 0),
                (touch(Touch::Edited, 1, 1), "/r/c.rs".into(), ChangeKind::Update, 1, 1),
                (None, "d".into(), ChangeKind::Delete, 0, 0),
            ]
        );
        assert!(changes(&"git diff\n+++ a\n".into()).is_empty());
    }

    #[test]
    fn a_path_is_kept_below_the_folder_unless_it_is_whole() {
        for (path, kept) in [("a.rs", "/p/a.rs"), ("./a/b.rs", "/p/a/b.rs"), ("/r/c.rs", "/r/c.rs")] {
            assert_eq!((absolute(path, Some("/p/")), absolute_raw(&path.into(), Some("/p/"))), (kept.into(), kept.into()));
            assert_eq!((absolute(path, None), absolute_raw(&path.into(), None)), (path.into(), path.into()));
        }
    }
}
