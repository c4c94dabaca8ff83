//! Spending against the caps: of a run and of a day, with several calls at once, several processes, and clocks that are wrong.

use std::process::Stdio;

use proptest::prelude::*;
use serde_json::Value;

use crate::summarizer::many_sessions::{BLOG, Many, id};
use crate::support::World;
use crate::support::size::number;
use crate::support::stand_in::{form, report, said};

/// What a call of the stand-in comes to.
#[derive(Debug, Clone)]
enum Reply {
    /// A good answer at this cost, in cents.
    Good(f64),
    /// No form, at this cost.
    Prose(f64),
    /// A good answer that does not say what it cost.
    Untold,
    Dies,
    /// Until it is killed.
    Hangs,
}

impl Reply {
    fn script(&self) -> String {
        match self {
            // A busy machine may not get this far in the time there is.
            Reply::Good(_) | Reply::Prose(_) | Reply::Untold => "cat \"$here/reply.$q\"; echo >> \"$here/printed.$q\"".into(),
            Reply::Dies => "kill -9 $$".into(),
            Reply::Hangs => "sleep 60".into(),
        }
    }

    fn text(&self) -> String {
        match self {
            Reply::Good(cents) => report(&form(), cents / 100.0),
            Reply::Prose(cents) => said("I'd rather talk about it.", cents / 100.0),
            _ => report(&form(), 0.0).replace("total_cost_usd", "cost_in_another_currency"),
        }
    }
}

fn reply(dearest: f64) -> impl Strategy<Value = Reply> {
    prop_oneof![
        6 => (0.0..dearest).prop_map(Reply::Good),
        2 => (0.0..dearest).prop_map(Reply::Prose),
        1 => Just(Reply::Untold),
        1 => Just(Reply::Dies),
        1 => Just(Reply::Hangs),
    ]
}

/// The rows of money: the session, what was reserved and what it came to.
fn spend(world: &World) -> Vec<(String, f64, Option<f64>)> {
    let db = world.database();
    let mut rows =
        db.prepare("SELECT session, reserved_usd, actual_usd FROM spend WHERE session <> '' ORDER BY pk").expect("the rows");
    let rows = rows.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))).expect("the rows");
    rows.collect::<Result<_, _>>().expect("the rows")
}

fn sum(rows: &[(String, f64, Option<f64>)]) -> f64 {
    rows.iter().map(|(_, reserved, actual)| actual.unwrap_or(*reserved)).sum()
}

/// How many random days of spending are tried; a big run sets more.
fn cases() -> u32 {
    number("RECALL_SPENDS", 4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn no_run_and_no_day_costs_more_than_it_may(
        replies in proptest::collection::vec(reply(2.0), 8), run in 4.0..12.0f64, day in 4.0..20.0f64, parallel in 1usize..5
    ) {
        let many = day_of(&replies, run, day, parallel);
        let mut before = 0.0;
        for _ in 0..3 {
            many.stand_in.recall(&["digest"]);
            let spent = sum(&spend(&many.stand_in.world));
            prop_assert!(spent - before <= run / 100.0 + 1e-9, "the run: {}", spent - before);
            prop_assert!(spent <= day / 100.0 + 1e-9, "the day: {spent}");
            before = spent;
        }
        every_call_is_counted(&many, &replies)?;
    }

    #[test]
    fn calls_that_cost_more_than_they_can_pass_a_cap_by_one_of_them(
        replies in proptest::collection::vec(reply(30.0), 8), day in 4.0..20.0f64
    ) {
        let many = day_of(&replies, 1000.0, day, 1);
        (0..3).for_each(|_| drop(many.stand_in.recall(&["digest"])));
        let rows = spend(&many.stand_in.world);
        let dearest = rows.iter().map(|(_, reserved, actual)| actual.unwrap_or(*reserved)).fold(0.0, f64::max);
        prop_assert!(sum(&rows) <= day / 100.0 + dearest + 1e-9, "{rows:?}");
        every_call_is_counted(&many, &replies)?;
    }
}

fn day_of(replies: &[Reply], run: f64, day: f64, parallel: usize) -> Many {
    let scripts = replies.iter().enumerate().map(|(at, reply)| format!("{}) {};;\n", at + 1, reply.script()));
    let many = Many::new(replies.len(), &format!("case $q in\n{}esac", scripts.collect::<String>()));
    for (at, reply) in replies.iter().enumerate() {
        many.stand_in.put(&format!("reply.{}", at + 1), &reply.text());
    }
    many.stand_in.world.configure(&format!(
        "[digest]\ntimeout_seconds = 1\nmax_cost_usd = {}\nmax_cost_usd_per_day = {}\nparallel_calls = {parallel}\n",
        run / 100.0,
        day / 100.0
    ));
    many
}

/// A row a call, with its cost where that was told and its worst where it was not, as where the answer was cut off by the time.
fn every_call_is_counted(many: &Many, replies: &[Reply]) -> Result<(), TestCaseError> {
    let rows = spend(&many.stand_in.world);
    let asked = many.asked();
    for (at, reply) in replies.iter().enumerate() {
        let own: Vec<_> = rows.iter().filter(|(session, ..)| *session == id(at + 1)).collect();
        prop_assert_eq!(own.len(), asked[at], "{:?}", reply);
        prop_assert!(own.iter().all(|(_, reserved, _)| *reserved > 0.02));
        let told: Vec<f64> = own.iter().filter_map(|(.., actual)| *actual).collect();
        match reply {
            Reply::Good(cents) | Reply::Prose(cents) => {
                let printed = std::fs::read(many.stand_in.here().join(format!("printed.{}", at + 1))).map_or(0, |all| all.len());
                prop_assert!(told.len() >= printed, "{} of {} are told", told.len(), printed);
                prop_assert!(told.iter().all(|usd| (usd - cents / 100.0).abs() < 1e-9), "{:?}: {:?}", reply, told);
            }
            Reply::Untold | Reply::Dies | Reply::Hangs => prop_assert_eq!(told, Vec::<f64>::new()),
        }
    }
    Ok(())
}

#[test]
fn processes_side_by_side_share_the_cap_of_the_day() {
    // A digest, and questions about topics while it runs. Each call may cost nearly three cents; there are twenty.
    let many = Many::new(12, "until [ -e \"$here/go\" ]; do sleep 0.05; done; cat \"$here/dear\"");
    many.stand_in.recall(&["digest", "--summarizer", "extract"]);
    many.stand_in.put("dear", &report(&form(), 0.02));
    many.stand_in
        .world
        .configure("[digest]\nmodel = \"claude-haiku-4-5\"\nmax_cost_usd_per_day = 0.2\nmax_cost_usd = 0.2\nparallel_calls = 3\n");
    let start = |args: &[&str]| {
        many.stand_in.world.process().args(args).stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("recall starts")
    };
    let mut all = vec![start(&["digest", "--summarizer", "claude"])];
    for n in 0..12 {
        all.push(start(&["context", "-c", &format!("why is the feed empty {n}"), "--cwd", BLOG]));
    }
    // None of them is answered before there are as many as may be.
    crate::support::stand_in::eventually("the cap is reserved", || many.stand_in.calls().len() >= 6);
    many.stand_in.put("go", "");
    for mut one in all {
        assert!(one.wait().expect("it ends").code().is_some_and(|code| code < 2));
    }
    let rows = spend(&many.stand_in.world);
    assert!(sum(&rows) <= 0.2, "{rows:?}");
    assert!(rows.iter().any(|(name, ..)| name.starts_with("topic-")) && rows.len() >= 6, "{rows:?}");
}

#[test]
fn what_a_digest_has_reserved_is_not_there_for_a_question() {
    let many = Many::new(1, "until [ -e \"$here/go\" ]; do sleep 0.05; done; cat \"$here/good\"");
    many.stand_in.recall(&["digest", "--summarizer", "extract"]);
    many.stand_in.put("good", &report(&form(), 0.001));
    many.stand_in.world.configure("[digest]\nmodel = \"claude-haiku-4-5\"\nmax_cost_usd_per_day = 0.04\n");
    let mut digest = many.stand_in.world.process().args(["digest", "--summarizer", "claude"]).spawn().expect("recall starts");
    crate::support::stand_in::eventually("the client was called", || many.stand_in.left_in_call(1, "question").is_some());
    let ask = || many.stand_in.recall(&["context", "-c", "why is the feed empty", "--cwd", BLOG]);
    let ran = ask();
    assert!(ran.code == 0 && ran.err.contains("over the budget of the day"), "{ran:#?}");
    many.stand_in.put("go", "");
    assert_eq!(digest.wait().expect("it ends").code(), Some(0));
    assert_eq!(many.stand_in.calls().len(), 1);
    // It cost less than it could have: now there is room.
    assert!(!ask().err.contains("budget"));
    assert_eq!(many.stand_in.calls().len(), 2);
}

/// Runs a digest at this time by the clock.
fn digest_at(many: &Many, at: &str) -> usize {
    let before = many.stand_in.calls().len();
    let ran = many.stand_in.world.recall_with(["digest"], &[("RECALL_NOW", at)]);
    assert!(ran.code < 2, "{ran:#?}");
    many.stand_in.calls().len() - before
}

#[test]
fn a_clock_that_was_ahead_neither_opens_the_cap_again_nor_keeps_it_shut() {
    let many = Many::new(12, "cat \"$here/dear\"");
    many.stand_in.put("dear", &said("Not a word of JSON.", 0.02));
    many.stand_in.world.configure("[digest]\nmodel = \"claude-haiku-4-5\"\nmax_cost_usd_per_day = 0.06\n");
    assert_eq!(digest_at(&many, "2036-11-21T12:00:00Z"), 2, "there is room for two");
    assert_eq!(digest_at(&many, "2026-11-21T12:00:00Z"), 0, "what was spent ten years on was spent just now");
    assert_eq!(digest_at(&many, "2026-11-21T13:00:00Z"), 0);
    assert_eq!(digest_at(&many, "2026-11-22T12:00:00Z"), 2, "and is over the next day");
    assert_eq!(digest_at(&many, "2026-11-22T13:00:00Z"), 0);
    assert_eq!(digest_at(&many, "2026-11-21T13:00:00Z"), 0, "a clock that goes back gives nothing back");
    assert_eq!(digest_at(&many, "2026-11-22T14:00:00Z"), 0);
    assert_eq!(digest_at(&many, "2026-11-23T12:00:00Z"), 2);
}

/// A zone in which the day ends at this second.
fn zone_of_midnight(at: i64) -> String {
    let west = at.rem_euclid(86_400);
    let (sign, off) = if west > 43_200 { ("-", 86_400 - west) } else { ("", west) };
    format!("XXX{sign}{:02}:{:02}:{:02}", off / 3600, off / 60 % 60, off % 60)
}

/// What was spent before a second and from it on, by a digest that began a few seconds before it and went on after it.
fn spent_around_midnight(left: i64) -> (i64, f64, f64) {
    let many = Many::new(8, "cat \"$here/dear\"; until [ -e \"$here/midnight\" ]; do sleep 0.05; done");
    many.stand_in.put("dear", &report(&form(), 0.02));
    many.stand_in
        .world
        .configure("[digest]\nmodel = \"claude-haiku-4-5\"\nmax_cost_usd_per_day = 0.06\nmax_cost_usd = 1.0\nparallel_calls = 1\n");
    let midnight = jiff::Timestamp::now().as_second() + left;
    let mut command = many.stand_in.world.process();
    command.args(["digest", "--settle", "0s"]).env_remove("RECALL_NOW").env("TZ", zone_of_midnight(midnight));
    let mut digest = command.spawn().expect("recall starts");
    crate::support::stand_in::eventually("the client was called", || many.stand_in.left_in_call(1, "question").is_some());
    crate::support::stand_in::eventually("midnight", || jiff::Timestamp::now().as_second() > midnight);
    many.stand_in.put("midnight", "");
    assert!(digest.wait().expect("it ends").code().is_some_and(|code| code < 2));
    let db = many.stand_in.world.database();
    let sum = |when: &str| -> f64 {
        let sql = format!("SELECT coalesce(sum(coalesce(actual_usd, reserved_usd)), 0.0) FROM spend WHERE at {when} ?1");
        db.query_row(&sql, [midnight * 1000], |r| r.get(0)).expect("a sum")
    };
    let before = db.query_row("SELECT count(*) FROM spend WHERE at < ?1", [midnight * 1000], |r| r.get(0)).expect("a number");
    (before, sum("<"), sum(">="))
}

#[test]
fn what_is_spent_after_midnight_counts_for_the_new_day() {
    // A busy machine may take longer to start than there is of the day: then the next try has more of it.
    let (_, before, after) = (1..).map(|n| spent_around_midnight(2 * n)).find(|(calls, ..)| *calls > 0).expect("a try in time");
    assert!((before - 0.02).abs() < 1e-9, "the call before midnight is of the old day: {before}");
    assert!(after > 0.03 && after <= 0.06 + 1e-9, "the run goes on with the budget of the new day: {after}");
}

#[test]
fn a_reply_that_cannot_be_read_is_not_asked_for_again_without_money() {
    let many = Many::that_get(&[report(&form(), 0.01)]);
    let sums = |many: &Many| (spend(&many.stand_in.world).len(), many.asked()[0]);
    many.digest_all();
    assert_eq!(sums(&many), (1, 1));
    // A folder where a reply would lie: something of that name is there, and nothing can be read from it.
    let db = many.stand_in.world.database();
    let hash: Vec<u8> = db.query_row("SELECT input_hash FROM digest WHERE superseded = 0", [], |r| r.get(0)).expect("a hash");
    drop(db);
    let name: String = hash[..16].iter().map(|b| format!("{b:02x}")).collect();
    std::fs::create_dir_all(many.stand_in.world.data_dir().join("replies").join(format!("{name}.json"))).expect("a folder");
    let ran = many.stand_in.recall(&["digest", "--session", &id(1)]);
    assert!(ran.code < 2, "{ran:#?}");
    assert_eq!(sums(&many), (2, 2), "a call, and money for it: {ran:#?}");
    let told: Value = many.show(1);
    assert!(told["digest"]["title"].is_string(), "{told:#}");
}
