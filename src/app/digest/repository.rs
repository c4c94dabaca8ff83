//! Asks git what became of what recent sessions and notes name: only in projects where the repository or the memory changed since.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::analyze::repository::{FileChange, LOG_FORMAT, Repository, RepositoryState, branches, commits, files};
use crate::config::Config;
use crate::store::Writer;
use crate::sys::git::Git;
use crate::sys::shutdown;
use transcripts::session::Millis;

/// The longest that git is asked about one project.
const BUDGET: Duration = Duration::from_millis(200);
const DAY_MS: Millis = 24 * 3_600_000;
/// Sessions and notes that are older are not asked about.
const RECENT_MS: Millis = 60 * DAY_MS;
/// How long before the first of them commits are read: those that a session made are older than its end.
const BEFORE_MS: Millis = 7 * DAY_MS;
/// The most commits that are read.
const MAX_COMMITS: &str = "3000";

pub(super) fn look(config: &Config, now: Millis, store: &mut Writer) -> Result<()> {
    let sanitizer = config.sanitizer()?;
    for one in store.naming_projects(now - RECENT_MS)? {
        if shutdown::requested() {
            break;
        }
        let root = Path::new(&one.project.key);
        let seen = format!("{} {}", stamp(root), one.known);
        if one.seen.as_ref() == Some(&seen) {
            continue;
        }
        let mut observed = Vec::new();
        if let Some(git) = Git::at(root, &config.search_path, BUDGET) {
            let namings = store.namings(one.pk, now - RECENT_MS)?;
            let oldest = namings.iter().map(|(_, naming)| naming.at).min().unwrap_or(now);
            if let Some(state) = read(&git, root, oldest - BEFORE_MS) {
                let repository = Repository::new(&state, one.project.key.trim_end_matches('/'));
                for (by, naming) in &namings {
                    observed.extend(repository.observe(naming, now).into_iter().map(|one| (*by, one)));
                }
                observed.iter_mut().filter_map(|(_, one)| one.printed_mut()).for_each(|text| *text = sanitizer.clean(&*text));
            }
        }
        store.save_observations(one.pk, &observed, &seen)?;
    }
    Ok(())
}

/// Another value once something was committed, checked out, merged or fetched there. No program is asked.
fn stamp(root: &Path) -> String {
    let of = |name: &str| {
        let meta = fs::symlink_metadata(root.join(".git").join(name)).ok()?;
        let changed = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(format!("{}.{:x}", meta.len(), changed.as_nanos()))
    };
    ["HEAD", "logs/HEAD", "packed-refs", "refs/heads"].map(|name| of(name).unwrap_or_default()).join("/")
}

/// How the repository is; `None` if git does not say so in time.
fn read(git: &Git, root: &Path, since: Millis) -> Option<RepositoryState> {
    let branch = git.ask(&["rev-parse", "--abbrev-ref", "HEAD"])?;
    let refs = git.ask(&["for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes"])?;
    let tracked = git.ask(&["ls-files", "-z"])?;
    // Half a list would tell of files that they are gone.
    if !(branch.whole && refs.whole && tracked.whole) {
        return None;
    }
    let since = format!("--since={}", since / 1_000);
    let format = format!("--format={LOG_FORMAT}");
    // Renames alone of which git needs no content.
    let log = git.ask(&["log", "-z", "--name-status", "--no-ext-diff", "-M100%", "-n", MAX_COMMITS, &since, &format])?;
    let branch = String::from_utf8_lossy(&branch.printed).trim().to_owned();
    let commits = commits(&log.printed, log.whole);
    let mut files = files(&tracked.printed);
    let left = commits.iter().flat_map(|commit| &commit.changes).filter_map(|change| match change {
        FileChange::Removed(path) | FileChange::Renamed { from: path, .. } => Some(path),
        FileChange::Changed(_) => None,
    });
    // What a commit removed may be there all the same.
    let there: Vec<String> = left.filter(|path| root.join(path).symlink_metadata().is_ok()).cloned().collect();
    files.extend(there);
    let branch = if branch == "HEAD" { String::new() } else { branch };
    Some(RepositoryState { branch, commits, files, branches: branches(&refs.printed) })
}
