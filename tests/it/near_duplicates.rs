//! Sessions that say nearly the same as a later one of their project lead to it.

use std::fs;

use crate::support::{World, age, assistant, user};

const EXTRACT: &[&str] = &["--summarizer", "extract"];

fn id(day: u32) -> String {
    format!("aa00{day:04}-1111-4111-8111-000000000001")
}

fn path(day: u32) -> String {
    format!("-home-dev-src-shop/{}.jsonl", id(day))
}

/// A session that is run every day and says what it always says, but for a number.
fn nightly(day: u32) -> String {
    let (id, at) = (id(day), |minute: u32| format!("2026-11-{day:02}T10:{minute:02}:00Z"));
    let done = format!(
        "I counted the open orders by country and wrote the table into `reports/nightly.md`. The totals agree with the ledger, the \
         summary was mailed to finance, yesterday's file is archived, and the export job finished without warnings. There are {} orders.\n\n\
         Next steps:\n- Ask finance whether the ledger of the other countries should be counted as well\n",
        1200 + day
    );
    let asked = "Write the nightly report of the open orders, check it against the ledger and mail it to finance.";
    user(&id, &format!("{id}-u"), &at(0), &format!("{asked} The newest is {}.", 1200 + day))
        + &assistant(&id, &format!("{id}-a"), &at(5), &done)
}

fn other(day: u32) -> String {
    let (id, at) = (id(day), |minute: u32| format!("2026-11-{day:02}T12:{minute:02}:00Z"));
    let done = "I moved the order list to keyset pagination, added an index on `created_at` and `id`, and removed the offsets from both queries; all ten tests pass.";
    user(&id, &format!("{id}-u"), &at(0), "Orders go missing when customers click through the list. Find out why and mend it.")
        + &assistant(&id, &format!("{id}-a"), &at(5), done)
}

fn world(days: &[u32]) -> World {
    let world = World::new();
    days.iter().for_each(|day| _ = world.transcript(&path(*day), nightly(*day)));
    world.transcript(&path(19), other(19));
    world.digest(EXTRACT);
    world
}

fn page(world: &World, part: &str) -> String {
    let pages = world.pages();
    pages.into_iter().find(|(path, _)| path.contains(part)).unwrap_or_else(|| panic!("no page {part}")).1
}

#[test]
fn an_earlier_one_is_a_line_that_leads_to_the_next() {
    let world = world(&[16, 17, 18]);
    let first = page(&world, "2026-11-16-shop-");
    assert!(
        first.ends_with("\nAlmost the same as a later session ([2026-11-17](../../2026-11/sessions/2026-11-17-shop-aa000017.md)). Full text: `recall show aa000016 --full`\n\n← [Monday, 16 November 2026](../2026-11-16.md)\n"),
        "{first}"
    );
    let target = world.daily().join("2026-11/sessions").join("../../2026-11/sessions/2026-11-17-shop-aa000017.md");
    assert!(target.exists());
    assert!(page(&world, "2026-11-17-shop-").contains("(../../2026-11/sessions/2026-11-18-shop-aa000018.md)"));
    assert!(page(&world, "2026-11-18-shop-").contains("## Turn by turn"), "the last one has its whole page");
    assert!(page(&world, "2026-11-19-shop-").contains("## Turn by turn"), "and so has what is something else");
    let day = page(&world, "2026-11-16.md");
    assert!(
        day.contains("(../2026-11/sessions/2026-11-17-shop-aa000017.md)). Full text: `recall show aa000016 --full`\n"),
        "{day}"
    );
    assert!(world.daily().join("2026-11/../2026-11/sessions/2026-11-17-shop-aa000017.md").exists());
    assert!(!day.contains("**Outcome**"), "{day}");
    // All of it is still there for who asks.
    assert!(world.recall(["show", "--full", &id(16)]).out.contains("## Turn by turn"));
    assert_eq!(world.show(&id(16))["repeated_by"], id(17));
    assert_eq!(world.show(&id(18))["repeated_by"], serde_json::Value::Null);
}

#[test]
fn notes_and_search_tell_of_the_last_one_alone() {
    let world = world(&[15, 16, 17, 18]);
    let context = world.recall(["context", "--cwd", "/home/dev/src/shop", "--json"]);
    let context: serde_json::Value = serde_json::from_str(&context.out).unwrap();
    assert_eq!(context["sessions_shown"], serde_json::json!([id(19), id(18)]), "{context}");
    let found = world.recall(["search", "ledger", "finance", "--json"]);
    assert_eq!(found.out.lines().count(), 1, "{found:#?}");
    assert!(found.out.contains(&id(18)), "{found:#?}");
    // What only an earlier one says is found there.
    let found = world.recall(["search", "1216", "--json"]);
    assert_eq!(found.out.lines().count(), 1, "{found:#?}");
    assert!(found.out.contains(&id(16)), "{found:#?}");
}

#[test]
fn neither_order_nor_pieces_nor_what_came_between_matter() {
    let days = [15, 16, 17, 18];
    let once = world(&days).pages();
    assert_eq!(once.iter().filter(|(_, page)| page.contains("Almost the same as a later session")).count(), 6);
    for order in [[18, 17, 16, 15], [16, 18, 15, 17]] {
        let world = World::new();
        world.transcript(&path(19), other(19));
        for day in order {
            let text = nightly(day);
            let half = text.find('\n').unwrap() + 1;
            // First without an answer, then another one, then what it came to.
            world.transcript(&path(day), &text[..half]);
            world.digest(EXTRACT);
            world.transcript(&path(day), &text);
            world.digest(EXTRACT);
        }
        assert_eq!(world.pages(), once, "{order:?}");
    }
}

#[test]
fn when_the_later_one_is_forgotten_or_says_more_the_earlier_has_its_page_again() {
    let world = world(&[17, 18]);
    let before = page(&world, "2026-11-18-shop-");
    let file = world.claude_dir().join("projects").join(path(18));
    let more = (0..6).map(|n| {
        let (id, at) = (id(18), format!("2026-11-18T11:{n:02}:00Z"));
        let words = "Rewrote the mailer: retries with backoff, templates moved, attachments streamed, bounces recorded, tests added, flags documented.";
        user(&id, &format!("{id}-u{n}"), &at, &format!("Rework part {n} of the mailer."))
            + &assistant(&id, &format!("{id}-a{n}"), &at, &format!("I changed part {n}. {words} Decision: the queue of part {n} lives in its own process."))
    });
    fs::write(&file, nightly(18) + &more.collect::<String>()).unwrap();
    age(&file, std::time::Duration::from_secs(3000));
    world.digest(EXTRACT);
    assert!(page(&world, "2026-11-17-shop-").contains("## Turn by turn"));
    assert_ne!(page(&world, "2026-11-18-shop-"), before);
    let world = self::world(&[16, 17, 18]);
    assert_eq!(world.recall(["forget", "--yes", "--session", &id(17)]).code, 0);
    assert!(page(&world, "2026-11-16-shop-").contains("(../../2026-11/sessions/2026-11-18-shop-aa000018.md)"));
    assert_eq!(world.recall(["forget", "--yes", "--session", &id(18)]).code, 0);
    assert!(page(&world, "2026-11-16-shop-").contains("## Turn by turn"));
}

#[test]
fn notes_of_the_users_stay_below_the_line() {
    let world = world(&[17]);
    let (name, text) = world.pages().into_iter().find(|(path, _)| path.contains("2026-11-17-shop-")).unwrap();
    fs::write(world.data_dir().join(&name), text + "\n## Notes\n\nmine\n").unwrap();
    world.transcript(&path(18), nightly(18));
    world.digest(EXTRACT);
    let page = page(&world, "2026-11-17-shop-");
    assert!(page.contains("Almost the same as a later session") && page.ends_with("\n## Notes\n\nmine\n"), "{page}");
}

#[test]
fn an_index_of_before_finds_its_repeats_when_its_pages_are_written() {
    let world = world(&[17, 18]);
    let pages = world.pages();
    world.make_index_older();
    let db = rusqlite::Connection::open(world.data_dir().join("recall.db")).unwrap();
    db.execute_batch("DELETE FROM likeness").unwrap();
    drop(db);
    world.recall(["digest", "--rebuild-pages", "--session", &id(19), "--summarizer", "extract"]);
    assert_eq!(world.pages(), pages);
}
