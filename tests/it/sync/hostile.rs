//! What lies at a place may be damaged, of another key, or written by somebody else.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Machine, digested, machines, session, settle};
use crate::support::data_folder::places_of;
use crate::support::rows::{bash, put};
use crate::support::{World, files_below};

/// The one in which most was told.
fn largest_segment(share: &Path) -> PathBuf {
    let all = files_below(share).into_iter().filter(|file| file.extension().is_some_and(|end| end == "segment"));
    all.max_by_key(|file| fs::metadata(file).unwrap().len()).unwrap()
}

#[test]
fn nobody_who_sees_the_place_can_read_it() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower] = machines(share.path(), ["laptop", "tower"]);
    digested(&laptop, 1, "lantern");
    settle(&[&laptop, &tower]);
    for file in files_below(share.path()) {
        assert!(fs::read(&file).unwrap().starts_with(b"sync 1 age\n"), "{}", file.display());
    }
    let stranger = Machine { world: World::new(), share: share.path().to_owned() };
    let place = share.path().to_str().unwrap();
    let ran = stranger.sync(&["add", place]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.err.contains("recall sync key"), "{ran:#?}");
    let other = Machine { world: World::new(), share: share.path().to_owned() };
    let elsewhere = other.world.root().join("elsewhere");
    other.sync(&["add", elsewhere.to_str().unwrap()]);
    let key = other.world.root().join("key");
    fs::write(&key, other.sync(&["key"]).out).unwrap();
    let ran = stranger.sync(&["add", place, "--key", key.to_str().unwrap()]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(ran.err.contains("recall sync key"), "{ran:#?}");
}

/// Both were set up before either had exchanged.
#[test]
fn a_machine_with_a_key_of_its_own_takes_the_other_s() {
    let share = tempfile::tempdir().unwrap();
    let place = share.path().to_str().unwrap();
    let (laptop, tower) = (
        Machine { world: World::new(), share: share.path().to_owned() },
        Machine { world: World::new(), share: share.path().to_owned() },
    );
    assert_eq!(laptop.sync(&["add", place, "--name", "laptop"]).code, 0);
    let ran = tower.sync(&["add", place]);
    assert!(ran.code == 2 && ran.err.contains("--key FILE"), "it is known that somebody is there: {ran:#?}");
    // As a folder that had not been carried over yet would have let it.
    let moved = share.path().with_extension("moved");
    fs::rename(share.path(), &moved).unwrap();
    assert_eq!(tower.sync(&["add", place, "--name", "tower"]).code, 0);
    for file in files_below(&moved) {
        fs::copy(&file, share.path().join(file.file_name().unwrap())).unwrap();
    }
    fs::remove_dir_all(&moved).unwrap();
    let one = digested(&laptop, 1, "lantern");
    let ran = tower.sync(&[]);
    assert!(ran.code == 1 && ran.err.contains("recall sync key --output FILE"), "{ran:#?}");
    let key = tower.world.root().join("key");
    fs::write(&key, laptop.sync(&["key"]).out).unwrap();
    let ran = tower.sync(&["add", place, "--key", key.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    settle(&[&laptop, &tower]);
    assert_eq!(tower.ids(), [one]);
    assert_eq!(tower.sync(&["remove", place]).code, 0);
}

#[test]
fn a_damaged_file_is_named_and_the_other_machines_are_heard() {
    let share = tempfile::tempdir().unwrap();
    let [laptop, tower, spare] = machines(share.path(), ["laptop", "tower", "spare"]);
    digested(&laptop, 1, "lantern");
    let damaged = [largest_segment(share.path())];
    let two = digested(&tower, 2, "sluice");
    for file in &damaged {
        let mut bytes = fs::read(file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(file, bytes).unwrap();
    }
    let ran = spare.sync(&[]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.err.contains(damaged[0].file_name().unwrap().to_str().unwrap()), "{ran:#?}");
    assert_eq!(spare.ids(), [two]);
}

#[test]
fn what_another_machine_says_passes_the_rules_of_this_one() {
    let share = tempfile::tempdir().unwrap();
    let place = share.path().to_str().unwrap();
    let [laptop, tower] = ["laptop", "tower"].map(|name| {
        let machine = Machine { world: World::new(), share: share.path().to_owned() };
        assert_eq!(machine.sync(&["add", place, "--name", name, "--unencrypted"]).code, 0);
        machine
    });
    digested(&laptop, 1, "lantern");
    laptop.remember(&[
        "--everywhere",
        "The lantern is a red herring, and so is whatever else was said of it by whoever looked at the shop before us",
    ]);
    settle(&[&laptop]);
    // Somebody who can write there puts a secret, raw rows and a forged line into it.
    let secret = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let mut forged = Vec::new();
    let segment = largest_segment(share.path());
    let packed = fs::read(&segment).unwrap();
    let text = String::from_utf8(zstd::decode_all(packed.strip_prefix(b"sync 1 plain\n").unwrap()).unwrap()).unwrap();
    forged.extend(text.replace("red herring", &format!("red herring {secret}")).bytes());
    let manifest =
        share.path().join(segment.file_name().unwrap().to_str().unwrap().split('.').next().unwrap().to_owned() + ".manifest");
    let packed = fs::read(&manifest).unwrap();
    let mut named: serde_json::Value =
        serde_json::from_slice(&zstd::decode_all(packed.strip_prefix(b"sync 1 plain\n").unwrap()).unwrap()).unwrap();
    let sealed = [b"sync 1 plain\n".as_slice(), &zstd::encode_all(forged.as_slice(), 3).unwrap()].concat();
    let name = segment.file_name().unwrap().to_str().unwrap();
    let entry = named["segments"].as_array_mut().unwrap().iter_mut().find(|entry| entry["name"] == name).unwrap();
    entry["bytes"] = json!(sealed.len());
    entry["content"] = json!(forged.len());
    entry["hash"] = json!(blake3::hash(&sealed).to_hex().to_string());
    fs::write(&segment, &sealed).unwrap();
    fs::write(&manifest, [b"sync 1 plain\n".as_slice(), &zstd::encode_all(named.to_string().as_bytes(), 3).unwrap()].concat())
        .unwrap();
    let ran = tower.sync(&[]);
    assert_eq!(tower.notes().len(), 1, "{ran:#?}");
    assert!(tower.notes()[0].0.starts_with("The lantern is a red herring "), "{:?}", tower.notes());
    assert_eq!(places_of(&tower.world, &secret), [""; 0]);
}

#[test]
fn no_secret_and_nothing_private_is_told() {
    let share = tempfile::tempdir().unwrap();
    let laptop = Machine { world: World::new(), share: share.path().to_owned() };
    assert_eq!(laptop.sync(&["add", share.path().to_str().unwrap(), "--unencrypted"]).code, 0);
    let secret = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let mut rows = session(1, "lantern");
    rows.user(json!(format!("Use {secret} to push the lantern, and do not tell anybody what it was or where you had it from")));
    rows.uses(8, &bash(&format!("git push https://{secret}@example.com/shop.git")));
    rows.result(8, &format!("error: {secret} was refused"), true);
    rows.assistant(&format!("I pushed the lantern with {secret}, which was refused."));
    rows.user(json!("<private>the quuxzanzibar opens the gate</private> Now the shop again, please, as we said before"));
    rows.assistant("The shop is as it was.");
    put(&laptop.world, &rows.id, &rows.text);
    laptop.world.digest(&["--summarizer", "extract"]);
    // Of the config of today, too: the digest was made before there was this rule.
    laptop.world.configure("[[privacy.rules]]\nid = \"lantern\"\npattern = \"still to be told\"\n");
    let ran = laptop.sync(&[]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let there = super::forgotten::texts(share.path());
    assert!(there.contains("lantern"));
    for word in [secret.as_str(), "quuxzanzibar", "still to be told"] {
        assert!(!there.contains(word), "{word}");
    }
}
