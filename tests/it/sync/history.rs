//! A place that keeps what is deleted is refused unless the user accepts it, and told of as long as it does.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Machine, digested, settle};
use crate::support::repository::install_git;
use crate::support::{World, files_below};

/// A machine that has git.
fn machine(share: &Path) -> Machine {
    let world = World::new();
    install_git(&world);
    Machine { world, share: share.to_owned() }
}

/// A folder that is not there yet, in a repository.
fn repository(top: &Path) -> std::path::PathBuf {
    assert!(Command::new("git").args(["init", "-q"]).arg(top).status().unwrap().success());
    top.join("recall")
}

fn history(machine: &Machine) -> serde_json::Value {
    let status: serde_json::Value = serde_json::from_str(&machine.sync(&["status", "--json"]).out).unwrap();
    status["places"][0]["history"].clone()
}

#[test]
fn a_folder_in_a_repository_is_refused_until_the_user_accepts_that_it_keeps_what_is_deleted() {
    let place = tempfile::tempdir().unwrap();
    let share = repository(place.path());
    let (address, top) = (share.to_str().unwrap(), place.path().canonicalize().unwrap());
    let laptop = machine(&share);
    let ran = laptop.sync(&["add", address]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:#?}");
    let why = format!(
        "{address}: {} is a work tree of git, which keeps what is deleted. What you forget would stay in its history. Use another folder, or \
         have git ignore this one (`.gitignore`). To use this place all the same: `--keeps-history`",
        top.display()
    );
    assert!(ran.err.contains(&why), "{ran:#?}");
    assert!(!share.exists() && !laptop.world.data_dir().join("sync").exists(), "nothing is set up");
    let ran = laptop.sync(&["add", address, "--name", "laptop", "--keeps-history"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let told = format!("\nWhat you forget stays there: {} is a work tree of git, which keeps what is deleted.\n", top.display());
    assert!(ran.out.contains(&told), "{ran:#?}");
    assert_eq!(history(&laptop), "git");
    let text = laptop.sync(&["status"]).out;
    assert!(text.contains(", encrypted, keeps what was deleted (git), no exchange yet\n"), "{text}");
    assert_eq!(
        laptop.world.findings("sync", &[]),
        [format!("ok: {address}: no other machine yet; this machine is called laptop")],
        "the user knows"
    );
    digested(&laptop, 1, "lantern");
    settle(&[&laptop]);
    assert!(!files_below(&share).is_empty());
}

#[test]
fn a_folder_that_git_ignores_is_a_place_like_any_other() {
    let place = tempfile::tempdir().unwrap();
    let share = repository(place.path());
    fs::write(place.path().join(".gitignore"), "*\n").unwrap();
    let laptop = machine(&share);
    let ran = laptop.sync(&["add", share.to_str().unwrap()]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert!(history(&laptop).is_null());
    assert!(!laptop.sync(&["status"]).out.contains("keeps"));
}

#[test]
fn the_doctor_tells_of_a_place_that_has_begun_to_keep_what_is_deleted() {
    let place = tempfile::tempdir().unwrap();
    let share = place.path().join("recall");
    let address = share.to_str().unwrap();
    let laptop = machine(&share);
    assert_eq!(laptop.sync(&["add", address, "--name", "laptop"]).code, 0);
    assert!(laptop.world.findings("sync", &[])[0].starts_with("ok: "));
    let versions = place.path().join(".stversions");
    fs::create_dir(&versions).unwrap();
    let found = laptop.world.findings("sync", &[]);
    let kept = versions.canonicalize().unwrap();
    assert!(
        found[0].starts_with(&format!("warning: {address}: Syncthing keeps what is deleted in {}", kept.display())),
        "{found:?}"
    );
    // It is accepted where it is set up, or it stops.
    let accept = || {
        let ran = laptop.sync(&["add", address, "--keeps-history"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran.out
    };
    assert_eq!(accept(), format!("What you forget stays there: Syncthing keeps what is deleted in {}.\n", kept.display()));
    assert_eq!(history(&laptop), "syncthing");
    assert!(laptop.world.findings("sync", &[])[0].starts_with("ok: "));
    fs::remove_dir(&versions).unwrap();
    assert_eq!(accept(), "No version history was found there.\n");
    assert!(history(&laptop).is_null());
}

/// A host that is this machine: what would run there runs here.
#[test]
fn a_folder_of_a_host_is_looked_at_there() {
    let host = tempfile::tempdir().unwrap();
    let share = repository(host.path());
    let laptop = machine(&share);
    let ssh = laptop.world.bin().join("ssh");
    fs::write(&ssh, "#!/bin/sh\nPATH=/usr/bin:/bin\nexport PATH\nfor last in \"$@\"; do :; done\nexec sh -c \"$last\"\n").unwrap();
    fs::set_permissions(&ssh, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let address = format!("ssh://anna@nas{}", share.display());
    let ran = laptop.sync(&["add", &address, "--name", "laptop"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.err.contains(&format!("{address}: ")) && ran.err.contains(" is a work tree of git"), "{ran:#?}");
    let ran = laptop.sync(&["add", &address, "--name", "laptop", "--keeps-history"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(history(&laptop), "git");
}
