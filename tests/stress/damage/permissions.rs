//! An index that the system does not let us read or write.

use std::fs;
use std::os::unix::fs::chown;

use crate::damage::scene::{Scene, id};
use crate::support::unprivileged::{Plain, permit};
use crate::support::{Ran, files_below};

#[test]
fn an_index_that_is_closed_to_us_is_named_with_what_to_do_and_left_as_it_is() {
    let scene = Scene::new();
    let plain = Plain::new(&scene.world);
    let before = fs::read(scene.index()).expect("the index");
    let gone = id(1);
    let reads: [&[&str]; 6] = [
        &["status"],
        &["search", "importer"],
        &["show", &gone],
        &["timeline", &gone],
        &["context", "--cwd", "/home/dev/src/shop"],
        &["export"],
    ];
    let writes: [&[&str]; 3] = [
        &["digest", "--summarizer", "extract"],
        &["forget", "--yes", "--session", &gone],
        &["remember", "--everywhere", "Tabs are never used in this project"],
    ];
    // Not ours: 0600 and somebody else's. As who is not root we can only take the permissions from ourselves.
    permit(&scene.index(), if plain.is_root { 0o600 } else { 0 });
    if plain.is_root {
        chown(scene.index(), Some(0), Some(0)).expect("another owner");
    }
    for command in reads.iter().chain(&writes) {
        refused(&plain.run(command), &scene, &format!("not ours: {command:?}"));
    }
    plain.own();
    permit(&scene.index(), 0);
    for command in reads.iter().chain(&writes) {
        refused(&plain.run(command), &scene, &format!("0000: {command:?}"));
    }
    let doctor = plain.run(&["doctor", "--fix"]);
    assert!(doctor.out.contains("opened ") && !doctor.out.contains("restored"), "{doctor:#?}");
    assert_eq!(plain.run(reads[0]).code, 0, "it is ours, so the doctor opens it to us");
    // Read only: who reads is not concerned.
    permit(&scene.index(), 0o400);
    permit(&scene.world.data_dir(), 0o500);
    for command in &reads {
        let ran = plain.run(command);
        assert_eq!(ran.code, 0, "0400: {command:?}: {ran:#?}");
    }
    for command in &writes {
        let ran = plain.run(command);
        assert!(ran.code == 2 && !ran.err.contains("panicked"), "0400: {command:?}: {ran:#?}");
        refused(&ran, &scene, &format!("0400: {command:?}"));
    }
    permit(&scene.world.data_dir(), 0o700);
    for command in &writes {
        refused(&plain.run(command), &scene, &format!("only the file is 0400: {command:?}"));
    }
    permit(&scene.index(), 0o600);
    assert_eq!(fs::read(scene.index()).expect("the index"), before);
    assert!(files_below(&scene.world.data_dir()).iter().all(|f| !f.to_string_lossy().contains("damaged-")), "nothing is set aside");
    plain.own();
    let ran = plain.run(writes[0]);
    assert_eq!(ran.code, 0, "and when it is ours again, all is well: {ran:#?}");
}

fn refused(ran: &Ran, scene: &Scene, what: &str) {
    assert_eq!(ran.code, 2, "{what}: {ran:#?}");
    let named = ran.err.contains(&*scene.index().to_string_lossy()) || ran.err.contains(&*scene.world.data_dir().to_string_lossy());
    assert!(named && !ran.err.contains("`recall doctor --fix`"), "{what}: {ran:#?}");
}
