//! The search that the command line and the MCP server share: which project comes first, what counts as a project's name, and what a
//! person or a model has to know beside the results.

use std::ops::Range;

use anyhow::Result;
use serde::Serialize;

use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::author::Author;
use crate::model::note::EVERYWHERE;
use crate::model::note::Note;
use crate::search::semantic::score_fusion::MAX_CANDIDATES;
use crate::search::semantic::semantic_matches;
use crate::search::{Found, Highlighter, HitSource, Query, SearchHit, SearchOptions, find, unmatched_projects};
pub(crate) use crate::search::{KindFilter, kinds};
use crate::store::Memory;
use text::clean::{counted, one_line, shorten, without_controls};
use transcripts::client::Client;
use transcripts::session::{Millis, Project};

/// A search by words whose results all have a lower share of the words, by weight, is told to be weak. Of 127 such searches among 292, 116 had no
/// right result among the first five (`docs/src/search.md`); of those that had one, 7 % were told so.
const WEAK_SHARE: f64 = 0.5;
/// Characters shown of a name that is unknown.
const MAX_SHOWN: usize = 60;

/// What to look for, and which part of the results.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SearchRequest<'a> {
    /// Words, phrases in quotes and filters, as they were typed.
    pub(crate) words: &'a str,
    /// Only this project: the name of its folder, its path or a glob.
    pub(crate) project: Option<&'a str>,
    /// Only what began since and before this time, in milliseconds since the Unix epoch; in place of such a filter among the words.
    pub(crate) since: Option<Millis>,
    pub(crate) before: Option<Millis>,
    /// Only what was said as this.
    pub(crate) kind: Option<KindFilter>,
    /// The key of the project of whoever asks: its results come first.
    pub(crate) own: &'a str,
    pub(crate) limit: usize,
    pub(crate) skip: usize,
    /// Somebody is typing it and waits after each key: the last word may go on, and only words are compared.
    pub(crate) as_typed: bool,
}

impl SearchRequest<'_> {
    /// Is there nothing to look for, be it a word or a filter?
    pub(crate) fn is_empty(&self, config: &Config) -> bool {
        self.query(config).is_empty()
    }

    fn query(&self, config: &Config) -> Query {
        let context = config.query_context();
        let mut query = Query::parse(self.words, &context);
        if self.as_typed && !self.words.ends_with(char::is_whitespace) {
            query = query.with_open_end();
        }
        query.narrow_to(self.project.unwrap_or_default(), &context);
        query.filters.since = self.since.or(query.filters.since);
        query.filters.before = self.before.or(query.filters.before);
        query.filters.kinds.extend(self.kind);
        query
    }
}

/// A session, a note or a memory file of Claude's, as it is told and in `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct SearchResult {
    /// The id of the session, of the note, or of the memory file of Claude's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) memory_file: Option<String>,
    /// As much of the id as opens it.
    #[serde(skip)]
    pub(crate) short_id: String,
    /// Whose session it is; not said of Claude Code's.
    #[serde(rename = "agent", skip_serializing_if = "Client::is_usual")]
    pub(crate) client: Client,
    /// The machine that the session came from, if it is not this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<String>,
    /// The project's key.
    pub(crate) project: String,
    /// The name of its folder.
    #[serde(skip)]
    pub(crate) project_name: String,
    /// It is another project than that of whoever asks.
    #[serde(skip)]
    pub(crate) is_elsewhere: bool,
    /// The local day when the session was last active, or when the note or the memory file was written; of a team's statement the day that it says.
    pub(crate) day: String,
    /// One line.
    pub(crate) title: String,
    /// Of a note: who wrote it, and the same in words, with whether what it wants is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<Author>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    /// What the passage is: `decision`, `prompt` …
    pub(crate) found_in: Option<&'static str>,
    /// The passage that fits best, whole; empty if nothing was said.
    pub(crate) passage: String,
    /// Higher is better; comparable only within one search.
    pub(crate) score: f64,
    /// The share of the query's words, by weight, that it holds: 0 to 1, in hundredths.
    pub(crate) covered: f64,
    /// What came since of what the passage says: "since then: closed by the user, 2026-11-21: …".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since_then: Option<Vec<String>>,
    /// The session was still running when it was digested.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) goes_on: bool,
}

/// What there is beside the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MoreResults {
    None,
    /// The next part begins here.
    From(usize),
    /// Beyond this place the ranking differs, so that further parts would not fit together.
    NotListed,
}

impl MoreResults {
    /// What there is to know for whoever asks for one part after the other.
    pub(crate) fn notice(self) -> Option<String> {
        (self == Self::NotListed).then(|| "too many results: add a word or a filter".to_owned())
    }
}

/// How many results a search lists.
pub(crate) struct SearchLimit {
    /// Where nobody says how many.
    pub(crate) usual: usize,
    pub(crate) most: usize,
}

/// A person scrolls; a model pays for every line.
pub(crate) const FOR_PERSON: SearchLimit = SearchLimit { usual: 10, most: 1_000 };
pub(crate) const FOR_MODEL: SearchLimit = SearchLimit { usual: 8, most: 50 };

pub(crate) struct SearchReply {
    /// Those of the own project and of none first, each part best first.
    pub(crate) results: Vec<SearchResult>,
    pub(crate) more: MoreResults,
    /// What keeps this from being all there is.
    pub(crate) notices: Vec<String>,
    highlighter: Highlighter,
}

impl SearchResult {
    /// What stands behind the title: who wrote a note, on which machine a session is.
    pub(crate) fn remark(&self) -> Option<String> {
        self.by.clone().or_else(|| self.machine.as_ref().map(|machine| format!("on {machine}")))
    }

    /// The same with the agent before it, unless that is the usual one.
    pub(crate) fn remark_with_agent(&self) -> Option<String> {
        let agent = Some(self.client.name().to_owned()).filter(|_| !self.client.is_usual());
        let all: Vec<String> = agent.into_iter().chain(self.remark()).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

impl SearchReply {
    /// The part of a passage around the matching words, at most so many characters.
    pub(crate) fn excerpt(&self, passage: &str, most: usize) -> String {
        self.highlighter.excerpt(passage, most)
    }

    /// Where the matching words stand in a text.
    pub(crate) fn marks(&self, text: &str) -> Vec<Range<usize>> {
        self.highlighter.marks(text)
    }
}

/// # Errors
/// If the index cannot be read. An endpoint for embeddings that does not answer is a notice.
pub(crate) fn search(memory: &OpenMemory, config: &Config, asked: &SearchRequest<'_>) -> Result<SearchReply> {
    let (store, query) = (&memory.0, asked.query(config));
    let SearchRequest { own, limit, .. } = *asked;
    // Nothing is listed behind them.
    let skip = asked.skip.min(MAX_CANDIDATES);
    let mut notices = Vec::new();
    let meaning = if asked.as_typed { Ok(None) } else { semantic_matches(config, store, &query.text) };
    let similar = meaning.unwrap_or_else(|e| {
        notices.push(format!("searched by words only, not by meaning: {e:#}"));
        None
    });
    let wanted = SearchOptions {
        limit: limit + 1,
        skip,
        passages: 1,
        own: Some(own),
        now: config.now(),
        similar: similar.as_ref(),
        ..SearchOptions::default()
    };
    let Found { mut hits, query, relaxed } = find(store, &query, &wanted)?;
    let has_more = hits.len() > limit;
    hits.truncate(limit);
    hits.sort_by_key(|hit| is_elsewhere(hit, own));
    notices.extend(relaxed);
    notices.extend(unmatched_projects(store, &query)?.iter().map(|name| unknown_project(name)));
    notices.extend(query.misread.iter().map(|typed| misread(typed)));
    notices.extend(about_claims(&hits, &query));
    // What means the same may have none of the words.
    notices.extend(about_weak(&hits, &query).filter(|_| similar.is_none() && skip == 0));
    let unindexed = store.unindexed_count()?;
    if unindexed > 0 {
        notices.push(format!(
            "{} changed after the last digest: run `recall digest` to add what is new",
            counted(unindexed as usize, "session")
        ));
    }
    let results = hits.iter().map(|hit| result(hit, own, store, config)).collect::<Result<_>>()?;
    let more = match has_more {
        false => MoreResults::None,
        true if skip + 2 * limit <= MAX_CANDIDATES => MoreResults::From(skip + limit),
        true => MoreResults::NotListed,
    };
    Ok(SearchReply { results, more, notices, highlighter: Highlighter::of_query(&query) })
}

/// That the results may all be about something else.
fn about_weak(hits: &[SearchHit], query: &Query) -> Option<String> {
    let best = hits.iter().map(|hit| hit.covered).reduce(f64::max)?;
    let is_weak = query.terms.len() > 1 && query.phrases.is_empty() && best < WEAK_SHARE;
    is_weak
        .then(|| "no result contains half of your words (rare ones count more), so perhaps nothing stored is about this".to_owned())
}

/// What results say that no model read, where a kind of claims was asked for.
fn about_claims(hits: &[SearchHit], query: &Query) -> Option<String> {
    match hits.iter().filter(|hit| hit.without_claims).count() {
        0 if hits.is_empty() && query.lists_claims() => Some(
            "nothing found: only notes and digests by the model contain text of this kind; leave the filter out to search everything"
                .into(),
        ),
        0 => None,
        1 => Some("1 of these sessions has no digest by the model: the result shows what you said or pasted there".into()),
        count => {
            Some(format!("{count} of these sessions have no digest by the model: the results show what you said or pasted there"))
        }
    }
}

fn result(hit: &SearchHit, own: &str, store: &Memory, config: &Config) -> Result<SearchResult> {
    let passage = hit.passages.first();
    let (session, note, memory_file) = match &hit.origin {
        HitSource::Session(head) => (Some(head.id.clone()), None, None),
        HitSource::Note(note) => (None, Some(note), None),
        HitSource::MemoryFile(file) => (None, None, Some(file.id.clone())),
    };
    let said_on = match &hit.origin {
        HitSource::MemoryFile(file) => file.said_on(),
        HitSource::Session(_) | HitSource::Note(_) => None,
    };
    let machine = match &hit.origin {
        HitSource::Session(head) => store.origin_of(head.pk)?.map(|origin| origin.name),
        HitSource::Note(_) | HitSource::MemoryFile(_) => None,
    };
    Ok(SearchResult {
        machine,
        short_id: match &session {
            Some(id) => store.short_id(id)?,
            None => hit.id().to_owned(),
        },
        session,
        note: note.map(|note| note.id.clone()),
        memory_file,
        client: hit.client(),
        project: hit.project().key.clone(),
        project_name: match hit.project() {
            Project { key } if key == EVERYWHERE => "all projects".to_owned(),
            project => project.name().to_owned(),
        },
        is_elsewhere: is_elsewhere(hit, own),
        day: said_on.map_or_else(|| config.local_time(Some(hit.at()), "%Y-%m-%d"), |day| day.to_string()),
        title: one_line(&without_controls(&hit.title)),
        author: note.map(|note| note.author.clone()),
        by: note.map(Note::origin),
        found_in: passage.map(|passage| passage.kind.name()),
        passage: passage.map_or_else(String::new, |passage| passage.text.clone()),
        score: hit.score,
        covered: (hit.covered * 100.0).round() / 100.0,
        since_then: (!hit.since_then.is_empty()).then(|| hit.since_lines(|at| config.local_time(Some(at), "%Y-%m-%d"))),
        goes_on: hit.goes_on,
    })
}

/// Is a result of another project than this one?
fn is_elsewhere(hit: &SearchHit, own: &str) -> bool {
    let key = &hit.project().key;
    key != own && key != EVERYWHERE
}

/// The message for a name that no project has.
fn misread(typed: &str) -> String {
    let choices = match typed.split_once(':').map(|(key, _)| key.to_ascii_lowercase()).as_deref() {
        Some("kind") => format!("kinds: {}", kinds().join(", ")),
        Some("agent") => format!("agents: {}", Client::ALL.map(Client::key).join(", ")),
        _ => "times: 7d, 12h, a date, today, yesterday".to_owned(),
    };
    format!("`{}` is no filter, so its words were searched ({choices})", shorten(&one_line(&without_controls(typed)), MAX_SHOWN))
}

pub(crate) fn unknown_project(name: &str) -> String {
    format!("no project is called `{}`", shorten(&one_line(&without_controls(name)), MAX_SHOWN))
}
