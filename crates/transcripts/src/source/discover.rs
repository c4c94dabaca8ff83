//! Finds transcripts: a walk that reports what it cannot read and continues.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use globset::GlobSet;
use walkdir::WalkDir;

use super::{Source, TranscriptIdentity, source_of};
use crate::client::Client;
use crate::session::Millis;

/// A transcript on disk.
#[derive(Debug, Clone)]
pub struct TranscriptFile {
    pub path: PathBuf,
    /// In bytes; of one of many sessions in a file, about its share of that; of one in many files, that of all.
    pub size: u64,
    /// It is one of many sessions in a file, or many files are one session: its stamp alone tells that it changed.
    pub is_share: bool,
    /// In nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// A hash of times and inode that differs once the file was written, replaced or touched. The modification time alone is not
    /// enough: tools that restore or copy files set it.
    pub stamp: i64,
    pub place: TranscriptIdentity,
}

impl TranscriptFile {
    /// The path under which the index stores the file. Paths that differ only in invalid UTF-8 stay distinct.
    pub fn stored_path(&self) -> Cow<'_, str> {
        match self.path.to_str() {
            Some(text) => Cow::Borrowed(text),
            None => {
                let hash = blake3::hash(self.path.as_os_str().as_bytes()).to_hex();
                Cow::Owned(format!("{}#{}", self.path.display(), &hash[..8]))
            }
        }
    }

    /// Has the file the size and stamp it had when it was last read?
    pub fn is_as_seen(&self, size: u64, stamp: i64) -> bool {
        (self.is_share || self.size == size) && self.stamp == stamp
    }

    pub fn mtime(&self) -> Millis {
        self.mtime_ns / 1_000_000
    }
}

#[derive(Debug, Default)]
pub struct Discovery {
    /// Unordered, as the system lists the files.
    pub files: Vec<TranscriptFile>,
    /// Paths that could not be read, each with the reason.
    pub unreadable: Vec<String>,
    pub excluded: usize,
}

/// Sessions that were found in files of another kind than transcripts. An older version of a client may have left copies of them.
#[derive(Debug, Default)]
pub struct FoundSessions(HashMap<String, (Client, i64)>);

impl FoundSessions {
    fn add(&mut self, file: &TranscriptFile) {
        let TranscriptIdentity { client, session, agent, .. } = &file.place;
        self.0.insert(agent.as_ref().unwrap_or(session).clone(), (*client, file.mtime_ns));
    }

    /// When something was last written in a session of this id or in a subagent's, in nanoseconds since the epoch; `None` if it was not found.
    pub fn written(&self, client: Client, id: &str) -> Option<i64> {
        self.0.get(id).filter(|(of, _)| *of == client).map(|(_, written)| *written)
    }
}

/// A file's device and inode, the index of the root it was found under, and its index in the list of files.
type FileAlias = (u64, u64, usize, usize);

/// A folder in which a client keeps its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFolder {
    pub client: Client,
    pub path: PathBuf,
}

/// Walks the transcripts in the folders of every client; each file is returned once, however many links lead to it.
///
/// Only the messages about unreadable paths are sorted. Nearly all files are unchanged since the last run, and the caller sorts
/// the rest.
pub fn discover(folders: &[ClientFolder], exclude: &GlobSet) -> Discovery {
    let mut found = Discovery::default();
    let mut names = Vec::new();
    let roots = folders.iter().flat_map(|folder| {
        let source = source_of(folder.client);
        // Joined to nothing, a path would end in a slash.
        let root = |layout: &str| if layout.is_empty() { folder.path.clone() } else { folder.path.join(layout) };
        source.layouts().iter().map(move |layout| (source, *layout, root(layout)))
    });
    for (at, (source, layout, root)) in roots.enumerate() {
        // A fresh install has no such folder.
        if root.symlink_metadata().is_ok() {
            walk((source, layout), &root, at, exclude, &mut names, &mut found);
        }
    }
    drop_aliases(&mut found.files, names);
    open_containers(&mut found, exclude);
    found
}

/// Puts the sessions in the place of a file that holds many, or is one of many.
fn open_containers(found: &mut Discovery, exclude: &GlobSet) {
    let mut files = Vec::with_capacity(found.files.len());
    let mut sessions_found = FoundSessions::default();
    for file in std::mem::take(&mut found.files) {
        match source_of(file.place.client).sessions_in(&file, &sessions_found) {
            None => files.push(file),
            Some(Ok(sessions)) => {
                sessions.iter().for_each(|session| sessions_found.add(session));
                let all = sessions.len();
                let kept = sessions.into_iter().filter(|session| exclude.is_empty() || !exclude.is_match(&session.path));
                let before = files.len();
                files.extend(kept);
                found.excluded += all - (files.len() - before);
            }
            Some(Err(e)) => found.unreadable.push(format!("cannot read {}: {e}", file.path.display())),
        }
    }
    found.files = files;
}

fn walk(
    (source, layout): (&dyn Source, &str),
    root: &Path,
    number: usize,
    exclude: &GlobSet,
    names: &mut Vec<FileAlias>,
    found: &mut Discovery,
) {
    // A link may lead anywhere: folders that cannot hold transcripts are not entered.
    let leads_on = |entry: &walkdir::DirEntry| {
        !entry.file_type().is_dir() || entry.depth() == 0 || source.may_hold(layout, entry.depth(), entry.file_name().as_bytes())
    };
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
        let below = path.as_os_str().as_bytes().strip_prefix(root.as_os_str().as_bytes()).and_then(|rest| rest.strip_prefix(b"/"));
        let Some(place) = below.and_then(|below| source.identify(layout, below)) else { continue };
        if !exclude.is_empty() && exclude.is_match(path) {
            found.excluded += 1;
            continue;
        }
        match entry.metadata() {
            Ok(meta) if meta.is_file() => {
                names.push((meta.dev(), meta.ino(), number, found.files.len()));
                let (size, mtime_ns, stamp) = (meta.len(), mtime_ns(&meta), stamp(&meta));
                found.files.push(TranscriptFile { path: entry.into_path(), size, is_share: false, mtime_ns, stamp, place });
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

pub(super) fn mtime_ns(meta: &Metadata) -> i64 {
    meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec())
}

/// The change time and the inode cannot be set by a program: a copied or replaced file differs in them.
pub fn stamp(meta: &Metadata) -> i64 {
    let parts = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec(), meta.ino() as i64];
    let mut bytes = [0; 8 * 5];
    for (to, part) in bytes.chunks_exact_mut(8).zip(parts) {
        to.copy_from_slice(&part.to_le_bytes());
    }
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(&bytes).as_bytes()[..8]);
    i64::from_le_bytes(first)
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
        let folders = [ClientFolder { client: Client::ClaudeCode, path: folder.path().to_owned() }];
        let found = discover(&folders, &GlobSet::empty());
        let mut agents: Vec<_> = found.files.into_iter().filter_map(|file| file.place.agent).collect();
        agents.sort();
        assert_eq!((agents, found.unreadable), (vec!["0".into(), "3".into(), "7".into()], vec![]));
    }
}
