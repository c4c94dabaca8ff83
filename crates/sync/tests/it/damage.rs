//! Files that are damaged, or made by somebody who means harm.

use crate::support::{Memory, Site, record_id};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use sync::{Error, Key, Taken};

/// A carrier with two machines: what one of them has there is damaged, the other must be read all the same.
struct Case {
    memory: Memory,
    damaged: Site,
    sound: Site,
    whole: BTreeMap<String, Vec<u8>>,
}

impl Case {
    fn new(key: Option<&Key>) -> Self {
        let (memory, mut damaged, mut sound) = (Memory::default(), Site::new(1), Site::new(2));
        for site in [&mut damaged, &mut sound] {
            site.key = key.cloned();
            site.write("a", 1, "a text");
            site.write("b", 1, "another text");
            site.publish(&memory).unwrap();
        }
        let whole = memory.files();
        Self { memory, damaged, sound, whole }
    }

    fn segment(&self) -> String {
        self.whole.keys().find(|name| name.starts_with(&self.damaged.me.id) && name.ends_with(".segment")).unwrap().clone()
    }

    /// What a third machine reads, which never takes a wrong text and always the sound machine's.
    fn read(&self) -> Taken {
        let mut reader = Site::new(3);
        reader.key = self.damaged.key.clone();
        let taken = reader.read(&self.memory).unwrap();
        assert_eq!(reader.of(&self.sound), self.sound.own);
        let got = reader.of(&self.damaged);
        assert!(got.is_empty() || got == self.damaged.own, "{got:?}");
        // Once the file is whole again, it is read.
        self.memory.restore(self.whole.clone());
        reader.read(&self.memory).unwrap();
        assert_eq!(reader.of(&self.damaged), self.damaged.own);
        taken
    }

    /// Puts `bytes` in place of a file, and expects that it is set aside for a reason that has `why` in it.
    fn refused(&self, name: &str, bytes: impl Into<Vec<u8>>, why: &str) {
        self.memory.plant(name, bytes);
        let taken = self.read();
        let reasons: Vec<&str> = taken.set_aside.iter().map(|file| file.why.as_str()).collect();
        assert!(taken.set_aside.len() == 1 && taken.set_aside[0].name == name && reasons[0].contains(why), "{reasons:?} for {why}");
        assert_eq!(taken.machines, std::slice::from_ref(&self.sound.me));
    }

    /// A few bits of what is compressed mean nothing: with another one of these it still says what it said.
    fn refused_or_the_same(&self, name: &str, bytes: Vec<u8>) {
        self.memory.plant(name, bytes);
        let taken = self.read();
        let refused: Vec<&str> = taken.set_aside.iter().map(|file| file.name.as_str()).collect();
        let all = [self.damaged.me.clone(), self.sound.me.clone()];
        assert!(refused == [name] && taken.machines == all[1..] || refused.is_empty() && taken.machines == all, "{taken:?}");
    }

    /// The content of the manifest, of a carrier without a key.
    fn manifest(&self) -> Value {
        serde_json::from_slice(&unpacked(&self.whole[&self.damaged.manifest()])).unwrap()
    }

    fn refused_manifest(&self, change: impl Fn(&mut Value), why: &str) {
        let mut manifest = self.manifest();
        change(&mut manifest);
        self.refused(&self.damaged.manifest(), packed(&serde_json::to_vec(&manifest).unwrap()), why);
    }

    /// A segment with this content, and a manifest that names it as it is.
    fn refused_segment(&self, content: &[u8], stated: u64, why: &str) {
        let (file, mut manifest) = (packed(content), self.manifest());
        let segment = &mut manifest["segments"][0];
        segment["bytes"] = file.len().into();
        segment["content"] = stated.into();
        segment["hash"] = blake3::hash(&file).to_hex().as_str().into();
        self.memory.plant(&self.damaged.manifest(), packed(&serde_json::to_vec(&manifest).unwrap()));
        self.refused(&self.segment(), file, why);
    }
}

const HEAD: &[u8] = b"sync 1 plain\n";

fn packed(content: &[u8]) -> Vec<u8> {
    [HEAD, &zstd::encode_all(content, 3).unwrap()].concat()
}

fn unpacked(file: &[u8]) -> Vec<u8> {
    zstd::decode_all(&file[HEAD.len()..]).unwrap()
}

/// More zeros than a machine has memory, in a few kilobytes.
fn bomb() -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(HEAD.to_vec(), 3).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..128 {
        std::io::Write::write_all(&mut encoder, &zeros).unwrap();
    }
    encoder.finish().unwrap()
}

#[test]
fn truncated_and_changed_files_are_set_aside() {
    for key in [None, Some(Key::generate())] {
        let case = Case::new(key.as_ref());
        for name in [case.segment(), case.damaged.manifest()] {
            let whole = case.whole[&name].clone();
            for length in 0..whole.len() {
                case.refused(&name, &whole[..length], "");
            }
            for at in 0..whole.len() {
                let mut flipped = whole.clone();
                flipped[at] ^= 1;
                case.refused_or_the_same(&name, flipped);
            }
        }
    }
}

#[test]
fn exchanged_files_are_set_aside() {
    for key in [None, Some(Key::generate())] {
        let case = Case::new(key.as_ref());
        let of_other =
            |end: &str| case.whole.iter().find(|(name, _)| name.starts_with(&case.sound.me.id) && name.ends_with(end)).unwrap().1;
        case.refused(&case.segment(), of_other(".segment").clone(), "not the file that the manifest names");
        case.refused(&case.damaged.manifest(), of_other(".manifest").clone(), "the manifest of another machine");
        case.refused(&case.segment(), case.whole[&case.damaged.manifest()].clone(), "not the file that the manifest names");
        case.refused(&case.damaged.manifest(), case.whole[&case.segment()].clone(), "JSON");
    }
}

#[test]
fn a_file_that_is_none_is_set_aside() {
    let case = Case::new(None);
    let manifest = case.damaged.manifest();
    case.refused(&manifest, "", "does not begin like");
    case.refused(&manifest, "sync 2 plain\nx", "another format");
    case.refused(&manifest, HEAD, "zstd");
    case.refused(&manifest, [HEAD, b"not zstd"].concat(), "zstd");
    case.refused(&manifest, bomb(), "more than 67108864 bytes");
    case.refused(&manifest, packed(&b"[".repeat(1 << 20)), "JSON");
}

#[test]
fn a_manifest_that_a_machine_would_not_write_is_set_aside() {
    let case = Case::new(None);
    case.refused_manifest(|manifest| manifest["format"] = 2.into(), "format 2");
    case.refused_manifest(|manifest| manifest["machine"]["id"] = case.sound.me.id.as_str().into(), "another machine");
    case.refused_manifest(|manifest| manifest["machine"]["name"] = "\u{1b}[2J".into(), "control characters");
    case.refused_manifest(|manifest| manifest["machine"]["name"] = "x".repeat(2000).into(), "more than 1024 bytes");
    case.refused_manifest(|manifest| manifest["generation"] = (-1).into(), "JSON");
    case.refused_manifest(|manifest| manifest["more"] = 1.into(), "JSON");
    for name in ["../x", "/etc/passwd", "a/../b.segment", "", &case.segment().replace(&case.damaged.me.id, &case.sound.me.id)] {
        case.refused_manifest(|manifest| manifest["segments"][0]["name"] = name.into(), "not its own");
    }
    case.refused_manifest(|manifest| manifest["segments"] = json!([manifest["segments"][0], manifest["segments"][0]]), "twice");
    case.refused_manifest(|manifest| manifest["segments"][0]["bytes"] = u64::MAX.into(), "larger than any");
    case.refused_manifest(|manifest| manifest["segments"][0]["content"] = (1_u64 << 40).into(), "larger than any");
    case.refused_manifest(
        |manifest| manifest["segments"][0]["records"]["note"]["x".repeat(2000)] = 1.into(),
        "more than 1024 bytes",
    );
    let twice = |manifest: &mut Value| {
        let mut second = manifest["segments"][0].clone();
        second["name"] = format!("{}.{:016x}.segment", case.damaged.me.id, 7).into();
        manifest["segments"].as_array_mut().unwrap().push(second);
    };
    case.refused_manifest(twice, "a record twice");
}

#[test]
fn a_segment_that_a_machine_would_not_write_is_set_aside() {
    let case = Case::new(None);
    let content = String::from_utf8(unpacked(&case.whole[&case.segment()])).unwrap();
    let (length, lines) = (content.len() as u64, content.lines().collect::<Vec<_>>());
    case.refused_segment(content.as_bytes(), length - 1, "more than");
    case.refused_segment(&unpacked(&bomb()), 64 << 20, "more than 67108864 bytes");
    case.refused_segment(content.replace(&case.damaged.me.id, &case.sound.me.id).as_bytes(), length, "of another machine");
    case.refused_segment(lines[1..].join("\n").as_bytes(), length, "JSON");
    case.refused_segment(lines[..2].join("\n").as_bytes(), length, "other records");
    case.refused_segment(content.replace(r#""version":1"#, r#""version":2"#).as_bytes(), length, "other records");
    case.refused_segment(content.replace(r#""id":"b""#, r#""id":"a""#).as_bytes(), length, "other records");
    case.refused_segment(content.replace("another", "another\n").as_bytes(), length + 1, "JSON");
    case.refused_segment(b"", length, "JSON");
}

#[test]
fn what_a_damaged_file_does_not_hold_is_taken_and_the_rest_as_soon_as_it_is_whole() {
    let (memory, mut one, mut two) = (Memory::default(), Site::new(1), Site::new(2));
    // Two of them do not fit into one segment.
    ["a", "b", "c"].iter().for_each(|id| one.write(id, 1, &id.repeat(3 << 20)));
    one.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    one.own.remove(&record_id("c"));
    ["a", "b"].iter().for_each(|id| one.write(id, 2, &id.repeat(3 << 20)));
    one.publish(&memory).unwrap();
    let whole = memory.files();
    let segment = memory.names(".segment")[0].clone();
    memory.plant(&segment, "damaged");
    for (put, withdrawn) in [(1, 1), (0, 0)] {
        let taken = two.read(&memory).unwrap();
        assert_eq!((taken.put, taken.withdrawn, taken.machines.len(), &taken.set_aside[0].name), (put, withdrawn, 0, &segment));
    }
    memory.restore(whole);
    let taken = two.read(&memory).unwrap();
    assert_eq!((taken.put, taken.withdrawn, taken.machines.len()), (1, 0, 1));
    assert_eq!(two.of(&one), one.own);
}

#[test]
fn the_owner_replaces_what_was_damaged_when_it_writes_it_again() {
    let mut case = Case::new(None);
    let mut damaged = case.whole[&case.segment()].clone();
    damaged[20] ^= 1;
    case.memory.plant(&case.segment(), damaged);
    case.damaged.write("c", 1, "a third text");
    assert_eq!(case.damaged.publish(&case.memory).unwrap().records, 3, "the new one, and what could not be copied");
    let mut reader = Site::new(3);
    reader.read(&case.memory).unwrap();
    assert_eq!(reader.of(&case.damaged), case.damaged.own);
}

fn wrong_key<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::WrongKey { .. }))
}

#[test]
fn another_key_or_none_neither_reads_nor_writes() {
    let (right, other) = (Key::generate(), Key::generate());
    for (published, tried) in [(Some(&right), Some(&other)), (Some(&right), None), (None, Some(&right))] {
        let mut case = Case::new(published);
        let mut third = Site::new(3);
        third.key = tried.cloned();
        third.write("private", 1, "text");
        assert!(wrong_key(third.read(&case.memory)) && wrong_key(third.publish(&case.memory)));
        case.damaged.key = tried.cloned();
        case.damaged.write("private", 1, "text");
        assert!(wrong_key(case.damaged.publish(&case.memory)));
        assert_eq!(case.memory.files(), case.whole, "nothing was written");
    }
}

#[test]
fn a_file_with_another_key_does_not_keep_anybody_from_the_others() {
    let key = Key::generate();
    for planted in [None, Some(Key::generate())] {
        let case = Case::new(Some(&key));
        let stranger = Case::new(planted.as_ref());
        let name = format!("{:032x}.manifest", 9);
        case.memory.plant(&name, stranger.whole[&stranger.damaged.manifest()].clone());
        let taken = case.read();
        assert_eq!((taken.machines.len(), &taken.set_aside[0].name), (2, &name));
        case.memory.plant(&name, stranger.whole[&stranger.damaged.manifest()].clone());
        let mut third = Site::new(3);
        third.key = Some(key.clone());
        third.write("a", 1, "text");
        third.publish(&case.memory).unwrap();
    }
}

#[test]
fn nothing_of_an_encrypted_carrier_can_be_read_without_the_key() {
    let case = Case::new(Some(&Key::generate()));
    for (name, file) in &case.whole {
        assert!(file.starts_with(b"sync 1 age\nage-encryption.org/v1\n"), "{name}");
        for word in ["a text", "note", "machine 1"] {
            assert!(!file.windows(word.len()).any(|window| window == word.as_bytes()), "{name}");
        }
    }
}

#[test]
fn a_key_is_one_line_and_says_nothing_of_itself() {
    let key = Key::generate();
    let text = key.text();
    assert!(text.starts_with("AGE-SECRET-KEY-1"));
    assert_eq!(Key::parse(&format!("# created: today\n\n  {text}\n")).unwrap().text(), text);
    assert_eq!(format!("{key:?}"), "Key(…)");
    let changed = text.replace(&text[30..31], "#");
    for wrong in ["", "# nothing", "age1qqqq", &text[..50], &changed, &format!("{text}\n{text}")] {
        let error = Key::parse(wrong).unwrap_err();
        assert!(wrong.is_empty() || !format!("{error} {error:?}").contains(wrong), "{error}");
    }
}

#[test]
fn a_machine_or_a_record_that_others_would_refuse_is_not_published() {
    let memory = Memory::default();
    for (id, name) in [
        ("0", "x".to_owned()),
        (&"A".repeat(32), "x".into()),
        (&"a".repeat(32), "a\nb".into()),
        (&"a".repeat(32), "x".repeat(2000)),
    ] {
        let mut site = Site::new(1);
        (site.me.id, site.me.name) = (id.to_owned(), name);
        site.write("a", 1, "text");
        assert!(matches!(site.publish(&memory), Err(Error::Machine { .. })));
        assert!(matches!(site.read(&memory), Err(Error::Machine { .. })));
    }
    let mut site = Site::new(1);
    site.write(&"x".repeat(2000), 1, "text");
    assert!(matches!(site.publish(&memory), Err(Error::Record { .. })));
    let mut site = Site::new(1);
    site.write("large", 1, &"x".repeat(64 << 20));
    assert!(matches!(site.publish(&memory), Err(Error::Record { .. })));
    assert_eq!(memory.files().len(), 0);
}
