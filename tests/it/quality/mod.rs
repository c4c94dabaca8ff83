//! How well `recall search` finds the session somebody means, measured through the program: made-up and recorded sessions, questions as
//! people ask them months later, and an independent baseline.
//!
//! `RECALL_QUALITY_ALL=1 cargo test --test it quality:: -- --nocapture` prints the table. `RECALL_QUALITY_VARIANTS=FILE` adds further variants (see `variants.rs`),
//! `RECALL_QUALITY_MISSES=1` names the questions of the half for tuning that are not answered in the first five places, and
//! `RECALL_QUALITY_KEEP=DIR` leaves the transcripts in a folder.

mod baseline;
mod corpus;
mod corpus_checks;
mod metrics;
mod questions;
mod replies;
mod table;
mod variants;

use std::path::Path;

use baseline::Plain;
use metrics::{Answer, marks};
use questions::{Question, UNANSWERABLE, questions};
use table::{Run, table};
use variants::{Digests, Variant, Worlds};

/// How good it must be over all questions, a little below what was measured: with digests made without a model, and by one.
const FLOORS: [(&str, Floor); 2] = [
    ("shipped", Floor { recall5: 0.83, ndcg10: 0.80, mrr: 0.79 }),
    ("model digests", Floor { recall5: 0.91, ndcg10: 0.88, mrr: 0.87 }),
];
/// At most so many tokens in the median.
const TOKENS: f64 = 600.0;

struct Floor {
    recall5: f64,
    ndcg10: f64,
    mrr: f64,
}

/// What `recall eval` says of the made-up sessions: a change of what is told, or of its order, changes these figures.
#[test]
fn what_would_have_been_told_is_measured() {
    let world = corpus::world();
    world.digest(&["--summarizer", "extract"]);
    let ran = world.recall(["eval"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:#?}");
    insta::assert_snapshot!("eval", ran.out);
}

#[test]
fn what_is_meant_is_found() {
    let questions = questions();
    let mut worlds = Worlds::default();
    let shipped = Variant { name: "shipped".into(), ..Variant::default() };
    let plain = Plain::new(worlds.of(&shipped));
    let mut runs = vec![Run { name: "plain unicode61".into(), answers: questions.iter().map(|q| plain.search(&q.text)).collect() }];
    for variant in variants(shipped) {
        let answers = variant.answers(&mut worlds, &questions);
        misses(&variant.name, &questions, &answers);
        runs.push(Run { name: variant.name, answers });
        // A long list of variants takes minutes: what is known is told at once.
        eprintln!("{}", table::lines(&questions, &runs[runs.len() - 1..]));
    }
    println!("{}", table(&questions, &runs));

    let all = |run: &Run| run.summary(&questions, |_| true);
    let plain = all(&runs[0]);
    for (name, floor) in FLOORS {
        let run = runs.iter().find(|run| run.name == name).map(all).unwrap_or_else(|| panic!("{name} was not measured"));
        assert!(
            run.recall5 >= floor.recall5 && run.ndcg10 >= floor.ndcg10 && run.mrr >= floor.mrr,
            "{name}: it was better: {run:#?}"
        );
        assert!(run.tokens <= TOKENS, "{name}: it was shorter: {run:#?}");
        assert!(run.recall5 > plain.recall5 && run.ndcg10 > plain.ndcg10, "{name}: no better than {plain:#?}: {run:#?}");
    }
}

/// What is shipped, with digests of both kinds, and whatever else somebody wants to compare.
fn variants(shipped: Variant) -> Vec<Variant> {
    let mut all = vec![shipped];
    all.push(Variant { name: "model digests".into(), digests: Digests::Model, ..Variant::default() });
    // It has no floor: only the table shows it.
    if std::env::var_os("RECALL_QUALITY_ALL").is_some() {
        all.push(Variant { name: "… without their questions".into(), digests: Digests::Unasked, ..Variant::default() });
    }
    if let Some(file) = std::env::var_os("RECALL_QUALITY_VARIANTS") {
        all.extend(variants::of_file(Path::new(&file)));
    }
    all
}

/// Only of the half on which weights may be chosen.
fn misses(variant: &str, questions: &[Question], answers: &[Answer]) {
    if std::env::var_os("RECALL_QUALITY_MISSES").is_none() {
        return;
    }
    let tune = questions.iter().zip(answers).filter(|(q, _)| q.tune && q.kind != UNANSWERABLE);
    for (question, answer) in tune.filter(|(q, a)| marks(q, a).recall5 < 1.0) {
        println!("{variant}: {} {:?} meant {:?}, found {:?}", question.id, question.text, question.grades, answer.sessions);
    }
}
