//! A model names what a session overtakes, and is believed where the session's own words prove it.

use serde_json::{Value, json};

use crate::support::stand_in::{COST, StandIn, report};
use crate::support::{Ran, assistant, ran, user};

const FIRST: &str = "aaaa0000-0000-4000-8000-000000000000";
const LATER: &str = "bbbb0000-0000-4000-8000-000000000000";
const THIRD: &str = "cccc0000-0000-4000-8000-000000000000";
const SAID: &str = "Settings are read from `config.yaml` when the service starts.";
/// No rule knows that it overtakes the other one.
const NOW: &str = "The configuration lives in `brasskey.toml`, one table for each part.";
const OTHER: &str = "The rates of exchange are cached, because they change daily.";
const SHOWN: &str = "Said in earlier sessions:\n";

/// A `claude` that says of every session whose request lists [`SAID`] that it overtakes that, and cites the last line that holds a text.
fn stand_in(cited: &str) -> StandIn {
    quoting("", cited)
}

/// The same, which quotes a sentence of the session.
fn quoting(says: &str, cited: &str) -> StandIn {
    let form = json!({"title": "The settings", "request": "Go on", "completed": [{"text": "The configuration is in brasskey.toml", "rows": [2]}],
        "replaces": "REPLACES"});
    let replaces = r#"[{\"id\": \"STATEMENT\", \"says\": \"SAYS\", \"rows\": [\"ROW\"]}]"#.replace("SAYS", says);
    let scenario = r#"
        id=$(sed -n 's/^\(s[0-9a-f]*\) Settings are read.*/\1/p' "$call/stdin" | head -1)
        row=$(grep -F "$(cat "$here/cited")" "$call/stdin" | sed -n 's/^\[\([0-9]*\)\].*/\1/p' | tail -1)
        sed -e "s/STATEMENT/${id:-$(cat "$here/else" 2>/dev/null)}/" -e "s/\\\\\"ROW\\\\\"/$row/" "$here/answer""#;
    StandIn::new(&[], scenario).with("answer", &report(&form, COST).replace("\\\"REPLACES\\\"", &replaces)).with("cited", cited)
}

/// A session by a day's noon.
fn talk(stand_in: &StandIn, id: &str, day: usize, asked: &str, rest: &str) {
    let rows = user(id, &format!("u{id}"), &format!("2026-11-{day:02}T12:00:00Z"), asked) + rest;
    stand_in.world.transcript(&format!("-home-dev-src-shop/{id}.jsonl"), rows);
    stand_in.world.age_transcripts();
}

fn reply(id: &str, day: usize, minute: usize, text: &str) -> String {
    assistant(id, &format!("a{minute}{id}"), &format!("2026-11-{day:02}T12:{minute:02}:00Z"), text)
}

fn first(stand_in: &StandIn) {
    talk(stand_in, FIRST, 10, "Where do the settings of the service come from?", &reply(FIRST, 10, 1, SAID));
}

fn later(stand_in: &StandIn, rest: &str) {
    talk(stand_in, LATER, 18, "Look at the settings of the service again", rest);
}

fn digest(stand_in: &StandIn, session: &str, summarizer: &str) -> Ran {
    let ran = stand_in.recall(&["digest", "--session", session, "--summarizer", summarizer]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran
}

/// Both sessions, the later one digested by a model that cites what holds a text.
fn story(rest: &str, cited: &str) -> (StandIn, Value) {
    story_with(stand_in(cited), rest)
}

fn story_with(stand_in: StandIn, rest: &str) -> (StandIn, Value) {
    first(&stand_in);
    digest(&stand_in, FIRST, "extract");
    later(&stand_in, rest);
    digest(&stand_in, LATER, "claude");
    let digest = stand_in.show(LATER)["digest"].clone();
    assert_eq!(digest["title"], "The settings", "{digest}");
    (stand_in, digest)
}

fn moved() -> String {
    reply(LATER, 18, 1, NOW)
}

/// The lines of statements in a request.
fn offered(stdin: &str) -> Vec<&str> {
    let list = stdin.split_once(SHOWN).map_or("", |(_, rest)| rest.split_once("<record-").expect("the record").0);
    list.lines().collect()
}

fn links(stand_in: &StandIn) -> i64 {
    stand_in.world.database().query_row("SELECT count(*) FROM overtaken", [], |r| r.get(0)).expect("the links")
}

const SINCE: &str = "ince then: Claude in session bbbb0000, 2026-11-18: The configuration lives in `brasskey.toml`";

#[test]
fn what_a_session_overtakes_in_other_words_is_told_beside_it() {
    let (stand_in, digest) = story(&moved(), NOW);
    let claimed = &digest["replaces"][0];
    assert_eq!(claimed["rows"].as_array().map(Vec::len), Some(1), "{digest}");
    assert!(digest.get("replaces_left_out").is_none(), "{digest}");
    assert!(!digest.to_string().contains("config.yaml"), "the words of another session stay there: {digest}");
    assert!(stand_in.recall(&["show", FIRST]).out.contains(SINCE));
    assert!(stand_in.page(FIRST).contains(SINCE));
    let why = stand_in.recall(&["why", "settings", "config"]).out;
    assert!(why.contains(&format!("stands (said 2026-11-18, Claude in session bbbb0000, turn 1): {NOW}")), "{why}");
    assert!(why.contains("until 2026-11-18 (said 2026-11-10, Claude in session aaaa0000, turn 1): Settings are read"), "{why}");
    let shop = "/home/dev/src/shop";
    for ask in [
        &["search", "settings are read when the service starts"][..],
        &["context", "-c", "settings are read when the service starts", "--cwd", shop, "--summarizer", "extract"],
        &["context", "--cwd", shop],
    ] {
        let told = stand_in.recall(ask).out;
        assert!(told.contains(SINCE), "{ask:?}: {told}");
    }
    stand_in.recall(&["digest", "--rebuild-pages"]);
    assert!(stand_in.page(FIRST).contains(SINCE), "pages are made anew");
}

#[test]
fn without_the_session_s_own_words_for_it_nothing_is_told_and_only_the_items_say_so() {
    let asked = |text: &str| reply(LATER, 18, 1, "It is done.") + &user(LATER, "u9", "2026-11-18T12:05:00Z", text);
    let printed = ran(LATER, "t1", "2026-11-18T12:01:00Z", "cat notes.txt", Ok(NOW)) + &reply(LATER, 18, 2, "I looked at it.");
    let cases = [
        (
            "another line",
            reply(LATER, 18, 1, "Fine.")
                + &user(LATER, "u8", "2026-11-18T12:03:00Z", "And the rates?")
                + &reply(LATER, 18, 4, OTHER),
            OTHER,
        ),
        ("no line", moved(), "nowhere"),
        ("a question", asked("Should the configuration live in `brasskey.toml`?"), "Should the"),
        ("an offer", reply(LATER, 18, 1, "The configuration could live in `brasskey.toml`, want me to move it?"), "could live"),
        ("a plan", reply(LATER, 18, 1, "I looked.\n\nNext steps:\n- The configuration lives in `brasskey.toml`."), "brasskey"),
        ("what a tool printed", printed, "notes.txt"),
        (
            "a quotation",
            reply(LATER, 18, 1, "The README of the other team says:\n\n> The configuration lives in `brasskey.toml`."),
            "README",
        ),
        (
            "the same again",
            reply(LATER, 18, 1, "Settings are read from `config.yaml` when the service starts, as ever."),
            "as ever",
        ),
        (
            "taken back",
            moved() + &user(LATER, "u7", "2026-11-18T12:05:00Z", "No, that breaks the tests") + &reply(LATER, 18, 6, SAID),
            NOW,
        ),
    ];
    for (what, rest, cited) in cases {
        let (stand_in, digest) = story(&rest, cited);
        assert!(digest.get("replaces").is_none(), "{what}: {digest}");
        assert_eq!(digest["replaces_left_out"].as_array().map(Vec::len), Some(1), "{what}: {digest}");
        assert_eq!(links(&stand_in), 0, "{what}");
        let items = stand_in.recall(&["show", LATER, "--items"]).out;
        let told = items.split("(shown only here):\n").nth(1).unwrap_or_else(|| panic!("{what}: {items}"));
        assert!(told.contains("replaces     s") && told.contains("Settings are read from"), "{what}: {items}");
        assert!(!stand_in.page(LATER).contains("replaces"), "{what}");
    }
}

#[test]
fn of_several_sentences_the_one_that_the_model_quotes_is_told() {
    let now = "Each part has a table of its own in `brasskey.toml`.";
    let replies = reply(
        LATER,
        18,
        1,
        &format!(
            "Settings that the service reads from YAML when it starts were moved. {now} The service starts with the settings in the tests."
        ),
    );
    let told = |says: &str| {
        let (stand_in, digest) = story_with(quoting(says, now), &replies);
        assert_eq!(digest["replaces"].as_array().map(Vec::len), Some(1), "{says}: {digest}");
        let shown = stand_in.recall(&["show", FIRST]).out;
        shown.contains(&format!("ince then: Claude in session bbbb0000, 2026-11-18: {now}"))
    };
    assert!(told("Each part has a table of its own in brasskey.toml"));
    assert!(!told(""), "the test would pass whatever the model quotes");
    assert!(!told("Nobody said that in any part"), "what nobody said is no quotation");
}

#[test]
fn what_is_quoted_in_quite_other_words_is_told_where_another_sentence_proves_the_change() {
    let now = "Each part has a table of its own in `brasskey.toml`.";
    let proof = "When it starts, the service no longer reads settings from `config.yaml`.";
    let told = |replies: &str| {
        let (stand_in, digest) = story_with(quoting(now, now), replies);
        (digest["replaces"].as_array().map_or(0, Vec::len), stand_in.recall(&["show", FIRST]).out)
    };
    let (links, shown) = told(&reply(LATER, 18, 1, &format!("{proof} {now}")));
    assert!(links == 1 && shown.contains(&format!("2026-11-18: {now}")), "{shown}");
}

#[test]
fn what_is_quoted_proves_nothing_if_it_only_asks_or_plans() {
    for says in [
        "Should the configuration live in `brasskey.toml`?",
        "The configuration could live in `brasskey.toml`, want me to move it?",
    ] {
        let (_, digest) = story_with(quoting(says, "could live"), &reply(LATER, 18, 1, says));
        assert!(digest.get("replaces").is_none(), "{digest}");
    }
}

#[test]
fn an_id_that_was_not_offered_says_nothing() {
    let stand_in = stand_in(NOW).with("else", "s12345678");
    later(&stand_in, &moved());
    digest(&stand_in, LATER, "claude");
    let digest = stand_in.show(LATER)["digest"].clone();
    assert!(digest.get("replaces").is_none() && digest.get("replaces_left_out").is_none(), "{digest}");
    assert!(offered(&stand_in.only_call().stdin).is_empty());
}

#[test]
fn what_is_private_excluded_wrong_or_not_earlier_is_never_offered() {
    let kept = "The settings of the service are kept in `granite.ini`.";
    let secret = "<private>The settings of the service lie in `hush.yaml`.</private> Look at the settings of the service";
    let stand_in = stand_in(NOW);
    stand_in.world.configure("[privacy]\nexclude_projects = [\"**/clinic\"]\n");
    talk(&stand_in, FIRST, 10, secret, &reply(FIRST, 10, 1, kept));
    talk(
        &stand_in,
        THIRD,
        20,
        "Look at the settings of the service",
        &reply(THIRD, 20, 1, "The settings of the service are in `basalt.ini`."),
    );
    let clinic = "dddd0000-0000-4000-8000-000000000000";
    let rows = user(clinic, "uc", "2026-11-09T12:00:00Z", "Look at the settings of the service")
        + &reply(clinic, 9, 1, "The settings of the service are in `hush.ini`.");
    stand_in.world.transcript(&format!("-p/{clinic}.jsonl"), rows.replace("/home/dev/src/shop", "/home/dev/src/clinic"));
    stand_in.world.age_transcripts();
    assert_eq!(stand_in.recall(&["digest", "--summarizer", "extract"]).code, 0);
    later(&stand_in, &moved());
    digest(&stand_in, LATER, "claude");
    let request = stand_in.calls()[0].stdin.clone();
    let list = offered(&request).join("\n");
    assert!(list.contains("granite.ini"), "{list}");
    for hidden in ["hush", "basalt"] {
        assert!(!request.contains(hidden), "{hidden}: {request}");
    }

    assert_eq!(stand_in.recall(&["wrong", FIRST, "--reply", "1"]).code, 0);
    stand_in.world.append(LATER, &user(LATER, "u5", "2026-11-18T13:00:00Z", "Go on with the settings"));
    stand_in.world.age_transcripts();
    digest(&stand_in, LATER, "claude");
    let request = stand_in.calls()[1].stdin.clone();
    assert!(!offered(&request).join("\n").contains("granite.ini"), "{request}");
}

#[test]
fn what_is_overtaken_already_is_not_offered_to_the_next_session_and_again_to_the_same() {
    let (stand_in, _) = story(&moved(), NOW);
    talk(
        &stand_in,
        THIRD,
        20,
        "Look at the settings of the service",
        &reply(THIRD, 20, 1, "The settings of the service are fine."),
    );
    digest(&stand_in, THIRD, "claude");
    let calls = stand_in.calls();
    let list = offered(&calls[1].stdin).join("\n");
    assert!(list.contains("brasskey.toml") && !list.contains("Settings are read"), "{list}");
    stand_in.world.append(LATER, &user(LATER, "u5", "2026-11-18T13:00:00Z", "Go on with the settings"));
    stand_in.world.age_transcripts();
    digest(&stand_in, LATER, "claude");
    let list = offered(&stand_in.calls()[2].stdin).join("\n");
    assert!(list.contains("Settings are read"), "{list}");
    assert!(stand_in.recall(&["show", FIRST]).out.contains(SINCE));
}

#[test]
fn the_user_parts_the_two_again_and_joins_them() {
    let (stand_in, _) = story(&moved(), NOW);
    let why = stand_in.recall(&["why", "settings", "config"]).out;
    let id = why.split(['[', ']']).nth(1).unwrap_or_else(|| panic!("no id: {why}")).to_owned();
    assert_eq!(stand_in.recall(&["wrong", &id]).code, 0);
    assert!(!stand_in.recall(&["show", FIRST]).out.contains("since then"));
    stand_in.world.append(LATER, &user(LATER, "u5", "2026-11-18T13:00:00Z", "Go on with the settings"));
    stand_in.world.age_transcripts();
    digest(&stand_in, LATER, "claude");
    assert!(!stand_in.recall(&["show", FIRST]).out.contains("since then"), "a new digest says it again");
    assert_eq!(stand_in.recall(&["wrong", "--undo", &id]).code, 0);
    assert!(stand_in.recall(&["show", FIRST]).out.contains(SINCE));
}

#[test]
fn who_forgets_one_of_the_two_sessions_or_takes_a_reply_out_forgets_that_one_overtook_the_other() {
    for (forgotten, left) in [(FIRST, LATER), (LATER, FIRST)] {
        let (stand_in, _) = story(&moved(), NOW);
        assert_eq!(links(&stand_in), 1);
        assert_eq!(stand_in.recall(&["forget", "--yes", "--session", forgotten]).code, 0);
        assert_eq!(links(&stand_in), 0, "{forgotten}");
        assert!(!stand_in.recall(&["show", left]).out.contains("since then"), "{forgotten}");
    }
    let (stand_in, _) = story(&moved(), NOW);
    assert_eq!(stand_in.recall(&["wrong", LATER, "--reply", "1"]).code, 0);
    assert_eq!(links(&stand_in), 0);
    assert!(!stand_in.page(FIRST).contains(SINCE));
}

#[test]
fn it_does_not_matter_which_session_is_digested_first() {
    let stand_in = stand_in(NOW);
    first(&stand_in);
    later(&stand_in, &moved());
    digest(&stand_in, LATER, "claude");
    assert!(offered(&stand_in.only_call().stdin).join("\n").contains(SAID));
    digest(&stand_in, FIRST, "extract");
    assert!(stand_in.recall(&["show", FIRST]).out.contains(SINCE));
    assert!(stand_in.page(FIRST).contains(SINCE));
}

#[test]
fn what_is_said_again_later_stands_again() {
    let (stand_in, _) = story(&moved(), NOW);
    talk(&stand_in, THIRD, 20, "Take TOML back", &reply(THIRD, 20, 1, &format!("I took it back. {SAID}")));
    digest(&stand_in, THIRD, "extract");
    assert_eq!(links(&stand_in), 0);
}

#[test]
fn an_answer_is_not_bought_again_and_a_digest_stays_where_more_was_said_by_then() {
    let (stand_in, _) = story(&moved(), NOW);
    talk(
        &stand_in,
        THIRD,
        12,
        "Look at the settings of the service",
        &reply(THIRD, 12, 1, "The settings of the service are in `basalt.ini`."),
    );
    digest(&stand_in, THIRD, "extract");
    let ran = stand_in.world.recall_with(["digest"], &[("RECALL_NOW", "2026-11-21T13:00:00Z")]);
    assert_eq!((ran.code, stand_in.calls().len()), (0, 1), "{ran:#?}");
}

#[test]
fn a_dry_run_counts_what_earlier_sessions_said() {
    let price = |with_first: bool| {
        let stand_in = stand_in(NOW);
        if with_first {
            first(&stand_in);
            digest(&stand_in, FIRST, "extract");
        }
        later(&stand_in, &moved());
        let dry = stand_in.recall(&["digest", "--dry-run", "--json", "--session", LATER, "--summarizer", "claude"]);
        let dry: Value = serde_json::from_str(&dry.out).unwrap_or_else(|e| panic!("{e}: {dry:#?}"));
        assert_eq!(dry["calls"], 1, "{dry}");
        dry["likely_cost_usd"].as_f64().unwrap_or_else(|| panic!("no price: {dry}"))
    };
    assert!(price(true) > price(false));
}

#[test]
fn it_goes_with_the_export() {
    let (stand_in, _) = story(&moved(), NOW);
    let file = stand_in.here().join("out.jsonl");
    std::fs::write(&file, stand_in.recall(&["export"]).out).expect("the export");
    let other = StandIn::new(&[], "");
    assert_eq!(other.recall(&["import", file.to_str().expect("UTF-8")]).code, 0);
    assert_eq!(other.recall(&["digest", "--summarizer", "extract"]).code, 0);
    assert_eq!(links(&other), 1);
    assert!(other.recall(&["show", FIRST]).out.contains(SINCE));
}
