//! What sessions left open: shown until a later session or the user says that it is done, or nobody has spoken of it for 30 days.

use std::fs;

use crate::hooks::payloads::{FOLDER, SHOP, numbers, patient, starts, talk, talk_with_tasks, told, write_talk};
use crate::support::{Ran, World, committed};

const A: &str = "aaaa0000-0000-4000-8000-000000000000";
const B: &str = "bbbb0000-0000-4000-8000-000000000000";
const NEW: &str = "cccc0000-0000-4000-8000-000000000000";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
/// What `left_open` leaves open, in the words of its session.
const EXPORT: &str = "Migrate the admin export of invoices to keyset pagination";
const INDEX: &str = "Drop the obsolete index orders_by_number from the database";

const SORTED: &str = "The order list is sorted now, because the index was there.";

/// A world where one session left two things open, and this many days later another one just talked.
fn left_open(days: usize) -> World {
    let world = World::new();
    patient(&world);
    let at = |day: usize| format!("2026-11-{:02}T10:00:00Z", 21 - day);
    let rows = talk_with_tasks(A, &at(days), "Sort the order list.", &[EXPORT, INDEX], SORTED);
    world.transcript(&format!("{FOLDER}/{A}.jsonl"), rows);
    write_talk(&world, B, &at(0), "Explain the rates of exchange.", "They are cached, because they change daily.");
    world.digest(&EXTRACT);
    world
}

fn context(world: &World) -> String {
    world.recall(["context", "--cwd", SHOP]).out
}

/// The ids of what is open, as the context shows them.
fn open(world: &World) -> Vec<String> {
    let all = numbers(world, SHOP, &[]);
    all["open_items_shown"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// The page of session A.
fn page(world: &World) -> String {
    world.pages().into_iter().find(|(name, _)| name.contains("aaaa0000")).expect("its page").1
}

fn close(world: &World, args: &[&str]) -> Ran {
    world.recall(["close"].iter().chain(args))
}

#[test]
fn what_is_open_is_shown_with_its_id_and_its_day_until_the_user_closes_it() {
    let world = left_open(2);
    let ids = open(&world);
    assert_eq!(ids.len(), 2);
    let text = told(&world, &starts(&world, NEW, "startup")).expect("notes");
    for (id, what) in ids.iter().zip([EXPORT, INDEX]) {
        assert!(text.contains(&format!("- {id} {what} (2026-11-19)\n")), "{text}");
    }
    assert!(page(&world).contains(EXPORT) && !page(&world).contains("[x]"), "{}", page(&world));

    let ran = close(&world, &[&ids[0]]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert_eq!(ran.out, format!("{} closed: {EXPORT}\n", ids[0]));
    assert_eq!(open(&world), ids[1..]);
    let text = told(&world, &starts(&world, NEW, "clear")).expect("notes");
    assert!(!text.contains(EXPORT) && text.contains(INDEX), "{text}");
}

#[test]
fn the_page_shows_at_once_what_was_closed_and_opened_again() {
    let world = left_open(2);
    let (before, ids) = (page(&world), open(&world));
    close(&world, &[&ids[0]]);
    let after = page(&world);
    let line = |page: &str| page.lines().find(|l| l.contains(EXPORT)).unwrap().to_owned();
    assert_ne!(line(&after), line(&before), "{after}");
    assert_eq!(after.lines().filter(|l| !before.contains(l)).count(), 1, "nothing else has changed: {after}");
    let day = world.pages().into_iter().find(|(name, _)| name.ends_with("/2026-11-19.md")).expect("the page of the day").1;
    assert_eq!(line(&day), line(&after));

    let ran = close(&world, &["--undo", &ids[0]]);
    assert_eq!((ran.code, ran.out), (0, format!("{} open again: {EXPORT}\n", ids[0])));
    assert_eq!((page(&world), open(&world)), (before, ids));
}

#[test]
fn closing_twice_is_said_and_changes_nothing() {
    let world = left_open(2);
    let ids = open(&world);
    close(&world, &[&ids[0]]);
    let pages = world.pages();
    let ran = close(&world, &[&ids[0]]);
    assert_eq!((ran.code, ran.out), (0, format!("{} was closed already: {EXPORT}\n", ids[0])));
    let ran = close(&world, &["--undo", &ids[1]]);
    assert_eq!((ran.code, ran.out), (0, format!("{} was not closed by you: {INDEX}\n", ids[1])));
    assert_eq!((world.pages(), open(&world)), (pages, ids[1..].to_vec()));
}

#[test]
fn several_can_be_closed_by_the_starts_of_their_ids() {
    let world = left_open(2);
    let ids = open(&world);
    let ran = close(&world, &[&ids[0][..6], &ids[1][..6]]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 2), "{ran:#?}");
    assert!(open(&world).is_empty() && !context(&world).contains("Still open"), "{}", context(&world));
}

#[test]
fn an_id_that_is_none_changes_nothing() {
    let world = left_open(2);
    let ids = open(&world);
    let before = (world.exported(), world.pages());
    for wrong in ["n0000000", "n", "", &A[..8], "%", "n___", "nothing-of-the-kind", &format!("{}0", ids[0])] {
        for args in [vec![wrong], vec![ids[0].as_str(), wrong], vec!["--undo", wrong]] {
            let ran = close(&world, &args);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:#?}");
            assert!(ran.err.starts_with("recall: ") && ran.err.contains(&format!("`{wrong}`")), "{args:?}: {ran:#?}");
        }
    }
    assert_eq!((world.exported(), world.pages()), before);
    let nowhere = World::new();
    let ran = close(&nowhere, &["n0000000"]);
    assert!(ran.code == 2 && ran.err.contains("run `recall digest` first"), "{ran:#?}");
    assert!(!nowhere.data_dir().exists(), "asking made nothing");
}

#[test]
fn an_id_that_fits_several_changes_nothing() {
    let world = World::new();
    for n in 0..40 {
        let id = format!("{n:08}-0000-4000-8000-000000000000");
        let steps: Vec<String> = (0..6).map(|s| format!("Look at file{n}x{s}.rs and table{n}x{s} of database{n}x{s}")).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        world.transcript(
            &format!("{FOLDER}/{id}.jsonl"),
            talk_with_tasks(&id, "2026-11-20T10:00:00Z", "Go through it all, please.", &steps, SORTED),
        );
    }
    world.digest(&EXTRACT);
    let sql = "SELECT substr(id, 1, 4) FROM open_item GROUP BY 1 HAVING count(*) > 1 LIMIT 1";
    let shared: String = world.database().query_row(sql, [], |r| r.get(0)).expect("among so many, two begin alike");
    let ran = close(&world, &[&shared]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:#?}");
    assert!(ran.err.contains("fits more than one open item"), "{ran:#?}");
    assert_eq!(world.count("SELECT count(*) FROM user_closed"), 0);
}

#[test]
fn a_later_session_closes_what_it_did() {
    let world = left_open(2);
    let ids = open(&world);
    let subject = "Migrate the admin export of invoices to keyset pagination";
    let commit = committed(NEW, "cccc0000-0000-4000-8000-00000000001", "2026-11-21T10:40:00Z", subject);
    let rows =
        talk(NEW, "2026-11-21T10:30:00Z", "Do the export.", "The admin export of invoices is migrated to keyset pagination now.");
    world.transcript(&format!("{FOLDER}/{NEW}.jsonl"), rows + &commit);
    world.digest(&EXTRACT);
    assert_eq!(open(&world), ids[1..], "{}", context(&world));
    assert!(!context(&world).contains(&ids[0]), "{}", context(&world));
    // The user has no word in that: it is not theirs to take back.
    assert!(close(&world, &["--undo", &ids[0]]).out.contains("was not closed by you"));
}

/// What a session starts with at this time.
fn context_at(world: &World, now: &str) -> String {
    world.recall_with(["context", "--cwd", SHOP], &[("RECALL_NOW", now)]).out
}

#[test]
fn after_thirty_days_without_a_word_nobody_is_asked_any_more_and_that_is_said() {
    // They were left open on 19 November at 11:00, and B only talked two days later.
    let world = left_open(2);
    let ids = open(&world);
    let day_before = context_at(&world, "2026-12-18T12:00:00Z");
    assert!(day_before.contains(&format!("- {} {EXPORT} (2026-11-19)\n", ids[0])) && !day_before.contains("older"), "{day_before}");
    let after = context_at(&world, "2026-12-19T12:00:00Z");
    assert!(after.contains("\n2 older open items: `recall close` lists them\n"), "{after}");
    assert!(!after.contains(&ids[0]) && !after.contains("Still open"), "{after}");
    assert!(after.contains("aaaa0000"), "the session itself is still known: {after}");
    assert!(page(&world).contains(EXPORT), "and so is what it left open");
    assert_eq!(close(&world, &[&ids[1]]).code, 0);
    let one = context_at(&world, "2026-12-19T12:00:00Z");
    assert!(one.contains("\n1 older open item: `recall close` lists it\n"), "{one}");
    // The same where it was the last session of all.
    fs::remove_dir_all(world.data_dir()).unwrap();
    fs::remove_file(crate::hooks::payloads::transcript(&world, B)).unwrap();
    world.digest(&EXTRACT);
    let last = context_at(&world, "2026-12-19T12:00:00Z");
    assert!(last.contains("## Last session") && !last.contains("not ticked off") && last.contains("2 older open items"), "{last}");
}

#[test]
fn close_without_ids_lists_what_is_open_in_the_project_of_the_folder_however_old() {
    let world = World::new();
    let shop = world.root().join("shop");
    fs::create_dir_all(&shop).expect("a project");
    let rows = talk_with_tasks(A, "2026-09-01T10:00:00Z", "Sort the order list.", &[EXPORT, INDEX], SORTED);
    world.transcript(&format!("{FOLDER}/{A}.jsonl"), rows.replace(SHOP, shop.to_str().expect("UTF-8")));
    let again = talk_with_tasks(NEW, "2026-10-01T10:00:00Z", "And the stock list.", &[INDEX], SORTED);
    world.transcript(&format!("{FOLDER}/{NEW}.jsonl"), again.replace(SHOP, shop.to_str().expect("UTF-8")));
    write_talk(&world, B, "2026-11-20T10:00:00Z", "Explain the rates of exchange.", "They are cached, because they change daily.");
    world.digest(&EXTRACT);
    let todo = world.recall(["remember", "--project", shop.to_str().expect("UTF-8"), "--kind", "todo", "Order a crane."]);
    assert_eq!(todo.code, 0, "{todo:#?}");
    let listed = || {
        let ran = Ran::of(world.command().arg("close").current_dir(&shop).output().expect("recall starts"));
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran
    };
    let told = listed().out;
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    assert!(lines[0].ends_with("  2026-11-21  todo: Order a crane."), "{told}");
    assert!(lines[1].ends_with(&format!("  2026-09-01  next: {INDEX} (last said 2026-10-01)")), "{told}");
    assert!(lines[2].ends_with(&format!("  2026-09-01  next: {EXPORT}")), "{told}");
    let ids: Vec<&str> = lines.iter().map(|line| line.split(' ').next().expect("an id")).collect();
    assert_eq!(close(&world, &ids).code, 0);
    let ran = listed();
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", "recall: nothing is open in the project of this folder\n"));
    assert_eq!(close(&world, &["--undo"]).code, 2, "what shall be open again has to be named");
}

#[test]
fn what_the_user_closed_stays_closed_when_the_digest_is_made_anew() {
    let world = left_open(2);
    let ids = open(&world);
    close(&world, &[&ids[0]]);
    let page_before = page(&world);
    let ran = world.recall(["digest", "--session", A, "--summarizer", "extract"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!((open(&world), page(&world)), (ids[1..].to_vec(), page_before));

    // The session goes on and says the same in other words: another id, the same thing.
    let again = ["Migrate the invoices' admin export to pagination by keyset"];
    let rows = fs::read_to_string(crate::hooks::payloads::transcript(&world, A)).unwrap()
        + &crate::hooks::payloads::tasks_turn(A, 2, "2026-11-21T11:00:00Z", "What is left?", &again, "The export still waits.");
    fs::write(crate::hooks::payloads::transcript(&world, A), rows).unwrap();
    world.age_transcripts();
    assert_eq!(world.digest(&EXTRACT)["sessions_digested"], 1);
    let text = context(&world);
    assert!(!text.contains("by keyset") && !text.contains("Open:"), "{text}");
    assert!(text.contains(&format!("Since then: closed by the user, 2026-11-21: {EXPORT}\n")), "{text}");
}

#[test]
fn closings_move_to_another_machine_with_the_rest() {
    let world = left_open(2);
    let ids = open(&world);
    close(&world, &[&ids[0]]);
    let text = world.recall(["export"]).out;
    let target = World::new();
    fs::write(target.root().join("memory.jsonl"), &text).unwrap();
    assert_eq!(target.recall(["import", "memory.jsonl"]).code, 0);
    assert_eq!(target.recall(["digest", "--rebuild-pages"]).code, 0);
    assert_eq!((open(&target), page(&target)), (ids[1..].to_vec(), page(&world)));
    assert_eq!(target.recall(["export"]).out, text);
    // There it can be taken back.
    assert_eq!(close(&target, &["--undo", &ids[0]]).code, 0);
    assert_eq!(open(&target), ids);
}

#[test]
fn a_commit_that_names_an_item_closes_it_whoever_digests() {
    for summarizer in ["extract", "claude"] {
        let world = left_open(2);
        let ids = open(&world);
        let form = serde_json::json!({"title": "Invoices", "request": "Do it", "completed": [{"text": "All done", "rows": [1]}]});
        let reply = serde_json::json!({"is_error": false, "total_cost_usd": 0.001, "result": form.to_string()});
        fs::write(world.root().join("answer"), reply.to_string()).expect("an answer");
        world.fake_claude("#!/bin/sh\ncat >/dev/null\ncat \"$RECALL_DATA_DIR/../answer\"\n");
        let subject = format!("Invoices by key, all done ({})", ids[0]);
        let rows = talk(NEW, "2026-11-21T11:00:00Z", "Do it, all done.", "All done.")
            + &committed(NEW, "k", "2026-11-21T11:05:00Z", &subject);
        world.transcript(&format!("{FOLDER}/{NEW}.jsonl"), rows);
        world.age_transcripts();
        world.digest(&["--summarizer", summarizer, "--session", NEW]);
        assert_eq!(open(&world), ids[1..], "{summarizer}");
        assert!(
            page(&world).contains(&format!("~~{EXPORT}~~ (done, in session cccc0000, 2026-11-21) `{}`", ids[0])),
            "{summarizer}: {}",
            page(&world)
        );
    }
}

#[test]
fn as_data_a_session_leaves_open_what_its_brief_does() {
    let world = left_open(2);
    let ids = open(&world);
    let shown = || -> serde_json::Value { serde_json::from_str(&world.recall(["show", "--json", A]).out).expect("JSON") };
    let tasks = |shown: &serde_json::Value| shown["account"]["open"].to_string();
    assert!(tasks(&shown()).contains(EXPORT) && tasks(&shown()).contains(INDEX));
    close(&world, &[&ids[0]]);
    let after = shown();
    assert!(!tasks(&after).contains(EXPORT) && tasks(&after).contains(INDEX), "{after:#}");
    assert!(after["open_items"][0]["closed"].is_object(), "{after:#}");
    close(&world, &["--undo", &ids[0]]);
    assert!(tasks(&shown()).contains(EXPORT));
}

#[test]
fn a_prompt_that_names_a_ticket_or_an_identifier_of_an_open_item_hears_of_it_once() {
    use crate::hooks::prompt::{heard, says};
    let world = World::new();
    patient(&world);
    let open = ["ENT-228: rotate the key of the gateway", "Drop `orders_by_number` from the database"];
    let rows = talk_with_tasks(A, "2026-11-20T10:00:00Z", "Sort the order list.", &open, SORTED);
    world.transcript(&format!("{FOLDER}/{A}.jsonl"), rows);
    world.digest(&EXTRACT);
    let said = heard(&world, &says(&world, NEW, "ENT-228")).expect("a notice");
    assert!(said.contains("Open since earlier sessions") && said.contains("ENT-228: rotate the key of the gateway"), "{said}");
    assert!(!said.contains("orders_by_number") && said.contains("recall close"), "{said}");
    assert_eq!(heard(&world, &says(&world, NEW, "now do ENT-228 please")), None, "it was said already");
    let other = heard(&world, &says(&world, NEW, "is orders_by_number used?")).expect("a notice");
    assert!(other.contains("Drop `orders_by_number`"), "{other}");
    for silent in ["ENT-22", "rotate", "orders_by", "what about ENT-2280"] {
        assert_eq!(heard(&world, &says(&world, B, silent)), None, "{silent}");
    }
    let id = said.split('[').nth(1).and_then(|rest| rest.split(']').next()).expect("its id");
    assert_eq!(close(&world, &[id]).code, 0);
    assert_eq!(heard(&world, &says(&world, B, "ENT-228 again")), None, "it is closed");
}
