//! The life of an open item over five sessions of a project: one session leaves it open, the next says it again, one works on something
//! else, one closes it, and the last is told of it nowhere as open.

use crate::hooks::payloads::{FOLDER, SHOP, numbers, patient, starts, talk, talk_with_tasks, told};
use crate::support::{World, committed};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
const EXPORT: &str = "Migrate the admin export of invoices to keyset pagination";
const AGAIN: &str = "Migrate the invoices' admin export to pagination by keyset";

/// The id of the `n`th session.
fn id(n: usize) -> String {
    format!("{n}{n}{n}{n}0000-0000-4000-8000-000000000000")
}

/// The `n`th session began on this day.
fn at(n: usize) -> String {
    format!("2026-11-{:02}T10:00:00Z", 14 + n)
}

/// The first three sessions; the third one talks of something else.
fn rows(n: usize) -> String {
    match n {
        1 => talk_with_tasks(&id(1), &at(1), "Sort the order list.", &[EXPORT], "It is sorted. The export still waits."),
        2 => talk_with_tasks(&id(2), &at(2), "Page the order list.", &[AGAIN], "The order list is paged, the export still waits."),
        _ => talk(&id(3), &at(3), "Explain the rates of exchange.", "They are cached, because they change daily."),
    }
}

fn put(world: &World, n: usize, rows: &str) {
    world.transcript(&format!("{FOLDER}/{}.jsonl", id(n)), rows);
}

/// A world where sessions came and were digested one after the other, in this order.
fn digested(order: &[usize]) -> World {
    let world = World::new();
    patient(&world);
    for n in order {
        put(&world, *n, &rows(*n));
        world.digest(&EXTRACT);
    }
    world
}

/// The ids of what is open, as a session's start shows them.
fn open(world: &World) -> Vec<String> {
    let all = numbers(world, SHOP, &[]);
    all["open_items_shown"].as_array().expect("ids").iter().map(|id| id.as_str().expect("an id").to_owned()).collect()
}

fn start(world: &World) -> String {
    told(world, &starts(world, &id(5), "startup")).expect("notes")
}

fn page(world: &World, n: usize) -> String {
    world.pages().into_iter().find(|(name, _)| name.contains(&id(n)[..8])).expect("its page").1
}

#[test]
fn what_a_later_session_says_again_keeps_its_id_and_its_first_day_and_is_told_once() {
    let world = digested(&[1]);
    let first = open(&world);
    assert_eq!(first.len(), 1);
    let world = digested(&[1, 2]);
    assert_eq!(open(&world), first);
    let text = start(&world);
    assert!(text.contains(&format!("- {} not ticked off in the list since 2026-11-15: {AGAIN}\n", first[0])), "{text}");
    assert_eq!(text.matches(&first[0]).count(), 1, "{text}");
    assert!(!text.contains(EXPORT), "told once: {text}");
    for n in [1, 2] {
        assert!(page(&world, n).contains(&format!("`{}`", first[0])), "{}", page(&world, n));
        assert_eq!(world.recall(["show", &id(n)]).out.matches(&first[0]).count(), 1);
    }
}

#[test]
fn it_is_still_told_with_its_first_day_where_a_session_worked_on_something_else() {
    let world = digested(&[1, 2, 3]);
    let first = open(&digested(&[1]));
    assert_eq!(open(&world), first);
    let text = start(&world);
    assert!(text.contains(&format!("- {} {AGAIN} (since 2026-11-15)\n", first[0])), "{text}");
}

#[test]
fn its_id_is_the_same_whatever_order_the_sessions_were_digested_in() {
    let lives = |world: &World| {
        let db = world.database();
        let mut query = db.prepare("SELECT id, life FROM open_item ORDER BY id").expect("open items");
        let rows = query.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).expect("open items");
        rows.collect::<rusqlite::Result<Vec<(String, String)>>>().expect("a life each")
    };
    let whole = World::new();
    (1..=3).for_each(|n| put(&whole, n, &rows(n)));
    whole.digest(&EXTRACT);
    let expected = lives(&whole);
    assert_eq!(expected.len(), 2);
    assert_eq!(expected[0].1, expected[1].1);
    for order in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
        let world = digested(&order);
        assert_eq!(lives(&world), expected, "{order:?}");
        assert_eq!(world.pages(), whole.pages(), "{order:?}");
    }
}

#[test]
fn closed_by_any_of_its_ids_it_is_closed_in_all_sessions() {
    let world = digested(&[1, 2, 3]);
    let first = open(&world).remove(0);
    let own: String = world
        .database()
        .query_row("SELECT id FROM open_item WHERE id <> life", [], |r| r.get(0))
        .expect("the second session's own");
    let ran = world.recall(["close", &own]);
    assert_eq!((ran.code, ran.out), (0, format!("{first} closed: {AGAIN}\n")));
    assert_eq!(world.recall(["close", &first]).out, format!("{first} was closed already: {AGAIN}\n"));
    assert!(open(&world).is_empty(), "{}", start(&world));
    for n in [1, 2] {
        assert!(page(&world, n).contains(&format!("~~ (done, by the user, 2026-11-21) `{first}`")), "{}", page(&world, n));
    }
    assert_eq!(world.recall(["close", "--undo", &own]).code, 0);
    assert_eq!(open(&world), [first]);
}

#[test]
fn a_commit_that_names_it_closes_it_however_many_sessions_lie_between_and_whichever_came_in_first() {
    let expected = open(&digested(&[1]));
    let commit = |n: usize| {
        talk(&id(n), &at(4), "Do the export.", "The export is done.")
            + &committed(&id(n), "k", "2026-11-18T10:05:00Z", &format!("Page invoices by key ({})", expected[0]))
    };
    let others = |world: &World| {
        for n in 5..9 {
            put(
                world,
                n,
                &talk(&id(n), &format!("2026-11-17T1{n}:00:00Z"), "Explain the rates of exchange.", &format!("Rate {n}.")),
            );
        }
    };
    for late in [false, true] {
        let world = digested(if late { &[] } else { &[1, 2] });
        others(&world);
        put(&world, 4, &commit(4));
        world.digest(&EXTRACT);
        if late {
            (1..3).for_each(|n| put(&world, n, &rows(n)));
            world.digest(&EXTRACT);
        }
        let text = start(&world);
        assert!(open(&world).is_empty() && !text.contains(&format!("- {}", expected[0])), "late: {late}: {text}");
        for n in [1, 2] {
            assert!(page(&world, n).contains("~~ (done, in session 44440000, 2026-11-18) "), "late: {late}: {}", page(&world, n));
        }
    }
}

#[test]
fn what_is_said_again_after_it_was_closed_is_open_anew_under_another_id() {
    let world = digested(&[1]);
    let first = open(&world).remove(0);
    assert_eq!(world.recall(["close", &first]).code, 0);
    let after = "2026-11-22T10:00:00Z";
    put(&world, 2, &talk_with_tasks(&id(2), after, "Page the order list.", &[AGAIN], "The export waits again."));
    world.digest(&EXTRACT);
    let again = open(&world);
    assert!(again.len() == 1 && again[0] != first, "{again:?}: {}", start(&world));
}

#[test]
fn a_forgotten_first_session_leaves_the_rest_of_the_life_open_under_one_id() {
    let world = digested(&[1, 2, 3]);
    let ran = world.recall(["forget", "--yes", "--session", &id(1)]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    world.digest(&EXTRACT);
    let left = open(&world);
    assert_eq!(left.len(), 1);
    let text = start(&world);
    assert!(text.contains(&format!("- {} {AGAIN} (2026-11-16)\n", left[0])), "{text}");
}

#[test]
fn what_was_closed_stays_closed_where_its_first_session_is_forgotten() {
    let world = digested(&[1, 2, 3]);
    assert_eq!(world.recall(["close", &open(&world)[0]]).code, 0);
    assert_eq!(world.recall(["forget", "--yes", "--session", &id(1)]).code, 0);
    world.digest(&EXTRACT);
    assert!(open(&world).is_empty() && page(&world, 2).contains("~~ (done, by the user, 2026-11-21) "), "{}", page(&world, 2));
    assert_eq!(world.count(&format!("SELECT count(*) FROM user_closed WHERE text = '{EXPORT}'")), 0, "its words are forgotten");
}

#[test]
fn after_it_was_closed_a_start_tells_it_nowhere_as_open_and_says_so_above_what_still_says_it() {
    for by_commit in [false, true] {
        let world = digested(&[1, 2, 3]);
        // Its list does not hold it, its reply does.
        let reply = format!("Sorted. Still to do: {}.", EXPORT.to_lowercase());
        put(&world, 6, &talk(&id(6), "2026-11-17T12:00:00Z", "Sort the stock list.", &reply));
        world.digest(&EXTRACT);
        let first = open(&world).remove(0);
        let who = if by_commit {
            let subject = format!("Page invoices by key ({first})");
            let rows = talk(&id(4), &at(4), "Do it.", "Done.") + &committed(&id(4), "k", "2026-11-18T10:05:00Z", &subject);
            put(&world, 4, &rows);
            world.digest(&EXTRACT);
            "closed in session 44440000, 2026-11-18"
        } else {
            assert_eq!(world.recall(["close", &first]).code, 0);
            "closed by the user, 2026-11-21"
        };
        let text = start(&world);
        assert!(open(&world).is_empty() && !text.contains("not ticked off") && !text.contains("Still open"), "{text}");
        let words = if by_commit { EXPORT } else { AGAIN };
        for told in [text, world.recall(["show", &id(6)]).out, world.recall(["timeline", &id(6)]).out] {
            let (closed, said) =
                (told.to_lowercase().find(&format!("since then: {who}: {}", words.to_lowercase())), told.find("Still to do"));
            assert!(closed.is_some_and(|closed| said.is_none_or(|said| closed < said)), "{who}: {told}");
        }
        let shown = world.recall(["show", &id(1)]).out;
        assert!(shown.contains(&format!("\nsince then: {who}: {words}\n")) && !shown.contains("not ticked off"), "{shown}");
    }
}

#[test]
fn what_was_said_again_is_as_old_as_its_last_mention_and_told_however_many_sessions_worked_on_something_else() {
    let world = digested(&[1, 2]);
    let first = open(&world).remove(0);
    for n in 3..9 {
        for part in ["a", "b", "c"] {
            let id = format!("{n}{part}000000-0000-4000-8000-000000000000");
            let rows = talk(&id, &format!("2026-11-2{n}T10:00:00Z"), "Explain the rates.", &format!("Rate {n}{part} is cached."));
            world.transcript(&format!("{FOLDER}/{id}.jsonl"), rows);
        }
    }
    world.digest(&EXTRACT);
    let at = |now: &str| world.recall_with(["context", "--cwd", SHOP], &[("RECALL_NOW", now)]).out;
    assert!(
        at("2026-12-16T09:00:00Z").contains(&format!("- {first} {AGAIN} (since 2026-11-15)\n")),
        "{}",
        at("2026-12-16T09:00:00Z")
    );
    assert!(at("2026-12-16T11:00:00Z").contains("1 older open item: "), "{}", at("2026-12-16T11:00:00Z"));
}

/// What a session would start with, however often it is asked.
fn context(world: &World) -> String {
    world.recall(["context", "--cwd", SHOP]).out
}

/// Writes a `todo` note of the shop; returns its id.
fn note(world: &World, text: &str, at: &str) -> String {
    let args = ["remember", "--project", SHOP, "--kind", "todo", "--json", text];
    let ran = world.recall_with(args, &[("RECALL_NOW", at)]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let reply: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    reply["id"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

#[test]
fn a_note_and_what_sessions_left_open_are_one_and_told_once_under_the_notes_id() {
    // The note is written before the first session, between them, or last.
    for at in ["2026-11-14T10:00:00Z", "2026-11-15T20:00:00Z", "2026-11-20T10:00:00Z"] {
        for late in [false, true] {
            let world = if late { World::new() } else { digested(&[1, 2, 3]) };
            patient(&world);
            let id = note(&world, EXPORT, at);
            if late {
                (1..=3).for_each(|n| put(&world, n, &rows(n)));
                world.digest(&EXTRACT);
            }
            let text = context(&world);
            assert!(open(&world).is_empty(), "{at}: {text}");
            assert_eq!(text.matches(&id).count(), 1, "{at}: {text}");
            assert_eq!(text.matches(EXPORT).count() + text.matches(AGAIN).count(), 1, "{at}: {text}");
            world.digest(&EXTRACT);
            for n in [1, 2] {
                let shown = world.recall(["show", &self::id(n)]).out;
                assert!(shown.contains(&format!("- {id} ")) && page(&world, n).contains(&format!("`{id}`")), "{at}: {shown}");
            }
            for by_item in [false, true] {
                let own: String = world
                    .database()
                    .query_row("SELECT id FROM open_item ORDER BY id LIMIT 1", [], |r| r.get(0))
                    .expect("a session's own");
                let named = if by_item { &own } else { &id };
                assert_eq!(world.recall(["close", named]).out, format!("{id} closed: {EXPORT}\n"), "{at}");
                let text = context(&world);
                assert!(!text.contains(&format!("- {id}")) && open(&world).is_empty(), "{at}: {text}");
                for n in [1, 2] {
                    assert!(page(&world, n).contains(&format!("~~ (done, by the user, 2026-11-21) `{id}`")), "{}", page(&world, n));
                    let shown = world.recall(["show", &self::id(n)]).out;
                    assert!(shown.contains("closed by the user, 2026-11-21") && !shown.contains("not ticked off"), "{shown}");
                }
                assert_eq!(world.recall(["close", "--undo", named]).out, format!("{id} open again: {EXPORT}\n"), "{at}");
                assert_eq!(context(&world).matches(&id).count(), 1, "{at}");
            }
        }
    }
}

#[test]
fn a_commit_that_names_an_item_or_its_note_closes_both() {
    for by_note in [false, true] {
        let world = digested(&[1, 2]);
        let first = open(&world).remove(0);
        let note = note(&world, EXPORT, "2026-11-17T10:00:00Z");
        let named = if by_note { &note } else { &first };
        let commit = talk(&id(4), &at(4), "Do the export.", "The export is done.")
            + &committed(&id(4), "k", "2026-11-18T10:05:00Z", &format!("Page invoices by key ({named})"));
        put(&world, 4, &commit);
        world.digest(&EXTRACT);
        let text = context(&world);
        assert!(open(&world).is_empty() && !text.contains(&format!("- {note}")), "{named}: {text}");
        for n in [1, 2] {
            assert!(
                page(&world, n).contains("~~ (done, ") && page(&world, n).contains("2026-11-18) "),
                "{named}: {}",
                page(&world, n)
            );
        }
        assert!(
            world.recall(["show", &note]).out.contains("done, by Claude, session 44440000"),
            "{}",
            world.recall(["show", &note]).out
        );
        let undone = world.recall(["close", "--undo", &first]).out;
        assert_eq!(undone.contains("open again"), by_note, "what a session did stays done: {undone}");
    }
}

#[test]
fn a_note_that_is_forgotten_leaves_the_items_open_under_their_own_id() {
    let world = digested(&[1, 2, 3]);
    let first = open(&world);
    let note = note(&world, EXPORT, "2026-11-20T10:00:00Z");
    assert!(open(&world).is_empty());
    assert_eq!(world.recall(["forget", "--yes", "--note", &note]).code, 0);
    assert_eq!(open(&world), first);
}

#[test]
fn a_session_without_a_digest_tells_what_it_leaves_open_by_the_id_of_its_life() {
    for stored in [false, true] {
        let world = digested(&[1]);
        let first = open(&world).remove(0);
        put(&world, 2, &rows(2));
        crate::hooks::payloads::end(&world, &id(2));
        if stored {
            // It is read, and its digest waits.
            world.age_transcripts();
            world.digest(&["--summarizer", "extract", "--session", &id(1)]);
            assert_eq!(world.count("SELECT count(*) FROM session"), 2);
            assert_eq!(world.count("SELECT count(*) FROM digest"), 1);
        }
        let text = context(&world);
        assert!(text.contains(&format!("- {first} not ticked off in the list since 2026-11-15: {AGAIN}\n")), "{stored}: {text}");
        assert_eq!(text.matches(&first).count(), 1, "{stored}: {text}");
        assert!(!text.contains(EXPORT), "{stored}: told once: {text}");
        if stored {
            let shown = world.recall(["show", &id(2)]).out;
            assert!(shown.contains(&format!("- {first} ")), "{shown}");
        }
        // What was closed since it began is not open, and a note is told as the note.
        let todo = note(&world, EXPORT, "2026-11-20T10:00:00Z");
        let text = context(&world);
        assert!(text.matches(&todo).count() == 1 && !text.contains(AGAIN) && !text.contains(&first), "{stored}: {text}");
        assert_eq!(world.recall(["close", &first]).code, 0);
        let text = context(&world);
        assert!(!text.contains("not ticked off") && open(&world).is_empty(), "{stored}: {text}");
        if stored {
            let shown = world.recall(["show", &id(2)]).out;
            assert!(!shown.contains("not ticked off"), "{shown}");
        }
    }
}
