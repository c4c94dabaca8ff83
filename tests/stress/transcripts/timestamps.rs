//! Times that rows tell: backwards, from nowhere, of other clocks. No time makes a page that is none, nor keeps another session from its
//! place.

use crate::support::size::is_whole;
use crate::support::{World, assistant, user};
use crate::transcripts::{S, asked};

const EXTRACT: [&str; 2] = ["--summarizer", "extract"];

/// A conversation whose rows all tell this time, in JSON.
fn at(session: &str, time: &str) -> String {
    let placed = |row: String| row.replace("\"TIME\"", time);
    placed(user(session, &format!("{session}-u"), "TIME", "Why is the clock wrong?"))
        + &placed(assistant(session, &format!("{session}-a"), "TIME", "The battery is empty: the clock starts at nothing."))
}

/// A line of an export in which everything happened at one time.
fn at_that_time(mut line: serde_json::Value, at: i64) -> serde_json::Value {
    for (name, value) in line.as_object_mut().into_iter().flatten() {
        match value {
            serde_json::Value::Number(_) if name == "at" || name.ends_with("_at") => *value = at.into(),
            serde_json::Value::Array(all) => all.iter_mut().for_each(|one| *one = at_that_time(one.take(), at)),
            _ => {}
        }
    }
    line
}

const ODD: [&str; 23] = [
    "\"9999-12-31T23:59:59Z\"", "\"9999-12-30T22:00:00Z\"", "\"+300000-01-01T00:00:00Z\"", "\"0000-01-01T00:00:00Z\"",
    "\"-009999-01-02T00:00:00Z\"", "\"1969-12-31T23:59:59Z\"", "\"1970-01-01T00:00:00Z\"", "-1", "-62135596800000", "1e999",
    "-1e999", "1180591620717411303424", "9223372036854775807", "253402300799999", "\"2026-11-20T10:00:00\"", "\"2026-11-20\"",
    "\"yesterday\"", "null", "[]", "\"2026-02-29T10:00:00Z\"", "\"0001-01-01T00:00:00Z\"", "\"2100-06-01T10:00:00Z\"",
    "\"9999-06-01T10:00:00Z\"",
];

/// The day on which their transcripts last grew.
const GREW: &str = "2026-11-18";

fn grown(file: &std::path::Path) {
    let at: jiff::Timestamp = format!("{GREW}T10:00:00Z").parse().expect("a time");
    std::fs::File::options().write(true).open(file).and_then(|file| file.set_modified(at.into())).expect("the file's time");
}

/// The session that has the nth of these times.
fn odd(n: usize) -> String {
    S.replace("5555", &format!("{n:04}"))
}

#[test]
fn a_time_that_cannot_be_is_no_time() {
    // Each time alone where everything is tried, else all in one world.
    let size = if is_whole() { 1 } else { ODD.len() };
    for times in ODD.iter().enumerate().collect::<Vec<_>>().chunks(size) {
        let world = World::new();
        for (n, time) in times {
            let file = world.transcript(&format!("-p/odd{n}.jsonl"), at(&odd(*n), time));
            grown(&file);
        }
        let other = S.replace('5', "6");
        world.transcript(&format!("-p/{other}.jsonl"), asked(&other, 1));
        let ran = world.recall(["digest", "--summarizer", "extract"]);
        assert!(ran.code == 0 && !ran.err.contains("panicked"), "{times:?}: {ran:#?}");
        for (name, page) in world.pages() {
            let day = |day: &str| name.starts_with(&format!("daily/{}/", &day[..7])) && name.contains(day);
            let known = day(GREW) || day("2026-11-20");
            assert!(known && !page.contains("1970"), "{times:?}: {name}\n{page}");
        }
        let of_sessions = world.pages().iter().filter(|(name, _)| name.contains("/sessions/")).count();
        assert_eq!(of_sessions, times.len() + 1, "{times:?}: {:?}", world.pages());
        let mut commands: Vec<Vec<String>> = [
            "status", "search clock", "search since:7d|import", "context --cwd /home/dev/src/shop", "digest --rebuild-pages",
            "digest --dry-run", "forget --before 1d --dry-run",
        ]
        .map(|line| line.split(' ').map(|word| word.replace('|', " ")).collect())
        .into();
        for (n, _) in times {
            commands.extend(
                ["show ID", "show ID --full", "timeline ID"]
                    .map(|line| line.split(' ').map(|word| word.replace("ID", &odd(*n))).collect()),
            );
        }
        for command in commands {
            let ran = world.recall(&command);
            assert!(ran.code < 2 && !ran.err.contains("panicked"), "{times:?}: {command:?}: {ran:#?}");
        }
        let told = world.recall(["context", "--cwd", "/home/dev/src/shop"]).out;
        assert!(told.contains("66666666"), "{times:?}: the session whose time is known is told: {told}");
        let again = world.recall(["digest", "--summarizer", "extract"]);
        assert_eq!((again.code, again.err.as_str()), (0, ""), "{times:?}: a second run says nothing new");
    }
}

#[test]
fn a_session_is_of_the_day_of_any_row_that_tells_one() {
    let world = World::new();
    let rows = at(S, "\"2100-06-01T10:00:00Z\"");
    let told = rows.replace("2100-06-01T10:00:00Z", "2026-11-19T10:00:00Z");
    let mixed = format!("{}\n{}\n", rows.lines().next().unwrap(), told.lines().nth(1).unwrap());
    grown(&world.transcript(&format!("-p/{S}.jsonl"), mixed));
    world.digest(&EXTRACT);
    assert!(world.pages().iter().all(|(name, _)| name.contains("2026-11-19")), "{:?}", world.pages());
}

#[test]
fn a_last_day_that_has_none_after_it_has_its_page() {
    // What another program exported of such a clock.
    let source = World::new();
    source.transcript(&format!("-p/{S}.jsonl"), asked(S, 1));
    source.digest(&EXTRACT);
    let exported = source.recall(["export"]).out;
    for at in [253_402_207_200_000_i64, -377_705_023_201_000] {
        let world = World::new();
        let lines = exported.lines().map(|line| format!("{}\n", at_that_time(serde_json::from_str(line).unwrap(), at)));
        std::fs::write(world.root().join("all.jsonl"), lines.collect::<String>()).unwrap();
        let imported = world.recall(["import", "all.jsonl"]);
        assert_eq!(imported.code, 0, "{at}: {imported:#?}");
        assert_eq!(world.count("SELECT started_at FROM session"), at);
        assert!(crate::support::chunks::items(&world.database()).iter().all(|item| item.at == Some(at)), "{at}");
        for zone in ["Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"] {
            let ran = world.recall_with(["digest", "--summarizer", "extract", "--rebuild-pages"], &[("TZ", zone)]);
            assert!(ran.code < 2 && !ran.err.contains("panicked"), "{at} in {zone}: {ran:#?}");
            let shown = world.recall_with(["show", S, "--full"], &[("TZ", zone)]);
            assert_eq!(shown.code, 0, "{at} in {zone}: {shown:#?}");
        }
    }
}

#[test]
fn times_that_run_backwards_change_no_order() {
    let world = World::new();
    let row = |n: usize, at: &str| {
        user(S, &format!("u{n}"), at, &format!("Question {n}: why is it slow?"))
            + &assistant(S, &format!("a{n}"), at, &format!("Answer {n}: the rates are read for every row."))
    };
    let times = ["2026-11-20T10:00:00Z", "2026-11-20T09:00:00Z", "2026-11-20T08:00:00+02:00", "2026-11-19T23:00:00Z"];
    let rows: String = times.iter().enumerate().map(|(n, at)| row(n, at)).collect();
    world.transcript(&format!("-p/{S}.jsonl"), rows);
    assert_eq!(world.recall(["digest", "--summarizer", "extract"]).code, 0);
    assert_eq!(crate::transcripts::questions(&world), crate::transcripts::numbered(0..4));
    let pages = world.pages();
    assert_eq!(pages.len(), 2, "{pages:#?}");
    assert!(pages.iter().all(|(name, _)| name.contains("2026-11-20")), "where its first prompt was: {pages:#?}");
    let places: Vec<_> = (0..4).map(|n| pages[1].1.find(&format!("Question {n}")).unwrap()).collect();
    assert!(places.is_sorted(), "{}", pages[1].1);
}

#[test]
fn an_hour_that_comes_twice_or_never_is_told_as_the_clock_showed_it() {
    // Berlin, 2026: the hour after 2:00 is missing on 29 March and comes twice on 25 October.
    for (times, span) in [
        (["2026-03-29T00:59:00Z", "2026-03-29T01:01:00Z"], "01:59–03:01"),
        (["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"], "02:30–02:30"),
        (["2026-10-24T21:59:00Z", "2026-10-24T22:01:00Z"], "23:59–2026-10-25 00:01"),
    ] {
        let world = World::new();
        world.transcript(
            &format!("-p/{S}.jsonl"),
            user(S, "u", times[0], "Why is it slow?") + &assistant(S, "a", times[1], "The rates are read for every row."),
        );
        world.digest(&EXTRACT);
        let day = world.pages().into_iter().find(|(name, _)| !name.contains("/sessions/")).unwrap().1;
        assert!(day.contains(span), "{span}: {day}");
    }
}
