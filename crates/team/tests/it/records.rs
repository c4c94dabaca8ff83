//! Versions, deletion, the order of changes, search.

use crate::server::{BANK, SHOP, TEAM, patient, server};
use crate::{gone, note, pulled, refused};
use std::time::{Duration, Instant};
use team::{Access, CheckIn, Client, Pushed};

const BOTH: Access = Access::ReadWrite;

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn two_machines_under_one_name_are_noticed_and_both_are_told() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, Access::ReadWrite)]), ("ben", &[(SHOP, Access::ReadWrite)])]);
    let (mut one, mut copy, mut ben) = (server.client("anna"), server.client("anna"), server.client("ben"));
    let says = |client: &mut Client, last: Option<&str>, next: &str| client.check_in(last, next).unwrap();
    assert_eq!(says(&mut one, None, "1"), CheckIn::Alone);
    assert_eq!(says(&mut one, None, "1"), CheckIn::Alone, "an answer that was lost");
    assert_eq!(says(&mut ben, None, "b"), CheckIn::Alone, "of another member");
    assert_eq!(says(&mut one, Some("1"), "2"), CheckIn::Alone);
    for last in [Some("1"), None] {
        assert_eq!(says(&mut copy, last, "2b"), CheckIn::Taken);
    }
    assert_eq!(says(&mut one, Some("2"), "3"), CheckIn::Doubled);
    assert_eq!(says(&mut one, Some("2"), "3"), CheckIn::Doubled, "an answer that was lost");
    assert_eq!(says(&mut one, Some("3"), "4"), CheckIn::Alone, "it is told once");
    for sql in ["SELECT FROM recall_team.machine", "UPDATE recall_team.machine SET token = 'x'"] {
        assert!(server.sql("ben", "team", sql).expect_err(sql).contains("permission denied"));
    }
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn a_record_is_found_by_what_people_type_of_its_id() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, Access::ReadWrite)])]);
    let mut anna = server.client("anna");
    anna.push(&[
        note(SHOP, "0708a5fa-1c", 1, "a"),
        note(SHOP, "0708b", 1, "b"),
        note(SHOP, "ses_00000000abcdefgh", 1, "c"),
        note(SHOP, "07%", 1, "d"),
    ])
    .unwrap();
    anna.withdraw(&[gone(SHOP, "0708b", 1)]).unwrap();
    for (typed, found) in [
        ("0708a5fa", &["0708a5fa-1c"][..]),
        ("0708", &["0708a5fa-1c"]),
        ("0708a5fa-1c", &["0708a5fa-1c"]),
        ("abcdefgh", &["ses_00000000abcdefgh"]),
        ("bcdefgh", &[]),
        ("07%", &["07%"]),
        ("07_8a5fa", &[]),
        ("", &[]),
    ] {
        let hits = anna.named(&[SHOP, "example.com/acme/none"], typed, 9, Instant::now() + Duration::from_secs(60)).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.record.id.as_str()).collect::<Vec<_>>(), found, "{typed}");
    }
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn an_older_version_never_overwrites_a_newer_one() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, BOTH)])]);
    let mut anna = server.client("anna");
    let stored = |n| Pushed { stored: n, ..Pushed::default() };
    let unchanged = |n| Pushed { unchanged: n, ..Pushed::default() };
    let now = |version, text: Option<&str>| vec![("a".to_owned(), version, text.map(str::to_owned))];

    assert_eq!(anna.push(&[note(SHOP, "a", 2, "two")]).unwrap(), stored(1));
    let seq = anna.pull(SHOP, 0, 9).unwrap().after;
    assert_eq!(anna.push(&[note(SHOP, "a", 2, "two again")]).unwrap(), unchanged(1));
    assert_eq!(anna.push(&[note(SHOP, "a", 1, "one")]).unwrap(), unchanged(1));
    assert_eq!(anna.withdraw(&[gone(SHOP, "a", 1)]).unwrap(), unchanged(1));
    assert_eq!(pulled(&mut anna, SHOP), now(2, Some("two")));
    assert_eq!(anna.pull(SHOP, 0, 9).unwrap().after, seq, "what changes nothing has no number");

    // One batch with several versions: the highest counts, whatever their order.
    let several = [note(SHOP, "a", 3, "three"), note(SHOP, "a", 5, "five"), note(SHOP, "a", 4, "four")];
    assert_eq!(anna.push(&several).unwrap(), Pushed { stored: 1, unchanged: 2, ..Pushed::default() });
    assert_eq!(pulled(&mut anna, SHOP), now(5, Some("five")));

    // Withdrawn at its version; only a higher one brings it back.
    assert_eq!(anna.withdraw(&[gone(SHOP, "a", 5)]).unwrap(), stored(1));
    assert_eq!(anna.withdraw(&[gone(SHOP, "a", 5)]).unwrap(), unchanged(1));
    assert_eq!(anna.push(&[note(SHOP, "a", 5, "five")]).unwrap(), unchanged(1));
    assert_eq!(pulled(&mut anna, SHOP), now(5, None));
    assert_eq!(anna.push(&[note(SHOP, "a", 6, "six")]).unwrap(), stored(1));
    assert_eq!(pulled(&mut anna, SHOP), now(6, Some("six")));

    // A push that comes after the withdrawal that overtook it.
    assert_eq!(anna.withdraw(&[gone(SHOP, "b", 3)]).unwrap(), stored(1));
    assert_eq!(anna.push(&[note(SHOP, "b", 3, "late")]).unwrap(), unchanged(1));
    assert_eq!(pulled(&mut anna, SHOP)[1], ("b".to_owned(), 3, None));
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn a_withdrawn_body_is_in_no_table() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, BOTH), (BANK, BOTH)])]);
    let mut anna = server.client("anna");
    anna.push(&[note(SHOP, "a", 1, "parsnips"), note(BANK, "b", 1, "parsnips")]).unwrap();
    assert_eq!(server.admin("SELECT FROM recall_team.record WHERE body::text LIKE '%parsnips%'").len(), 2);
    anna.withdraw(&[gone(SHOP, "a", 1), gone(BANK, "b", 1)]).unwrap();
    server.assert_no_table_holds("parsnips");
    // A newer version does away with the older one.
    anna.push(&[note(SHOP, "c", 1, "parsnips")]).unwrap();
    anna.push(&[note(SHOP, "c", 2, "carrots")]).unwrap();
    server.assert_no_table_holds("parsnips");
    assert_eq!(server.admin("SELECT id FROM recall_team.record WHERE deleted ORDER BY id"), [["a"], ["b"]]);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn a_reader_misses_nothing_that_is_committed_late() {
    let Some(server) = server() else { return };
    let both: &[(&str, Access)] = &[(SHOP, BOTH), (BANK, BOTH)];
    let _team = server.team(&[("anna", both), ("ben", both)]);
    server.client("anna");
    let mut reader = server.client("ben");
    let slow = server.session("anna");
    slow.run(
        "BEGIN; INSERT INTO recall_team.record (team, project, author, kind, id, version, deleted, body, search)
        VALUES (1, 1, 'slow', 'note', 'slow', 1, false, '{\"text\": \"slow\"}', 'slow')",
    )
    .unwrap();
    let mut fast = server.client("ben");
    let pushing = std::thread::spawn(move || fast.push(&[note(SHOP, "fast", 1, "fast")]));
    // Other projects do not wait.
    assert_eq!(reader.push(&[note(BANK, "b", 1, "b")]).unwrap().stored, 1);
    server.wait_for_lock();
    let mut seen = Vec::new();
    let mut after = 0;
    let mut read = |seen: &mut Vec<String>| {
        let page = reader.pull(SHOP, after, 1).unwrap();
        after = page.after;
        seen.extend(page.records.into_iter().map(|record| record.id));
    };
    read(&mut seen);
    slow.run("COMMIT").unwrap();
    read(&mut seen);
    pushing.join().unwrap().unwrap();
    read(&mut seen);
    read(&mut seen);
    assert_eq!(seen, ["slow", "fast"]);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn pages_are_in_order_and_whole() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, BOTH)])]);
    let mut anna = server.client("anna");
    let notes: Vec<_> = (0..1203).map(|i| note(SHOP, &format!("{i:04}"), 1, &format!("note {i}"))).collect();
    assert_eq!(anna.push(&notes).unwrap(), Pushed { stored: 1203, ..Pushed::default() });
    let mut after = 0;
    let mut ids = Vec::new();
    loop {
        let page = anna.pull(SHOP, after, 100).unwrap();
        assert!(page.records.windows(2).all(|pair| pair[0].seq < pair[1].seq));
        assert!(page.records.iter().all(|record| record.login.as_deref() == Some("anna") && record.machine == "desk"));
        after = page.after;
        ids.extend(page.records.into_iter().map(|record| record.id));
        if !page.more {
            break;
        }
    }
    let expected: Vec<_> = notes.iter().map(|note| note.id.id.clone()).collect();
    assert_eq!(ids, expected);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn one_record_that_the_server_refuses_does_not_keep_others() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, BOTH)])]);
    server.admin("ALTER TABLE recall_team.record ADD CONSTRAINT taste CHECK (id <> '77')");
    let mut anna = server.client("anna");
    let mut notes: Vec<_> = (0..200).map(|i| note(SHOP, &i.to_string(), 1, "text")).collect();
    notes.push(note(SHOP, "nul", 1, "a\0b"));
    notes.push(note("example.com/none", "unknown", 1, "text"));
    let pushed = anna.push(&notes).unwrap();
    assert_eq!((pushed.stored, pushed.unchanged), (199, 0));
    assert_eq!(refused(&pushed), ["nul", "unknown", "77"]);
    assert!(pushed.refused[2].1.contains("taste"), "{:?}", pushed.refused[2]);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn words_are_found_and_so_are_words_that_are_mistyped() {
    let Some(server) = server() else { return };
    let mut team = server.team(&[("anna", &[(SHOP, BOTH), (BANK, BOTH)]), ("ben", &[(SHOP, BOTH)])]);
    let mut anna = server.client("anna");
    let printed = note(SHOP, "b", 1, "Invoices are printed at night; the table is sorted");
    anna.push(&[
        note(SHOP, "a", 1, "The migration locks the table of invoices"),
        printed.clone(),
        note(BANK, "c", 1, "A migration of invoices"),
    ])
    .unwrap();
    let found = |client: &mut Client, words: &str, limit| -> Vec<(String, bool)> {
        let found = client.search(&[SHOP, BANK], words, limit).unwrap();
        assert!(found.complete);
        found.hits.into_iter().map(|hit| (hit.record.id, hit.similar)).collect()
    };
    let mut ben = server.client("ben");
    assert_eq!(found(&mut ben, "migration invoices", 1), [("a".to_owned(), false)]);
    assert_eq!(found(&mut ben, "migratoin", 9), [("a".to_owned(), true)]);
    assert_eq!(found(&mut ben, "TABLE", 1).len(), 1);
    for words in ["zeppelin", "", " ", "'); DROP TABLE x; -- \\ %_ & | ! <->"] {
        assert_eq!(found(&mut ben, words, 9), [], "{words}");
    }
    let mut ids: Vec<_> = found(&mut anna, "migration", 9).into_iter().map(|(id, _)| id).collect();
    ids.sort();
    assert_eq!(ids, ["a", "c"]);
    anna.withdraw(&[gone(SHOP, "a", 1)]).unwrap();
    assert_eq!(found(&mut ben, "migration", 9), []);
    let hits = anna.search(&[SHOP], "invoices", 9).unwrap().hits;
    assert_eq!((hits.len(), hits[0].project.as_str(), &hits[0].record.body), (1, SHOP, &Some(printed.body)));
    team.set_access(TEAM, "ben", SHOP, Access::None).unwrap();
    assert_eq!(found(&mut ben, "invoices", 9), []);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn a_member_lists_and_withdraws_what_they_share_from_any_machine_and_nobody_else_s() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, BOTH)]), ("ben", &[(SHOP, BOTH)])]);
    let (mut anna, mut ben) = (server.client("anna"), server.client("ben"));
    anna.push(&[note(SHOP, "a", 1, "parsnips"), note(SHOP, "b", 1, "leeks")]).unwrap();
    ben.push(&[note(SHOP, "c", 1, "carrots")]).unwrap();
    let mut later = Client::join(&server.address("anna", "team"), "another machine", patient()).unwrap();
    later.push(&[note(SHOP, "a", 7, "parsnips")]).unwrap();
    let owned = later.owned(&["title", "text"]).unwrap();
    let told: Vec<_> = owned.iter().map(|one| (one.machine == "another machine", one.id.as_str(), one.title.as_deref())).collect();
    assert_eq!(told.len(), 3, "{owned:?}");
    for one in [(true, "a", Some("parsnips")), (false, "a", Some("parsnips")), (false, "b", Some("leeks"))] {
        assert!(told.contains(&one), "{one:?}: {told:?}");
    }
    let first = owned.iter().find(|one| one.machine != "another machine" && one.id == "a").unwrap();
    assert_eq!(later.withdraw_of(&first.machine, &[gone(SHOP, "a", first.version)]).unwrap().stored, 1);
    assert_eq!(later.owned(&[]).unwrap().len(), 2);
    // Ben's own is under another member, whatever the machine is called.
    let of_ben = ben.owned(&[]).unwrap();
    later.withdraw_of(&of_ben[0].machine, &[gone(SHOP, "c", 1)]).unwrap();
    assert_eq!(ben.owned(&[]).unwrap(), of_ben);
}
