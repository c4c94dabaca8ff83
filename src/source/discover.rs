//! Finds transcripts: a walk that reports what it cannot read and continues.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use globset::GlobSet;
use walkdir::WalkDir;

use super::claude_code::TranscriptIdentity;
use crate::model::session::Millis;

/// A transcript on disk.
#[derive(Debug, Clone)]
pub(crate) struct TranscriptFile {
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    /// In nanoseconds since the epoch.
    pub(crate) mtime_ns: i64,
    /// A hash of times and inode that differs once the file was written, replaced or touched. The modification time alone is not
    /// enough: tools that restore or copy files set it.
    pub(crate) stamp: i64,
    pub(crate) place: TranscriptIdentity,
}

impl TranscriptFile {
    /// The path under which the index stores the file. Paths that differ only in invalid UTF-8 stay distinct.
    pub(crate) fn stored_path(&self) -> Cow<'_, str> {
        match self.path.to_str() {
            Some(text) => Cow::Borrowed(text),
            None => {
                let hash = blake3::hash(self.path.as_os_str().as_bytes()).to_hex();
                Cow::Owned(format!("{}#{}", self.path.display(), &hash[..8]))
            }
        }
    }

    /// Has the file the size and stamp it had when it was last read?
    pub(crate) fn is_as_seen(&self, size: u64, stamp: i64) -> bool {
        self.size == size && self.stamp == stamp
    }

    pub(crate) fn mtime(&self) -> Millis {
        self.mtime_ns / 1_000_000
    }
}

#[derive(Debug, Default)]
pub(crate) struct Discovery {
    /// Unordered, as the system lists the files.
    pub(crate) files: Vec<TranscriptFile>,
    /// Paths that could not be read, each with the reason.
    pub(crate) unreadable: Vec<String>,
    pub(crate) excluded: usize,
}

/// A file's device and inode, the index of the root it was found under, and its index in the list of files.
type FileAlias = (u64, u64, usize, usize);

/// Walks the transcripts of every config directory; each file is returned once, however many links lead to it.
///
/// Only the messages about unreadable paths are sorted. Nearly all files are unchanged since the last run, and the caller sorts
/// the rest.
pub(crate) fn discover(claude_dirs: &[PathBuf], exclude: &GlobSet) -> Discovery {
    let mut found = Discovery::default();
    let mut names = Vec::new();
    let roots = claude_dirs.iter().flat_map(|dir| ["projects", "transcripts"].map(|layout| (dir.join(layout), layout)));
    for (at, (root, layout)) in roots.enumerate() {
        // A fresh install has no such folder.
        if root.symlink_metadata().is_ok() {
            walk(&root, at, layout == "transcripts", exclude, &mut names, &mut found);
        }
    }
    drop_aliases(&mut found.files, names);
    found
}

fn walk(root: &Path, number: usize, old_layout: bool, exclude: &GlobSet, names: &mut Vec<FileAlias>, found: &mut Discovery) {
    // A link may lead anywhere: folders that cannot hold transcripts are not entered.
    let leads_on = |entry: &walkdir::DirEntry| !entry.file_type().is_dir() || may_hold(entry, old_layout);
    let mut unreadable = Vec::new();
    for entry in WalkDir::new(root).follow_links(true).into_iter().filter_entry(leads_on) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(e) => {
                unreadable.push((e.path().unwrap_or(root).to_owned(), e.to_string()));
                continue;
            }
        };
        if entry.file_type().is_dir() {
            continue;
        }
        let path = entry.path();
        let Some(place) = place_of(path, root, old_layout) else { continue };
        if !exclude.is_empty() && exclude.is_match(path) {
            found.excluded += 1;
            continue;
        }
        match entry.metadata() {
            Ok(meta) if meta.is_file() => {
                names.push((meta.dev(), meta.ino(), number, found.files.len()));
                let (size, mtime_ns, stamp) = (meta.len(), mtime_ns(&meta), stamp(&meta));
                found.files.push(TranscriptFile { path: entry.into_path(), size, mtime_ns, stamp, place });
            }
            Ok(_) => unreadable.push((path.to_owned(), format!("{}: not a regular file", path.display()))),
            Err(e) => unreadable.push((path.to_owned(), e.to_string())),
        }
    }
    unreadable.sort();
    found.unreadable.extend(unreadable.into_iter().map(|(_, why)| why));
}

/// Of several paths to one file, keeps the first in the first root.
fn drop_aliases(files: &mut Vec<TranscriptFile>, mut names: Vec<FileAlias>) {
    names.sort_unstable();
    let is_same = |a: &FileAlias, b: &FileAlias| (a.0, a.1) == (b.0, b.1);
    let mut others = HashSet::new();
    for of_one in names.chunk_by(is_same).filter(|of_one| of_one.len() > 1) {
        let first = of_one.iter().min_by_key(|(_, _, root, at)| (root, &files[*at].path));
        others.extend(of_one.iter().filter(|name| Some(*name) != first).map(|name| name.3));
    }
    let mut at = 0..;
    files.retain(|_| at.next().is_none_or(|at| !others.contains(&at)));
}

fn mtime_ns(meta: &Metadata) -> i64 {
    meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec())
}

/// The change time and the inode cannot be set by a program: a copied or replaced file differs in them.
pub(super) fn stamp(meta: &Metadata) -> i64 {
    let parts = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec(), meta.ino() as i64];
    let mut bytes = [0; 8 * 5];
    for (to, part) in bytes.chunks_exact_mut(8).zip(parts) {
        to.copy_from_slice(&part.to_le_bytes());
    }
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(&bytes).as_bytes()[..8]);
    i64::from_le_bytes(first)
}

/// The deepest level that is searched: clients nest less below a transcript folder, but a link may lead to the whole disk.
const MAX_DEPTH: usize = 10;

/// May a folder hold transcripts? `<slug>/`, `<slug>/<session>/`, `<slug>/<session>/subagents/` and folders below that.
fn may_hold(entry: &walkdir::DirEntry, old_layout: bool) -> bool {
    match entry.depth() {
        0 => true,
        1 | 2 => !old_layout,
        3 => !old_layout && entry.file_name() == "subagents",
        depth => !old_layout && depth <= MAX_DEPTH,
    }
}

/// The session and agent that a path below `root` stands for; `None` if it is not a transcript.
///
/// `<slug>/<session>.jsonl`, `<slug>/agent-<id>.jsonl` (older subagents), `<slug>/<session>/subagents/**/agent-<id>.jsonl`, and in
/// the old layout `ses_<id>.jsonl`.
fn place_of(path: &Path, root: &Path, old_layout: bool) -> Option<TranscriptIdentity> {
    let below = path.as_os_str().as_bytes().strip_prefix(root.as_os_str().as_bytes())?.strip_prefix(b"/")?;
    let (folder, name) = below.split_at(memchr::memrchr(b'/', below).map_or(0, |at| at + 1));
    let stem = String::from_utf8_lossy(name.strip_suffix(b".jsonl").filter(|stem| !stem.is_empty())?);
    let agent = stem.strip_prefix("agent-").map(str::to_owned);
    let mut folders = folder.split_inclusive(|b| *b == b'/');
    match (folders.next(), folders.next(), folders.next()) {
        (None, ..) if old_layout => Some(TranscriptIdentity { session: stem.into_owned(), agent: None }),
        (Some(_), None, _) if !old_layout => Some(TranscriptIdentity { session: stem.into_owned(), agent }),
        (Some(_), Some(session), Some(b"subagents/")) if !old_layout && agent.is_some() => {
            Some(TranscriptIdentity { session: String::from_utf8_lossy(&session[..session.len() - 1]).into_owned(), agent })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_all_of_a_disk_is_not_walked_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let (agents, disk) = (folder.path().join("projects/-p/s1/subagents"), folder.path().join("disk"));
        std::fs::create_dir_all(agents.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&disk, &agents).unwrap();
        for depth in [0, 3, 7, 8, 30] {
            let dir = disk.join("a/".repeat(depth));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join(format!("agent-{depth}.jsonl")), "{}").unwrap();
        }
        let found = discover(&[folder.path().to_owned()], &GlobSet::empty());
        let mut agents: Vec<_> = found.files.into_iter().filter_map(|file| file.place.agent).collect();
        agents.sort();
        assert_eq!((agents, found.unreadable), (vec!["0".into(), "3".into(), "7".into()], vec![]));
    }

    #[test]
    fn a_path_says_whose_rows_it_holds() {
        let at = |path: &str, old| place_of(Path::new(path), Path::new("/c/p"), old).map(|p| (p.session, p.agent));
        let some = |session: &str, agent: Option<&str>| Some((session.to_owned(), agent.map(str::to_owned)));
        assert_eq!(at("/c/p/-src/s1.jsonl", false), some("s1", None));
        assert_eq!(at("/c/p/-src/agent-7.jsonl", false), some("agent-7", Some("7")));
        assert_eq!(at("/c/p/-src/s1/subagents/agent-7.jsonl", false), some("s1", Some("7")));
        assert_eq!(at("/c/p/-src/s1/subagents/workflows/w/agent-7.jsonl", false), some("s1", Some("7")));
        assert_eq!(at("/c/p/ses_9.jsonl", true), some("ses_9", None));
        for other in
            ["/c/p/-src/s1.json", "/c/p/-src/s1/tool-results/x.jsonl", "/c/p/x.jsonl", "/c/p/-src/s1/subagents/journal.jsonl"]
        {
            assert_eq!(at(other, false), None, "{other}");
        }
    }
}
