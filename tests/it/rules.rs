//! What the user says again and again in a project: found, told in their words, kept or dismissed, and gone with the sessions that say it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::data_folder::assert_gone;
use crate::support::{Ran, World, assistant, user};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
const SAID: [&str; 3] = [
    "Build the cart page. No, pnpm, not npm.",
    "Please use pnpm instead of npm here.",
    "Sort the orders. I told you: pnpm, not npm!",
];

struct Shop {
    world: World,
}

impl Shop {
    /// A session for each of these prompts, a day after the other.
    fn of(prompts: &[&str]) -> Self {
        let shop = Self { world: World::new() };
        fs::create_dir_all(shop.dir()).expect("a project");
        prompts.iter().enumerate().for_each(|(n, prompt)| shop.say(n, prompt));
        shop.world.digest(&EXTRACT);
        shop
    }

    fn dir(&self) -> PathBuf {
        self.world.home().canonicalize().expect("a home").join("src/shop")
    }

    fn say(&self, n: usize, prompt: &str) {
        let (id, at) = (id(n), format!("2026-11-{:02}T10:00:00Z", n + 1));
        let rows = user(&id, &format!("{n}u"), &at, prompt) + &assistant(&id, &format!("{n}a"), &at, "Mended, and the tests pass.");
        let rows = rows.replace("/home/dev/src/shop", &self.dir().display().to_string());
        self.world.transcript(&format!("-shop/{id}.jsonl"), rows);
    }

    fn rules(&self, more: &[&str]) -> Ran {
        self.world.recall(["rules", "--project", "shop"].iter().chain(more))
    }

    fn json(&self) -> Value {
        let ran = self.rules(&["--json"]);
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
    }

    fn texts(&self) -> Vec<String> {
        let list = self.json()["rules"].as_array().expect("rules").clone();
        list.iter().map(|rule| rule["text"].as_str().expect("a text").to_owned()).collect()
    }

    fn id(&self) -> String {
        self.json()["rules"][0]["id"].as_str().expect("a rule").to_owned()
    }

    fn start(&self) -> String {
        self.world.recall(["context", "--cwd", &self.dir().display().to_string()]).out
    }

    fn ok(&self, args: &[&str]) -> String {
        let ran = self.world.recall(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
        ran.out
    }
}

fn id(n: usize) -> String {
    format!("aa{n:02}0000-5ec0-4000-8000-000000000000")
}

#[test]
fn what_is_said_in_several_sessions_is_listed_with_quotations_and_told_at_a_start() {
    let shop = Shop::of(&SAID);
    let told = shop.rules(&[]).out;
    let (id, dir) = (shop.id(), shop.dir().display().to_string());
    assert!(id.starts_with('r') && id.len() == 9, "{id}");
    assert_eq!(
        told,
        format!(
            "in {dir}:\n\n{id} I told you: pnpm, not npm!\n  said 3 times in 3 sessions, 2026-11-01 to 2026-11-03\n  \
             2026-11-03 aa020000, turn 1: “I told you: pnpm, not npm!”\n  2026-11-02 aa010000, turn 1: “Please use pnpm instead of npm \
             here.”\n  2026-11-01 aa000000, turn 1: “No, pnpm, not npm.”\n\n`recall rules --accept ID` keeps one as a note, `--dismiss ID` \
             stops showing it, `--diff` proposes lines for CLAUDE.md.\n"
        )
    );
    let line = format!("## Remembered\n- {id} the user said in 3 sessions, last 3 Nov: “I told you: pnpm, not npm!”\n");
    assert!(shop.start().contains(&line), "{}", shop.start());
    assert!(shop.world.recall(["rules"]).out.starts_with("no repeated instructions"), "elsewhere nothing was said");
}

#[test]
fn what_is_for_once_asked_quoted_or_said_in_one_session_is_none() {
    let prompts = [
        "Don't forget to add the test for login now. Never push to main. Never push to main!",
        "don't forget to add the test for the cart now. Should we always use yarn?",
        "> Always use yarn.\n\nShould we always use yarn? No, the other button.",
        "The README says: always use yarn. No, the other file.",
    ];
    let shop = Shop::of(&prompts);
    assert_eq!(shop.texts(), Vec::<String>::new(), "{}", shop.json());
    assert!(!tells_rule(&shop.start()), "{}", shop.start());
}

#[test]
fn the_order_in_which_sessions_are_read_changes_nothing() {
    let all = Shop::of(&SAID);
    let later = Shop::of(&[]);
    for n in [2, 0, 1] {
        later.say(n, SAID[n]);
        later.world.digest(&EXTRACT);
    }
    let told = |shop: &Shop| shop.rules(&[]).out.replace(&shop.dir().display().to_string(), "shop");
    assert_eq!(told(&all), told(&later));
    all.world.digest(&["--summarizer", "extract", "--session", &id(1)]);
    assert_eq!(told(&all), told(&later), "digested anew");
}

#[test]
fn what_was_overtaken_does_not_stand() {
    let shop = Shop::of(&["Always squash commits before merging.", "always squash the commits before you merge"]);
    assert_eq!(shop.texts(), ["always squash the commits before you merge"]);
    shop.say(5, "Never squash commits before merging, I want the history.");
    shop.world.digest(&EXTRACT);
    assert_eq!(shop.texts(), Vec::<String>::new());
}

#[test]
fn what_is_written_for_claude_or_remembered_already_is_not_told() {
    for (file, text) in [
        ("CLAUDE.md", "# Shop\n\n- Use pnpm, never npm.\n"),
        (".claude/CLAUDE.md", "Packages: use pnpm, not npm.\n"),
        (".claude/rules/tools.md", "- pnpm, not npm\n"),
    ] {
        let shop = Shop::of(&SAID);
        let file = shop.dir().join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, text).expect("a file");
        assert!(shop.texts().is_empty() && !tells_rule(&shop.start()), "{text}");
        fs::write(&file, "Use npm, not pnpm.\n").expect("a file");
        assert_eq!(shop.texts().len(), 1, "it says the opposite");
    }
    let shop = Shop::of(&SAID);
    let folder: String =
        shop.dir().display().to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let memory = shop.world.claude_dir().join("projects").join(folder).join("memory");
    fs::create_dir_all(&memory).expect("a folder");
    fs::write(memory.join("MEMORY.md"), "- use pnpm, not npm\n").expect("a file");
    assert_eq!(shop.texts(), Vec::<String>::new());
    let shop = Shop::of(&SAID);
    shop.ok(&["remember", "--project", &shop.dir().display().to_string(), "We use pnpm here, not npm."]);
    assert_eq!(shop.texts(), Vec::<String>::new());
}

#[test]
fn no_link_out_of_the_project_is_followed() {
    let shop = Shop::of(&SAID);
    let outside = shop.world.home().join("outside.md");
    fs::write(&outside, "Use pnpm, not npm.\n").expect("a file");
    std::os::unix::fs::symlink(&outside, shop.dir().join("CLAUDE.md")).expect("a link");
    assert_eq!(shop.texts().len(), 1);
    assert_eq!(shop.rules(&["--diff"]).code, 2);
}

#[test]
fn a_diff_proposes_lines_and_writes_nothing() {
    let shop = Shop::of(&SAID);
    let file = shop.dir().join("CLAUDE.md");
    let new = "--- /dev/null\n+++ b/CLAUDE.md\n@@ -0,0 +1,1 @@\n+- I told you: pnpm, not npm!\n";
    assert_eq!(shop.rules(&["--diff"]).out, new);
    assert!(!file.exists());
    fs::write(&file, "# Shop\n\nTests run with make.\n").expect("a file");
    let more =
        "--- a/CLAUDE.md\n+++ b/CLAUDE.md\n@@ -1,3 +1,5 @@\n # Shop\n \n Tests run with make.\n+\n+- I told you: pnpm, not npm!\n";
    assert_eq!(shop.rules(&["--diff"]).out, more);
    assert_eq!(fs::read_to_string(&file).expect("the file"), "# Shop\n\nTests run with make.\n");
}

#[test]
fn an_accepted_rule_is_a_note_of_the_users() {
    let shop = Shop::of(&SAID);
    shop.ok(&["rules", "--accept", &shop.id()]);
    assert_eq!(shop.texts(), Vec::<String>::new());
    let start = shop.start();
    assert!(start.contains("convention: I told you: pnpm, not npm!") && !tells_rule(&start), "{start}");
}

#[test]
fn a_dismissed_rule_stays_so_until_the_user_takes_that_back() {
    let shop = Shop::of(&SAID);
    let rule = shop.id();
    assert_eq!(shop.ok(&["rules", "--dismiss", &rule]), "Dismissed: “I told you: pnpm, not npm!”\n");
    let gone = |shop: &Shop| shop.texts().is_empty() && !tells_rule(&shop.start());
    assert!(gone(&shop));
    shop.world.digest(&["--summarizer", "extract", "--session", &id(0)]);
    shop.world.digest(&["--rebuild-pages"]);
    shop.say(7, "pnpm, not npm. Then sort the list");
    shop.world.digest(&EXTRACT);
    assert!(gone(&shop), "said again and digested anew");
    let other = Shop::of(&[]);
    let export = shop.ok(&["export"]).replace(&shop.dir().display().to_string(), &other.dir().display().to_string());
    let file = other.world.home().join("export.jsonl");
    fs::write(&file, export).expect("an export");
    other.ok(&["import", &file.display().to_string()]);
    assert!(gone(&other), "{}", other.json());
    assert_eq!(other.json()["dismissed"][0]["id"], rule.as_str());
    assert!(!shop.ok(&["wrong", &id(0)]).contains("Hidden"), "it is no statement of a model's");
    for shop in [&shop, &other] {
        assert!(shop.rules(&[]).out.contains(&format!("--undo`):\n{rule} “pnpm, not npm.”\n")), "{}", shop.rules(&[]).out);
        shop.ok(&["rules", "--dismiss", &rule, "--undo"]);
        assert_eq!(shop.id(), rule);
    }
}

#[test]
fn only_a_person_keeps_or_dismisses_a_rule() {
    let shop = Shop::of(&SAID);
    for decides in ["--accept", "--dismiss"] {
        let ran = shop.world.recall_with(["rules", decides, &shop.id()], &[("CLAUDECODE", "1")]);
        assert_eq!(ran.code, 2, "{ran:#?}");
    }
    assert_eq!(shop.texts().len(), 1);
    let ran = shop.world.recall(["rules", "--accept", "r00000000"]);
    assert!(ran.code == 2 && ran.err.contains("no rule `r00000000`"), "{ran:#?}");
}

/// In so many sessions that are left it has to be said.
#[test]
fn a_rule_goes_with_the_sessions_that_say_it() {
    let zanzi = ["Never paint the zanzibarquux valve.", "I said never paint the zanzibarquux valve."];
    let shop = Shop::of(&zanzi);
    assert_eq!(shop.texts(), [zanzi[1]]);
    shop.ok(&["forget", "--session", &id(0), "--yes"]);
    assert_eq!(shop.texts(), Vec::<String>::new());
    shop.ok(&["forget", "--match", "zanzibarquux", "--yes"]);
    assert_gone(&shop.world, "zanzibarquux");

    let shop = Shop::of(&zanzi);
    shop.world.configure("[privacy]\nexclude_projects = [\"**/shop\"]\n");
    assert!(shop.texts().is_empty() && !shop.start().contains("valve"), "excluded");

    let shop = Shop::of(&[zanzi[0], "<private>Never paint the zanzibarquux valve.</private> Sort the list of orders"]);
    assert_eq!(shop.texts(), Vec::<String>::new(), "private");

    let shop = Shop::of(&zanzi);
    shop.world.configure("[[privacy.rules]]\nid = \"valve\"\npattern = 'zanzi[a-z]+'\n");
    shop.world.digest(&EXTRACT);
    assert!(!shop.rules(&[]).out.contains("zanzibarquux") && !shop.start().contains("zanzibarquux"), "sanitized again");
    assert_gone(&shop.world, "zanzibarquux");
}

/// Do start notes tell a rule?
fn tells_rule(start: &str) -> bool {
    start.lines().any(|line| line.starts_with("- r") && line.contains("the user said in"))
}
