//! A session that goes on over midnight, or days later, stands on the page of each day on which somebody said something in it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::{World, age, assistant, committed, user};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];
const S: &str = "77777777-aaaa-4aaa-8aaa-777777777777";
const OTHER: &str = "88888888-bbbb-4bbb-8bbb-888888888888";
const FIRST: &str = "2026-10-31";
const SECOND: &str = "2026-11-01";
const LAST: &str = "2026-11-03";

fn rows() -> String {
    [
        user(S, "u1", "2026-10-31T22:30:00Z", "Make the import faster."),
        committed(S, "c1", "2026-10-31T22:34:00Z", "Cache the rates"),
        assistant(S, "a1", "2026-10-31T22:35:00Z", "The rates are cached now."),
        user(S, "u2", "2026-11-01T00:12:00Z", "Now write the zebra export."),
        committed(S, "c2", "2026-11-01T00:20:00Z", "Write the zebra export"),
        assistant(S, "a2", "2026-11-01T00:21:00Z", "The zebra export is written."),
        user(S, "u3", "2026-11-01T00:30:00Z", "Test it as well."),
        assistant(S, "a3", "2026-11-01T00:31:00Z", "The zebra export has a test."),
        user(S, "u4", "2026-11-03T09:00:00Z", "Measure the giraffe query."),
        assistant(S, "a4", "2026-11-03T09:05:00Z", "The giraffe query takes two seconds."),
    ]
    .concat()
}

fn other_rows() -> String {
    user(OTHER, "o1", "2026-11-01T08:00:00Z", "Why is the build slow?")
        + &assistant(OTHER, "p1", "2026-11-01T08:05:00Z", "The linker runs twice.")
}

fn transcript(world: &World, id: &str, rows: &str) -> PathBuf {
    let file = world.transcript(&format!("-p/{id}.jsonl"), rows);
    age(&file, Duration::from_secs(7200));
    file
}

fn world() -> World {
    let world = World::new();
    transcript(&world, S, &rows());
    transcript(&world, OTHER, &other_rows());
    world.digest(&EXTRACT);
    world
}

fn day(world: &World, day: &str) -> Option<String> {
    fs::read_to_string(world.daily().join(&day[..7]).join(format!("{day}.md"))).ok()
}

fn days(world: &World) -> Vec<String> {
    let names = world.pages().into_iter().map(|(name, _)| name).filter(|name| !name.contains("/sessions/"));
    names.map(|name| name.rsplit('/').next().unwrap_or_default().trim_end_matches(".md").to_owned()).collect()
}

fn list(world: &World) -> String {
    fs::read_to_string(world.data_dir().join("pages.md")).unwrap_or_default()
}

#[track_caller]
fn is_rebuilt_alike(world: &World) {
    let before = (world.pages(), list(world));
    let report = world.digest(&["--rebuild-pages", "--summarizer", "extract"]);
    assert_eq!(report["pages_written"], 0, "{report}");
    assert_eq!((world.pages(), list(world)), before);
}

#[test]
fn it_stands_on_each_day_with_a_prompt() {
    let world = world();
    assert_eq!(days(&world), [FIRST, SECOND, LAST]);
    let [first, second, last] = [FIRST, SECOND, LAST].map(|name| day(&world, name).expect("a page"));
    assert!(
        first.contains("\nsessions: 1\ncost_usd: ") && first.contains(" · 1 of 4 prompts · ") && !first.contains("went on"),
        "{first}"
    );
    let told = "\nbegan on [Saturday, 31 October 2026](../2026-10/2026-10-31.md) · 2 prompts · [session page](../2026-10/sessions/2026-10-31-shop-77777777.md)\n\
        \n**Asked**\n\n- 01:12 “Now write the zebra export.”\n";
    assert!(second.contains(told) && second.contains("\n### 01:12 continued: "), "{second}");
    assert!(
        second.contains("\nClaude's last reply of the day (")
            && second.contains("\n**Commits and pull requests**\n\n- `abc1234` Write the zebra export\n"),
        "{second}"
    );
    assert!(!second.contains("Cache the rates"), "made on the day before: {second}");
    assert!(first.contains("\n- commits and pull requests: `abc1234` Cache the rates\n"), "made on the day after: {first}");
    assert!(second.contains("\nsessions: 1\nsessions_gone_on: 1\n") && second.contains("### 09:00 "), "{second}");
    assert!(last.contains("\nsessions: 0\nsessions_gone_on: 1\ncost_usd: 0.00\n"), "{last}");
    assert!(last.contains(" · 1 prompt · ") && last.contains(" “Measure the giraffe query.”"), "{last}");
    assert!(last.contains("\n← [Sunday, 1 November 2026](../2026-11/2026-11-01.md) · "), "{last}");
    assert!(world.daily().join("2026-11/../2026-10/sessions/2026-10-31-shop-77777777.md").is_file());
    let all = list(&world);
    for line in ["3.md): 1 session that went on\n", "1.md): 1 session, 1 more went on\n", "31.md): 1 session\n"] {
        assert!(all.contains(line), "{all}");
    }
    let shown = world.recall(["day", LAST]);
    assert!(shown.code == 0 && shown.out.contains("giraffe"), "{shown:#?}");
    is_rebuilt_alike(&world);
    assert_eq!(world.digest(&EXTRACT)["pages_written"], 0);
}

/// As `recall stats` counts it.
#[test]
fn each_day_tells_what_was_spent_on_it() {
    let world = World::new();
    let rows = rows().replace("\"input_tokens\":10,", "\"input_tokens\":1000000,");
    assert_ne!(rows, self::rows());
    transcript(&world, S, &rows);
    world.digest(&EXTRACT);
    let stats = world.recall(["stats", "--json", "--since", "2026-10-01"]).out;
    let stats: serde_json::Value = serde_json::from_str(&stats).expect("JSON");
    for row in stats["rows"].as_array().expect("rows") {
        let (name, usd) = (row["name"].as_str().expect("a day"), row["cost_usd"].as_f64().expect("a cost"));
        let page = day(&world, name).expect("a page");
        assert!(usd > 0.5 && page.contains(&format!("\ncost_usd: {usd:.2}\n")), "{usd}: {page}");
    }
    assert_eq!(stats["rows"].as_array().map(Vec::len), Some(3));
    is_rebuilt_alike(&world);
}

#[test]
fn a_day_is_the_same_whichever_session_is_read_last() {
    let at_once = world();
    let world = World::new();
    transcript(&world, S, &rows());
    world.digest(&EXTRACT);
    transcript(&world, OTHER, &other_rows());
    world.digest(&EXTRACT);
    assert_eq!((world.pages(), list(&world)), (at_once.pages(), list(&at_once)));
    is_rebuilt_alike(&world);
}

#[test]
fn a_session_that_goes_on_gets_another_day() {
    let world = world();
    let more = user(S, "u5", "2026-11-05T09:00:00Z", "And the walrus report?")
        + &assistant(S, "a5", "2026-11-05T09:05:00Z", "The walrus report is done.");
    transcript(&world, S, &(rows() + &more));
    world.digest(&EXTRACT);
    assert_eq!(days(&world), [FIRST, SECOND, LAST, "2026-11-05"]);
    assert!(
        day(&world, "2026-11-05")
            .is_some_and(|page| page.contains(" “And the walrus report?”") && page.contains("The walrus report is done."))
    );
    assert!(day(&world, LAST).is_some_and(|page| page.contains("2026-11-05.md")), "it links to the day after it");
    is_rebuilt_alike(&world);
}

#[test]
fn what_is_forgotten_leaves_all_its_days() {
    let one = world();
    assert_eq!(one.recall(["forget", "--yes", "--session", S]).code, 0);
    assert_eq!(days(&one), [SECOND]);
    let page = day(&one, SECOND).expect("a page");
    assert!(page.contains("build slow") && !page.contains("zebra") && !page.contains("went on"), "{page}");
    assert!(list(&one).contains("-01.md): 1 session\n"), "{}", list(&one));
    assert_eq!(one.count("SELECT count(*) FROM later_day"), 0);

    // Only what was said on the last day.
    let part = world();
    assert_eq!(part.recall(["forget", "--yes", "--match", "giraffe"]).code, 0);
    assert!(part.pages().iter().all(|(_, page)| !page.contains("giraffe")), "{:?}", part.pages());
    part.digest(&EXTRACT);
    assert!(part.pages().iter().all(|(_, page)| !page.contains("giraffe")), "{:?}", part.pages());
    is_rebuilt_alike(&part);

    // A folder that the config excludes from now on: a reader is shown nothing before the next run, and that run takes it out.
    let hidden = world();
    hidden.configure("[privacy]\nexclude_projects = [\"/home/dev/src/shop\"]\n");
    let shown = hidden.recall(["day", LAST]);
    assert!(!shown.out.contains("giraffe") && !shown.err.contains("config"), "{shown:#?}");
    hidden.digest(&EXTRACT);
    assert!(days(&hidden).is_empty(), "{:?}", days(&hidden));
}

#[test]
fn a_hidden_reply_stands_on_none_of_its_days() {
    let world = world();
    let said = "takes two seconds";
    assert!(world.pages().iter().any(|(_, page)| page.contains(said)));
    let hidden = world.recall(["wrong", S, "--reply", "4"]);
    assert_eq!(hidden.code, 0, "{hidden:#?}");
    assert!(world.pages().iter().all(|(_, page)| !page.contains(said)), "{:?}", world.pages());
    assert_eq!(days(&world), [FIRST, SECOND, LAST]);
    is_rebuilt_alike(&world);
}

#[test]
fn its_days_are_those_of_the_time_zone() {
    let world = world();
    let before = (world.pages(), list(&world));
    let in_zone = |zone: &str| {
        let ran = world.recall_with(["digest", "--summarizer", "extract"], &[("TZ", zone)]);
        assert_eq!(ran.code, 0, "{ran:#?}");
    };
    in_zone("America/New_York");
    assert_eq!(days(&world), [FIRST, SECOND, LAST]);
    let (first, second) = (day(&world, FIRST).expect("a page"), day(&world, SECOND).expect("a page"));
    assert!(!first.contains("went on") && !second.contains("zebra"), "both evenings are one there: {second}");
    in_zone("Asia/Tokyo");
    assert_eq!(days(&world), [SECOND, LAST]);
    assert!(!day(&world, SECOND).is_some_and(|page| page.contains("went on")));
    world.digest(&EXTRACT);
    assert_eq!((world.pages(), list(&world)), before);
}

#[test]
fn of_a_long_session_all_prompts_count_on_their_days() {
    let world = World::new();
    let turn = |n: usize| {
        let at = |minute: usize| format!("2026-11-{:02}T10:{minute:02}:00Z", 1 + n / 20);
        user(S, &format!("u{n}"), &at(n % 20 * 2), &format!("Write part {n} of the manual."))
            + &assistant(S, &format!("a{n}"), &at(n % 20 * 2 + 1), &format!("Part {n} is written."))
    };
    transcript(&world, S, &(0..60).map(turn).collect::<String>());
    world.digest(&EXTRACT);
    let [second, third] = ["2026-11-02", "2026-11-03"].map(|name| day(&world, name).expect("a page"));
    assert!(second.contains(" · 20 prompts · ") && second.contains("**Asked later**\n\n- 11:32 “Write part 36 of"), "{second}");
    assert!(third.contains(" · 20 prompts · ") && third.contains("**Asked**\n\n- 11:00 “Write part 40 of"), "{third}");
    is_rebuilt_alike(&world);
    let turns = turns_by_day(&world);
    assert_eq!(turns, [("2026-11-01".to_owned(), 20), ("2026-11-02".to_owned(), 20), ("2026-11-03".to_owned(), 20)]);
}

fn turns_by_day(world: &World) -> Vec<(String, u64)> {
    let ran = world.recall(["stats", "--json", "--since", "2026-10-01", "--by", "day"]);
    let stats: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"));
    let rows = stats["rows"].as_array().expect("rows");
    rows.iter().map(|row| (row["name"].as_str().expect("a day").to_owned(), row["turns"].as_u64().expect("turns"))).collect()
}

#[test]
fn stats_count_each_turn_on_its_day() {
    let turns = turns_by_day(&world());
    assert_eq!(turns, [(FIRST.to_owned(), 1), (SECOND.to_owned(), 3), (LAST.to_owned(), 1)]);
}
