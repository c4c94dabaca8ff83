//! Times and numbers on the command line: what is accepted, and what is said of anything else.

use crate::support::{World, assistant, user};

/// What a parser of numbers or dates would say of itself.
const FOREIGN: [&str; 6] = ["invalid digit", "invalid float", "expected", "parse", "too large to fit", "cannot"];

/// Runs it and sees that it is refused in recall's own words, which name these.
fn refused(world: &World, args: &[&str], named: &[&str]) {
    let ran = world.recall(args);
    assert!(ran.code == 2 && ran.out.is_empty(), "{args:?}: {ran:#?}");
    assert!(FOREIGN.iter().all(|word| !ran.err.contains(word)), "{args:?}: {ran:#?}");
    assert!(named.iter().all(|part| ran.err.contains(part)), "{args:?}, {named:?}: {ran:#?}");
}

#[test]
fn every_time_that_means_nothing_is_answered_with_what_would() {
    let world = World::digested(&["plain"]);
    let ages: [&[&str]; 4] =
        [&["digest", "--since"], &["search", "page", "--since"], &["search", "page", "--before"], &["forget", "--yes", "--before"]];
    for text in ["y", "7x", "d", "2026-13-01", "2026-02-30", "über", "31.12.2026", ""] {
        for args in ages {
            let (option, before) = args.split_last().unwrap();
            let given = format!("{option}={text}");
            refused(&world, &[before, &[given.as_str()]].concat(), &[option, "7d", "2026-01-31", "yesterday"]);
        }
        refused(&world, &["digest", &format!("--settle={text}")], &["--settle", "30m", "12h", "7d"]);
        refused(&world, &["pause", "--", text], &["30m", "12h", "7d"]);
    }
    for text in ["99999999999999999999d", "9999999999999w"] {
        refused(&world, &["search", "page", "--since", text], &["--since", "7d"]);
        refused(&world, &["pause", text], &["30m"]);
    }
    refused(&world, &["search", "page", "--since=-009999-01-01"], &["--since", "2026-01-31"]);
    refused(&world, &["digest", "--settle=-5m"], &["--settle", "30m"]);
}

#[test]
fn every_number_that_is_none_is_answered_with_what_would_be() {
    let world = World::digested(&["plain"]);
    let session = "64b0b6d9";
    let counts: [&[&str]; 7] = [
        &["digest", "--limit"],
        &["digest", "--jobs"],
        &["search", "page", "--limit"],
        &["timeline", session, "--before"],
        &["timeline", session, "--after"],
        &["context", "--max-tokens"],
        &["doctor", "--keep-transcripts"],
    ];
    for args in counts {
        let option = args.last().unwrap();
        for text in ["x", "1.5", "-3", "ten", "99999999999999999999999"] {
            refused(&world, &[args, &[text]].concat(), &[option, "whole number", "such as"]);
        }
    }
    for text in ["x", "-1", "NaN", "inf", "$5"] {
        refused(&world, &["digest", "--max-cost", text], &["--max-cost", "such as 0.50"]);
    }
    for (args, range) in [(["search", "page", "--limit", "0"], "1 to 1000"), (["search", "page", "--limit", "1001"], "1 to 1000")] {
        refused(&world, &args, &[range]);
    }
    refused(&world, &["doctor", "--keep-transcripts", "0"], &["1 to 36500"]);
    // None would say that there are no sessions.
    for list in [&["list"][..], &["stats"], &["fix", "error: no"], &["friction"]] {
        refused(&world, &[list, &["-n", "0"]].concat(), &["--limit", "from 1"]);
    }
}

#[test]
fn today_and_yesterday_begin_at_midnight_here() {
    // It is 13:00 on the 21st, an hour ahead of UTC.
    let world = World::new();
    for (n, at) in ["2026-11-19T22:59", "2026-11-19T23:01", "2026-11-20T22:59", "2026-11-20T23:01"].into_iter().enumerate() {
        let id = format!("{n}aaaaaaa-1111-4111-8111-000000000001");
        let rows = user(&id, &format!("u{n}"), &format!("{at}:00Z"), "Mend the whistling kettle.")
            + &assistant(&id, &format!("a{n}"), &format!("{at}:10Z"), "It is mended.");
        world.transcript(&format!("-home-dev-src-shop/{id}.jsonl"), rows);
    }
    world.digest(&["--summarizer", "extract"]);
    let found = |args: &[&str]| {
        let ran = world.recall([&["search", "--json", "kettle"], args].concat());
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}");
        ran.out.lines().count()
    };
    assert_eq!((found(&["--since", "yesterday"]), found(&["--since", "Today"]), found(&["since:yesterday"])), (3, 1, 3));
    assert_eq!((found(&["--before", "yesterday"]), found(&["--before", "today"])), (1, 3));
    let ran = world.recall(["forget", "--before", "yesterday", "--dry-run"]);
    assert!(ran.out.contains("would forget 1 session whole"), "{ran:#?}");
}
