//! Which project a folder belongs to: one git common directory, one project; without git, the folder.
//!
//! Worktrees and subfolders agree. Never the basename alone: two folders named `api` are two projects.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

/// Folders that tools put worktrees into, below the repository's root. They tell the project when the worktree is long gone.
const WORKTREES: [&str; 2] = ["/.worktrees/", "/.claude/worktrees/"];

#[derive(Debug, Default)]
pub struct Projects {
    /// Roots that moved: from, to.
    moved: Vec<(String, String)>,
    /// The user's home, by all its names, is no project, even where dotfiles make it a repository.
    homes: Vec<PathBuf>,
    known: Mutex<HashMap<String, String>>,
}

impl Projects {
    pub fn new(moved: impl IntoIterator<Item = (String, String)>, homes: Vec<PathBuf>) -> Self {
        let trim = |root: String| root.trim_end_matches('/').to_owned();
        Self { moved: moved.into_iter().map(|(from, to)| (trim(from), trim(to))).collect(), homes, known: Mutex::default() }
    }

    /// The project key of a working directory.
    pub fn key_of(&self, cwd: &str) -> String {
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(key) = known.get(cwd) {
            return key.clone();
        }
        let key = self.find(cwd);
        known.insert(cwd.to_owned(), key.clone());
        key
    }

    fn find(&self, cwd: &str) -> String {
        let here = self.moved_to(cwd);
        let root = git_root(Path::new(&here)).filter(|root| !self.homes.contains(root));
        let key = match root.as_ref().and_then(|r| r.to_str()) {
            Some(root) => root.to_owned(),
            None => outside_worktree(&here).to_owned(),
        };
        self.moved_to(&key)
    }

    /// The path under its root's new name.
    pub fn moved_to(&self, path: &str) -> String {
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        let renamed = self.moved.iter().find_map(|(from, to)| {
            let rest = path.strip_prefix(from.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
        });
        renamed.unwrap_or_else(|| path.to_owned())
    }
}

fn outside_worktree(path: &str) -> &str {
    WORKTREES.iter().find_map(|mark| path.find(mark)).map_or(path, |at| &path[..at])
}

/// The root of the repository that `folder`, or the nearest parent of it that still exists, is in.
fn git_root(folder: &Path) -> Option<PathBuf> {
    if !folder.is_absolute() || folder.components().any(|c| c == Component::ParentDir) {
        return None;
    }
    folder.ancestors().find_map(|dir| {
        let git = dir.join(".git");
        let meta = git.symlink_metadata().ok()?;
        if meta.is_file() { root_of_worktree(dir, &git) } else { Some(dir.to_owned()) }
    })
}

/// A `.git` file names the git directory; its `commondir` leads to the main one. A submodule has none and is its own project.
fn root_of_worktree(dir: &Path, git_file: &Path) -> Option<PathBuf> {
    let text = read_small(git_file)?;
    let git_dir = dir.join(text.strip_prefix("gitdir:")?.trim());
    let Some(common) = read_small(&git_dir.join("commondir")) else {
        // A submodule's git directory knows its folder. One that only lies elsewhere does not, and is all that its worktrees know of.
        let apart = work_tree_of(&git_dir).is_none() && git_dir.join("HEAD").exists();
        return if apart { git_dir.canonicalize().ok() } else { Some(dir.to_owned()) };
    };
    let common = std::fs::canonicalize(git_dir.join(common.trim())).ok()?;
    if common.file_name()? == ".git" { common.parent().map(Path::to_owned) } else { work_tree_of(&common).or(Some(common)) }
}

/// The folder that a git directory which lies elsewhere, as a submodule's does, is the one of.
fn work_tree_of(git_dir: &Path) -> Option<PathBuf> {
    let config = read_small(&git_dir.join("config"))?;
    let value = config.lines().find_map(|line| line.trim().strip_prefix("worktree")?.trim_start().strip_prefix('='))?;
    std::fs::canonicalize(git_dir.join(value.trim())).ok()
}

fn read_small(path: &Path) -> Option<String> {
    let meta = path.metadata().ok()?;
    (meta.is_file() && meta.len() < 4096).then(|| std::fs::read_to_string(path).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn worktrees_and_subfolders_are_one_project_and_the_home_is_none() {
        let tmp = tempfile::tempdir().unwrap();
        let base = tmp.path().canonicalize().unwrap();
        let repo = base.join("repo");
        fs::create_dir_all(repo.join(".git/worktrees/fix")).unwrap();
        fs::write(repo.join(".git/worktrees/fix/commondir"), "../..\n").unwrap();
        fs::create_dir_all(repo.join("src/deep")).unwrap();
        let tree = base.join("elsewhere");
        fs::create_dir_all(&tree).unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", repo.join(".git/worktrees/fix").display())).unwrap();

        // A worktree of a submodule is the submodule's.
        let sub_git = repo.join(".git/modules/lib");
        fs::create_dir_all(sub_git.join("worktrees/try")).unwrap();
        fs::create_dir_all(repo.join("lib")).unwrap();
        fs::write(repo.join("lib/.git"), "gitdir: ../.git/modules/lib\n").unwrap();
        fs::write(sub_git.join("config"), "[core]\n\tworktree = ../../../lib\n").unwrap();
        fs::write(sub_git.join("worktrees/try/commondir"), "../..\n").unwrap();
        let try_out = base.join("try");
        fs::create_dir_all(&try_out).unwrap();
        fs::write(try_out.join(".git"), format!("gitdir: {}\n", sub_git.join("worktrees/try").display())).unwrap();

        let projects = Projects::new([], vec![base.clone()]);
        let key = |p: PathBuf| projects.key_of(p.to_str().unwrap());
        assert_eq!(key(repo.join("src/deep")), repo.to_str().unwrap());
        assert_eq!(key(repo.join("src/gone/for/good")), repo.to_str().unwrap());
        assert_eq!(key(tree), repo.to_str().unwrap());
        assert_eq!(key(repo.join("lib")), repo.join("lib").to_str().unwrap());
        assert_eq!(key(try_out), repo.join("lib").to_str().unwrap());
        fs::create_dir_all(base.join(".git")).unwrap();
        assert_eq!(key(base.join("notes")), base.join("notes").to_str().unwrap());
    }

    #[test]
    fn worktrees_of_a_git_directory_that_lies_elsewhere_are_one_project() {
        let tmp = tempfile::tempdir().unwrap();
        let base = tmp.path().canonicalize().unwrap();
        let git = base.join("git/shop");
        fs::create_dir_all(git.join("worktrees/fix")).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("config"), "[core]\n\tbare = false\n").unwrap();
        fs::write(git.join("worktrees/fix/commondir"), "../..\n").unwrap();
        let projects = Projects::new([], Vec::new());
        for (folder, points_to) in [("shop", git.clone()), ("fix", git.join("worktrees/fix"))] {
            fs::create_dir_all(base.join(folder)).unwrap();
            fs::write(base.join(folder).join(".git"), format!("gitdir: {}\n", points_to.display())).unwrap();
            assert_eq!(projects.key_of(base.join(folder).to_str().unwrap()), git.to_str().unwrap(), "{folder}");
        }
    }

    #[test]
    fn moved_roots_map_whole_path_parts_only() {
        let projects = Projects::new([("/old/api".into(), "/new/api/".into())], Vec::new());
        assert_eq!(projects.key_of("/old/api/sub"), "/new/api/sub");
        assert_eq!(projects.key_of("/old/apiary"), "/old/apiary");
        assert_eq!(projects.key_of("/gone/repo/.claude/worktrees/fix-1"), "/gone/repo");
    }
}
