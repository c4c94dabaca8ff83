//! Tags and days on which something is due: words of a note's text, so that they stay with it.

use serde_json::Value;

use crate::support::World;
use crate::support::answers::on_terminal;

const SHOP: &str = "/home/dev/src/shop";

/// Keeps a note for the shop; its id.
fn remember(world: &World, args: &[&str]) -> String {
    let ran = world.recall([&["remember", "--project", SHOP], args].concat());
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.out.split(' ').next().expect("an id").to_owned()
}

fn out(world: &World, args: &[&str]) -> String {
    let ran = world.recall(args);
    assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
    ran.out
}

#[test]
fn notes_are_listed_by_project_kind_and_tag() {
    let world = World::new();
    let deploys = remember(&world, &["--tag", "deploy", "Deploys go through Gitea."]);
    let tests = remember(&world, &["--kind", "convention", "--tag", "deploy", "--tag", "ci", "The pipeline runs on two cores."]);
    let other = world.recall(["remember", "--everywhere", "Answer in British English."]);
    let other = other.out.split(' ').next().expect("an id");
    let all = out(&world, &["remember", "--project", SHOP]);
    assert_eq!(all.lines().count(), 3, "{all}");
    assert!(all.contains(&format!("{deploys}  2026-11-21  fact: Deploys go through Gitea. #deploy (")), "{all}");
    assert!(all.lines().any(|line| line.starts_with(other) && line.contains(", all projects)")), "{all}");
    let ids = |args: &[&str]| -> Vec<String> {
        let all = out(&world, &[&["remember", "--project", SHOP, "--json"], args].concat());
        let id = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["note"].as_str().expect("an id").to_owned();
        all.lines().map(id).collect()
    };
    assert_eq!(ids(&["--tag", "ci"]), [tests.as_str()]);
    assert_eq!(ids(&["--tag", "DEPLOY", "--kind", "fact"]), [deploys.as_str()]);
    assert_eq!(ids(&["--tag", "nothing"]), Vec::<String>::new());
    assert!(world.recall(["remember"]).err.contains("no notes") || !out(&world, &["remember"]).is_empty());
    let refused = world.recall(["remember", "--tag", "two words", "Deploys go through Gitea, always."]);
    assert!(refused.code == 2 && refused.err.contains("`two words` is not a tag"), "{refused:#?}");
}

#[test]
fn the_search_finds_notes_by_tag_and_nothing_else() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let tagged = remember(&world, &["--tag", "paging", "Every list pages by key."]);
    remember(&world, &["Pages are written at night."]);
    for query in ["tag:paging", "tag:#Paging", "key tag:paging"] {
        let found = out(&world, &["search", query]);
        assert!(found.contains(&tagged), "{query}: {found}");
        assert_eq!(found.lines().filter(|line| line.starts_with("2026-")).count(), 1, "{query}: {found}");
    }
    assert_eq!(world.recall(["search", "tag:paging", "tag:ci"]).out, "");
}

#[test]
fn what_is_due_is_told_from_that_day_on() {
    let world = World::new();
    let later = remember(&world, &["--due", "2026-12-01", "Renew the certificate of the shop."]);
    let past = remember(&world, &["--due", "2026-11-19", "Answer the accountant."]);
    let today = remember(&world, &["--due", "today", "Send the invoices of October."]);
    remember(&world, &["--kind", "todo", "Look at the slow query."]);
    let todo = out(&world, &["todo"]);
    let lines: Vec<&str> = todo.lines().skip(1).collect();
    assert!(lines[0].contains(&past) && lines[0].ends_with("due:2026-11-19 (overdue)"), "{todo}");
    assert!(lines[1].contains(&today) && lines[1].ends_with("(due today)"), "{todo}");
    assert!(lines[2].contains(&later) && lines[2].ends_with("due:2026-12-01"), "{todo}");
    assert!(lines[3].contains("Look at the slow query."), "{todo}");
    let start = out(&world, &["context", "--cwd", SHOP]);
    assert!(start.contains(&format!("- {past} due todo: Answer the accountant.")) && !start.contains(&later), "{start}");
    let after = world.recall_with(["context", "--cwd", SHOP], &[("RECALL_NOW", "2026-12-01T09:00:00Z")]);
    assert!(after.out.contains(&format!("- {later} due todo: ")), "{}", after.out);
    for (args, why) in [
        (&["remember", "--due", "soon", "Renew the certificate."][..], "`soon` is not a day"),
        (&["remember", "--due", "today", "--kind", "fact", "Renew the certificate."], "only a todo can have a due day"),
    ] {
        let ran = world.recall(args);
        assert!(ran.code == 2 && ran.err.contains(why), "{ran:#?}");
    }
    let shown = on_terminal(&world, world.root(), (60, 30), &[], &["todo"]);
    assert!(shown.iter().all(|line| line.chars().count() <= 60), "{shown:#?}");
}

#[test]
fn an_edited_note_keeps_its_id_and_the_old_words_are_gone() {
    let world = World::new();
    let id = remember(&world, &["--kind", "todo", "Renew the certifikate of the shop."]);
    assert_eq!(
        out(&world, &["remember", "--edit", &id, "Renew the certificate of the shop."]),
        format!("{id} says now: Renew the certificate of the shop.\n")
    );
    out(&world, &["remember", "--edit", &id, "--tag", "tls", "--due", "2026-12-01"]);
    let shown = out(&world, &["show", &id]);
    assert!(shown.contains("Renew the certificate of the shop. #tls due:2026-12-01"), "{shown}");
    assert!(world.recall(["search", "certifikate"]).err.contains("no session has `certifikate`"));
    assert!(out(&world, &["search", "certificate"]).contains(&id));
    let page = out(&world, &["day", "2026-11-21"]);
    assert!(page.contains("due:2026-12-01") && !page.contains("certifikate"), "{page}");
    for (args, why) in [
        (&["remember", "--edit", "m0000000", "Some other words."][..], "no note with the id"),
        (&["remember", "--edit", &id], "nothing to change"),
        (&["remember", "--edit", &id, "ok"], "not remembered"),
    ] {
        let ran = world.recall(args);
        assert!(ran.code == 2 && ran.err.contains(why), "{ran:#?}");
    }
    let agent = world.recall_with(["remember", "--edit", &id, "Never renew it."], &[("CLAUDECODE", "1")]);
    assert!(agent.code != 0 && !out(&world, &["show", &id]).contains("Never"), "{agent:#?}");
}
