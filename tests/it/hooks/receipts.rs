//! What sessions were told at their start, and what of it they used: their own transcripts tell.

use serde_json::{Value, json};

use super::payloads::{patient, starts, told};
use crate::support::World;
use crate::support::rows::{Rows, SHOP, bash, put};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// A session that edits `src/paging.py` and runs the tests.
fn first(world: &World) -> String {
    let mut rows = Rows::new(1);
    rows.user(json!("Page the order list by key."));
    rows.uses(
        1,
        &json!({"name": "Edit", "input": {"file_path": format!("{SHOP}/src/paging.py"), "old_string": "a", "new_string": "b"}}),
    );
    rows.result(1, "The file has been updated.", false);
    rows.uses(2, &bash("pytest tests/orders -q"));
    rows.result(2, "4 passed in 0.2s", false);
    rows.assistant("The order list is paged by key.");
    put(world, &rows.id, &rows.text);
    rows.id
}

fn hook_row(text: &str) -> Value {
    json!({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [text], "hookName": "SessionStart:startup",
        "toolUseID": "t0", "hookEvent": "SessionStart"}})
}

fn page_of(world: &World, id: &str) -> String {
    let pages = world.pages();
    pages.iter().find(|(_, text)| text.contains(&format!("session: \"{id}\""))).map(|(_, text)| text.clone()).expect("its page")
}

#[test]
fn a_receipt_tells_what_a_session_used_of_what_it_was_told() {
    let world = World::new();
    patient(&world);
    let earlier = first(&world);
    world.digest(&EXTRACT);
    let mut rows = Rows::new(4);
    let notes = told(&world, &starts(&world, &rows.id, "startup")).expect("notes");
    assert!(notes.contains("src/paging.py") && notes.contains("pytest tests/orders"), "{notes}");
    rows.row(hook_row(&notes));
    rows.user(json!("Page the list of invoices as well."));
    rows.uses(1, &json!({"name": "Read", "input": {"file_path": format!("{SHOP}/src/paging.py")}}));
    rows.result(1, "the file", false);
    rows.uses(2, &bash(&format!("recall show {} --full", &earlier[..8])));
    rows.result(2, "the session", false);
    rows.uses(3, &bash("pytest tests/orders/test_list.py tests/invoices -q"));
    rows.result(3, "2 passed in 0.1s", false);
    rows.assistant("The list of invoices is paged by key, too.");
    put(&world, &rows.id, &rows.text);
    // This one was told the same and used nothing of it; that one was told nothing, for another hook spoke.
    let mut idle = Rows::new(5);
    idle.row(hook_row(&notes));
    idle.user(json!("Make the banner of the shop green."));
    idle.assistant("The banner is green.");
    put(&world, &idle.id, &idle.text);
    let mut other = Rows::new(7);
    other.row(hook_row("Always look at src/paging.py first, and run `pytest tests/orders`."));
    other.user(json!("Make the banner of the shop blue."));
    other.uses(1, &json!({"name": "Read", "input": {"file_path": format!("{SHOP}/src/paging.py")}}));
    other.result(1, "the file", false);
    other.assistant("The banner is blue.");
    put(&world, &other.id, &other.text);
    world.digest(&EXTRACT);

    let page = page_of(&world, &rows.id);
    let receipt = page.split("## Told by recall\n").nth(1).unwrap_or_else(|| panic!("{page}"));
    let receipt = receipt.split("\n## ").next().unwrap_or_default().trim();
    let (told, used) = receipt.split_once('\n').expect("two lines at least");
    let tokens = told.strip_suffix(" tokens").and_then(|told| told.rsplit(' ').next()?.parse::<usize>().ok()).expect("a number");
    assert!(told.starts_with("- told of 1 session, ") && told.contains("1 check, about "), "{told}");
    // By the estimate that bounds what is told: 3.5 bytes for a token.
    assert!(tokens * 7 / 2 <= notes.len() && tokens * 7 / 2 + 200 > notes.len(), "{tokens}: {}", notes.len());
    assert_eq!(used, format!("- opened: `src/paging.py`\n- run: `pytest tests/orders -q`\n- looked up: `{}`", &earlier[..8]));
    assert!(page_of(&world, &idle.id).contains("- nothing of it was seen to be used"));
    assert!(!page_of(&world, &other.id).contains("Told by recall"), "the words are another hook's");

    let status: Value = serde_json::from_str(&world.recall(["status", "--json"]).out).expect("JSON");
    let told = &status["receipts"];
    assert_eq!((&told["told"], &told["used"], &told["looked_up"]), (&json!(2), &json!(1), &json!(1)), "{told:#}");
    assert_eq!((&told["checks_told"], &told["checks_used"], &told["files_used"]), (&json!(2), &json!(1), &json!(1)), "{told:#}");
    let line = world.recall(["status"]).out;
    assert!(line.contains("\ncontext     2 sessions got context, 1 of them used some of it: 1 of "), "{line}");

    // A receipt goes with its session.
    assert_eq!(world.recall(["forget", "--session", &rows.id, "--yes"]).code, 0);
    let status: Value = serde_json::from_str(&world.recall(["status", "--json"]).out).expect("JSON");
    assert_eq!((&status["receipts"]["told"], &status["receipts"]["used"]), (&json!(1), &json!(0)));
}

#[test]
fn what_is_only_like_what_was_told_or_never_ran_is_not_told_as_used() {
    let world = World::new();
    patient(&world);
    let earlier = first(&world);
    world.digest(&EXTRACT);
    let mut rows = Rows::new(4);
    let notes = told(&world, &starts(&world, &rows.id, "startup")).expect("notes");
    let short = &earlier[..8];
    let read = |path: &str| json!({"name": "Read", "input": {"file_path": path}});
    rows.row(hook_row(&notes));
    rows.user(json!("Page the list of invoices as well."));
    let denied = "Permission to use Bash with command X has been denied.";
    for (n, (tool, printed, failed)) in [
        (bash("pytest tests/invoices -q"), "2 passed in 0.1s", false),
        (bash("cd /srv/other && pytest tests/orders -q"), "2 passed in 0.1s", false),
        (bash("pytest tests/orders -q"), denied, true),
        (bash(&format!("recall show {short}")), denied, true),
        (bash(&format!("git commit -m 'As recall show {short} says'")), "[main 1a2b3c4] As it says", false),
        (bash("grep -n OFFSET src/paging.py"), "12: OFFSET", false),
        (read(&format!("{SHOP}/vendor/src/paging.py")), "the file", false),
        (read("/srv/other/src/paging.py"), "the file", false),
        (read(&format!("{SHOP}/src/paging.py")), "File does not exist.", true),
    ]
    .iter()
    .enumerate()
    {
        rows.uses(n, tool);
        rows.result(n, printed, *failed);
    }
    rows.assistant("The list of invoices is paged by key, too.");
    put(&world, &rows.id, &rows.text);
    // In the shell a file is read as well as with a tool.
    let mut shell = Rows::new(5);
    shell.row(hook_row(&notes));
    shell.user(json!("Explain the paging."));
    shell.uses(1, &bash("cd src/.. && sed -n 1,20p src/paging.py | head -3"));
    shell.result(1, "the file", false);
    shell.assistant("It pages by key.");
    put(&world, &shell.id, &shell.text);
    world.digest(&EXTRACT);
    let page = page_of(&world, &rows.id);
    assert!(page.contains("- nothing of it was seen to be used"), "{page}");
    assert!(page_of(&world, &shell.id).contains("- opened: `src/paging.py`"), "{}", page_of(&world, &shell.id));
}

/// A session that is told `notes`, is asked for the cart page and runs these commands; the user ends it with the last prompt.
fn goes_on(world: &World, n: usize, notes: &str, ran: &[&str], last: &str) -> String {
    let mut rows = Rows::new(n);
    rows.row(hook_row(notes));
    rows.user(json!("Build the cart page."));
    for (tool, command) in ran.iter().enumerate() {
        rows.uses(tool, &bash(command));
        rows.result(tool, "added 3 packages", false);
    }
    rows.assistant("The cart page is there.");
    rows.user(json!(last));
    rows.assistant("So it is.");
    put(world, &rows.id, &rows.text);
    rows.id
}

#[test]
fn what_a_session_was_told_not_to_run_and_ran_is_told_as_passed_over() {
    let world = World::new();
    patient(&world);
    first(&world);
    world.digest(&EXTRACT);
    for note in ["Use pnpm, not npm.", "Never push to main."] {
        assert_eq!(world.recall(["remember", "--project", SHOP, "--kind", "convention", note]).code, 0);
    }
    let notes = told(&world, &starts(&world, &Rows::new(4).id, "startup")).expect("notes");
    let line = notes.lines().find(|line| line.contains("pnpm")).expect("the note");
    let note = line.split(' ').nth(1).expect("its id");
    let passed_over = goes_on(&world, 4, &notes, &["npm install", "git push origin cart"], "No, pnpm, not npm!");
    let heeded = goes_on(&world, 5, &notes, &["pnpm install", "git push origin cart"], "Thanks, sort the list by name.");
    let asked = goes_on(&world, 7, &notes, &["pnpm install"], "Now push it to main, please.");
    world.digest(&EXTRACT);

    let page = page_of(&world, &passed_over);
    assert!(page.contains("\n- was told not to run these commands, but ran them: `npm`\n"), "{page}");
    assert!(
        page.contains(&format!("\n- instructions that the session had, and that you had to repeat: `{note}` (turn 2)\n")),
        "{page}"
    );
    for id in [&heeded, &asked] {
        let page = page_of(&world, id);
        assert!(page.contains("2 warnings") && !page.contains("told not to run") && !page.contains("you had to repeat"), "{page}");
    }

    let status: Value = serde_json::from_str(&world.recall(["status", "--json"]).out).expect("JSON");
    let stats: Value = serde_json::from_str(&world.recall(["stats", "--json", "--since", "2026-01-01"]).out).expect("JSON");
    let counts = &stats["receipts"];
    assert_eq!(counts, &status["receipts"]);
    let of = |name: &str| counts[name].as_i64().expect("a count");
    assert_eq!((of("warnings_told"), of("warnings_passed_over"), of("corrections_repeated")), (6, 1, 1), "{counts:#}");
    assert_eq!((of("told"), of("used")), (3, 0), "what is passed over is no use: {counts:#}");
    let rows = |sql: &str| world.database().query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a count");
    let names = "SELECT count(*) FROM receipt WHERE kind NOT IN ('warning', 'correction')";
    assert_eq!((of("names_told"), of("names_used")), (rows(names), 0), "{counts:#}");
    let line = world.recall(["status"]).out;
    assert!(line.contains("\n            1 of 6 warnings ignored\n            1 correction repeated by the user\n"), "{line}");
    let line = world.recall(["stats", "--since", "2026-01-01"]).out;
    let names = of("names_told");
    let rate = format!(
        "\n0 % of these sessions used the context: 0 of the {names} files, commands and ids in it; 1 of 6 warnings ignored, 1 correction repeated"
    );
    assert!(line.contains(&rate), "{line}");
}

/// The words of a note are no session's that was told it: a note that is forgotten is in no receipt.
#[test]
fn a_receipt_holds_no_words_of_what_was_told() {
    let world = World::new();
    patient(&world);
    first(&world);
    world.digest(&EXTRACT);
    assert_eq!(world.recall(["remember", "--project", SHOP, "Never paint the zanzibarquux valve."]).code, 0);
    let notes = told(&world, &starts(&world, &Rows::new(4).id, "startup")).expect("notes");
    assert!(notes.contains("zanzibarquux"), "{notes}");
    goes_on(&world, 4, &notes, &["ls"], "Sort the list by name.");
    world.digest(&EXTRACT);
    let ran = world.recall(["show", "--json", "--items", &Rows::new(4).id]).out;
    assert!(ran.contains("cart page") && !ran.contains("zanzibarquux"), "{ran}");
    let pages = world.pages();
    assert!(pages.iter().all(|(_, page)| !page.contains("zanzibarquux") || !page.contains(&Rows::new(4).id)), "no page of it");
}

/// Of two sessions that say the same, the one that an agent looked up comes first; what nobody says does not come in by it.
#[test]
fn what_was_looked_up_ranks_a_little_higher() {
    let world = World::new();
    let said = |n: usize, words: &str| {
        let mut rows = Rows::new(n);
        rows.user(json!(words));
        rows.assistant("Done: the sluice is open.");
        put(&world, &rows.id, &rows.text);
        rows.id
    };
    let ids = [
        said(0, "Open the sluice of the mill at dawn, before the bread."),
        said(1, "The mill stands: open its sluice for the wheat."),
    ];
    let first = |world: &World| {
        let hits = world.recall(["search", "--json", "mill sluice"]).out;
        let best: Value = serde_json::from_str(hits.lines().next().expect("a hit")).expect("JSON");
        best["session"].as_str().expect("an id").to_owned()
    };
    world.digest(&EXTRACT);
    let before = first(&world);
    let other = ids.iter().find(|id| !before.starts_with(&id[..8])).expect("the other one");
    let mut rows = Rows::new(6);
    rows.user(json!("Paint the door of the barn."));
    rows.uses(1, &json!({"name": "mcp__recall__get", "input": {"ids": [&other[..8]], "detail": "full"}}));
    rows.result(1, "the session", false);
    rows.assistant("The door is green.");
    put(&world, &rows.id, &rows.text);
    world.digest(&EXTRACT);
    assert!(first(&world).starts_with(&other[..8]));
    let none = world.recall(["search", "--json", "nothing-like-that"]).out;
    assert!(!none.contains(&other[..8]), "{none}");
}
