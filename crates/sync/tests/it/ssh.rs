//! The carrier over ssh, with a program in place of ssh that runs the commands here.

use crate::carriers::{carries_records, keeps_the_contract};
use crate::support::Site;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;
use sync::{Carrier, Error, Ssh};

pub fn ssh(host: &str, folder: &Path, patience: Duration) -> Ssh {
    let fake = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake-ssh");
    Ssh::with_program(&format!("ssh://{host}{}", folder.display()), fake, patience).unwrap()
}

pub const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

#[test]
fn a_host_keeps_the_contract() {
    let place = tempfile::tempdir().unwrap();
    // "background" leaves behind what holds stderr open for a minute.
    for host in ["here", "greeting", "me@port:2222", "background"] {
        // A path that a shell would take apart.
        let folder = place.path().join(host.replace(['@', ':'], "-")).join("it's a $(folder) `of` \"files\" *");
        let host = ssh(host, &folder, LONG / 4);
        keeps_the_contract(&host);
        carries_records(&host);
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn links_are_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let (outside, folder) = (place.path().join("outside"), place.path().join("shared"));
    fs::write(&outside, "private").unwrap();
    fs::create_dir(&folder).unwrap();
    let host = ssh("here", &folder, LONG);
    symlink(&outside, folder.join("x.manifest")).unwrap();
    symlink(&outside, folder.join(".x.manifest.part")).unwrap();
    assert!(matches!(host.get(&["x.manifest"]), Err(Error::Refused { name, .. }) if name == "x.manifest"));
    host.put("x.manifest", b"new").unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "private");
    assert_eq!(host.get(&["x.manifest"]).unwrap(), [Some(b"new".to_vec())]);
    // A pipe would be waited for.
    assert!(std::process::Command::new("mkfifo").arg(folder.join("y.manifest")).status().unwrap().success());
    assert_eq!(host.list().unwrap().len(), 1);
    assert!(matches!(host.get(&["y.manifest"]), Err(Error::Refused { .. })));
}

#[test]
fn a_folder_that_is_gone_is_not_made_anew_by_who_published_there() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("a disk");
    let host = ssh("greeting", &folder, LONG);
    let mut one = Site::new(1);
    one.write("a", 1, "text");
    one.publish(&host).unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let error = one.publish(&host).unwrap_err();
    assert!(matches!(&error, Error::Gone { place } if place.contains("greeting") && place.contains("a disk")), "{error}");
    assert!(!folder.exists());
    // One that is empty is the same place.
    fs::create_dir(&folder).unwrap();
    assert_eq!(one.publish(&host).unwrap().records, 1);
}

#[test]
fn names_that_break_lines_are_skipped() {
    let place = tempfile::tempdir().unwrap();
    for name in ["a\n00000000000000000000000000000001.manifest 5\nb.manifest", "x y.manifest", "sync-end\n.segment", "-n.manifest"]
    {
        fs::write(place.path().join(name), "text").unwrap();
    }
    fs::write(place.path().join("right.manifest"), "text").unwrap();
    let names: Vec<String> = ssh("here", place.path(), LONG).list().unwrap().into_iter().map(|entry| entry.name).collect();
    assert!(names.contains(&"right.manifest".to_owned()), "{names:?}");
    assert!(names.iter().all(|name| !name.contains([' ', '\n']) && !name.starts_with('-')), "{names:?}");
}

#[test]
fn what_breaks_in_the_middle_is_an_error_and_leaves_no_half_file() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("shared");
    let half = ssh("half", &folder, LONG).put("x.manifest", &[7; 1000]).unwrap_err();
    assert!(half.to_string().contains("the file came in part"), "{half}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    ssh("here", &folder, LONG).put("x.manifest", &[7; 1000]).unwrap();
    assert!(matches!(ssh("cut", &folder, LONG).get(&["x.manifest"]), Err(Error::Ssh { .. })));
    assert!(matches!(ssh("endless", &folder, LONG).put("x.manifest", b"x"), Err(Error::Ssh { .. })));
}

#[test]
fn a_host_that_says_no_or_nothing_is_an_error_that_says_so() {
    let place = tempfile::tempdir().unwrap();
    let refused = ssh("refusing", place.path(), LONG).list().unwrap_err().to_string();
    assert_eq!(
        refused,
        "could not list the files on refusing: me@refusing: Permission denied (publickey). Try `ssh -o BatchMode=yes refusing true`: it must \
         succeed without asking anything"
    );
    assert!(matches!(ssh("silent", place.path(), SHORT).list(), Err(Error::TimedOut { .. })));
    assert!(matches!(ssh("silent", place.path(), SHORT).put("x.manifest", &vec![7; 1 << 20]), Err(Error::TimedOut { .. })));
    let missing = Ssh::with_program("ssh://here/x", "/nonexistent/ssh", LONG).unwrap().list();
    assert!(matches!(missing, Err(Error::Ssh { .. })));
}
