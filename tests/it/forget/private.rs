//! What turns out to be private or excluded when it is stored already: it goes with all that was made of it.

use std::fs;

use serde_json::json;

use crate::forget::scene::{EXTRACT, FORK, OTHER, TELLS, WORD, id, path_of, told_world, write};
use crate::support::data_folder::{assert_gone, places_of};
use crate::support::{World, assistant, user};

const ASKED: &str = "<private>Whose is the lagoon?</private>";
/// As long, so that the file's size does not tell.
const ASKED_OPENLY: &str = "Tell me in a few words: whose is it now";
const SAID: &str = "I found that the Zanzibarquux lagoon belongs to nobody.";

/// A session with one question that may be private, and a public one after it.
fn session(asked: &str) -> String {
    user(TELLS, &id("a1"), "2026-11-20T10:00:00Z", "Why is the importer slow?")
        + &assistant(TELLS, &id("a2"), "2026-11-20T10:01:00Z", "I cached the rates, because they were read for every row.")
        + &user(TELLS, &id("a3"), "2026-11-20T10:10:00Z", asked)
        + &assistant(TELLS, &id("a4"), "2026-11-20T10:11:00Z", SAID)
        + &user(TELLS, &id("a5"), "2026-11-20T10:20:00Z", "Write the changelog entry.")
        + &assistant(TELLS, &id("a6"), "2026-11-20T10:21:00Z", "I wrote the changelog entry.")
}

/// A model that tells what the lagoon is in every digest it makes, as long as nobody takes it away.
fn model_that_tells(world: &World) {
    world.fake_claude(concat!(
        "#!/bin/sh\n",
        r#"cat >/dev/null; printf '%s' '{"is_error":false,"total_cost_usd":0.001,"result":"{\"title\":\"The lagoon\",\"request\":\"ask\",\"learned\":[\"Zanzibarquux is nobodys\"]}"}'"#
    ));
}

#[test]
fn a_copy_that_was_read_before_the_private_turn_goes() {
    let world = World::new();
    model_that_tells(&world);
    let fork = user(FORK, &id("f1"), "2026-11-20T11:00:00Z", "What was that about?")
        + &assistant(FORK, &id("a4"), "2026-11-20T10:11:00Z", SAID)
        + &assistant(FORK, &id("f2"), "2026-11-20T11:01:00Z", "I summed it up in the wiki.");
    world.transcript(&path_of(FORK), fork);
    world.digest(&["--summarizer", "claude"]);
    assert!(places_of(&world, WORD).len() > 3);
    world.transcript(&path_of(TELLS), session(ASKED));
    world.digest(&EXTRACT);
    assert_gone(&world, WORD);
    assert!(world.texts(FORK, "reply").iter().any(|text| text.contains("wiki")), "the rest stays");
    assert!(world.texts(TELLS, "reply").iter().any(|text| text.contains("changelog")), "what is public is there");
}

#[test]
fn what_an_older_version_stored_of_a_private_turn_goes_with_the_upgrade() {
    assert_eq!(ASKED.len(), ASKED_OPENLY.len());
    let world = World::new();
    world.transcript(&path_of(TELLS), session(ASKED_OPENLY));
    write_other(&world);
    world.digest(&EXTRACT);
    let (rows, pages) = (world.items(), world.pages().len());
    world.make_index_older();
    // The older version knew of no such tags: it stored the turn like any other.
    world.transcript(&path_of(TELLS), session(ASKED));
    let report = world.digest(&EXTRACT);
    assert_eq!((&report["rows_new"], &report["files_read"]), (&0.into(), &2.into()), "{report}");
    assert_gone(&world, WORD);
    assert_eq!((world.items(), world.pages().len()), (rows - 2, pages));
    assert_eq!(world.digest(&EXTRACT)["files_read"], 0);
}

fn write_other(world: &World) {
    let rows = user(OTHER, &id("c1"), "2026-11-20T12:00:00Z", "Add a button to the order list.")
        + &assistant(OTHER, &id("c2"), "2026-11-20T12:05:00Z", "I added the button to `orders.py`.");
    world.transcript(&path_of(OTHER), rows);
}

#[test]
fn a_digest_that_tells_of_a_private_subagent_goes_though_it_was_paid_for() {
    let world = World::new();
    model_that_tells(&world);
    world.transcript(&path_of(TELLS), user(TELLS, &id("a1"), "2026-11-20T10:00:00Z", "Why is the importer slow?"));
    let of_agent = |row: String| {
        let mut row: serde_json::Value = serde_json::from_str(&row).unwrap();
        row["agentId"] = json!("a6609bf8017d8985e");
        row["isSidechain"] = json!(true);
        format!("{row}\n")
    };
    let agent = of_agent(user(TELLS, &id("b1"), "2026-11-20T10:11:00Z", "Look for the owner."))
        + &of_agent(assistant(TELLS, &id("b2"), "2026-11-20T10:12:00Z", SAID));
    world.transcript(&format!("-home-dev-src-shop/{TELLS}/subagents/agent-a6609bf8017d8985e.jsonl"), agent);
    world.digest(&["--summarizer", "claude"]);
    // Replaced by one without a model, the paid one stays on record.
    world.digest(&["--summarizer", "extract", "--session", TELLS]);
    assert!(places_of(&world, WORD).len() > 2);
    world.transcript(&path_of(TELLS), session(ASKED));
    world.digest(&EXTRACT);
    assert_gone(&world, WORD);
}

#[test]
fn an_import_brings_back_what_was_forgotten_and_nothing_private() {
    let world = World::new();
    world.transcript(&path_of(TELLS), session(ASKED_OPENLY));
    world.digest(&EXTRACT);
    fs::write(world.root().join("all.jsonl"), world.recall(["export"]).out).unwrap();
    let private = World::new();
    private.transcript(&path_of(TELLS), session(ASKED));
    private.digest(&EXTRACT);
    assert_eq!(private.recall(["forget", "--yes", "--match", "changelog"]).code, 0);
    assert_gone(&private, "changelog");
    let file = world.root().join("all.jsonl");
    let ran = private.recall(["import", file.to_str().unwrap()]);
    assert!(ran.code == 0 && ran.out.contains("imported 1"), "{ran:#?}");
    private.digest(&EXTRACT);
    assert_gone(&private, WORD);
    assert!(private.texts(TELLS, "reply").iter().any(|text| text.contains("changelog")), "what was forgotten is back");
}

#[test]
fn projects_that_are_excluded_later_go_and_stay_out() {
    for config in ["[privacy]\nexclude_projects = ['/home/dev/src/shop']\n", "[exclude]\nprojects = ['**/shop']\n"] {
        let world = told_world(&EXTRACT);
        let elsewhere = |row: String| row.replace("/home/dev/src/shop", "/home/dev/src/wiki");
        let wiki = "dddddddd-1111-4111-8111-000000000004";
        let rows = elsewhere(user(wiki, &id("d1"), "2026-11-20T13:00:00Z", "Mend the index page."));
        world.transcript(&format!("-home-dev-src-wiki/{wiki}.jsonl"), rows);
        world.digest(&EXTRACT);
        world.configure(config);
        let planned = world.recall(["digest", "--dry-run"]);
        assert_eq!(planned.code, 0, "{planned:#?}");
        assert_eq!(world.count("SELECT count(*) FROM session"), 4, "nothing changed");
        let report = world.digest(&EXTRACT);
        assert_eq!(report["sessions_excluded"], 3, "{report}");
        assert_gone(&world, WORD);
        assert_eq!(world.exported().len(), 1);
        assert!(world.pages().iter().all(|(path, text)| !path.contains("shop") && !text.contains("importer")));
        // Read again from the start, as a file is that was restored.
        for file in write(&world) {
            let text = fs::read_to_string(&file).unwrap();
            let session = file.file_stem().unwrap().to_str().unwrap();
            let title = json!({"type": "ai-title", "aiTitle": "Zanzibarquux", "sessionId": session});
            fs::write(&file, format!("{text}{title}\n")).unwrap();
        }
        world.age_transcripts();
        let again = world.digest(&EXTRACT);
        assert!(again["sessions_excluded"].is_null(), "{again}");
        assert_gone(&world, WORD);
        assert_eq!(world.exported().len(), 1);
    }
}

#[test]
fn a_run_that_is_cut_short_leaves_the_rest_to_the_next() {
    let world = told_world(&EXTRACT);
    let to_do = "SELECT count(*) FROM fact WHERE name = 'scrub'";
    assert_eq!(world.count(to_do), 0);
    let cut = world.recall_with(["forget", "--yes", "--match", WORD], &[("RECALL_KILL_AT", "taken out:1")]);
    assert_eq!((cut.code, world.count(to_do)), (-1, 1), "{cut:#?}");
    world.digest(&EXTRACT);
    assert_eq!(world.count(to_do), 0, "the file is written anew by whatever run comes next");
    // A run that fails does it as well: a folder lies where a page belongs.
    let page = world.pages().into_iter().map(|(path, _)| path).find(|path| path.contains("sessions/")).expect("a page");
    fs::remove_file(world.data_dir().join(&page)).unwrap();
    fs::create_dir(world.data_dir().join(&page)).unwrap();
    world.configure("[[privacy.rules]]\nid = 'importer'\npattern = 'importer'\n");
    let failed = world.recall(["digest", "--summarizer", "extract"]);
    assert_ne!(failed.code, 0, "{failed:#?}");
    assert_eq!(world.count(to_do), 0);
}
