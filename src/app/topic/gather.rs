//! Selects what to show about a topic: search results, or the latest sessions if the query names no topic.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;

use super::passages::{KnownSession, Passages};
use crate::app::open_memory::OpenMemory;
use crate::app::search::unknown_project;
use crate::config::Config;
use crate::model::note::EVERYWHERE;
use crate::model::note::Note;
use crate::model::since_then::SinceThen;
use crate::render::topic::fit;
use crate::render::topic::{Topic, TopicSource};
use crate::search::prompt::{topic_only, wants_decisions};
use crate::search::{Found, HitSource, Query, SearchHit, SearchOptions, find, unmatched_projects};
use crate::store::Memory;
use crate::store::came_since::CameSince;
use text::tokenize::distinctive_words;
use transcripts::session::{Millis, Project};

/// The most sources, and the most passages of each.
const MAX_SOURCES: usize = 8;
const MAX_PASSAGES: usize = 5;
/// The least `focus` of a source: absolute, and as a share of the best source's.
const MIN_FOCUS: f64 = 0.25;
const MIN_FOCUS_SHARE: f64 = 0.6;
/// Without a topic: how many of the latest sessions to show.
const LATEST_SESSIONS: usize = 3;

/// What is asked about, and by whom.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TopicRequest<'a> {
    /// A question, or words; filters as in a search.
    pub(crate) words: &'a str,
    /// Only this project: the name of its folder, its path or a glob.
    pub(crate) project: Option<&'a str>,
    /// The key of the project of whoever asks: its sources come first.
    pub(crate) own: &'a str,
}

/// What was found about a topic, without a budget.
#[derive(Debug)]
pub(crate) struct TopicFound {
    /// Those of the own project first, each part best first.
    pub(crate) sources: Vec<TopicSource>,
    /// As much of each source's id as opens it, by the whole one.
    pub(crate) short_ids: HashMap<String, String>,
    /// What keeps this from being all there is.
    pub(crate) notices: Vec<String>,
}

impl TopicRequest<'_> {
    /// Is there nothing to look for?
    pub(crate) fn is_empty(&self, config: &Config) -> bool {
        Query::parse(self.words, &config.query_context()).is_empty()
    }
}

/// What the memory holds about a topic.
pub(crate) fn find_topic(memory: &OpenMemory, config: &Config, asked: &TopicRequest<'_>) -> Result<TopicFound> {
    let store = &memory.0;
    let context = config.query_context();
    let mut query = Query::parse(asked.words, &context);
    query.narrow_to(asked.project.unwrap_or_default(), &context);
    let mut notices: Vec<String> = unmatched_projects(store, &query)?.iter().map(|name| unknown_project(name)).collect();
    let asking = Asker { own: Some(asked.own), session: None, decisions: wants_decisions(&query.text) };
    let (mut sources, relaxed) = candidates_and_relaxed(store, config, &query, &asking)?;
    sources.sort_by_key(|source| source.elsewhere.is_some());
    notices.extend(relaxed);
    let short = |source: &TopicSource| {
        // Ids of notes are short already.
        let is_session = source.origin == "session";
        Ok((source.id.clone(), if is_session { store.short_id(&source.id)? } else { source.id.clone() }))
    };
    let short_ids = sources.iter().map(short).collect::<Result<_>>()?;
    Ok(TopicFound { sources, short_ids, notices })
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
    Ok(candidates_and_relaxed(store, config, query, asking)?.0)
}

/// The same, with what of the query was relaxed.
fn candidates_and_relaxed(
    store: &Memory,
    config: &Config,
    query: &Query,
    asking: &Asker<'_>,
) -> Result<(Vec<TopicSource>, Vec<String>)> {
    let query = topic_only(query);
    match asking.own {
        Some(own) if query.is_empty() => Ok((latest_sessions(store, config, own, asking.session)?, Vec::new())),
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

fn found(store: &Memory, config: &Config, mut query: Query, asking: &Asker<'_>) -> Result<(Vec<TopicSource>, Vec<String>)> {
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
        // The client of whoever prompts gives them to it.
        without_memory_files: asking.session.is_some(),
        reads: MAX_ITEMS_READ,
        ..SearchOptions::default()
    };
    let Found { hits: mut all, query, relaxed } = find(store, &query, &wanted)?;
    if !query.terms.is_empty() {
        let best = all.iter().map(|found| found.focus).fold(0.0, f64::max);
        let is_about = |found: &SearchHit| found.focus >= MIN_FOCUS.max(best * MIN_FOCUS_SHARE);
        // What overtakes a source is told with it, though it repeats less of the question's words.
        let told: Vec<bool> =
            all.iter().map(|found| is_about(found) || all.iter().any(|one| is_about(one) && one.is_overtaken_by(found))).collect();
        let mut told = told.into_iter();
        all.retain(|_| told.next().unwrap_or_default());
    }
    let words = distinctive_words(&query.text);
    let came_since = CameSince::new(store);
    let sources = all.into_iter().map(|found| source(store, config, found, &words, asking, &came_since)).collect::<Result<_>>()?;
    Ok((sources, relaxed))
}

/// A search result as a source, with what its session decided and left open.
fn source(
    store: &Memory,
    config: &Config,
    found: SearchHit,
    words: &BTreeSet<String>,
    asking: &Asker<'_>,
    came_since: &CameSince<'_>,
) -> Result<TopicSource> {
    let (at, origin) = match &found.origin {
        HitSource::Session(head) => (head.last_at.unwrap_or(head.started_at), "session"),
        HitSource::Note(note) => (note.at, "note"),
        HitSource::MemoryFile(file) => (file.at, "memory file"),
    };
    let mut passages = Passages::default();
    found.passages.iter().for_each(|one| passages.add(&kind_name(&one.kind), &one.text));
    if let HitSource::Session(head) = &found.origin
        && let Some(known) = KnownSession::of(store, head.pk, &head.id)?
    {
        passages = known.complete(passages, words, asking.decisions);
    }
    let passages = passages.without_title(&found.title);
    let since_then = match &found.origin {
        HitSource::Session(head) => lines(config, &came_since.of_session(head, passages.iter().map(|one| one.text.as_str()))?),
        HitSource::Note(note) => lines(config, &came_since.of_note(note)?),
        HitSource::MemoryFile(_) => Vec::new(),
    };
    Ok(TopicSource {
        id: found.id().to_owned(),
        origin,
        by: found.note().map(Note::origin),
        client: found.client(),
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
        since_then,
        passages,
    })
}

/// What came since of what is still said, a line each.
fn lines(config: &Config, since_then: &[SinceThen]) -> Vec<String> {
    let day = |at: Millis| config.local_time(Some(at), "%Y-%m-%d");
    since_then.iter().map(|one| one.line(day)).collect()
}

/// The latest sessions of a project.
fn latest_sessions(store: &Memory, config: &Config, own: &str, asking: Option<&str>) -> Result<Vec<TopicSource>> {
    let Some(project) = store.project_pk(own)? else { return Ok(Vec::new()) };
    let came_since = CameSince::new(store);
    let mut all = Vec::new();
    for one in store.recent_sessions(project, None, LATEST_SESSIONS)? {
        if Some(one.id.as_str()) == asking {
            continue;
        }
        let Some(known) = KnownSession::of(store, one.pk, &one.id)? else { continue };
        let passages = known.latest().without_title(&known.digest.title);
        all.push(TopicSource {
            id: one.id,
            origin: "session",
            by: None,
            client: store.session_head(one.pk)?.client,
            project: own.to_owned(),
            elsewhere: None,
            title: known.digest.title,
            at: Some(one.last_at),
            when: config.local_time(Some(one.last_at), "%Y-%m-%d"),
            goes_on: one.goes_on,
            score: 0.0,
            covered: 0.0,
            focus: 0.0,
            telling: 0.0,
            since_then: lines(
                config,
                &came_since.of_session(&store.session_head(one.pk)?, passages.iter().map(|one| one.text.as_str()))?,
            ),
            passages,
        });
    }
    Ok(all)
}

/// The serialized name of a kind.
fn kind_name(kind: &impl serde::Serialize) -> String {
    serde_json::to_value(kind).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
