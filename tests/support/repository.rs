//! A git repository of a test's own, made by the git program of the machine. Only its commits' times and what stands in them matter.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::World;

pub struct TestRepository {
    root: PathBuf,
    home: PathBuf,
    git: PathBuf,
}

/// Lets `recall` find git, and says where it is.
pub fn install_git(world: &World) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a search path");
    let git = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file());
    let git = git.expect("these tests need git on the PATH");
    let link = world.bin().join("git");
    if !link.exists() {
        std::os::unix::fs::symlink(&git, link).expect("git on the world's search path");
    }
    git
}

impl TestRepository {
    /// An empty one in a folder of the world's home; `recall` finds git as well.
    pub fn new(world: &World, name: &str) -> Self {
        let git = install_git(world);
        let root = world.home().join("src").join(name);
        fs::create_dir_all(&root).expect("a folder");
        let repository = Self { root: root.canonicalize().expect("the folder"), home: world.home(), git };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_at("2026-11-01T09:00:00Z", arguments)
    }

    /// What git prints; commits are made at this time.
    pub fn git_at(&self, at: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(&self.git);
        command
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home);
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_AUTHOR_DATE", at).env("GIT_COMMITTER_DATE", at);
        let ran =
            command.args(["-c", "user.name=Dev", "-c", "user.email=dev@example.org"]).args(arguments).output().expect("git runs");
        assert!(ran.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).trim().to_owned()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
        fs::write(path, text).expect("a file");
    }

    /// Commits all that there is, and returns the short hash.
    pub fn commit(&self, at: &str, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git_at(at, &["commit", "-q", "--no-verify", "-m", message]);
        self.git(&["rev-parse", "--short", "HEAD"])
    }
}
