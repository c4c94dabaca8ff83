//! What a hook costs, in what can be counted: files, statements, bytes of the index. None of it grows with what is stored.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use jiff::{Span, Timestamp};
use serde_json::{Value, json};

use crate::hooks::payloads::{FOLDER, S, SHOP, context_in, ends, log, patient, payload, starts, talk};
use crate::support::{NOW, World, fed, steps_in};

const NEW: &str = "cccc0000-0000-4000-8000-000000000000";

/// A project of so many sessions that are digested, an hour apart, the last of them an hour ago.
fn with_sessions(sessions: usize) -> World {
    let world = World::new();
    patient(&world);
    for n in 0..sessions {
        let id = format!("{n:08}-0000-4000-8000-000000000000");
        let reply =
            format!("The list number {n} is cached now.\n\n## Next steps\n\n- Look at file{n}.rs, function{n} and table{n}, too\n");
        let prompt = format!("Cache the list of customers number {n}, please.");
        world.transcript(&format!("{FOLDER}/{id}.jsonl"), talk(&id, &hours_ago(sessions - n + 1), &prompt, &reply));
    }
    assert_eq!(world.digest(&["--summarizer", "extract"])["sessions_digested"], sessions);
    world
}

/// So many hours ago.
fn hours_ago(hours: usize) -> String {
    (NOW.parse::<Timestamp>().unwrap() - Span::new().hours(hours as i64)).to_string()
}

/// The statements that a hook asks of the index, and what it says.
fn statements(world: &World, event: &str, payload: &Value) -> (Vec<String>, String) {
    let file = world.root().join("statements");
    let _ = fs::remove_file(&file);
    let mut command = world.process();
    command.args(["hook", event]).env("RECALL_STATEMENTS", &file);
    let ran = fed(command, payload.to_string().as_bytes());
    assert_eq!((ran.code, ran.err.as_str(), log(world)), (0, "", Vec::new()), "{ran:#?}");
    let said = if ran.out.is_empty() { String::new() } else { context_in(&ran.out) };
    (fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect(), said)
}

#[test]
fn a_start_asks_no_more_of_an_index_of_many_sessions_than_of_one_of_some() {
    // More than there is room for in both.
    let [some, many] = [200, 500].map(|sessions| {
        let world = with_sessions(sessions);
        let (asked, said) = statements(&world, "session-start", &starts(&world, NEW, "startup"));
        assert!(said.contains(&format!("list number {}", sessions - 1)), "{said}");
        asked
    });
    assert_eq!(some.len(), many.len(), "{some:#?}");
    assert!(many.len() <= 72, "{}: {many:#?}", many.len());
}

#[test]
fn a_start_lists_no_more_sessions_of_the_index_than_it_has_room_for() {
    let world = with_sessions(100);
    let mut counts = Vec::new();
    for tokens in [500, 4000] {
        world.configure(&format!("[hooks]\ndeadline_ms = 5000\nmax_inject_tokens = {tokens}\n"));
        let id = format!("cccc0000-0000-4000-8000-{tokens:012}");
        let (asked, said) = statements(&world, "session-start", &starts(&world, &id, "startup"));
        let told = (0..100).filter(|n| said.contains(&format!("list number {n} "))).count();
        // Fifteen at a time.
        let listed = asked.iter().filter(|sql| sql.contains("d.title")).count();
        assert!(listed <= told / 15 + 1, "{listed} times for {told} sessions: {asked:#?}");
        counts.push((listed, told));
    }
    assert!(counts[0].0 == 1 && counts[0].1 < 15 && counts[1].0 > 1 && counts[1].1 > 15, "{counts:?}");
}

/// So many digested sessions of another project. Each says nearly the same as the one before it, and gives another value.
fn alike_elsewhere(world: &World, sessions: usize) {
    for n in 0..sessions {
        let id = format!("{n:08}-0000-4000-8000-00000000eeee");
        let reply = format!(
            "Access tokens expire after {} minutes.\n\nGrinding barley, wheat, oats, spelt, millet, maize and buckwheat works; every \
             stone, wheel, sluice, hopper, shaft and brake was inspected, cleaned, greased, measured and photographed.",
            n + 10
        );
        let rows = talk(&id, &hours_ago(sessions - n + 1), "Always inspect the mill with its stones and wheels, please.", &reply);
        world.transcript(&format!("-home-dev-src-mill/{id}.jsonl"), rows.replace(SHOP, "/home/dev/src/mill"));
    }
    world.digest(&["--summarizer", "extract"]);
}

#[test]
fn sessions_of_another_project_that_repeat_and_overtake_each_other_cost_a_start_next_to_nothing() {
    let (few, many) = (10, 60);
    let [some, more] = [few, many].map(|sessions| {
        let world = with_sessions(20);
        alike_elsewhere(&world, sessions);
        assert!(world.count("SELECT count(*) FROM likeness WHERE repeated_by IS NOT NULL") as usize >= sessions / 2);
        assert!(world.count("SELECT count(*) FROM overtaken") as usize >= sessions / 2);
        let file = world.root().join("steps");
        let mut command = world.process();
        command.args(["hook", "session-start"]).env("RECALL_STEPS", &file);
        let ran = fed(command, starts(&world, NEW, "startup").to_string().as_bytes());
        assert!(ran.code == 0 && !context_in(&ran.out).contains("mill"), "{ran:#?}");
        steps_in(&file)
    });
    // Those that are repeated are listed once, to count the sessions of the project without them.
    let allowed = 10 * (many - few) as u64;
    let grown = more.iter().filter(|(sql, steps)| **steps > some.get(*sql).copied().unwrap_or_default() + allowed);
    assert_eq!(grown.collect::<Vec<_>>(), Vec::<(&String, &u64)>::new());
}

#[test]
fn an_end_and_a_prompt_that_says_nothing_ask_the_index_nothing() {
    let world = with_sessions(3);
    for (event, payload) in [
        ("session-end", ends(&world, S, "other")),
        ("user-prompt-submit", payload(&world, "UserPromptSubmit", S, json!({"prompt": "ok", "prompt_id": "p1"}))),
    ] {
        assert_eq!(statements(&world, event, &payload), (Vec::new(), String::new()), "{event}");
    }
}

/// So many sessions of other projects that ended and wait for a digest.
fn ended_elsewhere(world: &World, sessions: usize) {
    for n in 0..sessions {
        let id = format!("{n:08}-0000-4000-8000-00000000eeee");
        let rows = talk(&id, "2026-11-21T11:00:00Z", "Make the queue of the mill shorter.", "It is shorter now.");
        let file = world.transcript(&format!("-home-dev-src-mill{}/{id}.jsonl", n % 3), rows.replace(SHOP, "/home/dev/src/mill"));
        let end =
            payload(world, "SessionEnd", &id, json!({"reason": "other", "transcript_path": file, "cwd": "/home/dev/src/mill"}));
        assert_eq!(world.hook("session-end", end.to_string()).code, 0);
    }
}

#[test]
fn a_start_looks_at_no_more_of_many_marks_than_of_some() {
    let [some, many] = [20, 120].map(|sessions| {
        let world = with_sessions(3);
        // One of this project, which ended before all others.
        world.transcript(&format!("{FOLDER}/{S}.jsonl"), talk(S, "2026-11-21T10:59:00Z", "Paint the fence.", "It is painted."));
        crate::hooks::payloads::end(&world, S);
        ended_elsewhere(&world, sessions);
        let (asked, said) = statements(&world, "session-start", &starts(&world, NEW, "startup"));
        assert!(said.contains("It is painted") && !said.contains("mill"), "{said}");
        asked
    });
    assert_eq!(some, many);
}

#[test]
fn the_list_of_ends_goes_with_its_marks_and_keeps_those_that_came_meanwhile() {
    let world = with_sessions(1);
    ended_elsewhere(&world, 3);
    let list = world.data_dir().join("marks/ends");
    assert_eq!(fs::read_to_string(&list).unwrap().lines().count(), 3);
    // A mark that is gone, as after a run that was killed, goes out of the list; one that waits stays.
    fs::remove_file(&crate::hooks::payloads::mark_files(&world)[0]).unwrap();
    world.recall_with(["digest"], &[("RECALL_KILL_AT", "marks heeded:1")]);
    assert!(list.exists());
    world.digest(&["--summarizer", "extract"]);
    assert!(!list.exists(), "{:?}", fs::read_to_string(&list));
}

/// What is opened or looked at by name below `root`, and what is read of the machine, in the order of the calls. What a program is loaded
/// from is not the hook's.
fn files(world: &World, event: &str, payload: &Value) -> Vec<String> {
    let [trace, stdin] = ["trace", "stdin"].map(|name| world.root().join(name));
    fs::write(&stdin, payload.to_string()).unwrap();
    let mut strace = Command::new("strace");
    strace.env_clear().env("PATH", "/usr/bin:/bin").current_dir(world.root());
    strace.args(["-f", "-qq", "-e", "trace=open,openat,openat2", "-o"]).arg(&trace);
    for (name, value) in world.environment() {
        strace.arg("-E").arg(format!("{name}={value}"));
    }
    let stdin = fs::File::open(stdin).unwrap();
    let ran = strace.arg(world.program()).args(["hook", event]).stdin(Stdio::from(stdin)).output().expect("strace starts");
    assert!(ran.status.success() && ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
    let text = fs::read_to_string(&trace).unwrap();
    let opened = text.lines().filter_map(|line| line.split('"').nth(1));
    let is_loading = |path: &&str| path.contains(".so") || path.starts_with("/proc/") || path.starts_with("/sys/");
    let below = |path: &str| Path::new(path).strip_prefix(world.root()).map_or(path.to_owned(), |p| p.display().to_string());
    opened.filter(|path| !is_loading(path)).map(below).collect()
}

/// Names of marks are random.
fn without_random(files: Vec<String>) -> Vec<String> {
    let kind = |file: String| match file.rsplit_once('/') {
        Some((folder, name)) if folder.ends_with("marks/tmp") && name.ends_with("-session-end.json") => format!("{folder}/*"),
        _ => file,
    };
    files.into_iter().map(kind).collect()
}

#[test]
#[ignore = "needs strace"]
fn an_end_opens_the_config_the_zone_the_pause_and_its_mark_once_each() {
    let world = with_sessions(3);
    crate::hooks::payloads::end(&world, S);
    let opened = without_random(files(&world, "session-end", &ends(&world, S, "other")));
    assert_eq!(
        opened,
        [
            "home/.config/recall/config.toml", "/usr/share/zoneinfo/Europe/Berlin", "data/paused.json", "data/marks/tmp/*",
            "data/marks/ends"
        ]
    );
}

#[test]
#[ignore = "needs strace"]
fn a_start_opens_no_more_for_many_sessions_than_for_some_and_no_transcript() {
    let [some, many] = [10, 100].map(|sessions| {
        let world = with_sessions(sessions);
        files(&world, "session-start", &starts(&world, NEW, "startup"))
    });
    assert_eq!(some, many);
    assert!(many.len() <= 16 && !many.iter().any(|file| file.ends_with(".jsonl")), "{many:#?}");
    assert_eq!(many.iter().filter(|file| file.ends_with("config.toml")).count(), 1, "{many:#?}");
    assert!(!many.iter().any(|file| file.contains(SHOP)), "{many:#?}");
}

#[test]
#[ignore = "needs strace"]
fn a_start_opens_no_more_for_many_marks_than_for_some() {
    let [some, many] = [20, 120].map(|sessions| {
        let world = with_sessions(3);
        ended_elsewhere(&world, sessions);
        files(&world, "session-start", &starts(&world, NEW, "startup"))
    });
    assert_eq!(some.len(), many.len(), "{many:#?}");
    assert!(!many.iter().any(|file| file == "data/marks/new"), "what waits is not listed: {many:#?}");
}
