//! Maps a folder to its project: the root of its git repository (by common directory), or the folder itself outside git.
//!
//! Worktrees and subfolders share the project of their repository. The basename alone never counts: two folders named `api` are
//! two projects. Nor does a folder's own claim: a `.git` file counts only if the repository it names knows that folder.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

/// Folders below a repository's root in which tools create worktrees. They still identify the project when the worktree is gone.
const WORKTREES: [&str; 2] = ["/.worktrees/", "/.claude/worktrees/"];
/// Longest git file that is read, in bytes: a config with hundreds of branches is shorter.
const MOST: u64 = 256 << 10;

#[derive(Debug, Default)]
pub struct Projects {
    /// Moved roots, as pairs of old and new path, longest old path first.
    moved: Vec<(String, String)>,
    /// All paths of the user's home, which is never a project, even if dotfiles make it a repository.
    homes: Vec<PathBuf>,
    known: Mutex<HashMap<String, String>>,
    /// The repository of each folder that was looked at: folders of sessions share most of theirs.
    roots: Mutex<HashMap<PathBuf, Option<PathBuf>>>,
}

impl Projects {
    pub(crate) fn new(moved: impl IntoIterator<Item = (String, String)>, homes: Vec<PathBuf>) -> Self {
        let trim = |root: String| root.trim_end_matches('/').to_owned();
        let mut moved: Vec<(String, String)> = moved.into_iter().map(|(from, to)| (trim(from), trim(to))).collect();
        moved.sort_by_key(|(from, _)| Reverse(from.len()));
        Self { moved, homes, known: Mutex::default(), roots: Mutex::default() }
    }

    /// The project key of a working directory.
    pub(crate) fn key_of(&self, cwd: &str) -> String {
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
        let root = self.git_root(Path::new(&here)).filter(|root| !self.homes.contains(root));
        let key = match root.as_ref().and_then(|r| r.to_str()) {
            Some(root) => root.to_owned(),
            None => outside_worktree(&here).to_owned(),
        };
        self.moved_to(&key)
    }

    /// The root of the repository that holds `folder` or its nearest parent that still exists.
    fn git_root(&self, folder: &Path) -> Option<PathBuf> {
        if !folder.is_absolute() || folder.components().any(|c| c == Component::ParentDir) {
            return None;
        }
        self.root_from(folder)
    }

    fn root_from(&self, dir: &Path) -> Option<PathBuf> {
        let roots = || self.roots.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(root) = roots().get(dir) {
            return root.clone();
        }
        let git = dir.join(".git");
        let root = match git.symlink_metadata() {
            Ok(meta) => Some(if meta.is_file() { root_named_by(&git).unwrap_or_else(|| dir.to_owned()) } else { dir.to_owned() }),
            Err(_) => dir.parent().and_then(|parent| self.root_from(parent)),
        };
        roots().insert(dir.to_owned(), root.clone());
        root
    }

    /// Replaces a moved root in a path by its new path. Where that lies inside the old one, what is in it has moved already.
    pub(crate) fn moved_to(&self, path: &str) -> String {
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        let renamed = self.moved.iter().find_map(|(from, to)| {
            let rest = below(path, from)?;
            let has_moved = below(to, from).is_some() && below(path, to).is_some();
            Some(if has_moved { path.to_owned() } else { format!("{to}{rest}") })
        });
        renamed.unwrap_or_else(|| path.to_owned())
    }
}

/// What follows a folder in the path of something in it, or of itself.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    path.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn outside_worktree(path: &str) -> &str {
    WORKTREES.iter().find_map(|mark| path.find(mark)).map_or(path, |at| &path[..at])
}

/// The root of the repository that a `.git` file makes its folder part of. `None` if the folder is a project of its own.
///
/// An unpacked archive may contain any `.git` file, so its claim counts only if the repository confirms it: as in git,
/// `<common>/worktrees/<name>/gitdir` names the `.git` file of that worktree (gitrepository-layout(5)). A pointer at a foreign
/// worktree, or at a folder that merely looks like a git directory and names another repository as its own, is ignored.
fn root_named_by(git_file: &Path) -> Option<PathBuf> {
    let git_dir = git_dir_of(git_file)?;
    let common = git_dir.join(read_small(&git_dir.join("commondir"))?.trim()).canonicalize().ok()?;
    if git_dir.parent()? != common.join("worktrees") {
        return None;
    }
    let back = git_dir.join(read_small(&git_dir.join("gitdir"))?.trim()).canonicalize().ok()?;
    (back == git_file.canonicalize().ok()?).then(|| root_of(common))
}

/// The git directory that a `.git` file points to.
fn git_dir_of(git_file: &Path) -> Option<PathBuf> {
    let text = read_small(git_file)?;
    git_file.parent()?.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()
}

/// The root of the repository that a common git directory belongs to: its parent if it is called `.git`; else the work tree that
/// it names and whose `.git` file points back, as for submodules; else the directory itself, as for a bare repository, where
/// nothing else is shared by the worktrees.
fn root_of(common: PathBuf) -> PathBuf {
    let beside = common.parent().filter(|_| common.file_name().is_some_and(|name| name == ".git")).map(Path::to_owned);
    let agreed = || work_tree_of(&common).filter(|tree| git_dir_of(&tree.join(".git")).as_ref() == Some(&common));
    beside.or_else(agreed).unwrap_or(common)
}

/// The work tree that the config of a separate git directory names.
fn work_tree_of(git_dir: &Path) -> Option<PathBuf> {
    let config = read_small(&git_dir.join("config"))?;
    let value = config.lines().find_map(|line| line.trim().strip_prefix("worktree")?.trim_start().strip_prefix('='))?;
    std::fs::canonicalize(git_dir.join(value.trim().trim_matches('"'))).ok()
}

fn read_small(path: &Path) -> Option<String> {
    let meta = path.metadata().ok()?;
    (meta.is_file() && meta.len() < MOST).then(|| std::fs::read_to_string(path).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder for repositories, addressed by its real path.
    struct Ground(tempfile::TempDir);

    impl Ground {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        fn write(&self, name: &str, text: impl AsRef<str>) {
            let file = self.path(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{}\n", text.as_ref())).unwrap();
        }

        /// Creates a git directory as `git init` does.
        fn git_dir(&self, name: &str, config: &str) {
            self.write(&format!("{name}/HEAD"), "ref: refs/heads/main");
            self.write(&format!("{name}/config"), config);
        }

        /// Creates a worktree as `git worktree add` does.
        fn worktree(&self, folder: &str, common: &str, name: &str) {
            let admin = format!("{common}/worktrees/{name}");
            self.write(&format!("{folder}/.git"), format!("gitdir: {}", self.path(&admin).display()));
            self.write(&format!("{admin}/gitdir"), self.path(&format!("{folder}/.git")).display().to_string());
            self.write(&format!("{admin}/commondir"), "../..");
        }

        fn key(&self, folder: &str) -> String {
            let key = Projects::new([], Vec::new()).key_of(self.path(folder).to_str().unwrap());
            let base = format!("{}/", self.path("").to_str().unwrap().trim_end_matches('/'));
            key.strip_prefix(&base).unwrap_or(&key).to_owned()
        }
    }

    const BARE: &str = "[core]\n\tbare = true";
    const PLAIN: &str = "[core]\n\tbare = false";

    #[test]
    fn worktrees_and_subfolders_are_one_project_and_the_home_is_none() {
        let ground = Ground::new();
        ground.git_dir("repo/.git", PLAIN);
        fs::create_dir_all(ground.path("repo/src/deep")).unwrap();
        ground.worktree("elsewhere", "repo/.git", "fix");
        for folder in ["repo", "repo/src/deep", "repo/src/gone/for/good", "elsewhere", "elsewhere/src"] {
            assert_eq!(ground.key(folder), "repo", "{folder}");
        }
        let home = ground.path("");
        fs::create_dir_all(home.join(".git")).unwrap();
        let projects = Projects::new([], vec![ground.path("").components().collect()]);
        assert_eq!(projects.key_of(ground.path("notes").to_str().unwrap()), ground.path("notes").to_str().unwrap());
    }

    #[test]
    fn a_worktree_may_be_linked_by_relative_paths() {
        let ground = Ground::new();
        ground.git_dir("repo/.git", PLAIN);
        ground.worktree("wt", "repo/.git", "wt");
        // As with `worktree.useRelativePaths`.
        ground.write("wt/.git", "gitdir: ../repo/.git/worktrees/wt");
        ground.write("repo/.git/worktrees/wt/gitdir", "../../../../wt/.git");
        assert_eq!(ground.key("wt/src"), "repo");
    }

    #[test]
    fn a_forged_git_file_makes_a_folder_part_of_nothing() {
        let ground = Ground::new();
        ground.git_dir("repo/.git", PLAIN);
        ground.worktree("wt", "repo/.git", "fix");
        let repo = ground.path("repo/.git").display().to_string();
        // A forged git directory that names another repository's as its common one.
        for (folder, common) in [("a", repo.as_str()), ("b", "../../repo/.git")] {
            ground.write(&format!("{folder}/.git"), "gitdir: .hid");
            ground.write(&format!("{folder}/.hid/commondir"), common);
            ground.write(&format!("{folder}/.hid/gitdir"), ground.path(&format!("{folder}/.git")).display().to_string());
        }
        // The same, laid out like a worktree.
        ground.write("c/.git", "gitdir: .hid/worktrees/c");
        ground.write("c/.hid/worktrees/c/commondir", &repo);
        ground.write("c/.hid/worktrees/c/gitdir", "../../../.git");
        // Pointers at a real worktree, at the repository itself, and through a link.
        ground.write("d/.git", format!("gitdir: {repo}/worktrees/fix"));
        ground.write("e/.git", format!("gitdir: {repo}"));
        fs::create_dir_all(ground.path("f")).unwrap();
        std::os::unix::fs::symlink(ground.path("repo/.git"), ground.path("f/.hid")).unwrap();
        ground.write("f/.git", "gitdir: .hid/worktrees/fix");
        for folder in ["a", "b", "c", "d", "e", "f"] {
            assert_eq!(ground.key(&format!("{folder}/src")), folder, "not the repository's");
        }
        // A complete repository that claims to be part of the victim's.
        ground.worktree("g", "g/.hid", "g");
        ground.git_dir("g/.hid", &format!("[core]\n\tworktree = {}", ground.path("repo").display()));
        assert_eq!(ground.key("g"), "g/.hid");
        assert_eq!((ground.key("repo"), ground.key("wt")), ("repo".into(), "repo".into()));
    }

    #[test]
    fn a_worktree_that_was_moved_is_alone_until_git_knows_where_it_is() {
        let ground = Ground::new();
        ground.git_dir("repo/.git", PLAIN);
        ground.worktree("wt", "repo/.git", "wt");
        fs::rename(ground.path("wt"), ground.path("moved")).unwrap();
        assert_eq!(ground.key("moved"), "moved");
        // As left by `git worktree repair`, and by any git command in it after a day.
        ground.write("repo/.git/worktrees/wt/gitdir", ground.path("moved/.git").display().to_string());
        assert_eq!(ground.key("moved"), "repo");
    }

    #[test]
    fn worktrees_of_a_bare_repository_are_one_project() {
        let ground = Ground::new();
        for (common, folders) in [("shop.git", ["one", "two"]), ("hub/.bare", ["hub/main", "hub/fix"])] {
            ground.git_dir(common, BARE);
            for folder in folders {
                ground.worktree(folder, common, folder.rsplit('/').next().unwrap());
                assert_eq!(ground.key(folder), common);
            }
        }
    }

    #[test]
    fn a_submodule_is_a_project_of_its_own_with_its_worktrees() {
        let ground = Ground::new();
        ground.git_dir("repo/.git", PLAIN);
        ground.git_dir("repo/.git/modules/lib", "[core]\n\tworktree = ../../../lib");
        ground.write("repo/lib/.git", "gitdir: ../.git/modules/lib");
        ground.worktree("try", "repo/.git/modules/lib", "try");
        assert_eq!((ground.key("repo/lib/src"), ground.key("try")), ("repo/lib".into(), "repo/lib".into()));
    }

    #[test]
    fn a_folder_whose_git_directory_lies_elsewhere_is_the_one_that_knows_it() {
        let ground = Ground::new();
        ground.git_dir("gits/shop", &format!("[core]\n\tworktree = {}", ground.path("shop").display()));
        ground.write("shop/.git", format!("gitdir: {}", ground.path("gits/shop").display()));
        ground.worktree("fix", "gits/shop", "fix");
        assert_eq!((ground.key("shop"), ground.key("fix")), ("shop".into(), "shop".into()));
        // A repository that merely claims the folder does not get it; nor does one whose git directory does not know the folder.
        ground.write("forged/.git", format!("gitdir: {}", ground.path("gits/shop").display()));
        assert_eq!(ground.key("forged"), "forged");
        ground.git_dir("gits/shop", PLAIN);
        assert_eq!(
            (ground.key("shop"), ground.key("fix"), ground.key("forged")),
            ("shop".into(), "gits/shop".into(), "forged".into())
        );
    }

    #[test]
    fn moved_roots_map_whole_path_parts_only() {
        let projects = Projects::new([("/old/api".into(), "/new/api/".into())], Vec::new());
        assert_eq!(projects.key_of("/old/api/sub"), "/new/api/sub");
        assert_eq!(projects.key_of("/old/apiary"), "/old/apiary");
        assert_eq!(projects.key_of("/gone/repo/.claude/worktrees/fix-1"), "/gone/repo");
    }

    #[test]
    fn a_root_that_moved_into_a_folder_of_its_former_one_moves_once() {
        let moved =
            [("/src/shop", "/src/shop/main"), ("/src/shop/docs", "/src/manual"), ("/src/a", "/src/b"), ("/src/b", "/src/c")];
        let projects = Projects::new(moved.map(|(from, to)| (from.to_owned(), to.to_owned())), Vec::new());
        for (cwd, key) in [
            ("/src/shop", "/src/shop/main"),
            ("/src/shop/main", "/src/shop/main"),
            ("/src/shop/main/lib", "/src/shop/main/lib"),
            ("/src/shop/lib", "/src/shop/main/lib"),
            ("/src/shop/docs/guide", "/src/manual/guide"),
            ("/src/a", "/src/c"),
        ] {
            assert_eq!(projects.key_of(cwd), key, "{cwd}");
            assert_eq!(projects.moved_to(&projects.moved_to(key)), key, "a stored key stays");
        }
    }
}
