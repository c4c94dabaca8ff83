//! The pages people read: what they show, whose notes they keep, and that nothing in a session can break out of them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::support::rows::{FOLDER, Rows, put};
use crate::support::{World, age, assistant, files_below, ran, user};
use serde_json::{Value, json};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
const S: &str = "77777777-aaaa-4aaa-8aaa-777777777777";

/// A world with one session, begun late in the evening, and its digest.
fn late_session() -> World {
    let world = World::new();
    world.transcript(&format!("-p/{S}.jsonl"), late_rows());
    world.digest(&EXTRACT);
    world
}

fn late_rows() -> String {
    user(S, "u1", "2026-11-20T22:30:00Z", "Make the import faster.")
        + &assistant(
            S,
            "a1",
            "2026-11-20T22:35:00Z",
            "The import is faster now because the rates are cached. Next: measure it on the large file.",
        )
}

fn day_page(world: &World) -> PathBuf {
    let mut pages = files_below(&world.daily());
    pages.retain(|p| !p.to_str().unwrap().contains("/sessions/"));
    assert_eq!(pages.len(), 1, "{pages:?}");
    pages.remove(0)
}

fn session_page(world: &World) -> PathBuf {
    let mut pages = files_below(&world.daily());
    pages.retain(|p| p.to_str().unwrap().contains("/sessions/"));
    assert_eq!(pages.len(), 1, "{pages:?}");
    pages.remove(0)
}

fn add_notes(page: &Path, notes: &str) {
    let text = fs::read_to_string(page).unwrap();
    fs::write(page, format!("{text}\n## Notes\n{notes}")).unwrap();
}

fn names(world: &World) -> Vec<String> {
    world.pages().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_day_names_the_checks_that_failed_when_they_last_ran() {
    let world = World::new();
    let rows = user(S, "u1", "2026-11-20T09:00:00Z", "Build the shop and run its tests.")
        + &ran(S, "t1", "2026-11-20T09:01:00Z", "npm test", Err("Exit code 1\n2 failed, 7 passed"))
        + &ran(S, "t2", "2026-11-20T09:02:00Z", "npm test", Ok("9 passed"))
        + &ran(
            S,
            "t3",
            "2026-11-20T09:03:00Z",
            "npm run build",
            Err("Exit code 1\nerror TS2322: Type 'x' is not assignable to type 'y'."),
        )
        + &assistant(S, "a1", "2026-11-20T09:04:00Z", "The shop is fully functional now.");
    world.transcript(&format!("-p/{S}.jsonl"), rows);
    world.digest(&EXTRACT);
    let page = fs::read_to_string(day_page(&world)).unwrap();
    let (_, failed) = page.split_once("**Checks that failed when they last ran**\n\n").unwrap_or_else(|| panic!("{page}"));
    assert!(failed.starts_with("- `npm run build` 10:03: “error TS2322"), "{page}");
    assert!(!failed.contains("npm test"), "{page}");
}

#[test]
fn a_cost_is_not_complete_where_subagents_left_no_record() {
    let complete = |tool: &str, failed: bool, with_record: bool| {
        let world = World::new();
        let mut rows = Rows::new(0);
        rows.user(json!("Look at the import."));
        rows.uses(1, &json!({"name": tool, "input": {"description": "Look", "prompt": "Look at the import"}}));
        rows.result(1, "The import is slow.", failed);
        rows.assistant("The import reads each rate anew.");
        put(&world, &rows.id, &rows.text);
        if with_record {
            let text = assistant(&rows.id, "s1", "2026-11-01T08:00:03Z", "It is slow.");
            let text = text.replacen('{', r#"{"isSidechain":true,"agentId":"a1b2c3","#, 1);
            world.transcript(&format!("{FOLDER}/{}/subagents/agent-a1b2c3.jsonl", rows.id), text);
            world.age_transcripts();
        }
        world.digest(&EXTRACT);
        let shown: Value = serde_json::from_str(&world.recall(["show", &rows.id, "--json"]).out).unwrap();
        let told = shown["session_cost_complete"].as_bool().unwrap();
        for (_, page) in world.pages() {
            assert!(page.contains(&format!("\ncost_complete: {told}\n")), "{tool}: {page}");
        }
        told
    };
    assert!(complete("Read", false, false));
    assert!(!complete("Task", false, false) && !complete("Workflow", false, false));
    assert!(complete("Task", true, false), "it was never started");
    assert!(complete("Task", false, true), "its record was read");
}

#[test]
fn pages_of_a_session_about_missing_orders() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&EXTRACT);
    for (name, page) in world.pages() {
        let what = if name.contains("/sessions/") { "plain_session" } else { "plain_day" };
        insta::assert_snapshot!(what, page);
    }
}

#[test]
fn pages_of_a_session_about_retries() {
    let world = World::with_fixtures(&["retry"]);
    world.digest(&EXTRACT);
    for (name, page) in world.pages() {
        let what = if name.contains("/sessions/") { "retry_session" } else { "retry_day" };
        insta::assert_snapshot!(what, page);
    }
}

#[test]
fn a_session_lives_on_the_local_day_of_its_first_prompt() {
    let world = late_session();
    assert_eq!(names(&world), ["daily/2026-11/2026-11-20.md", "daily/2026-11/sessions/2026-11-20-shop-77777777.md"]);
    let east = World::new();
    east.transcript(&format!("-p/{S}.jsonl"), late_rows());
    let ran = east.recall_with(["digest", "--summarizer", "extract"], &[("TZ", "Asia/Tokyo")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(names(&east), ["daily/2026-11/2026-11-21.md", "daily/2026-11/sessions/2026-11-21-shop-77777777.md"]);
}

#[test]
fn the_day_page_links_to_the_session_page_and_names_its_resume_command() {
    let world = late_session();
    let day = fs::read_to_string(day_page(&world)).unwrap();
    let (_, after) = day.split_once("](sessions/").expect("a link");
    let (link, _) = after.split_once(')').expect("the end of the link");
    let target = world.daily().join("2026-11/sessions").join(link);
    let page = fs::read_to_string(&target).unwrap_or_else(|e| panic!("{e}: {}", target.display()));
    assert!(page.contains(&format!("cd /home/dev/src/shop && claude --resume {S}")), "{page}");
}

#[test]
fn a_page_is_only_written_when_it_changed() {
    let world = late_session();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let pages = files_below(&world.daily());
    for page in &pages {
        fs::File::options().write(true).open(page).unwrap().set_modified(long_ago).unwrap();
    }
    let report = world.digest(&["--rebuild-pages"]);
    assert_eq!(report["pages_written"], 0, "{report}");
    for page in &pages {
        assert_eq!(fs::metadata(page).unwrap().modified().unwrap(), long_ago, "{}", page.display());
    }
}

/// A session of a day in its own words, the file it lies in, and its id.
fn session_of(world: &World, day: usize, nth: usize) -> (PathBuf, String) {
    let (id, at) = (
        format!("{day:02}{nth:02}aaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"),
        format!("2026-{:02}-{:02}T10:0{nth}:00Z", day / 20 + 1, day % 20 + 1),
    );
    let said = format!("The import number {day} of {nth} is faster now.");
    let file = world.transcript(
        &format!("-p/{id}.jsonl"),
        user(&id, &format!("u{id}"), &at, &format!("Make import {day} faster, part {nth}."))
            + &assistant(&id, &format!("a{id}"), &at, &said),
    );
    age(&file, Duration::from_secs(7200));
    (file, id)
}

/// Which file each page is, and when it was written.
fn stamps(world: &World) -> Vec<(PathBuf, u64, SystemTime)> {
    let look = |page: PathBuf| {
        let found = fs::metadata(&page).unwrap();
        (page, found.ino(), found.modified().unwrap())
    };
    files_below(&world.daily()).into_iter().map(look).collect()
}

#[test]
fn of_many_days_only_what_changed_is_written() {
    let world = World::new();
    let all: Vec<_> =
        (0..30).flat_map(|day| (0..3).map(move |nth| (day, nth))).map(|(day, nth)| session_of(&world, day, nth)).collect();
    assert_eq!(world.digest(&EXTRACT)["pages_written"], 30 + 90);
    let before = stamps(&world);
    assert_eq!(world.digest(&EXTRACT)["pages_written"], 0);
    assert_eq!(stamps(&world), before, "nothing is new, and nothing is written");

    let (file, id) = &all[40];
    let said = user(id, "u2", "2026-01-14T11:00:00Z", "And the export?")
        + &assistant(id, "a2", "2026-01-14T11:05:00Z", "The export is fixed.");
    fs::write(file, fs::read_to_string(file).unwrap() + &said).unwrap();
    age(file, Duration::from_secs(7200));
    assert_eq!(world.digest(&EXTRACT)["pages_written"], 2);
    let written: Vec<String> = stamps(&world)
        .into_iter()
        .filter(|page| !before.contains(page))
        .map(|(page, ..)| page.strip_prefix(world.daily()).unwrap().display().to_string())
        .collect();
    assert_eq!(written, ["2026-01/2026-01-14.md", &format!("2026-01/sessions/2026-01-14-shop-{}.md", &id[..8])]);
}

#[test]
fn what_is_made_of_many_sessions_is_the_same_however_many_threads_there_are() {
    let made = |jobs: &str| {
        let world = World::new();
        (0..8).for_each(|day| (0..3).for_each(|nth| _ = session_of(&world, day, nth)));
        world.digest(&["--summarizer", "extract", "--jobs", jobs]);
        let exported = format!("{:?}", world.exported()).replace(&*world.root().to_string_lossy(), "");
        (world.pages(), exported, world.recall(["search", "import faster", "--limit", "50", "--json"]).out)
    };
    assert_eq!(made("1"), made("5"));
}

#[test]
fn deleted_pages_come_back_and_that_is_said() {
    let world = late_session();
    world.recall(["remember", "--everywhere", "Deploys go through the build server"]);
    world.digest(&EXTRACT);
    let before = world.pages();
    assert_eq!(before.len(), 3, "a day, a session, and the day of a note");
    fs::remove_dir_all(world.daily()).unwrap();
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert!(ran.code == 0 && ran.err.contains("3 pages were missing and have been written again"), "{ran:#?}");
    assert_eq!(world.pages(), before);
    for gone in [day_of(&world), session_page(&world)] {
        fs::remove_file(gone).unwrap();
        let ran = world.recall(["digest", "--summarizer", "extract"]);
        assert!(ran.code == 0 && ran.err.contains("1 page was missing and has been written again"), "{ran:#?}");
        assert_eq!(world.pages(), before);
    }
    let again = world.recall(["digest", "--summarizer", "extract"]);
    assert!(again.err.is_empty() && again.out.contains("0 pages"), "{again:#?}");
    // What was forgotten does not.
    assert_eq!(world.recall(["forget", "--yes", "--session", S]).code, 0);
    let after = world.recall(["digest", "--summarizer", "extract"]);
    assert!(after.err.is_empty() && names(&world).len() == 1, "{after:#?}");
}

/// The page of the day of the late session.
fn day_of(world: &World) -> PathBuf {
    world.daily().join("2026-11/2026-11-20.md")
}

#[test]
fn under_another_time_zone_all_pages_move_to_their_days_there_and_back() {
    let world = late_session();
    session_of(&world, 3, 1);
    world.digest(&EXTRACT);
    add_notes(&session_file(&world, "77777777"), "\nThe large file is on the share.\n");
    let digest = |zone: &str| {
        let ran = world.recall_with(["digest", "--summarizer", "extract"], &[("TZ", zone)]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        ran
    };
    assert!(!digest("Europe/Vienna").err.contains("time zone"), "where days are the same nothing is to be done");
    let there = digest("Asia/Tokyo");
    assert!(there.err.contains("the time zone has changed"), "{there:#?}");
    let tokyo = World::new();
    tokyo.transcript(&format!("-p/{S}.jsonl"), late_rows());
    session_of(&tokyo, 3, 1);
    tokyo.recall_with(["digest", "--summarizer", "extract"], &[("TZ", "Asia/Tokyo")]);
    assert_eq!(names(&world), names(&tokyo), "as if it had always been so");
    assert!(digest("Asia/Tokyo").err.is_empty(), "once");
    // A session that comes in meanwhile, and all of it back.
    session_of(&world, 4, 1);
    digest("Asia/Tokyo");
    digest("Europe/Berlin");
    let berlin = late_session();
    [3, 4].into_iter().for_each(|day| _ = session_of(&berlin, day, 1));
    berlin.digest(&EXTRACT);
    add_notes(&session_file(&berlin, "77777777"), "\nThe large file is on the share.\n");
    assert_eq!(world.pages(), berlin.pages(), "as if it had never been another");
}

/// The page of the session whose id begins so.
fn session_file(world: &World, id: &str) -> PathBuf {
    let mut pages = files_below(&world.daily());
    pages.retain(|page| page.to_string_lossy().ends_with(&format!("{id}.md")));
    assert_eq!(pages.len(), 1, "{pages:?}");
    pages.remove(0)
}

#[test]
fn notes_outlive_a_rebuild_and_a_changed_digest() {
    let world = late_session();
    add_notes(&day_page(&world), "\nAsk Ada about the rates.\n");
    add_notes(&session_page(&world), "\nThe large file is on the share.\n\n## My own heading\n\n- [ ] check\n");
    let with_notes = world.pages();
    world.digest(&["--rebuild-pages"]);
    assert_eq!(world.pages(), with_notes, "a rebuild changes no byte");

    let more = user(S, "u2", "2026-11-20T22:40:00Z", "And the export?")
        + &assistant(S, "a2", "2026-11-20T22:45:00Z", "The export streams its rows now, because it ran out of memory.");
    world.transcript(&format!("-p/{S}.jsonl"), late_rows() + &more);
    assert_eq!(world.digest(&EXTRACT)["sessions_digested"], 1);
    let (day, session) = (fs::read_to_string(day_page(&world)).unwrap(), fs::read_to_string(session_page(&world)).unwrap());
    assert!(day.contains("The export streams its rows") && day.ends_with("\n## Notes\n\nAsk Ada about the rates.\n"), "{day}");
    assert!(session.contains("And the export?"), "{session}");
    assert!(session.ends_with("\n## Notes\n\nThe large file is on the share.\n\n## My own heading\n\n- [ ] check\n"), "{session}");
}

#[test]
fn notes_of_a_session_move_with_its_page_to_another_day() {
    let world = late_session();
    add_notes(&session_page(&world), "\nThe large file is on the share.\n");
    let ran = world.recall_with(["digest", "--rebuild-pages"], &[("TZ", "Asia/Tokyo")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(
        names(&world),
        ["daily/2026-11/2026-11-21.md", "daily/2026-11/sessions/2026-11-21-shop-77777777.md"],
        "the old day's pages are gone"
    );
    let moved = fs::read_to_string(session_page(&world)).unwrap();
    assert_eq!(moved.matches("The large file is on the share.").count(), 1, "{moved}");

    // There and back again doubles nothing.
    world.recall_with(["digest", "--rebuild-pages"], &[("TZ", "Europe/Berlin")]);
    let back = fs::read_to_string(session_page(&world)).unwrap();
    assert!(back.ends_with("\n## Notes\n\nThe large file is on the share.\n"), "{back}");
}

#[test]
fn notes_of_a_session_move_with_its_page_to_another_name() {
    let world = late_session();
    add_notes(&session_page(&world), "\nThe large file is on the share.\n");
    world.configure("[projects]\n\"/home/dev/src/shop\" = \"/home/dev/src/store\"\n");
    world.digest(&EXTRACT);
    assert_eq!(names(&world), ["daily/2026-11/2026-11-20.md", "daily/2026-11/sessions/2026-11-20-store-77777777.md"]);
    let moved = fs::read_to_string(session_page(&world)).unwrap();
    assert!(moved.ends_with("\n## Notes\n\nThe large file is on the share.\n"), "{moved}");
    assert!(fs::read_to_string(day_page(&world)).unwrap().contains("## store"));
}

#[test]
fn notes_of_a_day_stay_when_its_sessions_moved_away() {
    let world = late_session();
    add_notes(&day_page(&world), "\nA day to remember.\n");
    let ran = world.recall_with(["digest", "--rebuild-pages"], &[("TZ", "Asia/Tokyo")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let everything: String = world.pages().into_iter().map(|(_, page)| page).collect();
    assert_eq!(everything.matches("A day to remember.").count(), 1, "{:#?}", world.pages());
}

/// Two sessions of which people see the same eight characters, each with its file's rows.
fn alike() -> [(&'static str, String); 2] {
    let of = |id, uuid: &str| {
        let rows = user(id, uuid, "2026-11-20T10:00:00Z", "Make it faster.")
            + &assistant(id, &format!("{uuid}a"), "2026-11-20T10:01:00Z", &format!("It is faster now: {uuid}."));
        (id, rows)
    };
    [of("88888888-aaaa-4aaa-8aaa-000000000001", "x1"), of("88888888-aaaa-4aaa-8aaa-000000000002", "x2")]
}

#[test]
fn sessions_whose_ids_begin_alike_have_pages_of_their_own() {
    let world = World::new();
    for (id, rows) in alike() {
        world.transcript(&format!("-p/{id}.jsonl"), rows);
        world.digest(&EXTRACT);
    }
    let pages = world.pages();
    assert_eq!(pages.len(), 3, "a day and two sessions: {:?}", names(&world));
    for text in ["x1", "x2"] {
        assert!(
            pages.iter().any(|(name, page)| name.contains("/sessions/") && page.contains(&format!("faster now: {text}"))),
            "{pages:#?}"
        );
    }
}

#[test]
fn a_page_is_named_by_whether_another_session_is_shown_alike_whichever_come_and_go() {
    let [(first, rows), (second, others)] = alike();
    let (alone, together) = (World::new(), World::new());
    alone.transcript(&format!("-p/{first}.jsonl"), &rows);
    alone.digest(&EXTRACT);
    for (id, rows) in alike() {
        together.transcript(&format!("-p/{id}.jsonl"), rows);
    }
    together.digest(&EXTRACT);
    let world = World::new();
    world.transcript(&format!("-p/{first}.jsonl"), &rows);
    world.digest(&EXTRACT);
    assert_eq!(names(&world), names(&alone));
    let file = world.transcript(&format!("-p/{second}.jsonl"), others);
    world.digest(&EXTRACT);
    assert_eq!(world.pages(), together.pages());
    fs::remove_file(file).unwrap();
    let ran = world.recall(["forget", "--yes", "--session", second]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    world.digest(&EXTRACT);
    assert_eq!(world.pages(), alone.pages());
}

/// Text that would be markup, terminal control or another place, wherever a session can put text.
const HOSTILE: &str = "# Owned\n\n<script>alert(1)</script>\n\n## Notes\n\n[click](javascript:alert(1)) ![x](https://evil.example/x.png)\n\n---\nkey: value\n\n\u{1b}[31mred\u{1b}[0m \u{7}\u{202e}desrever\u{0}\n\n```\nunclosed\n\n| a | b |\n|---|---|\n<!-- comment";

fn hostile_rows(id: &str) -> String {
    let common = |kind: &str, uuid: &str, at: &str| json!({"type": kind, "uuid": uuid, "sessionId": id, "timestamp": at, "cwd": "/home/dev/<b>$(touch owned)\n## Notes\n../..", "gitBranch": "b`ranch\n\n# x".repeat(400), "version": "2\n---\nx: [y"});
    let mut said = common("user", "u1", "2026-11-20T10:00:00Z");
    said["message"] = json!({"role": "user", "content": HOSTILE});
    let mut used = common("assistant", "a1", "2026-11-20T10:00:05Z");
    used["message"] = json!({"id": "m1", "role": "assistant", "model": "m\n# x", "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [
        {"type": "text", "text": format!("I decided to keep it because it works.\n\n{HOSTILE}")},
        {"type": "tool_use", "id": "t1", "name": "Bash\n# x", "input": {"command": format!("make `x`\n{HOSTILE}")}},
        {"type": "tool_use", "id": "t2", "name": "Edit", "input": {"file_path": "../../../etc/pass`wd\n## Notes\n<img src=x>", "old_string": "a", "new_string": "b"}},
    ]});
    let title = json!({"type": "ai-title", "aiTitle": HOSTILE, "sessionId": id});
    format!("{said}\n{used}\n{title}\n")
}

#[test]
fn hostile_text_stays_text() {
    let world = World::new();
    let id = "../../../../escape\n# x`<b>";
    world.transcript("-p/hostile.jsonl", hostile_rows(id));
    let report = world.digest(&EXTRACT);
    assert_eq!(report["sessions_digested"], 1, "{report}");
    let pages = world.pages();
    assert_eq!(pages.len(), 2, "{pages:#?}");
    for (name, page) in &pages {
        assert!(
            !page.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'),
            "{name} holds control characters:\n{page:?}"
        );
        assert!(!page.contains("\n## Notes") && !page.contains("\n# Owned") && !page.contains("\n# x"), "{name}:\n{page}");
        assert_eq!(page.lines().filter(|l| *l == "---").count(), 2, "{name}: front matter ends where it should:\n{page}");
        // Inside a fence, that of the resume command or one within a quotation, everything is text.
        let unfenced: String = page.replace("\n> ```", "\n```").split("\n```").step_by(2).collect();
        for line in unfenced.lines() {
            // Inside a code span nothing is markup.
            let outside: String = line.split('`').step_by(2).collect();
            let (front, open) = (line.contains(": \"") || line.contains(": [\""), outside.replace("\\<", "").replace("\\]", ""));
            assert!(front || !open.contains('<'), "{name}: a tag in {line}");
            assert!(front || !open.contains("](javascript") && !open.contains("](https"), "{name}: a link in {line}");
        }
        assert_eq!(page.matches("\n```").count() % 2, 0, "{name}: an open code fence:\n{page}");
    }
}

#[test]
fn nothing_in_a_session_leads_out_of_the_data_folder() {
    let world = World::new();
    for (at, id) in
        ["../../../../escape", "/etc/passwd", "..", ".", "a/../../b", "CON", "\0nul", "%2e%2e%2f", "~root"].iter().enumerate()
    {
        world.transcript(
            &format!("-p/hostile{at}.jsonl"),
            hostile_rows(id).replace("\"u1\"", &format!("\"u{at}\"")).replace("\"a1\"", &format!("\"a{at}\"")),
        );
    }
    let outside =
        |world: &World| files_below(world.root()).into_iter().filter(|f| !f.starts_with(world.data_dir())).collect::<Vec<_>>();
    let before = outside(&world);
    let report = world.digest(&EXTRACT);
    assert_eq!(report["sessions_digested"], 9, "{report}");
    assert_eq!(outside(&world), before);
    for (name, _) in world.pages() {
        let below = name.strip_prefix("daily/2026-11/").unwrap_or_else(|| panic!("{name}"));
        assert!(!below.contains("..") && below.matches('/').count() <= 1 && below.len() < 100 && name.is_ascii(), "{name}");
    }
}

#[test]
fn a_page_that_cannot_be_read_is_an_error_and_not_overwritten() {
    let world = late_session();
    let page = session_page(&world);
    fs::remove_file(&page).unwrap();
    fs::create_dir(&page).unwrap();
    let ran = world.recall(["digest", "--rebuild-pages"]);
    assert!(ran.code > 0 && ran.err.contains("77777777.md") && !ran.err.contains("panicked"), "{ran:#?}");
    assert!(page.is_dir());
}

#[test]
fn days_far_apart_lie_in_folders_by_month() {
    let world = World::new();
    for (id, at) in [("aaaa1111", "2025-01-31T10:00:00Z"), ("bbbb2222", "2026-02-01T10:00:00Z")] {
        let file = world.transcript(
            &format!("-p/{id}.jsonl"),
            user(id, id, at, "Make it faster.") + &assistant(id, &format!("{id}a"), at, "It is faster now."),
        );
        age(&file, Duration::from_secs(7200));
    }
    world.digest(&EXTRACT);
    let days: Vec<String> = names(&world).into_iter().filter(|n| !n.contains("/sessions/")).collect();
    assert_eq!(days, ["daily/2025-01/2025-01-31.md", "daily/2026-02/2026-02-01.md"]);
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "named points are built into debug builds only")]
fn what_a_killed_run_left_half_written_goes_and_nothing_of_others() {
    let world = late_session();
    let folder = session_page(&world).parent().unwrap().to_owned();
    let ours = folder.join(".recall-tmp-0123456789ab");
    let theirs = [".tmp-draft1", ".recall-tmp-notes", ".recall-tmp-0123456789ab.md"].map(|name| folder.join(name));
    let flag = world.data_dir().join("writing");
    assert!(!flag.exists(), "the run before came to its end");
    let args = ["digest", "--rebuild-pages", "--summarizer", "extract"];
    let killed = world.recall_with(args, &[("RECALL_KILL_AT", "page replaced:1")]);
    assert!(killed.code == -1 && flag.exists(), "{killed:#?}");
    for file in theirs.iter().chain([&ours]) {
        fs::write(file, "half a page").unwrap();
    }
    world.digest(&EXTRACT);
    assert!(!ours.exists() && !flag.exists());
    // Where every run came to its end, no run with nothing to do looks through all the pages.
    fs::write(&ours, "half a page").unwrap();
    world.digest(&EXTRACT);
    assert!(ours.exists());
    assert_eq!(world.recall(["forget", "--yes", "--session", S]).code, 0);
    assert!(!ours.exists(), "who forgets looks everywhere");
    assert!(theirs.iter().all(|file| file.exists()));
}

/// What an answer of a session took, at five dollars.
fn five_dollars(session: &str, id: &str, at: &str) -> String {
    let usage = json!({"input_tokens": 1_000_000, "output_tokens": 0});
    let message = json!({
        "id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "claude-opus-4-5-20251101", "usage": usage,
        "content": [{"type": "text", "text": "The import is faster now because the rates are cached."}],
    });
    let row = json!({
        "type": "assistant", "uuid": id, "sessionId": session, "timestamp": at, "cwd": "/home/dev/src/shop", "message": message,
    });
    format!("{row}\n")
}

#[test]
fn a_days_cost_counts_sessions_without_a_digest() {
    let world = World::new();
    let other = "88888888-aaaa-4aaa-8aaa-888888888888";
    let began = |id: &str, hour: u8, say: &str| {
        user(id, &format!("u{id}"), &format!("2026-11-20T{hour:02}:00:00Z"), say)
            + &five_dollars(id, &format!("a{id}"), &format!("2026-11-20T{hour:02}:01:00Z"))
    };
    world.transcript(&format!("-p/{S}.jsonl"), began(S, 9, "Make the import faster."));
    let mut waits = began(other, 10, "Why is the export slow?");
    world.transcript(&format!("-p/{other}.jsonl"), &waits);
    // Of another day, and it has no page.
    let next = "99999999-aaaa-4aaa-8aaa-999999999999";
    let elsewhere = began(next, 10, "Which day is it?").replace("2026-11-20", "2026-11-22");
    world.transcript(&format!("-p/{next}.jsonl"), elsewhere);
    let one = |world: &World| {
        let ran = world.recall(["digest", "--summarizer", "extract", "--session", S]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        fs::read_to_string(day_page(world)).unwrap()
    };
    let day = one(&world);
    assert!(day.contains("\nsessions: 1\nsessions_without_digest: 1\ncost_usd: 10.00\ncost_complete: true\n"), "{day}");
    assert!(!day.contains("export"), "{day}");
    // It goes on, and is not digested yet.
    waits += &five_dollars(other, "a2", "2026-11-20T10:05:00Z");
    world.transcript(&format!("-p/{other}.jsonl"), &waits);
    let day = one(&world);
    assert!(day.contains("\nsessions: 1\nsessions_without_digest: 1\ncost_usd: 15.00\n"), "{day}");
    assert_eq!(world.digest(&["--summarizer", "extract", "--session", S])["pages_written"], 0);
    // With a digest it counts once.
    world.digest(&EXTRACT);
    let days = world.pages();
    let day = days.iter().find(|(name, _)| name.ends_with("/2026-11-20.md")).map(|(_, text)| text.as_str()).unwrap_or_default();
    assert!(day.contains("\nsessions: 2\ncost_usd: 15.00\ncost_complete: true\n"), "{day}");
}

#[test]
fn a_page_that_an_older_recall_wrote_and_did_not_record_goes_with_a_rebuild() {
    let world = late_session();
    let before = world.pages();
    let page = session_page(&world);
    let left = page.with_file_name(page.file_name().unwrap().to_str().unwrap().replace("2026-11-20", "2026-11-21"));
    fs::copy(&page, &left).unwrap();
    add_notes(&left, "\nThe large file is on the share.\n");
    // Of a session that this index does not know: that may be all that is left of it.
    let alone = page.with_file_name("2026-11-22-shop-99999999.md");
    fs::write(&alone, fs::read_to_string(&page).unwrap().replace(S, &S.replace('7', "9"))).unwrap();
    world.digest(&["--rebuild-pages", "--summarizer", "extract"]);
    assert!(!left.exists() && alone.exists(), "{:?}", names(&world));
    assert_eq!(world.pages().len(), before.len() + 1, "{:?}", names(&world));
    assert!(fs::read_to_string(&page).unwrap().ends_with("\n## Notes\n\nThe large file is on the share.\n"));
}

/// Two sessions, one of them digested by the model and without its transcript, and a note; of all that the pages are left.
fn pages_alone() -> World {
    let world = late_session();
    world.fake_claude(&format!("#!/bin/sh\ncat > /dev/null\ncat <<'END'\n{}\nEND\n", crate::support::numbered_reply(0.01)));
    let (transcript, paid) = session_of(&world, 3, 1);
    assert_eq!(world.digest(&["--summarizer", "claude", "--session", &paid])["sessions_digested"], 1);
    assert_eq!(world.recall(["remember", "--everywhere", "Deploys go through the build server"]).code, 0);
    world.digest(&EXTRACT);
    fs::remove_file(transcript).unwrap();
    world.lose_index();
    world
}

const LEFT: &str = "2 sessions, 1 note, 1 digest by the model";

#[test]
fn what_stands_on_pages_alone_is_named_where_the_index_is_gone() {
    let world = pages_alone();
    let found = world.findings("index", &[]);
    assert!(found[0].starts_with("problem: ") && found[0].contains(LEFT), "{found:?}");
    let fixed = world.recall(["doctor", "--fix"]);
    assert!(fixed.err.contains(LEFT) && fixed.err.contains("1 session is left only in its page"), "{fixed:#?}");
    assert_eq!(world.count("SELECT count(*) FROM note"), 1, "{fixed:#?}");
    let found = world.findings("pages", &[]);
    assert!(found.len() == 1 && found[0].contains("1 session is left only in its page"), "{found:?}");
}

#[test]
fn a_first_digest_says_what_stands_on_pages_alone_and_takes_the_notes_back() {
    let world = pages_alone();
    let ran = world.recall(["digest", "--summarizer", "extract"]);
    assert!(ran.code == 1 && ran.err.contains(LEFT) && ran.err.contains("1 session is left only in its page"), "{ran:#?}");
    assert_eq!(world.count("SELECT count(*) FROM note"), 1);
    assert!(world.pages().iter().any(|(_, text)| text.contains("Deploys go through the build server")), "{:?}", world.pages());
    let again = world.recall(["digest", "--summarizer", "extract"]);
    assert!(again.code == 0 && again.err.is_empty(), "{again:#?}");
}

#[test]
fn a_note_that_is_left_on_a_page_can_be_forgotten_and_stays_so_if_recall_is_killed() {
    for next in [&["digest", "--summarizer", "extract"][..], &["forget", "--match", "no such words", "--yes"]] {
        let world = late_session();
        assert_eq!(world.recall(["remember", "--everywhere", "Deploys go through the build server"]).code, 0);
        assert_eq!(world.recall(["remember", "--everywhere", "The port is 8080"]).code, 0);
        world.digest(&EXTRACT);
        world.lose_index();
        let killed = world.recall_with(["forget", "--match", "build server", "--yes"], &[("RECALL_KILL_AT", "taken out:1")]);
        assert_eq!(killed.code, -1, "{killed:#?}");
        world.recall(next);
        world.recall(["digest", "--summarizer", "extract"]);
        assert_eq!(world.notes().len(), 1, "{next:?}");
        let texts: String = world.pages().into_iter().map(|(_, text)| text).collect();
        assert!(texts.contains("The port is 8080") && !texts.contains("build server"), "{texts}");
    }
}

#[test]
fn a_note_that_was_done_on_a_page_stays_open_once_it_is_opened_again() {
    let world = late_session();
    assert_eq!(world.recall(["remember", "--kind", "todo", "--everywhere", "Renew the certificate"]).code, 0);
    let id = world.notes().pop().unwrap().0;
    assert_eq!(world.recall(["close", &id]).code, 0);
    world.digest(&EXTRACT);
    world.lose_index();
    // It makes an index, which knows the note from then on.
    world.recall(["forget", "--match", "no such words", "--yes"]);
    let opened = world.recall(["close", "--undo", &id]);
    assert!(opened.code == 0 && opened.out.contains("open again"), "{opened:#?}");
    world.recall(["digest", "--summarizer", "extract"]);
    assert!(world.recall(["todo"]).out.contains("Renew the certificate"));
}

#[test]
fn a_note_that_is_left_on_a_page_outlives_what_is_done_before_the_next_digest() {
    let world = late_session();
    assert_eq!(world.recall(["remember", "--everywhere", "Deploys go through the build server"]).code, 0);
    world.digest(&EXTRACT);
    world.lose_index();
    assert_eq!(world.recall(["remember", "--everywhere", "The port is 8080"]).code, 0);
    let port = world.notes().pop().unwrap().0;
    assert_eq!(world.recall(["remember", "--edit", &port, "The port is 9090"]).code, 0);
    world.recall(["digest", "--summarizer", "extract"]);
    assert_eq!(world.notes().len(), 2);
    let texts: String = world.pages().into_iter().map(|(_, text)| text).collect();
    assert!(texts.contains("Deploys go through the build server") && texts.contains("The port is 9090"), "{texts}");
}

/// Links of the list of days, each a file that is there.
fn listed(world: &World) -> Vec<String> {
    let Ok(text) = fs::read_to_string(world.data_dir().join("pages.md")) else { return Vec::new() };
    let links = text.lines().filter_map(|line| Some(line.split_once("](")?.1.split_once(')')?.0.to_owned()));
    links.inspect(|link| assert!(world.data_dir().join(link).is_file(), "{link}: {text}")).collect()
}

#[test]
fn a_list_of_all_days_leads_to_their_pages() {
    let world = World::with_fixtures(&["plain", "retry"]);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(listed(&world), ["daily/2026-11/2026-11-18.md", "daily/2026-11/2026-11-17.md"]);
    let text = fs::read_to_string(world.data_dir().join("pages.md")).expect("a list");
    assert!(
        text.starts_with("# Pages\n\n## November 2026\n\n- [Wednesday, 18 November](daily/2026-11/2026-11-18.md): 1 session\n"),
        "{text}"
    );
    fs::remove_file(world.data_dir().join("pages.md")).expect("a list");
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(fs::read_to_string(world.data_dir().join("pages.md")).expect("a list"), text);
    world.recall(["forget", "--before", "2026-11-18", "--yes"]);
    assert_eq!(listed(&world), ["daily/2026-11/2026-11-18.md"]);
    world.recall(["forget", "--before", "2026-12-01", "--yes"]);
    assert!(!world.data_dir().join("pages.md").exists(), "nothing is left to list");
}

/// The days to which the page of a day links at its foot.
fn beside(world: &World, day: &str) -> Vec<String> {
    let page = world.daily().join(&day[..7]).join(format!("{day}.md"));
    let text = fs::read_to_string(&page).unwrap();
    let foot = text.split("\n## Notes").next().unwrap().trim_end().lines().last().unwrap();
    let links = foot.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    links
        .inspect(|link| assert!(page.parent().unwrap().join(link).is_file(), "{link}: {text}"))
        .map(|link| Path::new(link).file_stem().unwrap().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_day_links_to_the_days_beside_it_whichever_come_and_go() {
    let world = World::new();
    for (day, nth) in [(0, 0), (25, 0)] {
        session_of(&world, day, nth);
    }
    world.digest(&EXTRACT);
    assert_eq!(beside(&world, "2026-01-01"), ["pages", "2026-02-06"]);
    assert_eq!(beside(&world, "2026-02-06"), ["2026-01-01", "pages"]);
    add_notes(&world.daily().join("2026-02/2026-02-06.md"), "\nA day to remember.\n");
    // A day between them is read later, and then a note makes the page of a day after all.
    let (_, id) = session_of(&world, 10, 0);
    world.digest(&EXTRACT);
    world.recall(["remember", "--everywhere", "Deploys go through the build server"]);
    assert_eq!(world.digest(&EXTRACT)["pages_written"], 2, "the note's day, and the one before it");
    assert_eq!(beside(&world, "2026-01-01"), ["pages", "2026-01-11"]);
    assert_eq!(beside(&world, "2026-01-11"), ["2026-01-01", "pages", "2026-02-06"]);
    assert_eq!(beside(&world, "2026-02-06"), ["2026-01-11", "pages", "2026-11-21"]);
    assert!(fs::read_to_string(world.daily().join("2026-02/2026-02-06.md")).unwrap().ends_with("A day to remember.\n"));
    // It makes no difference in how many runs the pages came to be.
    let before = world.pages();
    world.digest(&["--rebuild-pages"]);
    assert_eq!(world.pages(), before);
    // A day that is forgotten is linked to no longer.
    assert_eq!(world.recall(["forget", "--yes", "--session", &id]).code, 0);
    assert_eq!(beside(&world, "2026-01-01"), ["pages", "2026-02-06"]);
    assert_eq!(beside(&world, "2026-02-06"), ["2026-01-01", "pages", "2026-11-21"]);
}

#[test]
fn the_page_of_a_session_links_to_that_of_its_day() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&EXTRACT);
    let page = session_page(&world);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.ends_with("\n← [Tuesday, 17 November 2026](../2026-11-17.md)\n"), "{text}");
    assert!(page.parent().unwrap().join("../2026-11-17.md").is_file());
}

/// What was said last while the assistant worked may overrule the prompt that it worked on.
#[test]
fn a_day_tells_what_was_said_last_while_the_assistant_worked() {
    let world = World::new();
    let queued = |text: &str| json!({"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt", "prompt": text}});
    let mut rows = Rows::new(1);
    rows.user(json!("Build the export as CSV"));
    rows.row(queued("and mind the umlauts"));
    rows.row(queued("Stop, use JSON lines instead"));
    rows.assistant("The export writes JSON lines.");
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let day = world.pages().into_iter().find(|(name, _)| !name.contains("sessions/")).expect("a day").1;
    assert!(day.contains("“Build the export as CSV”") && day.contains("while it worked: “Stop, use JSON lines instead”"), "{day}");
    assert!(day.contains("1 more") && !day.contains("umlauts"), "{day}");
}
