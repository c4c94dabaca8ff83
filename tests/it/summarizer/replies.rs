//! Good answers: what is stored of them and how people see it.

use std::fs;

use serde_json::{Value, json};

use crate::support::stand_in::{COST, PLAIN, RETRY, StandIn, form, report, said};
use crate::support::{assistant, tasks};

/// What the model says, as it stands in a digest.
fn claimed(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|c| c["claimed"].as_str().expect("a text")).collect()
}

#[test]
fn a_good_reply_becomes_the_digest_with_its_cost_and_its_pages() {
    let stand_in = StandIn::good(&["plain"]);
    let ran = stand_in.recall(&["digest", "--json"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let told: Value = serde_json::from_str(&ran.out).expect("one JSON object");
    assert_eq!((&told["sessions_digested"], &told["sessions_failed"]), (&json!(1), &json!(0)), "{ran:#?}");
    assert!((told["cost_usd"].as_f64().expect("a number") - COST).abs() < 1e-9, "{ran:#?}");

    let shown = stand_in.show(PLAIN);
    assert_eq!(shown["summarizer"], "claude");
    assert_eq!(shown["model"], "claude-haiku-4-5-20251001");
    assert_eq!(shown["digest_cost_usd"], COST);
    assert_eq!(shown["waits_for_model"], false);
    assert_eq!(shown["digest"]["title"], form()["title"]);
    assert_eq!(shown["digest"]["questions"], form()["questions"]);
    let status = stand_in.status();
    assert_eq!((&status["waiting_for_model"], &status["failing"], &status["skipped"]), (&json!(0), &json!([]), &json!([])));
    assert_eq!(status["spent_usd"], COST);
    insta::assert_snapshot!("session_page", stand_in.page(PLAIN));
    let pages = stand_in.world.pages();
    let (_, day) = pages.iter().find(|(name, _)| !name.contains("/sessions/")).expect("the day's page");
    insta::assert_snapshot!("day_page", day);
}

#[test]
fn the_model_is_not_asked_again_about_a_session_that_did_not_change() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let pages = stand_in.world.pages();
    let again = stand_in.recall(&["digest"]);
    assert_eq!(again.code, 0, "{again:#?}");
    stand_in.only_call();
    assert_eq!(stand_in.world.pages(), pages);
}

#[test]
fn a_session_that_grew_is_digested_anew_as_a_whole() {
    let stand_in = StandIn::good(&["plain"]);
    let file = stand_in.world.claude_dir().join(format!("projects/-home-dev-src-shop/{PLAIN}.jsonl"));
    let whole = fs::read_to_string(&file).expect("the transcript");
    let half: String = whole.split_inclusive('\n').take(40).collect();
    fs::write(&file, half).expect("the first half");
    stand_in.world.age_transcripts();
    stand_in.recall(&["digest"]);
    fs::write(&file, &whole).expect("all of it");
    stand_in.world.age_transcripts();
    stand_in.recall(&["digest"]);

    let calls = stand_in.calls();
    assert_eq!(calls.len(), 2, "{calls:#?}");
    let (grown, _) = calls[1].record();
    assert!(grown.contains("[1] user: Customers say that orders go missing"), "{grown}");
    assert!(grown.contains("user: Good. Commit this on a branch"), "{grown}");
    assert_eq!(stand_in.world.count("SELECT count(*) FROM digest WHERE superseded = 0"), 1);
}

#[test]
fn the_numbers_a_reply_cites_become_the_uuids_of_rows_that_say_so() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let digest = &stand_in.show(PLAIN)["digest"];
    let says = [("learned", "OFFSET"), ("next_steps", "Migrate the admin export")];
    let file = stand_in.world.claude_dir().join(format!("projects/-home-dev-src-shop/{PLAIN}.jsonl"));
    let transcript = fs::read_to_string(file).expect("the transcript");
    for (list, words) in says {
        let rows = digest[list][0]["rows"].as_array().expect("rows");
        assert!(!rows.is_empty(), "{digest:#}");
        let row_of = |uuid: &str| transcript.lines().find(|l| l.contains(&format!("\"uuid\":\"{uuid}\""))).map(str::to_owned);
        let row =
            row_of(rows[0].as_str().expect("a uuid")).unwrap_or_else(|| panic!("{list} cites no row of the file: {digest:#}"));
        assert!(row.contains(words), "{row}");
    }
}

#[test]
fn a_number_stands_for_the_row_that_was_shown_with_it() {
    // A third of its words is in rows 7 and 8 each, too few to be found without being cited.
    let mut cited = form();
    let text = "The Next button replaces page numbers for everybody who walks through older entries of a catalogue";
    cited["decisions"] = json!([{"text": text, "rows": [7]}]);
    let stand_in = StandIn::says(&["plain"], &report(&cited, COST));
    stand_in.recall(&["digest"]);
    let (record, _) = stand_in.only_call().record();
    assert!(record.contains("\n[7] user: Yes, go ahead. Keep list_orders small"), "{record}");
    let digest = &stand_in.show(PLAIN)["digest"];
    let uuid = digest["decisions"][0]["rows"][0].as_str().unwrap_or_else(|| panic!("{digest:#}"));
    let file = stand_in.world.claude_dir().join(format!("projects/-home-dev-src-shop/{PLAIN}.jsonl"));
    let transcript = fs::read_to_string(file).expect("the transcript");
    let row = transcript
        .lines()
        .find(|l| l.contains(&format!("\"uuid\":\"{uuid}\"")))
        .unwrap_or_else(|| panic!("no such row: {digest:#}"));
    let row: Value = serde_json::from_str(row).expect("JSON");
    assert_eq!((&row["type"], digest["decisions"][0]["rows"].as_array().map(Vec::len)), (&json!("user"), Some(1)), "{digest:#}");
    assert!(row["message"]["content"].as_str().is_some_and(|c| c.starts_with("Yes, go ahead")), "{row:#}");
}

#[test]
fn what_the_session_does_not_support_is_kept_and_told_by_show_items_alone() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let digest = &stand_in.show(PLAIN)["digest"];
    assert_eq!(digest["decisions"][1]["rows"], json!([]), "row 2 says nothing of it and row 999 is made up");
    let verified = |path: &str| {
        digest["files"].as_array().expect("files").iter().find(|f| f["text"] == path).expect("the file")["rows"] != json!([])
    };
    assert_eq!((verified("shop/orders.py"), verified("shop/ledger.py")), (true, false));

    let page = stand_in.page(PLAIN);
    assert!(!page.contains("Swiss francs from Tuesday on"), "{page}");
    assert!(!page.contains("shop/ledger.py"), "no row has that file: {page}");
    let items = stand_in.recall(&["show", PLAIN, "--items"]).out;
    let (_, left_out) = items.split_once("that no record supports").expect("what was left out");
    assert!(left_out.contains("decision     Prices are kept in Swiss francs from Tuesday on\n"), "{left_out}");
    let pages = stand_in.world.pages();
    let (_, day) = pages.iter().find(|(name, _)| name.ends_with("/2026-11-17.md")).expect("the day's page");
    assert!(!day.contains("Swiss francs from Tuesday on") && !day.contains("shop/ledger.py"), "{day}");
}

#[test]
fn questions_lead_to_the_session_and_are_not_shown() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    // None of these words is used in the session itself.
    let found = stand_in.recall(&["search", "nightly", "dumping"]);
    assert!(found.code == 0 && found.out.contains(&PLAIN[..8]), "{found:#?}");
    for (name, page) in stand_in.world.pages() {
        assert!(!page.contains("dumping"), "{name}:\n{page}");
    }
}

#[test]
fn other_words_lead_to_the_session_and_are_not_shown() {
    let mut form = form();
    form["other_words"] = json!(["stocktaking", "goods that vanish from a catalogue"]);
    let stand_in = StandIn::says(&["plain"], &report(&form, COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let call = stand_in.only_call();
    let asked = call.value("--system-prompt").expect("our instructions");
    assert!(asked.contains(r#""other_words": ["fifteen to twenty words"#), "{asked}");
    for words in ["stocktaking", "vanishing catalogue"] {
        let found = stand_in.recall(&["search", words]);
        assert!(found.out.contains(&PLAIN[..8]) && !found.out.contains("stocktaking"), "{found:#?}");
    }
    for (name, page) in stand_in.world.pages() {
        assert!(!page.contains("stocktaking"), "{name}:\n{page}");
    }
    // A digest without them stays as it is, with its id.
    let old = StandIn::good(&["plain"]);
    old.recall(&["digest"]);
    assert!(old.show(PLAIN)["digest"].get("other_words").is_none());
}

#[test]
fn a_form_between_sentences_or_with_loose_types_is_still_a_digest() {
    let loose = json!({
        "title": "Orders go missing", "request": "Find out why", "completed": "paging by (created_at, id)", "decisions": "keyset pagination",
        "learned": null, "mood": "cheerful",
    });
    let stand_in = StandIn::says(&["plain"], &said(&format!("Here you are:\n```json\n{loose:#}\n```\nAnything else?"), COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let digest = &stand_in.show(PLAIN)["digest"];
    assert_eq!(claimed(&digest["completed"]), ["paging by (created_at, id)"]);
    assert_eq!(claimed(&digest["decisions"]), ["keyset pagination"]);
}

#[test]
fn a_long_reply_is_not_refused_for_its_length() {
    let mut long = form();
    long["learned"] = (0..20).map(|n| format!("fact {n}: {}", "a page is a window over rows that move ".repeat(8))).collect();
    let stand_in = StandIn::says(&["plain"], &report(&long, COST));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let shown = stand_in.show(PLAIN);
    assert_eq!((&shown["summarizer"], &shown["digest"]["title"]), (&json!("claude"), &form()["title"]));
}

#[test]
fn a_session_closes_what_an_earlier_one_left_open() {
    let mut second = form();
    second["closes"] = json!([{"id": "OPEN_ITEM", "rows": ["ROW"]}, "n00000000"]);
    second["next_steps"] = json!([]);
    let scenario = r#"
        if grep -q '^n[0-9a-f]* Migrate the admin export' "$call/stdin"; then
            id=$(sed -n 's/^\(n[0-9a-f]*\) Migrate the admin export.*/\1/p' "$call/stdin")
            row=$(sed -n 's/^\[\([0-9]*\)\].*The admin export no longer walks.*/\1/p' "$call/stdin")
            sed -e "s/OPEN_ITEM/$id/" -e "s/ROW/$row/" "$here/second"
        else
            cat "$here/first"
        fi"#;
    let stand_in =
        StandIn::new(&["plain", "retry"], scenario).with("first", &report(&form(), COST)).with("second", &report(&second, COST));
    let left = "Migrate the admin export (shop/admin.py), which walks through all orders with OFFSET";
    stand_in.world.append(PLAIN, &tasks(PLAIN, "aaaaaaaa-0000-4000-9000-000000000001", "2026-11-17T22:26:00Z", &[left]));
    let done = "The admin export no longer walks through all orders with OFFSET: shop/admin.py goes by key.";
    stand_in.world.append(RETRY, &assistant(RETRY, "aaaaaaaa-0000-4000-9000-000000000002", "2026-11-18T22:40:00Z", done));
    let ran = stand_in.recall(&["digest"]);
    assert_eq!(ran.code, 0, "{ran:#?}");

    let closed = stand_in.show(RETRY)["digest"]["closes"].clone();
    assert_eq!(closed.as_array().map(Vec::len), Some(1), "only what it was shown can be closed: {closed}");
    let line = "- ~~Migrate the admin export (shop/admin.py), which walks through all orders with OFFSET~~ (done, in session ";
    assert!(stand_in.page(PLAIN).contains(line), "{}", stand_in.page(PLAIN));
    let pages = stand_in.world.pages();
    let (_, day) = pages.iter().find(|(name, _)| name.ends_with("/2026-11-17.md")).expect("the page of its day");
    assert!(day.contains(line), "{day}");
}
