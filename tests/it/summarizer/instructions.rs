//! A model names standing instructions; each is told in the user's own words, and is a rule where several sessions prove it.

use std::fs;

use serde_json::{Value, json};

use crate::support::data_folder::assert_gone;
use crate::support::stand_in::{COST, StandIn, report};
use crate::support::{World, assistant, user};

/// No rule of ours finds an instruction in these.
const SAID: [&str; 3] = [
    "Build the cart page. The lockfile belongs to pnpm, so npm has nothing to do with it",
    "Sort the orders. You ran npm again, it is pnpm in here",
    "Packages come through pnpm",
];
const WORDING: &str = "Use pnpm, not npm";

/// A session for each of some prompts, a day after the other, and a model that names instructions in them.
struct Shop {
    stand_in: StandIn,
}

fn id(n: usize) -> String {
    format!("ab{n:02}0000-5ec0-4000-8000-000000000000")
}

impl Shop {
    fn new() -> Self {
        let scenario = r#"cat "$here/said-$(sed -n 's/.*page NO\([0-9]*\),.*/\1/p' "$call/stdin" | tail -1)""#;
        Self { stand_in: StandIn::new(&[], scenario) }
    }

    /// What stands behind the first sentence of each of these prompts is quoted for an instruction in these words.
    fn alike(prompts: &[&str], wording: &str) -> Self {
        let shop = Self::new();
        for (n, prompt) in prompts.iter().enumerate() {
            shop.say(n, prompt, &[(wording, prompt.split_once(". ").map_or(*prompt, |(_, said)| said))]);
        }
        shop
    }

    /// A session in which the user says this; what the model names of it, with what it quotes for each.
    fn say(&self, n: usize, prompt: &str, named: &[(&str, &str)]) {
        let named: Vec<Value> = named.iter().map(|(text, said)| json!({"text": text, "said": said, "rows": [1]})).collect();
        let form = json!({"title": format!("Session {n}"), "request": "Mend the page", "standing_instructions": named,
            "completed": [{"text": "The page is mended", "rows": [2]}]});
        self.stand_in.put(&format!("said-{n}"), &report(&form, COST));
        let (id, at) = (id(n), format!("2026-11-{:02}T10:00:00Z", n + 1));
        let reply = format!("I mended the page NO{n}, and never use emojis in its headings.");
        let rows = user(&id, &format!("{n}u"), &at, prompt) + &assistant(&id, &format!("{n}a"), &at, &reply);
        self.world().transcript(&format!("-shop/{id}.jsonl"), rows);
        self.ok(&["digest", "--session", &id, "--summarizer", "claude"]);
    }

    fn world(&self) -> &World {
        &self.stand_in.world
    }

    fn rules(&self) -> Vec<Value> {
        let told = self.ok(&["rules", "--project", "shop", "--json"]);
        let told: Value = serde_json::from_str(&told).unwrap_or_else(|e| panic!("{e}: {told}"));
        told["rules"].as_array().expect("rules").clone()
    }

    fn texts(&self) -> Vec<String> {
        self.rules().iter().map(|rule| rule["text"].as_str().expect("a text").to_owned()).collect()
    }

    fn named(&self, n: usize) -> Value {
        self.stand_in.show(&id(n))["digest"]["standing_instructions"].clone()
    }

    /// The id of the instruction that is told of a session.
    fn named_id(&self, n: usize) -> String {
        let told = self.ok(&["wrong", &id(n)]);
        let line = told.lines().find(|line| line.contains("instruction")).unwrap_or_else(|| panic!("{told}"));
        line.split_whitespace().next().expect("an id").to_owned()
    }

    fn ok(&self, args: &[&str]) -> String {
        let ran = self.stand_in.recall(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
        ran.out
    }
}

#[test]
fn what_a_model_names_in_several_sessions_is_a_rule_in_the_users_words() {
    let shop = Shop::alike(&SAID, WORDING);
    let rules = shop.rules();
    assert_eq!(shop.texts(), ["You ran npm again, it is pnpm in here"], "the one that says most of it: {rules:#?}");
    assert_eq!((&rules[0]["sessions"], &rules[0]["times"]), (&3.into(), &3.into()), "{rules:#?}");
    let quotes: Vec<&str> = rules[0]["quotes"].as_array().expect("quotes").iter().filter_map(|one| one["text"].as_str()).collect();
    assert_eq!(
        quotes,
        [SAID[2], "You ran npm again, it is pnpm in here", "The lockfile belongs to pnpm, so npm has nothing to do with it"]
    );
    assert_eq!(rules[0]["quotes"][0]["turn"], 1);
    assert_eq!((&shop.named(1)[0]["text"], &shop.named(1)[0]["claimed"]), (&quotes[1].into(), &WORDING.into()));
    let page = shop.stand_in.page(&id(1));
    assert!(page.contains(&format!("## Standing instructions\n\n- {}", quotes[1])), "{page}");
    let start = shop.ok(&["context", "--cwd", "/home/dev/src/shop"]);
    assert!(start.contains(&format!("the user said in 3 sessions, last 3 Nov: “{}”", quotes[1])), "{start}");
    for told in [shop.ok(&["rules", "--project", "shop"]), start, page] {
        assert!(!told.contains(WORDING), "nobody is told the model's words: {told}");
    }
    let without = Shop::alike(&SAID, WORDING);
    for n in 0..SAID.len() {
        without.ok(&["digest", "--session", &id(n), "--summarizer", "extract"]);
    }
    assert_eq!(without.texts(), [""; 0], "no rule of ours finds it");
}

#[test]
fn what_the_user_did_not_say_or_said_for_once_or_as_a_question_is_none() {
    let cases = [
        ("not said", ["Build the cart page", "Sort the orders"], "Never use tabs", "never use tabs"),
        ("the agent's words", ["Build the cart page", "Sort the orders"], "No emojis", "never use emojis in its headings"),
        ("another word", ["Paint the cart green", "Paint the orders green"], "Paint it", "Paint the harbour green"),
        ("no more than a word", ["Build the cart page", "Sort the orders page"], "Keep the page", "page"),
        (
            "a question",
            ["Is the cart on pnpm or on npm?", "Is the order on pnpm or on npm? Sort it."],
            WORDING,
            "on pnpm or on npm",
        ),
        ("for once", ["Leave npm alone this time", "Leave npm alone for now"], WORDING, "Leave npm alone"),
        ("a quotation", ["> pnpm, no npm\n\nSort the cart", "The README says: pnpm, no npm"], WORDING, "pnpm, no npm"),
        ("code", ["```\npnpm, no npm\n```\nSort the cart", "```\npnpm, no npm\n```\nSort it"], WORDING, "pnpm, no npm"),
        ("the opposite", ["Never run pnpm for packages", "Sort the orders"], "Run pnpm for packages", "run pnpm for packages"),
        ("private", ["<private>It is pnpm, no npm</private> Sort the cart", "It is pnpm, no npm"], WORDING, "It is pnpm, no npm"),
    ];
    for (what, prompts, wording, said) in cases {
        let shop = Shop::new();
        prompts.iter().enumerate().for_each(|(n, prompt)| shop.say(n, prompt, &[(wording, said)]));
        assert_eq!(shop.texts(), [""; 0], "{what}");
        let named = shop.named(0);
        assert_eq!((&named[0]["text"], &named[0]["rows"]), (&wording.into(), &json!([])), "{what}: {named}");
        assert!(!shop.stand_in.page(&id(0)).contains("Standing instructions"), "{what}");
    }
}

#[test]
fn one_session_makes_no_rule_and_two_that_want_other_things_make_none() {
    let shop = Shop::alike(&SAID[..1], WORDING);
    shop.say(1, "The headings come without emojis", &[("No emojis in headings", "without emojis")]);
    shop.say(2, "npm is fine by me, pnpm is what the others take", &[("Use npm, not pnpm", "npm is fine by me")]);
    assert_eq!(shop.texts(), [""; 0]);
}

#[test]
fn what_a_model_names_joins_what_rules_find_and_its_opposite_closes_it() {
    let shop = Shop::new();
    shop.say(0, "Always squash commits before merging.", &[]);
    shop.say(
        1,
        "Five commits got merged, they were to be squashed",
        &[("Squash commits before merging", "they were to be squashed")],
    );
    let rules = shop.rules();
    assert_eq!((rules.len(), &rules[0]["sessions"]), (1, &2.into()), "{rules:#?}");
    shop.say(2, "I miss the history, all those squashed commits", &[("Never squash commits before merging", "I miss the history")]);
    assert_eq!(shop.texts(), [""; 0]);
}

#[test]
fn who_hides_it_hides_it_from_the_rules_and_brings_it_back() {
    let shop = Shop::alike(&SAID[..2], WORDING);
    let statement = shop.named_id(0);
    shop.ok(&["wrong", &statement]);
    assert_eq!(shop.texts(), [""; 0]);
    shop.say(0, SAID[0], &[(WORDING, "The lockfile belongs to pnpm")]);
    assert_eq!(shop.texts(), [""; 0], "digested anew");
    shop.ok(&["wrong", "--undo", &statement]);
    assert_eq!(shop.texts().len(), 1);
    shop.ok(&["rules", "--dismiss", shop.rules()[0]["id"].as_str().expect("an id")]);
    assert_eq!(shop.texts(), [""; 0]);
}

#[test]
fn it_goes_with_its_sessions_and_with_words_that_only_the_model_said() {
    let shop = Shop::alike(&SAID[..2], "Use pnpm for zanzibarquux packages, not npm");
    assert_eq!(shop.texts().len(), 1);
    shop.world().configure("[privacy]\nexclude_projects = [\"**/shop\"]\n");
    assert_eq!(shop.texts(), [""; 0], "excluded");
    shop.world().configure("");
    shop.ok(&["forget", "--match", "zanzibarquux", "--yes"]);
    assert_gone(shop.world(), "zanzibarquux");

    let shop = Shop::alike(&SAID[..2], "Use pnpm for zanzibarquux packages, not npm");
    shop.world().configure("[[privacy.rules]]\nid = \"valve\"\npattern = 'zanzi[a-z]+'\n");
    shop.ok(&["digest", "--summarizer", "extract"]);
    assert_gone(shop.world(), "zanzibarquux");
    assert_eq!(shop.texts().len(), 1, "the user's words stand");
    shop.ok(&["forget", "--session", &id(1), "--yes"]);
    assert_eq!(shop.texts(), [""; 0]);
}

#[test]
fn it_is_found_again_after_a_change_of_the_rules_and_goes_with_an_export() {
    let shop = Shop::alike(&SAID[..2], WORDING);
    let told = shop.rules();
    let change =
        |sql: &str| rusqlite::Connection::open(shop.world().data_dir().join("recall.db")).and_then(|db| db.execute_batch(sql));
    change("DELETE FROM rule_mention; DELETE FROM fact WHERE name = 'rules of instructions'").expect("older");
    assert_eq!(shop.texts(), [""; 0]);
    shop.ok(&["digest", "--summarizer", "extract"]);
    assert_eq!(shop.rules(), told);
    change("UPDATE digest SET account_rules = 1").expect("older");
    shop.ok(&["digest", "--summarizer", "extract"]);
    assert_eq!(shop.rules(), told, "accounts are made anew");

    let other = Shop::new();
    let file = shop.stand_in.here().join("out.jsonl");
    fs::write(&file, shop.ok(&["export"])).expect("the export");
    other.ok(&["import", file.to_str().expect("UTF-8")]);
    other.ok(&["digest", "--summarizer", "extract"]);
    assert_eq!(other.rules(), told);
}

#[test]
fn a_digest_that_its_page_gives_back_has_it_too() {
    let shop = Shop::alike(&SAID[..2], WORDING);
    shop.world().lose_index();
    shop.stand_in.recall(&["digest", "--summarizer", "extract"]);
    assert_eq!(shop.named(1)[0]["text"], "You ran npm again, it is pnpm in here");
}

#[test]
fn what_was_named_before_is_listed_for_the_next_session_in_its_words() {
    let shop = Shop::alike(&SAID[..1], WORDING);
    shop.say(1, "Sort the orders", &[]);
    let heading = "Standing instructions so far (use the same words for the same):\n";
    let lists = |n: usize| shop.stand_in.calls()[n].stdin.contains(&format!("{heading}- {WORDING}\n<record-"));
    assert!(!lists(1), "only what earlier runs digested");
    let later = |n: usize, prompt: &str| {
        shop.world().transcript(
            &format!("-shop/{}.jsonl", id(n)),
            user(&id(n), &format!("{n}u"), "2026-11-19T10:00:00Z", prompt)
                + &assistant(&id(n), &format!("{n}a"), "2026-11-19T10:01:00Z", "I mended the page NO1, all of it."),
        );
        let ran = shop
            .world()
            .recall_with(["digest", "--session", &id(n), "--summarizer", "claude"], &[("RECALL_NOW", "2026-11-21T13:00:00Z")]);
        assert_eq!(ran.code, 0, "{ran:#?}");
    };
    later(5, "Sort the list");
    assert!(lists(2), "{}", shop.stand_in.calls()[2].stdin);
    shop.ok(&["wrong", &shop.named_id(0)]);
    later(6, "Sort the table");
    assert!(!lists(3), "what the user hid is listed to nobody");
}
