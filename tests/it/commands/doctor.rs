//! `recall doctor`: what it finds, what it says to do, what it mends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::Value;

use crate::support::answers::{answered, on_terminal};
use crate::support::{Ran, World, age, assistant, user};

/// A `claude` that notes how it is called, tells its version and whether somebody is logged in.
fn claude(world: &World, logged_in: bool) {
    let calls = world.root().join("calls");
    world.fake_claude(&format!(
        "#!/bin/sh\necho \"$RECALL_CHILD $*\" >> '{}'\ncase $1 in --version) echo '2.1.197 (Claude Code)';;\n\
         auth) echo '{{\"loggedIn\":{logged_in},\"authMethod\":\"claude.ai\"}}';; *) echo 'API Error' >&2; exit 1;; esac\n",
        calls.display()
    ));
}

fn findings(ran: &Ran) -> Vec<Value> {
    let told: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    told["findings"].as_array().expect("findings").clone()
}

fn about(world: &World, name: &str) -> Vec<String> {
    world.findings(name, &[])
}

fn only(world: &World, name: &str) -> String {
    let mut all = about(world, name);
    assert_eq!(all.len(), 1, "{name}: {all:?}");
    all.remove(0)
}

fn settings(world: &World, text: &str) {
    fs::write(world.claude_dir().join("settings.json"), text).expect("the settings");
}

#[test]
fn where_all_is_well_it_says_so_and_ends_with_0() {
    let world = World::with_fixtures(&["plain"]);
    claude(&world, true);
    world.digest(&["--summarizer", "extract"]);
    assert!(only(&world, "timer").starts_with("warning: none"), "nobody chose that");
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    assert!(only(&world, "command").contains("not on the PATH"));
    world.link_recall();
    // The hooks go by the name that stays when the program is upgraded.
    let ran = world.recall(["doctor", "--fix", "--json"]);
    let bad: Vec<_> = findings(&ran).into_iter().filter(|f| f["state"] != "ok").collect();
    assert!(bad.is_empty() && ran.code == 0, "{bad:#?}");
}

#[test]
fn on_a_terminal_its_lines_hang_behind_their_subject_and_a_diff_stands_as_it_is() {
    let world = World::with_fixtures(&["plain"]);
    let lines = on_terminal(&world, world.root(), (60, 50), &[], &["doctor"]);
    let at = lines.iter().position(|line| line.starts_with("!!  timer        none")).expect("the timer");
    assert!(lines[at + 1].starts_with("                 → `recall install` sets one up; or run"), "{lines:#?}");
    assert_eq!(lines[at + 2], "                   `recall digest` yourself, or set", "{lines:#?}");
    // Behind the first line, which names the program, only paths and the diff's lines are longer.
    let long = lines[1..].iter().filter(|line| line.chars().count() > 60 && !line.contains('/'));
    assert_eq!(long.collect::<Vec<_>>(), [] as [&String; 0], "{lines:#?}");

    // A pipe gets each finding on a line.
    let piped = world.recall(["doctor"]).out;
    assert!(piped.contains("\n                 → `recall install` sets one up; or run `recall digest` yourself, or set `digest_at_end` under [hooks]\n"), "{piped}");
}

#[test]
fn it_offers_to_keep_transcripts_longer_with_the_change_it_would_make() {
    let world = World::new();
    let file = world.claude_dir().join("settings.json");
    let text = "{\n    \"model\": \"opus\",\n    \"permissions\": {}\n}\n";
    settings(&world, text);
    let said = world.recall(["doctor"]).out;
    let raised = text.replace("{}\n}", "{},\n    \"cleanupPeriodDays\": 365\n}");
    for part in
        ["deletes its transcripts after 30 days", "recall doctor --keep-transcripts", "+    \"cleanupPeriodDays\": 365", "--- "]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "nothing is changed by looking");
    world.recall(["doctor", "--fix"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "nor mended: it is no fault");

    let done = world.recall(["doctor", "--keep-transcripts"]).out;
    assert!(done.contains("+    \"cleanupPeriodDays\": 365") && done.contains("for 365 days"), "{done}");
    assert_eq!(fs::read_to_string(&file).unwrap(), raised);
    assert!(about(&world, "cleanup").is_empty(), "who has chosen is left in peace");
    assert!(world.recall(["doctor", "--keep-transcripts"]).out.contains("says so already"));
    world.recall(["doctor", "--keep-transcripts", "400"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), raised.replace("365", "400"));
    for (days, word) in [("90", "only raises"), ("0", "0"), ("x", "x")] {
        let ran = world.recall(["doctor", "--keep-transcripts", days]);
        assert!(ran.code == 2 && ran.err.contains(word), "{days}: {ran:#?}");
    }
    let agent = world.recall_with(["doctor", "--keep-transcripts", "500"], &[("CLAUDECODE", "1")]);
    assert!(agent.code == 2 && agent.err.contains("person"), "{agent:#?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), raised.replace("365", "400"));
}

#[test]
fn who_wants_no_transcripts_kept_is_asked_before_they_are() {
    let world = World::new();
    let file = world.claude_dir().join("settings.json");
    let none = "{\n  \"cleanupPeriodDays\": 0\n}\n";
    settings(&world, none);
    let ran = world.recall(["doctor", "--keep-transcripts"]);
    assert!(ran.code == 2 && ran.err.contains("keeps no transcripts"), "{ran:#?}");
    assert!(ran.err.contains("`recall doctor --keep-transcripts 365` in a terminal of your own"), "{ran:#?}");
    for answer in ["", "n"] {
        let ran = answered(&world, world.root(), &[], &["doctor", "--keep-transcripts"], answer);
        assert!(ran.code == 2 && ran.shown.contains("365 days from now on? [y/N]"), "{ran:#?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), none);
    }
    answered(&world, world.root(), &[], &["doctor", "--keep-transcripts"], "y");
    assert_eq!(fs::read_to_string(&file).unwrap(), none.replace(": 0", ": 365"));
}

#[test]
fn a_number_of_days_is_one_however_it_is_written() {
    let world = World::new();
    let file = world.claude_dir().join("settings.json");
    for days in ["3650.0", "1e6", "99999999999999999999", "0.0", "-1e0", "\"many\"", "0.5"] {
        let text = format!("{{\n  \"cleanupPeriodDays\": {days}\n}}\n");
        settings(&world, &text);
        let ran = world.recall(["doctor", "--keep-transcripts", "365"]);
        let why = match days {
            "0.0" | "-1e0" => "keeps no transcripts",
            "\"many\"" | "0.5" => "settings.json:2:24: `cleanupPeriodDays` is no whole number",
            _ => "only raises",
        };
        assert!(ran.code == 2 && ran.err.contains(why), "{days}: {ran:#?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{days}");
        assert!(about(&world, "cleanup").is_empty(), "who has chosen is left in peace");
    }
}

#[test]
fn what_the_client_would_not_read_is_not_changed() {
    let world = World::new();
    let file = world.claude_dir().join("settings.json");
    settings(&world, "{\"model\": \"opus\", // mine\n}");
    let ran = world.recall(["doctor", "--keep-transcripts"]);
    assert!(ran.code == 2 && ran.err.contains("settings.json:1:"), "{ran:#?}");
    assert!(fs::read_to_string(&file).unwrap().contains("// mine") && about(&world, "cleanup").is_empty());
    fs::remove_file(&file).unwrap();
    assert!(world.recall(["doctor"]).out.contains("+++ "));
    world.recall(["doctor", "--keep-transcripts"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\n  \"cleanupPeriodDays\": 365\n}\n");
}

#[test]
fn claude_is_asked_where_nobody_else_can_put_settings() {
    let world = World::new();
    let shared = world.root().join("shared");
    fs::create_dir_all(shared.join(".claude")).expect("a folder for all");
    fs::write(shared.join(".claude/settings.json"), "{\"apiKeyHelper\": \"/evil\"}").expect("another's settings");
    let where_it_was = world.root().join("folders");
    world.fake_claude(&format!("#!/bin/sh\npwd >> '{}'\necho '2.1.197 (Claude Code)'\n", where_it_was.display()));
    let shared = shared.to_str().expect("UTF-8").to_owned();
    world.recall_with(["doctor"], &[("TMPDIR", &shared)]);
    world.recall(["digest"]);
    world.recall_with(["doctor"], &[("TMPDIR", &shared)]);
    let folders = fs::read_to_string(&where_it_was).expect("it was asked");
    let own = world.data_dir().canonicalize().expect("the data folder");
    assert!(
        folders.lines().count() > 1 && folders.lines().all(|dir| dir == "/" || std::path::Path::new(dir).starts_with(&own)),
        "{folders}"
    );
}

#[test]
fn every_finding_that_is_not_well_says_what_to_do() {
    let world = World::new();
    let ran = world.recall(["doctor", "--json"]);
    assert_eq!(ran.code, 1);
    let all = findings(&ran);
    assert!(all.iter().any(|f| f["state"] == "problem"), "{all:#?}");
    for finding in all.iter().filter(|f| f["state"] != "ok") {
        assert!(finding["advice"].as_str().is_some_and(|a| !a.is_empty()), "{finding:#}");
    }
    let plain = world.recall(["doctor"]);
    assert!(plain.out.contains("XX  hooks") && plain.out.contains("→ `recall install`"), "{}", plain.out);
}

#[test]
fn hooks_of_a_program_that_moved_are_found_and_mended() {
    let world = World::new();
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    let path = world.claude_dir().join("settings.json");
    let good = fs::read_to_string(&path).expect("the settings");
    assert!(only(&world, "hooks").starts_with("ok: "), "{good}");
    let program = env!("CARGO_PKG_NAME");
    let moved = good.replace(&format!("/{program}' hook"), &format!("-gone/{program}' hook"));
    assert_ne!(good, moved);
    settings(&world, &moved);
    let found = only(&world, "hooks");
    assert!(found.starts_with("problem: ") && found.contains("is gone"), "{found}");
    let ran = world.recall(["doctor", "--fix"]);
    assert!(ran.out.contains("ok  hooks"), "{ran:#?}");
    assert_eq!(fs::read_to_string(&path).expect("the settings"), good);
}

#[test]
fn fix_puts_in_nothing_that_was_not_there() {
    let world = World::new();
    settings(&world, "{}");
    world.recall(["doctor", "--fix"]);
    assert_eq!(fs::read_to_string(world.claude_dir().join("settings.json")).expect("the settings"), "{}");
}

#[test]
fn a_broken_settings_file_is_located() {
    let world = World::new();
    settings(&world, "{\n  \"model\": \"opus\",\n}\n");
    let found = only(&world, "settings");
    assert!(found.starts_with("problem: ") && found.contains("settings.json:2:18"), "{found}");
}

#[test]
fn hooks_that_are_switched_off_or_come_from_the_plugin_are_told() {
    let world = World::new();
    settings(&world, "{\"disableAllHooks\": true}");
    assert!(about(&world, "hooks").iter().any(|f| f.contains("disableAllHooks")));
    settings(&world, "{\"enabledPlugins\": {\"recall@recall\": true, \"other@x\": true}}");
    assert_eq!(only(&world, "hooks"), "ok: by the plugin");
    settings(&world, "{\"enabledPlugins\": {\"recall@recall\": false}}");
    assert!(only(&world, "hooks").starts_with("problem: none"));
}

#[test]
fn the_login_is_told_without_asking_the_model() {
    let world = World::new();
    claude(&world, false);
    assert!(only(&world, "login").starts_with("problem: not logged in"));
    claude(&world, true);
    assert_eq!(only(&world, "login"), "ok: there (claude.ai)");
    assert!(only(&world, "claude").ends_with("2.1.197 (Claude Code)"));
    let calls = fs::read_to_string(world.root().join("calls")).expect("the calls");
    let calls: std::collections::BTreeSet<&str> = calls.lines().collect();
    // With the guard set, so that hooks of ours that it may fire do nothing.
    assert_eq!(calls.into_iter().collect::<Vec<_>>(), ["1 --version", "1 auth status"]);
    world.configure("[digest]\nsummarizer = \"extract\"\n");
    assert!(only(&world, "claude").starts_with("ok: not needed"));
}

#[test]
fn a_client_that_knows_no_auth_command_is_no_problem() {
    let world = World::new();
    world.fake_claude("#!/bin/sh\n[ \"$1\" = --version ] && echo 1.0.24 || { echo \"error: unknown command\" >&2; exit 1; }\n");
    assert!(only(&world, "login").starts_with("ok: "));
}

#[test]
fn transcripts_that_are_soon_deleted_are_counted() {
    let world = World::with_fixtures(&["plain"]);
    assert!(only(&world, "transcripts").starts_with("ok: 1 of 1 "));
    let file = crate::support::files_below(&world.claude_dir()).into_iter().find(|f| f.extension().is_some_and(|e| e == "jsonl"));
    age(&file.expect("a transcript"), Duration::from_secs(28 * 86_400));
    let found = only(&world, "transcripts");
    assert!(found.starts_with("problem: 1 of 1 ") && found.ends_with("deletes the oldest in 2 days"), "{found}");
    settings(&world, "{\"cleanupPeriodDays\": 90}");
    assert!(only(&world, "transcripts").ends_with("deletes the oldest in 62 days"));
    world.digest(&["--ingest-only"]);
    assert_eq!(only(&world, "transcripts"), "ok: all 1 are read");
}

#[test]
fn an_index_that_is_damaged_or_newer_is_told() {
    let world = World::with_fixtures(&["plain", "compact"]);
    assert!(only(&world, "index").starts_with("warning: none yet"));
    world.digest(&["--summarizer", "extract"]);
    assert!(only(&world, "index").ends_with("intact"));
    let path = world.data_dir().join("recall.db");
    let good = fs::read(&path).expect("the index");
    let mut bytes = good.clone();
    let from = bytes.len() / 2;
    bytes[from..from + 8192].fill(0x5a);
    fs::write(&path, &bytes).expect("a damaged index");
    assert!(only(&world, "index").starts_with("problem: "), "{}", only(&world, "index"));
    let mut newer = good;
    newer[60..64].copy_from_slice(&99u32.to_be_bytes());
    fs::write(&path, &newer).expect("a newer index");
    assert!(only(&world, "index").contains("newer recall"));
}

#[test]
fn old_marks_and_failing_digests_are_told_also_by_status() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let new = world.data_dir().join("marks/new");
    fs::create_dir_all(&new).expect("the folder of marks");
    let mark = r#"{"session":"s","transcript":"/t","offset":0,"event":"session-end","at":1795000000000}"#;
    fs::write(new.join("1.json"), mark).expect("a mark");
    let found = only(&world, "marks");
    assert!(found.starts_with("problem: 1 waiting, the oldest for "), "{found}");
    fs::write(world.data_dir().join("recall.db"), "no database").expect("a broken index");
    assert_eq!(world.recall(["digest"]).code, 2);
    assert_eq!(world.recall(["digest"]).code, 2);
    let found = only(&world, "digest");
    assert!(found.starts_with("problem: ") && found.contains("failed 2 times in a row"), "{found}");
}

#[test]
fn status_gives_the_short_form() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let ran = world.recall(["status"]);
    assert!(ran.out.contains("\nhooks       none") && ran.out.contains("`recall doctor` says what to do"), "{}", ran.out);
}

#[test]
fn what_hooks_complained_of_is_passed_on() {
    let world = World::new();
    let ran = world.shell("echo garbage | $RECALL hook session-end");
    assert_eq!(ran.code, 0);
    let found = only(&world, "hook log");
    assert!(found.starts_with("warning: 1 error of") && found.contains("session-end: stdin is not JSON"), "{found}");
}

#[test]
fn a_data_folder_that_others_can_read_is_closed_by_fix() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    fs::set_permissions(world.data_dir(), fs::Permissions::from_mode(0o755)).expect("permissions");
    assert!(only(&world, "permissions").starts_with("warning: others can read"));
    let ran = world.recall(["doctor", "--fix"]);
    assert!(ran.out.contains("ok  permissions"), "{ran:#?}");
    let mode = fs::metadata(world.data_dir()).expect("the folder").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn what_its_owner_cannot_write_is_opened_to_them_by_fix() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let index = world.data_dir().join("recall.db");
    fs::set_permissions(&index, fs::Permissions::from_mode(0o400)).expect("permissions");
    let found = only(&world, "permissions");
    assert!(
        found.starts_with("problem: ") && found.contains("/recall.db") && found.contains("you cannot read and write"),
        "{found}"
    );
    let ran = world.recall(["doctor", "--fix"]);
    assert!(ran.out.contains("ok  permissions"), "{ran:#?}");
    assert_eq!(fs::metadata(&index).expect("the index").permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_transcript_that_cannot_be_read_is_no_transcript_that_was() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(only(&world, "transcripts"), "ok: all 1 are read");
    let place = world.transcript("-home-dev-src-shop/11111111-0000-4000-8000-000000000000.jsonl", "");
    fs::remove_file(&place).and_then(|()| std::os::unix::fs::symlink("nowhere", &place)).expect("a link in its place");
    let found = only(&world, "transcripts");
    assert!(found.starts_with("problem: ") && found.contains("11111111-0000-4000-8000-000000000000.jsonl"), "{found}");
}

#[test]
fn a_run_that_went_through_ends_the_talk_of_one_that_could_not() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let (index, aside) = (world.data_dir().join("recall.db"), world.root().join("aside"));
    fs::rename(&index, &aside).and_then(|()| fs::create_dir(&index)).expect("something in its place");
    assert_eq!(world.recall(["digest"]).code, 2);
    assert!(only(&world, "digest").starts_with("problem: ran"));
    fs::remove_dir(&index).and_then(|()| fs::rename(&aside, &index)).expect("the index is back");
    assert_eq!(world.recall(["digest"]).code, 0, "with nothing to do");
    assert!(only(&world, "digest").starts_with("ok: ran"), "{}", only(&world, "digest"));
}

#[test]
fn completions_and_manual_pages_name_every_command_without_a_home() {
    let world = World::new();
    let commands = world.commands();
    let run = |args: &[&str]| Ran::of(world.process().env_remove("HOME").args(args).output().expect("recall starts"));
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&["completions", shell]);
        assert_eq!(script.code, 0, "{script:#?}");
        commands.iter().for_each(|c| assert!(script.out.contains(c.as_str()), "{shell}: {c}"));
    }
    let folder = world.root().join("man");
    assert_eq!(run(&["man", folder.to_str().expect("UTF-8")]).code, 0);
    for command in &commands {
        let page = fs::read_to_string(folder.join(format!("recall-{command}.1"))).unwrap_or_else(|e| panic!("{command}: {e}"));
        assert!(page.contains(".TH"), "{command}");
    }
    assert!(run(&["man"]).out.contains(".SH SUBCOMMANDS"));
}

#[test]
fn an_index_of_an_older_recall_is_brought_up_to_date_by_whoever_reads_it() {
    let world = World::with_fixtures(&["plain", "compact"]);
    world.digest(&["--summarizer", "extract"]);
    let before = world.recall(["context", "--cwd", "/home/dev/src/shop"]).out;
    let exported = world.recall(["export"]).out;
    for read in [&["status"][..], &["doctor"], &["export"], &["search", "pagination"], &["context", "--cwd", "/home/dev/src/shop"]]
    {
        world.make_index_older();
        let ran = world.recall(read);
        assert!(ran.code < 2 && !ran.out.contains("older"), "{read:?}: {ran:#?}");
        // An older program did not know whether all was read.
        assert_eq!(world.recall(["export"]).out, exported.replace("\"evident\":true,\"placed\":true,", ""), "{read:?}");
    }
    // What an older program did not keep the next digest makes.
    assert_eq!(world.digest(&["--summarizer", "extract"])["sessions_digested"], 0);
    assert_eq!(world.recall(["context", "--cwd", "/home/dev/src/shop"]).out, before);
}

#[test]
fn a_broken_config_is_what_the_doctor_finds() {
    let world = World::new();
    world.configure("[digest]\nmodle = \"haiku\"\n");
    let ran = world.recall(["doctor"]);
    assert!(ran.code == 1 && ran.out.contains("XX  config") && ran.out.contains("config.toml:2: `modle`"), "{ran:#?}");
    assert_eq!(findings(&world.recall(["doctor", "--json"])).len(), 1);
}

#[test]
fn before_the_first_digest_status_tells_what_is_missing() {
    let world = World::new();
    let ran = world.recall(["status"]);
    assert!(ran.code == 0 && ran.out.contains("sessions    0, ") && ran.out.contains("\ndigest      has never run"), "{ran:#?}");
    assert_eq!(world.status()["sessions"], 0);
}

#[test]
fn a_run_that_is_under_way_is_told() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let lock = fs::File::options().write(true).open(world.data_dir().join("lock")).expect("the lock");
    let mut lock = fd_lock::RwLock::new(lock);
    let held = lock.write().expect("the lock is free");
    assert_eq!(only(&world, "digest"), "ok: a run is under way");
    drop(held);
    assert_eq!(only(&world, "digest"), "ok: ran less than a minute ago");
}

/// A session of a client of this version, with a row of a type that nobody knows or without.
fn written_by(world: &World, version: &str, unknown: Option<&str>) {
    let id = "77771111-aaaa-4aaa-8aaa-777711110000";
    let row = |n: usize| format!("{}{n:04}", &id[..32]);
    let mut rows = user(id, &row(1), "2026-11-21T10:00:00Z", "Why does the kettle whistle?")
        + &assistant(id, &row(2), "2026-11-21T10:01:00Z", "The valve is worn.");
    if let Some(name) = unknown {
        rows += &format!("{}\n", serde_json::json!({"type": name, "sessionId": id, "uuid": row(3)}));
    }
    world.transcript(&format!("-home-dev-src-shop/{id}.jsonl"), rows.replace("2.1.197", version));
    world.digest(&["--summarizer", "extract"]);
}

#[test]
fn a_client_newer_than_any_that_was_tried_is_named_with_what_was_not_understood() {
    let tried = World::new();
    written_by(&tried, "2.1.197", None);
    assert!(
        only(&tried, "client").starts_with("ok: Claude Code 2.1.197; recall was tested up to 2."),
        "{}",
        only(&tried, "client")
    );

    let newer = World::new();
    written_by(&newer, "999.0.1", None);
    let found = only(&newer, "client");
    assert!(
        found.starts_with("ok: Claude Code 999.0.1 is newer than 2.") && found.contains("recall understood all its transcripts"),
        "{found}"
    );

    let unknown = World::new();
    written_by(&unknown, "999.0.1", Some("hologram"));
    let found = only(&unknown, "client");
    assert!(found.starts_with("warning: ") && found.contains("1 line of type hologram"), "{found}");
}

#[test]
fn a_tag_that_an_older_recall_did_not_know_is_no_alarm() {
    let world = World::new();
    written_by(&world, "2.1.197", None);
    let db = rusqlite::Connection::open(world.data_dir().join("recall.db")).unwrap();
    db.execute("INSERT INTO unknown_row SELECT pk, '<ci-monitor-event>', 3 FROM file", []).unwrap();
    let found = only(&world, "client");
    assert!(found.starts_with("ok: ") && found.contains("recall understood all its transcripts"), "{found}");
    assert!(!world.recall(["status"]).out.contains("ci-monitor"));
    assert_eq!(world.status()["unknown_rows"], serde_json::json!({}));
}

#[test]
fn what_was_seen_is_no_alarm_until_there_is_something_new() {
    let world = World::new();
    written_by(&world, "2.1.197", Some("hologram"));
    world.link_recall();
    claude(&world, true);
    world.recall(["install"]);
    fs::write(world.data_dir().join("hooks.log"), "2026-11-20T10:00:00Z session-start: the disk is full\n").unwrap();
    let warned = || {
        let ran = world.recall(["doctor"]);
        ran.out.lines().filter_map(|line| line.strip_prefix("!!  ")?.split("  ").next()).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = warned();
    assert!(before.contains(&"client".to_owned()) && before.contains(&"hook log".to_owned()), "{before:?}");
    assert!(world.recall(["status"]).out.contains("hook log"));

    let agent = world.recall_with(["doctor", "--seen"], &[("CLAUDECODE", "1")]);
    assert!(agent.code == 2 && agent.err.contains("person") && warned() == before, "{agent:#?}");
    let marked = world.recall(["doctor", "--seen"]);
    assert!(marked.out.contains("--  client") && marked.out.contains("(seen)"), "{marked:#?}");
    assert_eq!(warned(), [""; 0]);
    assert!(!world.recall(["status"]).out.contains("hook log"));
    // It is told all the same, and as what it is.
    let told: Value = serde_json::from_str(&world.recall(["doctor", "--json"]).out).unwrap();
    let client = told["findings"].as_array().unwrap().iter().find(|f| f["about"] == "client").unwrap();
    assert_eq!((&client["state"], &client["seen"]), (&"warning".into(), &true.into()), "{client}");
    // Nothing of what was found is kept in words.
    let kept = fs::read_to_string(world.data_dir().join("seen-findings.json")).unwrap();
    assert!(!kept.contains("disk") && !kept.contains("hologram"), "{kept}");

    // More rows of that type and the same errors are nothing new; another type and another error are.
    let id = "88881111-aaaa-4aaa-8aaa-777711110000";
    let row = |name: &str| format!("{}\n", serde_json::json!({"type": name, "sessionId": id, "uuid": name}));
    let rows =
        user(id, "u1", "2026-11-21T10:00:00Z", "Why does it whistle?") + &assistant(id, "u2", "2026-11-21T10:01:00Z", "It boils.");
    world.transcript(&format!("-home-dev-src-shop/{id}.jsonl"), rows + &row("hologram"));
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(warned(), [""; 0]);
    world.append(id, &row("hypergram"));
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(warned(), ["client"]);
    fs::write(world.data_dir().join("hooks.log"), "2026-11-21T10:00:00Z session-start: the disk is full\n").unwrap();
    assert_eq!(warned(), ["client", "hook log"].into_iter().rev().collect::<Vec<_>>());
}

#[test]
fn what_does_not_work_stays_a_problem_though_it_was_seen() {
    let world = World::new();
    let ran = world.recall(["doctor", "--seen"]);
    assert!(ran.code == 1 && ran.out.contains("XX  hooks"), "{ran:#?}");
    assert!(world.recall(["doctor"]).out.contains("XX  hooks"));
}

#[test]
fn the_release_that_doctor_calls_tried_is_the_one_whose_names_are_kept_for_comparison() {
    let kept = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/.ci/client-known.txt")).expect("the list");
    let version = kept.lines().find_map(|line| line.strip_prefix("version ")).expect("its version");
    let world = World::new();
    written_by(&world, "0.0.1", None);
    let found = only(&world, "client");
    assert!(found.contains(&format!("tested up to {version};")), "{version}: {found}");
}

/// An index is large by its file: what was deleted leaves room in it.
#[test]
fn of_a_large_index_the_structure_is_checked_and_all_of_it_on_request() {
    let world = World::with_fixtures(&["plain"]);
    world.digest(&["--summarizer", "extract"]);
    let index = rusqlite::Connection::open(world.data_dir().join("recall.db")).expect("the index");
    let grow = "PRAGMA auto_vacuum; INSERT INTO fact VALUES ('room', CAST(zeroblob(70000000) AS TEXT)); DELETE FROM fact WHERE name = 'room';";
    index.execute_batch(grow).expect("a large index");
    index.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("a checkpoint");
    assert!(only(&world, "index").contains("structure intact: `recall doctor --deep` also reads all values"));
    let deep = || -> Vec<String> {
        let all = findings(&world.recall(["doctor", "--json", "--deep"])).into_iter().filter(|one| one["about"] == "index");
        all.map(|one| one["found"].as_str().expect("a text").to_owned()).collect()
    };
    assert!(deep()[0].ends_with(", intact"), "{:?}", deep());
    // No reader can read such a title, and no structure tells it.
    index.execute("UPDATE digest SET title = CAST(x'c3' AS TEXT)", []).expect("damage");
    drop(index);
    assert!(only(&world, "index").contains("structure intact"));
    assert!(deep()[0].contains("damaged: "), "{:?}", deep());
    let ran = world.recall(["doctor", "--fix"]);
    assert!(ran.out.contains("restored"), "{ran:#?}");
    assert!(about(&world, "index")[0].ends_with(", intact"));
}
