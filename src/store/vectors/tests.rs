//! Chunks hold exactly what was added and not removed since, in whatever order that happened.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{CHUNK_VECTORS, EmbeddedDocument, NEAREST_PIECES, NEAREST_PIECES_SHARE, VectorSpace};
use crate::model::vector::QuantizedVector;
use crate::store::Writer;
use transcripts::session::hash_parts;

const DIMS: usize = 20;

#[derive(Debug, Clone)]
enum Step {
    /// Adds this many documents, with this many vectors each, derived from this seed.
    Add(usize, usize, u32),
    /// Deletes every n-th document.
    Remove(usize),
    /// Makes every n-th document again from the same text.
    Remake(usize),
    Tidy,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1usize..200, 0usize..6, any::<u32>()).prop_map(|(docs, vectors, say)| Step::Add(docs, vectors, say)),
        2 => (1usize..20).prop_map(Step::Remove),
        2 => (1usize..20).prop_map(Step::Remake),
        1 => Just(Step::Tidy),
    ]
}

/// An index with an empty space, and its expected contents.
struct Model {
    store: Writer,
    space: VectorSpace,
    kept: BTreeMap<i64, EmbeddedDocument>,
    _folder: tempfile::TempDir,
}

fn vector(seed: u32) -> QuantizedVector {
    let part = |at: usize| f32::from(hash_parts(&[&seed.to_le_bytes(), &at.to_le_bytes()])[0]) - 127.5;
    QuantizedVector::of(&(0..DIMS).map(part).collect::<Vec<_>>())
}

impl Model {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Writer::open(&folder.path().join("recall.db")).expect("an index");
        let space = store.begin_space("m", &vector(0), 1).expect("a space");
        Self { store, space, kept: BTreeMap::new(), _folder: folder }
    }

    fn new_doc(&self) -> i64 {
        let sql = "INSERT INTO doc(project, began_at, last_at) VALUES (1, 0, 0) RETURNING pk";
        self.store.db.query_row(sql, [], |r| r.get(0)).expect("a document")
    }

    /// Deletes every n-th document and returns what was known of them.
    fn remove(&mut self, every: usize) -> Vec<EmbeddedDocument> {
        let docs: Vec<i64> = self.kept.keys().copied().step_by(every).collect();
        let gone = |doc: &i64| {
            self.store.db.execute("DELETE FROM doc WHERE pk = ?1", [doc]).expect("no document");
            self.kept.remove(doc).expect("a known one")
        };
        docs.iter().map(gone).collect()
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Add(docs, vectors, say) => {
                let embedded = |at: usize| {
                    let seeds = (0..*vectors).map(|n| say.wrapping_add((at * 6 + n) as u32));
                    let text = hash_parts(&[&say.to_le_bytes(), &at.to_le_bytes()]);
                    EmbeddedDocument { doc: self.new_doc(), text, vectors: seeds.map(vector).collect() }
                };
                let all: Vec<EmbeddedDocument> = (0..*docs).map(embedded).collect();
                self.store.save_vectors(&self.space, &all).expect("room");
                self.kept.extend(all.into_iter().map(|one| (one.doc, one)));
            }
            Step::Remove(every) => _ = self.remove(*every),
            Step::Remake(every) => {
                let again: Vec<EmbeddedDocument> =
                    self.remove(*every).into_iter().map(|one| EmbeddedDocument { doc: self.new_doc(), ..one }).collect();
                let texts: Vec<_> = again.iter().map(|one| (one.doc, one.text)).collect();
                let known = self.store.take_over_vectors(&self.space, &texts).expect("a look");
                let with_vectors = again.iter().filter(|one| !one.vectors.is_empty());
                assert!(with_vectors.into_iter().all(|one| known.contains(&one.doc)), "what had vectors has them again");
                self.kept.extend(again.into_iter().filter(|one| known.contains(&one.doc)).map(|one| (one.doc, one)));
            }
            Step::Tidy => _ = self.store.drop_gone_vectors().expect("tidy"),
        }
    }

    /// Exhaustive search, best first.
    fn nearest(&self, to: &QuantizedVector) -> Vec<(i64, f64)> {
        let similarity = |one: &EmbeddedDocument| {
            let mut cosines: Vec<f64> = one.vectors.iter().map(|vector| to.cosine(vector)).collect();
            cosines.sort_by(|a, b| b.total_cmp(a));
            cosines.truncate(NEAREST_PIECES);
            let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
            Some((1.0 - NEAREST_PIECES_SHARE) * cosines.first()? + NEAREST_PIECES_SHARE * mean)
        };
        let mut all: Vec<(i64, f64)> = self.kept.values().filter_map(|one| Some((one.doc, similarity(one)?))).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all
    }
}

proptest! {
    // A case takes longer still.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 32, ..ProptestConfig::default() })]
    #[test]
    fn a_scan_finds_what_looking_at_each_finds(steps in prop::collection::vec(step(), 1..9), asked in any::<u32>()) {
        let mut model = Model::new();
        steps.iter().for_each(|step| model.take(step));
        model.store.drop_gone_vectors().expect("tidy");
        let (to, wanted) = (vector(asked), model.nearest(&vector(asked)));
        let found = model.store.similar(&model.space, &to.to_query(), usize::MAX).expect("a scan");
        prop_assert_eq!(&found, &wanted);
        let few = model.store.similar(&model.space, &to.to_query(), 10).expect("a scan");
        prop_assert_eq!(&few[..], &wanted[..wanted.len().min(10)]);
        let largest: Option<i64> =
            model.store.db.query_row("SELECT max(vectors) FROM vector_chunk", [], |r| r.get(0)).expect("a number");
        prop_assert!(largest.unwrap_or_default() < CHUNK_VECTORS as i64 + 6);
        let docs = model.store.db.query_row("SELECT count(*) FROM embedded", [], |r| r.get::<_, i64>(0)).expect("a number");
        prop_assert_eq!(docs as usize, model.kept.len());
    }
}

#[test]
fn vectors_of_another_length_are_refused() {
    let mut model = Model::new();
    let other = EmbeddedDocument { doc: model.new_doc(), text: [0; 32], vectors: vec![QuantizedVector::of(&[1.0; DIMS + 1])] };
    assert!(model.store.save_vectors(&model.space, &[other]).is_err());
    assert!(model.store.similar(&model.space, &QuantizedVector::of(&[1.0; 3]).to_query(), 5).is_err());
}
