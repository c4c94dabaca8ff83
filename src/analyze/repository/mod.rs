//! What became of files, branches and references that sessions and notes name, by what git says of the repository. Pure.
//!
//! ## Invariants
//! - Only what a commit shows, or what is not there any more, is told. "Unchanged" is never said.
//! - A name counts for a file only if it means one file alone of those that there are and were.
//! - What happened before the last words of who names it is no news.

mod history;

use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(crate) use self::history::{FileChange, LOG_FORMAT, RepositoryState, branches, commits, files};
use crate::model::observation::{CommitRef, Fate, Observation, ObservedKind};
use text::file_names::file_names_in;
use transcripts::session::Millis;

/// The most observations that are kept of a session or a note.
const MAX_OBSERVATIONS: usize = 12;
/// Branches of which nobody asks whether they were merged.
const TRUNKS: [&str; 6] = ["main", "master", "develop", "dev", "trunk", "HEAD"];
/// Shorter names of commits are none.
const MIN_HASH_CHARS: usize = 7;

/// What somebody said, and until when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Naming {
    /// Of the last words.
    pub(crate) at: Millis,
    pub(crate) texts: Vec<String>,
    /// The branch on which it was.
    pub(crate) branch: Option<String>,
    /// Hashes of the commits that it made, in order.
    pub(crate) commits: Vec<String>,
}

/// A repository as git tells it, ready to be asked.
pub(crate) struct Repository<'s> {
    state: &'s RepositoryState,
    /// Its root, without a slash at the end.
    root: &'s str,
    /// What commits did to each path, newest first.
    changes: HashMap<&'s str, Vec<(&'s CommitRef, &'s FileChange)>>,
    /// All paths that there are and were, by their last part.
    by_name: HashMap<&'s str, BTreeSet<&'s str>>,
}

impl<'s> Repository<'s> {
    pub(crate) fn new(state: &'s RepositoryState, root: &'s str) -> Self {
        let mut changes: HashMap<&str, Vec<(&CommitRef, &FileChange)>> = HashMap::new();
        for commit in &state.commits {
            for change in &commit.changes {
                let paths = match change {
                    FileChange::Changed(path) | FileChange::Removed(path) => vec![path],
                    FileChange::Renamed { from, to } => vec![from, to],
                };
                paths.into_iter().for_each(|path| changes.entry(path).or_default().push((&commit.made, change)));
            }
        }
        let mut by_name: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        for path in changes.keys().copied().chain(state.files.iter().map(String::as_str)) {
            by_name.entry(last_part(path)).or_default().insert(path);
        }
        Self { state, root, changes, by_name }
    }

    /// What became of what somebody named, as of `seen_at`: what ended first.
    pub(crate) fn observe(&self, naming: &Naming, seen_at: Millis) -> Vec<Observation> {
        let observed = |kind, name: &str, fate| Observation { kind, name: name.to_owned(), fate, seen_at };
        let mut all: Vec<Observation> = Vec::new();
        if let Some(branch) = &naming.branch
            && let Some(fate) = self.fate_of_branch(branch, &naming.commits)
        {
            all.push(observed(ObservedKind::Branch, branch, fate));
        }
        // One of a file: the name that says most of its path.
        let mut files: BTreeMap<&str, &str> = BTreeMap::new();
        for name in naming.texts.iter().flat_map(|text| file_names_in(text)) {
            if let Some(path) = self.path_of(name) {
                files
                    .entry(path)
                    .and_modify(|known| *known = [*known, name].into_iter().max_by_key(|n| n.len()).unwrap_or(name))
                    .or_insert(name);
            }
        }
        for (path, name) in files {
            all.extend(self.fate_of_file(path, naming.at).map(|fate| observed(ObservedKind::File, name, fate)));
        }
        let references: BTreeSet<&str> = naming.texts.iter().flat_map(|text| references_in(text)).collect();
        for reference in references {
            all.extend(self.fate_of_reference(reference, naming.at).map(|fate| observed(ObservedKind::Reference, reference, fate)));
        }
        let changes = |one: &Observation| if let Fate::Touched { commits, .. } = one.fate { commits } else { usize::MAX };
        all.sort_by_key(|one| std::cmp::Reverse(changes(one)));
        all.truncate(MAX_OBSERVATIONS);
        all
    }

    /// The path that a name means, if it means one alone.
    fn path_of(&self, name: &str) -> Option<&'s str> {
        let name = name.strip_prefix(self.root).map_or(name, |rest| rest.trim_start_matches('/'));
        let is_meant = |path: &&&str| **path == name || path.strip_suffix(name).is_some_and(|before| before.ends_with('/'));
        let mut meant = self.by_name.get(last_part(name))?.iter().filter(is_meant);
        meant.next().filter(|_| meant.next().is_none()).copied()
    }

    fn fate_of_file(&self, path: &str, since: Millis) -> Option<Fate> {
        let changes: Vec<_> = self.changes.get(path)?.iter().filter(|(commit, _)| commit.at > since).collect();
        let (last, change) = changes.first()?;
        let by = || (*last).clone();
        if self.state.files.contains(path) {
            return Some(Fate::Touched { commits: changes.len(), last: by() });
        }
        match change {
            FileChange::Removed(_) => Some(Fate::Removed { by: by() }),
            FileChange::Renamed { from, to } if from == path => match self.state.files.contains(to) {
                true => Some(Fate::Renamed { to: to.clone(), by: by() }),
                // What has another name is gone or renamed in its turn.
                false => self.fate_of_file(to, last.at - 1).filter(|_| to != path),
            },
            _ => None,
        }
    }

    fn fate_of_branch(&self, branch: &str, commits: &[String]) -> Option<Fate> {
        if TRUNKS.contains(&branch) || branch == self.state.branch || self.state.branches.is_empty() {
            return None;
        }
        let is_same = |made: &CommitRef, hash: &str| {
            hash.len().min(made.hash.len()) >= MIN_HASH_CHARS && (made.hash.starts_with(hash) || hash.starts_with(&made.hash))
        };
        let merged = commits.iter().rev().find_map(|hash| self.state.commits.iter().find(|one| is_same(&one.made, hash)));
        match merged {
            Some(commit) if !self.state.branch.is_empty() => {
                Some(Fate::Merged { into: self.state.branch.clone(), by: commit.made.clone() })
            }
            _ => (!self.state.branches.contains(branch)).then_some(Fate::BranchGone),
        }
    }

    /// The first commit since that names it.
    fn fate_of_reference(&self, reference: &str, since: Millis) -> Option<Fate> {
        let later = self.state.commits.iter().rev().filter(|commit| commit.made.at > since);
        let mut naming = later.filter(|commit| references_in(&commit.subject).any(|one| one == reference));
        naming.next().map(|commit| Fate::Named { by: commit.made.clone(), subject: commit.subject.clone() })
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Numbers of pull requests and issues: `#12`.
fn references_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('#').filter_map(|(at, _)| {
        let digits = text[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let end = at + 1 + digits;
        let is_apart = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '&' || c == '/')
            && !text[end..].starts_with(|c: char| c.is_alphanumeric());
        ((1..=6).contains(&digits) && is_apart).then(|| &text[at..end])
    })
}

#[cfg(test)]
mod tests {
    use super::history::LoggedCommit;
    use super::*;

    fn commit(hash: &str, at: Millis, subject: &str, changes: Vec<FileChange>) -> LoggedCommit {
        LoggedCommit { made: CommitRef { hash: hash.into(), at }, subject: subject.into(), changes }
    }

    fn state() -> RepositoryState {
        let removed = |path: &str| FileChange::Removed(path.into());
        let changed = |path: &str| FileChange::Changed(path.into());
        let renamed = |from: &str, to: &str| FileChange::Renamed { from: from.into(), to: to.into() };
        RepositoryState {
            branch: "main".into(),
            commits: vec![
                commit("eeeeeee", 500, "Rename once more (#12)", vec![renamed("lib/b.py", "lib/c.py"), changed("src/app.py")]),
                commit("ddddddd", 400, "Rename it", vec![renamed("lib/a.py", "lib/b.py"), changed("src/app.py")]),
                commit("ccccccc", 300, "Drop Redis", vec![removed("src/redis_cache.py"), removed("one/x.py"), removed("two/x.py")]),
                commit("bbbbbbb", 200, "Cache in Redis", vec![changed("src/redis_cache.py"), changed("src/app.py")]),
            ],
            files: ["src/app.py", "lib/c.py", "README.md"].map(str::to_owned).into(),
            branches: ["main".to_owned(), "feat/open".to_owned()].into(),
        }
    }

    fn told(naming: &Naming) -> Vec<String> {
        let state = state();
        let repository = Repository::new(&state, "/home/dev/shop");
        repository.observe(naming, 900).iter().map(|one| one.told(|at| at.to_string())).collect()
    }

    fn says(at: Millis, text: &str) -> Vec<String> {
        told(&Naming { at, texts: vec![text.to_owned()], ..Naming::default() })
    }

    #[test]
    fn of_files_is_told_what_commits_show_since_they_were_named() {
        assert_eq!(says(250, "It stands in `redis_cache.py`."), ["`redis_cache.py` was removed (ccccccc, 300)"]);
        assert_eq!(
            says(250, "See /home/dev/shop/src/redis_cache.py:12."),
            ["`/home/dev/shop/src/redis_cache.py` was removed (ccccccc, 300)"]
        );
        assert_eq!(says(350, "`redis_cache.py` is gone."), [""; 0], "no news");
        assert_eq!(says(250, "Both `x.py` differ."), [""; 0], "two files have that name");
        assert_eq!(says(250, "one/x.py differs"), ["`one/x.py` was removed (ccccccc, 300)"]);
        assert_eq!(
            says(250, "`src/app.py` stays; README.md, e.g. 1.5"),
            ["`src/app.py` was changed by 2 commits (the last: eeeeeee, 500)"]
        );
        assert_eq!(says(250, "in lib/a.py"), ["`lib/a.py` became `lib/c.py` (eeeeeee, 500)"]);
    }

    #[test]
    fn of_branches_and_references_as_well() {
        let on = |branch: &str, commits: &[&str]| {
            told(&Naming {
                at: 250,
                branch: Some(branch.into()),
                commits: commits.iter().map(|hash| (*hash).to_owned()).collect(),
                ..Naming::default()
            })
        };
        assert_eq!(on("feat/redis", &["bbbbbbbb1"]), ["commit bbbbbbb of branch `feat/redis` is merged into `main` (200)"]);
        assert_eq!(on("feat/open", &["fffffff"]), [""; 0]);
        assert_eq!(on("feat/lost", &["fffffff"]), ["branch `feat/lost` is gone (looked for on 900)"]);
        assert_eq!(on("main", &["bbbbbbb"]), [""; 0]);
        assert_eq!(says(250, "Review #12 and #1, a&#12; x#12"), ["commit eeeeeee, 500 names #12: Rename once more (#12)"]);
        assert_eq!(says(600, "Review #12"), [""; 0]);
    }
}
