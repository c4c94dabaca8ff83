//! The names of what lies in the data folder. Whoever puts something there takes its name from here, so that a deletion of the folder knows it.

use super::private_files::TEMPORARY_PREFIX;

/// The index. The names of its logs, of its copies and of what was set aside begin with it.
pub(crate) const INDEX: &str = "recall.db";
/// Held by the one run that may write.
pub(crate) const RUN_LOCK: &str = "lock";
/// Held while an install or uninstall runs.
pub(crate) const INSTALL_LOCK: &str = "install.lock";
/// What uninstall is to undo, and copies of settings as they were before.
pub(crate) const MANIFEST: &str = "install.json";
pub(crate) const BACKUP: &str = "backup";
/// The folder of all pages, and the list of the days that have one.
pub(crate) const PAGES: &str = "daily";
pub(crate) const DAY_LIST: &str = "pages.md";
/// There while pages are written.
pub(crate) const WRITING: &str = "writing";
/// What hooks leave for each other and for the next run, and what went wrong with them. A former log has a name that begins with this one.
pub(crate) const MARKS: &str = "marks";
pub(crate) const HOOKS_LOG: &str = "hooks.log";
/// Replies of the model until their digests are stored, and the folder in which its client works.
pub(crate) const REPLIES: &str = "replies";
pub(crate) const CHILD: &str = "child";
/// How the last run ended, and how far the one is that is under way.
pub(crate) const LAST_RUN: &str = "last-run.json";
pub(crate) const PROGRESS: &str = "progress.json";
pub(crate) const PAUSE: &str = "paused.json";
/// What of the doctor's findings the user has seen.
pub(crate) const SEEN_FINDINGS: &str = "seen-findings.json";
pub(crate) const EMBEDDING_MODELS: &str = "models";
pub(crate) const SYNC: &str = "sync";
pub(crate) const TEAM: &str = "team";
/// The page by which the browser gets the link to the server.
pub(crate) const BROWSER_PAGE: &str = "open-in-browser.html";
/// How the folders are called into which the database of claude-mem is copied.
pub(crate) const CLAUDE_MEM_COPY: &str = ".claude-mem-";

/// Names of which at least one is in every data folder.
pub(crate) const SIGNS: [&str; 3] = [INDEX, MANIFEST, MARKS];
/// The locks.
pub(crate) const LOCKS: [&str; 2] = [RUN_LOCK, INSTALL_LOCK];
const OTHERS: [&str; 14] = [
    BACKUP, PAGES, DAY_LIST, WRITING, REPLIES, CHILD, LAST_RUN, PROGRESS, PAUSE, SEEN_FINDINGS, EMBEDDING_MODELS, SYNC, TEAM,
    BROWSER_PAGE,
];
/// How other names begin. The last one is the system's.
const BEGINNINGS: [&str; 6] = [INDEX, HOOKS_LOG, TEMPORARY_PREFIX, CLAUDE_MEM_COPY, ".tmp-", ".DS_Store"];

/// Can something of this name lie there without being the user's own?
pub(crate) fn is_known(name: &str) -> bool {
    [&SIGNS[..], &LOCKS, &OTHERS].concat().contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}
