//! `recall wrong`: what a model said and the user says is not so is gone, and stays gone.

use crate::support::stand_in::{COST, PLAIN, StandIn, form, report};

const SHOP: &str = "/home/dev/src/shop";

/// The id before a text in what `recall wrong SESSION` lists.
fn id_of(stand_in: &StandIn, text: &str) -> String {
    let listed = stand_in.recall(&["wrong", PLAIN]);
    assert_eq!(listed.code, 0, "{listed:#?}");
    let line = listed.out.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("{text}: {listed:#?}"));
    line.split(' ').next().expect("an id").to_owned()
}

/// Everything that tells something of the session by a model's words.
fn told(stand_in: &StandIn) -> String {
    let shows: [&[&str]; 6] = [
        &["show", PLAIN],
        &["show", "--full", PLAIN],
        &["show", "--json", PLAIN],
        &["context", "--cwd", SHOP],
        &["search", "kind:learned", "counts", "moves"],
        &["export"],
    ];
    let pages = stand_in.world.pages().into_iter().map(|(_, page)| page);
    shows.iter().map(|args| stand_in.recall(args).out).chain(pages).collect()
}

const LEARNED: &str = "OFFSET counts rows of a list that moves";

#[test]
fn what_is_not_so_is_told_nowhere_and_stays_away() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    assert!(told(&stand_in).matches(LEARNED).count() > 4);
    let learned = id_of(&stand_in, LEARNED);
    let ran = stand_in.recall(&["wrong", &learned]);
    assert!(ran.code == 0 && ran.out.contains(LEARNED), "{ran:#?}");
    assert_eq!(told(&stand_in).matches(LEARNED).count(), 0, "{}", told(&stand_in));
    assert!(stand_in.page(PLAIN).contains("10 tests pass"), "the rest stays");

    // The model says it again, in a few other words.
    let mut again = form();
    again["learned"] = serde_json::json!([{"text": format!("The {LEARNED}: an order shipped between two pages makes the next page skip one"), "rows": [6]}]);
    stand_in.put("good", &report(&again, COST));
    stand_in.recall(&["digest", "--session", PLAIN, "--summarizer", "claude"]);
    assert_eq!(stand_in.calls().len(), 2);
    assert_eq!(told(&stand_in).matches(LEARNED).count(), 0, "{}", told(&stand_in));

    // Another machine learns of it.
    let file = stand_in.here().join("out.jsonl");
    std::fs::write(&file, stand_in.recall(&["export"]).out).expect("the export");
    let other = StandIn::good(&["plain"]);
    other.put("good", &report(&again, COST));
    assert_eq!(other.recall(&["import", file.to_str().expect("a UTF-8 path")]).code, 0);
    other.recall(&["digest", "--session", PLAIN, "--summarizer", "claude"]);
    assert_eq!(other.calls().len(), 1);
    assert_eq!(told(&other).matches(LEARNED).count(), 0, "{}", told(&other));
}

#[test]
fn a_title_and_an_open_item_can_be_wrong_as_well() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let title = form()["title"].as_str().expect("a title").to_owned();
    let item = "Migrate the admin export (shop/admin.py)";
    let ids = [id_of(&stand_in, &title), id_of(&stand_in, item)];
    let ran = stand_in.recall(&["wrong", &ids[0], &ids[1]]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let page = stand_in.page(PLAIN);
    assert!(!page.contains(&title) && !page.contains(item), "{page}");
    assert!(page.contains("\n# Find out why orders go missing"), "the request stands for it: {page}");
    let start = stand_in.recall(&["context", "--cwd", SHOP]).out;
    assert!(!start.contains(&ids[1]) && !start.contains(&title), "{start}");
}

#[test]
fn what_nobody_said_cannot_be_wrong() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest", "--summarizer", "extract"]);
    let ran = stand_in.recall(&["wrong", PLAIN]);
    assert!(ran.code == 2 && ran.err.contains("no model said anything of session"), "{ran:#?}");
    stand_in.recall(&["digest", "--summarizer", "claude"]);
    let known = id_of(&stand_in, LEARNED);
    for ids in [&["c00000000"][..], &[&known, "c00000000"]] {
        let ran = stand_in.recall(&[&["wrong"], ids].concat());
        assert!(ran.code == 2 && ran.err.contains("no model said `c00000000`"), "{ran:#?}");
    }
    assert!(told(&stand_in).contains(LEARNED), "of several ids all or none");
}
