//! Sums of what sessions took, and who sees them.

use crate::server::{BANK, SHOP, server};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use team::{Access, Client, Record, RecordId, USAGE, UsageBy, UsageSums};

const BOTH: Access = Access::ReadWrite;

fn session(project: &str, id: &str, usage: Value) -> Record {
    let id = RecordId { project: project.into(), kind: USAGE.into(), id: id.into() };
    Record { id, version: 1, body: json!({ "usage": usage }), search: String::new() }
}

fn used(day: &str, model: &str, input: u64, cost: Option<f64>) -> Value {
    json!({"day": day, "model": model, "input": input, "output": 1, "cache_write": 2, "cache_read": 3, "cost_usd": cost})
}

fn sums(client: &mut Client, by: UsageBy, since: &str) -> UsageSums {
    client.usage(&[SHOP, BANK], by, since, Instant::now() + Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"))
}

/// Name, sessions and input of each row.
fn rows(sums: &UsageSums) -> Vec<(&str, u64, u64)> {
    sums.rows.iter().map(|row| (row.name.as_str(), row.sessions, row.input)).collect()
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn sums_are_of_what_the_member_may_read_and_each_session_counts_once() {
    let Some(server) = server() else { return };
    let _team = server.team(&[
        ("anna", &[(SHOP, BOTH), (BANK, BOTH)]),
        ("ben", &[(SHOP, BOTH)]),
        ("carl", &[]),
        ("dora", &[(SHOP, Access::Write)]),
    ]);
    let mut anna = server.client("anna");
    let two_days = json!([used("2026-11-19", "opus", 100, Some(1.5)), used("2026-11-20", "secret-model", 10, None)]);
    anna.push(&[session(SHOP, "s1", two_days.clone()), session(BANK, "s2", json!([used("2026-11-20", "opus", 1000, Some(4.0))]))])
        .unwrap();
    // The same session from another machine of hers, which shared it last.
    let mut other = Client::join(&server.address("anna", "team"), "other-desk", crate::server::patient()).unwrap();
    other.push(&[session(SHOP, "s1", two_days)]).unwrap();
    let mut ben = server.client("ben");
    ben.push(&[session(SHOP, "s1", json!([used("2026-11-20", "opus", 7, Some(0.5))]))]).unwrap();
    server.client("dora").push(&[session(SHOP, "s9", json!([used("2026-11-20", "haiku", 5, Some(0.1))]))]).unwrap();

    let all = sums(&mut anna, UsageBy::Author, "2026-01-01");
    assert_eq!(rows(&all), [("anna", 2, 1110), ("ben", 1, 7), ("dora", 1, 5)]);
    assert_eq!(
        (all.total.sessions, all.total.input, all.total.output, all.total.cache_write, all.total.cache_read),
        (4, 1122, 5, 10, 15)
    );
    assert!((all.total.cost_usd - 6.1).abs() < 1e-9, "{all:?}");
    assert_eq!(all.total.unpriced, ["secret-model"]);
    assert_eq!(rows(&sums(&mut anna, UsageBy::Project, "2026-01-01")), [(BANK, 1, 1000), (SHOP, 3, 122)]);
    assert_eq!(rows(&sums(&mut anna, UsageBy::Day, "2026-11-20")), [("2026-11-20", 4, 1022)]);
    assert_eq!(rows(&sums(&mut anna, UsageBy::Model, "2026-01-01")), [("haiku", 1, 5), ("opus", 3, 1107), ("secret-model", 1, 10)]);

    // Ben does not see the bank, Carl nothing, and Dora, who only writes, what is her own.
    assert_eq!(rows(&sums(&mut ben, UsageBy::Author, "2026-01-01")), [("anna", 1, 110), ("ben", 1, 7), ("dora", 1, 5)]);
    assert_eq!(sums(&mut server.client("carl"), UsageBy::Author, "2026-01-01"), UsageSums::default());
    assert_eq!(rows(&sums(&mut server.client("dora"), UsageBy::Author, "2026-01-01")), [("dora", 1, 5)]);
    // Nor with SQL of their own.
    let sql =
        "SELECT f.name FROM recall_team.usage_by(1, ARRAY[1, 2, 3]::bigint[], 'project', '') f WHERE NOT f.is_total ORDER BY 1";
    for (login, sees) in [("anna", &[BANK, SHOP][..]), ("ben", &[SHOP]), ("carl", &[]), ("dora", &[SHOP])] {
        let seen: Vec<String> = server.sql(login, "team", sql).unwrap().into_iter().flatten().collect();
        assert_eq!(seen, sees, "{login}");
    }
    server.admin("CREATE ROLE stranger LOGIN");
    assert!(server.sql("stranger", "team", sql).expect_err("a stranger").contains("permission denied"));
    // Who leaves is in no sum.
    ben.leave().unwrap();
    assert_eq!(rows(&sums(&mut anna, UsageBy::Author, "2026-01-01")), [("anna", 2, 1110), ("dora", 1, 5)]);
}

#[test]
#[ignore = "starts a PostgreSQL server: RECALL_TEST_POSTGRES=1"]
fn what_one_member_writes_wrong_spoils_no_sum() {
    let Some(server) = server() else { return };
    let _team = server.team(&[("anna", &[(SHOP, BOTH)])]);
    let mut anna = server.client("anna");
    let wrong = json!([
        {"day": "2026-11-20", "model": "opus", "input": "many", "output": -5, "cache_write": 1e300, "cache_read": [1], "cost_usd": {}},
        {"day": "yesterday", "model": "opus", "input": 1},
        {"day": 20, "input": 1},
        "2026-11-20", 7, null, [],
        {"day": "2026-11-20"},
    ]);
    let records: Vec<Record> = [json!("none"), json!({"day": "2026-11-20"}), Value::Null, wrong]
        .into_iter()
        .enumerate()
        .map(|(n, usage)| session(SHOP, &format!("s{n}"), usage))
        .collect();
    anna.push(&records).unwrap();
    anna.push(&[session(SHOP, "good", json!([used("2026-11-20", "opus", 7, Some(0.5))]))]).unwrap();
    let all = sums(&mut anna, UsageBy::Day, "");
    assert_eq!((all.rows[0].input, all.rows[0].output, all.rows[0].cost_usd), (7, 1, 0.5), "{all:?}");
}
