//! A session that moves: it begins in one project, goes on in another and comes back. Where one of the two is isolated the whole session is, by
//! every way out, whether the config said so before or after the digest. Where the second is excluded, all is from there on: what is kept of
//! the rest, and when, is the subject of `parts`.

use std::path::PathBuf;

use serde_json::Value;

use super::excluded_everywhere::{CLINIC as MOVED, EXTRACT, SHOP, Scene, Shown, WAYS, assert_none_leaks, showing_word};
use super::outputs::{CONFIG, listener};
use crate::support::World;
use crate::support::data_folder::assert_gone;

pub const EXCLUDED: &str = "[privacy]\nexclude_projects = [\"**/clinic\"]\n";
const ISOLATED: &str = "[privacy]\nisolate = [\"~/src/clin*\"]\n";
const FOLDER: &str = "-q";

/// The parts of the session: where, when, and the word that only this part says.
const PARTS: [(&str, &str, &str); 3] = [
    ("shop", "2026-11-20T09:00:00Z", "hushmoss"),
    ("clinic", "2026-11-20T09:10:00Z", "hushfern"),
    ("shop", "2026-11-20T09:20:00Z", "hushivy"),
];

fn parts(scene: &Scene, from: usize, to: usize) -> String {
    let part = |(project, at, word): &(&str, &str, &str)| {
        scene.talk(project, MOVED, at, &format!("Balance the ledger with the {word} pump"), word)
    };
    PARTS[from..to].iter().map(part).collect()
}

fn put(scene: &Scene, rows: &str) -> PathBuf {
    scene.world.transcript(&format!("{FOLDER}/{MOVED}.jsonl"), rows)
}

fn put_other(scene: &Scene) {
    let other = scene.talk("shop", SHOP, "2026-11-20T10:00:00Z", "Sort the order list of the web shop", "loudbasalt");
    scene.world.transcript(&format!("{FOLDER}/{SHOP}.jsonl"), other);
}

/// The moved session, another of the shop, and a note of the clinic, digested under this config.
fn scene(config: &str) -> Scene {
    scene_of(config, |rows| rows)
}

/// The same, where what is said before the session moves may be kept.
fn scene_with_part(config: &str) -> Scene {
    scene_of(config, part_is_kept)
}

fn part_is_kept(rows: String) -> String {
    rows.replace("hushmoss", "loudmoss")
}

fn scene_of(config: &str, rows: impl Fn(String) -> String) -> Scene {
    let scene = Scene::bare();
    put(&scene, &rows(parts(&scene, 0, 3)));
    put_other(&scene);
    let scene = scene.with_note("The ledger of the ward closes at noon.");
    scene.configure(config);
    scene.world.digest(&EXTRACT);
    scene
}

pub fn names(scene: &Scene) -> Vec<(&'static str, String)> {
    let named = |(name, value): (&'static str, String)| (name, if value.is_empty() { "d0000000".to_owned() } else { value });
    scene.names().into_iter().map(named).collect()
}

fn leaks(scene: &Scene, may: &[Shown]) {
    assert_none_leaks(&showing_word(scene, &names(scene), "hush"), may);
}

/// A subagent's first folder is that of its source, and the main conversation's second one: it is kept once.
#[test]
fn the_folders_that_are_kept_do_not_depend_on_what_was_read_first() {
    let agent = |scene: &Scene| {
        let rows = parts(scene, 1, 2)
            .replace("\"type\":\"", "\"isSidechain\":true,\"agentId\":\"a1\",\"type\":\"")
            .replace("hushfern", "hushash");
        scene.world.transcript(&format!("{FOLDER}/{MOVED}/subagents/agent-a1.jsonl"), rows);
    };
    for late in [true, false] {
        let scene = Scene::bare();
        if !late {
            agent(&scene);
            scene.world.digest(&EXTRACT);
        }
        put(&scene, &parts(&scene, 0, 2));
        scene.world.digest(&EXTRACT);
        agent(&scene);
        scene.world.digest(&EXTRACT);
        assert_eq!(scene.world.count("SELECT count(*) FROM session_folder"), 0, "{late}");
        scene.configure(EXCLUDED);
        assert!(!scene.world.recall(["export"]).out.contains("hush"), "{late}");
    }
}

/// Without this the tests below would prove nothing.
#[test]
fn a_session_that_moved_is_shown_by_most_ways_where_nothing_is_left_out() {
    let scene = scene("");
    let shown = showing_word(&scene, &names(&scene), "hush");
    let openly = WAYS.iter().enumerate().filter(|(n, _)| shown.iter().any(|(other, _)| other == n)).count();
    assert!(openly >= 30, "{openly} of {} ways: {shown:#?}", WAYS.len());
}

#[test]
fn excluded_after_the_digest_it_leaves_by_no_way() {
    let scene = scene_with_part("");
    let names = names(&scene);
    scene.configure(EXCLUDED);
    assert_none_leaks(&showing_word(&scene, &names, "hush"), &[]);
    assert_gone(&scene.world, "hushfern");
}

#[test]
fn excluded_before_the_digest_it_leaves_by_no_way() {
    let scene = scene_with_part(EXCLUDED);
    leaks(&scene, &[]);
    assert_gone(&scene.world, "hushfern");
}

#[test]
fn isolated_after_the_digest_it_is_shown_within_alone() {
    let scene = scene("");
    scene.configure(ISOLATED);
    assert_within_alone(&scene);
}

#[test]
fn isolated_before_the_digest_it_is_shown_within_alone() {
    assert_within_alone(&scene(ISOLATED));
}

fn assert_within_alone(scene: &Scene) {
    let found = |dir: &str| {
        let mut search = scene.world.process();
        search.args(["search", "ledger pump"]).current_dir(scene.dir(dir));
        crate::support::fed(search, b"").out
    };
    assert!(found("clinic").contains("hush"), "{}", found("clinic"));
    assert!(!found("shop").contains("hush"), "{}", found("shop"));
    leaks(scene, &[Shown::Inside]);
}

/// What the index has not read yet is known to be of the clinic by its rows.
#[test]
fn what_went_on_since_the_digest_leaves_by_no_way() {
    for (config, may) in [(EXCLUDED, &[][..]), (ISOLATED, &[Shown::Inside])] {
        let scene = Scene::bare();
        let before = parts(&scene, 0, 1).replace("hush", "loud");
        put(&scene, &before);
        scene.world.digest(&EXTRACT);
        put(&scene, &(before + &parts(&scene, 1, 3)));
        scene.configure(config);
        let ran = scene.world.recall(["show", MOVED, "--raw"]);
        leaks(&scene, may);
        assert!(ran.code == 2 && ran.out.is_empty(), "{ran:#?}");
    }
}

/// It was stored while it was in the shop, and its digest and pages with it.
#[test]
fn of_a_session_that_moves_later_nothing_comes_back_with_what_it_says_from_then_on() {
    let scene = Scene::bare();
    scene.configure(EXCLUDED);
    put(&scene, &part_is_kept(parts(&scene, 0, 1)));
    scene.world.digest(&EXTRACT);
    assert!(scene.world.recall(["show", MOVED]).out.contains("loudmoss"));
    put(&scene, &part_is_kept(parts(&scene, 0, 2)));
    assert_eq!(scene.world.digest(&EXTRACT)["sessions_excluded"], 1);
    leaks(&scene, &[]);
    // In the shop.
    put(&scene, &part_is_kept(parts(&scene, 0, 3)));
    scene.world.digest(&EXTRACT);
    leaks(&scene, &[]);
    assert_gone(&scene.world, "hushivy");
    // Until nothing is excluded any more.
    scene.configure("");
    put(
        &scene,
        &part_is_kept(parts(&scene, 0, 3) + &scene.talk("shop", MOVED, "2026-11-20T09:30:00Z", "Balance it again", "loudelm")),
    );
    scene.world.digest(&EXTRACT);
    assert!(scene.world.recall(["show", MOVED]).out.contains("loudelm"));
}

#[test]
fn a_session_of_which_a_subagent_moved_in_its_first_turn_is_left_out_whole() {
    for (before, after) in [("", EXCLUDED), (EXCLUDED, EXCLUDED)] {
        let scene = Scene::bare();
        put(&scene, &parts(&scene, 0, 1));
        put_other(&scene);
        let agent = parts(&scene, 1, 2).replace("\"type\":\"", "\"isSidechain\":true,\"agentId\":\"a1\",\"type\":\"");
        scene.world.transcript(&format!("{FOLDER}/{MOVED}/subagents/agent-a1.jsonl"), agent);
        scene.configure(before);
        scene.world.digest(&EXTRACT);
        scene.configure(after);
        leaks(&scene, &[]);
    }
}

#[test]
fn the_model_is_told_nothing_of_it() {
    for (before, after) in [("", EXCLUDED), (EXCLUDED, EXCLUDED), ("", ISOLATED), (ISOLATED, ISOLATED)] {
        let listener = listener("");
        let dir = |name: &str| listener.world.home().canonicalize().expect("a home").join("src").join(name).display().to_string();
        let talk = |project: &str, id: &str, at: &str, word: &str| {
            let bare = Scene::bare();
            let from = bare.dir(project).display().to_string();
            bare.talk(project, id, at, &format!("Balance the ledger with the {word} pump"), word).replace(&from, &dir(project))
        };
        let moved: String = PARTS.iter().map(|(project, at, word)| talk(project, MOVED, at, word)).collect();
        let moved = part_is_kept(moved);
        listener.world.transcript(&format!("{FOLDER}/{MOVED}.jsonl"), moved);
        listener.world.configure(&format!("{CONFIG}{before}"));
        listener.world.digest(&["--ingest-only"]);
        listener.world.configure(&format!("{CONFIG}{after}"));
        // The next session of the shop is given what the ones before it left open.
        let next = talk("shop", SHOP, "2026-11-20T10:00:00Z", "loudbasalt");
        listener.world.transcript(&format!("{FOLDER}/{SHOP}.jsonl"), next);
        listener.world.digest(&["--session", SHOP]);
        let calls = listener.calls();
        assert_eq!(calls.len(), 1, "{before} {after}");
        assert!(calls[0].stdin.contains("loudbasalt") && !calls[0].stdin.contains("hush"), "{before} {after}: {}", calls[0].stdin);
        listener.world.digest(&[]);
        let told = listener.calls().iter().any(|call| call.stdin.contains("hush"));
        assert_eq!(told, after == ISOLATED, "what is isolated is digested, by itself");
        let part = listener.calls().iter().any(|call| call.stdin.contains("loudmoss"));
        assert!(part, "so is what is kept");
    }
}

#[test]
fn the_doctor_says_which_sessions_are_withheld_and_why() {
    let scene_before = scene("");
    scene_before.configure(EXCLUDED);
    let whole = "ok: 1 session is fully hidden, as part of the work was in a folder matching `**/clinic` in `privacy.exclude_projects`: cccc1111";
    assert_eq!(scene_before.world.findings("privacy", &[]), [whole], "until the next digest");
    scene_before.world.digest(&EXTRACT);
    for scene in [scene_before, scene(EXCLUDED)] {
        let part = "ok: 1 session is kept in part, because it continued in a folder that matches `**/clinic` in `privacy.exclude_projects`: cccc1111 up to 10:00 on 2026-11-20";
        assert_eq!(scene.world.findings("privacy", &[]), [part]);
        // What began in the clinic, and moved to the shop, is not.
        put(&scene, &parts(&scene, 1, 3));
        std::fs::remove_dir_all(scene.world.data_dir()).expect("the memory");
        scene.world.digest(&EXTRACT);
        assert_eq!(scene.world.findings("privacy", &[]), [whole]);
    }
    let scene = scene(ISOLATED);
    let why = "ok: 1 session is shown only in folders that match `~/src/clin*` in `privacy.isolate`, because a part of it ran there: cccc1111";
    assert_eq!(scene.world.findings("privacy", &[]), [why]);
    scene.configure("");
    assert_eq!(scene.world.findings("privacy", &[]), [] as [&str; 0]);
}

/// An older program kept the first folder of a session alone.
#[test]
fn an_older_index_learns_the_folders_from_the_transcripts_that_are_left() {
    for is_there in [true, false] {
        let scene = scene_with_part("");
        scene.world.make_index_older();
        if !is_there {
            std::fs::remove_dir_all(scene.world.claude_dir().join("projects")).expect("the transcripts");
        }
        scene.world.digest(&EXTRACT);
        scene.configure(EXCLUDED);
        let told = scene.world.findings("privacy", &[]).join("\n");
        if is_there {
            assert!(told.contains("fully hidden") && !told.contains("unknown"), "{told}");
            leaks(&scene, &[]);
        } else {
            let why = "warning: it is not known in which folders 2 sessions ran, because an older version stored only the first folder: aaaa1111, cccc1111";
            assert_eq!(told, why);
        }
    }
}

#[test]
fn the_folders_of_a_session_survive_an_export_and_a_repair() {
    let scene = scene("");
    let exported = scene.world.recall(["export"]).out;
    let line = exported.lines().find(|line| line.contains(MOVED)).expect("the session");
    let session: Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(session["folders"], serde_json::json!([scene.dir("clinic")]), "{line}");
    let other = World::new();
    let file = other.root().join("all.jsonl");
    std::fs::write(&file, exported).expect("an export");
    assert_eq!(other.recall(["import".as_ref(), file.as_os_str()]).code, 0);
    other.configure(EXCLUDED);
    assert!(!other.recall(["search", "ledger"]).out.contains("hush"));
    assert!(!other.recall(["export"]).out.contains("hush"));
}

#[test]
fn who_forgets_a_session_or_a_folder_by_name_forgets_where_it_went_on() {
    for what in [["forget", "--yes", "--session", MOVED], ["forget", "--yes", "--match", "clinic"]] {
        for config in ["", EXCLUDED] {
            let scene = scene(config);
            let ran = scene.world.recall(what);
            assert!(ran.code < 2 && !ran.err.contains("still stands in the index"), "{ran:#?}");
            let left = scene.world.count(&format!("SELECT count(*) FROM session_folder WHERE session = '{MOVED}'"));
            assert_eq!(left, 0, "{what:?} {config}");
        }
    }
}
