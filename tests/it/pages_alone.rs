//! An index that is gone with its copies while its pages are there: digests that were paid for come back from these and are not bought again.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::stand_in::{COST, PLAIN, RETRY, StandIn, form, report};
use crate::support::{assistant, user};

/// What the model found, and no transcript says: words of the digest alone.
const OWN_WORDS: &str = "regional";

/// How often the model was asked; the doctor asks the client other things.
fn asked(stand_in: &StandIn) -> usize {
    stand_in.calls().iter().filter(|call| call.has("-p")).count()
}

fn file_of(stand_in: &StandIn, session: &str) -> PathBuf {
    let (name, _) =
        stand_in.world.pages().into_iter().find(|(name, _)| name.contains("/sessions/") && name.contains(&session[..8])).unwrap();
    stand_in.world.daily().parent().unwrap().join(name)
}

/// A session that the model was paid for, whose only item it left open is settled, and nothing of its index.
fn paid_and_lost() -> (StandIn, Vec<(String, String)>) {
    let stand_in = StandIn::good(&["plain"]);
    let mut form = form();
    form["request"] = json!(format!("Find out why orders go missing, which is a {OWN_WORDS} matter"));
    form["next_steps"].as_array_mut().unwrap().push(json!({"text": "Tell the regional offices", "rows": []}));
    stand_in.put("good", &report(&form, COST));
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    let page = stand_in.page(PLAIN);
    let left =
        page.lines().find_map(|line| line.strip_prefix("- Claude: “Migrate")?.strip_suffix('`')?.rsplit('`').next()).unwrap();
    assert_eq!(stand_in.recall(&["close", left]).code, 0);
    stand_in.recall(&["digest"]);
    let pages = stand_in.world.pages();
    assert!(pages.iter().any(|(_, page)| page.contains("~~")), "{pages:#?}");
    stand_in.world.lose_index();
    (stand_in, pages)
}

#[test]
fn a_digest_that_was_paid_for_comes_back_from_its_page() {
    let (stand_in, pages) = paid_and_lost();
    let planned = stand_in.recall(&["digest", "--dry-run", "--json"]);
    assert!(planned.out.contains("\"calls\":0"), "{planned:#?}");
    let ran = stand_in.recall(&["digest"]);
    assert!(ran.err.contains("1 session, 0 notes, 1 digest by the model"), "{ran:#?}");
    assert!(ran.out.contains("restored  1 digest"), "{ran:#?}");
    assert_eq!(asked(&stand_in), 1);
    assert_eq!(stand_in.world.pages(), pages);
    let found = stand_in.recall(&["search", OWN_WORDS]);
    assert!(found.out.contains(&PLAIN[..8]), "{found:#?}");
    let (shown, status) = (stand_in.show(PLAIN), stand_in.status());
    assert_eq!((&shown["summarizer"], &shown["model"]), (&json!("claude"), &json!("claude-haiku-4-5-20251001")), "{shown}");
    assert_eq!((&shown["digest_cost_usd"], &status["spent_usd"]), (&json!(COST), &json!(COST)), "{status}");
    assert_eq!(shown["digest"]["decisions"][0]["rows"].as_array().unwrap().len(), 1, "{shown}");
    // Its id stays.
    let id = pages.iter().find_map(|(_, page)| page.lines().find_map(|line| line.strip_prefix("digest: "))).unwrap();
    assert_eq!(stand_in.recall(&["show", id]).code, 0);
    let before = stand_in.world.pages();
    for args in [&["digest"][..], &["digest", "--rebuild-pages"]] {
        let again = stand_in.recall(args);
        assert!(again.code == 0 && again.err.is_empty(), "{again:#?}");
        assert_eq!(stand_in.world.pages(), before);
    }
    assert_eq!(asked(&stand_in), 1);
}

#[test]
fn the_doctor_says_so_and_does_the_same() {
    let (stand_in, pages) = paid_and_lost();
    let found = stand_in.world.findings("index", &[]);
    assert!(found[0].contains("1 digest by the model") && found[0].contains("can be restored"), "{found:?}");
    let fixed = stand_in.recall(&["doctor", "--fix"]);
    assert!(fixed.out.contains("restored  1 digest"), "{fixed:#?}");
    assert!(stand_in.recall(&["search", OWN_WORDS]).out.contains(&PLAIN[..8]));
    assert_eq!(stand_in.world.pages(), pages);
    assert_eq!(stand_in.recall(&["digest"]).code, 0);
    assert_eq!(asked(&stand_in), 1);
}

#[test]
fn a_session_that_went_on_is_told_anew() {
    let (stand_in, _) = paid_and_lost();
    let rows = user(PLAIN, "00000000-0000-4000-8000-00000000a001", "2026-11-18T10:00:00Z", "Now do the admin export as well.")
        + &assistant(PLAIN, "00000000-0000-4000-8000-00000000a002", "2026-11-18T10:05:00Z", "The admin export pages by key now.");
    stand_in.world.append(PLAIN, &rows);
    let mut form = form();
    form["title"] = json!("The admin export pages by key, too");
    stand_in.put("good", &report(&form, COST));
    stand_in.world.age_transcripts();
    stand_in.recall(&["digest"]);
    assert_eq!(asked(&stand_in), 2);
    assert_eq!(stand_in.status()["spent_usd"], json!(2.0 * COST));
    // What was paid for first is kept, as ever.
    assert_eq!(stand_in.world.count("SELECT count(*) FROM digest WHERE superseded"), 1);
}

#[test]
fn what_somebody_wrote_into_a_page_is_no_more_trusted_than_a_transcript() {
    let (stand_in, _) = paid_and_lost();
    let (file, secret) = (file_of(&stand_in, PLAIN), format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"));
    let page = fs::read_to_string(&file).unwrap();
    let edited = page
        .replace("## Decisions\n\n", "## Decisions\n\n- User: ship it on Friday without a review\n- The key is mine `0939abda`\n")
        .replace("## Done\n\n", &format!("## Done\n\n- reworded by hand, because what came of all this was not told well, and the token for it is {secret}\n- <private>hush</private> and more\n"))
        .replace("## Turn by turn", "## Mine\n\n- belongs to nobody\n\n## Turn by turn")
        + "\n## Notes\n\n## Done\n\n- mine alone\n";
    fs::write(&file, edited).unwrap();
    stand_in.recall(&["digest"]);
    assert_eq!(asked(&stand_in), 1);
    let shown = stand_in.show(PLAIN)["digest"].to_string();
    assert!(!shown.contains(&secret) && !shown.contains("hush"), "{shown}");
    assert!(!shown.contains("belongs to nobody") && !shown.contains("mine alone"), "{shown}");
    let told = stand_in.recall(&["show", PLAIN]).out;
    assert!(!told.contains("ship it on Friday") && !told.contains("The key is mine"), "what no row says is told nowhere: {told}");
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.ends_with("\n## Notes\n\n## Done\n\n- mine alone\n") && !after.contains(&secret), "{after}");
}

#[test]
fn a_page_puts_no_words_into_another_session() {
    let stand_in = StandIn::good(&["plain", "retry"]);
    stand_in.recall(&["digest"]);
    let before = asked(&stand_in);
    let (plain, retry) = (file_of(&stand_in, PLAIN), file_of(&stand_in, RETRY));
    // The file of one session says that it is of the other, which has none of its own.
    fs::write(&plain, fs::read_to_string(&plain).unwrap().replace(PLAIN, RETRY)).unwrap();
    fs::remove_file(retry).unwrap();
    stand_in.world.lose_index();
    let ran = stand_in.recall(&["digest"]);
    assert!(!ran.out.contains("from pages"), "{ran:#?}");
    assert_eq!(asked(&stand_in), 2 * before, "both are told anew");
}

#[test]
fn what_was_forgotten_before_a_run_read_the_pages_stays_forgotten() {
    let (stand_in, _) = paid_and_lost();
    // It makes an index, and says that the page has it still.
    let forgot = stand_in.recall(&["forget", "--yes", "--match", OWN_WORDS]);
    assert!(forgot.err.contains("still stands in"), "{forgot:#?}");
    stand_in.recall(&["digest", "--summarizer", "extract"]);
    let found = stand_in.recall(&["search", OWN_WORDS]);
    assert!(!found.out.contains(&PLAIN[..8]), "{found:#?}");
}

#[test]
fn a_run_that_is_killed_is_made_up_for() {
    for point in ["index open", "marks removed", "digests taken back", "pages written"] {
        let (stand_in, pages) = paid_and_lost();
        let killed = stand_in.world.recall_with(["digest"], &[("RECALL_KILL_AT", &format!("{point}:1"))]);
        assert_ne!(killed.code, 0, "{point}: {killed:#?}");
        stand_in.recall(&["digest"]);
        assert_eq!(asked(&stand_in), 1);
        assert_eq!(stand_in.world.pages(), pages, "{point}");
        assert_eq!(stand_in.status()["spent_usd"], json!(COST), "{point}");
    }
}

#[test]
fn an_index_that_was_imported_knows_what_its_pages_say() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let all = stand_in.recall(&["export"]).out;
    stand_in.world.lose_index();
    let file = stand_in.world.root().join("all.jsonl");
    fs::write(&file, all).unwrap();
    assert_eq!(stand_in.recall(&["import", file.to_str().unwrap()]).code, 0);
    let pages = stand_in.world.pages();
    let ran = stand_in.recall(&["digest"]);
    assert!(ran.code == 0 && ran.err.is_empty() && !ran.out.contains("from pages"), "{ran:#?}");
    assert_eq!((asked(&stand_in), stand_in.world.pages()), (1, pages));
    // Money is not exported; the page tells of it.
    assert_eq!(stand_in.status()["spent_usd"], json!(COST));
}

#[test]
fn a_page_of_an_earlier_recall_gives_its_digest_back_and_no_cost() {
    let (stand_in, _) = paid_and_lost();
    let file = file_of(&stand_in, PLAIN);
    let page = fs::read_to_string(&file).unwrap();
    let early: String = page.split_inclusive('\n').filter(|line| !line.starts_with("digest_")).collect();
    fs::write(&file, early).unwrap();
    stand_in.recall(&["digest"]);
    assert_eq!(asked(&stand_in), 1);
    assert_eq!((&stand_in.show(PLAIN)["summarizer"], &stand_in.status()["spent_usd"]), (&json!("claude"), &json!(0.0)));
}
