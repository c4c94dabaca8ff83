//! Selects what to show about a topic: search results, or the latest sessions if the query names no topic.

use std::collections::BTreeSet;

use anyhow::Result;

use crate::config::Config;
use crate::model::digest::Digest;
use crate::model::note::EVERYWHERE;
use crate::model::session::{Millis, Project};
use crate::render::topic::fit;
use crate::render::topic::{SourcePassage, Topic, TopicSource};
use crate::search::prompt::{topic_only, wants_decisions};
use crate::search::{HitSource, Query, SearchHit, SearchOptions, find};
use crate::store::Memory;
use crate::store::notes::Note;
use crate::text::tokenize::distinctive_words;

/// The most sources, and the most passages of each.
const MAX_SOURCES: usize = 8;
const MAX_PASSAGES: usize = 5;
/// The least `focus` of a source: absolute, and as a share of the best source's.
const MIN_FOCUS: f64 = 0.25;
const MIN_FOCUS_SHARE: f64 = 0.6;
/// Without a topic: how many of the latest sessions to show, and how many of the last outcomes and decisions of each.
const LATEST_SESSIONS: usize = 3;
const MAX_OUTCOMES: usize = 3;
const MAX_DECISIONS: usize = 3;
/// How many open items and decisions of the session are added to the passages found.
const MAX_ADDED: usize = 2;
/// A session with fewer informative passages than this also gets its outcomes.
const MIN_INFORMATIVE: usize = 2;
/// A prompt that begins with the title and is at most this many bytes longer only repeats it.
const TITLE_SLACK_BYTES: usize = 24;

/// What is known about a topic, within a token budget. A query without words gives the latest sessions: of the own project if there is
/// one, else of all.
pub(crate) fn gather(store: &Memory, config: &Config, query: &Query, own: Option<&str>, max_tokens: usize) -> Result<Topic> {
    let asking = Asker { own, session: None, decisions: wants_decisions(&query.text) };
    let mut sources = candidates(store, config, query, &asking)?;
    // Among the best sources, those of the own project come first.
    sources.sort_by_key(|source| source.elsewhere.is_some());
    Ok(Topic::of(sources, max_tokens))
}

/// Who is asking.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asker<'a> {
    /// The key of the current project.
    pub(crate) own: Option<&'a str>,
    /// The id of the asking session, which is left out.
    pub(crate) session: Option<&'a str>,
    /// The question is about decisions: show them first.
    pub(crate) decisions: bool,
}

impl Asker<'_> {
    /// The project's name, if it is not the asker's own.
    fn elsewhere(&self, project: &Project) -> Option<String> {
        let other = project.key != EVERYWHERE && self.own.is_some_and(|own| own != project.key);
        other.then(|| project.name().to_owned())
    }
}

/// All sources on a topic, best first, without a budget.
pub(crate) fn candidates(store: &Memory, config: &Config, query: &Query, asking: &Asker<'_>) -> Result<Vec<TopicSource>> {
    let query = topic_only(query);
    match asking.own {
        Some(own) if query.is_empty() => latest_sessions(store, config, own, asking.session),
        _ => found(store, config, query, asking),
    }
}

impl Topic {
    /// As many passages as fit.
    pub(crate) fn of(sources: Vec<TopicSource>, max_tokens: usize) -> Self {
        fit(sources, max_tokens)
    }
}

/// Conversation items read per result for passages; a hook waits for this.
const MAX_ITEMS_READ: usize = 400;

fn found(store: &Memory, config: &Config, mut query: Query, asking: &Asker<'_>) -> Result<Vec<TopicSource>> {
    let limit = if query.is_empty() { LATEST_SESSIONS } else { MAX_SOURCES };
    if query.is_empty() {
        // No query: match everything, newest first.
        query.filters.since = Some(Millis::MIN);
    }
    let wanted = SearchOptions {
        limit,
        passages: MAX_PASSAGES,
        own: asking.own,
        now: config.now(),
        except: asking.session,
        reads: MAX_ITEMS_READ,
        ..SearchOptions::default()
    };
    let mut all = find(store, &query, &wanted)?;
    if !query.terms.is_empty() {
        let best = all.iter().map(|found| found.focus).fold(0.0, f64::max);
        all.retain(|found| found.focus >= MIN_FOCUS.max(best * MIN_FOCUS_SHARE));
    }
    let words = distinctive_words(&query.text);
    all.into_iter().map(|found| source(store, config, found, &words, asking)).collect()
}

/// A search result as a source, with what its session decided and left open.
fn source(store: &Memory, config: &Config, found: SearchHit, words: &BTreeSet<String>, asking: &Asker<'_>) -> Result<TopicSource> {
    let (at, origin) = match &found.origin {
        HitSource::Session(head) => (head.last_at.unwrap_or(head.started_at), "session"),
        HitSource::Note(note) => (note.at, "note"),
    };
    let mut passages: Vec<SourcePassage> = Vec::new();
    for one in &found.passages {
        add_passage(&mut passages, &kind_name(&one.kind), &one.text);
    }
    if let HitSource::Session(head) = &found.origin
        && let Some(stored) = store.digest_of(head.pk)?
    {
        let closed = store.closed_item_ids(head.pk)?;
        passages = complete_passages(passages, &head.id, &stored.digest, &closed, words, asking.decisions);
    }
    drop_repeated_title(&mut passages, &found.title);
    Ok(TopicSource {
        id: found.id().to_owned(),
        origin,
        by: found.note().map(Note::origin),
        project: found.project().key.clone(),
        elsewhere: asking.elsewhere(found.project()),
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

/// The passages found in a session, completed with decisions and open items, and with outcomes if too few are informative.
fn complete_passages(
    mut found: Vec<SourcePassage>,
    session: &str,
    digest: &Digest,
    closed: &[String],
    asked: &BTreeSet<String>,
    decisions_first: bool,
) -> Vec<SourcePassage> {
    for passage in found.iter_mut().filter(|passage| passage.kind == "learned" && only_investigated(digest, &passage.text)) {
        "investigated".clone_into(&mut passage.kind);
    }
    // Later decisions hold over earlier ones; of the last ones, those with the most words of the query come first.
    let mut decided: Vec<&str> = digest.decisions.iter().rev().map(|claim| claim.text.as_str()).collect();
    let held = |text: &str| distinctive_words(text).intersection(asked).count();
    decided.sort_by_key(|text| std::cmp::Reverse(held(text)));
    let mut passages = Vec::new();
    if decisions_first {
        let (first, rest): (Vec<SourcePassage>, Vec<SourcePassage>) =
            found.into_iter().partition(|passage| passage.kind == "decision");
        passages.extend(first);
        decided.iter().take(MAX_DECISIONS).for_each(|text| add_passage(&mut passages, "decision", text));
        let (read, rest): (Vec<SourcePassage>, Vec<SourcePassage>) =
            rest.into_iter().partition(|passage| passage.kind == "investigated");
        rest.into_iter().chain(read).for_each(|passage| add_passage(&mut passages, &passage.kind, &passage.text));
    } else {
        passages = found;
    }
    unsettled_items(session, digest, closed).take(MAX_ADDED).for_each(|(kind, text)| add_passage(&mut passages, kind, text));
    decided.iter().take(MAX_ADDED).for_each(|text| add_passage(&mut passages, "decision", text));
    let tells = |passage: &&SourcePassage| !matches!(passage.kind.as_str(), "prompt" | "investigated" | "file" | "command");
    if passages.iter().filter(tells).count() < MIN_INFORMATIVE {
        last(&digest.completed, MAX_OUTCOMES).for_each(|text| add_passage(&mut passages, "outcome", text));
        last(&digest.learned, MAX_ADDED).for_each(|text| add_passage(&mut passages, "learned", text));
    }
    passages
}

/// Does the digest list this only under what was investigated?
fn only_investigated(digest: &Digest, text: &str) -> bool {
    let said = distinctive_words(text);
    let is_of = |list: &[String]| list.iter().any(|one| said.is_subset(&distinctive_words(one)));
    is_of(&digest.investigated) && !is_of(&digest.learned)
}

/// Drops the prompt if it only repeats the title and other passages remain.
fn drop_repeated_title(passages: &mut Vec<SourcePassage>, title: &str) {
    let title = title.trim_end_matches('…').trim_end();
    let says_it = |passage: &SourcePassage| {
        let begins = passage.text.starts_with(title) && passage.text.len() <= title.len() + TITLE_SLACK_BYTES;
        passage.kind == "prompt" && (title.contains(passage.text.trim_end_matches('…')) || begins)
    };
    if passages.iter().any(|passage| !says_it(passage)) {
        passages.retain(|passage| !says_it(passage));
    }
}

/// The latest sessions of a project.
fn latest_sessions(store: &Memory, config: &Config, own: &str, asking: Option<&str>) -> Result<Vec<TopicSource>> {
    let Some(project) = store.project_pk(own)? else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for one in store.recent_sessions(project, None, LATEST_SESSIONS)? {
        let Some(stored) = store.digest_of(one.pk)?.filter(|_| Some(one.id.as_str()) != asking) else { continue };
        let digest = &stored.digest;
        let closed = store.closed_item_ids(one.pk)?;
        let mut passages = Vec::new();
        last(&digest.completed, MAX_OUTCOMES).for_each(|text| add_passage(&mut passages, "outcome", text));
        unsettled_items(&one.id, digest, &closed)
            .take(MAX_OUTCOMES)
            .for_each(|(kind, text)| add_passage(&mut passages, kind, text));
        last(&digest.decisions, MAX_DECISIONS).for_each(|claim| add_passage(&mut passages, "decision", &claim.text));
        if passages.len() < MIN_INFORMATIVE {
            last(&digest.learned, MAX_ADDED).for_each(|text| add_passage(&mut passages, "learned", text));
        }
        add_passage(&mut passages, "prompt", &digest.request);
        drop_repeated_title(&mut passages, &digest.title);
        all.push(TopicSource {
            id: one.id,
            origin: "session",
            by: None,
            project: own.to_owned(),
            elsewhere: None,
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

/// Open items of a session that are not settled.
fn unsettled_items<'d>(
    session: &'d str,
    digest: &'d Digest,
    closed: &'d [String],
) -> impl Iterator<Item = (&'static str, &'d str)> {
    let open = digest.open_items(session).filter(|(id, ..)| !closed.contains(id));
    open.map(|(_, kind, claim)| (if kind == "next" { "next" } else { "blocker" }, claim.text.as_str()))
}

fn last<T>(list: &[T], most: usize) -> impl Iterator<Item = &T> {
    list[list.len().saturating_sub(most)..].iter()
}

/// Adds a text unless it contains a passage or is contained in one.
fn add_passage(passages: &mut Vec<SourcePassage>, kind: &str, text: &str) {
    let known = passages.iter().any(|known| known.text.contains(text) || text.contains(&known.text));
    if !known && !text.is_empty() {
        passages.push(SourcePassage { kind: kind.to_owned(), text: text.to_owned() });
    }
}

/// The serialized name of a kind.
fn kind_name(kind: &impl serde::Serialize) -> String {
    serde_json::to_value(kind).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
