//! Codex: what its clients were told to do by a script, what they wrote down, and what is read of that. See `fixtures/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::support::{World, age, copy_tree, files_below, fixtures, user};

const VERSIONS: [&str; 7] = ["0.29.0", "0.55.0", "0.96.0", "0.128.0", "0.150.1", "0.169.0", "0.169.0-code"];

/// What a session holds that was read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    sessions: usize,
    prompts: usize,
    replies: usize,
    commands: usize,
    failed: usize,
    files: BTreeSet<String>,
    commits: usize,
    subagents: usize,
    recaps: usize,
}

/// A world in which Codex of this version was at work.
pub fn world(version: &str) -> World {
    let world = World::new();
    copy_tree(&fixtures().join("codex").join(version), &codex_home(&world));
    age_rollouts(&world);
    world
}

fn codex_home(world: &World) -> PathBuf {
    world.home().join(".codex")
}

fn age_rollouts(world: &World) {
    for file in files_below(&codex_home(world)) {
        age(&file, Duration::from_secs(3600));
    }
}

fn exported(world: &World) -> Vec<Value> {
    let ran = world.recall(["export"]);
    ran.out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .filter(|line: &Value| line["session"].is_string())
        .collect()
}

fn counts(world: &World) -> Counts {
    let mut counts = Counts::default();
    for session in exported(world) {
        assert_eq!(session["agent"], "codex");
        counts.sessions += 1;
        let sources = session["sources"].as_array().expect("sources");
        counts.subagents += sources.iter().filter(|source| source["agent"].as_str().is_some_and(|agent| !agent.is_empty())).count();
        let mut commands = BTreeSet::new();
        for item in sources.iter().flat_map(|source| source["rows"].as_array().expect("rows")).map(|row| &row["item"]) {
            let data = &item["data"];
            match item["kind"].as_str().expect("a kind") {
                "prompt" => counts.prompts += 1,
                "reply" => counts.replies += 1,
                "recap" => counts.recaps += 1,
                "tool" if data["name"] == "apply_patch" => {
                    counts.files.extend(data["file"]["path"].as_str().map(str::to_owned));
                }
                "tool" if data["name"] != "spawn_agent" => {
                    counts.commands += 1;
                    commands.insert(data["id"].as_str().expect("an id").to_owned());
                }
                "outcome" if data["ok"] == false && commands.contains(data["tool"].as_str().expect("an id")) => counts.failed += 1,
                _ => {}
            }
        }
    }
    counts.commits = commits(world);
    counts
}

fn commits(world: &World) -> usize {
    let pages = world.pages();
    let sessions = pages.iter().filter(|(name, _)| name.contains("/sessions/"));
    sessions.map(|(_, page)| page.matches(" Read fractions of a spoon (push not seen)").count()).sum()
}

/// What the script had each client do, as its requests say. Where it has one, P7 is a fork of the first session; the prompt of P4 is private.
/// 0.29 and 0.55 cannot resume a session without a terminal, the script ends early at 0.96, and only code mode offers subagents. A command that
/// is mostly a key is not kept.
fn expected(version: &str) -> Counts {
    let files = |names: &[&str]| names.iter().map(|name| format!("/home/dev/kitchen/{name}")).collect();
    let both = || files(&["kitchen/amounts.py", "tests/test_amounts.py"]);
    let (sessions, prompts, replies, commands, failed, commits, subagents, recaps) = match version {
        "0.29.0" => (4, 4, 9, 6, 1, 0, 0, 0),
        "0.55.0" => (4, 4, 10, 6, 1, 0, 0, 1),
        "0.96.0" => (4, 6, 11, 3, 0, 1, 0, 1),
        "0.128.0" => (4, 6, 11, 7, 1, 1, 0, 1),
        "0.150.1" | "0.169.0" => (5, 7, 12, 7, 1, 1, 0, 1),
        _ => (5, 7, 13, 7, 1, 1, 1, 1),
    };
    let files = if version == "0.96.0" { files(&["tests/test_amounts.py"]) } else { both() };
    Counts { sessions, prompts, replies, commands, failed, files, commits, subagents, recaps }
}

#[test]
fn what_was_done_is_what_is_read() {
    let read: BTreeMap<&str, Counts> = VERSIONS
        .into_iter()
        .map(|version| {
            let world = world(version);
            let report = world.digest(&[]);
            assert_eq!((&report["rows_bad"], &report["rows_unknown"]), (&Value::from(0), &Value::from(0)), "{version}: {report}");
            (version, counts(&world))
        })
        .collect();
    assert_eq!(read, VERSIONS.into_iter().map(|version| (version, expected(version))).collect());
}

#[test]
fn nothing_that_is_secret_or_private_is_kept() {
    for version in VERSIONS {
        let world = world(version);
        world.digest(&[]);
        let held = |text: &str| {
            let held = files_below(&world.data_dir()).into_iter().filter(|file| holds(file, text));
            held.collect::<Vec<_>>()
        };
        for secret in ["ghp_Zq8mTn4vXw2LrB7c", "Quill", "Zacharias"] {
            assert!(held(secret).is_empty(), "{version}: {secret}: {:?}", held(secret));
            let found = world.recall(["export"]).out + &world.recall(["search", secret]).out;
            assert!(!found.contains(secret), "{version}: {secret}");
        }
    }
}

fn holds(file: &Path, text: &str) -> bool {
    memchr::memmem::find(&fs::read(file).expect("a file"), text.as_bytes()).is_some()
}

#[test]
fn it_does_not_matter_in_which_pieces_rollouts_are_read() {
    for version in ["0.29.0", "0.128.0", "0.169.0-code"] {
        let at_once = world(version);
        at_once.digest(&[]);
        let world = World::new();
        for part in 1..=4 {
            for file in files_below(&fixtures().join("codex").join(version)) {
                let below = file.strip_prefix(fixtures().join("codex").join(version)).expect("a fixture");
                let to = codex_home(&world).join(below);
                fs::create_dir_all(to.parent().expect("a parent")).expect("the folder");
                let text = fs::read(&file).expect("a rollout");
                // The last piece may end within a line.
                fs::write(&to, &text[..text.len() * part / 4]).expect("a rollout");
            }
            age_rollouts(&world);
            world.digest(&[]);
        }
        assert!(world.pages() == at_once.pages(), "{version}: {:#?}", world.pages());
    }
}

#[test]
fn a_rollout_that_was_packed_or_put_away_is_the_same_session() {
    let world = world("0.128.0");
    world.digest(&[]);
    let before = (world.pages(), counts(&world));
    for (n, file) in files_below(&codex_home(&world).join("sessions")).into_iter().enumerate() {
        if n % 2 == 0 {
            let packed = zstd::bulk::compress(&fs::read(&file).expect("a rollout"), 3).expect("a frame");
            fs::write(file.with_extension("jsonl.zst"), packed).expect("a packed rollout");
            fs::remove_file(&file).expect("the plain one goes");
        } else {
            let to = codex_home(&world).join("archived_sessions").join(file.file_name().expect("a name"));
            fs::create_dir_all(to.parent().expect("a parent")).expect("the folder");
            fs::rename(&file, to).expect("it is put away");
        }
    }
    age_rollouts(&world);
    assert_eq!(world.digest(&[])["rows_new"], 0);
    assert!((world.pages(), counts(&world)) == before, "{:#?}", world.pages());
    // A new memory reads them as they lie there.
    fs::remove_dir_all(world.data_dir()).expect("no memory");
    world.digest(&[]);
    assert!((world.pages(), counts(&world)) == before, "{:#?}", world.pages());
}

#[test]
fn the_config_says_whether_codex_is_read_and_a_session_is_resumed_by_codex() {
    let world = world("0.169.0");
    world.configure("[sources.codex]\nread = false\n");
    assert_eq!(world.digest(&[])["files_seen"], 0);
    world.configure("");
    world.digest(&[]);
    let listed = world.recall(["list", "--agent", "codex", "--json"]);
    let newest: Value = serde_json::from_str(listed.out.lines().next().expect("a session")).expect("JSON");
    let id = newest["session"].as_str().expect("an id");
    assert_eq!(newest["agent"], "codex");
    assert_eq!(world.recall(["list", "--agent", "claude"]).out, "");
    // The last eight characters are its id in lists: the first ones are the time.
    let short = &id[28..];
    assert!(world.recall(["list"]).out.contains(&format!("  {short}  kitchen  ")), "{}", world.recall(["list"]).out);
    assert!(world.recall(["show", short]).out.contains("Codex's last reply"));
    assert!(world.recall(["search", "agent:codex", "spoon"]).out.contains(short));
    assert_eq!(world.recall(["search", "agent:claude-code", "spoon"]).out, "");
    assert!(world.recall(["stats", "--by", "agent"]).out.contains("\nCodex "));
}

#[test]
fn a_digest_and_the_status_count_sessions_by_agent_once_there_are_two() {
    let world = world("0.55.0");
    let prompt = user("s1", "u1", "2026-11-20T09:00:00Z", "Add a spoon to the kitchen");
    world.transcript("-home-u-kitchen/s1.jsonl", prompt);
    let told = world.recall(["digest"]).out;
    assert!(told.contains("new sessions: 1 of Claude Code, 4 of Codex\n"), "{told}");
    let status = world.recall(["status"]).out;
    assert!(
        status.lines().any(|line| line.contains("Codex: 4 sessions, last ") && line.ends_with("; the model does not see them")),
        "{status}"
    );
    world.configure("[sources.codex]\nmodel = true\n");
    let allowed = world.status();
    let agents = allowed["agents"].as_array().expect("agents");
    let told: Vec<_> = agents.iter().map(|agent| (agent["agent"].as_str(), agent["for_model"].as_bool())).collect();
    assert_eq!(told, [(Some("claude-code"), Some(true)), (Some("codex"), Some(true))]);
}
