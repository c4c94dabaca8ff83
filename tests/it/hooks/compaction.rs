//! After a compaction: what the summary leaves out is told at the next prompt, since clients write it when the hook at the start is done.

use std::fs;

use serde_json::{Value, json};

use crate::hooks::payloads::{FOLDER, S, configure, patient, starts, told, transcript, turn};
use crate::hooks::prompt::{heard, says};
use crate::support::{World, user};

const HEAD: &str = "The summary of this conversation leaves out the following.";
const LEDGER: &str = "Never touch the archived ledger of the customers.";
const SUMMARY: &str =
    "Summary:\n1. Primary Request:\n   The rates are cached per currency.\n2. All user messages:\n   - Cache the rates.";

/// A conversation of two turns; the second demands something.
fn talk(demand: &str) -> String {
    turn(S, 1, "2026-11-21T11:00:00Z", "Cache the rates.", "The rates are cached now.")
        + &turn(S, 2, "2026-11-21T11:05:00Z", demand, "I leave it alone.")
}

fn summary(n: usize, at: &str, text: &str) -> String {
    let content = format!("This session is being continued from a previous conversation that ran out of context.\n\n{text}");
    let row = json!({"type": "user", "isCompactSummary": true, "sessionId": S, "uuid": format!("summary-{n}"), "timestamp": at,
        "cwd": "/home/dev/src/shop", "message": {"role": "user", "content": content}});
    format!("{row}\n")
}

fn write(world: &World, rows: &str) {
    world.transcript(&format!("{FOLDER}/{S}.jsonl"), rows);
}

fn append(world: &World, rows: &str) {
    let before = fs::read_to_string(transcript(world, S)).unwrap();
    fs::write(transcript(world, S), before + rows).unwrap();
}

/// The client compacts the session: the hook at its start first, then the rows of the summary.
fn compact(world: &World) -> String {
    let start = told(world, &starts(world, S, "compact")).unwrap_or_default();
    append(world, &summary(1, "2026-11-21T11:10:00Z", SUMMARY));
    start
}

fn next(world: &World, prompt: &str) -> Option<String> {
    heard(world, &says(world, S, prompt))
}

#[test]
fn the_next_prompt_is_told_once_what_the_summary_leaves_out() {
    for digested in [false, true] {
        let world = World::new();
        patient(&world);
        write(&world, &talk(LEDGER));
        if digested {
            world.digest(&["--summarizer", "extract"]);
        }
        assert_eq!(next(&world, "go on"), None, "no compaction was seen");
        let start = compact(&world);
        assert!(!start.contains(HEAD), "the summary is not known yet: {start}");
        let text = next(&world, "go on").expect("what the summary leaves out");
        assert!(text.starts_with("<recall-context>\n") && text.ends_with("</recall-context>\n"), "{text}");
        assert!(text.contains(HEAD) && text.contains(&format!("- “{LEDGER}” (turn 2, 2026-11-21 12:05)\n")), "{text}");
        assert!(!text.contains("Cache the rates") && text.len() <= 1_400, "{text}");
        assert_eq!(next(&world, "go on, please"), None, "once");
    }
}

#[test]
fn nothing_is_told_where_the_summary_is_not_known_or_leaves_nothing_out() {
    let world = World::new();
    patient(&world);
    write(&world, &(talk(LEDGER) + &summary(0, "2026-11-21T11:06:00Z", SUMMARY)));
    told(&world, &starts(&world, S, "compact"));
    assert_eq!(next(&world, "go on"), None, "it is the summary of an earlier compaction");

    let whole = World::new();
    patient(&whole);
    write(&whole, &talk("Cache the rates per currency, and no longer than 0 days."));
    compact(&whole);
    assert_eq!(next(&whole, "go on"), None);
}

#[test]
fn who_wants_nothing_at_prompts_is_told_nothing() {
    let world = World::new();
    configure(&world, "prompt = \"off\"\n");
    write(&world, &talk(LEDGER));
    compact(&world);
    assert_eq!(next(&world, "go on"), None);
}

#[test]
fn nothing_private_secret_forgotten_or_excluded_is_told() {
    const SECRET: &str = "AKIA1234567890ABCDEF";
    for demand in [
        "<private>Never touch the archived ledger of the customers.</private>",
        "Never touch the archived ledger <private>of the customers</private>.",
        &format!("Never touch the archived ledger with {SECRET}."),
    ] {
        let world = World::new();
        patient(&world);
        write(&world, &talk(demand));
        compact(&world);
        let text = next(&world, "go on").unwrap_or_default();
        assert!(!text.contains("customers") && !text.contains(SECRET), "{demand}: {text}");
        world.age_transcripts();
        world.digest(&["--summarizer", "extract"]);
        let shown = world.recall(["show", S, "--dropped"]).out;
        assert!(!shown.contains("customers") && !shown.contains(SECRET), "{demand}: {shown}");
    }
    let excluded = World::new();
    excluded.configure("[hooks]\ndeadline_ms = 5000\n[privacy]\nexclude_projects = [\"**/shop\"]\n");
    write(&excluded, &talk(LEDGER));
    compact(&excluded);
    assert_eq!(next(&excluded, "go on"), None);

    let forgotten = World::new();
    patient(&forgotten);
    write(&forgotten, &talk(LEDGER));
    forgotten.digest(&["--summarizer", "extract"]);
    let ran = forgotten.recall(["forget", "--match", "archived ledger", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    compact(&forgotten);
    assert_eq!(next(&forgotten, "go on"), None);
}

#[test]
fn all_of_it_can_be_asked_for_of_each_compaction() {
    let world = World::new();
    patient(&world);
    let other = "66661111-aaaa-4aaa-8aaa-555511110000";
    write(&world, &talk(LEDGER));
    compact(&world);
    append(&world, &turn(S, 3, "2026-11-21T11:20:00Z", "Cache the rates.", "They are."));
    append(&world, &summary(2, "2026-11-21T11:30:00Z", SUMMARY));
    append(&world, &user(S, "last", "2026-11-21T11:40:00Z", "thanks"));
    world.transcript(&format!("{FOLDER}/{other}.jsonl"), turn(other, 1, "2026-11-21T09:00:00Z", "Sort the orders.", "Sorted."));
    world.age_transcripts();
    world.digest(&["--summarizer", "extract"]);

    let shown = world.recall(["show", S, "--dropped"]).out;
    let line = format!("- “{LEDGER}” (turn 2, 2026-11-21 12:05)\n");
    assert!(shown.contains(&format!("Compacted 2026-11-21 12:10: 1 statement that the summary leaves out\n{line}")), "{shown}");
    assert!(shown.contains("Compacted 2026-11-21 12:30: the summary leaves out nothing that recall looks for\n"), "{shown}");
    assert_eq!(shown.matches(LEDGER).count(), 1, "{shown}");

    let data: Value = serde_json::from_str(&world.recall(["show", S, "--dropped", "--json"]).out).unwrap();
    let dropped = &data["compactions"][0]["dropped"][0];
    assert_eq!((dropped["kind"].as_str(), dropped["turn"].as_i64()), (Some("constraint"), Some(2)), "{data:#}");
    assert_eq!((dropped["text"].as_str(), &data["session"]), (Some(LEDGER), &json!(S)), "{data:#}");
    assert_eq!(data["compactions"][1], json!({"at": 1795260600000u64, "known": true, "dropped": []}));

    let none = world.recall(["show", other, "--dropped"]).out;
    assert_eq!(none, format!("according to its records, session {other} was not compacted\n"));
}

#[test]
fn an_analysis_before_the_summary_took_the_place_of_the_conversation_as_well() {
    let world = World::new();
    patient(&world);
    write(&world, &talk(LEDGER));
    let analysis = format!("Analysis:\nThe user said that one should \"{LEDGER}\"\n\n{SUMMARY}");
    append(&world, &summary(1, "2026-11-21T11:10:00Z", &analysis));
    // A summary of which the middle would be missing tells nothing of what it leaves out.
    let long = format!("{SUMMARY}\n{}", "The rates were looked at one by one. ".repeat(1_200));
    append(&world, &turn(S, 3, "2026-11-21T11:20:00Z", "Always ask before deploying anything to staging.", "Yes."));
    append(&world, &summary(2, "2026-11-21T11:30:00Z", &long));
    world.age_transcripts();
    world.digest(&["--summarizer", "extract"]);
    let shown = world.recall(["show", S, "--dropped"]).out;
    assert!(shown.contains("12:10: the summary leaves out nothing"), "{shown}");
    assert!(shown.contains("12:30: its summary was not kept whole, so what it leaves out is not known"), "{shown}");
}
