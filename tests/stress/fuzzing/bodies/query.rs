//! Query parsing: whatever is typed is a question, and no question is an error of the full-text index.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use recall::testing::config::QueryContext;
use recall::testing::model::session::{Item, RecordKey};
use recall::testing::privacy::{Policy, ProjectPatterns, Projects, View};
use recall::testing::search::{Highlighter, Query, SearchOptions, find};
use recall::testing::store::transfer::{Exported, ExportedRow, ExportedSource};
use recall::testing::store::{Memory, Writer};

thread_local! {
    static INDEX: OnceCell<(tempfile::TempDir, Memory)> = const { OnceCell::new() };
}

pub fn check(data: &[u8]) {
    let Some((choice, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let context = QueryContext { now: 1_795_305_600_000, zone: TimeZone::UTC, home: "/home/dev".into() };
    let query = if choice & 1 == 0 { Query::parse(&text, &context) } else { Query::from_words(&text) };
    assert!(query.terms.iter().all(|term| !term.text.is_empty() && !term.text.contains('"')), "{query:?}");
    assert_eq!(Query::parse(&text, &context), Query::parse(&text, &context));
    let wanted = SearchOptions {
        limit: 3,
        skip: usize::from(choice >> 4 & 1),
        passages: 2,
        own: Some("/src/shop").filter(|_| choice & 2 != 0),
        now: context.now,
        telling_only: choice & 4 != 0,
        reads: usize::from(choice >> 5),
        ..SearchOptions::default()
    };
    INDEX.with(|index| {
        let (_, store) = index.get_or_init(index_of_three);
        let found = find(store, &query, &wanted).unwrap_or_else(|e| panic!("{e:#}: {text:?}")).hits;
        assert!(found.len() <= 3);
        for one in &found {
            assert!(one.score.is_finite() && (0.0..=1.001).contains(&one.covered) && one.passages.len() <= 2, "{one:?}");
        }
        recall::testing::search::max_distinctiveness(store, &query).unwrap_or_else(|e| panic!("{e:#}: {text:?}"));
    });
    let _ = Highlighter::of_query(&query);
}

/// Three sessions in several scripts.
/// Nothing is excluded or isolated.
fn everything() -> Policy {
    Policy::new(ProjectPatterns::default(), ProjectPatterns::default(), Projects::default(), View::Owner)
}

fn index_of_three() -> (tempfile::TempDir, Memory) {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join("recall.db");
    let mut store = Writer::open(&path).expect("an index");
    let said = [
        ("/src/shop", "page the order list by date, in src/read_me.rs", "The parseRow test passes: see E0599, v1.2.30."),
        ("/src/shop", "Warum sind die Bilder beim Hochladen so groß?", "Bilder werden jetzt verkleinert. It's done — \"really\"."),
        ("/src/other", "修复分页的错误 и тест", "データベースの移行 NEAR OR AND NOT ^col: *"),
    ];
    for (n, (project, prompt, reply)) in (1u8..).zip(said) {
        let row = |part: u8, item| ExportedRow {
            offset: part.into(),
            part: 0,
            key: RecordKey([n * 16 + part; 16]),
            at: Some(i64::from(n)),
            item,
            undone: false,
        };
        let source = ExportedSource {
            file: format!("{n}.jsonl"),
            agent: String::new(),
            first_at: Some(1),
            last_at: Some(i64::from(n)),
            cwd: Some(project.to_owned()),
            branches: vec!["main".into()],
            versions: Vec::new(),
            evident: false,
            placed: false,
            rows: vec![row(1, Item::Prompt(prompt.into())), row(2, Item::Reply(reply.into()))],
        };
        let session = Exported {
            session: format!("{n}0000000-0000-0000-0000-000000000000"),
            project: project.to_owned(),
            started_at: Some(1),
            grew_at: i64::from(n),
            ended_at: None,
            end_reason: None,
            client: Default::default(),
            sources: vec![source],
            folders: Vec::new(),
            usage: Vec::new(),
            titles: Vec::new(),
            asked: Vec::new(),
            dirty: false,
            digest: None,
            closed_by_user: Vec::new(),
            closers: BTreeMap::new(),
            wrong: Vec::new(),
            told: None,
            origin: None,
        };
        assert!(store.import_session(session).expect("it is taken in"));
    }
    assert_eq!(store.write_documents().expect("an index").made, 3);
    (folder, Memory::beside_writer(&store, &everything()).expect("an index"))
}
