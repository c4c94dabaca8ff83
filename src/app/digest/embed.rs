//! Embedding phase: computes vectors of documents if there is a model for it. A failure here does not affect the rest of the
//! run: the remaining documents wait for the next run, and until then search matches words only.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::app::digest::policy::secure_erase;
use crate::app::digest::report::Report;
use crate::config::Config;
use crate::model::vector::QuantizedVector;
use crate::search::semantic::{Embedder, EmbeddingError, PROBE, TextToEmbed, matches_probe, pieces, space_of};
use crate::store::vectors::{EmbeddedDocument, UnembeddedDocument, VectorSpace};
use crate::store::{Maintenance, Reader, Writer};
use crate::sys::messages::Ui;
use crate::sys::progress::Progress;
use crate::sys::shutdown;
use transcripts::session::hash_parts;

/// Approximate limit of the phase in one run, since other runs wait for the lock.
const MAX_DURATION: Duration = Duration::from_secs(600);
/// The phase ends after this many consecutive documents that the model rejects.
const MAX_REJECTED: usize = 3;

/// A document to embed: the hash of its texts, and the texts.
struct DocumentTexts {
    doc: i64,
    text: [u8; 32],
    texts: Vec<String>,
}

pub(crate) fn run(config: &Config, ui: &Ui, store: &mut Maintenance, report: &mut Report) -> Result<()> {
    if !Embedder::is_on(config) {
        // Turning embeddings off deletes the vectors.
        store.drop_vectors()?;
        return Ok(());
    }
    let missing = count_missing(config, store)?;
    if missing == 0 {
        // With nothing to embed the model is not asked, so a changed model is noticed only later.
        store.drop_gone_vectors()?;
        return space_of(config, store)?.map_or(Ok(()), |space| store.complete_space(space.pk));
    }
    // Secure erase first: the model may be slow, and deleted text must not wait for it.
    secure_erase(store, ui)?;
    let embedder = match Embedder::of(config, config.sanitizer()?) {
        Ok(Some(embedder)) => embedder,
        Ok(None) => return Ok(()),
        Err(failure) => return warn_missing(&failure, missing, ui),
    };
    let probe = match embedder.embed(&[TextToEmbed::passage(PROBE)]) {
        Ok(vectors) => vectors.first().map(|vector| QuantizedVector::of(vector)),
        Err(failure) => return warn_missing(&failure, missing, ui),
    };
    let Some(probe) = probe else { return Ok(()) };
    let space = open_space(config, ui, store, &probe)?;
    let bar = Progress::of("embedding", missing);
    let (batch, most) = (embedder.batch(config), embedder.most_texts(config));
    let mut phase = EmbedPhase { store, embedder, space, batch, sent: 0, refused: 0, left_out: None, report, bar };
    let ended = phase.run(most);
    drop(phase.bar);
    let failure = ended?.or(phase.left_out);
    store.drop_gone_vectors()?;
    match failure {
        Some(failure) => warn_missing(&failure, self::count_missing(config, store)?, ui),
        None => Ok(()),
    }
}

/// Number of documents that have no vectors of this model.
fn count_missing(config: &Config, store: &Reader) -> Result<u64> {
    let (embedded, all) = store.count_embedded()?;
    Ok(if space_of(config, store)?.is_some() { all.saturating_sub(embedded) } else { all })
}

/// Warns only if vectors are missing: what the model rejected is no failure by itself.
fn warn_missing(failure: &EmbeddingError, missing: u64, ui: &Ui) -> Result<()> {
    if missing > 0 {
        ui.warn(&format!("{failure}: {missing} sessions and notes are found only by words until a later run"));
    }
    Ok(())
}

/// The vector space of the configured model. The space of another model is deleted at once, because no query can be compared with
/// it.
fn open_space(config: &Config, ui: &Ui, store: &mut Writer, probe: &QuantizedVector) -> Result<VectorSpace> {
    if let Some(space) = space_of(config, store)?.filter(|space| matches_probe(space, probe)) {
        return Ok(space);
    }
    if store.vector_space()?.is_some() {
        ui.note("embeddings are made by another model than before: everything is embedded anew");
    }
    store.begin_space(&Embedder::model(config).unwrap_or_default(), probe, pieces::VERSION)
}

struct EmbedPhase<'r> {
    store: &'r mut Writer,
    embedder: Embedder,
    space: VectorSpace,
    /// Texts per request.
    batch: usize,
    sent: usize,
    /// Consecutive documents that the model rejected.
    refused: usize,
    /// Why the last of these was rejected.
    left_out: Option<EmbeddingError>,
    report: &'r mut Report,
    bar: Progress,
}

impl EmbedPhase<'_> {
    /// Embeds documents without vectors, newest first, up to the limits of a run. Returns the failure that ended it.
    fn run(&mut self, most: usize) -> Result<Option<EmbeddingError>> {
        let began = Instant::now();
        let mut below = i64::MAX;
        while self.sent < most && began.elapsed() < MAX_DURATION && !shutdown::requested() {
            let found = self.store.unembedded(below, self.batch)?;
            let Some(last) = found.last() else {
                self.store.complete_space(self.space.pk)?;
                break;
            };
            below = last.doc;
            let cut = found.iter().map(|one| self.cut(one)).collect::<Result<Vec<_>>>()?;
            let cut = self.drop_known(cut)?;
            for group in split_into_requests(&cut, self.batch) {
                if let Some(failure) = self.embed(group)? {
                    return Ok(Some(failure));
                }
            }
        }
        Ok(None)
    }

    fn cut(&self, one: &UnembeddedDocument) -> Result<DocumentTexts> {
        let texts = match (one.session, one.note, one.memory_file) {
            (Some(session), ..) => match self.store.digest_of(session)? {
                Some(stored) => pieces::of_session(&stored.digest, &self.store.account_of(session)?.unwrap_or_default()),
                None => Vec::new(),
            },
            (None, Some(note), _) => pieces::of_note(&self.store.note(note)?.text),
            (None, None, Some(file)) => pieces::of_note(&self.store.memory_file(file)?.text),
            (None, None, None) => Vec::new(),
        };
        let text = hash_parts(&texts.iter().map(String::as_bytes).collect::<Vec<_>>());
        Ok(DocumentTexts { doc: one.doc, text, texts })
    }

    /// Removes documents that need not be sent: those without text, and those whose texts already have vectors under another
    /// document id.
    fn drop_known(&mut self, mut all: Vec<DocumentTexts>) -> Result<Vec<DocumentTexts>> {
        let empty = |one: &&DocumentTexts| one.texts.is_empty();
        let nothing: Vec<_> =
            all.iter().filter(empty).map(|one| EmbeddedDocument { doc: one.doc, text: one.text, vectors: Vec::new() }).collect();
        self.store.save_vectors(&self.space, &nothing)?;
        all.retain(|one| !one.texts.is_empty());
        let texts: Vec<_> = all.iter().map(|one| (one.doc, one.text)).collect();
        let known = self.store.take_over_vectors(&self.space, &texts)?;
        all.retain(|one| !known.contains(&one.doc));
        self.bar.advance((nothing.len() + known.len()) as u64);
        Ok(all)
    }

    /// Embeds some documents and stores their vectors. If the model rejects them, the group is split in half, as a single
    /// document may be to blame. Returns the failure that ends the run.
    fn embed(&mut self, group: &[DocumentTexts]) -> Result<Option<EmbeddingError>> {
        match self.ask(group) {
            Ok(embedded) => {
                self.store.save_vectors(&self.space, &embedded)?;
                self.refused = 0;
                self.report.documents_embedded += embedded.len() as u64;
                self.bar.advance(embedded.len() as u64);
                Ok(None)
            }
            Err(failure) if !failure.answered => Ok(Some(failure)),
            Err(failure) if group.len() <= 1 => {
                self.refused += 1;
                self.left_out = Some(failure.clone());
                Ok((self.refused >= MAX_REJECTED).then_some(failure))
            }
            Err(_) => {
                let (first, second) = group.split_at(group.len() / 2);
                let ended = self.embed(first)?;
                if ended.is_some() { Ok(ended) } else { self.embed(second) }
            }
        }
    }

    fn ask(&mut self, group: &[DocumentTexts]) -> Result<Vec<EmbeddedDocument>, EmbeddingError> {
        let texts: Vec<_> = group.iter().flat_map(|one| one.texts.iter().map(|text| TextToEmbed::passage(text))).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch) {
            self.sent += batch.len();
            vectors.extend(self.embedder.embed(batch)?.iter().map(|vector| QuantizedVector::of(vector)));
        }
        if let Some(other) = vectors.iter().find(|vector| vector.dims() != self.space.dims) {
            return Err(self
                .embedder
                .failure(&format!("its vectors have {} and {} dimensions", self.space.dims, other.dims()), true));
        }
        let mut vectors = vectors.into_iter();
        let of = |one: &DocumentTexts| EmbeddedDocument {
            doc: one.doc,
            text: one.text,
            vectors: vectors.by_ref().take(one.texts.len()).collect(),
        };
        Ok(group.iter().map(of).collect())
    }
}

/// Splits the documents into groups that fit into one request each.
fn split_into_requests(all: &[DocumentTexts], batch: usize) -> Vec<&[DocumentTexts]> {
    let mut groups = Vec::new();
    let (mut from, mut texts) = (0, 0);
    for (at, one) in all.iter().enumerate() {
        if at > from && texts + one.texts.len() > batch {
            groups.push(&all[from..at]);
            (from, texts) = (at, 0);
        }
        texts += one.texts.len();
    }
    if from < all.len() {
        groups.push(&all[from..]);
    }
    groups
}
