//! The search that the command line and the MCP server share: which project comes first, what counts as a project's name, and what a
//! person or a model has to know beside the results.

use anyhow::Result;

use crate::config::Config;
use crate::model::note::EVERYWHERE;
use crate::search::semantic::semantic_matches;
use crate::search::{Query, SearchHit, SearchOptions, fallback_message, falls_back_to_words, find, unmatched_projects};
use crate::store::Memory;
use crate::text::clean::{one_line, shorten, without_controls};

/// Characters shown of a name that is unknown.
const MAX_SHOWN: usize = 60;

/// A part of the results, from `skip` on.
pub(crate) struct SearchRequest<'a> {
    pub(crate) query: &'a Query,
    /// The key of the project of whoever asks: its results come first.
    pub(crate) own: &'a str,
    pub(crate) limit: usize,
    pub(crate) skip: usize,
}

#[derive(Debug)]
pub(crate) struct SearchReply {
    /// Those of the own project and of none first, each part best first.
    pub(crate) hits: Vec<SearchHit>,
    pub(crate) has_more: bool,
    /// What keeps this from being all there is.
    pub(crate) notices: Vec<String>,
}

/// # Errors
/// If the index cannot be read. An endpoint for embeddings that does not answer is a notice.
pub(crate) fn search(store: &Memory, config: &Config, asked: &SearchRequest<'_>) -> Result<SearchReply> {
    let SearchRequest { query, own, limit, skip } = *asked;
    let mut notices = Vec::new();
    let similar = semantic_matches(config, store, &query.text).unwrap_or_else(|e| {
        notices.push(format!("found by words alone: {e:#}"));
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
    let mut hits = find(store, query, &wanted)?;
    let has_more = hits.len() > limit;
    hits.truncate(limit);
    hits.sort_by_key(|hit| is_elsewhere(hit, own));
    if !hits.is_empty() && falls_back_to_words(store, query, &wanted)? {
        notices.push(fallback_message(query));
    }
    notices.extend(unmatched_projects(store, query)?.iter().map(|name| unknown_project(name)));
    let without_claims = hits.iter().filter(|hit| hit.without_claims).count();
    if without_claims > 0 {
        let told =
            if without_claims == 1 { "1 of these sessions was" } else { &format!("{without_claims} of these sessions were") };
        notices.push(format!("{told} not read by a model: shown is what the user said there"));
    }
    if hits.is_empty() && query.lists_claims() {
        notices.push("no note is of that kind, and no session that a model digested says such: with words beside it, what you said is searched".into());
    }
    let unindexed = store.unindexed_count()?;
    if unindexed > 0 {
        notices.push(format!("{unindexed} sessions have changed since: `recall digest` makes them found"));
    }
    Ok(SearchReply { hits, has_more, notices })
}

/// Is a result of another project than this one?
pub(crate) fn is_elsewhere(hit: &SearchHit, own: &str) -> bool {
    let key = &hit.project().key;
    key != own && key != EVERYWHERE
}

/// The message for a name that no project has.
pub(crate) fn unknown_project(name: &str) -> String {
    format!("no project is called `{}`", shorten(&one_line(&without_controls(name)), MAX_SHOWN))
}
