//! Search: parses a query, ranks documents and picks the passages to show.
//!
//! `query` parses what was typed, `store::document` builds what is indexed, `store::search` holds the index, `weights` and `rank` score
//! documents, `passages` picks sentences, `results` makes results, and `find` runs them all. Nothing here writes.

mod highlight;
mod kind;
mod passages;
pub(crate) mod prompt;
mod query;
mod rank;
pub(crate) mod results;
pub(crate) mod semantic;
mod typos;
pub(crate) mod weights;

use anyhow::Result;

pub use self::highlight::Highlighter;
pub(crate) use self::kind::{KindFilter, kinds};
pub(crate) use self::passages::Passage;
pub use self::query::Query;
pub(crate) use self::rank::{SemanticMatches, unmatched_projects};
use crate::model::memory_file::MemoryFile;
use crate::model::note::Note;
use crate::model::session_head::SessionHead;
use crate::model::since_then::SinceThen;
use crate::search::results::ResultBuilder;
use crate::store::Memory;
use text::clean::{one_line, shorten, without_controls};
use transcripts::client::Client;
use transcripts::session::{Millis, Project};

/// Search options.
#[derive(Debug, Clone, Default)]
pub struct SearchOptions<'a> {
    pub limit: usize,
    /// The number of results to skip, for paging.
    pub skip: usize,
    /// The most passages per result.
    pub passages: usize,
    /// The key of the current project; its sessions are favoured.
    pub own: Option<&'a str>,
    pub now: Millis,
    /// Semantic matches from the embeddings endpoint.
    pub similar: Option<&'a SemanticMatches>,
    /// The id of a session to leave out: the one that is asking.
    pub except: Option<&'a str>,
    /// Leave out memory files of Claude's: for callers whose client gives these to the session itself.
    pub without_memory_files: bool,
    /// Search by distinctive words only: words that nearly every session holds find nothing, and `covered` counts only words in the texts
    /// that were read. For callers that only need to know what a session is about.
    pub telling_only: bool,
    /// How many conversation items of each result to read for passages; 0 reads all.
    pub reads: usize,
}

/// The source of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum HitSource {
    Session(SessionHead),
    Note(Note),
    MemoryFile(MemoryFile),
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    pub origin: HitSource,
    pub title: String,
    /// Higher is better; comparable only within one search.
    pub score: f64,
    /// The share of the query's words, by weight, that the whole document holds: 0 to 1.
    pub covered: f64,
    /// The share that the title and the passages hold: high where the result is about the query rather than merely mentioning it.
    pub focus: f64,
    /// The weight of the words in title and passages, in units of one word that occurs in a single document.
    pub telling: f64,
    /// Best first.
    pub passages: Vec<Passage>,
    /// What came since of what its passages still say.
    pub since_then: Vec<SinceThen>,
    /// The session was still running when it was digested.
    pub goes_on: bool,
    /// What a model claims was asked for, but none read this session: what the user said answers.
    pub without_claims: bool,
}

impl SearchHit {
    pub(crate) fn id(&self) -> &str {
        match &self.origin {
            HitSource::Session(head) => &head.id,
            HitSource::Note(note) => &note.id,
            HitSource::MemoryFile(file) => &file.id,
        }
    }

    /// The note, if the result is one.
    pub(crate) fn note(&self) -> Option<&Note> {
        match &self.origin {
            HitSource::Session(_) | HitSource::MemoryFile(_) => None,
            HitSource::Note(note) => Some(note),
        }
    }

    /// The client whose session it is; the usual one of what is no session.
    pub(crate) fn client(&self) -> Client {
        match &self.origin {
            HitSource::Session(head) => head.client,
            HitSource::Note(_) | HitSource::MemoryFile(_) => Client::default(),
        }
    }

    pub(crate) fn project(&self) -> &Project {
        match &self.origin {
            HitSource::Session(head) => &head.project,
            HitSource::Note(note) => &note.project,
            HitSource::MemoryFile(file) => &file.project,
        }
    }

    /// Does the other one say what overtakes a passage of this one?
    pub(crate) fn is_overtaken_by(&self, other: &Self) -> bool {
        self.since_then.iter().any(|one| matches!(one, SinceThen::Overtaken(one) if one.later.by.place() == other.id()))
    }

    /// `since then: closed …`, a line each.
    pub(crate) fn since_lines(&self, day: impl Fn(Millis) -> String) -> Vec<String> {
        let line = |one: &SinceThen| one_line(&without_controls(&one.line(&day)));
        self.since_then.iter().map(line).collect()
    }

    /// When the session was last active, or when the note or the memory file was written.
    pub(crate) fn at(&self) -> Millis {
        match &self.origin {
            HitSource::Session(head) => head.last_at.unwrap_or(head.started_at),
            HitSource::Note(note) => note.at,
            HitSource::MemoryFile(file) => file.at,
        }
    }
}

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// Best first, one per session.
    pub hits: Vec<SearchHit>,
    /// What was searched for: the query, or what stands in its place where `relaxed` says so.
    pub(crate) query: Query,
    /// What the query asked for and nothing holds, and what was searched for instead, one line each.
    pub(crate) relaxed: Vec<String>,
}

/// Results for a query. An empty query gives none.
///
/// What nothing holds is relaxed, one step after the other: a mistyped word becomes the nearest one of the index, and phrases beside other
/// words become their words. `telling_only` relaxes nothing: nobody typed that query.
pub fn find(store: &Memory, query: &Query, wanted: &SearchOptions<'_>) -> Result<Found> {
    store.in_snapshot(|| {
        if wanted.telling_only {
            return Ok(Found { hits: find_exactly(store, query, wanted)?, query: query.clone(), relaxed: Vec::new() });
        }
        let (mut query, mut relaxed) = typos::corrected(store, query)?;
        if query.asks && find_exactly(store, &query, &SearchOptions { limit: 1, skip: 0, ..wanted.clone() })?.is_empty() {
            relaxed.push(without_phrases(&query));
            query = query.by_words();
        }
        let hits = find_exactly(store, &query, wanted)?;
        if hits.is_empty() {
            relaxed.clear();
        }
        Ok(Found { hits, query, relaxed })
    })
}

/// That the words of phrases were searched for.
fn without_phrases(query: &Query) -> String {
    let phrases: Vec<String> =
        query.phrases.iter().map(|phrase| format!("\"{}\"", shorten(&one_line(&without_controls(phrase)), 60))).collect();
    format!("no exact match for {}: searched for the words", phrases.join(" and "))
}

fn find_exactly(store: &Memory, query: &Query, wanted: &SearchOptions<'_>) -> Result<Vec<SearchHit>> {
    match rank::rank(store, query, wanted)? {
        Some(ranked) => Ok(standing_first(ResultBuilder::new(store, query, wanted, ranked).results()?)),
        None => Ok(Vec::new()),
    }
}

/// Puts what overtakes a result before it.
fn standing_first(mut hits: Vec<SearchHit>) -> Vec<SearchHit> {
    for at in 0..hits.len() {
        // Each result moves down once at most, so this ends.
        let Some(last) = (at + 1..hits.len()).rev().find(|later| hits[at].is_overtaken_by(&hits[*later])) else { continue };
        let overtaking = hits.remove(last);
        hits.insert(at, overtaking);
    }
    hits
}

/// The upper bound of [`SearchHit::telling`] over all results, so that a caller can skip the search where it is too low.
pub fn max_distinctiveness(store: &Memory, query: &Query) -> Result<f64> {
    store.in_snapshot(|| crate::search::weights::max_distinctiveness(store, query))
}
