//! Copies of rows that forks and compactions make count once, for the session that started first.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::OFlags;

use crate::support::held::mkfifo;
use crate::support::{World, assistant, fed, user};
use serde_json::Value;

const ORIGINAL: &str = "64b0b6d9-e371-40e8-affe-78e0505dfb3f";
const FORK: &str = "45c26014-54cd-4c3c-8c18-6cc6c1c48130";
const COMPACTED: &str = "959386ce-0cd8-4cbc-9d78-7e0a84b4bfae";

/// Sums of each kind of token over the models of a session.
fn tokens(shown: &Value) -> [u64; 5] {
    let models = shown["usage"].as_object().expect("usage by model").values();
    let kinds = ["input", "output", "cache_write", "cache_write_hour", "cache_read"];
    models.fold([0; 5], |sum, m| std::array::from_fn(|i| sum[i] + m[kinds[i]].as_u64().expect("a count")))
}

/// The same sums, taken from transcripts by hand: each message once, with its largest figures.
fn tokens_in(world: &World) -> [u64; 5] {
    let mut messages: std::collections::BTreeMap<String, [u64; 5]> = std::collections::BTreeMap::new();
    for file in crate::support::files_below(&world.claude_dir()).iter().filter(|f| f.extension().is_some_and(|e| e == "jsonl")) {
        for line in std::fs::read_to_string(file).expect("a transcript").lines() {
            let row: Value = serde_json::from_str(line).expect("JSON");
            let (message, usage) = (&row["message"], &row["message"]["usage"]);
            let (Some(id), true) = (message["id"].as_str(), usage.is_object()) else { continue };
            let hour = usage["cache_creation"]["ephemeral_1h_input_tokens"].as_u64().unwrap_or(0);
            let count = |name: &str| usage[name].as_u64().unwrap_or(0);
            let now = [
                count("input_tokens"),
                count("output_tokens"),
                count("cache_creation_input_tokens") - hour,
                hour,
                count("cache_read_input_tokens"),
            ];
            let most = messages.entry(id.to_owned()).or_default();
            *most = std::array::from_fn(|i| most[i].max(now[i]));
        }
    }
    messages.values().fold([0; 5], |sum, m| std::array::from_fn(|i| sum[i] + m[i]))
}

fn costs(world: &World) -> f64 {
    [ORIGINAL, FORK].iter().map(|id| world.show(id)["session_cost_usd"].as_f64().expect("a cost")).sum()
}

#[test]
fn a_fork_has_its_own_prompts_and_tokens_and_the_original_keeps_its() {
    let alone = World::with_fixtures(&["plain"]);
    alone.digest(&["--summarizer", "extract"]);
    let both = World::with_fixtures(&["fork"]);
    both.digest(&["--summarizer", "extract"]);

    let (before, original, fork) = (alone.show(ORIGINAL), both.show(ORIGINAL), both.show(FORK));
    assert_eq!((&before["prompts"], &original["prompts"], &fork["prompts"]), (&3.into(), &3.into(), &1.into()));
    assert_eq!(tokens(&original), tokens(&before), "the fork takes nothing from the original");
    let sum: [u64; 5] = std::array::from_fn(|i| tokens(&original)[i] + tokens(&fork)[i]);
    assert_eq!(sum, tokens_in(&both), "every message counts once in all");
    assert!(tokens(&fork).iter().sum::<u64>() > 0, "the fork's own messages count: {fork:#}");
    assert!(costs(&both) > before["session_cost_usd"].as_f64().expect("a cost"));
}

#[test]
fn the_digest_of_the_original_is_the_same_with_and_without_its_fork() {
    let alone = World::with_fixtures(&["plain"]);
    alone.digest(&["--summarizer", "extract"]);
    let both = World::with_fixtures(&["fork"]);
    both.digest(&["--summarizer", "extract"]);
    assert_eq!(both.show(ORIGINAL)["digest"], alone.show(ORIGINAL)["digest"]);
}

#[test]
fn a_day_counts_a_fork_as_a_session_and_its_copies_not_at_all() {
    let world = World::with_fixtures(&["fork"]);
    world.digest(&["--summarizer", "extract"]);
    let pages = world.pages();
    let (_, day) = pages.iter().find(|(name, _)| !name.contains("/sessions/")).expect("a day page");
    assert!(day.contains("\nsessions: 2\n"), "{day}");
    assert!(day.contains("· 3 prompts ·") && day.contains("· 1 prompt ·"), "{day}");
    let cost = format!("\ncost_usd: {:.2}\n", costs(&world));
    assert!(day.contains(&cost), "{cost}{day}");
}

#[test]
fn search_finds_a_copied_prompt_once_and_under_the_original() {
    let world = World::with_fixtures(&["fork"]);
    world.digest(&["--ingest-only"]);
    for prompt in world.texts(ORIGINAL, "prompt") {
        let words: Vec<&str> = prompt.split_whitespace().take(12).collect();
        let found = world.recall(["search", "--json"].into_iter().chain(words));
        let first: Value =
            serde_json::from_str(found.out.lines().next().unwrap_or_default()).unwrap_or_else(|e| panic!("{e}: {found:#?}"));
        assert_eq!(first["session"], ORIGINAL, "{prompt}: {found:#?}");
        let passage = first["passage"].as_str().expect("a passage");
        let times = found.out.matches(&format!("\"passage\":{}", Value::from(passage))).count();
        assert_eq!(times, 1, "{prompt}: {found:#?}");
    }
}

#[test]
fn a_fork_counts_alike_in_whichever_order_the_files_are_read() {
    let pages = |first: &str, second: &str| {
        let world = World::with_fixtures(&["fork"]);
        let dir = world.claude_dir().join("projects/-home-dev-src-shop");
        let (name, aside) = (dir.join(format!("{second}.jsonl")), world.root().join("aside"));
        std::fs::rename(&name, &aside).expect("set aside");
        let report = world.digest(&["--summarizer", "extract"]);
        assert_eq!(report["sessions_new"], 1, "{first} is read first: {report}");
        std::fs::rename(&aside, &name).expect("put back");
        world.digest(&["--summarizer", "extract"]);
        (world.pages(), world.show(ORIGINAL)["usage"].clone(), world.show(FORK)["usage"].clone())
    };
    let (one, other) = (pages(ORIGINAL, FORK), pages(FORK, ORIGINAL));
    assert_eq!(one, other);
    let together = World::with_fixtures(&["fork"]);
    together.digest(&["--summarizer", "extract"]);
    assert_eq!(together.pages(), one.0);
}

#[test]
fn a_fork_of_nothing_but_copies_is_no_session_worth_a_page() {
    let world = World::with_fixtures(&["plain"]);
    let dir = world.claude_dir().join("projects/-home-dev-src-shop");
    let text = std::fs::read_to_string(dir.join(format!("{ORIGINAL}.jsonl"))).expect("the original");
    let copies: Vec<&str> = text.lines().filter(|l| l.contains("\"uuid\"")).collect();
    let stamp = format!(
        "{{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"timestamp\":\"2026-11-17T23:00:00.000Z\",\"sessionId\":\"{FORK}\"}}\n"
    );
    world.transcript(&format!("-home-dev-src-shop/{FORK}.jsonl"), stamp + &copies.join("\n").replace(ORIGINAL, FORK) + "\n");
    let report = world.digest(&["--summarizer", "extract"]);
    assert_eq!((&report["sessions_digested"], &report["sessions_skipped"]), (&1.into(), &1.into()), "{report}");
    assert_eq!(world.show(ORIGINAL)["prompts"], 3);
    let shown = world.recall(["show", "--full", FORK]);
    assert_eq!(shown.code, 2, "{shown:#?}");
}

#[test]
fn copies_belong_to_the_smaller_id_when_nothing_tells_who_began() {
    let (a, b) = ("aaaa0000-0000-4000-8000-000000000000", "bbbb0000-0000-4000-8000-000000000000");
    let rows = |id: &str| {
        user(id, "00000000-0000-4000-8000-0000000000f1", "2026-11-20T10:00:00Z", "why is it slow?")
            + &assistant(id, "00000000-0000-4000-8000-0000000000f2", "2026-11-20T10:00:05Z", "Because of the missing index.")
    };
    let world = World::new();
    world.transcript(&format!("-p/{b}.jsonl"), rows(b));
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.show(b)["prompts"], 1);
    world.transcript(&format!("-p/{a}.jsonl"), rows(a));
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.show(a)["prompts"], 1);
    let pages: Vec<String> = world.pages().into_iter().map(|(name, _)| name).collect();
    assert!(pages.iter().any(|p| p.contains("aaaa0000")) && !pages.iter().any(|p| p.contains("bbbb0000")), "{pages:?}");
}

#[test]
fn rows_that_share_an_id_and_say_other_things_are_no_copies() {
    // Ids of hand-made transcripts: short names, or one UUID pasted into two sessions.
    for id in ["u1", "00000000-0000-4000-8000-0000000000f1"] {
        let world = World::new();
        let sessions =
            [("aaaa0000-0000-4000-8000-000000000000", "why is it slow?"), ("bbbb0000-0000-4000-8000-000000000000", "add a button")];
        for (session, prompt) in sessions {
            let reply = assistant(session, &format!("{id}-reply"), "2026-11-20T10:00:05Z", &format!("An answer to: {prompt}"));
            world.transcript(&format!("-p/{session}.jsonl"), user(session, id, "2026-11-20T10:00:00Z", prompt) + &reply);
        }
        world.digest(&["--summarizer", "extract"]);
        for (session, _) in sessions {
            assert_eq!(world.show(session)["prompts"], 1, "{id} in {session}");
        }
    }
}

#[test]
fn a_compaction_doubles_nothing() {
    let world = World::with_fixtures(&["compact"]);
    world.digest(&["--summarizer", "extract"]);
    let shown = world.show(COMPACTED);
    assert_eq!(shown["prompts"], 5);
    assert_eq!(tokens(&shown), tokens_in(&world));
}

#[test]
fn a_fork_whose_copy_lost_its_usage_takes_none_from_the_message() {
    // The client zeroes the usage of a row it keeps through a compaction.
    let (a, b) = ("aaaa0000-0000-4000-8000-000000000000", "bbbb0000-0000-4000-8000-000000000000");
    let rows = |id: &str, at: &str| {
        let stamp = format!("{{\"type\":\"queue-operation\",\"timestamp\":\"{at}\",\"sessionId\":\"{id}\"}}\n");
        stamp
            + &user(id, "u1", "2026-11-20T10:00:00Z", "why is it slow?")
            + &assistant(id, "a1", "2026-11-20T10:00:05Z", "Because of the missing index.")
    };
    let world = World::new();
    let zeroed = rows(a, "2026-11-20T11:00:00Z")
        .replace("\"input_tokens\":10", "\"input_tokens\":0")
        .replace("\"output_tokens\":5", "\"output_tokens\":0");
    let own = user(a, "u2", "2026-11-20T11:00:01Z", "and the other one?")
        + &assistant(a, "a2", "2026-11-20T11:00:05Z", "The other one is fine.");
    world.transcript(&format!("-p/{a}.jsonl"), zeroed + &own);
    world.transcript(&format!("-p/{b}.jsonl"), rows(b, "2026-11-20T09:59:59Z"));
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(tokens(&world.show(b))[..2], [10, 5]);
    assert_eq!(tokens(&world.show(a))[..2], [10, 5]);
}

const EARLY: &str = "aaaa0000-0000-4000-8000-000000000000";
const LATE: &str = "bbbb0000-0000-4000-8000-000000000000";
const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// What was asked and answered first, as the original or its fork has it.
fn shared(id: &str) -> String {
    user(id, "00000000-0000-4000-8000-0000000000f1", "2026-11-20T08:00:00Z", "why is the login test slow?")
        + &assistant(id, "00000000-0000-4000-8000-0000000000f2", "2026-11-20T08:00:05Z", "Because of the missing index.")
}

/// The same in the fork, and how that goes on.
fn forked() -> String {
    shared(LATE)
        + &user(LATE, "00000000-0000-4000-8000-0000000000f3", "2026-11-20T10:00:00Z", "document the cache flag")
        + &assistant(LATE, "00000000-0000-4000-8000-0000000000f4", "2026-11-20T10:01:00Z", "The cache flag is documented now.")
}

/// The pages are as they are when all of them are made anew.
fn assert_up_to_date(world: &World) {
    let before = world.pages();
    world.digest(&["--summarizer", "extract", "--rebuild-pages"]);
    assert_eq!(world.pages(), before);
}

#[test]
fn a_fork_of_a_session_that_is_left_out_owns_at_once_what_they_share() {
    let world = World::new();
    world.configure("[privacy]\nexclude_projects = [\"*/secret\"]\n");
    // What tells where it takes place comes late.
    let original = shared(EARLY).replace("\"cwd\"", "\"elsewhere\"");
    let path = world.transcript(&format!("-p/{EARLY}.jsonl"), &original);
    world.transcript(&format!("-p/{LATE}.jsonl"), forked());
    world.digest(&EXTRACT);
    assert_eq!(world.show(LATE)["prompts"], 1);
    let more = user(EARLY, "00000000-0000-4000-8000-0000000000f5", "2026-11-20T09:00:00Z", "now here");
    let at = more.find("\"cwd\":\"").expect("a folder") + 7;
    let end = at + more[at..].find('"').expect("its end");
    std::fs::write(&path, original + &more[..at] + "/home/dev/secret" + &more[end..]).expect("a longer transcript");
    world.age_transcripts();
    world.digest(&EXTRACT);
    assert_eq!(world.show(LATE)["prompts"], 2);
    assert_up_to_date(&world);
}

#[test]
fn an_original_that_is_imported_takes_what_is_its_from_a_fork_that_is_here() {
    let other = World::new();
    other.transcript(&format!("-p/{EARLY}.jsonl"), shared(EARLY));
    other.digest(&EXTRACT);
    let exported = other.root().join("all.jsonl");
    std::fs::write(&exported, other.recall(["export"]).out).expect("an export");
    let world = World::new();
    world.transcript(&format!("-p/{LATE}.jsonl"), forked());
    world.digest(&EXTRACT);
    assert_eq!(world.show(LATE)["prompts"], 2);
    let imported = world.recall(["import".as_ref(), exported.as_os_str()]);
    assert_eq!(imported.code, 0, "{imported:#?}");
    world.digest(&EXTRACT);
    assert_eq!((&world.show(EARLY)["prompts"], &world.show(LATE)["prompts"]), (&1.into(), &1.into()));
    assert_up_to_date(&world);
}

#[test]
fn a_session_of_which_nothing_is_imported_does_not_stay() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&EXTRACT);
    let mut session = world.exported().into_iter().find(|one| one["session"] == ORIGINAL).expect("the session");
    session["session"] = EARLY.into();
    (session["sources"], session["digest"]) = (Value::Array(Vec::new()), Value::Null);
    let head = world.recall(["export"]).out.lines().next().expect("a head").to_owned();
    let file = world.root().join("one.jsonl");
    std::fs::write(&file, format!("{head}\n{session}\n")).expect("an export");
    let imported = world.recall(["import".as_ref(), file.as_os_str()]);
    assert_eq!(imported.code, 0, "{imported:#?}");
    world.digest(&EXTRACT);
    assert_eq!(world.status()["sessions"], 1);
}

/// The prompts that are stored of each session.
fn asked(world: &World) -> [Vec<String>; 2] {
    [ORIGINAL, FORK].map(|id| world.texts(id, "prompt"))
}

/// One of both sessions is shut out before anything is read: of the other one its own records are stored, and all of them.
fn shut_out_alone(session: &str, shut_out: impl Fn(&World)) {
    let both = World::with_fixtures(&["fork"]);
    both.digest(&["--summarizer", "extract"]);
    let own: Vec<usize> = [ORIGINAL, FORK].iter().map(|id| both.show(id)["prompts"].as_u64().expect("a number") as usize).collect();
    let world = World::with_fixtures(&["fork"]);
    shut_out(&world);
    for _ in 0..2 {
        world.digest(&["--summarizer", "extract"]);
        let asked = asked(&world);
        // The original is there alone, or the fork without what it copied.
        let expected = if session == FORK { [own[0], 0] } else { [0, own[1]] };
        assert_eq!(asked.each_ref().map(Vec::len), expected, "{asked:#?}");
    }
    let found = world.recall(["search", "orders go missing when they click through"]).out;
    assert_eq!(found.contains("orders go missing"), session == FORK, "{found}");
}

#[test]
fn a_fork_brings_back_nothing_of_a_session_that_was_off() {
    for session in [ORIGINAL, FORK] {
        shut_out_alone(session, |world| {
            let payload = serde_json::json!({"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": "/home/dev/src/shop"});
            let mut command = world.process();
            command.args(["hook", "session-start"]).env("RECALL_OFF", "1");
            assert_eq!(fed(command, payload.to_string().as_bytes()).code, 0);
        });
    }
}

#[test]
fn a_fork_brings_back_nothing_of_a_session_that_was_forgotten_before_it_was_read() {
    for session in [ORIGINAL, FORK] {
        shut_out_alone(session, |world| {
            let ran = world.recall(["forget", "--session", session, "--yes"]);
            assert!(ran.code == 0 && ran.out.contains("never read"), "{ran:#?}");
        });
    }
}

#[test]
fn what_a_forgotten_session_says_later_stays_out_of_a_fork_of_it() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.recall(["forget", "--session", ORIGINAL, "--yes"]).code, 0);
    let dir = world.claude_dir().join("projects/-home-dev-src-shop");
    let file = dir.join(format!("{ORIGINAL}.jsonl"));
    let later = user(ORIGINAL, "aaaaaaaa-1111-4111-8111-000000000001", "2026-11-18T08:00:00Z", "The zeppelin has a leak.")
        + &assistant(ORIGINAL, "aaaaaaaa-1111-4111-8111-000000000002", "2026-11-18T08:00:10Z", "It is mended with tape.");
    let grown = std::fs::read_to_string(&file).expect("a transcript") + &later;
    std::fs::write(&file, &grown).expect("it is resumed");
    let begins = serde_json::json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-18T09:00:00Z", "sessionId": FORK, "content": "And now?"});
    let own = user(FORK, "aaaaaaaa-1111-4111-8111-000000000003", "2026-11-18T09:00:00Z", "And what of the ladder?")
        + &assistant(FORK, "aaaaaaaa-1111-4111-8111-000000000004", "2026-11-18T09:00:10Z", "The ladder is new.");
    world.transcript(&format!("-home-dev-src-shop/{FORK}.jsonl"), format!("{begins}\n{}{own}", grown.replace(ORIGINAL, FORK)));
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(asked(&world), [Vec::new(), vec!["And what of the ladder?".to_owned()]]);
    assert_eq!(world.recall(["search", "zeppelin"]).out, "");
}

/// What the session of the ladder said, and what a session that copied it said behind that.
fn ladder(session: &str) -> String {
    user(session, "aaaaaaaa-1111-4111-8111-000000000001", "2026-11-18T08:00:00Z", "The ladder is too short.")
        + &assistant(session, "aaaaaaaa-1111-4111-8111-000000000002", "2026-11-18T08:00:10Z", "It is longer now.")
}

fn zeppelin(session: &str) -> String {
    user(session, "aaaaaaaa-1111-4111-8111-000000000003", "2026-11-18T09:00:00Z", "The zeppelin has a leak.")
}

fn path(session: &str) -> String {
    format!("-home-dev-src-shop/{session}.jsonl")
}

/// Older clients began a transcript with what it copied, so the times of both are the same.
#[test]
fn a_session_keeps_what_one_that_is_shut_out_copied_of_it() {
    for is_stored in [true, false] {
        let world = World::new();
        world.transcript(&path(ORIGINAL), ladder(ORIGINAL));
        if is_stored {
            world.digest(&["--summarizer", "extract"]);
        }
        // It copied the ladder, and goes on with the zeppelin.
        world.transcript(&path(FORK), ladder(FORK) + &zeppelin(FORK));
        assert_eq!(world.recall(["forget", "--session", FORK, "--yes"]).code, 0);
        for _ in 0..2 {
            world.digest(&["--summarizer", "extract"]);
            assert_eq!(world.texts(ORIGINAL, "prompt"), ["The ladder is too short."], "{is_stored}");
            let raw = world.recall(["show", ORIGINAL, "--raw"]).out;
            assert!(raw.contains("The ladder"), "its lines are no forgotten ones: {raw}");
            assert_eq!(world.recall(["search", "zeppelin"]).out, "");
            // The original goes on where it is, and a fork is made of the other one.
            let own = user(ORIGINAL, "aaaaaaaa-1111-4111-8111-000000000004", "2026-11-18T10:00:00Z", "And the rope?");
            world.transcript(&path(ORIGINAL), ladder(ORIGINAL) + &own);
            let begins = serde_json::json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-18T11:00:00Z", "sessionId": COMPACTED, "content": "And now?"});
            world.transcript(&path(COMPACTED), format!("{begins}\n{}{}", ladder(COMPACTED), zeppelin(COMPACTED)));
            world.digest(&["--summarizer", "extract"]);
            assert_eq!(world.texts(ORIGINAL, "prompt"), ["The ladder is too short.", "And the rope?"]);
            assert_eq!(world.recall(["search", "zeppelin"]).out, "");
            world.transcript(&path(ORIGINAL), ladder(ORIGINAL));
            std::fs::remove_file(world.claude_dir().join("projects").join(path(COMPACTED))).expect("it was there");
            world.recall(["forget", "--session", COMPACTED, "--yes"]);
            world.lose_index();
            assert_eq!(world.recall(["forget", "--session", FORK, "--yes"]).code, 0);
        }
    }
}

/// A session went on in another folder: whichever of its files is read first, all of it is its own.
#[test]
fn a_session_of_two_files_stays_out_of_a_fork_of_it() {
    let world = World::new();
    world.transcript(&path(ORIGINAL), ladder(ORIGINAL));
    let much = user(ORIGINAL, "aaaaaaaa-1111-4111-8111-000000000005", "2026-11-18T09:30:00Z", &"and so on ".repeat(3_000));
    world.transcript(&format!("-home-dev-src-web/{ORIGINAL}.jsonl"), zeppelin(ORIGINAL) + &much);
    assert_eq!(world.recall(["forget", "--session", ORIGINAL, "--yes"]).code, 0);
    let begins = serde_json::json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-18T11:00:00Z", "sessionId": FORK, "content": "And now?"});
    let own = user(FORK, "aaaaaaaa-1111-4111-8111-000000000006", "2026-11-18T11:00:10Z", "And the rope?");
    world.transcript(&path(FORK), format!("{begins}\n{}{}{own}", ladder(FORK), zeppelin(FORK)));
    world.digest(&["--summarizer", "extract", "--jobs", "1"]);
    assert_eq!(asked(&world), [Vec::new(), vec!["And the rope?".to_owned()]]);
}

/// The exit code of a run that gets Ctrl-C at this point.
fn interrupted_at(world: &World, point: &str, args: &[&str]) -> Option<i32> {
    let pipe = world.root().join("held");
    mkfifo(&pipe);
    let mut command = world.process();
    command.args(args).env("RECALL_HOLD_AT", format!("{point}:{}", pipe.display()));
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("recall starts");
    // There is nobody to read it before the run is at the point.
    let held = loop {
        match File::options().write(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(&pipe) {
            Ok(held) => break held,
            Err(_) => assert!(run.try_wait().expect("a child").is_none(), "it ended before the point"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let id = rustix::process::Pid::from_raw(run.id() as i32).expect("an id");
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("a signal");
    let mut said = BufReader::new(run.stderr.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("UTF-8");
    assert!(line.contains("stopping after what is under way"), "{line}");
    drop(held);
    said.read_to_string(&mut line).expect("UTF-8");
    run.wait().expect("an end").code()
}

/// What was read of a session that is shut out before the run was told to end is not all of it.
#[test]
fn a_run_that_was_told_to_end_leaves_no_gap_for_a_fork() {
    let world = World::new();
    world.transcript(&path(ORIGINAL), ladder(ORIGINAL));
    assert_eq!(world.recall(["forget", "--session", ORIGINAL, "--yes"]).code, 0);
    world.transcript(
        &path(COMPACTED),
        user(COMPACTED, "aaaaaaaa-1111-4111-8111-000000000007", "2026-11-18T07:00:00Z", "What of the rope?"),
    );
    world.transcript(&path(ORIGINAL), ladder(ORIGINAL) + &zeppelin(ORIGINAL));
    assert_eq!(interrupted_at(&world, "before what is shut out", &["digest", "--summarizer", "extract"]), Some(1));
    world.digest(&["--summarizer", "extract"]);
    let begins = serde_json::json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-11-18T11:00:00Z", "sessionId": FORK, "content": "And now?"});
    world.transcript(&path(FORK), format!("{begins}\n{}{}", ladder(FORK), zeppelin(FORK)));
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.recall(["search", "zeppelin"]).out, "");
}
