//! How much a session may start with: the user's limit by the estimate, the client's in characters, and what is left out is counted.

use serde_json::Value;

use crate::hooks::payloads::{FOLDER, S, SHOP, configure, numbers, starts, talk, told};
use crate::support::World;

/// More sessions than are ever looked at one by one.
const MANY: usize = 320;

fn id(n: usize) -> String {
    format!("{n:08}-0000-4000-8000-000000000000")
}

/// A project of many sessions that left something open each, one an hour.
fn with_many() -> World {
    let world = World::new();
    for n in 0..MANY {
        let at = format!("2026-11-{:02}T{:02}:00:00Z", 1 + n / 24, n % 24);
        let (prompt, reply) = (
            format!("Cache the list of customers number {n}, please, and tell me what is left to do after that."),
            format!("The list number {n} is cached now.\n\n## Next steps\n\n- Look at file{n}.rs, function{n} and table{n}, too\n"),
        );
        world.transcript(&format!("{FOLDER}/{}.jsonl", id(n)), talk(&id(n), &at, &prompt, &reply));
    }
    assert_eq!(world.digest(&["--summarizer", "extract"])["sessions_digested"], MANY);
    world
}

fn shown(numbers: &Value) -> Vec<&str> {
    numbers["sessions_shown"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect()
}

#[test]
fn whatever_the_limit_is_it_holds_and_everything_is_counted() {
    let world = with_many();
    let mut before = 0;
    for tokens in ["120", "300", "301", "1000", "2000", "2800", "100000", "18446744073709551615"] {
        let all = numbers(&world, SHOP, &["--max-tokens", tokens]);
        let text = all["text"].as_str().unwrap();
        let used = all["tokens"].as_u64().unwrap();
        assert!(used <= tokens.parse().unwrap() && used as usize == (text.len() * 2).div_ceil(7), "{tokens}: {all:#}");
        assert!(text.chars().count() < 10_000, "{tokens}: {}", text.chars().count());
        assert_eq!(shown(&all).len() + all["sessions_left_out"].as_u64().unwrap() as usize, MANY, "{tokens}: {all:#}");
        // Newest first, without a gap.
        let newest: Vec<String> = (0..MANY).rev().take(shown(&all).len()).map(id).collect();
        assert_eq!(shown(&all), newest, "{tokens}");
        assert!(used >= before, "more room, more said: {tokens}");
        before = used;
    }
    assert!(before > 2500, "the client's limit is made use of: {before}");
    session_start_holds_the_configured_limit(&world);
}

fn session_start_holds_the_configured_limit(world: &World) {
    for (n, tokens) in [0, 1, 300, 100_000].into_iter().enumerate() {
        configure(world, &format!("max_inject_tokens = {tokens}\n"));
        let text = told(world, &starts(world, &format!("{n}{}", &S[1..]), "startup")).unwrap_or_default();
        assert!((text.len() * 2).div_ceil(7) <= tokens && text.chars().count() < 10_000, "{tokens}: {text}");
        assert_eq!(text.is_empty(), tokens < 2, "{tokens}");
        assert_eq!(world.recall(["context", "--cwd", SHOP]).out, text, "{tokens}");
    }
}

#[test]
fn letters_of_many_bytes_are_counted_as_such() {
    let world = World::new();
    for n in 0..40 {
        let (prompt, reply) = (format!("第{n}次会话：").repeat(30), "已完成：所有测试都通过了，因为缓存。".repeat(30));
        world.transcript(&format!("{FOLDER}/{}.jsonl", id(n)), talk(&id(n), "2026-11-20T10:00:00Z", &prompt, &reply));
    }
    world.digest(&["--summarizer", "extract"]);
    for tokens in ["300", "2000", "100000"] {
        let all = numbers(&world, SHOP, &["--max-tokens", tokens]);
        let text = all["text"].as_str().unwrap();
        assert!((text.len() * 2).div_ceil(7) <= tokens.parse().unwrap() && text.chars().count() < 10_000, "{tokens}: {all:#}");
        assert!(text.contains('第'), "{text}");
    }
}
