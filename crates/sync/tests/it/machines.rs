//! Several machines on one carrier, in memory.

use crate::support::{Memory, Site, record_id};
use sync::{Carrier, Error, Key};

fn pair() -> (Memory, Site, Site) {
    (Memory::default(), Site::new(1), Site::new(2))
}

fn contains(memory: &Memory, text: &str) -> bool {
    let content = |file: &Vec<u8>| {
        let start = file.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        zstd::decode_all(&file[start..]).map_or(file.clone(), |content| content)
    };
    memory.files().values().any(|file| content(file).windows(text.len()).any(|window| window == text.as_bytes()))
}

#[test]
fn what_one_publishes_the_other_reads_once() {
    let (memory, mut one, mut two) = pair();
    one.write("a", 1, "the first");
    one.own.insert(record_id("b"), (7, None));
    one.own.insert(record_id("null"), (1, Some("null".into())));
    let published = one.publish(&memory).unwrap();
    assert_eq!((published.records, published.withdrawn, published.segments_written), (3, 0, 1));
    let taken = two.read(&memory).unwrap();
    assert_eq!((taken.put, taken.withdrawn, taken.machines), (3, 0, vec![one.me.clone()]));
    assert_eq!(two.of(&one), one.own);
    assert_eq!(two.inbox.machines().collect::<Vec<_>>(), [(&one.me, 3)]);

    memory.take_gets();
    assert_eq!(two.read(&memory).unwrap(), Default::default());
    assert_eq!(memory.take_gets(), [one.manifest()], "nothing but the manifest");
    let writes = memory.writes();
    assert_eq!(one.publish(&memory).unwrap(), Default::default());
    assert_eq!((memory.writes(), one.loaded), (writes, 3));
    two.inbox.reset();
    assert_eq!(two.read(&memory).unwrap().put, 3);
}

#[test]
fn only_what_is_new_is_loaded_and_a_withdrawn_text_is_in_no_file() {
    let (memory, mut one, mut two) = pair();
    ["a", "b", "c"].iter().for_each(|id| one.write(id, 1, &format!("text of {id}")));
    one.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    assert!(contains(&memory, "text of b"));
    one.own.remove(&record_id("b"));
    one.write("c", 2, "another text");
    let published = one.publish(&memory).unwrap();
    assert_eq!((published.records, published.withdrawn, one.loaded), (1, 1, 4));
    assert!(contains(&memory, "text of a") && !contains(&memory, "text of b") && !contains(&memory, "text of c"));
    let taken = two.read(&memory).unwrap();
    assert_eq!((taken.put, taken.withdrawn), (1, 1));
    assert_eq!(two.of(&one), one.own);
}

#[test]
fn the_new_name_of_a_machine_is_published() {
    let (memory, mut one, mut two) = pair();
    one.write("a", 1, "text");
    one.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    one.me.name = "desk".into();
    assert_eq!(one.publish(&memory).unwrap().records, 0);
    two.read(&memory).unwrap();
    assert_eq!(two.inbox.machines().next().unwrap().0.name, "desk");
}

#[test]
fn a_copied_disk_is_noticed_by_whoever_publishes_second() {
    let (memory, mut one, _) = pair();
    one.write("a", 1, "text");
    one.publish(&memory).unwrap();
    let mut copy = Site::new(1);
    copy.outbox = one.outbox.clone();
    copy.own = one.own.clone();
    copy.write("b", 1, "of the copy");
    copy.publish(&memory).unwrap();
    one.write("c", 1, "of the original");
    let writes = memory.writes();
    assert!(matches!(one.publish(&memory), Err(Error::Doubled { .. })));
    // Nor does a machine that has lost what it published begin anew over it.
    assert!(matches!(Site::new(1).publish(&memory), Err(Error::Doubled { .. })));
    assert_eq!(memory.writes(), writes);
}

/// A disk that comes back, after something was published in its place.
#[test]
fn an_earlier_state_of_its_own_is_no_second_machine() {
    for key in [None, Some(Key::generate())] {
        let (memory, mut one, mut two) = pair();
        (one.key, two.key) = (key.clone(), key);
        one.write("a", 1, "text of a");
        one.write("b", 1, "text of b");
        one.publish(&memory).unwrap();
        two.read(&memory).unwrap();
        let before = (memory.files(), one.own.clone());
        memory.restore(Default::default());
        one.own.remove(&record_id("a"));
        one.publish(&memory).unwrap();
        two.read(&memory).unwrap();
        one.write("c", 1, "text of c");
        one.publish(&memory).unwrap();
        memory.restore(before.0.clone());
        assert_eq!(one.publish(&memory).unwrap().withdrawn, 1);
        assert_eq!(memory.names(".manifest"), [one.manifest()]);
        assert!(!before.0.keys().any(|name| name.ends_with(".segment") && memory.files().contains_key(name)));
        two.read(&memory).unwrap();
        assert_eq!(two.of(&one), one.own);
        // Also if what it said then is what it says now: who has read what came after hears it.
        memory.restore(before.0);
        one.own = before.1;
        one.publish(&memory).unwrap();
        two.read(&memory).unwrap();
        assert_eq!(two.of(&one), one.own);
        let writes = memory.writes();
        one.publish(&memory).unwrap();
        assert_eq!(memory.writes(), writes);
    }
}

#[test]
fn a_copied_disk_is_noticed_also_after_an_earlier_state_came_back() {
    let (memory, mut one, _) = pair();
    one.write("a", 1, "text");
    one.publish(&memory).unwrap();
    let earlier = memory.files();
    one.write("b", 1, "text");
    one.publish(&memory).unwrap();
    let mut copy = Site::new(1);
    (copy.outbox, copy.own) = (one.outbox.clone(), one.own.clone());
    memory.restore(earlier);
    copy.publish(&memory).unwrap();
    assert!(matches!(one.publish(&memory), Err(Error::Doubled { .. })));
    one.outbox.begin_anew();
    assert!(matches!(one.publish(&memory), Err(Error::Doubled { .. })));
    // Nor is it its own what it never published, such as a state from after a backup of its data.
    let mut backup = Site::new(1);
    backup.outbox = copy.outbox.clone();
    copy.write("c", 1, "text");
    copy.publish(&memory).unwrap();
    assert!(matches!(backup.publish(&memory), Err(Error::Doubled { .. })));
}

#[test]
fn what_is_remembered_of_earlier_states_has_an_end() {
    let (memory, mut one, _) = pair();
    for version in 0..1_200 {
        one.write("a", version, "text");
        one.publish(&memory).unwrap();
    }
    let remembered = serde_json::to_vec(&one.outbox).unwrap().len();
    assert!(remembered < 64 * 1024, "{remembered}");
}

#[test]
fn an_own_manifest_that_is_damaged_is_written_anew() {
    let (memory, mut one, mut two) = pair();
    one.write("a", 1, "text of a");
    one.publish(&memory).unwrap();
    two.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    let whole = memory.files()[&one.manifest()].clone();
    for damaged in [Vec::new(), whole[..5].to_vec(), whole[..whole.len() - 1].to_vec(), [b"x".as_slice(), &whole].concat()] {
        memory.put(&one.manifest(), &damaged).unwrap();
        one.own.remove(&record_id("a"));
        one.write("b", 1, "text of b");
        one.publish(&memory).unwrap();
        assert!(!contains(&memory, "text of a"));
        two.read(&memory).unwrap();
        assert_eq!(two.of(&one), one.own);
    }
}

#[test]
fn a_changed_bit_of_its_own_manifest_is_no_second_machine() {
    for key in [None, Some(Key::generate())] {
        let (memory, mut one, mut two) = pair();
        (one.key, two.key) = (key.clone(), key);
        two.write("b", 1, "text of b");
        two.publish(&memory).unwrap();
        one.write("a", 1, "text of a");
        one.publish(&memory).unwrap();
        let whole = memory.files()[&one.manifest()].clone();
        for bit in 0..whole.len() * 8 {
            let mut changed = memory.files()[&one.manifest()].clone();
            let at = bit / 8 % changed.len();
            changed[at] ^= 1 << (bit % 8);
            memory.put(&one.manifest(), &changed).unwrap();
            let again = one.publish(&memory);
            assert!(again.is_ok(), "bit {bit}: {again:?}");
        }
    }
}

#[test]
fn an_older_state_of_the_carrier_is_ignored_by_readers() {
    let (memory, mut one, mut two) = pair();
    one.write("a", 1, "text");
    one.publish(&memory).unwrap();
    let earlier = memory.files();
    one.write("b", 1, "text");
    one.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    memory.restore(earlier);
    assert_eq!(two.read(&memory).unwrap(), Default::default());
    assert_eq!(two.of(&one), one.own);
}

#[test]
fn everything_is_published_again_where_the_manifest_or_a_segment_is_gone() {
    let (memory, mut one, mut two) = pair();
    one.write("a", 1, "text");
    one.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    memory.lose(&one.manifest());
    assert_eq!(two.read(&memory).unwrap(), Default::default(), "what was read stays");
    assert_eq!(one.publish(&memory).unwrap().records, 1);
    assert_eq!(memory.files().len(), 2, "the segment of before is deleted");
    assert_eq!(two.read(&memory).unwrap().machines, [one.me.clone()]);

    memory.lose(&memory.names(".segment")[0]);
    assert_eq!(Site::new(3).read(&memory).unwrap().incomplete, [one.me.clone()]);
    assert_eq!(one.publish(&memory).unwrap().records, 1);
    assert_eq!(Site::new(3).read(&memory).unwrap().put, 1);
}

#[test]
fn a_machine_that_withdraws_all_says_so_even_if_its_manifest_was_lost() {
    let (memory, mut one, mut two) = pair();
    one.write("a", 1, "text");
    one.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    memory.lose(&one.manifest());
    one.own.clear();
    one.publish(&memory).unwrap();
    assert_eq!(two.read(&memory).unwrap().withdrawn, 1);
    assert_eq!(memory.names(".segment").len(), 0);
    let writes = memory.writes();
    one.publish(&memory).unwrap();
    Site::new(3).publish(&memory).unwrap();
    assert_eq!(memory.writes(), writes, "who has nothing writes nothing");
}

#[test]
fn a_removed_machine_leaves_nothing_but_what_others_have_read() {
    let (memory, mut one, mut two) = pair();
    for (number, site) in [&mut one, &mut two].into_iter().enumerate() {
        site.write("a", number as u64, "text");
        site.publish(&memory).unwrap();
    }
    two.read(&memory).unwrap();
    memory.plant(&format!(".{}.manifest.part", one.me.id), "half");
    assert_eq!(sync::remove_machine(&memory, &one.me.id).unwrap(), 3);
    assert_eq!(sync::remove_machine(&memory, &one.me.id).unwrap(), 0);
    assert!(matches!(sync::remove_machine(&memory, "../x"), Err(Error::Machine { .. })));
    assert!(memory.files().keys().all(|name| name.starts_with(&two.me.id)));
    assert_eq!(two.read(&memory).unwrap(), Default::default());
    assert_eq!(two.of(&one), one.own);
}

#[test]
fn who_is_there_is_known_before_anything_is_read() {
    let (memory, mut one, mut two) = pair();
    assert_eq!(sync::machines_at(&memory, one.key.as_ref()).unwrap(), []);
    for (number, site) in [&mut one, &mut two].into_iter().enumerate() {
        site.write("a", number as u64, "text");
        site.publish(&memory).unwrap();
    }
    let mut there = vec![one.me.clone(), two.me.clone()];
    there.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(sync::machines_at(&memory, one.key.as_ref()).unwrap(), there);
    // What cannot be read names nobody and hides nobody.
    memory.plant(&two.manifest(), "damaged");
    assert_eq!(sync::machines_at(&memory, one.key.as_ref()).unwrap(), [one.me.clone()]);
}

#[test]
fn a_generation_goes_up_with_each_manifest_that_is_read() {
    let (memory, mut one, mut two) = pair();
    assert_eq!(two.inbox.generation(&one.me.id), None);
    let mut seen = Vec::new();
    for version in 1..4 {
        one.write("a", version, "text");
        one.publish(&memory).unwrap();
        two.read(&memory).unwrap();
        two.read(&memory).unwrap();
        seen.push(two.inbox.generation(&one.me.id).unwrap());
    }
    assert_eq!(seen, [1, 2, 3]);
}

#[test]
fn a_failed_callback_undoes_nothing_and_says_what_failed() {
    let (memory, mut one, mut two) = pair();
    (0..5).for_each(|number| one.write(&number.to_string(), 1, "text"));
    one.publish(&memory).unwrap();
    let error = two.read_up_to(&memory, 3).unwrap_err();
    assert_eq!(error.to_string(), "could not take what machine 1 published: no more. Read again");
    assert_eq!(two.held[&one.me.id].len(), 3);
    // One that was taken is withdrawn before the machine was ever read to its end.
    one.own.remove(&record_id("0"));
    one.publish(&memory).unwrap();
    let taken = two.read(&memory).unwrap();
    assert_eq!((taken.put, taken.withdrawn), (4, 1));
    assert_eq!(two.of(&one), one.own);
}

#[test]
fn a_version_that_comes_back_after_a_failed_read_is_handed_over() {
    let (memory, mut one, mut two) = pair();
    one.write("a", 1, "first");
    one.write("b", 1, "first");
    one.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    one.write("a", 2, "second");
    one.write("b", 2, "second");
    one.publish(&memory).unwrap();
    two.read_up_to(&memory, 1).unwrap_err();
    one.write("a", 1, "first");
    one.write("b", 1, "first");
    one.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    assert_eq!(two.of(&one), one.own);
}

#[test]
fn a_record_that_is_wanted_again_is_handed_over_by_all_that_have_it_and_nothing_else_is() {
    let (memory, mut one, mut two) = pair();
    let mut three = Site::new(3);
    one.write("a", 1, "of one");
    one.write("b", 1, "of one");
    three.write("a", 1, "of three");
    one.publish(&memory).unwrap();
    three.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    let tells = |two: &Site, id| two.inbox.tells(&one.me.id, &record_id(id));
    assert_eq!((tells(&two, "a"), tells(&two, "unknown")), (Some(true), Some(false)));
    two.inbox.again(&record_id("a"));
    two.inbox.again(&record_id("unknown"));
    assert_eq!(tells(&two, "a"), None, "not read yet");
    assert_eq!(two.read(&memory).unwrap().put, 2);
    assert_eq!((two.of(&one), two.of(&three)), (one.own.clone(), three.own.clone()));
    assert_eq!(two.read(&memory).unwrap(), Default::default());
    // Withdrawn meanwhile.
    two.inbox.again(&record_id("a"));
    one.own.remove(&record_id("a"));
    one.publish(&memory).unwrap();
    let taken = two.read(&memory).unwrap();
    assert_eq!((taken.put, taken.withdrawn), (1, 1));
    assert_eq!(two.of(&one), one.own);
}

#[test]
fn line_breaks_in_a_body_do_not_break_lines() {
    let (memory, mut one, mut two) = pair();
    one.own.insert(record_id("a"), (1, Some("{\n  \"text\":\r\n\"x\\ny\"}".into())));
    one.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    let (_, body) = two.of(&one).remove(&record_id("a")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&body.unwrap()).unwrap()["text"], "x\ny");
}

#[test]
fn nothing_of_a_machine_is_taken_before_all_its_segments_are_there() {
    let (memory, mut one, mut two) = pair();
    one.write("old", 1, "text");
    one.publish(&memory).unwrap();
    two.read(&memory).unwrap();
    let before = two.of(&one);
    one.own.clear();
    // Two of them do not fit into one segment.
    ["a", "b"].iter().for_each(|id| one.write(id, 1, &id.repeat(3 << 20)));
    one.publish(&memory).unwrap();
    let whole = memory.files();
    for missing in memory.names(".segment") {
        memory.lose(&missing);
        let taken = two.read(&memory).unwrap();
        assert_eq!((taken.put, taken.withdrawn, taken.incomplete), (0, 0, vec![one.me.clone()]));
        assert_eq!(two.of(&one), before);
        memory.restore(whole.clone());
    }
    two.read(&memory).unwrap();
    assert_eq!(two.of(&one), one.own);
}
