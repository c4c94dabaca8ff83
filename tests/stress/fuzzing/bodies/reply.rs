//! Summarizer replies: what is taken of one is within its bounds, cites only rows the model was shown and says nothing to a terminal.

use std::sync::LazyLock;

use recall::testing::analyze::verify::verify;
use recall::testing::model::section::Section;
use recall::testing::model::session::{Entry, FileTouch, Item, Project, RecordKey, Session, ToolUse, Touch};
use recall::testing::privacy::Sanitizer;
use recall::testing::summarize::claude::report;
use recall::testing::summarize::{Attempt, ModelRequest, reply};

use super::{acts, secrets};

static SESSION: LazyLock<Session> = LazyLock::new(session);
/// What the user and the assistant say.
const SAID: [&str; 2] = [
    "page the order list by date, with a cursor",
    "The order list is paged by date and id now; the test passes. A cursor came to no harm, and `LIMIT` stays.",
];
static SANITIZER: LazyLock<Sanitizer> = LazyLock::new(Sanitizer::shipped);
static SECRETS: LazyLock<[String; 4]> = LazyLock::new(secrets);

pub fn check(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let rows = SESSION.entries.iter().map(|entry| entry.key).collect();
    let request = ModelRequest { rows, open: vec!["n12345678".into()], ..ModelRequest::default() };
    match choice & 1 {
        0 => one(&text, &request),
        _ => printed(rest, &request),
    }
}

fn one(text: &str, request: &ModelRequest) {
    let Ok(mut digest) = reply::read(text, request) else { return };
    assert!(!digest.title.is_empty() && digest.title.chars().count() <= 121 && !digest.request.is_empty());
    assert!(digest.texts().all(|said| !said.contains(acts) && !said.contains('\n') && said.chars().count() <= 601), "{digest:?}");
    assert!(Section::all().all(|section| digest[section].len() <= 24));
    assert!(digest.closes.is_empty() && digest.closes_left_out.iter().all(|claimed| request.open.contains(&claimed.id)));
    verify(&mut digest, &SESSION);
    for (_, claim) in digest.statements() {
        assert!(claim.rows.len() <= 3 && claim.rows.iter().all(|row| request.rows.contains(row)), "{claim:?}");
        let told = if claim.claimed.is_some() { claim.text.as_str() } else { "" };
        let quoted = told.split('“').skip(1).filter_map(|part| part.split('”').next()).flat_map(|part| part.split(" … "));
        assert!(quoted.into_iter().all(|part| SAID.iter().any(|said| said.contains(part))), "nobody said that: {claim:?}");
    }
    let files = &digest[Section::Files];
    assert!(files.iter().all(|file| file.rows.is_empty() || file.text.contains("orders")), "{files:?}");
    let mut again = digest.clone();
    verify(&mut again, &SESSION);
    assert_eq!(again, digest, "what was verified once is verified");
    let stored = serde_json::to_vec(&digest).expect("a digest is JSON");
    assert_eq!(serde_json::from_slice::<recall::testing::model::digest::Digest>(&stored).expect("it is read again"), digest);
}

/// All that the client prints, the reply in it.
fn printed(stdout: &[u8], request: &ModelRequest) {
    match report::read(stdout, &|said| reply::read(said, request).map(drop), "haiku") {
        Attempt::Answered(answer) => assert!(answer.cost_usd.is_none_or(|usd| usd.is_finite() && usd >= 0.0)),
        Attempt::Failed(failure) => assert!(failure.to_string().chars().count() <= 250, "{failure}"),
        Attempt::Retry(what) => assert!(what.chars().count() <= 161 && !what.contains(acts), "{what:?}"),
    }
    let is_json = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
    assert!(!is_json(stdout) || is_json(&report::redacted(stdout, &SANITIZER)));
    // A model may say what it was never given.
    for secret in SECRETS.iter().filter(|secret| !String::from_utf8_lossy(stdout).contains(secret.as_str())) {
        let told = serde_json::json!({"result": format!("{}\n{secret}", String::from_utf8_lossy(stdout)), secret: 1}).to_string();
        let told = String::from_utf8(report::redacted(told.as_bytes(), &SANITIZER)).expect("it is text");
        assert!(!told.contains(secret), "{told}");
    }
}

fn session() -> Session {
    let tool = ToolUse::new(
        "t1",
        "Edit",
        "shop/orders.py",
        Some(FileTouch { path: "/src/shop/orders.py".into(), how: Touch::Edited, added: 3, removed: 1 }),
    );
    let items = [Item::Prompt(SAID[0].into()), Item::Tool(tool), Item::Reply(SAID[1].into())];
    let entries = (1..).zip(items).map(|(n, item)| Entry {
        key: RecordKey([n; 16]),
        at: Some(i64::from(n)),
        agent: None,
        item,
        outcome: None,
    });
    Session {
        id: "s".into(),
        project: Project { key: "/src/shop".into() },
        cwd: Some("/src/shop".into()),
        branches: Vec::new(),
        versions: Vec::new(),
        end_reason: None,
        client: Default::default(),
        entries: entries.collect(),
        evidence: Vec::new(),
        evident: true,
        usage: Default::default(),
        agents: 0,
        left_out: Default::default(),
        told: None,
        otherwise_at: 0,
    }
}
