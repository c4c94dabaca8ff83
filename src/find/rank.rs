//! Which documents answer a query best: words first, then what is near in meaning, then a little of who asks and when.

use std::collections::HashMap;
use std::rc::Rc;

use anyhow::Result;

use super::query::Query;
use super::synonyms::marker;
use super::{Origin, Wanted};
use crate::config::globset;
use crate::embed::fuse::{CANDIDATES, fuse};
use crate::session::{Millis, Project};
use crate::store::Store;
use crate::store::search::{Asked, Hit};
use crate::terms::index_text;

/// So many words of a long question find; more only where all of them are rare.
const WORDS: usize = 8;
/// The most words that find, and that are looked up.
const MAX_WORDS: usize = 24;
const LOOKED_UP: usize = 48;
/// Documents that are ranked at most, as a share of all of them, and where there are few: a microsecond each. A word that more of them
/// hold is common: it says little, and is only looked for in the newest.
const COMMON: f64 = 0.2;
const FEW: u64 = 4_000;
const MANY: u64 = 10_000;
/// What a document scores that holds every word where words count, by the sum of what they weigh. Chosen on the questions of
/// `tests/quality` that are for choosing.
const FULL: f64 = 2.0;
/// How much better a result of today is than an old one, and after how long half of that is gone.
const RECENT: f64 = 0.15;
const HALF_LIFE: f64 = 60.0 * 86_400_000.0;
/// How much better a result of the own project is.
const OWN: f64 = 1.3;
/// Behind the first few, what has less of the best score than this is left out: it is what was meant in none of the questions of
/// `tests/quality` that are for choosing, and a quarter of what there was to read.
const WORTH: f64 = 0.25;
const AT_LEAST: usize = 5;
/// How much better a score has to be to be clearly better.
const CLEARLY: f64 = 1.2;

/// Documents near in meaning to what was asked, the nearest first, with the cosine, and how much that counts against words: 0 to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Similar {
    pub docs: Vec<(i64, f64)>,
    pub weight: f64,
}

/// A word of the query with what it weighs here.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Weighed {
    pub text: String,
    pub group: Option<&'static str>,
    pub expression: String,
    /// The rarer the more.
    pub weight: f64,
    /// Documents that hold it; no more than one beyond what is common.
    df: u64,
}

/// A result that is not shown yet.
pub(super) struct Ranked {
    pub doc: i64,
    pub origin: Origin,
    pub score: f64,
    /// The words by which it was looked for.
    pub words: Rc<Vec<Weighed>>,
}

pub(super) fn ranked(store: &Store, query: &Query, wanted: &Wanted<'_>) -> Result<Vec<Ranked>> {
    let documents = store.documents()?;
    let limit = ((documents as f64 * COMMON) as u64).clamp(FEW, MANY);
    let words = Rc::new(weigh(store, query, documents, limit)?);
    let Some(asked) = asked(store, query)? else { return Ok(Vec::new()) };
    let needed = wanted.skip + wanted.limit;
    let projects = store.projects()?;
    let own = wanted.own.and_then(|own| projects.iter().find(|(_, key)| key == own)).map(|(pk, _)| *pk);
    let mut hits = by_words(store, &asked, &words, limit, CANDIDATES.max(needed))?;
    if let Some(own) = own.filter(|_| asked.projects.is_none()) {
        add_new(&mut hits, by_words(store, &Asked { projects: Some(vec![own]), ..asked.clone() }, &words, limit, CANDIDATES)?);
    }
    if let Some(similar) = wanted.similar {
        add_near(store, &asked, &mut hits, &words, similar)?;
    }
    for hit in &mut hits {
        hit.score *= favour(hit, own, wanted.now);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    let least = WORTH * hits.first().map_or(0.0, |hit| hit.score);
    let worth = hits.iter().position(|hit| hit.score < least).unwrap_or(hits.len());
    hits.truncate(worth.max(AT_LEAST));
    let mut all = resolve(store, query, hits, &words, needed)?;
    Ok(all.split_off(wanted.skip.min(all.len())))
}

/// The words of the query as this index knows them, the rarest first, those that are nowhere last.
fn weigh(store: &Store, query: &Query, documents: u64, limit: u64) -> Result<Vec<Weighed>> {
    let mut all = Vec::new();
    for term in query.terms.iter().take(LOOKED_UP) {
        let word = format!("\"{}\"", term.text);
        let mut df = store.count_documents(&word, limit + 1)?;
        let mut expression = word;
        if let Some(group) = term.group {
            let wider = format!("{expression} OR {{extra}} : \"{}\"", marker(group));
            let wider_df = store.count_documents(&wider, limit + 1)?;
            if wider_df <= limit || df == 0 {
                (expression, df) = (wider, wider_df);
            }
        }
        let weight = weight(df as f64, documents as f64);
        all.push(Weighed { text: term.text.clone(), group: term.group, expression, weight, df });
    }
    all.sort_by_key(|word| (word.df == 0, word.df));
    Ok(all)
}

/// What FTS5's bm25 gives for such a word: next to nothing where most documents hold it, as is soon so of few.
fn scored(holding: f64, documents: f64) -> f64 {
    ((documents - holding + 0.5) / (holding + 0.5)).ln().max(1e-6)
}

/// The most that a result could hold of a query, in words that no other document has. Costs little beside ranking.
pub(super) fn most_telling(store: &Store, query: &Query) -> Result<f64> {
    let documents = store.documents()?;
    let limit = ((documents as f64 * COMMON) as u64).clamp(FEW, MANY);
    let known = weigh(store, query, documents, limit)?.into_iter().filter(|word| word.df > 0);
    Ok(known.map(|word| word.weight).sum::<f64>() / weight(1.0, documents as f64))
}

/// What a word weighs that so many of all documents hold.
pub(super) fn weight(holding: f64, documents: f64) -> f64 {
    (1.0 + (documents - holding + 0.5).max(0.0) / (holding + 0.5)).ln()
}

/// Documents by words, as many as are wanted: by those that tell, and where that is too few by common ones among the newest.
fn by_words(store: &Store, asked: &Asked, words: &[Weighed], limit: u64, most: usize) -> Result<Vec<Hit>> {
    let known = words.iter().filter(|word| word.df > 0);
    let (telling, common): (Vec<&Weighed>, Vec<&Weighed>) = known.partition(|word| word.df <= limit);
    let mut total = 0;
    let tells = |(at, word): &(usize, &Weighed)| {
        total += word.df;
        *at < 1 || total <= limit && (*at < WORDS || *at < MAX_WORDS && word.df * 4 <= limit)
    };
    let any: Vec<String> = telling.into_iter().enumerate().filter(tells).map(|(_, word)| word.expression.clone()).collect();
    // Without words that are anywhere, phrases and filters find alone, if they were all that was asked.
    let alone = words.is_empty() || !asked.all.is_empty() && common.is_empty();
    let mut hits = if any.is_empty() && !alone { Vec::new() } else { store.ask(&Asked { any, ..asked.clone() }, most)? };
    let common: Vec<&str> = common.iter().take(WORDS).map(|word| word.expression.as_str()).collect();
    // So common that they rank nothing: the newest that hold all of them, then those that hold any.
    for joined in [" AND ", " OR "] {
        if hits.len() < most && !common.is_empty() {
            let any = vec![common.iter().map(|word| format!("({word})")).collect::<Vec<_>>().join(joined)];
            add_new(&mut hits, store.ask(&Asked { any, newest: true, ..asked.clone() }, most)?);
        }
    }
    let below = hits.iter().map(|hit| hit.score).filter(|score| *score > 0.0).fold(1.0, f64::min);
    for (place, hit) in hits.iter_mut().filter(|hit| hit.score == 0.0).enumerate() {
        hit.score = below * (0.9 - 0.001 * place.min(500) as f64);
    }
    Ok(hits)
}

fn add_new(hits: &mut Vec<Hit>, more: Vec<Hit>) {
    for hit in more {
        if !hits.iter().any(|known| known.doc == hit.doc) {
            hits.push(hit);
        }
    }
}

/// What has to be so, in the index's words. `None` when nothing can fit.
fn asked(store: &Store, query: &Query) -> Result<Option<Asked>> {
    if query.is_empty() {
        return Ok(None);
    }
    let filters = &query.filters;
    let quoted = |column: &str, text: &str| {
        let words = index_text(text);
        (!words.is_empty()).then(|| if column.is_empty() { format!("\"{words}\"") } else { format!("{{{column}}} : \"{words}\"") })
    };
    let phrases = query.phrases.iter().filter_map(|phrase| quoted("", phrase));
    let files = filters.files.iter().filter_map(|file| quoted("files", file));
    let tools = filters.tools.iter().filter_map(|tool| quoted("tools", tool));
    let branches: Vec<String> = filters.branches.iter().filter_map(|branch| quoted("branches", branch)).collect();
    let branches = (!branches.is_empty()).then(|| branches.join(" OR "));
    Ok(Some(Asked {
        any: Vec::new(),
        all: phrases.chain(files).chain(tools).chain(branches).collect(),
        columns: filters.kinds.iter().flat_map(|kind| super::passages::columns_of(kind)).copied().collect(),
        projects: projects_of(store, &filters.projects)?,
        since: filters.since,
        before: filters.before,
        notes_only: matches!(filters.kinds.as_slice(), [kind] if kind == "note"),
        newest: false,
    }))
}

/// The projects that any of the patterns means: by glob or the last folder; where none is, by a part of its name.
fn projects_of(store: &Store, patterns: &[String]) -> Result<Option<Vec<i64>>> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let globs: Vec<_> = patterns.iter().map(|p| globset(std::slice::from_ref(p), std::path::Path::new("/")).ok()).collect();
    let name = |key: &str| Project { key: key.to_owned() }.name().to_owned();
    let is_meant = |key: &str| globs.iter().flatten().any(|glob| glob.is_match(key) || glob.is_match(name(key)));
    let is_named = |key: &str| patterns.iter().any(|pattern| name(key).to_lowercase().contains(&pattern.to_lowercase()));
    let projects = store.projects()?;
    let of = |fits: &dyn Fn(&str) -> bool| projects.iter().filter(|(_, key)| fits(key)).map(|(pk, _)| *pk).collect::<Vec<_>>();
    let meant = of(&is_meant);
    Ok(Some(if meant.is_empty() { of(&is_named) } else { meant }))
}

/// Adds what is near in meaning and fits the filters, and orders all by both. What has to hold a text or a file is found by that alone.
fn add_near(store: &Store, asked: &Asked, hits: &mut Vec<Hit>, words: &[Weighed], similar: &Similar) -> Result<()> {
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
    let documents = store.documents()? as f64;
    let full = FULL * words.iter().map(|word| scored(word.df as f64, documents)).sum::<f64>();
    let lexical: Vec<(i64, f64)> = hits.iter().filter(|hit| hit.score > 0.0).map(|hit| (hit.doc, hit.score)).collect();
    let fused: HashMap<i64, f64> = fuse(&lexical, &near, full, similar.weight).into_iter().collect();
    for hit in hits {
        hit.score = fused.get(&hit.doc).copied().unwrap_or_default();
    }
    Ok(())
}

/// What was done lately, and in the project of who asks, is meant more often.
fn favour(hit: &Hit, own: Option<i64>, now: Millis) -> f64 {
    let age = now.saturating_sub(hit.last_at).max(0) as f64;
    let recent = 1.0 + RECENT * (-age / HALF_LIFE * std::f64::consts::LN_2).exp();
    if own == Some(hit.project) { recent * OWN } else { recent }
}

/// The best results with what they are of. Of sessions that say nearly the same, the last is enough, unless another says clearly more
/// of what is looked for.
fn resolve(store: &Store, query: &Query, hits: Vec<Hit>, words: &Rc<Vec<Weighed>>, most: usize) -> Result<Vec<Ranked>> {
    let score_of = |session: i64| hits.iter().find(|hit| hit.session == Some(session)).map(|hit| hit.score);
    let mut all = Vec::new();
    for hit in &hits {
        if all.len() >= most {
            break;
        }
        let origin = match (hit.session, hit.note) {
            (Some(session), _) => {
                let later = store.repeated_by(session)?.and_then(score_of);
                if later.is_some_and(|later| hit.score < later * CLEARLY) {
                    continue;
                }
                Origin::Session(store.session_head(session)?)
            }
            (None, Some(note)) => Origin::Note(store.note(note)?),
            (None, None) => continue,
        };
        if super::passages::holds_phrases(store, query, &origin)? {
            all.push(Ranked { doc: hit.doc, origin, score: hit.score, words: words.clone() });
        }
    }
    Ok(all)
}
