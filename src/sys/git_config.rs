//! What git's own files say of a repository: the address by which it is known wherever it is cloned, and who works in it. Nothing is run, and
//! nobody is asked.

use std::path::{Path, PathBuf};

/// Longest git file that is read, in bytes: a config with hundreds of branches is shorter.
const MAX_BYTES: u64 = 256 << 10;

/// The address of the remote `origin`, else of the first one: host and path, without scheme, user, password, port and `.git`. `None` for a
/// folder that is no root of a repository, or one without a remote.
pub(crate) fn remote_of(root: &Path) -> Option<String> {
    let config = read_small(&git_folder(root)?.join("config"))?;
    let mut first = None;
    for (section, url) in values(&config, "url").filter(|(section, _)| section.starts_with("[remote ")) {
        if section == "[remote \"origin\"]" {
            return normalised(url);
        }
        first = first.or_else(|| normalised(url));
    }
    first
}

/// Who works in a repository with this root: as its own config says, else that of the home.
pub(crate) fn user_name(root: &Path, home: &Path) -> Option<String> {
    let own = git_folder(root).map(|folder| folder.join("config"));
    own.into_iter().chain([home.join(".gitconfig")]).find_map(|file| {
        let config = read_small(&file)?;
        let name = values(&config, "name").filter(|(section, _)| *section == "[user]").last()?.1.to_owned();
        (!name.is_empty()).then_some(name)
    })
}

/// All values of a key, each with the heading of its section.
fn values<'c>(config: &'c str, name: &'c str) -> impl Iterator<Item = (&'c str, &'c str)> {
    let mut section = "";
    config.lines().map(str::trim).filter_map(move |line| {
        if line.starts_with('[') {
            section = line;
        }
        Some((section, value_of(line, name)?))
    })
}

fn value_of<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (key, value) = line.split_once('=')?;
    key.trim().eq_ignore_ascii_case(name).then(|| value.trim().trim_matches('"'))
}

fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let meta = git.symlink_metadata().ok()?;
    if meta.is_dir() {
        return Some(git);
    }
    // A worktree or a submodule: its own folder, and where that says that the repository's is.
    let named = root.join(read_small(&git)?.strip_prefix("gitdir:")?.trim());
    match read_small(&named.join("commondir")) {
        Some(common) => Some(named.join(common.trim())),
        None => Some(named),
    }
}

/// One form for all ways in which git names a host and a path on it; `None` for a path on this machine.
fn normalised(url: &str) -> Option<String> {
    let (host, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => {
            let (authority, path) = rest.split_once('/')?;
            let host = authority.rsplit('@').next().unwrap_or(authority);
            (host.split(':').next().unwrap_or(host), path)
        }
        // As scp writes it: `git@host:path`. A path of this machine has no colon before its first slash.
        None => {
            let (authority, path) = url.split_once(':')?;
            if authority.contains('/') || authority.is_empty() {
                return None;
            }
            (authority.rsplit('@').next().unwrap_or(authority), path)
        }
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    let is_named = !host.is_empty() && !path.is_empty();
    is_named.then(|| format!("{}/{path}", host.to_lowercase()))
}

fn read_small(path: &Path) -> Option<String> {
    let meta = path.metadata().ok()?;
    (meta.is_file() && meta.len() < MAX_BYTES).then(|| std::fs::read_to_string(path).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_one_address_however_it_was_cloned() {
        for url in [
            "https://example.com/Acme/shop.git",
            "https://anna:secret@Example.com:8443/Acme/shop",
            "ssh://git@example.com:22/Acme/shop.git/",
            "git@example.com:Acme/shop.git",
            "example.com:/Acme/shop",
        ] {
            assert_eq!(normalised(url).as_deref(), Some("example.com/Acme/shop"), "{url}");
        }
        for url in ["/srv/git/shop.git", "../shop", "file:///srv/git/shop.git", "", "https://example.com"] {
            assert_eq!(normalised(url), None, "{url}");
        }
    }

    #[test]
    fn origin_goes_before_other_remotes_and_a_worktree_has_the_one_of_its_repository() {
        let home = tempfile::tempdir().unwrap();
        let (main, tree) = (home.path().join("shop"), home.path().join("tree"));
        let inside = main.join(".git/worktrees/tree");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::create_dir_all(&tree).unwrap();
        let config = "[core]\n\turl = no\n[remote \"fork\"]\n\turl = git@example.com:me/shop\n[remote \"origin\"]\n\tURL = git@example.com:acme/shop\n";
        std::fs::write(main.join(".git/config"), config).unwrap();
        std::fs::write(inside.join("commondir"), "../..\n").unwrap();
        std::fs::write(tree.join(".git"), format!("gitdir: {}\n", inside.display())).unwrap();
        assert_eq!(remote_of(&main).as_deref(), Some("example.com/acme/shop"));
        assert_eq!(remote_of(&tree).as_deref(), Some("example.com/acme/shop"));
        assert_eq!(remote_of(home.path()), None);
    }
}
