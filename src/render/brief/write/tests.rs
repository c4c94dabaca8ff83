use proptest::prelude::*;

use super::*;
use crate::analyze::account::SessionAccount;
use crate::model::digest::Claim;
use crate::model::item_state::{Closer, Closing, ItemState};
use crate::render::brief::frame::DigestCoverage;
use text::budget::tokens;
use transcripts::session::{Entry, FileTouch, Item, Outcome, Project, RecordKey, Session, Todo, ToolUse, Touch};

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
        client: Default::default(),
        entries: items.into_iter().enumerate().map(|(at, item)| entry(at, item)).collect(),
        evidence: Vec::new(),
        evident: true,
        usage: Default::default(),
        agents: 0,
        left_out: Default::default(),
        told: None,
        otherwise_at: 0,
    }
}

fn claim(text: &str, row: usize) -> Claim {
    Claim::supported(text, vec![RecordKey((row as u128).to_be_bytes())])
}

fn tool(name: &str, line: &str, file: Option<FileTouch>) -> Item {
    Item::Tool(ToolUse::new("", name, line, file))
}

fn edit(path: &str) -> Item {
    tool("Edit", path, Some(FileTouch { path: path.into(), how: Touch::Edited, added: 3, removed: 1 }))
}

fn told(session: &Session, claims: Option<ModelClaims<'_>>) -> String {
    let title = claims.map_or_else(String::new, |claims| claims.digest.title.clone());
    let facts = FrameFacts { session, title: &title, state: DigestCoverage::Whole, never: None, repeated_by: None, id: "64b0b6d9" };
    let account = SessionAccount::of(session, false);
    write(
        &BriefInput { facts, claims, account: &account, task_ids: &[], renamed: &[], since_then: &[] },
        &TimeZone::UTC,
        Listener::User,
        1_000,
    )
}

fn by_model<'a>(digest: &'a Digest, items: &'a ItemStates) -> Option<ModelClaims<'a>> {
    Some(ModelClaims { digest, by: "a model", items })
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

fn large_digest() -> Digest {
    let claims = |what: &str| many(what, 40).into_iter().map(|text| claim(&text, 1));
    Digest { title: "The importer".into(), request: "Make the importer fast. ".repeat(60), ..Digest::default() }
        .with(Section::Completed, claims("Completed"))
        .with(Section::Learned, claims("Learned"))
        .with(Section::Investigated, claims("Looked at"))
        .with(Section::Decisions, claims("Decision"))
        .with(Section::NextSteps, claims("Step"))
        .with(Section::Blockers, claims("Blocker"))
}

const CLAIMS: [&str; 5] = [
    "Asked, in a model's words: ", "Outcome, by a model (", "Decided, by a model (", "Open, by a model (", "Learned, by a model (",
];

#[test]
fn of_a_large_session_a_model_says_half_and_the_rest_is_quoted() {
    let turn = |n: usize| {
        let words = format!("Part {n}: {}", "the importer has to know every currency ".repeat(8));
        [Item::Prompt(words.clone()), edit(&format!("/home/dev/src/shop/src/part_{n:02}.rs")), Item::Reply(words.repeat(4))]
    };
    let session = session((0..30).flat_map(turn).collect());
    let text = told(&session, by_model(&large_digest(), &ItemStates::default()));
    assert!((900..=1_000).contains(&tokens(&text)), "{} tokens: {text}", tokens(&text));
    let mut at = 0;
    for label in CLAIMS.into_iter().chain(["Where it ended (", "What you said in each turn:", "Files: "]) {
        let found = text.find(&format!("\n{label}"));
        assert!(found.is_some_and(|found| found > at), "{label} in its place: {text}");
        at = found.unwrap_or_default();
    }
    assert!(section(&text, "Outcome").last().is_some_and(|line| line.starts_with("Completed number 39")), "{text}");
    let claims = text.find("\nWhere it ended").unwrap_or_default() - text.find("\nAsked").unwrap_or_default();
    let room = max_bytes(1_000) - text.find("\nAsked").unwrap_or_default();
    assert!((room / 3..=room / 2).contains(&claims), "{claims} bytes of {room}: {text}");
    assert!(text.ends_with("`recall timeline 64b0b6d9`\n"), "{text}");
}

#[test]
fn what_the_one_leaves_the_other_has() {
    let little = session(vec![Item::Prompt("Go on.".into()), Item::Reply("Done.".into())]);
    let text = told(&little, by_model(&large_digest(), &ItemStates::default()));
    assert!((900..=1_000).contains(&tokens(&text)), "{} tokens: {text}", tokens(&text));
    assert!(text.contains("\n> Done.\n") && text.contains("\n1. 11:06 “Go on.”\n"), "{text}");

    let long = "The importer knows every currency. ".repeat(300);
    let much = session(vec![Item::Prompt(long.clone()), Item::Reply(long)]);
    let small = Digest { title: "The importer".into(), ..Digest::default() }.with(Section::Completed, [claim("It is fast", 0)]);
    let text = told(&much, by_model(&small, &ItemStates::default()));
    assert!((900..=1_000).contains(&tokens(&text)), "{} tokens: {text}", tokens(&text));
    assert_eq!(section(&text, "Outcome, by a model:"), ["It is fast"]);
}

#[test]
fn without_a_model_there_are_no_claims() {
    let session = session(vec![Item::Prompt("Mend the export.".into()), Item::Reply("It is mended.".into())]);
    let text = told(&session, None);
    assert!(!text.contains("a model") && text.contains("\n> It is mended.\n"), "{text}");
}

#[test]
fn a_request_that_the_title_tells_is_told_once() {
    let session = session(vec![]);
    for (request, asked) in [("Mend the export", false), ("Mend it until noon", true), ("", false)] {
        let digest = Digest { title: "Mend the export".into(), request: request.into(), ..Digest::default() };
        assert_eq!(told(&session, by_model(&digest, &ItemStates::default())).contains("\nAsked"), asked, "{request}");
    }
}

#[test]
fn what_no_row_supports_is_not_told_and_only_what_is_still_open_has_its_id() {
    let session = session(vec![]);
    let digest = Digest::default()
        .with(Section::Decisions, [claim("Keyset pagination", 0), Claim::new("Prices are in francs")])
        .with(Section::Blockers, [claim("No access", 0), Claim::new("No time")])
        .with(Section::NextSteps, [claim("Add the index", 0), claim("Move the export", 0)]);
    let ids: Vec<String> = digest.open_items(&session.id).map(|(id, ..)| id).collect();
    let closed = Some(Closing { by: Closer::Session("s2".into()), at: None, text: String::new() });
    let items = ItemStates(vec![ItemState { own: ids[1].clone(), id: ids[1].clone(), since: None, closed }]);
    let text = told(&session, by_model(&digest, &items));
    assert_eq!(section(&text, "Decided, by a model:"), ["Keyset pagination"]);
    let open = [format!("{} blocked: No access", ids[0]), format!("{} Move the export", ids[2])];
    assert_eq!(section(&text, "Open, by a model:"), open);
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("\\PC{0,700}|[a-z .`/]{0,900}|<recall-context>|[\u{4e00}-\u{4e80}]{0,300}", 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_brief_takes_more_than_its_tokens(
        title in "\\PC{0,400}", request in "\\PC{0,3000}", id in "\\PC{1,300}", key in "\\PC{1,4000}", branch in "\\PC{1,300}",
        completed in texts(), learned in texts(), decisions in texts(), steps in texts(),
        prompts in texts(), replies in texts(), paths in texts(), commands in texts(), tasks in texts(),
        state in prop::sample::select(vec![DigestCoverage::Whole, DigestCoverage::SoFar, DigestCoverage::Undigested]), digested: bool,
    ) {
        let todo = |text: &String| Todo { id: String::new(), text: text.clone(), status: "pending".into() };
        let turns = prompts.iter().zip(&replies).flat_map(|(prompt, reply)| [Item::Prompt(prompt.clone()), Item::Reply(reply.clone())]);
        let tools = paths.iter().map(|path| edit(path)).chain(commands.iter().map(|line| tool("Bash", line, None)));
        let mut session = session(turns.chain(tools).chain([Item::Todos(tasks.iter().map(todo).collect())]).collect());
        for entry in &mut session.entries {
            entry.outcome = Some(Outcome { tool: String::new(), ok: matches!(&entry.item, Item::Tool(tool) if tool.file.is_some()), brief: request.clone() });
        }
        (session.id, session.project.key, session.branches) = (id.clone(), key, vec![branch]);
        let claims = |texts: &[String]| texts.iter().map(|text| claim(text, 1)).collect::<Vec<_>>();
        let digest = Digest { title, request, ..Digest::default() }
            .with(Section::Completed, claims(&completed))
            .with(Section::Learned, claims(&learned))
            .with(Section::Decisions, claims(&decisions))
            .with(Section::NextSteps, claims(&steps));
        let facts = FrameFacts { session: &session, title: &digest.title, state, never: None, repeated_by: Some(id.clone()), id: &id };
        let account = SessionAccount::of(&session, state != DigestCoverage::Whole);
        let items = ItemStates::default();
        let claims = digested.then_some(ModelClaims { digest: &digest, by: "a model", items: &items });
        let text = write(&BriefInput { facts, claims, account: &account, task_ids: &[], renamed: &[], since_then: &[] }, &TimeZone::UTC, Listener::User, 1_000);
        prop_assert!(tokens(&text) <= 1_000, "{} tokens: {}", tokens(&text), text);
        prop_assert!(text.contains("--raw") && !text.contains("<recall-context>"), "{}", text);
    }
}
