//! Who comes upon a damage says so, names the file and what to do, and leaves it as it is.

use std::fs;
use std::os::unix::net::UnixListener;

use serde_json::json;

use crate::damage::kinds::{ALL, Shows};
use crate::damage::scene::{Scene, id};
use crate::support::mcp_client::Peer;
use crate::support::{Ran, fed, files_below};

/// Every command that needs the index.
pub fn commands() -> Vec<Vec<String>> {
    let gone = id(1);
    [
        &["digest", "--summarizer", "extract"][..],
        &["digest", "--dry-run"],
        &["status"],
        &["status", "--json"],
        &["search", "importer"],
        &["show", &gone],
        &["show", "--raw", &id(3)],
        &["timeline", &gone],
        &["context", "--cwd", "/home/dev/src/shop"],
        &["context", "-c", "importer"],
        &["forget", "--yes", "--session", &gone],
        &["forget", "--dry-run", "--session", &gone],
        &["remember", "--everywhere", "Tabs are never used in this project"],
        &["close", "i12345678"],
        &["export"],
    ]
    .into_iter()
    .map(|words| words.iter().map(|word| (*word).to_owned()).collect())
    .collect()
}

pub fn is_readable(ran: &Ran, what: &str) {
    for bad in ["panicked", "database is locked", "RUST_BACKTRACE"] {
        assert!(!ran.err.contains(bad) && !ran.out.contains(bad), "{what}: {ran:#?}");
    }
    assert!((0..=2).contains(&ran.code), "{what}: {ran:#?}");
}

pub fn says_what_to_do(text: &str, scene: &Scene, what: &str) {
    assert!(text.contains(&*scene.index().to_string_lossy()), "{what}: the file is not named: {text}");
    assert!(text.contains("`recall doctor --fix`"), "{what}: {text}");
}

/// What of all damages at all commands is tried in a plain test run, where many look alike: what the first look at the file's form sees is
/// seen by all commands alike. Each such damage meets some of them, and each of them meets some such damages.
fn is_tried(damage: usize, command: usize) -> bool {
    let alike = ALL[damage].shows == Shows::AtOnce && !["empty", "gone"].contains(&ALL[damage].name);
    !alike || (damage + command).is_multiple_of(3) || std::env::var_os("RECALL_DAMAGES").is_some()
}

#[test]
fn every_command_names_a_damaged_index_and_what_to_do_and_leaves_it() {
    let scene = Scene::new();
    for (row, damage) in ALL.iter().enumerate() {
        let mut stopped = 0;
        for (_, command) in commands().into_iter().enumerate().filter(|(column, _)| is_tried(row, *column)) {
            scene.restore();
            (damage.inflict)(&scene);
            let before = fs::read(scene.index()).ok();
            let ran = scene.run(&command.iter().map(String::as_str).collect::<Vec<_>>());
            let what = format!("{} and {command:?}", damage.name);
            is_readable(&ran, &what);
            stopped += usize::from(ran.code == 2);
            match damage.shows {
                Shows::AtOnce => assert_eq!(ran.code, 2, "{what}: {ran:#?}"),
                Shows::Later => {}
                Shows::Never => assert!(ran.code < 2 || command[0] == "close", "{what}: {ran:#?}"),
            }
            // There is no such item, damage or not.
            let answered = command[0] == "close" && damage.shows == Shows::Later && ran.err.contains("no open item");
            if ran.code == 2 && damage.shows != Shows::Never && !answered {
                says_what_to_do(&ran.err, &scene, &what);
                assert_eq!(fs::read(scene.index()).ok(), before, "{what}: it is not as it was");
            }
        }
        assert!(damage.shows == Shows::Never || stopped > 0, "{}: nobody notices", damage.name);
    }
}

#[test]
fn the_doctor_finds_every_damage_and_says_who_mends_it() {
    let scene = Scene::new();
    for damage in &ALL {
        scene.restore();
        (damage.inflict)(&scene);
        let ran = scene.run(&["doctor", "--json"]);
        is_readable(&ran, damage.name);
        let told: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
        let index = told["findings"].as_array().expect("findings").iter().find(|f| f["about"] == "index").expect("the index");
        if damage.shows == Shows::Never {
            assert_eq!(index["state"], "ok", "{}: {index:#}", damage.name);
            continue;
        }
        assert_eq!((&index["state"], &index["fix"]), (&json!("problem"), &json!("index")), "{}: {index:#}", damage.name);
        assert!(index["advice"].as_str().is_some_and(|a| a.contains("`recall doctor --fix`")), "{index:#}");
        let short = scene.run(&["status"]);
        assert!(damage.shows == Shows::Later || short.code == 2, "{}: {short:#?}", damage.name);
    }
}

/// What Claude Code tells the hooks.
fn payload(scene: &Scene, event: &str, more: &serde_json::Value) -> String {
    let mut all = json!({
        "session_id": id(40), "transcript_path": scene.world.claude_dir().join(format!("projects/-home-dev-src-shop/{}.jsonl", id(40))),
        "cwd": "/home/dev/src/shop", "hook_event_name": event, "permission_mode": "default",
    });
    all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    all.to_string()
}

#[test]
fn no_hook_says_anything_of_it_or_fails() {
    let scene = Scene::new();
    for damage in &ALL {
        scene.restore();
        (damage.inflict)(&scene);
        for (event, name, more) in [
            ("session-start", "SessionStart", json!({"source": "startup"})),
            ("session-start", "SessionStart", json!({"source": "compact"})),
            ("user-prompt-submit", "UserPromptSubmit", json!({"prompt": "Where did we leave off with the topic3 importer?"})),
            ("session-end", "SessionEnd", json!({"reason": "clear"})),
        ] {
            let mut command = scene.world.process();
            command.args(["hook", event]);
            let ran = fed(command, payload(&scene, name, &more).as_bytes());
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{} and {event}: {ran:#?}", damage.name);
            let valid = ran.out.is_empty() || serde_json::from_str::<serde_json::Value>(&ran.out).is_ok();
            assert!(valid, "{} and {event}: {ran:#?}", damage.name);
        }
        let log = fs::read_to_string(scene.world.data_dir().join("hooks.log")).unwrap_or_default();
        assert!(!log.contains("panicked") && !log.contains("given up"), "{}: {log}", damage.name);
        let marks = files_below(&scene.world.data_dir().join("marks/new")).len();
        assert_eq!(marks, 1, "{}: a mark needs no index", damage.name);
    }
}

#[test]
fn a_client_of_the_protocol_hears_what_to_do() {
    let scene = Scene::new();
    for damage in ALL.iter().filter(|damage| damage.shows == Shows::AtOnce) {
        scene.restore();
        (damage.inflict)(&scene);
        let mut peer = Peer::greet(&scene.world);
        for (tool, arguments) in [
            ("search", json!({"query": "importer"})),
            ("get", json!({"ids": [id(1), id(3)]})),
            ("timeline", json!({"id": id(1)})),
            ("recall", json!({"topic": "importer"})),
            ("status", json!({})),
            ("remember", json!({"text": "Tabs are never used in this project"})),
        ] {
            // What is not there at all is told as before the first digest, with the same way out.
            let why = peer.fail(tool, arguments);
            says_what_to_do(&why, &scene, &format!("{} and {tool}", damage.name));
        }
        assert!(peer.leave().err.is_empty(), "{}", damage.name);
    }
}

#[test]
fn what_is_no_file_is_named_and_nobody_waits_for_it() {
    let scene = Scene::new();
    for (what, make) in [
        ("a folder", (|path| fs::create_dir(path).expect("a folder")) as fn(&std::path::Path)),
        ("a pipe", |path| rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe")),
        ("a socket", |path| _ = UnixListener::bind(path).expect("a socket")),
        ("a link to", |path| std::os::unix::fs::symlink("/nowhere/recall.db", path).expect("a link")),
    ] {
        scene.restore();
        fs::remove_file(scene.index()).expect("the index");
        make(&scene.index());
        for mut command in commands().into_iter().chain([vec!["doctor".into()], vec!["doctor".into(), "--fix".into()]]) {
            let ran = scene.run(&command.iter().map(String::as_str).collect::<Vec<_>>());
            let doctor = command.remove(0) == "doctor";
            is_readable(&ran, what);
            assert_eq!(ran.code, if doctor { 1 } else { 2 }, "{what}: {ran:#?}");
            let text = if doctor { &ran.out } else { &ran.err };
            assert!(text.contains(&*scene.index().to_string_lossy()) && text.contains(what), "{what}: {text}");
        }
        assert!(!scene.index().is_file(), "{what}: it is still there");
        assert!(scene.copy().is_file(), "{what}: and so is the copy");
        let mut hook = scene.world.process();
        hook.args(["hook", "session-start"]);
        let ran = fed(hook, payload(&scene, "SessionStart", &json!({"source": "startup"})).as_bytes());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{what}: {ran:#?}");
    }
}

#[test]
fn an_index_that_a_newer_program_wrote_is_neither_changed_nor_mended() {
    let scene = Scene::new();
    crate::damage::kinds::over(&scene.index(), 60, &99u32.to_be_bytes());
    let before = fs::read(scene.index()).expect("the index");
    for command in commands().into_iter().chain([vec!["doctor".into(), "--fix".into()]]) {
        let ran = scene.run(&command.iter().map(String::as_str).collect::<Vec<_>>());
        let text = if command[0] == "doctor" { &ran.out } else { &ran.err };
        assert!(ran.code > 0 && text.contains("upgrade recall"), "{command:?}: {ran:#?}");
        assert_eq!(fs::read(scene.index()).expect("the index"), before, "{command:?}");
    }
}
