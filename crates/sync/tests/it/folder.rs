//! A folder with real files.

use crate::carriers::{carries_records, keeps_the_contract};
use crate::support::Site;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use sync::{Carrier, Error, Folder, Outbox};

#[test]
fn a_folder_keeps_the_contract() {
    let place = tempfile::tempdir().unwrap();
    let address = place.path().join("new/below").to_str().unwrap().to_owned();
    let folder = sync::carrier(&address).unwrap();
    keeps_the_contract(&*folder);
    carries_records(&*folder);
}

#[test]
fn nobody_else_can_read_what_is_in_it() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("new");
    Folder::new(&path).put("x.manifest", b"text").unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&path.join("x.manifest"))), (0o700, 0o600));
}

#[test]
fn links_are_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let (outside, path) = (place.path().join("outside"), place.path().join("shared"));
    fs::write(&outside, "private").unwrap();
    fs::create_dir(&path).unwrap();
    let folder = Folder::new(&path);
    symlink(&outside, path.join("x.manifest")).unwrap();
    symlink(&outside, path.join(".x.manifest.part")).unwrap();
    assert!(matches!(folder.get(&["x.manifest"]), Err(Error::Refused { .. })));
    folder.put("x.manifest", b"new").unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "private");
    assert_eq!(folder.get(&["x.manifest"]).unwrap(), [Some(b"new".to_vec())]);
    fs::create_dir(path.join("y.manifest")).unwrap();
    assert!(matches!(folder.get(&["y.manifest"]), Err(Error::Refused { .. })));
}

#[test]
fn a_link_in_place_of_a_manifest_is_set_aside_and_the_others_are_read() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::new(place.path());
    let (mut one, mut two) = (Site::new(1), Site::new(2));
    one.write("a", 1, "text");
    one.publish(&folder).unwrap();
    let name = format!("{:032x}.manifest", 0xbad);
    symlink(place.path().join(one.manifest()), place.path().join(&name)).unwrap();
    let taken = two.read(&folder).unwrap();
    assert_eq!((taken.put, taken.set_aside.len(), &taken.set_aside[0].name), (1, 1, &name));
}

/// A disk that is not mounted leaves its mount point.
#[test]
fn a_folder_that_is_gone_is_not_made_anew_by_who_published_there() {
    let place = tempfile::tempdir().unwrap();
    let (disk, away) = (place.path().join("disk"), place.path().join("away"));
    let folder = Folder::new(disk.join("shared"));
    let mut one = Site::new(1);
    one.write("a", 1, "text");
    one.publish(&folder).unwrap();
    fs::rename(&disk, &away).unwrap();
    fs::create_dir(&disk).unwrap();
    one.write("b", 1, "text");
    let error = one.publish(&folder).unwrap_err();
    assert!(matches!(&error, Error::Gone { .. }) && error.to_string().contains("mounted"), "{error}");
    assert!(matches!(one.outbox.list(&folder), Err(Error::Gone { .. })));
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 0);
    // Others may publish there for the first time.
    assert_eq!(Outbox::default().list(&folder).unwrap(), []);
    fs::remove_dir(&disk).unwrap();
    fs::rename(&away, &disk).unwrap();
    assert_eq!(one.publish(&folder).unwrap().records, 1);
    // The user deleted it, and says so.
    fs::remove_dir_all(&disk).unwrap();
    assert!(one.publish(&folder).is_err());
    one.outbox.begin_anew();
    assert_eq!(one.publish(&folder).unwrap().records, 2);
}

#[test]
fn what_others_and_killed_runs_leave_in_it_does_no_harm() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::new(place.path());
    let (mut one, mut two) = (Site::new(1), Site::new(2));
    one.write("a", 1, "text");
    one.publish(&folder).unwrap();
    let manifest = fs::read(place.path().join(one.manifest())).unwrap();
    fs::create_dir(place.path().join(".stfolder")).unwrap();
    let id = &one.me.id;
    let foreign = [
        format!("{id}.sync-conflict-20261128-101112-ABCDEFG.manifest"),
        format!(".syncthing.{id}.manifest.tmp"),
        format!("{id}.manifest (copy)"),
        format!("{}.manifest", id.replace('0', "G")),
        "notes.txt".into(),
    ];
    foreign.iter().for_each(|name| fs::write(place.path().join(name), &manifest).unwrap());
    // Of a run of `one` that was killed, and of one of `two`.
    let own =
        [format!(".{id}.manifest.part"), format!(".{id}.0123456789abcdef.segment.part"), format!("{id}.0123456789abcdef.segment")];
    own.iter().for_each(|name| fs::write(place.path().join(name), "half").unwrap());
    let of_two = format!(".{}.manifest.part", two.me.id);
    fs::write(place.path().join(&of_two), "half").unwrap();

    let taken = two.read(&folder).unwrap();
    assert_eq!((taken.put, taken.set_aside.len(), taken.incomplete.len()), (1, 0, 0));
    assert_eq!(one.publish(&folder).unwrap(), Default::default());
    let there = |name: &String| place.path().join(name).exists();
    assert!(foreign.iter().all(there) && there(&of_two));
    assert!(!own.iter().any(there));
}

#[test]
fn ten_thousand_records_stand_in_few_files() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::new(place.path());
    let mut one = Site::new(1);
    let mut most = 0;
    // One by one at first, then as many at a time as a day brings.
    let (single, at_once) = (100, 100);
    for number in 0..10_000 {
        one.write(&format!("record {number}"), 1, &format!("text {number}").repeat(number % 40));
        if number < single || number % at_once == 0 {
            one.publish(&folder).unwrap();
            most = most.max(fs::read_dir(place.path()).unwrap().count());
        }
    }
    one.publish(&folder).unwrap();
    assert!(most <= 16, "{most} files");
    assert_eq!(one.loaded, 10_000);
    let mut two = Site::new(2);
    assert_eq!(two.read(&folder).unwrap().put, 10_000);
    assert!(two.of(&one) == one.own);
}
