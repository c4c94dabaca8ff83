//! Pages: whatever a session's words, they stay words. They start no heading, so that what follows `## Notes` is the user's own; they
//! open no tag, link or image; the front matter ends where it should.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use recall::testing::model::author::Author;
use recall::testing::model::digest::{Claim, Digest};
use recall::testing::model::item_state::{Closer, Closing, ItemState, ItemStates};
use recall::testing::model::section::Section;
use recall::testing::model::session::{
    Answer, Entry, FileTouch, Item, Outcome, Project, RecordKey, Session, Tokens, ToolUse, Touch,
};
use recall::testing::model::session_facts::SessionFacts;
use recall::testing::render::page::{
    DayEntry, SessionPageInput, UndigestedTotals, day_of, day_page, session_page, session_page_name,
};
use recall::testing::store::notes::Note;
use recall::testing::text::markdown::{code, inline, slug, yaml};

use super::{acts, texts};

/// The day on whose page the session stands.
const DAY: &str = "2026-11-22";
/// The headings that pages have of their own.
const SESSION: [&str; 17] = [
    "Done", "Decisions", "Learned", "Looked into", "Blockers", "Next", "Where it ended", "Where it stands", "Open", "Turn by turn",
    "Commits that stood at the end", "Pull requests", "Last runs", "Files", "Evidence", "Tokens", "Resume",
];

pub fn check(data: &[u8]) {
    let texts = texts::<6>(data);
    texts.iter().for_each(|text| escapes(text));
    let [said, done, name, path, command, id] = texts;
    let session = session(&said, &name, &path, &command, &id);
    let digest = digest(&said, &done, &path);
    let author = Author::agent(&name, Some(&id));
    let closed = |(own, ..): (String, &str, &Claim)| {
        let closed = Some(Closing { by: Closer::Author(author.clone()), at: None, text: String::new() });
        ItemState { id: own.clone(), own, since: None, closed }
    };
    let shown = SessionPageInput {
        session: &session,
        digest: &digest,
        digest_id: "d0000000",
        summarizer: "claude",
        paid: None,
        goes_on: done.len() % 2 == 1,
        overtaken: &[],
        items: &ItemStates(digest.open_items(&session.id).map(closed).take(1).collect()),
        costs: BTreeMap::from([(name.clone(), Some(0.1))]),
        costs_by_day: Default::default(),
        repeated_by: None,
        page: session_page_name(&session.id, &session.project, DAY, false),
    };
    assert!(!shown.page.contains(['/', '\\', '\0']) && shown.page.len() < 100 && !shown.page.starts_with('.'), "{}", shown.page);
    let zone = TimeZone::UTC;
    let page = session_page(&shown, &zone);
    stays_words(&page, 1);
    // What is quoted keeps its form: `hostile::pages` reads that as a viewer does.
    let quoted = session_page(&SessionPageInput { summarizer: "extract", ..shown.clone() }, &zone);
    assert!(!quoted.contains(acts) && quoted.lines().all(|line| line.trim_end() != "## Notes"), "{quoted}");
    let headings = page.lines().filter_map(|line| line.strip_prefix("## "));
    assert!(headings.into_iter().all(|heading| SESSION.contains(&heading)), "{page}");
    let note = Note {
        pk: 1,
        id: "m1".into(),
        project: Project { key: name.clone() },
        kind: "fact".into(),
        text: said.clone(),
        at: 0,
        author: author.clone(),
        closed: Some((0, author.clone())),
    };
    let entry = DayEntry::on(DAY, &shown, &SessionFacts::of(&session), &zone).expect("it stands on its own day");
    let day = day_page(&day_of(&session, &zone), vec![entry], UndigestedTotals::default(), &[note], &zone);
    stays_words(&day, 0);
    assert!(day.lines().filter(|line| line.starts_with("## ")).count() <= 2, "{day}");
    assert!(page.lines().chain(day.lines()).all(|line| line.trim_end() != "## Notes"), "the user's own section:\n{day}");
}

/// Each way of putting foreign text on a page, by itself.
fn escapes(text: &str) {
    let line = inline(text);
    assert!(!line.contains(acts) && !line.contains('\n'));
    no_markup(&line, &line);
    no_markup(&format!("- {} {line}", code(text)), text);
    let string: String = serde_json::from_str(&yaml(text)).expect("a YAML string is a JSON string");
    assert!(!string.contains(acts) && !string.contains('\n'));
    let name = slug(text, 40);
    assert!(
        !name.is_empty() && name.len() <= 40 && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    );
}

/// A page is front matter, and behind it lines none of which does anything. `fences` of code are its own.
fn stays_words(page: &str, fences: usize) {
    assert!(!page.contains(acts), "{page:?}");
    let rest = page.strip_prefix("---\n").expect("front matter");
    let (front, body) = rest.split_once("\n---\n").expect("front matter ends");
    assert!(
        front
            .lines()
            .all(|line| line.split_once(": ").is_some_and(|(key, _)| key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))),
        "{front}"
    );
    assert!(!body.lines().any(|line| line == "---"), "{body}");
    assert_eq!(body.lines().filter(|line| is_fence(line)).count(), 2 * fences, "{body}");
    let mut fenced = false;
    for line in body.lines() {
        fenced ^= is_fence(line);
        if !fenced {
            let own = line.split_once("[session page](sessions/").map_or(line, |(before, _)| before);
            no_markup(own, body);
        }
    }
}

/// Does a block of code begin or end with this line? Behind a fence of backticks there are no others.
fn is_fence(line: &str) -> bool {
    let rest = line.trim_start_matches('`');
    line.starts_with("~~~") || line.len() - rest.len() >= 3 && !rest.contains('`')
}

/// Reads a line as CommonMark does: outside code spans no tag, link or image opens unless a backslash stands before it.
fn no_markup(line: &str, page: &str) {
    let bytes = line.as_bytes();
    let run = |at: usize| bytes[at..].iter().take_while(|b| **b == b'`').count();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'`' => {
                let fence = run(at);
                let mut end = at + fence;
                // The next run of the same length closes the span; without one the backticks stand for themselves.
                let close = loop {
                    match bytes.get(end..).and_then(|rest| rest.iter().position(|b| *b == b'`')) {
                        None => break None,
                        Some(next) if run(end + next) == fence => break Some(end + next + fence),
                        Some(next) => end += next + run(end + next),
                    }
                };
                at = close.unwrap_or(at + fence);
            }
            b'<' | b'[' => panic!("markup at {at} of {line:?}\n{page}"),
            _ => at += 1,
        }
    }
}

fn session(said: &str, name: &str, path: &str, command: &str, id: &str) -> Session {
    let touch = FileTouch { path: path.to_owned(), how: Touch::Edited, added: 1, removed: 1 };
    let read = FileTouch { path: name.to_owned(), how: Touch::Read, added: 0, removed: 0 };
    let tool = |name: &str, file| ToolUse::new("t", name, command, file);
    let failed = |ok| Outcome { tool: "t".into(), ok, brief: said.to_owned() };
    let items = [
        (Item::Prompt(said.to_owned()), None),
        (Item::Tool(tool("Bash", None)), Some(failed(false))),
        (Item::Tool(tool("Edit", Some(touch))), Some(failed(true))),
        (Item::Tool(tool("Read", Some(read))), None),
        (Item::Tool(tool("Bash", None)), Some(failed(true))),
        (Item::Tool(tool(name, None)), None),
        (Item::Answer(Answer { said: command.to_owned(), asked: said.to_owned() }), None),
        (Item::Plan(said.to_owned()), None),
        (Item::Away(said.to_owned()), None),
        (Item::PullRequest(path.to_owned()), None),
        (Item::Recap(said.to_owned()), None),
        (Item::Interrupted, None),
        (Item::Reply(said.to_owned()), None),
    ];
    let entry =
        |(n, (item, outcome))| Entry { key: RecordKey([n; 16]), at: Some(60_000 * i64::from(n)), agent: None, item, outcome };
    Session {
        id: id.to_owned(),
        project: Project { key: name.to_owned() },
        cwd: Some(path.to_owned()),
        branches: vec![name.to_owned()],
        versions: vec![name.to_owned()],
        end_reason: Some(name.to_owned()),
        client: Default::default(),
        entries: (1u8..).zip(items).map(entry).collect(),
        evidence: Vec::new(),
        evident: true,
        usage: BTreeMap::from([(name.to_owned(), Tokens { input: 1, ..Tokens::default() })]),
        agents: 1,
        left_out: Default::default(),
        told: None,
        otherwise_at: 0,
    }
}

fn digest(said: &str, done: &str, path: &str) -> Digest {
    let claim = |text: &str, rows: Vec<RecordKey>| Claim::supported(text, rows);
    Digest { title: said.to_owned(), request: done.to_owned(), ..Digest::default() }
        .with(Section::Investigated, [Claim::new(done)])
        .with(Section::Learned, [Claim::new(said)])
        .with(Section::Completed, [Claim::new(done), Claim::new(said)])
        .with(Section::Decisions, [claim(done, vec![RecordKey([1; 16]), RecordKey([13; 16])]), claim(said, Vec::new())])
        .with(Section::Files, [Claim::new(path), claim(done, vec![RecordKey([1; 16])])])
        .with(Section::Blockers, [claim(said, vec![RecordKey([2; 16])])])
        .with(Section::NextSteps, [claim(done, Vec::new()), claim(said, vec![RecordKey([9; 16])])])
}
