//! Selects what is to be told of a topic: by search, or, where no topic is named, what was done last.

use anyhow::Result;

use super::fit::fit;
use super::{Passage, Source, Topic};
use crate::config::Config;
use crate::digest::Digest;
use crate::find::{Found, Origin, Query, Wanted, find};
use crate::prompt::without_asking;
use crate::session::Millis;
use crate::store::Store;

/// Sources that are looked at, and passages of each.
const SOURCES: usize = 8;
const PASSAGES: usize = 5;
/// What a source must hold of what is asked, at least, and against the one that holds most.
const LEAST: f64 = 0.25;
const AGAINST_BEST: f64 = 0.6;
/// Sessions told of where no topic is named, and what is told of each kind, the last ones.
const LATEST: usize = 3;
const OUTCOMES: usize = 3;
const DECISIONS: usize = 3;
/// What a session decided and left open is told beside what holds the words.
const BESIDE: usize = 2;

/// What is known of a topic, within a budget. Of a query without words what was done last in the own project, else anywhere.
///
/// # Errors
/// When the index cannot be read.
pub fn gather(store: &Store, config: &Config, query: &Query, own: Option<&str>, max_tokens: usize) -> Result<Topic> {
    Ok(Topic::of(candidates(store, config, query, own, None)?, max_tokens))
}

/// All that there is to tell, best first; nothing of the session that asks.
///
/// # Errors
/// When the index cannot be read.
pub fn candidates(store: &Store, config: &Config, query: &Query, own: Option<&str>, asking: Option<&str>) -> Result<Vec<Source>> {
    let query = without_asking(query);
    match own {
        Some(own) if query.is_empty() => latest(store, config, own, asking),
        _ => found(store, config, query, own, asking),
    }
}

impl Topic {
    /// As much of the sources as there is room for.
    pub fn of(sources: Vec<Source>, max_tokens: usize) -> Self {
        fit(sources, max_tokens)
    }
}

/// Rows of a conversation that are looked at for passages: a hook waits for it.
const READS: usize = 400;

fn found(store: &Store, config: &Config, mut query: Query, own: Option<&str>, asking: Option<&str>) -> Result<Vec<Source>> {
    let limit = if query.is_empty() { LATEST } else { SOURCES };
    if query.is_empty() {
        // All there is, the newest first.
        query.filters.since = Some(Millis::MIN);
    }
    let wanted = Wanted { limit, passages: PASSAGES, own, now: config.now(), except: asking, reads: READS, ..Wanted::default() };
    let mut all = find(store, &query, &wanted)?;
    let projects = config.project_keys();
    all.retain(|found| Some(found.id()) != asking && !config.excludes_folder(&found.project().key, &projects));
    if !query.terms.is_empty() {
        let best = all.iter().map(|found| found.focus).fold(0.0, f64::max);
        all.retain(|found| found.focus >= LEAST.max(best * AGAINST_BEST));
    }
    all.into_iter().map(|found| source(store, config, found)).collect()
}

/// A result as a source, with what its session decided and left open.
pub fn source(store: &Store, config: &Config, found: Found) -> Result<Source> {
    let (at, origin) = match &found.origin {
        Origin::Session(head) => (head.last_at.unwrap_or(head.started_at), "session"),
        Origin::Note(note) => (note.at, "note"),
    };
    let mut passages: Vec<Passage> = Vec::new();
    for one in &found.passages {
        add(&mut passages, &name(&one.kind), &one.text);
    }
    if let Origin::Session(head) = &found.origin
        && let Some(stored) = store.digest_of(head.pk)?
    {
        let (id, digest) = (&head.id, &stored.digest);
        let closed = store.closed_of(head.pk)?;
        left_open(id, digest, &closed).take(BESIDE).for_each(|(kind, text)| add(&mut passages, kind, text));
        last(&digest.decisions, BESIDE).for_each(|claim| add(&mut passages, "decision", &claim.text));
    }
    Ok(Source {
        id: found.id().to_owned(),
        origin,
        project: found.project().key.clone(),
        when: config.local_time(Some(at), "%Y-%m-%d"),
        at: Some(at),
        title: found.title,
        goes_on: found.goes_on,
        score: found.score,
        covered: found.covered,
        focus: found.focus,
        telling: found.telling,
        passages,
    })
}

/// What was done last in a project.
fn latest(store: &Store, config: &Config, own: &str, asking: Option<&str>) -> Result<Vec<Source>> {
    let Some(project) = store.project_pk(own)? else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for one in store.recent_sessions(project, None, LATEST)? {
        let Some(stored) = store.digest_of(one.pk)?.filter(|_| Some(one.id.as_str()) != asking) else { continue };
        let digest = &stored.digest;
        let closed = store.closed_of(one.pk)?;
        let mut passages = Vec::new();
        last(&digest.completed, OUTCOMES).for_each(|text| add(&mut passages, "outcome", text));
        left_open(&one.id, digest, &closed).take(OUTCOMES).for_each(|(kind, text)| add(&mut passages, kind, text));
        last(&digest.decisions, DECISIONS).for_each(|claim| add(&mut passages, "decision", &claim.text));
        add(&mut passages, "prompt", &digest.request);
        all.push(Source {
            id: one.id,
            origin: "session",
            project: own.to_owned(),
            title: stored.digest.title,
            at: Some(one.last_at),
            when: config.local_time(Some(one.last_at), "%Y-%m-%d"),
            goes_on: one.goes_on,
            score: 0.0,
            covered: 0.0,
            focus: 0.0,
            telling: 0.0,
            passages,
        });
    }
    Ok(all)
}

/// What a session left open and nobody closed.
fn left_open<'d>(session: &'d str, digest: &'d Digest, closed: &'d [String]) -> impl Iterator<Item = (&'static str, &'d str)> {
    let open = digest.open_items(session).filter(|(id, ..)| !closed.contains(id));
    open.map(|(_, kind, claim)| (if kind == "next" { "next" } else { "blocker" }, claim.text.as_str()))
}

fn last<T>(list: &[T], most: usize) -> impl Iterator<Item = &T> {
    list[list.len().saturating_sub(most)..].iter()
}

/// Adds what no passage says already.
fn add(passages: &mut Vec<Passage>, kind: &str, text: &str) {
    let known = passages.iter().any(|known| known.text.contains(text) || text.contains(&known.text));
    if !known && !text.is_empty() {
        passages.push(Passage { kind: kind.to_owned(), text: text.to_owned() });
    }
}

/// A kind's name as JSON has it.
fn name(kind: &impl serde::Serialize) -> String {
    serde_json::to_value(kind).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
