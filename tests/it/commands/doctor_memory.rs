//! `recall doctor --memory`: what in the memory files of Claude's is out of date, and a diff that would prune them.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Ran, World, age, assistant, user};

const BEFORE: &str = "aaaa1111-0000-4000-8000-000000000000";
const AFTER: &str = "bbbb1111-0000-4000-8000-000000000000";
const MEMORY: &str = "# Memory\n\n- [Deploys](deploy.md): how we ship\n- The session cache uses Redis.\n- [Paging](paging.md): by keyset\n\
                      - Rates lie in `src/rates.rs`, orders in `src/orders.rs:7`\n- Run `make check`, see `origin/main`\n\
                      - `src/taxes.rs` was removed\n- Last of all\n";

struct Shop {
    world: World,
}

impl Shop {
    /// Sessions of a project that is on this machine, before and after its memory was written.
    fn new() -> Self {
        let shop = Self { world: World::new() };
        fs::create_dir_all(shop.dir().join("src")).expect("a project");
        fs::write(shop.dir().join("src/orders.rs"), "").expect("a file");
        shop.say(BEFORE, "2026-11-10T08:00:00Z", "We keep sessions in a cache.", "The session cache uses Redis.");
        shop.say(
            AFTER,
            "2026-11-18T08:00:00Z",
            "Why is the cache slow?",
            "The session cache no longer uses Redis, it is an LRU in the process.",
        );
        shop.write("MEMORY.md", MEMORY);
        shop.write("deploy.md", "Deploys are made by `src/orders.rs`.\n");
        shop.world.digest(&["--summarizer", "extract"]);
        shop
    }

    fn dir(&self) -> PathBuf {
        self.world.home().canonicalize().expect("a home").join("src/shop")
    }

    fn memory(&self) -> PathBuf {
        self.world.claude_dir().join("projects/-q/memory")
    }

    fn say(&self, id: &str, at: &str, prompt: &str, reply: &str) {
        let rows = user(id, &format!("{}1", &id[..35]), at, prompt) + &assistant(id, &format!("{}2", &id[..35]), at, reply);
        self.world.transcript(&format!("-q/{id}.jsonl"), rows.replace("/home/dev/src/shop", &self.dir().display().to_string()));
    }

    /// A memory file of six days ago.
    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.memory()).expect("a folder");
        fs::write(self.memory().join(name), text).expect("a memory file");
        age(&self.memory().join(name), Duration::from_secs(6 * 24 * 3600));
    }

    fn doctor(&self, more: &[&str]) -> Ran {
        let ran = self.world.recall([&["doctor", "--memory"], more].concat());
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.doctor(&["--json"]).out).expect("JSON")
    }

    /// File, line and kind of each finding.
    fn found(&self) -> Vec<(String, u64, String)> {
        let told = self.json();
        let all = told["projects"][0]["findings"].as_array().cloned().unwrap_or_default();
        let name = |path: &Value| path.as_str().expect("a path").rsplit('/').next().expect("a name").to_owned();
        all.iter()
            .map(|one| {
                (name(&one["path"]), one["line"].as_u64().expect("a line"), one["kind"].as_str().expect("a kind").to_owned())
            })
            .collect()
    }
}

fn finding(file: &str, line: u64, kind: &str) -> (String, u64, String) {
    (file.to_owned(), line, kind.to_owned())
}

#[test]
fn what_is_out_of_date_in_memory_files_is_told_with_a_diff_that_prunes_the_index() {
    let shop = Shop::new();
    shop.write("deploy.md", "Deploys are made by `src/ship/run.sh`.\n");
    assert_eq!(
        shop.found(),
        [
            finding("MEMORY.md", 4, "overtaken"),
            finding("MEMORY.md", 5, "missing_topic"),
            finding("MEMORY.md", 6, "missing_path"),
            finding("deploy.md", 1, "missing_path"),
        ]
    );
    let told = shop.json()["projects"][0].clone();
    let by = told["findings"][0]["by"].as_str().expect("who");
    assert!(by.starts_with("Claude in session bbbb1111, 2026-11-18: The session cache no longer uses Redis"), "{told:#}");
    assert_eq!((&told["findings"][2]["named"], &told["files"]), (&json!("src/rates.rs"), &json!(2)));
    let out = shop.doctor(&[]).out;
    assert!(out.contains("MEMORY.md:5: - [Paging](paging.md): by keyset\n  there is no paging.md beside it\n"), "{out}");
    assert!(out.ends_with("4 lines out of date in 2 memory files of Claude's; none was changed\n"), "{out}");
    // It does what it says.
    let diff = told["diff"].as_str().expect("a diff");
    assert!(out.contains(diff), "{out}");
    let copy = shop.world.root().join("copy");
    fs::create_dir(&copy).expect("a folder");
    fs::write(copy.join("MEMORY.md"), MEMORY).expect("a copy");
    fs::write(copy.join("diff"), diff).expect("a diff");
    let git = std::process::Command::new("git").args(["apply", "--unsafe-paths", "diff"]).current_dir(&copy).status().expect("git");
    assert!(git.success(), "{diff}");
    let left: String =
        MEMORY.split_inclusive('\n').enumerate().filter(|(at, _)| !(3..=5).contains(at)).map(|(_, line)| line).collect();
    assert_eq!(fs::read_to_string(copy.join("MEMORY.md")).expect("the copy"), left);
    assert_eq!(fs::read_to_string(shop.memory().join("MEMORY.md")).expect("the memory"), MEMORY, "nothing is written");
}

#[test]
fn what_stands_is_not_told() {
    let shop = Shop::new();
    // Written after the session that said so.
    shop.write("MEMORY.md", "- The session cache uses Redis.\n");
    age(&shop.memory().join("MEMORY.md"), Duration::from_secs(3600));
    assert_eq!(shop.found(), []);
    assert!(shop.doctor(&[]).out.starts_with("0 lines out of date in 2 memory files"), "{}", shop.doctor(&[]).out);
    // Files are looked for only where the project is.
    shop.write("MEMORY.md", "- Rates lie in `src/rates.rs`\n");
    assert_eq!(shop.found(), [finding("MEMORY.md", 1, "missing_path")]);
    fs::rename(shop.dir(), shop.world.home().join("elsewhere")).expect("moved");
    assert_eq!(shop.found(), []);
    assert_eq!(shop.doctor(&["--project", "mill"]).out, "0 lines out of date in 0 memory files of Claude's; none was changed\n");
}

#[test]
fn no_line_is_shown_that_may_not_be_kept() {
    let shop = Shop::new();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    shop.write(
        "MEMORY.md",
        &format!("# Memory\n- the token is {secret} [a](gone.md)\n- [b](gone.md)\n<private>\n- [zanziquux](gone.md)\n</private>\n"),
    );
    let out = format!("{}{}", shop.doctor(&[]).out, shop.doctor(&["--json"]).out);
    assert_eq!(shop.found(), [finding("MEMORY.md", 3, "missing_topic")]);
    assert!(!out.contains(secret) && !out.contains("zanziquux"), "{out}");
    shop.world.configure("[privacy]\nexclude_projects = [\"**/shop\"]\n");
    assert_eq!(shop.json(), json!({"projects": []}));
}

#[test]
fn it_goes_with_no_repair() {
    let world = World::new();
    assert_eq!(world.recall(["doctor", "--memory", "--fix"]).code, 2);
    assert_eq!(world.recall(["doctor", "--project", "shop"]).code, 2);
}
