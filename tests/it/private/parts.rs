//! What a session said before it came into an excluded folder is kept, and nothing of what it said from then on: in whatever order the config,
//! the digest, the move and its files come. What is kept is what a session would be that had ended there.

use std::fs;

use serde_json::Value;

use super::excluded_everywhere::{Ask, CLINIC as MOVED, EXTRACT, SHOP, Scene, WAYS, Way, assert_none_leaks, showing_word};
use super::moved::{EXCLUDED, names};
use crate::support::data_folder::{assert_gone, places_of};

/// The words of what is kept.
const KEPT: [&str; 2] = ["loudmoss", "loudreed"];
/// The turns of the session: where, when, and the word that only this one says.
const TURNS: [(&str, &str, &str); 5] = [
    ("shop", "2026-11-20T09:00:00Z", KEPT[0]),
    ("shop", "2026-11-20T09:05:00Z", KEPT[1]),
    ("clinic", "2026-11-20T09:10:00Z", "hushfern"),
    ("shop", "2026-11-20T09:20:00Z", "hushivy"),
    ("clinic", "2026-11-20T09:30:00Z", "hushelm"),
];
const NAME: &str = "-q";

fn turn(scene: &Scene, n: usize) -> String {
    let (project, at, word) = TURNS[n];
    scene.talk(project, MOVED, at, &format!("Balance the ledger with the {word} pump"), word)
}

fn turns(scene: &Scene, from: usize, until: usize) -> String {
    (from..until).map(|n| turn(scene, n)).collect()
}

/// The turn of the clinic, asked for in the shop.
fn moving_turn(scene: &Scene) -> String {
    let rows = turn(scene, 2);
    let [asked, rest @ ..] = &rows.split_inclusive('\n').collect::<Vec<_>>()[..] else { panic!("rows") };
    let in_shop = asked.replace(&scene.dir("clinic").display().to_string(), &scene.dir("shop").display().to_string());
    assert!(in_shop != *asked && rest.len() == 2);
    in_shop + &rest.concat().replace("T09:10", "T09:12")
}

/// What the client writes about the whole session: its name, its cost, what is queued.
fn about_all_of_it() -> String {
    [
        serde_json::json!({"type": "ai-title", "aiTitle": "The hushname", "sessionId": MOVED}),
        serde_json::json!({"type": "queue-operation", "operation": "enqueue", "content": "Queue the hushqueue too", "sessionId": MOVED, "timestamp": "2026-11-20T09:31:00Z"}),
        serde_json::json!({"type": "cost-state", "sessionId": MOVED, "timestamp": "2026-11-20T09:32:00Z", "totalCostUSD": 4.5,
            "modelUsage": {"claude-opus-4-5": {"costUSD": 4.5}}}),
    ]
    .iter()
    .map(|row| format!("{row}\n"))
    .collect()
}

fn whole(scene: &Scene) -> String {
    // Nobody knows what the client had seen when it wrote a name for the session.
    let name = about_all_of_it().split_inclusive('\n').next().expect("the name").to_owned();
    turn(scene, 0) + &name + &turns(scene, 1, TURNS.len()) + &about_all_of_it()
}

fn put(scene: &Scene, rows: &str) {
    scene.world.transcript(&format!("{NAME}/{MOVED}.jsonl"), rows);
}

fn put_agent(scene: &Scene, rows: &str) {
    let rows = rows.replace("\"type\":\"", "\"isSidechain\":true,\"agentId\":\"a1\",\"type\":\"");
    scene.world.transcript(&format!("{NAME}/{MOVED}/subagents/agent-a1.jsonl"), rows);
}

fn digest(scene: &Scene) {
    let report = scene.world.digest(&EXTRACT);
    assert!(report["files_read"].as_u64() <= report["files_seen"].as_u64(), "{report}");
}

/// All that is told of the session, without where this world lies.
fn told(scene: &Scene) -> (Vec<(String, String)>, Value) {
    let home = scene.world.home().canonicalize().expect("a home").display().to_string();
    let pages = scene.world.pages().into_iter().map(|(name, text)| (name, text.replace(&home, "HOME"))).collect();
    let shown = scene.world.recall(["show", MOVED, "--json", "--items"]).out.replace(&home, "HOME");
    (pages, serde_json::from_str(&shown).unwrap_or(Value::Null))
}

/// What is told of a session that ended where this one moved.
fn ended_there(turns_kept: usize) -> (Vec<(String, String)>, Value) {
    let scene = Scene::bare();
    put(&scene, &turns(&scene, 0, turns_kept));
    digest(&scene);
    told(&scene)
}

fn assert_part(scene: &Scene, turns_kept: usize) {
    for word in ["hushfern", "hushivy", "hushelm", "hushname", "hushqueue"] {
        assert_gone(&scene.world, word);
    }
    let left_out = KEPT.iter().skip(turns_kept).filter(|word| !places_of(&scene.world, word).is_empty());
    assert_eq!(left_out.collect::<Vec<_>>(), [] as [&&str; 0]);
    let (pages, shown) = told(scene);
    let (expected_pages, expected) = ended_there(turns_kept);
    assert_eq!(shown, expected);
    assert_eq!(pages, expected_pages);
    assert_eq!(scene.world.count("SELECT count(*) FROM client_cost"), 0, "of the whole session");
    // The digest that comes next finds nothing to do.
    let again = scene.world.digest(&EXTRACT);
    assert!(again["sessions_excluded"].is_null() && again["digests_made"].is_null(), "{again}");
    assert_eq!(told(scene), (pages, shown));
}

#[test]
fn what_it_said_before_is_kept_whenever_the_config_comes() {
    for (before, after) in [("", EXCLUDED), (EXCLUDED, EXCLUDED)] {
        let scene = Scene::bare();
        scene.configure(before);
        put(&scene, &whole(&scene));
        digest(&scene);
        scene.configure(after);
        digest(&scene);
        assert_part(&scene, 2);
        for how in [&["search", "ledger pump"][..], &["export"], &["show", MOVED, "--full"]] {
            let ran = scene.world.recall(how);
            assert!(ran.code == 0 && KEPT.iter().any(|word| ran.out.contains(word)), "{how:?}: {ran:#?}");
        }
        let shop = scene.dir("shop").display().to_string();
        assert!(scene.world.recall(["context", "--cwd", &shop]).out.contains(KEPT[1]));
    }
}

#[test]
fn no_way_shows_what_came_later() {
    for before in ["", EXCLUDED] {
        let scene = Scene::bare();
        scene.configure(before);
        put(&scene, &whole(&scene));
        digest(&scene);
        scene.configure(EXCLUDED);
        digest(&scene);
        // The transcript has grown since.
        put(&scene, &(whole(&scene) + &turn(&scene, 3).replace("T09:20", "T09:40")));
        let names = names(&scene);
        assert_none_leaks(&showing_word(&scene, &names, "hush"), &[]);
        assert!(showing_word(&scene, &names, "loud").len() >= 20);
    }
}

/// Until the next digest it is fully hidden: what is stored may tell of the rest.
#[test]
fn from_the_moment_the_config_says_so_nothing_is_shown_before_the_next_digest() {
    let scene = Scene::bare();
    put(&scene, &whole(&scene));
    digest(&scene);
    let names = names(&scene);
    scene.configure(EXCLUDED);
    // The hook starts a digest.
    let ended = WAYS.iter().position(|Way(way, _)| matches!(way, Ask::Hook("session-end", _))).expect("an end");
    let early: Vec<_> = showing_word(&scene, &names, "loud").into_iter().filter(|(n, _)| *n < ended).collect();
    assert_none_leaks(&early, &[]);
    digest(&scene);
    assert!(scene.world.recall(["export"]).out.contains(KEPT[1]));
    assert_gone(&scene.world, "hushfern");
}

#[test]
fn it_does_not_matter_in_which_slices_the_transcript_was_read() {
    for config in ["", EXCLUDED] {
        let scene = Scene::bare();
        scene.configure(config);
        // Nobody knows what the client had seen when it wrote a name for the session.
        let name = about_all_of_it().split_inclusive('\n').next().expect("the name").to_owned();
        for until in 1..=TURNS.len() {
            put(&scene, &(turn(&scene, 0) + &name + &turns(&scene, 1, until)));
            digest(&scene);
        }
        put(&scene, &(turn(&scene, 0) + &name + &turns(&scene, 1, TURNS.len()) + &about_all_of_it()));
        scene.configure(EXCLUDED);
        digest(&scene);
        assert_part(&scene, 2);
    }
}

/// What somebody took back from there on was not taken back before.
#[test]
fn a_rewind_behind_the_move_takes_nothing_out() {
    let rewound = |scene: &Scene, n: usize| turn(scene, n).replacen('{', "{\"parentUuid\":\"cccc1111-loudmoss-2\",", 1);
    let expected = {
        let scene = Scene::bare();
        put(&scene, &(turn(&scene, 0) + &rewound(&scene, 1)));
        digest(&scene);
        told(&scene)
    };
    let scene = Scene::bare();
    scene.configure(EXCLUDED);
    let before = turn(&scene, 0) + &rewound(&scene, 1) + &turn(&scene, 2);
    for after in [String::new(), rewound(&scene, 3)] {
        put(&scene, &(before.clone() + &after));
        digest(&scene);
        assert_eq!(told(&scene), expected);
        assert_eq!(scene.world.count("SELECT count(*) FROM asked"), 2);
    }
    // Where nothing is excluded, it does.
    let openly = Scene::bare();
    put(&openly, &(turn(&openly, 0) + &rewound(&openly, 1) + &rewound(&openly, 3)));
    digest(&openly);
    assert!(!openly.world.recall(["show", MOVED]).out.contains(KEPT[1]));
}

/// Its prompt may say where it went, and its last results what was there.
#[test]
fn the_turn_in_which_it_moved_is_left_out() {
    let scene = Scene::bare();
    put(&scene, &(turns(&scene, 0, 2) + &moving_turn(&scene) + &turns(&scene, 3, 5)));
    scene.configure(EXCLUDED);
    digest(&scene);
    assert_part(&scene, 2);
}

#[test]
fn where_a_subagent_moved_it_ends_before_the_turn_of_that() {
    for (before, late) in [("", false), (EXCLUDED, false), ("", true), (EXCLUDED, true)] {
        let scene = Scene::bare();
        scene.configure(before);
        let main = turn(&scene, 0) + &turn(&scene, 1) + &turn(&scene, 3);
        if late {
            put(&scene, &main);
            digest(&scene);
        }
        // It began in the shop, with what is not kept.
        let began = turn(&scene, 0).replace(KEPT[0], "hushelm").replace("T09:00", "T09:06");
        put_agent(&scene, &(began + &turn(&scene, 2)));
        if !late {
            digest(&scene);
            put(&scene, &main);
        }
        scene.configure(EXCLUDED);
        digest(&scene);
        assert_part(&scene, 1);
    }
}

#[test]
fn of_two_copies_the_one_that_moved_decides_for_both() {
    for (first, second) in [("-a", "-z"), ("-z", "-a")] {
        for config in ["", EXCLUDED] {
            let scene = Scene::bare();
            scene.configure(config);
            let path = |folder: &str| format!("{folder}/{MOVED}.jsonl");
            // The one has what was said in the shop, before and after, the other goes on in the clinic.
            scene.world.transcript(&path(first), turns(&scene, 0, 2) + &turn(&scene, 3));
            digest(&scene);
            scene.world.transcript(&path(second), turns(&scene, 1, 3));
            digest(&scene);
            scene.configure(EXCLUDED);
            digest(&scene);
            assert_part(&scene, 2);
        }
    }
    // A copy that has more of what is kept comes last.
    let scene = Scene::bare();
    scene.configure(EXCLUDED);
    scene.world.transcript(&format!("-z/{MOVED}.jsonl"), turns(&scene, 1, 5));
    digest(&scene);
    scene.world.transcript(&format!("-a/{MOVED}.jsonl"), turns(&scene, 0, 2));
    digest(&scene);
    assert_part(&scene, 2);
}

#[test]
fn without_its_transcript_it_stays_out_whole() {
    let scene = Scene::bare();
    put(&scene, &whole(&scene));
    digest(&scene);
    fs::remove_dir_all(scene.world.claude_dir().join("projects")).expect("the transcripts");
    scene.configure(EXCLUDED);
    digest(&scene);
    for word in KEPT.into_iter().chain(["hushfern", "hushivy"]) {
        assert_gone(&scene.world, word);
    }
    let told = scene.world.findings("privacy", &[]).join("\n");
    assert!(told.contains("1 session is fully hidden"), "{told}");
    // It is back, from a copy of the disk.
    put(&scene, &whole(&scene));
    digest(&scene);
    assert_part(&scene, 2);
}

#[test]
fn what_names_no_time_in_the_excluded_folder_may_have_come_first() {
    let scene = Scene::bare();
    let undated = turn(&scene, 2)
        .replace("\"timestamp\":\"2026-11-20T09:10:00Z\",", "")
        .replace("\"timestamp\":\"2026-11-20T09:10:00Z\"", "\"x\":1");
    assert!(!undated.contains("T09:10"), "{undated}");
    put(&scene, &(turns(&scene, 0, 2) + &undated));
    scene.configure(EXCLUDED);
    digest(&scene);
    for word in KEPT.into_iter().chain(["hushfern"]) {
        assert_gone(&scene.world, word);
    }
}

#[test]
fn no_longer_excluded_it_comes_back_from_its_transcript() {
    let scene = Scene::bare();
    scene.configure(EXCLUDED);
    put(&scene, &whole(&scene));
    digest(&scene);
    assert_part(&scene, 2);
    scene.configure("");
    digest(&scene);
    let items = scene.world.recall(["show", MOVED, "--items"]).out;
    assert!(TURNS.iter().all(|(.., word)| items.contains(word)), "{items}");
    assert_eq!(scene.world.count("SELECT count(*) FROM session_folder"), 1);
    assert_eq!(scene.world.findings("privacy", &[]), [] as [&str; 0]);
    scene.configure(EXCLUDED);
    digest(&scene);
    assert_part(&scene, 2);
}

#[test]
fn another_folder_that_is_excluded_later_leaves_less() {
    let scene = Scene::bare();
    fs::create_dir_all(scene.dir("barn")).expect("a project");
    let barn =
        |n: usize| turn(&scene, n).replace(&scene.dir("shop").display().to_string(), &scene.dir("barn").display().to_string());
    scene.configure(EXCLUDED);
    put(&scene, &(turn(&scene, 0) + &barn(1) + &turns(&scene, 2, 5)));
    digest(&scene);
    assert!(scene.world.recall(["export"]).out.contains(KEPT[1]));
    let both = "[privacy]\nexclude_projects = [\"**/clinic\", \"**/barn\"]\n";
    scene.configure(both);
    assert!(!scene.world.recall(["export"]).out.contains("loud"), "until the next digest it is fully hidden");
    digest(&scene);
    assert_part(&scene, 1);
    // One that it came to when it was out already changes nothing.
    let later = "[privacy]\nexclude_projects = [\"**/clinic\", \"**/mill\", \"**/barn\"]\n";
    fs::create_dir_all(scene.dir("mill")).expect("a project");
    let mill = turn(&scene, 4)
        .replace("T09:30", "T09:50")
        .replace(&scene.dir("clinic").display().to_string(), &scene.dir("mill").display().to_string());
    put(&scene, &(turn(&scene, 0) + &barn(1) + &turns(&scene, 2, 5) + &mill));
    digest(&scene);
    scene.configure(later);
    assert!(scene.world.recall(["export"]).out.contains(KEPT[0]));
    assert_part(&scene, 1);
}

#[test]
fn a_run_that_is_killed_between_taking_out_and_reading_again_is_made_up_for() {
    for point in ["marks heeded:1", "marks removed:1", "batch read:1", "batches stored:1", "part read:1"] {
        let scene = Scene::bare();
        put(&scene, &whole(&scene));
        digest(&scene);
        scene.configure(EXCLUDED);
        let killed = scene.world.recall_with(["digest", "--summarizer", "extract"], &[("RECALL_KILL_AT", point)]);
        assert_eq!(killed.code, -1, "{point}: {killed:#?}");
        assert!(!scene.world.recall(["export"]).out.contains("loud"), "{point}");
        digest(&scene);
        assert_part(&scene, 2);
    }
}

#[test]
fn a_session_whose_first_turn_moved_is_left_out_whole() {
    let scene = Scene::bare();
    scene.configure(EXCLUDED);
    put(&scene, &(moving_turn(&scene) + &turns(&scene, 3, 5)));
    digest(&scene);
    assert_gone(&scene.world, "hushfern");
    assert_eq!(scene.world.count("SELECT count(*) FROM session"), 0);
    let told = scene.world.findings("privacy", &[]).join("\n");
    assert!(told.contains("1 session is fully hidden"), "{told}");
}

#[test]
fn the_doctor_says_up_to_when_it_is_kept() {
    let scene = Scene::bare();
    put(&scene, &whole(&scene));
    let other = scene.talk("shop", SHOP, "2026-11-20T10:00:00Z", "Sort the order list of the web shop", "loudbasalt");
    scene.world.transcript(&format!("{NAME}/{SHOP}.jsonl"), other);
    scene.configure(EXCLUDED);
    digest(&scene);
    let why = "ok: 1 session is kept in part, because it continued in a folder that matches `**/clinic` in `privacy.exclude_projects`: cccc1111 up to 10:05 on 2026-11-20";
    assert_eq!(scene.world.findings("privacy", &[]), [why]);
}

/// Whatever else would bring back what is not kept: an export of before, pages of before, the mark of its end.
#[test]
fn what_was_kept_of_all_of_it_elsewhere_does_not_bring_it_back() {
    // An older recall named no folders in it.
    for older in [false, true] {
        let scene = Scene::bare();
        put(&scene, &whole(&scene));
        digest(&scene);
        let all = scene.world.root().join("all.jsonl");
        let exported = scene.world.recall(["export"]).out;
        let folders = format!("\"folders\":[\"{}\"],", scene.dir("clinic").display());
        assert!(exported.contains(&folders), "{exported}");
        fs::write(&all, if older { exported.replace(&folders, "") } else { exported }).expect("an export");
        scene.configure(EXCLUDED);
        digest(&scene);
        assert_eq!(scene.world.recall(["import".as_ref(), all.as_os_str()]).code, 0);
        assert!(!scene.world.recall(["export"]).out.contains("hush"), "{older}");
        digest(&scene);
        for word in ["hushfern", "hushivy", "hushelm"] {
            assert_gone(&scene.world, word);
        }
    }
}

#[test]
fn an_exported_part_is_a_session_that_names_no_other_folder() {
    let scene = Scene::bare();
    scene.configure(EXCLUDED);
    put(&scene, &whole(&scene));
    digest(&scene);
    let exported = scene.world.recall(["export"]).out;
    assert!(exported.contains(KEPT[1]) && !exported.contains("clinic\""), "{exported}");
    let other = Scene::bare();
    other.configure("[privacy]\nexclude_projects = [\"**/clinic\"]\n");
    let file = other.world.root().join("all.jsonl");
    fs::write(&file, exported).expect("an export");
    assert_eq!(other.world.recall(["import".as_ref(), file.as_os_str()]).code, 0);
    assert!(other.world.recall(["search", "ledger"]).out.contains(KEPT[1]));
}

/// What is too old goes; what follows is still not kept.
#[test]
fn a_part_that_is_too_old_does_not_make_it_a_session_like_others() {
    let scene = Scene::bare();
    scene.configure(EXCLUDED);
    put(&scene, &turns(&scene, 0, 3));
    digest(&scene);
    scene.configure(&format!("[retention]\ndays = 1\n{EXCLUDED}"));
    digest(&scene);
    assert_gone(&scene.world, KEPT[0]);
    scene.configure(EXCLUDED);
    put(&scene, &turns(&scene, 0, 4));
    digest(&scene);
    for word in ["hushfern", "hushivy"] {
        assert_gone(&scene.world, word);
    }
}

/// Its own transcript, the mark of its end and its compaction tell what came later.
#[test]
fn no_hook_tells_of_it_what_came_later() {
    let scene = Scene::bare();
    scene.configure(EXCLUDED);
    put(&scene, &turns(&scene, 0, 4));
    let transcript = scene.world.claude_dir().join(format!("projects/{NAME}/{MOVED}.jsonl"));
    let of = |event: &str, more: Value| {
        let mut payload = serde_json::json!({"session_id": MOVED, "transcript_path": transcript, "cwd": scene.dir("shop"), "hook_event_name": event});
        payload.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        payload.to_string()
    };
    scene.world.hook("pre-compact", of("PreCompact", serde_json::json!({"trigger": "auto"})));
    scene.world.hook("session-end", of("SessionEnd", serde_json::json!({"reason": "prompt_input_exit"})));
    digest(&scene);
    let ended = "SELECT count(*) FROM session WHERE ended_at IS NOT NULL OR end_reason IS NOT NULL OR compacted_at IS NOT NULL";
    assert_eq!(scene.world.count(ended), 0);
    scene.world.hook("pre-compact", of("PreCompact", serde_json::json!({"trigger": "auto"})));
    scene.world.hook("session-end", of("SessionEnd", serde_json::json!({"reason": "prompt_input_exit"})));
    for (source, session) in [("startup", SHOP), ("compact", MOVED)] {
        let mut payload: Value = serde_json::from_str(&of("SessionStart", serde_json::json!({"source": source}))).expect("JSON");
        payload["session_id"] = session.into();
        let told = scene.world.hook("session-start", payload.to_string()).out;
        assert!(!told.contains("hush"), "{source}: {told}");
    }
    digest(&scene);
    assert_eq!(scene.world.count(ended), 0);
    let raw = scene.world.recall(["show", MOVED, "--raw"]);
    assert!(raw.code == 2 && raw.out.is_empty() && raw.err.contains("excludes"), "{raw:#?}");
}

/// Pages that were written before the config said so, and a copy of the index.
#[test]
fn what_outlived_the_index_brings_nothing_back() {
    for copy in [false, true] {
        let scene = Scene::bare();
        put(&scene, &whole(&scene));
        digest(&scene);
        let sql = "SELECT id FROM open_item WHERE text LIKE '%hushelm%'";
        let item: String = scene.world.database().query_row(sql, [], |r| r.get(0)).expect("the item of the last turn");
        assert_eq!(scene.world.recall(["close", &item]).code, 0);
        assert!(scene.world.pages().iter().any(|(_, text)| text.contains("hushelm")));
        scene.configure(EXCLUDED);
        let data = scene.world.data_dir();
        for file in fs::read_dir(&data).expect("the data folder").flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            if name.starts_with("recall.db") && !(copy && name.contains("copy")) {
                fs::remove_file(file.path()).expect("a file of the index");
            }
        }
        if copy {
            let ran = scene.world.recall(["doctor", "--fix"]);
            assert!(data.join("recall.db").exists(), "{ran:#?}");
            assert!(!scene.world.recall(["export"]).out.contains("hush"));
        }
        digest(&scene);
        assert_eq!(scene.world.count("SELECT count(*) FROM user_closed"), 0, "{copy}");
        let exported = scene.world.recall(["export"]).out;
        assert!(exported.contains(KEPT[1]) && !exported.contains("hush"), "{copy}: {exported}");
        assert!(scene.world.pages().iter().all(|(_, text)| !text.contains("hush")), "{:#?}", scene.world.pages());
    }
}
