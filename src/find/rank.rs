//! Which documents answer a query best: words first, then what is near in meaning, then a little of who asks and when.

use std::collections::HashMap;

use anyhow::Result;

use super::Wanted;
use super::query::{Filters, Query};
use super::words::{Weighed, Words};
use crate::config::globset;
use crate::embed::fuse::{CANDIDATES, fuse};
use crate::session::{Millis, Project};
use crate::store::Store;
use crate::store::search::{Asked, Hit};
use crate::terms::{index_names, index_text};

/// So many words of a question rank, and find where they are rare enough together.
const WORDS: usize = 8;
/// The most words that find and rank, where the rest of them is rare.
const MAX_WORDS: usize = 24;
/// What a document scores that holds every word where words count, by the sum of what they weigh. Chosen on the questions of
/// `tests/quality` that are for choosing.
const FULL: f64 = 2.0;
/// How much better a result of today is than an old one, and after how long half of that is gone.
const RECENT: f64 = 0.15;
const HALF_LIFE: f64 = 60.0 * 86_400_000.0;
/// How much better a result of the own project is.
const OWN: f64 = 1.3;
/// Behind the first few, what has less of the best score than this is left out: it is what was meant in none of the questions of
/// `tests/quality` that are for choosing, and a sixth of what there was to read.
const WORTH: f64 = 0.25;
const AT_LEAST: usize = 5;

/// Documents near in meaning to what was asked, the nearest first, with the cosine, and how much that counts against words: 0 to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Similar {
    pub docs: Vec<(i64, f64)>,
    pub weight: f64,
}

/// The documents that fit, best first.
pub(super) struct Ranked {
    pub words: Words,
    pub hits: Vec<Hit>,
}

pub(super) fn ranked(store: &Store, query: &Query, wanted: &Wanted<'_>) -> Result<Option<Ranked>> {
    if query.is_empty() {
        return Ok(None);
    }
    let words = Words::of(store, query)?;
    let projects = store.projects()?;
    let asked = asked(query, &projects);
    let own = wanted.own.and_then(|own| projects.iter().find(|(_, key)| key == own)).map(|(pk, _)| *pk);
    let except = wanted.except.map(|id| store.session_pk(id)).transpose()?.flatten();
    let most = CANDIDATES.max(wanted.skip + wanted.limit);
    let mut hits = by_words(store, &asked, &words, most, wanted.telling_only)?;
    if let Some(own) = own.filter(|_| asked.projects.is_none() && hits.len() >= most) {
        add_new(
            &mut hits,
            by_words(store, &Asked { projects: Some(vec![own]), ..asked.clone() }, &words, CANDIDATES, wanted.telling_only)?,
        );
    }
    if let Some(similar) = wanted.similar {
        add_near(store, &asked, &mut hits, &words, similar)?;
    }
    hits.retain(|hit| except.is_none() || hit.session != except);
    for hit in &mut hits {
        hit.score *= favour(hit, own, wanted.now);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    // A phrase or a kind may be what only the last of them holds.
    if query.phrases.is_empty() && query.filters.kinds.is_empty() {
        let least = WORTH * hits.first().map_or(0.0, |hit| hit.score);
        let worth = hits.iter().position(|hit| hit.score < least).unwrap_or(hits.len());
        hits.truncate(worth.max(AT_LEAST));
    }
    Ok(Some(Ranked { words, hits }))
}

/// Documents by words, as many as are wanted: by those that tell, and where that is too few by common ones among the newest.
fn by_words(store: &Store, asked: &Asked, words: &Words, most: usize, telling_only: bool) -> Result<Vec<Hit>> {
    let known = words.weighed.iter().filter(|word| word.df > 0);
    let (telling, common): (Vec<&Weighed>, Vec<&Weighed>) = known.partition(|word| word.df <= words.limit);
    let (any, rank) = finding(&telling, words.limit);
    // Without words that are anywhere, phrases and filters find alone, if they were all that was asked.
    let alone = words.weighed.is_empty() || !asked.all.is_empty() && common.is_empty();
    let mut hits = if any.is_empty() && !alone { Vec::new() } else { store.ask(&Asked { any, rank, ..asked.clone() }, most)? };
    let common: Vec<String> = common.iter().take(WORDS).map(|word| format!("({})", word.expression)).collect();
    // So common that they rank nothing: the newest that hold all of them, then those that hold any.
    let joined = if common.len() > 1 { &[" AND ", " OR "][..] } else { &[" OR "] };
    for joined in joined {
        if hits.len() < most && !common.is_empty() && !telling_only {
            let any = vec![common.join(joined)];
            add_new(&mut hits, store.ask(&Asked { any, newest: true, ..asked.clone() }, most)?);
        }
    }
    let below = hits.iter().map(|hit| hit.score).filter(|score| *score > 0.0).fold(1.0, f64::min);
    for (place, hit) in hits.iter_mut().filter(|hit| hit.score == 0.0).enumerate() {
        hit.score = below * (0.9 - 0.001 * place.min(500) as f64);
    }
    Ok(hits)
}

/// Expressions that find, and those that rank what is found: all that count where they are many documents together.
fn finding(telling: &[&Weighed], limit: u64) -> (Vec<String>, Vec<String>) {
    let counts = |(at, word): &(usize, &&Weighed)| *at < WORDS || *at < MAX_WORDS && word.df * 4 <= limit;
    let rank: Vec<&&Weighed> = telling.iter().enumerate().filter(counts).map(|(_, word)| word).collect();
    let mut total = 0;
    let within = |word: &&&&Weighed| {
        total += word.df;
        total <= limit
    };
    let found = rank.iter().take_while(within).count().max(1).min(rank.len());
    let expressions = |words: &[&&Weighed]| words.iter().map(|word| word.expression.clone()).collect::<Vec<_>>();
    (expressions(&rank[..found]), if found < rank.len() { expressions(&rank) } else { Vec::new() })
}

fn add_new(hits: &mut Vec<Hit>, more: Vec<Hit>) {
    for hit in more {
        if !hits.iter().any(|known| known.doc == hit.doc) {
            hits.push(hit);
        }
    }
}

/// What has to be so, in the index's words.
fn asked(query: &Query, projects: &[(i64, String)]) -> Asked {
    let filters = &query.filters;
    // A name of signs alone is nowhere.
    let named = |column: &str, name: &str| format!("{{{column}}} : \"{}\"", index_names(name));
    let phrases = query.phrases.iter().map(|phrase| format!("\"{}\"", index_text(phrase)));
    let files = filters.files.iter().map(|file| named("files", file));
    let tools = filters.tools.iter().map(|tool| named("tools", tool));
    let branches: Vec<String> = filters.branches.iter().map(|branch| named("branches", branch)).collect();
    let branches = (!branches.is_empty()).then(|| branches.join(" OR "));
    Asked {
        all: phrases.chain(files).chain(tools).chain(branches).collect(),
        columns: filters.kinds.iter().flat_map(|kind| kind.columns()).copied().collect(),
        projects: projects_of(filters, projects),
        since: filters.since,
        before: filters.before,
        notes_only: filters.asks_for_notes_only(),
        ..Asked::default()
    }
}

/// The projects that any of the patterns means: by glob or the last folder; where none is, by a part of its name.
fn projects_of(filters: &Filters, projects: &[(i64, String)]) -> Option<Vec<i64>> {
    let of = |fits: &dyn Fn(&str) -> bool| projects.iter().filter(|(_, key)| fits(key)).map(|(pk, _)| *pk).collect::<Vec<_>>();
    if let Some(keys) = &filters.keys {
        return Some(of(&|key| keys.iter().any(|known| known == key)));
    }
    let patterns = &filters.projects;
    if patterns.is_empty() {
        return None;
    }
    let globs: Vec<_> = patterns.iter().map(|p| globset(std::slice::from_ref(p), std::path::Path::new("/")).ok()).collect();
    let name = |key: &str| Project { key: key.to_owned() }.name().to_owned();
    let is_meant = |key: &str| globs.iter().flatten().any(|glob| glob.is_match(key) || glob.is_match(name(key)));
    let is_named = |key: &str| patterns.iter().any(|pattern| name(key).to_lowercase().contains(&pattern.to_lowercase()));
    let meant = of(&is_meant);
    Some(if meant.is_empty() { of(&is_named) } else { meant })
}

/// Adds what is near in meaning and fits the filters, and orders all by both. What has to hold a text or a file is found by that alone.
fn add_near(store: &Store, asked: &Asked, hits: &mut Vec<Hit>, words: &Words, similar: &Similar) -> Result<()> {
    let mut near = Vec::new();
    for (doc, cosine) in &similar.docs {
        if near.len() >= CANDIDATES {
            break;
        }
        let known = hits.iter().any(|hit| hit.doc == *doc);
        let by_words_alone = !asked.all.is_empty() || !asked.columns.is_empty();
        let more = if known || by_words_alone { None } else { store.document_by(asked, *doc)? };
        if known || more.is_some() {
            near.push((*doc, *cosine));
        }
        hits.extend(more);
    }
    // With few words of the question anywhere, the best of them is no good answer.
    let full = FULL * words.weighed.iter().map(|word| scored(word.df as f64, words.documents)).sum::<f64>();
    let lexical: Vec<(i64, f64)> = hits.iter().filter(|hit| hit.score > 0.0).map(|hit| (hit.doc, hit.score)).collect();
    let fused: HashMap<i64, f64> = fuse(&lexical, &near, full, similar.weight).into_iter().collect();
    for hit in hits {
        hit.score = fused.get(&hit.doc).copied().unwrap_or_default();
    }
    Ok(())
}

/// What FTS5's bm25 gives for such a word: next to nothing where most documents hold it, as is soon so of few.
fn scored(holding: f64, documents: f64) -> f64 {
    ((documents - holding + 0.5) / (holding + 0.5)).ln().max(1e-6)
}

/// What was done lately, and in the project of who asks, is meant more often.
fn favour(hit: &Hit, own: Option<i64>, now: Millis) -> f64 {
    let age = now.saturating_sub(hit.last_at).max(0) as f64;
    let recent = 1.0 + RECENT * (-age / HALF_LIFE * std::f64::consts::LN_2).exp();
    if own == Some(hit.project) { recent * OWN } else { recent }
}
