//! Reading: `recall day`, `list`, `todo`, and `show` by what is meant.

use std::time::Duration;

use crate::support::answers::{at_terminal, on_terminal};
use crate::support::rows::{FOLDER, Rows, SHOP, bash, put};
use crate::support::{World, age};
use serde_json::{Value, json};

/// Three sessions: two of the 1st of November, one of the 2nd, each of which leaves a task.
fn world() -> World {
    let world = World::new();
    for (n, what) in
        [(0, "Page the order list of the shop by key."), (1, "Page the invoices by key."), (3, "Paint the banner green.")]
    {
        let mut rows = Rows::new(n);
        rows.user(json!(what));
        rows.uses(1, &json!({"name": "TodoWrite", "input": {"todos": [{"content": format!("Check that again: {what}"), "status": "pending"}]}}));
        rows.result(1, "Todos have been modified successfully", false);
        rows.uses(2, &bash("pytest -q"));
        rows.result(2, "4 passed in 0.2s", false);
        rows.assistant(
            "It is done, and every page of the shop that was looked at by hand in both browsers shows what it should show.",
        );
        put(&world, &rows.id, &rows.text);
    }
    world.digest(&["--summarizer", "extract"]);
    world
}

#[test]
fn a_title_tells_that_something_was_to_be_undone() {
    let world = World::new();
    let titled = |n: usize, later: &str| {
        let mut rows = Rows::new(n);
        rows.user(json!("Convert the decimal numbers in commit messages."));
        rows.assistant("Converted.");
        rows.user(json!(later));
        rows.assistant("Done as you say.");
        put(&world, &rows.id, &rows.text);
    };
    titled(0, "can you revert this change?");
    titled(1, "how would I revert this change?");
    world.digest(&["--summarizer", "extract"]);
    let list = world.recall(["list"]).out;
    assert_eq!(list.matches("Convert the decimal numbers in commit messages").count(), 2, "{list}");
    assert_eq!(list.matches(" · also asked: “can you revert this change?”\n").count(), 1, "{list}");
    assert!(!list.contains("how would I"), "{list}");
    let report = world.recall(["report", "--for", "week", "--since", "2026-10-01"]).out;
    assert_eq!(report.matches("commit messages. · also asked: “can you revert this change?” (").count(), 1, "{report}");
}

/// Short prompts are counted, and not listed where there are many.
#[test]
fn a_day_counts_the_prompts_that_it_does_not_list() {
    let world = World::new();
    let mut rows = Rows::new(0);
    for n in 0..9 {
        rows.user(json!(if n == 4 { "go on".to_owned() } else { format!("Convert the decimal numbers of file {n}, please.") }));
        rows.assistant("Converted.");
    }
    put(&world, &rows.id, &rows.text);
    world.digest(&["--summarizer", "extract"]);
    let page = world.recall(["day", "2026-11-01"]).out;
    assert!(page.contains("· 9 prompts ·") && page.matches("numbers of file").count() >= 8, "{page}");
    assert!(page.contains("\n- 1 more\n"), "{page}");
}

fn file_of(world: &World, day: &str) -> String {
    let pages = world.pages();
    pages.into_iter().find(|(path, _)| path.ends_with(&format!("/{day}.md"))).map(|(_, text)| text).expect("a page")
}

#[test]
fn a_pipe_gets_the_pages_of_days_as_they_are() {
    let world = world();
    let (first, second) = (file_of(&world, "2026-11-01"), file_of(&world, "2026-11-02"));
    let day = |args: &[&str]| {
        let ran = world.recall([&["day"], args].concat());
        assert_eq!(ran.code, 0, "{ran:#?}");
        (ran.out, ran.err)
    };
    assert_eq!(day(&["2026-11-01"]), (first.clone(), String::new()));
    assert_eq!(world.recall(["show", "2026-11-01"]).out, first);
    // Nothing is written of the day on which tests run: the newest page is what is meant.
    let (page, told) = day(&[]);
    assert_eq!((page, told.as_str()), (second.clone(), "recall: no page for today yet; showing 2026-11-02\n"));
    assert_eq!(
        day(&["2026-10-01"]),
        (String::new(), "recall: there is no page for 2026-10-01; the newest day is 2026-11-02\n".to_owned())
    );
    let wrong = world.recall(["day", "someday"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (2, ""));
    assert!(wrong.err.contains("\"someday\" is not a day: today, yesterday, week, or a date like 2026-01-31"), "{}", wrong.err);

    let at = |now: &str, args: &[&str]| {
        let ran = world.process().env("RECALL_NOW", now).args(args).output().expect("recall runs");
        String::from_utf8(ran.stdout).expect("UTF-8")
    };
    assert_eq!(at("2026-11-02T12:00:00Z", &["day"]), second);
    assert_eq!(at("2026-11-02T12:00:00Z", &["day", "yesterday"]), first);
    assert_eq!(at("2026-11-07T12:00:00Z", &["day", "week"]), format!("{first}\n{second}"));
    let empty = World::new().recall(["day"]);
    assert_eq!((empty.code, empty.out.as_str()), (0, ""));
    assert!(empty.err.contains("no day has a page yet: `recall digest` writes them"), "{}", empty.err);
}

#[test]
fn a_terminal_gets_them_laid_out_and_a_pager_what_is_longer() {
    let world = world();
    let show = |size, variables: &[(&str, &str)], args: &[&str]| on_terminal(&world, world.root(), size, variables, args);
    for columns in [60, 80] {
        let lines = show((columns, 50), &[("NO_COLOR", "1")], &["day", "2026-11-01"]);
        assert_eq!(lines[0], "# Sunday, 1 November 2026");
        assert!(lines.iter().all(|line| line.chars().count() <= usize::from(columns)), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("`recall show 00000000`")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with("│ It is done, and every page")), "{lines:#?}");
    }
    let styled = show((80, 50), &[], &["show", "last"]);
    assert!(styled[0].starts_with("\x1b[1mPaint\x1b[0m"), "{styled:#?}");
    // Longer than the terminal: through the pager, which gets it laid out as well.
    let paged = show((80, 10), &[("NO_COLOR", "1"), ("PAGER", "sed 's/^/> /'"), ("PATH", "/usr/bin:/bin")], &["day", "2026-11-01"]);
    assert_eq!(paged[0], "> # Sunday, 1 November 2026");
    let short = show((80, 50), &[("NO_COLOR", "1"), ("PAGER", "sed 's/^/> /'"), ("PATH", "/usr/bin:/bin")], &["day", "2026-11-01"]);
    assert_eq!(short[0], "# Sunday, 1 November 2026");
    let none = show((80, 10), &[("NO_COLOR", "1"), ("PAGER", "no-such-pager")], &["day", "2026-11-01"]);
    assert_eq!(none[0], "# Sunday, 1 November 2026", "what has no pager is shown at once");
}

#[test]
fn sessions_are_listed_newest_first_with_what_is_not_digested_yet() {
    let world = world();
    let mut rows = Rows::new(6);
    rows.user(json!("Paint the door of the barn."));
    rows.assistant("It is red.");
    put(&world, &rows.id, &rows.text);
    world.digest(&["--ingest-only"]);
    let list = |args: &[&str]| world.recall([&["list"], args].concat());
    let all = list(&[]);
    let lines: Vec<&str> = all.out.lines().collect();
    assert_eq!(lines.len(), 4, "{all:#?}");
    assert!(lines[0].contains("00000006  shop  Paint the door of the barn. (waiting)"), "{}", lines[0]);
    assert!(lines[1].starts_with("2026-11-02 09:00  00000003  shop  Paint the banner green."), "{}", lines[1]);
    let two = list(&["-n", "2"]);
    assert_eq!(
        (two.out.lines().count(), two.err.as_str()),
        (2, "recall: 2 more: `--limit N`, `--since`, `--project`, `--agent`\n")
    );
    assert_eq!(list(&["--since", "2026-11-02"]).out.lines().count(), 2);
    assert_eq!(list(&["--project", "mill"]).out, "");
    let json: Vec<Value> = list(&["--json"]).out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((&json[0]["state"], &json[1]["state"], &json[1]["project"]), (&json!("waiting"), &json!("digested"), &json!(SHOP)));
    let narrow = on_terminal(&world, world.root(), (60, 50), &[], &["list"]);
    assert!(narrow.iter().all(|line| line.chars().count() <= 60), "{narrow:#?}");
}

#[test]
fn a_session_that_runs_is_listed_as_running_until_it_ends() {
    let world = world();
    let mut rows = Rows::new(6);
    rows.user(json!("Paint the door of the barn."));
    rows.assistant("It is red.");
    put(&world, &rows.id, &rows.text);
    let file = world.claude_dir().join(format!("projects/{FOLDER}/{}.jsonl", rows.id));
    age(&file, Duration::from_secs(60));
    world.digest(&["--ingest-only"]);
    let first = |world: &World| world.recall(["list", "-n", "1"]).out;
    assert!(first(&world).contains("(running)"), "{}", first(&world));
    let json: Value = serde_json::from_str(&world.recall(["list", "-n", "1", "--json"]).out).expect("JSON");
    assert_eq!(json["state"], "running");
    // The mark of its end says so before a digest reads it, and the index does afterwards.
    let payload =
        json!({"session_id": rows.id, "transcript_path": file, "cwd": SHOP, "hook_event_name": "SessionEnd", "reason": "exit"});
    assert_eq!(world.hook("session-end", payload.to_string()).code, 0);
    assert!(first(&world).contains("(waiting)"), "{}", first(&world));
    world.digest(&["--ingest-only"]);
    assert!(first(&world).contains("(waiting)"), "{}", first(&world));
    // One that nobody ended is not running for ever.
    age(&file, Duration::from_secs(3600));
    assert!(!first(&world).contains("(running)"), "{}", first(&world));
}

/// What a limit left for a later run was read all the same.
#[test]
fn a_list_has_also_sessions_that_wait_for_a_later_run() {
    let world = World::with_fixtures(&["plain", "retry"]);
    assert_eq!(world.recall(["digest", "--summarizer", "extract", "--limit", "1"]).code, 0);
    let listed = world.recall(["list"]).out;
    assert!(listed.lines().count() == 2 && listed.contains("(waiting)"), "{listed}");
}

#[test]
fn a_session_is_shown_by_how_far_back_it_is() {
    let world = world();
    let shows = |id: &str, title: &str| {
        let ran = world.recall(["show", id]);
        assert!(ran.code == 0 && ran.out.starts_with(&format!("# {title}")), "{id}: {ran:#?}");
    };
    shows("last", "Paint the banner green.");
    shows("-1", "Paint the banner green.");
    shows("-2", "Page the invoices by key.");
    let none = world.recall(["show", "-4"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("fewer than 4 sessions: see `recall list`"), "{}", none.err);
    // Where the folder has none, the newest of all is told, and that it is of another project.
    let elsewhere = world.recall(["show", "last"]);
    assert_eq!(elsewhere.err, "recall: this folder has no sessions, so `last` means a session of /home/dev/src/shop\n");
}

#[test]
fn what_is_open_is_told_of_all_projects_and_what_is_old_on_request() {
    let world = world();
    let rows = crate::support::user("99990000-0000-4000-8000-000000000000", "u1", "2026-11-03T09:00:00Z", "Grind the corn.")
        .replace("/home/dev/src/shop", "/home/dev/src/mill");
    world.transcript("-home-dev-src-mill/99990000-0000-4000-8000-000000000000.jsonl", &rows);
    world.digest(&["--summarizer", "extract"]);
    assert_eq!(world.recall(["remember", "--kind", "todo", "--project", "/home/dev/src/mill", "Oil the mill"]).code, 0);
    assert_eq!(world.recall(["remember", "--kind", "todo", "--everywhere", "Renew the certificate"]).code, 0);
    let at = |now: &str, args: &[&str]| {
        let ran = world.process().env("RECALL_NOW", now).arg("todo").args(args).output().expect("recall runs");
        (String::from_utf8(ran.stdout).expect("UTF-8"), String::from_utf8(ran.stderr).expect("UTF-8"))
    };
    let (out, err) = at("2026-11-04T12:00:00Z", &[]);
    assert!(out.contains("/home/dev/src/mill\n  m") && out.contains("todo: Oil the mill\n"), "{out}");
    assert!(out.contains(&format!("{SHOP}\n  n")) && out.contains("Check that again: Paint the banner green."), "{out}");
    assert_eq!(out.matches("Renew the certificate").count(), 1, "{out}");
    assert_eq!(err, "recall: mark an item as done with `recall close ID`\n");
    let (out, err) = at("2026-12-10T12:00:00Z", &[]);
    assert!(out.contains("Oil the mill") && !out.contains("Paint the banner"), "{out}");
    assert_eq!(
        err,
        "recall: mark an item as done with `recall close ID`; 3 more, last mentioned over 30 days ago: `recall todo --all`\n"
    );
    let (out, err) = at("2027-03-01T12:00:00Z", &[]);
    assert_eq!(
        (out.as_str(), err.as_str()),
        ("", "recall: no open item of yours was mentioned in the last 30 days; 5 older items: `recall todo --all`\n")
    );
    assert!(at("2027-03-01T12:00:00Z", &["--all"]).0.contains("Paint the banner"));
    let (one, _) = at("2026-11-04T12:00:00Z", &["--project", "mill", "--json"]);
    let one: Vec<Value> = one.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((one.len(), &one[0]["items"][0]["text"]), (1, &json!("Oil the mill")), "{one:#?}");
}

#[test]
fn at_80_columns_no_line_of_a_plan_or_a_list_is_longer_and_no_title_ends_in_a_cut_half() {
    let world = World::with_fixtures(&["plain", "compact"]);
    let show = |args: &[&str]| on_terminal(&world, world.root(), (80, 50), &[], args);
    let plan = show(&["digest", "--summarizer", "extract", "--settle", "0s", "--dry-run"]);
    let title = plan.iter().find(|line| line.contains("64b0b6d9")).unwrap_or_else(|| panic!("{plan:#?}"));
    assert!(title.ends_with('…') && title.chars().count() <= 80, "{plan:#?}");
    world.digest(&["--summarizer", "extract", "--settle", "0s"]);
    let list = at_terminal(&world, world.root(), &["list", "--limit", "1"]).shown;
    let Some((session, more)) = list.split_once("\r\n") else { panic!("{list}") };
    assert!(session.contains("  VAT in the monthly report off by a cent") && !session.contains('·'), "{list}");
    assert_eq!(more, "recall: 1 more: `--limit N`, `--since`, `--project`, `--agent`\r\n", "behind the list");
    let found = show(&["search", "monthly", "VAT"]);
    assert!(found[0].ends_with("VAT in the monthly report off by a cent"), "{found:#?}");
}

#[test]
fn on_a_terminal_a_digest_ends_with_where_the_pages_are_and_what_to_type_next() {
    let world = world();
    let lines = on_terminal(&world, world.root(), (120, 50), &[], &["digest", "--summarizer", "extract"]);
    let all = lines.join("\n");
    assert!(all.contains(&format!("pages     {}, the newest is of 2026-11-02\n", world.daily().display())), "{all}");
    assert!(
        all.contains("next      `recall day` to read it")
            && all.contains("`recall install` adds hooks, which give context to new sessions"),
        "{all}"
    );
    let piped = world.digest(&["--summarizer", "extract"]);
    assert!(piped.is_object());
    assert!(!world.recall(["digest"]).out.contains("next "), "a timer's log needs none");
    assert_eq!(world.recall(["install", "--timer", "none"]).code, 0);
    let all = on_terminal(&world, world.root(), (120, 50), &[], &["digest", "--summarizer", "extract"]).join("\n");
    assert!(all.contains("next      `recall day`") && !all.contains("recall install"), "{all}");
}
