//! `recall wrong`: what a model said and the user says is not so is gone, and stays gone.

use crate::summarizer::closes::{FIRST, LATER, PAINT, next_step, session};
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
    shown(stand_in) + &stand_in.recall(&["export"]).out
}

/// The same without the export, which holds all that is stored.
fn shown(stand_in: &StandIn) -> String {
    let shows: [&[&str]; 5] = [
        &["show", PLAIN],
        &["show", "--full", PLAIN],
        &["show", "--json", PLAIN],
        &["context", "--cwd", SHOP],
        &["search", "kind:learned", "counts", "shrinks"],
    ];
    let pages = stand_in.world.pages().into_iter().map(|(_, page)| page);
    shows.iter().map(|args| stand_in.recall(args).out).chain(pages).collect()
}

/// What the model says, and what is told for it: a sentence of Claude's, which still stands in its reply.
const CLAIMED: &str = "OFFSET counts rows of a list that moves";
const ITEM: &str = "Claude: “Migrate the admin export (`shop/admin.py`)";
const LEARNED: &str = "Claude: “Cause: `list_orders` counts rows (`OFFSET`) in a list";
/// The same, whoever tells it.
const SAID: &str = "counts rows (`OFFSET`) in a list";

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
    let how = format!("The reply that says so is still quoted; to hide it too: `recall wrong {} --reply 1`\n", &PLAIN[..8]);
    assert!(ran.out.ends_with(&how), "{ran:#?}");
    let hidden = stand_in.recall(&["wrong", PLAIN, "--reply", "1"]);
    assert_eq!((hidden.code, shown(&stand_in).matches(SAID).count()), (0, 0), "{hidden:#?}");

    // The model says it again, in a few other words.
    let mut again = form();
    again["learned"] = serde_json::json!([{"text": format!("The {CLAIMED}: an order shipped between two pages makes the next page skip one"), "rows": [6]}]);
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
    let item = ITEM;
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
    let listed = stand_in.recall(&["wrong", PLAIN]);
    let (said, _) = listed.out.split_once("\n\n").expect("what is to be done");
    assert!(listed.code == 0 && said.lines().all(|line| line.starts_with("turn ")), "no model said anything: {listed:#?}");
    stand_in.recall(&["digest", "--summarizer", "claude"]);
    let known = id_of(&stand_in, LEARNED);
    for ids in [&["c00000000"][..], &[&known, "c00000000"]] {
        let ran = stand_in.recall(&[&["wrong"], ids].concat());
        assert!(ran.code == 2 && ran.err.contains("nothing that can be hidden has the id `c00000000`"), "{ran:#?}");
    }
    assert!(told(&stand_in).contains(LEARNED), "of several ids all or none");
}

/// A statement as `recall wrong SESSION` lists it behind what was taken out.
fn taken_out(stand_in: &StandIn) -> Vec<String> {
    let listed = stand_in.recall(&["wrong", PLAIN]).out;
    let Some((_, below)) = listed.split_once("\nHidden statements (to show one again: `recall wrong --undo ID`):\n") else {
        return Vec::new();
    };
    below.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn undo_brings_back_at_once_all_that_was_taken_out() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let before = told(&stand_in);
    assert!(taken_out(&stand_in).is_empty());
    let title = form()["title"].as_str().expect("a title").to_owned();
    let item = ITEM;
    let ids = [LEARNED, &title, item].map(|text| id_of(&stand_in, text));
    stand_in.recall(&["wrong", &ids[0], &ids[1], &ids[2]]);
    let listed = taken_out(&stand_in);
    assert_eq!(listed.len(), 3, "{listed:?}");
    for (id, text) in ids.iter().zip([LEARNED, &title, item]) {
        assert!(listed.iter().any(|line| line.starts_with(id) && line.contains(text)), "{listed:?}");
    }
    let ran = stand_in.recall(&["wrong", "--undo", &ids[0], &ids[1], &ids[2]]);
    assert!(ran.code == 0 && ran.out.starts_with("Shown again:\n") && ran.out.contains(LEARNED), "{ran:#?}");
    assert_eq!(told(&stand_in), before);
    assert!(taken_out(&stand_in).is_empty());
    assert_eq!(stand_in.calls().len(), 1, "nothing is paid for");
    let again = stand_in.recall(&["wrong", "--undo", &ids[0]]);
    assert!(again.code == 2 && again.err.contains(&format!("nothing with the id `{}` is hidden", ids[0])), "{again:#?}");
}

#[test]
fn what_was_said_anew_meanwhile_comes_back_with_undo_and_what_is_not_in_the_index_is_named() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let learned = id_of(&stand_in, LEARNED);
    stand_in.recall(&["wrong", &learned]);
    let anew = format!("The {CLAIMED}: an order shipped between two pages makes the next page skip one");
    let mut again = form();
    again["learned"] = serde_json::json!([{"text": anew, "rows": [6]}]);
    stand_in.put("good", &report(&again, COST));
    stand_in.recall(&["digest", "--session", PLAIN, "--summarizer", "claude"]);
    assert!(taken_out(&stand_in)[0].contains(LEARNED), "{:?}", taken_out(&stand_in));
    let file = stand_in.here().join("out.jsonl");
    std::fs::write(&file, stand_in.recall(&["export"]).out).expect("the export");
    assert_eq!(stand_in.recall(&["wrong", "--undo", &learned]).code, 0);
    assert!(stand_in.recall(&["show", PLAIN]).out.contains(LEARNED));

    // Where the words never were.
    let other = StandIn::good(&["plain"]);
    other.put("good", &report(&again, COST));
    other.recall(&["import", file.to_str().expect("a UTF-8 path")]);
    assert_eq!(taken_out(&other), [format!("{learned} (its words are not in this index)")]);
    let ran = other.recall(&["wrong", "--undo", &learned]);
    let told_how = format!("recall digest --session {} --summarizer claude", &PLAIN[..8]);
    assert!(ran.code == 0 && ran.out.contains("its words are not in this index") && ran.out.contains(&told_how), "{ran:#?}");
    other.recall(&["digest", "--session", PLAIN, "--summarizer", "claude"]);
    assert!(other.recall(&["show", PLAIN]).out.contains(LEARNED));
}

#[test]
fn an_import_takes_out_what_is_not_so_where_the_digest_is_known_already() {
    let (stand_in, other) = (StandIn::good(&["plain"]), StandIn::good(&["plain"]));
    stand_in.recall(&["digest"]);
    other.recall(&["digest"]);
    let item = ITEM;
    let ids = [id_of(&stand_in, LEARNED), id_of(&stand_in, item)];
    stand_in.recall(&["wrong", &ids[0], &ids[1]]);
    let file = stand_in.here().join("out.jsonl");
    std::fs::write(&file, stand_in.recall(&["export"]).out).expect("the export");
    other.recall(&["import", file.to_str().expect("a UTF-8 path")]);
    other.recall(&["digest"]);
    assert_eq!(told(&other).matches(LEARNED).count(), 0, "{}", told(&other));
    assert!(!other.recall(&["context", "--cwd", SHOP]).out.contains(item));
    assert_eq!(other.calls().len(), 1);
}

#[test]
fn a_note_is_not_taken_out_and_it_is_said_what_does_that() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let learned = id_of(&stand_in, LEARNED);
    let text = "Deploys go through Gitea";
    let kept = stand_in.recall(&["remember", "--everywhere", text]).out;
    let id = kept.split(|c: char| !c.is_alphanumeric()).find(|word| word.len() == 9 && word.starts_with('m')).expect("its id");
    for args in [
        &["wrong", id][..],
        &["wrong", &id[..5]],
        &["wrong", &learned, id],
        &["wrong", "--undo", id],
        &["wrong", id, "--reply", "1"],
    ] {
        let ran = stand_in.recall(args);
        let told = format!("{id} is a note (by the user), and not what a model said: `recall forget --note {id}` deletes it");
        assert!(ran.code == 2 && ran.err.contains(&told) && ran.out.is_empty(), "{args:?}: {ran:#?}");
    }
    assert!(told(&stand_in).contains(LEARNED), "of several ids all or none");
    assert_eq!(stand_in.recall(&["forget", "--note", id, "--yes"]).code, 0);
    assert!(!stand_in.recall(&["context", "--cwd", SHOP]).out.contains(text));
}

/// The list of denials knows no words, and none of them is kept from a `forget`.
#[test]
fn what_was_taken_out_can_still_be_forgotten() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let learned = id_of(&stand_in, LEARNED);
    stand_in.recall(&["wrong", &learned]);
    let ran = stand_in.recall(&["forget", "--match", CLAIMED, "--yes"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let file = stand_in.world.data_dir().join("recall.db");
    let db = rusqlite::Connection::open(file).expect("the index");
    let left: i64 = db.query_row("SELECT count(*) FROM digest WHERE summarizer = 'claude'", [], |r| r.get(0)).expect("a count");
    assert_eq!(left, 0, "the digest that held it is gone");
}

/// By the words that are left it would not be known.
#[test]
fn what_was_taken_out_stays_away_where_a_later_rule_redacts_most_of_its_words() {
    let stand_in = StandIn::good(&["plain"]);
    stand_in.recall(&["digest"]);
    let title = id_of(&stand_in, form()["title"].as_str().expect("a title"));
    stand_in.recall(&["wrong", &title]);
    stand_in.world.configure("[[privacy.rules]]\nid = \"missing\"\npattern = 'go missing between pages'\n");
    stand_in.recall(&["digest"]);
    assert_eq!(stand_in.calls().len(), 1);
    let digest = stand_in.world.show(PLAIN)["digest"].clone();
    assert!(digest["title"].as_str().is_some_and(|title| title.starts_with("Find out why orders")), "{digest}");
    let search = stand_in.recall(&["search", "keyset"]).out;
    assert!(search.contains("Find out why orders") && !search.contains("of the order list"), "{search}");
}

#[test]
fn one_undo_brings_back_what_one_command_took_out_of_several_sessions() {
    let stand_in = next_step();
    session(&stand_in, LATER, 20, &[], &format!("The stock is sorted. Still to do: {}.", PAINT.to_lowercase()));
    assert_eq!(stand_in.recall(&["digest", "--summarizer", "claude"]).code, 0);
    let items = || [FIRST, LATER].map(|id| stand_in.show(id)["open_items"].clone());
    let before = items();
    let id = before[0][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(before[1][0]["id"], id, "one life");
    let own = |session: &str| -> String {
        let listed = stand_in.recall(&["wrong", session]).out;
        let below = listed.split_once("`recall wrong --undo ID`):\n").unwrap_or_else(|| panic!("{listed}")).1;
        below.split(' ').next().expect("an id").to_owned()
    };
    let paint = PAINT.to_lowercase();
    for by_own in [false, true] {
        let ran = stand_in.recall(&["wrong", &id]);
        assert_eq!((ran.code, ran.out.matches(&paint).count()), (0, 2), "{ran:#?}");
        assert!(items().iter().all(|items| items.as_array().is_some_and(Vec::is_empty)));
        let undo = if by_own { own(LATER) } else { id.clone() };
        let ran = stand_in.recall(&["wrong", "--undo", &undo]);
        assert_eq!((ran.code, ran.out.matches(&paint).count()), (0, 2), "{ran:#?}");
        assert_eq!(items(), before);
    }
}
