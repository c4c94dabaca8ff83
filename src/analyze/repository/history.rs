//! What git prints of a repository, read. Pure.

use std::collections::BTreeSet;

use crate::model::observation::CommitRef;

/// The format of a commit for `git log --format=`, to be read by [`commits`]: a mark, hash, time in seconds and subject, each ended by NUL.
pub(crate) const LOG_FORMAT: &str = "%x01%h%x00%ct%x00%s";

/// What git says of a repository at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RepositoryState {
    /// The branch that is checked out; empty if there is none.
    pub(crate) branch: String,
    /// The commits of its history, newest first, as far back as it was read.
    pub(crate) commits: Vec<LoggedCommit>,
    /// Tracked files, relative to the root.
    pub(crate) files: BTreeSet<String>,
    /// Branches, here and as the remotes had them last, without the remote's name.
    pub(crate) branches: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoggedCommit {
    pub(crate) made: CommitRef,
    pub(crate) subject: String,
    pub(crate) changes: Vec<FileChange>,
}

/// What a commit did to a file, by its path from the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileChange {
    Changed(String),
    Removed(String),
    Renamed { from: String, to: String },
}

/// The commits that `git log -z --name-status --format=`[`LOG_FORMAT`] printed. `whole`: it was not cut off; else what may lack its end is
/// left out.
pub(crate) fn commits(printed: &[u8], whole: bool) -> Vec<LoggedCommit> {
    let text = String::from_utf8_lossy(printed);
    let mut parts: Vec<&str> = text.split('\u{1}').skip(1).collect();
    if !whole {
        parts.pop();
    }
    parts.into_iter().filter_map(commit).collect()
}

fn commit(part: &str) -> Option<LoggedCommit> {
    let mut fields = part.split('\0');
    let hash = fields.next()?.to_owned();
    let at = fields.next()?.parse::<i64>().ok()?.checked_mul(1_000)?;
    let subject = fields.next()?.trim_end_matches('\n').to_owned();
    let mut changes = Vec::new();
    let mut fields = fields.map(|field| field.trim_start_matches('\n')).filter(|field| !field.is_empty());
    while let Some(status) = fields.next() {
        let path = fields.next()?.to_owned();
        changes.push(match status.as_bytes().first()? {
            b'D' => FileChange::Removed(path),
            b'R' => FileChange::Renamed { from: path, to: fields.next()?.to_owned() },
            // A copy names what it was made of first, which did not change.
            b'C' => FileChange::Changed(fields.next()?.to_owned()),
            _ => FileChange::Changed(path),
        });
    }
    Some(LoggedCommit { made: CommitRef { hash, at }, subject, changes })
}

/// What `git ls-files -z` printed.
pub(crate) fn files(printed: &[u8]) -> BTreeSet<String> {
    String::from_utf8_lossy(printed).split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

/// What `git for-each-ref --format=%(refname) refs/heads refs/remotes` printed.
pub(crate) fn branches(printed: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(printed);
    let name = |line: &str| match line.strip_prefix("refs/heads/") {
        Some(name) => Some(name.to_owned()),
        None => line.strip_prefix("refs/remotes/")?.split_once('/').map(|(_, name)| name.to_owned()),
    };
    text.lines().filter_map(name).filter(|name| name != "HEAD").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_and_what_was_cut_off_is_left_out() {
        let printed = b"\x01a1b2c3d\x00100\x00Drop Redis\0\nD\0src/redis_cache.py\0M\0src/app.py\0\x01b2c3d4e\x0090\x00Empty\0\x01c3d4e5f\x0080\x00Move it\0\nR100\0a.py\0b.py\0C75\0x.py\0y.py\0";
        let made = |hash: &str, at| CommitRef { hash: hash.into(), at };
        let all = commits(printed, true);
        assert_eq!(
            all.iter().map(|one| one.made.clone()).collect::<Vec<_>>(),
            [made("a1b2c3d", 100_000), made("b2c3d4e", 90_000), made("c3d4e5f", 80_000)]
        );
        assert_eq!(all[0].subject, "Drop Redis");
        assert_eq!(all[0].changes, [FileChange::Removed("src/redis_cache.py".into()), FileChange::Changed("src/app.py".into())]);
        assert!(all[1].changes.is_empty());
        let moved = FileChange::Renamed { from: "a.py".into(), to: "b.py".into() };
        assert_eq!(all[2].changes, [moved, FileChange::Changed("y.py".into())]);
        assert_eq!(commits(&printed[..printed.len() - 4], false), all[..2]);
        assert!(commits(b"", false).is_empty() && commits(b"fatal", true).is_empty());
    }

    #[test]
    fn branches_are_those_here_and_those_of_remotes() {
        let printed = b"refs/heads/main\nrefs/heads/fix/a\nrefs/remotes/origin/HEAD\nrefs/remotes/origin/fix/b\n";
        assert_eq!(branches(printed), ["fix/a", "fix/b", "main"].map(str::to_owned).into());
        assert_eq!(files(b"a\0b c\0"), ["a", "b c"].map(str::to_owned).into());
    }
}
