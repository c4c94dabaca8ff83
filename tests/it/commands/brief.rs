//! `recall show`: a session in short, and several at once.

use serde_json::{Value, json};

use crate::support::{World, assistant, committed, ran, user};

const PLAIN: &str = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";
const RETRY: &str = "e1f1ab06-7af1-4a7a-b6b5-6ca5bb65c0e1";

/// One token for 3.5 bytes, as `recall context` counts them.
fn tokens(text: &str) -> usize {
    (text.len() * 2).div_ceil(7)
}

fn world() -> World {
    let world = World::with_fixtures(&["plain", "retry"]);
    world.digest(&["--summarizer", "extract"]);
    world
}

#[test]
fn a_session_in_short() {
    let ran = world().recall(["show", PLAIN]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert!((400..=1000).contains(&tokens(&ran.out)), "{} tokens", tokens(&ran.out));
    insta::assert_snapshot!("brief", ran.out);
}

#[test]
fn a_session_without_a_digest_is_told_from_its_rows() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--ingest-only"]);
    let ran = world.recall(["show", PLAIN]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    for words in [
        "No digest yet",
        "`recall digest --session 64b0b6d9` makes one",
        "Where it stands (turn 3 of 3, ",
        "> 1. **Migrate the admin export**",
        "“Yes, go ahead. ",
        "Files: tests/test_orders.py",
        "--raw",
    ] {
        assert!(ran.out.contains(words), "{words}: {ran:#?}");
    }
    assert!(!ran.out.contains("--full") && tokens(&ran.out) <= 1000, "there is no page yet: {ran:#?}");
}

#[test]
fn a_small_session_is_told_in_few_words() {
    let world = World::new();
    let rows = user("aaaa1111", "u", "2026-11-20T10:00:00Z", "Rename the changelog.")
        + &assistant("aaaa1111", "a", "2026-11-20T10:01:00Z", "I renamed it to `CHANGES.md`.");
    world.transcript("-p/aaaa1111.jsonl", rows);
    world.digest(&["--summarizer", "extract"]);
    let ran = world.recall(["show", "aaaa1111"]);
    assert!(ran.out.contains("CHANGES.md") && tokens(&ran.out) < 150, "{ran:#?}");
}

#[test]
fn a_session_over_midnight_names_both_days() {
    let world = World::new();
    let rows = user("aaaa1111", "u", "2026-11-19T10:11:00Z", "Rename the changelog.")
        + &assistant("aaaa1111", "a", "2026-11-20T09:00:00Z", "I renamed it to `CHANGES.md`.");
    world.transcript("-p/aaaa1111.jsonl", rows);
    world.digest(&["--summarizer", "extract"]);
    let shown = world.recall(["show", "aaaa1111"]).out;
    assert!(shown.contains("2026-11-19 11:11–2026-11-20 10:00 "), "{shown}");
    let day = world.pages().into_iter().find(|(name, _)| name.ends_with("2026-11-19.md")).expect("the day's page").1;
    assert!(day.contains("11:11–2026-11-20 10:00 "), "{day}");
}

#[test]
fn what_was_closed_since_is_not_open_any_more() {
    let world = World::with_fixtures(&["plain"]);
    let steps = ["Migrate the admin export (`shop/admin.py`)", "The customer search (`shop/search.py`) also pages by offset"];
    let steps = steps.map(|text| json!({"text": text}));
    answers(&world, &json!({"title": "By the model", "request": "r", "completed": ["All 10 tests pass"], "next_steps": steps}));
    world.digest(&["--summarizer", "claude"]);
    let shown = world.recall(["show", PLAIN]).out;
    let open: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("- n")).collect();
    let ids: Vec<&str> = open.iter().filter_map(|line| line.get(..8)).collect();
    assert!(
        ids.len() == 2 && shown.contains("\nOutcome, chosen by a model:\n- Claude: “All 10 tests pass, "),
        "a model's digest is told by its parts: {shown}"
    );
    let quoted = shown.find("Claude's last reply:\n> ").expect("the session's own words");
    assert!(shown.find(&format!("- n{} ", ids[0])).is_some_and(|claim| claim < quoted), "claims stand above: {shown}");
    assert!(shown.contains("\nFiles: ") && shown.contains("\nWhat you said in each turn"), "{shown}");
    assert!(tokens(&shown) <= 1000, "{shown}");
    world.recall(["close", &format!("n{}", ids[0])]);
    let closed = world.recall(["show", PLAIN]).out;
    assert!(!closed.contains(ids[0]) && closed.contains(&format!("- n{} ", ids[1])), "{closed}");
}

/// A client's reply with this digest.
fn answers(world: &World, digest: &Value) {
    let reply = digest.to_string();
    let answer = json!({"type": "result", "subtype": "success", "is_error": false, "result": reply, "total_cost_usd": 0.001});
    world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\ncat <<'REPLY'\n{answer}\nREPLY\n"));
}

#[test]
fn a_task_that_is_open_is_told_once_and_with_its_id() {
    let id = "aaaa1111";
    let tasks = ["Migrate the admin export of invoices", "Drop the obsolete index"];
    let todos: Vec<Value> = tasks.iter().map(|task| json!({"content": task, "status": "pending"})).collect();
    let list = json!({"type": "assistant", "uuid": "t", "sessionId": id, "timestamp": "2026-11-20T10:01:00Z", "message": {"id": "msg_t",
        "role": "assistant", "content": [{"type": "tool_use", "id": "toolu_t", "name": "TodoWrite", "input": {"todos": todos}}]}});
    let rows = user(id, "u", "2026-11-20T10:00:00Z", "Sort the order list.")
        + &format!("{list}\n")
        + &assistant(id, "a", "2026-11-20T10:02:00Z", "The order list is sorted now.");
    for (summarizer, label) in [("extract", "not ticked off in the list: "), ("claude", "")] {
        let world = World::new();
        answers(
            &world,
            &json!({"title": "The order list", "request": "r", "completed": ["Sorted it"], "next_steps": tasks.map(|text| json!({"text": text}))}),
        );
        world.transcript(&format!("-p/{id}.jsonl"), &rows);
        world.digest(&["--summarizer", summarizer]);
        let open = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| tasks.iter().any(|task| line.contains(task)));
            lines.map(str::to_owned).collect()
        };
        let lines = open(&world.recall(["show", id]).out);
        assert_eq!(lines.len(), 2, "{summarizer}: {lines:?}");
        let item = |line: &str| line.get(2..11).expect("an id").to_owned();
        for (line, task) in lines.iter().zip(tasks) {
            assert!(line.starts_with(&format!("- {} {label}{task}", item(line))), "{summarizer}: {line}");
        }
        let ran = world.recall(["close", &item(&lines[0])]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{summarizer}: {ran:#?}");
        let (closed, left): (Vec<_>, Vec<_>) =
            open(&world.recall(["show", id]).out).into_iter().partition(|line| line.starts_with("since then: "));
        assert_eq!(left, lines[1..], "{summarizer}");
        assert_eq!(closed, [format!("since then: closed by the user, 2026-11-21: {}", tasks[0])], "{summarizer}");
    }
}

/// Without a model nothing is judged: what Claude said stands in its quotation, and no id asks to be closed.
#[test]
fn what_no_model_digested_is_quoted() {
    let world = world();
    let shown = world.recall(["show", PLAIN]).out;
    let digest = &world.show(PLAIN)["digest"];
    for claims in ["completed", "decisions", "learned", "investigated", "blockers", "next_steps"] {
        assert_eq!(digest[claims], Value::Array(Vec::new()), "{claims}: {digest:#}");
    }
    assert!(!shown.contains(" a model"), "{shown}");
    let replied = shown.lines().filter(|line| line.contains("Migrate the admin export"));
    assert!(replied.clone().count() == 1 && replied.clone().all(|line| line.starts_with("> ")), "{shown}");
    assert!(shown.contains("Claude's last reply:\n> "), "{shown}");
}

#[test]
fn several_are_shown_in_turn_and_one_that_is_not_there_costs_itself_alone() {
    let world = world();
    let [first, second] = [PLAIN, RETRY].map(|id| world.recall(["show", id]).out);
    assert_eq!(world.recall(["show", PLAIN, RETRY]).out, format!("{first}\n{second}\n"));
    let json = world.recall(["show", "--json", RETRY, PLAIN]).out;
    let ids: Vec<Value> = serde_json::from_str::<Vec<Value>>(&json).unwrap().iter().map(|one| one["session"].clone()).collect();
    assert_eq!(ids, [RETRY, PLAIN]);

    for ids in [[PLAIN, "nobody"], ["nobody", PLAIN]] {
        let ran = world.recall(["show", ids[0], ids[1]]);
        assert_eq!((ran.code, ran.out.trim_end()), (1, first.trim_end()), "{ran:#?}");
        assert!(ran.err.contains("nothing has the id `nobody`"), "{ran:#?}");
    }
    let none = world.recall(["show", "nobody", "noone"]);
    assert_eq!((none.code, none.out.as_str()), (2, ""), "{none:#?}");
    assert!(none.err.contains("nobody") && none.err.contains("noone"), "{none:#?}");
}

/// Nobody asked for anything in it: no digest is made of it, and all say so.
#[test]
fn a_session_that_gets_no_digest_is_told_and_nobody_is_sent_for_one() {
    let world = World::new();
    let rows =
        assistant("aaaa1111", "a", "2026-11-20T10:01:00Z", "The tokenizer redirect is mended, because the header was wrong.");
    world.transcript("-p/aaaa1111.jsonl", rows);
    world.digest(&["--summarizer", "extract"]);
    assert!(world.recall(["search", "tokenizer"]).out.contains("aaaa1111"), "the search finds it");
    let ran = world.recall(["show", "aaaa1111"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    assert!(ran.out.starts_with("# The tokenizer redirect") && ran.out.contains("no prompt of the user's"), "{ran:#?}");
    let full = world.recall(["show", "--full", "aaaa1111"]);
    assert!(full.code == 2 && full.err.contains("gets no digest: no prompt of the user's"), "{full:#?}");
    assert!(!ran.out.contains("recall digest") && !full.err.contains("recall digest"), "{ran:#?} {full:#?}");
}

/// A page tells what stood when its session ended; whoever asks now learns what became of it.
#[test]
fn a_commit_that_a_later_session_made_anew_has_its_new_hash() {
    let (first, later) = ("aaaa7777-0000-4000-8000-000000000000", "bbbb7777-0000-4000-8000-000000000000");
    let world = World::new();
    let rows = user(first, "u1", "2026-11-12T09:00:00Z", "Sort the orders, the oldest first")
        + &committed(first, "c1", "2026-11-12T09:10:00Z", "Sort the orders by their date")
        + &assistant(first, "a1", "2026-11-12T09:11:00Z", "Committed as abc1234.");
    world.transcript(&format!("-p/{first}.jsonl"), rows);
    let amends = "git commit --amend -m 'Sort the orders by their date'";
    let rows = user(later, "u2", "2026-11-13T09:00:00Z", "Sign the last commit")
        + &ran(later, "c2", "2026-11-13T09:10:00Z", amends, Ok("[main def5678] Sort the orders by their date\n 1 file changed"))
        + &assistant(later, "a2", "2026-11-13T09:11:00Z", "Signed.");
    world.transcript(&format!("-p/{later}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    let full = world.recall(["show", "--full", first]).out;
    let (page, since) = full.split_once("\n## Since then\n").expect("what became of it");
    assert!(page.contains("Commits that stood at the end") && page.contains("abc1234") && !page.contains("def5678"), "{full}");
    assert_eq!(since, "\n- abc1234 is def5678 now\n");
    assert!(world.recall(["show", first]).out.contains("def5678 Sort the orders by their date"));
    assert!(!world.recall(["show", "--full", later]).out.contains("Since then"));
}

/// A session may commit in another repository, too.
#[test]
fn a_commit_in_another_folder_is_told_with_it_and_belongs_to_no_branch_here() {
    let id = "cccc7777-0000-4000-8000-000000000000";
    let world = World::new();
    let commits = |folder: &str, subject: &str| format!("cd {folder} && git commit -m '{subject}'");
    let rows = user(id, "u1", "2026-11-12T09:00:00Z", "Sort the orders here and in the counter")
        + &ran(
            id,
            "c1",
            "2026-11-12T09:10:00Z",
            &commits("/home/dev/src/shop", "Sort the orders here"),
            Ok("[main abc1234] Sort the orders here\n 1 file changed"),
        )
        + &ran(
            id,
            "c2",
            "2026-11-12T09:12:00Z",
            &commits("/home/dev/src/counter", "Sort the counter"),
            Ok("[main def5678] Sort the counter\n 1 file changed"),
        )
        + &assistant(id, "a1", "2026-11-12T09:13:00Z", "Both are committed.");
    world.transcript(&format!("-p/{id}.jsonl"), rows);
    world.digest(&["--summarizer", "extract"]);
    let told = world.recall(["show", id]).out;
    assert!(told.contains("- def5678 Sort the counter (in /home/dev/src/counter, main,"), "{told}");
    assert!(told.contains("- abc1234 Sort the orders here (main,"), "{told}");
    let text = world.recall(["report", "--for", "pr", "--branch", "main", "--project", "shop"]).out;
    assert!(text.contains("Sort the orders here") && !text.contains("Sort the counter"), "{text}");
}

/// One may leave a branch and come back to it, also between two digests.
#[test]
fn a_session_is_on_the_branch_that_it_was_on_last() {
    let id = "dddd7777-0000-4000-8000-000000000000";
    let world = World::new();
    let on = |branch: &str, rows: String| rows.replace("\"gitBranch\":\"main\"", &format!("\"gitBranch\":\"{branch}\""));
    let first = on("sort-orders", user(id, "u1", "2026-11-12T09:00:00Z", "Sort the orders, the oldest first"))
        + &on("sort-orders", assistant(id, "a1", "2026-11-12T09:10:00Z", "The orders are sorted."));
    let then = on("changelog", user(id, "u2", "2026-11-12T09:20:00Z", "Write the changelog on a branch of its own"))
        + &on("changelog", assistant(id, "a2", "2026-11-12T09:30:00Z", "The changelog is written."));
    let back = on("sort-orders", user(id, "u3", "2026-11-12T09:40:00Z", "Now go back and test the order"))
        + &on("sort-orders", assistant(id, "a3", "2026-11-12T09:50:00Z", "It is tested."));
    let branch = |rows: &[&str]| {
        world.transcript(&format!("-p/{id}.jsonl"), rows.concat());
        world.digest(&["--summarizer", "extract"]);
        let told = world.recall(["show", id]).out;
        told.split(" · branch ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a branch").to_owned()
    };
    assert_eq!(branch(&[&first, &then]), "changelog");
    assert_eq!(branch(&[&first, &then, &back]), "sort-orders");
}
