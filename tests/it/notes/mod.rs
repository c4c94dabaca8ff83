//! What people want remembered: kept once, found at once, told where it is of use, and gone when it is to go.

mod agents;
mod marks;

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::support::data_folder::{assert_gone, places_of};
use crate::support::{NOW, Ran, World, assistant, user};

const SHOP: &str = "/home/dev/src/shop";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
/// Of a note that is to go: if the word is nowhere, neither is the note.
const WORD: &str = "zanzibarquux";

fn remember(world: &World, arguments: &[&str]) -> Ran {
    world.recall(["remember"].iter().chain(arguments))
}

/// Remembers something of the shop and returns the note's id.
fn kept(world: &World, text: &str, more: &[&str]) -> String {
    let ran = remember(world, &[&[text, "--project", SHOP, "--json"], more].concat());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    let kept: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(kept["known"], false, "{kept}");
    kept["id"].as_str().unwrap().to_owned()
}

fn session(n: usize, text: &str) -> (String, String) {
    let id = format!("aa{n:02}0000-5ec0-4000-8000-000000000000");
    let at = format!("2026-11-{n:02}T10:00:00Z");
    let rows = user(&id, &format!("{n}u"), &at, text) + &assistant(&id, &format!("{n}a"), &at, "Mended, and the tests pass.");
    (format!("-shop/{id}.jsonl"), rows)
}

fn shop() -> World {
    let world = World::new();
    for (n, text) in [(10, "Mend the importer."), (20, "Mend the exporter.")] {
        let (path, rows) = session(n, text);
        world.transcript(&path, rows);
    }
    world.digest(&EXTRACT);
    world
}

fn context(world: &World, folder: &str) -> String {
    world.recall(["context", "--cwd", folder]).out
}

#[test]
fn a_note_is_kept_before_there_is_any_index_and_found_at_once() {
    let world = World::new();
    let id = kept(&world, "Deploys go through Gitea, never from a laptop.", &["--kind", "convention"]);
    let found = world.recall(["search", "--json", "deploy"]);
    let found: Value = serde_json::from_str(&found.out).unwrap_or_else(|e| panic!("{e}: {found:#?}"));
    assert_eq!(
        (&found["note"], &found["project"], &found["found_in"]),
        (&id.as_str().into(), &SHOP.into(), &"note".into()),
        "{found}"
    );
    let shown = world.recall(["show", &id[..5]]);
    assert_eq!(
        shown.out,
        format!(
            "# convention · 2026-11-21 13:00 · {SHOP} · by the user · {id}\n\nDeploys go through Gitea, never from a laptop.\n\nOut of date? `recall forget --note {id}`\n"
        )
    );
    let json: Value = serde_json::from_str(&world.recall(["show", "--json", &id]).out).unwrap();
    assert_eq!((&json["note"], &json["kind"]), (&id.as_str().into(), &"convention".into()), "{json}");
    assert_eq!(world.recall(["show", "--raw", &id]).code, 2);
    assert_eq!(world.status()["notes"], 1);
    assert!(world.recall(["status"]).out.contains("notes       1 note"));
}

#[test]
fn what_says_nothing_new_is_the_note_that_is_there() {
    let world = World::new();
    let id = kept(&world, "The staging database is read only on Mondays.", &[]);
    for text in ["The staging database is read only on Mondays.", "the Staging database is read-only on mondays"] {
        let ran = remember(&world, &[text, "--project", SHOP]);
        assert_eq!((ran.code, ran.out), (0, format!("not saved: note {id} already says this\n")), "{text}");
    }
    let other = kept(&world, "The staging database is read only on Tuesdays.", &[]);
    let elsewhere =
        remember(&world, &["The staging database is read only on Mondays.", "--project", "/home/dev/src/other", "--json"]);
    assert!(other != id && elsewhere.out.contains("\"known\":false"), "{elsewhere:#?}");
    // What is so everywhere is so here.
    let all = remember(&world, &["--everywhere", "Answer in German, please."]);
    assert!(all.out.ends_with(" saved for all projects\n"), "{all:#?}");
    assert!(remember(&world, &["Answer in German", "--project", SHOP]).out.ends_with(" already says this\n"));
    assert_eq!(world.count("SELECT count(*) FROM note"), 4);
}

#[test]
fn what_is_to_be_done_again_is_open_again() {
    let world = World::new();
    let text = "Migrate the admin export to keyset pagination";
    let first = kept(&world, text, &["--kind", "todo"]);
    assert!(remember(&world, &["--kind", "todo", text, "--project", SHOP]).out.contains("already says this"), "it is open");
    assert_eq!(world.recall(["close", &first]).code, 0);
    let second = kept(&world, text, &["--kind", "todo"]);
    assert_ne!(first, second);
    assert_eq!(world.recall(["todo", "--all"]).out.matches(text).count(), 1);
    assert_eq!(world.recall(["close", &second]).code, 0);
    assert!(!world.recall(["todo", "--all"]).out.contains(text));
    // That something is so does not say that it is to be done, nor the other way round.
    let fact = kept(&world, "The orders page is sorted by day", &[]);
    let todo = kept(&world, "The orders page is sorted by day", &["--kind", "todo"]);
    assert_ne!(fact, todo);
    assert!(world.recall(["todo", "--all"]).out.contains("The orders page is sorted by day"));
}

#[test]
fn what_is_of_no_use_is_refused_with_the_reason() {
    let world = World::new();
    let long = "word ".repeat(500);
    for (text, why) in [
        ("", "nothing in it"),
        ("ab!", "too short"),
        (long.as_str(), "at most 2000"),
        ("Which database do we use?", "this is a question"),
        ("Yes, thanks!", "nothing that still holds"),
        ("<private>The key lies under the mat.</private>", "private"),
    ] {
        let ran = remember(&world, &[text]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{text}: {ran:#?}");
        assert!(ran.err.contains(why) && ran.err.contains("not remembered"), "{why}: {ran:#?}");
    }
    assert!(!world.data_dir().exists(), "nothing was written");
    let wrong = remember(&world, &["--kind", "opinion", "Tabs are better than spaces"]);
    assert!(wrong.code == 2 && wrong.err.contains("convention"), "{wrong:#?}");
}

#[test]
fn secrets_private_words_and_what_the_config_leaves_out_are_not_kept() {
    let world = World::new();
    world.configure("[privacy]\nexclude_projects = [\"/home/dev/src/secret\"]\nexclude_patterns = [\"Bluebird\"]\n");
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let text = format!(
        "The CI of the shop logs in with {token} since the move to the new machines, <private>which {WORD} owns</private>, and is slow"
    );
    let id = kept(&world, &text, &[]);
    let shown = world.recall(["show", &id]).out;
    assert!(shown.contains("logs in with [REDACTED") && shown.contains("and is slow"), "{shown}");
    assert_gone(&world, &token);
    assert_gone(&world, WORD);
    let left_out = remember(&world, &["Project Bluebird is late by a month", "--project", SHOP]);
    assert!(left_out.code == 2 && left_out.err.contains("[privacy]"), "{left_out:#?}");
    let excluded = remember(&world, &["The vault opens at noon", "--project", "/home/dev/src/secret/sub"]);
    assert!(excluded.code == 2 && excluded.err.contains("excluded"), "{excluded:#?}");
    assert_eq!(world.count("SELECT count(*) FROM note"), 1);
}

#[test]
fn a_note_can_come_from_a_pipe() {
    let world = World::new();
    let ran = world.shell(&format!("printf 'Releases are tagged on Fridays.\\n' | \"$RECALL\" remember --project {SHOP} -"));
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(context(&world, SHOP).contains("Releases are tagged on Fridays."));
}

#[test]
fn notes_are_remembered_while_a_run_holds_the_lock() {
    let world = World::new();
    let (path, rows) = session(10, "Mend the importer.");
    world.transcript(&path, rows);
    let go = world.root().join("go");
    world.fake_claude(&format!(
        "#!/bin/sh\ncat > /dev/null\ntouch \"$0.asked\"\nuntil [ -e {} ]; do sleep 0.05; done\nexit 1\n",
        go.display()
    ));
    let mut run = world.process();
    let mut run = run
        .args(["digest", "--summarizer", "claude"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let asked = world.bin().join("claude.asked");
    while !asked.exists() {
        assert!(run.try_wait().unwrap().is_none(), "the run ended before the model was asked");
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = kept(&world, "The importer must never lock the orders table.", &[]);
    let found = world.recall(["search", "orders", "table"]);
    assert!(found.out.contains(&id), "{found:#?}");
    fs::write(go, "").unwrap();
    assert!(run.wait().unwrap().code().is_some_and(|code| code < 2));
    assert!(context(&world, SHOP).contains(&id));
}

#[test]
fn notes_written_at_once_are_all_there_and_each_once() {
    let world = World::new();
    let start = |n: usize| {
        world.process().args(["remember", "--project", SHOP, &format!("Part {} of the importer is slow", n / 2)]).spawn().unwrap()
    };
    let mut all: Vec<_> = (0..8).map(start).collect();
    assert!(all.iter_mut().all(|one| one.wait().unwrap().success()));
    assert_eq!(world.count("SELECT count(*) FROM note"), 4);
    assert_eq!(world.count("SELECT count(*) FROM doc WHERE note IS NOT NULL"), 4);
}

#[test]
fn a_session_of_the_project_starts_with_its_notes() {
    let world = shop();
    let fact = kept(&world, "The gateway answers 503 at night.", &[]);
    let rule = kept(&world, "Write the test first, then the change.", &["--kind", "convention"]);
    remember(&world, &["--everywhere", "--kind", "preference", "Answer in German, whatever the question is in."]);
    remember(&world, &["--project", "/home/dev/src/other", "The other project has a secret garden."]);
    let text = context(&world, SHOP);
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
    assert!(at(&format!("- {rule} convention: Write the test first")) < at("preference: Answer in German"), "{text}");
    assert!(
        at("Answer in German") < at(&format!("- {fact} fact: The gateway answers 503 at night. (by the user, 21 Nov)")),
        "{text}"
    );
    assert!(at("## Remembered") < at("## Last session") && !text.contains("garden"), "{text}");

    let json: Value = serde_json::from_str(&world.recall(["context", "--cwd", SHOP, "--json", "--max-tokens", "230"]).out).unwrap();
    let shown = json["notes_shown"].as_array().unwrap().len() as u64;
    assert!(json["tokens"].as_u64().unwrap() <= 230 && shown + json["notes_left_out"].as_u64().unwrap() == 3, "{json}");
    let unknown = context(&world, "/home/dev/src/new");
    assert!(unknown.contains("Answer in German") && !unknown.contains("503"), "{unknown}");

    let starts = serde_json::json!({"session_id": "9ff3983b-a51c-4b9a-98ab-f473f1321c17", "hook_event_name": "SessionStart",
        "source": "startup", "cwd": SHOP, "transcript_path": world.claude_dir().join("projects/-shop/9ff3983b-a51c-4b9a-98ab-f473f1321c17.jsonl")});
    let heard = world.hook("session-start", starts.to_string());
    assert!(heard.out.contains("Write the test first"), "{heard:#?}");
}

#[test]
fn a_session_that_goes_on_hears_only_of_newer_notes() {
    let world = shop();
    let earlier = [("RECALL_NOW", "2026-11-15T12:00:00Z")];
    world.recall_with(["remember", "--project", SHOP, "The office is closed in August."], &earlier);
    kept(&world, "The office has moved to Bern.", &[]);
    let (path, rows) = session(20, "Mend the exporter.");
    let transcript = world.transcript(&path, rows);
    let starts = serde_json::json!({"session_id": "aa200000-5ec0-4000-8000-000000000000", "hook_event_name": "SessionStart",
        "source": "resume", "cwd": SHOP, "transcript_path": transcript});
    let heard = world.hook("session-start", starts.to_string());
    assert!(heard.out.contains("moved to Bern") && !heard.out.contains("August"), "{heard:#?}");
    // One whose context was compacted has lost what it was told.
    let heard = world.hook("session-start", starts.to_string().replace("resume", "compact"));
    assert!(heard.out.contains("moved to Bern") && heard.out.contains("August") && heard.out.contains("exporter"), "{heard:#?}");
}

#[test]
fn the_page_of_the_day_lists_what_was_remembered() {
    let world = shop();
    let id = kept(&world, "The office has *moved* to Bern.", &["--kind", "decision"]);
    let report = world.digest(&EXTRACT);
    assert_eq!(report["pages_written"], 2, "its day, and the day before that links to it: {report}");
    let page = |world: &World| world.pages().into_iter().find(|(path, _)| path.ends_with("2026-11-21.md")).map(|(_, text)| text);
    let text = page(&world).expect("a page of the day");
    let line =
        format!("\n## Remembered\n\n- 13:00 The office has \\*moved\\* to Bern. (decision, shop, by the user) `{id}`\n\n← [");
    assert!(text.contains(&line), "{text}");
    assert_eq!(world.digest(&EXTRACT)["pages_written"], 0, "and is not written again");
    let rebuilt = world.digest(&["--summarizer", "extract", "--rebuild-pages"]);
    assert_eq!((&rebuilt["pages_written"], page(&world)), (&0.into(), Some(text)), "{rebuilt}");
    world.recall(["forget", "--yes", "--note", &id]);
    assert_eq!(page(&world), None, "nothing else was that day");
}

#[test]
fn a_note_is_forgotten_by_its_id_and_leaves_no_byte() {
    let world = shop();
    let id = kept(&world, "The Zanzibarquux lagoon belongs to nobody.", &[]);
    let other = kept(&world, "The ledger is closed on Sundays.", &[]);
    world.digest(&EXTRACT);
    assert!(places_of(&world, WORD).len() >= 3, "{:?}", places_of(&world, WORD));
    let said = world.recall(["forget", "--note", &id, "--dry-run"]);
    assert!(said.out.contains(&format!("{id}  2026-11-21  shop  note  The Zanzibarquux lagoon")), "{said:#?}");
    assert!(said.out.contains("would forget 1 note\n"), "{said:#?}");
    let ran = world.recall(["forget", "--yes", "--note", &id[..6]]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "forgot 1 note\n"), "{ran:#?}");
    assert_gone(&world, WORD);
    assert!(!context(&world, SHOP).contains("lagoon") && context(&world, SHOP).contains(&other));
    assert_eq!(world.count("SELECT count(*) FROM session"), 2, "sessions stay");
    assert_eq!(world.recall(["forget", "--yes", "--note", &id]).out, "nothing found\n");
    // Who says it again wants it back.
    assert_eq!(kept(&world, "The Zanzibarquux lagoon belongs to nobody.", &[]), id);
}

#[test]
fn a_text_is_forgotten_in_notes_too() {
    let world = shop();
    kept(&world, "Ask the ZANZIBARQUUX\nlagoon office before a release.", &[]);
    let other = kept(&world, "The ledger is closed on Sundays.", &[]);
    world.digest(&EXTRACT);
    let ran = world.recall(["forget", "--yes", "--match", "zanzibarquux lagoon"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "forgot 1 note\n"), "{ran:#?}");
    assert_gone(&world, WORD);
    assert!(world.recall(["show", &other]).out.contains("ledger"));
}

#[test]
fn notes_go_with_their_project_and_their_time_and_outlive_sessions() {
    let note = |world: &World, folder: &str, at: &str, text: &str| {
        let ran = world.recall_with(["remember", "--project", folder, text], &[("RECALL_NOW", at)]);
        assert_eq!(ran.code, 0, "{ran:#?}");
    };
    let world = shop();
    note(&world, SHOP, "2026-11-01T12:00:00Z", "The Zanzibarquux lagoon is deep.");
    note(&world, "/home/dev/src/other", NOW, "The garden is green in May.");
    let ran = world.recall(["forget", "--yes", "--before", "2026-11-05"]);
    assert_eq!(ran.out, "forgot 1 note\n", "{ran:#?}");
    assert_gone(&world, WORD);

    note(&world, SHOP, NOW, "The Zanzibarquux lagoon is deep.");
    let ran = world.recall(["forget", "--yes", "--session", "aa100000"]);
    assert!(ran.code == 0 && !ran.out.contains("note"), "{ran:#?}");
    let ran = world.recall(["forget", "--yes", "--project", "shop"]);
    assert!(ran.out.contains("1 session whole") && ran.out.contains("1 note"), "{ran:#?}");
    assert_gone(&world, WORD);
    assert_eq!(world.count("SELECT count(*) FROM note"), 1);
    assert!(context(&world, "/home/dev/src/other").contains("garden"), "a project of notes alone stays");
}

#[test]
fn old_notes_outlive_old_sessions() {
    let world = World::new();
    let (path, rows) = session(10, "Mend the importer.");
    let file = world.transcript(&path, rows);
    crate::support::age(&file, Duration::from_secs(11 * 24 * 3600));
    world.digest(&EXTRACT);
    world
        .recall_with(["remember", "--project", SHOP, "The office is closed in August."], &[("RECALL_NOW", "2026-11-01T12:00:00Z")]);
    world.configure("[retention]\ndays = 5\n");
    let report = world.digest(&EXTRACT);
    assert_eq!(report["sessions_forgotten"], 1, "{report}");
    assert!(context(&world, SHOP).contains("closed in August"), "it was asked for");
}

#[test]
fn rules_that_change_clean_notes_and_excluded_projects_lose_theirs() {
    let world = shop();
    kept(&world, "Staff number zanzibarquux77 may open the vault.", &[]);
    let whole = kept(&world, "Project Bluebird is late by a month.", &[]);
    world.digest(&EXTRACT);
    world.configure(
        "[privacy]\nexclude_patterns = [\"Bluebird\"]\n[[privacy.rules]]\nid = \"staff-number\"\npattern = 'zanzibarquux\\d+'\n",
    );
    let ran = world.recall(["config"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    world.digest(&EXTRACT);
    assert_gone(&world, WORD);
    assert_gone(&world, "bluebird");
    assert!(
        context(&world, SHOP).contains("Staff number [REDACTED:staff-number] may open the vault."),
        "{}",
        context(&world, SHOP)
    );
    assert_eq!(world.recall(["show", &whole]).code, 2);
    assert!(world.recall(["search", "vault"]).out.contains("may open the vault"), "still found");

    world.configure("[privacy]\nexclude_projects = [\"/home/dev/src/shop\"]\n");
    world.digest(&EXTRACT);
    assert_eq!(world.count("SELECT count(*) FROM note"), 0);
    assert_gone(&world, "vault");
}

#[test]
fn an_export_brings_notes_along_and_older_ones_still_come_in() {
    let world = shop();
    let id = kept(&world, "The office has moved to Bern.", &["--kind", "decision"]);
    remember(&world, &["--everywhere", "Answer in German, please."]);
    let text = world.recall(["export"]).out;
    assert_eq!(text.lines().filter(|line| line.starts_with("{\"note\":")).count(), 2, "{text}");
    let import = |to: &World, text: &str| {
        let file = to.root().join("memory.jsonl");
        fs::write(&file, text).unwrap();
        to.recall(["import", file.to_str().unwrap()])
    };
    let target = World::new();
    let ran = import(&target, &text);
    assert!(ran.code == 0 && ran.out.contains("imported 2 notes"), "{ran:#?}");
    assert_eq!(target.recall(["export"]).out, text);
    assert!(target.recall(["search", "Bern"]).out.contains(&id));
    let again = import(&target, &text);
    assert!(again.code == 0 && !again.out.contains("notes"), "{again:#?}");
    target.recall(["digest", "--rebuild-pages"]);
    assert_eq!(target.pages(), {
        world.digest(&EXTRACT);
        world.pages()
    });
    assert!(!world.recall(["export", "--project", "other"]).out.contains("Bern"));

    let old: String = text.lines().filter(|line| !line.starts_with("{\"note\":")).map(|line| format!("{line}\n")).collect();
    let ran = import(&World::new(), &old);
    assert!(ran.code == 0 && ran.out.contains("imported 2 sessions, 0 were known") && !ran.out.contains("note"), "{ran:#?}");

    // Rules of its own hold there, too.
    let strict = World::new();
    strict.configure("[privacy]\nexclude_patterns = [\"Bern\"]\n");
    let ran = import(&strict, &text);
    assert!(ran.code == 1 && ran.out.contains("imported 1 note\n"), "{ran:#?}");
    assert!(ran.err.contains("nothing of it may be kept") && !ran.err.contains("Bern"), "{ran:#?}");
    assert_gone(&strict, "bern");
}

#[test]
fn a_note_that_cannot_come_in_is_told_with_its_line_and_the_others_come_in() {
    let source = shop();
    kept(&source, "The office has moved to Bern.", &[]);
    let text = source.recall(["export"]).out;
    let notes: Vec<(usize, &str)> = text.lines().enumerate().filter(|(_, line)| line.starts_with("{\"note\":")).collect();
    let [(at, line)] = notes[..] else { panic!("{text}") };
    let (mut id, mut kind, mut long, mut elsewhere): (Value, Value, Value, Value) = (
        serde_json::from_str(line).unwrap(),
        serde_json::from_str(line).unwrap(),
        serde_json::from_str(line).unwrap(),
        serde_json::from_str(line).unwrap(),
    );
    id["note"] = "../../etc".into();
    (kind["note"], kind["kind"]) = ("m00000001".into(), "prophecy".into());
    (long["note"], long["text"]) = ("m00000002".into(), "The vault is open. ".repeat(200).into());
    (elsewhere["note"], elsewhere["project"]) = ("m00000003".into(), "/home/dev/src/hidden/deep".into());
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.splice(at..at, [id, kind, long, elsewhere].map(|note| note.to_string()));
    let target = World::new();
    target.configure("[privacy]\nexclude_projects = [\"/home/dev/src/hidden/**\"]\n");
    let file = target.root().join("memory.jsonl");
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let ran = target.recall(["import", file.to_str().unwrap()]);
    assert!(ran.code == 1 && ran.out.contains("imported 1 note\n"), "{ran:#?}");
    for (line, why) in [
        (1, "is not a note id"),
        (2, "`prophecy` is not a kind of note"),
        (3, "notes have at most 2000"),
        (4, "is excluded in the config"),
    ] {
        let told =
            |told: &str| told.contains(&format!("line {}: ", at + line)) && told.contains(why) && told.ends_with(", skipped");
        assert!(ran.err.lines().any(told), "{line} {why}: {ran:#?}");
    }
    assert_eq!(target.count("SELECT count(*) FROM note"), 1);
}

#[test]
fn a_notes_timeline_has_the_sessions_around_it() {
    let world = shop();
    let ran = world.recall_with(
        ["remember", "--project", SHOP, "The office has moved to Bern.", "--json"],
        &[("RECALL_NOW", "2026-11-15T12:00:00Z")],
    );
    let id = serde_json::from_str::<Value>(&ran.out).unwrap()["id"].as_str().unwrap().to_owned();
    let told = world.recall(["timeline", &id]);
    let lines: Vec<&str> = told.out.lines().collect();
    assert_eq!(
        lines,
        [
            SHOP.to_owned(),
            "  2026-11-10 11:00  aa100000  Mend the importer.".to_owned(),
            format!("> 2026-11-15 13:00  {id}  fact: The office has moved to Bern. (by the user)"),
            "  2026-11-20 11:00  aa200000  Mend the exporter.".to_owned(),
        ],
        "{told:#?}"
    );
}

#[test]
fn a_note_for_all_projects_has_no_neighbours_and_says_so() {
    let world = shop();
    let ran = remember(&world, &["--everywhere", "Answer in German, please.", "--json"]);
    let id = serde_json::from_str::<Value>(&ran.out).unwrap()["id"].as_str().unwrap().to_owned();
    let told = world.recall(["timeline", &id]);
    let lines: Vec<&str> = told.out.lines().collect();
    assert_eq!(lines.len(), 3, "{told:#?}");
    assert!(
        lines[0] == "all projects" && lines[1].contains(&id) && lines[2].contains("not part of a project's timeline"),
        "{told:#?}"
    );
}

#[test]
fn a_project_that_moved_takes_its_notes_along() {
    let world = shop();
    let id = kept(&world, "The office has moved to Bern.", &[]);
    world.digest(&EXTRACT);
    let told =
        |project: &str| world.pages().iter().any(|(_, page)| page.contains(&format!("(fact, {project}, by the user) `{id}`")));
    assert!(told("shop"));
    world.configure("[projects]\n\"/home/dev/src/shop\" = \"/home/dev/src/store\"\n");
    world.digest(&EXTRACT);
    assert!(context(&world, "/home/dev/src/store").contains("moved to Bern"));
    assert!(told("store") && !told("shop"), "the page of its day: {:#?}", world.pages());
    let found: Value = serde_json::from_str(&world.recall(["search", "--json", "kind:note", "Bern"]).out).unwrap();
    assert_eq!(found["project"], "/home/dev/src/store");
}

#[test]
fn a_day_with_notes_alone_cost_nothing() {
    let world = World::new();
    kept(&world, "Deploys go through Gitea, never from a laptop.", &[]);
    world.digest(&EXTRACT);
    let page = world.pages().into_iter().find(|(_, page)| page.contains("Gitea")).expect("the day's page").1;
    assert!(page.contains("\ncost_usd: 0.00\n"), "{page}");
}
