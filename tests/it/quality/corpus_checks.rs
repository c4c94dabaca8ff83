//! That the corpus and the questions are what they claim to be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::Connection;

use crate::quality::corpus;
use crate::quality::questions::{UNANSWERABLE, questions};
use crate::support;

/// Words that tell nothing, and so may be in a paraphrase and in its session.
const COMMON: &str = "a an the and or of to in on at for with without by from it its is are was were be been being this that these those \
    there here i me my we us our you your he she they them their his her who whom whose what which when where why how do does did done has \
    have had having not no nor so if then than too very can could would should will may might must as but about into over under after \
    before again more most less least any all each only own same other such up down out off s t don doesn didn couldn isn wasn once \
    because since while though during until few both just also nobody somebody people one two get got gets make made makes take takes let \
    yet still back ever never now way thing";

#[test]
fn every_session_of_the_corpus_is_stored_and_digested() {
    let world = corpus::world();
    if let Some(dir) = std::env::var_os("RECALL_QUALITY_KEEP") {
        support::copy_tree(&world.claude_dir(), Path::new(&dir));
    }
    let report = world.digest(&["--summarizer", "extract", "--settle", "0s"]);
    assert_eq!(report["sessions_digested"], corpus::names().len(), "{report:#}");
    let stored: BTreeSet<String> = world.exported().iter().map(|s| s["session"].as_str().expect("an id").to_owned()).collect();
    assert_eq!(stored, corpus::names().into_iter().map(|(_, id)| id).collect());
}

#[test]
fn every_kind_has_questions_enough_in_both_halves() {
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for question in questions() {
        assert!(ids.insert(question.id.clone()), "{} is there twice", question.id);
        assert_eq!(question.kind == UNANSWERABLE, question.grades.is_empty(), "{}", question.id);
        assert!(question.kind == UNANSWERABLE || (1..=5).contains(&question.meant()), "{}", question.id);
        assert!(question.kind != "multi" || question.grades.len() >= 3, "{} means few sessions", question.id);
        let (tune, held) = kinds.entry(question.kind).or_default();
        *(if question.tune { tune } else { held }) += 1;
    }
    assert!(kinds.len() >= 10 && ids.len() >= 150, "{kinds:?}");
    for (kind, (tune, held)) in kinds {
        assert!(tune + held >= 18 && tune.abs_diff(held) <= 1, "{kind}: {tune} and {held}");
    }
}

/// A paraphrase that shares a word with its session measures something else. Words are compared as FTS5's Porter stemmer leaves them.
#[test]
fn a_paraphrase_shares_no_telling_word_with_what_it_means() {
    let stems = Stems::new();
    let common = stems.of(COMMON);
    let sessions = corpus::sessions();
    for question in questions().into_iter().filter(|q| q.kind == "paraphrase") {
        let asked: BTreeSet<String> = stems.of(&question.text).difference(&common).cloned().collect();
        for session in sessions.iter().filter(|s| question.grade(&s.id) == 2) {
            let said = stems.of(&session.words());
            let shared: Vec<&String> = asked.intersection(&said).collect();
            assert!(shared.is_empty(), "{} and {} share {shared:?}", question.id, session.name);
        }
    }
}

struct Stems(Connection);

impl Stems {
    fn new() -> Self {
        let db = Connection::open_in_memory().expect("a database");
        let tables = "CREATE VIRTUAL TABLE t USING fts5(text, tokenize = 'porter unicode61');
            CREATE VIRTUAL TABLE v USING fts5vocab(t, 'row');";
        db.execute_batch(tables).expect("the tables");
        Self(db)
    }

    fn of(&self, text: &str) -> BTreeSet<String> {
        self.0.execute("DELETE FROM t", []).expect("an empty table");
        self.0.execute("INSERT INTO t VALUES (?1)", [text]).expect("a text");
        let mut statement = self.0.prepare("SELECT term FROM v").expect("a statement");
        let terms = statement.query_map([], |row| row.get(0)).expect("terms");
        terms.collect::<Result<_, _>>().expect("terms")
    }
}
