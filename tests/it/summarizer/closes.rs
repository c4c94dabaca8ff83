//! A model closes what an earlier session left open only where it cites rows that say so.

use serde_json::{Value, json};

use crate::support::stand_in::{COST, StandIn, report};
use crate::support::{assistant, committed, tasks, user};

const FIRST: &str = "aaaa0000-0000-4000-8000-000000000000";
const LATER: &str = "bbbb0000-0000-4000-8000-000000000000";
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
        let told = items.split("told nowhere else:\n").nth(1).unwrap_or_else(|| panic!("{cited:?}: {items}"));
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
