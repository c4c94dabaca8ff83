//! A transcript is read in whatever pieces it grew by: what is private does not depend on where a run ended.

use std::fs;

use serde_json::{Value, json};

use crate::private::outputs::{listen, listener, turn, words_of};
use crate::private::turns::private_turn;
use crate::support::rows::{FOLDER, Rows, put};
use crate::support::{World, age};

fn session() -> Rows {
    let mut rows = turn(1, "Mend loud1, please.", "loud2 is mended.");
    private_turn(&mut rows, "hush");
    rows.row(json!({"type": "ai-title", "aiTitle": "Asking about hushed1"}));
    rows.row(json!({"type": "system", "subtype": "away_summary", "content": "You asked who hushed2 is."}));
    rows.user(json!("Now mend loud3 <private>hushed3</private>, please."));
    rows.assistant("loud4 is mended.");
    rows.row(json!({"type": "ai-title", "aiTitle": "Asking about hushed4"}));
    rows.user(json!("<private>And hushed5?</private>"));
    rows.assistant("hushed6 is a customer, too.");
    rows
}

/// What is stored of the session: every item with the row it came from.
fn stored(world: &World) -> Vec<(Value, Value)> {
    let all = world.exported();
    let sources = all.iter().flat_map(|session| session["sources"].as_array().into_iter().flatten());
    sources
        .flat_map(|source| source["rows"].as_array().into_iter().flatten())
        .map(|row| (row["key"].clone(), row["item"].clone()))
        .collect()
}

#[test]
fn a_digest_after_every_row_gives_what_one_over_all_gives() {
    let rows = session();
    let whole = listener("");
    put(&whole.world, &rows.id, &rows.text);
    assert_eq!(whole.world.recall(["digest", "--ingest-only"]).code, 0);

    let sliced = listener("");
    let mut so_far = String::new();
    for line in rows.text.lines() {
        // A run may find half a line.
        let half = &line[..line.len() / 2];
        let file = sliced.world.transcript(&format!("{FOLDER}/{}.jsonl", rows.id), format!("{so_far}{half}"));
        assert!(sliced.world.recall(["digest", "--ingest-only"]).code < 2);
        so_far += &format!("{line}\n");
        fs::write(&file, &so_far).expect("the transcript");
        age(&file, std::time::Duration::from_secs(3600 - so_far.lines().count() as u64));
        let ran = sliced.world.recall(["digest", "--ingest-only"]);
        assert!(ran.code < 2, "{ran:#?}");
        let heard = sliced.world.recall(["export"]).out;
        assert!(!heard.contains("hush"), "after {} rows: {heard}", so_far.lines().count());
    }
    for listener in [&whole, &sliced] {
        let ran = listener.world.recall(["digest"]);
        assert!(ran.code < 2, "{ran:#?}");
        listen(listener, &words_of(&whole.world, "hush"), &words_of(&whole.world, "loud"));
    }
    assert_eq!(stored(&sliced.world), stored(&whole.world));
}
