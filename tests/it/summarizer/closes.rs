//! A model closes what an earlier session left open only where it cites rows that say so.

use serde_json::{Value, json};

use crate::support::stand_in::{COST, StandIn, report};
use crate::support::{assistant, committed, tasks, user};

pub const FIRST: &str = "aaaa0000-0000-4000-8000-000000000000";
pub const LATER: &str = "bbbb0000-0000-4000-8000-000000000000";
const THIRD: &str = "cccc0000-0000-4000-8000-000000000000";
const EXPORT: &str = "Migrate the admin export of invoices to keyset pagination";
/// What the later session says, each on a row of its own.
const DONE: &str = "The admin export of the invoices walks by keyset now, the pagination by offset is gone.";
const OTHER: &str = "The rates of exchange are cached, because they change daily.";
const LEFT: &str = "Still to do: migrate the admin export of invoices to keyset pagination.";
const NOT_DONE: &str = "The admin export of invoices is not migrated to keyset pagination.";

/// A session left the export open; the model says of a later one, which went so, that it closed the export. `closes` is made of the numbers
/// of the rows that hold the cited text.
fn closed(rows: &str, cited: Option<&str>) -> (StandIn, Value) {
    let form = |closes: &str| {
        let form = json!({"title": "The shop", "request": "Go on", "completed": [{"text": "The shop goes on", "rows": [1]}], "closes": "CLOSES"});
        report(&form, COST).replace("\\\"CLOSES\\\"", closes)
    };
    let scenario = r#"
        id=$(sed -n 's/^\(n[0-9a-f]*\) Migrate the admin export.*/\1/p' "$call/stdin")
        row=$(grep -F "$(cat "$here/cited")" "$call/stdin" | sed -n 's/^\[\([0-9]*\)\].*/\1/p' | tail -1)
        sed -e "s/OPEN_ITEM/$id/" -e "s/\"ROWS\"/$row/" -e "s/\\\\\"ROW\\\\\"/$row/" "$here/answer""#;
    let closes = match cited {
        Some(_) => r#"[{\"id\": \"OPEN_ITEM\", \"rows\": [\"ROW\"]}]"#,
        None => r#"[\"OPEN_ITEM\"]"#,
    };
    let stand_in = StandIn::new(&[], scenario).with("answer", &form(closes)).with("cited", cited.unwrap_or("no such row"));
    let first = user(FIRST, "u1", "2026-11-19T10:00:00Z", "Sort the order list.")
        + &tasks(FIRST, "t1", "2026-11-19T10:01:00Z", &[EXPORT])
        + &assistant(FIRST, "a1", "2026-11-19T10:02:00Z", "It is sorted.");
    stand_in.world.transcript(&format!("-home-dev-shop/{FIRST}.jsonl"), first);
    assert_eq!(stand_in.recall(&["digest", "--summarizer", "extract"]).code, 0);
    stand_in.world.transcript(
        &format!("-home-dev-shop/{LATER}.jsonl"),
        user(LATER, "u1", "2026-11-20T10:00:00Z", "Go on with the shop.") + rows,
    );
    let ran = stand_in.recall(&["digest", "--session", LATER, "--summarizer", "claude"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let digest = stand_in.show(LATER)["digest"].clone();
    assert_eq!(digest["title"], "The shop", "{digest}");
    (stand_in, digest)
}

fn said(text: &str) -> String {
    assistant(LATER, "a1", "2026-11-20T10:01:00Z", text) + &assistant(LATER, "a2", "2026-11-20T10:02:00Z", OTHER)
}

#[test]
fn what_cited_rows_say_is_done_is_closed() {
    let subject = "Page the admin export of invoices by keyset";
    let commit = committed(LATER, "k", "2026-11-20T10:01:00Z", subject) + &said("Done.");
    for (rows, cited) in [(said(DONE), DONE), (commit, subject)] {
        let (stand_in, digest) = closed(&rows, Some(cited));
        assert_eq!(digest["closes"].as_array().map(Vec::len), Some(1), "{cited}: {digest}");
        assert!(digest.get("closes_left_out").is_none(), "{cited}: {digest}");
        let page = stand_in.page(FIRST);
        assert!(page.contains(&format!("~~{EXPORT}~~ (done, in session bbbb0000, 2026-11-20) `n")), "{cited}: {page}");
        assert!(!stand_in.recall(&["show", LATER, "--items"]).out.contains(EXPORT), "{cited}");
    }
}

#[test]
fn without_rows_or_with_rows_that_do_not_say_so_it_stays_open_and_only_the_items_tell() {
    for (rows, cited) in [
        (said(DONE), None),
        (said(DONE), Some(OTHER)),
        (said(NOT_DONE), Some(NOT_DONE)),
        (said(LEFT), Some(LEFT)),
        (said(DONE), Some("nowhere")),
    ] {
        let (stand_in, digest) = closed(&rows, cited);
        assert_eq!(digest["closes"], json!([]), "{cited:?}: {digest}");
        assert_eq!(digest["closes_left_out"].as_array().map(Vec::len), Some(1), "{cited:?}: {digest}");
        let page = stand_in.page(FIRST);
        assert!(page.contains(EXPORT) && !page.contains("~~"), "{cited:?}: {page}");
        let items = stand_in.recall(&["show", LATER, "--items"]).out;
        let told = items.split("(shown only here):\n").nth(1).unwrap_or_else(|| panic!("{cited:?}: {items}"));
        assert!(told.contains("closes       n") && told.contains(EXPORT), "{cited:?}: {items}");
        assert!(!stand_in.page(LATER).contains("closes"), "{cited:?}");
    }
}

#[test]
fn what_was_kept_out_goes_with_the_export_and_closes_nothing_there() {
    let (stand_in, _) = closed(&said(DONE), None);
    let file = stand_in.here().join("out.jsonl");
    std::fs::write(&file, stand_in.recall(&["export"]).out).expect("the export");
    let other = StandIn::new(&[], "");
    assert_eq!(other.recall(&["import", file.to_str().expect("UTF-8")]).code, 0);
    assert_eq!(other.show(LATER)["digest"]["closes_left_out"].as_array().map(Vec::len), Some(1));
    assert_eq!(other.show(FIRST)["open_items"][0]["closed"], Value::Null);
}

const SHOWN: &str = "Open items of earlier sessions:\n";
const AN_HOUR_LATER: [(&str, &str); 1] = [("RECALL_NOW", "2026-11-21T13:00:00Z")];

/// The lines of open items in a request; what was said stands behind them.
fn offered(stdin: &str) -> Vec<&str> {
    let list = stdin.split_once(SHOWN).map_or("", |(_, rest)| rest.split_once("<record-").expect("the record").0);
    list.lines().take_while(|line| *line != "Said in earlier sessions:").collect()
}

/// A session by a day's noon, with what its list leaves open.
pub fn session(stand_in: &StandIn, id: &str, day: usize, left: &[&str], reply: &str) {
    let at = |minute: usize| format!("2026-11-{day:02}T12:{minute:02}:00Z");
    // The same ones in two sessions would be a copy.
    let uuid = |row: &str| format!("{row}{id}");
    let list = if left.is_empty() { String::new() } else { tasks(id, &uuid("t"), &at(1), left) };
    let rows = user(id, &uuid("u"), &at(0), "Go on with the shop.") + &list + &assistant(id, &uuid("a"), &at(2), reply);
    stand_in.world.transcript(&format!("-home-dev-shop/{id}.jsonl"), rows);
    stand_in.world.age_transcripts();
}

#[test]
fn the_newest_items_are_shown_as_many_as_have_room_and_only_those_can_be_closed() {
    let long = |what: &str| -> Vec<String> { (0..8).map(|n| format!("Do {n}: {what}")).collect() };
    let closes =
        r#"closes=$(grep -o '"n[0-9a-f]*"' "$here/all" | tr '\n' ','); sed -e "s/\"CLOSES\"/[${closes%,}]/" "$here/answer""#;
    let form = json!({"title": "The shop", "request": "Go on", "completed": [{"text": "The shop goes on", "rows": [1]}], "closes": "CLOSES"});
    let answer = report(&form, COST).replace("\\\"CLOSES\\\"", "\"CLOSES\"");
    let stand_in = StandIn::new(&[], closes).with("answer", &answer);
    let older = "paint the gauge of the harbour crane blue before the audit of the northern depot, and then once more";
    let newer = "migrate the admin export of invoices to keyset pagination, since offsets skip rows of a growing list";
    for (id, day, what) in [(FIRST, 18, older), (THIRD, 19, newer)] {
        let left = long(what);
        session(&stand_in, id, day, &left.iter().map(String::as_str).collect::<Vec<_>>(), "It is sorted.");
    }
    assert_eq!(stand_in.recall(&["digest", "--summarizer", "extract"]).code, 0);
    let ids: Vec<String> = [THIRD, FIRST]
        .iter()
        .flat_map(|id| stand_in.show(id)["open_items"].as_array().expect("items").clone())
        .map(|item| item["id"].as_str().expect("an id").to_owned())
        .collect();
    assert_eq!(ids.len(), 16);
    // In the answer they stand in a text of JSON.
    stand_in.put("all", &ids.iter().map(|id| format!("\"{id}\"\n")).collect::<String>());
    stand_in.now_does(&closes.replace("[${closes%,}]", "[$(echo ${closes%,} | sed 's/\"/\\\\\\\\\"/g')]"));
    session(&stand_in, LATER, 20, &[], "The shop goes on.");
    let ran = stand_in.recall(&["digest", "--session", LATER, "--summarizer", "claude"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let call = stand_in.only_call();
    let shown: Vec<&str> = offered(&call.stdin).iter().map(|line| &line[..9]).collect();
    assert!((6..10).contains(&shown.len()) && ids.iter().zip(&shown).all(|(id, shown)| id == shown), "{shown:?} of {ids:?}");
    let claimed = stand_in.show(LATER)["digest"]["closes_left_out"].clone();
    let claimed: Vec<&str> = claimed.as_array().expect("claimed").iter().map(|one| one["id"].as_str().expect("an id")).collect();
    assert_eq!(claimed, shown);
}

pub const PAINT: &str = "Paint the gauge of the harbour crane blue before the audit of the northern depot";

/// Whoever is asked says that the first record left this to do, and that what is open was done by the row that says `DONE`.
pub fn next_step() -> StandIn {
    let form = json!({"title": "The shop", "request": "Go on", "completed": [{"text": "The shop goes on", "rows": [1]}],
        "next_steps": [{"text": PAINT, "rows": [2]}], "closes": "CLOSES"});
    let scenario = r#"
        id=$(sed -n 's/^\(n[0-9a-f]*\) .*paint the gauge.*/\1/p' "$call/stdin" | head -1)
        row=$(sed -n 's/^\[\([0-9]*\)\].*gauge of the harbour crane is painted.*/\1/p' "$call/stdin" | tail -1)
        [ -z "$id" ] && closes='[]' || closes="[{\\\\\"id\\\\\": \\\\\"$id\\\\\", \\\\\"rows\\\\\": [$row]}]"
        sed -e "s/\\\\\"CLOSES\\\\\"/$closes/" "$here/answer""#;
    let stand_in = StandIn::new(&[], scenario).with("answer", &report(&form, COST));
    session(&stand_in, FIRST, 19, &[], &format!("The list is sorted. Still to do: {}.", PAINT.to_lowercase()));
    stand_in
}

const PAINTED: &str = "The gauge of the harbour crane is painted blue, before the audit of the northern depot.";

fn later(stand_in: &StandIn, variables: &[(&str, &str)]) -> crate::support::Ran {
    stand_in.world.recall_with(["digest", "--session", LATER, "--summarizer", "claude"], variables)
}

#[test]
fn what_a_model_said_is_open_is_shown_in_later_runs_and_can_be_closed() {
    let stand_in = next_step();
    assert_eq!(stand_in.recall(&["digest", "--summarizer", "claude"]).code, 0);
    assert_eq!(stand_in.show(FIRST)["open_items"][0]["text"], format!("Claude: “Still to do: {}.”", PAINT.to_lowercase()));
    session(&stand_in, LATER, 20, &[], PAINTED);
    let dry = stand_in.world.recall_with(["digest", "--dry-run", "--json", "--summarizer", "claude"], &AN_HOUR_LATER);
    let dry: Value = serde_json::from_str(&dry.out).expect("JSON");
    assert_eq!(dry["calls"], 1, "{dry}");
    let ran = later(&stand_in, &AN_HOUR_LATER);
    assert_eq!(ran.code, 0, "{ran:#?}");
    println!("{ran:#?}");
    let calls = stand_in.calls();
    let shown = offered(&calls[1].stdin);
    assert!(
        calls.len() == 2 && shown.len() == 1 && shown[0].contains("paint the gauge of the harbour crane blue"),
        "{shown:?}: {}",
        calls[1].stdin
    );
    assert!(stand_in.page(FIRST).contains("(done, in session bbbb0000, 2026-11-20)"), "{}", stand_in.page(FIRST));
    // Nothing is asked again because something else is open now.
    let again = stand_in.world.recall_with(["digest", "--summarizer", "claude"], &AN_HOUR_LATER);
    assert_eq!((again.code, stand_in.calls().len()), (0, 2), "{again:#?}");
}

#[test]
fn what_a_model_says_in_the_same_run_is_shown_to_none_of_its_requests() {
    let stand_in = next_step();
    session(&stand_in, LATER, 20, &[], PAINTED);
    for session in [FIRST, LATER] {
        assert_eq!(stand_in.recall(&["digest", "--session", session, "--summarizer", "claude"]).code, 0);
    }
    assert!(offered(&stand_in.calls()[1].stdin).is_empty(), "the clock stands: one run");
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "named points are built into debug builds only")]
fn an_answer_is_not_bought_again_where_more_is_open_by_then() {
    let stand_in = next_step();
    session(&stand_in, LATER, 20, &[], PAINTED);
    let killed = later(&stand_in, &[("RECALL_KILL_AT", "reply stored:1")]);
    assert_eq!((killed.code, stand_in.calls().len()), (-1, 1), "{killed:#?}");
    assert_eq!(stand_in.recall(&["digest", "--session", FIRST, "--summarizer", "claude"]).code, 0);
    assert_eq!(later(&stand_in, &AN_HOUR_LATER).code, 0);
    assert_eq!((stand_in.calls().len(), stand_in.show(LATER)["digest"]["title"].as_str()), (2, Some("The shop")));
    assert_eq!(stand_in.status()["spent_usd"], json!(2.0 * COST));
}

#[test]
fn a_digest_of_a_model_stays_where_an_earlier_session_leaves_something_else_open_now() {
    let stand_in = next_step();
    session(&stand_in, LATER, 20, &[], PAINTED);
    assert_eq!(stand_in.recall(&["digest", "--summarizer", "claude"]).code, 0);
    session(&stand_in, THIRD, 18, &[EXPORT], "It is sorted.");
    assert_eq!(stand_in.recall(&["digest", "--session", THIRD, "--summarizer", "extract"]).code, 0);
    let ran = stand_in.world.recall_with(["digest"], &AN_HOUR_LATER);
    assert_eq!((ran.code, stand_in.calls().len()), (0, 2), "{ran:#?}");
}
