//! What keeps what is deleted at a place: the same for a folder here and on a host.

use crate::ssh::{LONG, ssh};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use sync::{Carrier, Folder, History};

/// What keeps the files of this folder, by its word and the folder that it is found in.
fn keeper(folder: &Path) -> Option<(&'static str, String)> {
    let here = Folder::new(folder).history().unwrap();
    assert_eq!(ssh("here", folder, LONG).history().unwrap(), here);
    here.map(|history| match &history {
        History::Repository { top, .. } | History::Syncthing { top } => (history.keeper(), top.clone()),
        History::Bucket => panic!("{history}"),
    })
}

fn git(top: &Path) {
    fs::create_dir_all(top).unwrap();
    assert!(Command::new("git").arg("init").arg("-q").arg(top).status().unwrap().success());
}

fn found(keeper: &'static str, top: &Path) -> Option<(&'static str, String)> {
    Some((keeper, top.canonicalize().unwrap().to_str().unwrap().to_owned()))
}

#[test]
fn a_folder_with_nothing_around_keeps_nothing() {
    let place = tempfile::tempdir().unwrap();
    for name in ["", "new", "new/below", "it's a $(folder) `of` \"files\" *"] {
        let folder = place.path().join(name);
        assert_eq!(keeper(&folder), None, "{name}");
        assert_eq!(folder.exists(), name.is_empty(), "nothing is made");
    }
}

#[test]
fn a_work_tree_keeps_what_it_does_not_ignore() {
    let place = tempfile::tempdir().unwrap();
    let top = place.path().join("it's a \"repository\"");
    git(&top);
    for below in ["", "shared", "shared/new/below *"] {
        assert_eq!(keeper(&top.join(below)), found("git", &top), "{below}");
    }
    // Through a link, and one that is not there yet.
    let link = place.path().join("link");
    symlink(&top, &link).unwrap();
    assert_eq!(keeper(&link.join("shared")), found("git", &top));
    fs::write(top.join(".gitignore"), "/shared/\n").unwrap();
    assert_eq!(keeper(&top.join("shared/new")), None);
    assert_eq!(keeper(&link.join("shared")), None);
    assert_eq!(keeper(&top.join("other")), found("git", &top));
    // A folder that ignores its own files.
    fs::create_dir(top.join("other")).unwrap();
    fs::write(top.join("other/.gitignore"), "*\n").unwrap();
    assert_eq!(keeper(&top.join("other")), None);
}

#[test]
fn a_home_whose_git_ignores_everything_is_no_work_tree_of_its_folders() {
    let home = tempfile::tempdir().unwrap();
    git(home.path());
    fs::write(home.path().join(".gitignore"), "*\n!.profile\n").unwrap();
    assert_eq!(keeper(&home.path().join("Sync/recall")), None);
    // One in it counts, and one that ignores it is asked before the one around it.
    let inner = home.path().join("src/shop");
    git(&inner);
    assert_eq!(keeper(&inner.join("shared")), found("git", &inner));
    fs::write(home.path().join(".gitignore"), "").unwrap();
    fs::write(inner.join(".gitignore"), "shared\n").unwrap();
    assert_eq!(keeper(&inner.join("shared")), None);
}

#[test]
fn a_linked_work_tree_keeps_as_its_repository_does_and_an_empty_folder_called_git_keeps_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (main, linked) = (place.path().join("main"), place.path().join("linked"));
    git(&main);
    let run = |arguments: &[&str]| {
        let git = Command::new("git")
            .arg("-C")
            .arg(&main)
            .args(["-c", "user.name=x", "-c", "user.email=x@example.com"])
            .args(arguments)
            .output();
        assert!(git.as_ref().unwrap().status.success(), "{git:?}");
    };
    run(&["commit", "-q", "--allow-empty", "-m", "first"]);
    run(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    assert!(linked.join(".git").is_file());
    assert_eq!(keeper(&linked.join("shared")), found("git", &linked));
    fs::create_dir_all(place.path().join("empty/.git")).unwrap();
    assert_eq!(keeper(&place.path().join("empty")), None);
}

#[test]
fn other_version_control_and_old_versions_of_syncthing_are_seen() {
    let place = tempfile::tempdir().unwrap();
    for (marker, word) in [(".jj", "jj"), (".hg", "hg"), (".svn", "svn"), (".stversions", "syncthing")] {
        let top = place.path().join(word);
        fs::create_dir_all(top.join(marker)).unwrap();
        assert_eq!(keeper(&top), found(word, &top));
        assert_eq!(keeper(&top.join("some/folder")), found(word, &top));
    }
    // What git ignores there, Syncthing keeps.
    let both = place.path().join("syncthing/both");
    git(&both);
    fs::write(both.join(".gitignore"), "*\n").unwrap();
    assert_eq!(keeper(&both), found("syncthing", &place.path().join("syncthing")));
}
