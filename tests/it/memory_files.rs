//! The memory files that Claude Code keeps of its own (`projects/<folder>/memory/*.md`), in recall's index.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::hooks::payloads::{FOLDER, S, SHOP, patient, payload};
use crate::support::data_folder::assert_gone;
use crate::support::mcp_client::Peer;
use crate::support::{World, age, assistant, user};

const ONE: &str = "aaaa1111-aaaa-4aaa-8aaa-aaaa11110000";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
const DEPLOY: &str =
    "---\nname: deploys\ndescription: How the shop is deployed\ntype: project\n---\n\nDeploys go through the kestrel gateway.\n";

fn file(world: &World, name: &str) -> PathBuf {
    world.claude_dir().join(format!("projects/{FOLDER}/memory/{name}"))
}

fn write(world: &World, name: &str, text: &str) {
    let file = file(world, name);
    fs::create_dir_all(file.parent().expect("a folder")).expect("the memory's folder");
    fs::write(&file, text).expect("a memory file");
    // The clock of a world stands still before the machine's.
    age(&file, Duration::from_secs(10 * 24 * 3600));
}

fn session(id: &str) -> String {
    user(id, &format!("{}1", &id[..35]), "2026-11-20T08:00:00Z", "Where do the logs of the shop go?")
        + &assistant(id, &format!("{}2", &id[..35]), "2026-11-20T08:01:00Z", "They go to the harbour disk.")
}

/// A session, and two memory files of its project.
fn shop() -> World {
    let world = World::new();
    patient(&world);
    world.transcript(&format!("{FOLDER}/{ONE}.jsonl"), session(ONE));
    write(&world, "MEMORY.md", "# Memory\n\n- [Deploys](deploy.md) — how the shop is deployed\n");
    write(&world, "deploy.md", DEPLOY);
    world.digest(&EXTRACT);
    world
}

fn found(world: &World, words: &[&str]) -> Vec<Value> {
    let ran = world.recall([&["search", "--json"], words].concat());
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn stored(world: &World) -> i64 {
    world.count("SELECT count(*) FROM memory_file")
}

#[test]
fn a_memory_file_is_found_by_search_and_opened_by_its_id() {
    let world = shop();
    let all = found(&world, &["kestrel gateway"]);
    assert_eq!(all.len(), 1, "{all:#?}");
    let one = &all[0];
    assert_eq!((&one["title"], &one["found_in"]), (&json!("Claude's memory file deploy.md"), &json!("memory")), "{one}");
    assert_eq!((&one["project"], &one["passage"]), (&json!(SHOP), &json!("Deploys go through the kestrel gateway.")), "{one}");
    let id = one["memory_file"].as_str().expect("an id");
    for words in [["kind:memory deployed"], ["kind:memory"]] {
        let ids: Vec<Value> = found(&world, &words).iter().map(|one| one["memory_file"].clone()).collect();
        assert!(ids.len() == 2 && ids.contains(&json!(id)), "{words:?}: {ids:?}");
    }
    assert!(found(&world, &["kind:note kestrel"]).is_empty() && found(&world, &["kind:recap kestrel"]).is_empty());
    let shown = world.recall(["show", id]);
    assert!(shown.out.starts_with("# Claude's memory file deploy.md · 20") && shown.out.contains("kestrel"), "{shown:#?}");
    let data: Value = serde_json::from_str(&world.recall(["show", id, "--json"]).out).expect("JSON");
    assert_eq!((&data["memory_file"], &data["text"]), (&json!(id), &json!(DEPLOY.trim_end())), "{data}");
    assert_eq!(world.recall(["show", id, "--raw"]).code, 2);
    let mut peer = Peer::greet(&world);
    let ask = json!({"name": "search", "arguments": {"query": "kestrel", "kind": "memory", "scope": "all"}});
    let answer = peer.ask("tools/call", ask).to_string();
    assert!(answer.contains(id) && answer.contains("memory: Deploys go through"), "{answer}");
    let opened = peer.ask("tools/call", json!({"name": "get", "arguments": {"ids": [id]}})).to_string();
    assert!(opened.contains("kestrel gateway"), "{opened}");
}

#[test]
fn a_file_that_changed_is_read_again_and_one_that_went_is_gone() {
    let world = shop();
    assert_eq!(world.digest(&EXTRACT).get("memory_files_read"), None, "nothing is new");
    write(&world, "deploy.md", &DEPLOY.replace("kestrel", "merlinbird"));
    assert_eq!(world.digest(&EXTRACT)["memory_files_read"], 1);
    assert!(found(&world, &["kestrel"]).is_empty() && found(&world, &["merlinbird"]).len() == 1);
    fs::remove_file(file(&world, "deploy.md")).expect("gone");
    assert_eq!(world.digest(&EXTRACT)["memory_files_gone"], 1);
    assert!(found(&world, &["merlinbird"]).is_empty() && stored(&world) == 1);
}

#[test]
fn a_file_of_an_unknown_project_waits_until_it_is_known() {
    let world = World::new();
    write(&world, "deploy.md", DEPLOY);
    world.digest(&EXTRACT);
    assert_eq!(stored(&world), 0);
    world.transcript(&format!("{FOLDER}/{ONE}.jsonl"), session(ONE));
    world.digest(&EXTRACT);
    assert_eq!(found(&world, &["kestrel"]).len(), 1);
}

#[test]
fn what_may_not_be_kept_of_a_file_is_not() {
    let world = shop();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    write(
        &world,
        "deploy.md",
        &format!("{DEPLOY}\nThe token is {secret}. <private>the zanziquux door</private> The gate is green.\n"),
    );
    let outside = world.home().join("outside.md");
    fs::write(&outside, "The obsidianfox lies here.\n").expect("a file");
    std::os::unix::fs::symlink(&outside, file(&world, "link.md")).expect("a link");
    world.digest(&EXTRACT);
    let text =
        world.database().query_row("SELECT group_concat(text) FROM memory_file", [], |r| r.get::<_, String>(0)).expect("text");
    assert!(text.contains("The gate is green"), "{text}");
    assert!(!text.contains(secret) && !text.contains("zanziquux") && !text.contains("obsidianfox"), "{text}");
    world.configure("[[privacy.rules]]\nid = \"gate\"\npattern = 'gate is [a-z]+'\n");
    world.digest(&EXTRACT);
    assert_gone(&world, "gate is green");
    assert_eq!(stored(&world), 2);
    world.configure("[privacy]\nexclude_transcripts = [\"**/deploy.md\"]\n");
    world.digest(&EXTRACT);
    assert_eq!(stored(&world), 1);
    world.configure("[privacy]\nexclude_projects = [\"**/shop\"]\n");
    assert!(found(&world, &["kind:memory"]).is_empty(), "from the moment the config says so");
    world.digest(&EXTRACT);
    assert_eq!(stored(&world), 0);
    world.digest(&EXTRACT);
    assert_eq!(stored(&world), 0);
}

/// Claude may have written in its memory what it saw there.
#[test]
fn a_folder_of_a_session_that_came_into_an_excluded_project_tells_nothing() {
    let world = shop();
    world.configure("[privacy]\nexclude_projects = [\"**/clinic\"]\n");
    let id = "bbbb1111-aaaa-4aaa-8aaa-aaaa11110000";
    let strays = user(id, "bbbb1111-aaaa-4aaa-8aaa-aaaa11110003", "2026-11-20T08:02:00Z", "Look at the wards.");
    let rows = session(id) + &strays.replace(SHOP, "/home/dev/src/clinic");
    world.transcript(&format!("{FOLDER}/{id}.jsonl"), rows);
    world.digest(&EXTRACT);
    assert_eq!(stored(&world), 0);
    world.configure("");
    world.digest(&EXTRACT);
    assert_eq!(stored(&world), 2);
    world.configure("[privacy]\nisolate = [\"**/clinic\"]\n");
    assert!(found(&world, &["kind:memory"]).is_empty());
}

#[test]
fn what_is_forgotten_of_a_file_does_not_come_back() {
    let world = shop();
    let dry = world.recall(["forget", "--match", "kestrel", "--dry-run"]);
    assert!(dry.out.contains("Claude's memory file deploy.md") && dry.out.contains("1 memory file"), "{dry:#?}");
    let ran = world.recall(["forget", "--match", "kestrel", "--yes"]);
    assert!(ran.out.contains("forgot the stored copies of 1 memory file of Claude's"), "{ran:#?}");
    assert_gone(&world, "kestrel");
    world.digest(&EXTRACT);
    assert_gone(&world, "kestrel");
    assert_eq!(stored(&world), 1);
    assert!(fs::read_to_string(file(&world, "deploy.md")).expect("the file").contains("kestrel"), "it is never written");
    let ran = world.recall(["forget", "--project", "shop", "--yes"]);
    assert!(ran.out.contains("1 session whole") && ran.out.contains("1 memory file"), "{ran:#?}");
    world.digest(&EXTRACT);
    assert_eq!((stored(&world), world.count("SELECT count(*) FROM project")), (0, 0));
}

/// The client gives them to the session itself.
#[test]
fn no_prompt_is_told_of_a_memory_file() {
    let world = shop();
    let prompt = "What did we decide about the kestrel gateway last time?";
    let ran = world.hook("user-prompt-submit", payload(&world, "UserPromptSubmit", S, json!({"prompt": prompt})).to_string());
    assert!(ran.code == 0 && !ran.out.contains("memory file"), "{ran:#?}");
    assert!(world.recall(["context", "--about", "the kestrel gateway", "--summarizer", "extract"]).out.contains("kestrel gateway"));
}
