use proptest::prelude::*;

use super::*;
use crate::model::digest::FileNote;
use crate::model::session::{FileTouch, Outcome, Project, RecordKey, ToolUse};
use crate::render::brief::frame::DigestCoverage;
use crate::text::budget::tokens;

fn entry(at: usize, item: Item) -> Entry {
    let key = RecordKey((at as u128).to_be_bytes());
    Entry { key, at: Some(1_795_000_000_000 + at as i64 * 60_000), agent: None, item, outcome: None }
}

fn session(items: Vec<Item>) -> Session {
    Session {
        id: "64b0b6d9-e371-40e8-affe-78e0505dfb3f".into(),
        project: Project { key: "/home/dev/src/shop".into() },
        cwd: None,
        branches: vec!["main".into()],
        versions: vec![],
        end_reason: None,
        entries: items.into_iter().enumerate().map(|(at, item)| entry(at, item)).collect(),
        evidence: Vec::new(),
        evident: true,
        usage: Default::default(),
        agents: 0,
        left_out: Default::default(),
    }
}

fn claim(text: &str, row: usize) -> Claim {
    Claim { text: text.into(), rows: vec![RecordKey((row as u128).to_be_bytes())] }
}

fn edit(path: &str) -> Item {
    let file = FileTouch { path: path.into(), how: Touch::Edited, added: 3, removed: 1 };
    Item::Tool(ToolUse { id: String::new(), name: "Edit".into(), line: path.into(), file: Some(file) })
}

fn told(session: &Session, digest: &Digest, closed: &[String]) -> String {
    let told = BriefInput {
        facts: FrameFacts {
            session,
            title: &digest.title,
            state: DigestCoverage::Whole,
            never: None,
            repeated_by: None,
            id: "64b0b6d9",
        },
        digest,
        closed,
    };
    write(&told, &TimeZone::UTC, 1_000)
}

/// The lines of the section with this label.
fn section<'t>(text: &'t str, label: &str) -> Vec<&'t str> {
    let from = text.lines().skip_while(|line| !line.starts_with(label)).skip(1);
    from.take_while(|line| line.starts_with("- ")).map(|line| &line[2..]).collect()
}

fn many(what: &str, n: usize) -> Vec<String> {
    (0..n)
        .map(|at| format!("{what} number {at} of the importer, with the currency and the rates in mind, as the office wants it"))
        .collect()
}

#[test]
fn of_a_large_session_every_kind_is_told_and_the_last_of_it_first() {
    let session = session((0..60).map(|n| edit(&format!("/home/dev/src/shop/src/part_{n:02}.rs"))).collect());
    let claims = |what: &str| many(what, 30).iter().map(|text| claim(text, 1)).collect();
    let digest = Digest {
        title: "The importer".into(),
        request: "Make the importer fast. ".repeat(60),
        completed: many("Completed", 40),
        learned: many("Learned", 40),
        investigated: many("Looked at", 40),
        decisions: claims("Decision"),
        next_steps: claims("Step"),
        blockers: claims("Blocker"),
        ..Digest::default()
    };
    let text = told(&session, &digest, &[]);
    assert!((900..=1_000).contains(&tokens(&text)), "{} tokens: {text}", tokens(&text));
    for label in ["Asked: ", "Outcome (", "Decided (", "Open (", "Learned (", "Files ("] {
        assert!(text.contains(&format!("\n{label}")), "{label}: {text}");
    }
    let outcome = section(&text, "Outcome");
    assert!(outcome.last().is_some_and(|line| line.starts_with("Completed number 39")), "{text}");
    assert!(outcome.len() >= section(&text, "Looked into").len(), "{text}");
    assert!(text.ends_with("`recall timeline 64b0b6d9`\n"), "{text}");
}

#[test]
fn a_decision_without_its_reason_gets_the_one_that_stands_beside_it() {
    let reply =
        "We use keyset pagination for the order list. That is because a row count moves whenever an order ships. All tests pass.";
    let session = session(vec![Item::Reply(reply.into()), Item::Reply("Dropped the cache because it was stale.".into())]);
    let digest = Digest {
        decisions: vec![
            claim("Keyset pagination for the order list", 0),
            claim("Dropped the cache because it was stale", 1),
            Claim { text: "Prices are in francs".into(), rows: vec![] },
        ],
        ..Digest::default()
    };
    assert_eq!(
        section(&told(&session, &digest, &[]), "Decided"),
        [
            "Keyset pagination for the order list — That is because a row count moves whenever an order ships.",
            "Dropped the cache because it was stale",
            "Prices are in francs (unverified)",
        ]
    );
}

#[test]
fn what_failed_is_told_with_what_helped_and_once() {
    let run = |ok: bool, at: usize| Entry {
        outcome: Some(Outcome { tool: String::new(), ok, brief: if ok { String::new() } else { "1 test failed".into() } }),
        ..entry(at, Item::Tool(ToolUse { id: String::new(), name: "Bash".into(), line: "cargo test".into(), file: None }))
    };
    let mut session = session(vec![]);
    session.entries = vec![run(false, 0), entry(1, edit("/home/dev/src/shop/src/page.rs")), run(true, 2)];
    let learned = vec![
        "Changes to src/page.rs made `cargo test` pass, which had failed: 1 test failed".to_owned(),
        "It was the cursor.".to_owned(),
    ];
    let text = told(&session, &Digest { learned, ..Digest::default() }, &[]);
    assert_eq!(section(&text, "Failed"), ["`cargo test`: output “1 test failed” — passed after changes to src/page.rs"]);
    assert_eq!(section(&text, "Learned"), ["It was the cursor."]);
    assert!(text.contains("\nFiles: src/page.rs +3 −1\n"), "{text}");
}

#[test]
fn only_what_is_still_open_has_its_id() {
    let session = session(vec![]);
    let digest = Digest {
        next_steps: vec![claim("Add the index", 0), claim("Move the export", 0)],
        blockers: vec![claim("No access", 0)],
        ..Digest::default()
    };
    let ids: Vec<String> = digest.open_items(&session.id).map(|(id, ..)| id).collect();
    let text = told(&session, &digest, &ids[..1]);
    assert_eq!(section(&text, "Open"), [format!("{} Move the export", ids[1]), format!("{} blocked: No access", ids[2])]);
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("\\PC{0,700}|[a-z .`/]{0,900}|<recall-context>|[\u{4e00}-\u{4e80}]{0,300}", 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_session_takes_more_than_its_tokens(
        title in "\\PC{0,400}", request in "\\PC{0,3000}", id in "\\PC{1,300}", key in "\\PC{1,4000}", branch in "\\PC{1,300}",
        completed in texts(), learned in texts(), decisions in texts(), steps in texts(), paths in texts(), commands in texts(),
    ) {
        let tool = |line: &String| Item::Tool(ToolUse { id: String::new(), name: "Bash".into(), line: line.clone(), file: None });
        let mut session = session(paths.iter().map(|path| edit(path)).chain(commands.iter().map(tool)).collect());
        for entry in &mut session.entries {
            entry.outcome = Some(Outcome { tool: String::new(), ok: matches!(&entry.item, Item::Tool(tool) if tool.file.is_some()), brief: request.clone() });
        }
        (session.id, session.project.key, session.branches) = (id.clone(), key, vec![branch]);
        let claims = |texts: &[String]| texts.iter().map(|text| claim(text, 1)).collect::<Vec<_>>();
        let files = paths.iter().map(|path| FileNote { path: path.clone(), verified: true }).collect();
        let digest = Digest { title, request, completed, learned, decisions: claims(&decisions), next_steps: claims(&steps), files, ..Digest::default() };
        let told = BriefInput {
            facts: FrameFacts { session: &session, title: &digest.title, state: DigestCoverage::SoFar, never: None, repeated_by: Some(id.clone()), id: &id },
            digest: &digest,
            closed: &[],
        };
        let text = write(&told, &TimeZone::UTC, 1_000);
        prop_assert!(tokens(&text) <= 1_000, "{} tokens: {}", tokens(&text), text);
        prop_assert!(text.contains("--full") && !text.contains("<recall-context>"), "{}", text);
    }
}
