//! Which documents answer a query best: words first, then what is near in meaning, then a little of who asks and when.

use anyhow::Result;

use super::query::Query;
use super::synonyms::marker;
use super::{Origin, Wanted};
use crate::config::globset;
use crate::session::{Millis, Project};
use crate::store::Store;
use crate::store::search::{Asked, Hit};
use crate::terms::index_text;

/// Results of each way of finding that are looked at.
const CANDIDATES: usize = 100;
/// So many words of a long question find; more only where all of them are rare.
const WORDS: usize = 8;
/// The most words that find.
const MAX_WORDS: usize = 24;
/// A word that more than this share of all documents hold says little.
const COMMON: f64 = 0.25;
/// How much better a result of today is than an old one, and after how long half of that is gone.
const RECENT: f64 = 0.15;
const HALF_LIFE: f64 = 60.0 * 86_400_000.0;
/// How much better a result of the own project is.
const OWN: f64 = 1.3;
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
}

/// A result that is not shown yet.
pub(super) struct Ranked {
    pub doc: i64,
    pub origin: Origin,
    pub score: f64,
    /// The words by which it was looked for.
    pub words: std::rc::Rc<Vec<Weighed>>,
}

pub(super) fn ranked(store: &Store, query: &Query, wanted: &Wanted<'_>) -> Result<Vec<Ranked>> {
    let words = std::rc::Rc::new(weigh(store, query)?);
    let Some(asked) = asked(store, query, &words)? else { return Ok(Vec::new()) };
    let mut hits = store.ask(&asked, CANDIDATES.max(wanted.skip + wanted.limit))?;
    let projects = store.projects()?;
    let own = wanted.own.and_then(|own| projects.iter().find(|(_, key)| key == own)).map(|(pk, _)| *pk);
    if let Some(own) = own.filter(|_| asked.projects.is_none()) {
        let own_hits = store.ask(&Asked { projects: Some(vec![own]), ..asked.clone() }, CANDIDATES)?;
        hits.extend(own_hits.into_iter().filter(|hit| !hits.iter().any(|known| known.doc == hit.doc)).collect::<Vec<_>>());
    }
    if let Some(similar) = wanted.similar {
        fuse(store, &asked, &mut hits, similar)?;
    }
    for hit in &mut hits {
        hit.score *= favour(hit, own, wanted.now);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut all = resolve(store, query, hits, &words, wanted.skip + wanted.limit)?;
    Ok(all.split_off(wanted.skip.min(all.len())))
}

/// The words of the query as this index knows them. Of a long question those that tell most.
fn weigh(store: &Store, query: &Query) -> Result<Vec<Weighed>> {
    let documents = store.documents()? as f64;
    let mut all = Vec::new();
    for term in &query.terms {
        let word = format!("\"{}\"", term.text);
        let expression = match term.group {
            Some(group) => format!("{word} OR {{extra}} : \"{}\"", marker(group)),
            None => word.clone(),
        };
        let df = store.count_documents(&word)?;
        let weight = (1.0 + (documents - df as f64 + 0.5).max(0.0) / (df as f64 + 0.5)).ln();
        all.push((df, Weighed { text: term.text.clone(), group: term.group, expression, weight }));
    }
    // Of equals what was asked first.
    all.sort_by_key(|(df, _)| (*df == 0, *df));
    let tells = |at: usize, df: u64| at < WORDS || at < MAX_WORDS && (df as f64) <= documents * COMMON;
    let kept = all.into_iter().enumerate().filter(|(at, (df, _))| tells(*at, *df)).map(|(_, (_, word))| word);
    Ok(kept.collect())
}

/// The query in the index's words. `None` when nothing can fit.
fn asked(store: &Store, query: &Query, words: &[Weighed]) -> Result<Option<Asked>> {
    let filters = &query.filters;
    let mut any = Vec::new();
    for word in words {
        let df = store.count_documents(&word.expression)?;
        if df > 0 {
            any.push((word.expression.clone(), df));
        }
    }
    any.sort_by_key(|(_, df)| *df);
    if any.is_empty() && (!words.is_empty() || query.is_empty()) && query.phrases.is_empty() {
        return Ok(None);
    }
    let quoted = |column: &str, text: &str| {
        let words = index_text(text);
        (!words.is_empty()).then(|| if column.is_empty() { format!("\"{words}\"") } else { format!("{{{column}}} : \"{words}\"") })
    };
    let phrases = query.phrases.iter().filter_map(|phrase| quoted("", phrase));
    let files = filters.files.iter().filter_map(|file| quoted("files", file));
    let tools = filters.tools.iter().filter_map(|tool| quoted("tools", tool));
    let branches: Vec<String> = filters.branches.iter().filter_map(|branch| quoted("branches", branch)).collect();
    let branches = (!branches.is_empty()).then(|| branches.join(" OR "));
    let all = phrases.chain(files).chain(tools).chain(branches).collect();
    let columns = filters.kinds.iter().flat_map(|kind| super::passages::columns_of(kind)).copied().collect();
    let notes_only = filters.kinds.iter().any(|kind| kind == "note") && filters.kinds.len() == 1;
    let projects = projects_of(store, &filters.projects)?;
    Ok(Some(Asked { any, all, columns, projects, since: filters.since, before: filters.before, notes_only }))
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

/// Adds what is near in meaning: both scales from 0 to 1, and the best of each.
fn fuse(store: &Store, asked: &Asked, hits: &mut Vec<Hit>, similar: &Similar) -> Result<()> {
    let best = hits.iter().map(|hit| hit.score).fold(f64::MIN_POSITIVE, f64::max);
    let nearest = similar.docs.first().map_or(f64::MIN_POSITIVE, |(_, cos)| cos.max(f64::MIN_POSITIVE));
    let near: Vec<(i64, f64)> = similar.docs.iter().take(CANDIDATES).copied().collect();
    let unknown: Vec<i64> = near.iter().map(|(doc, _)| *doc).filter(|doc| !hits.iter().any(|hit| hit.doc == *doc)).collect();
    let fits = |hit: &Hit| asked.projects.as_ref().is_none_or(|projects| projects.contains(&hit.project)) && asked.all.is_empty();
    let more: Vec<Hit> = store.documents_by(&unknown)?.into_iter().filter(fits).collect();
    hits.extend(more);
    for hit in hits {
        let cos = near.iter().find(|(doc, _)| *doc == hit.doc).map_or(0.0, |(_, cos)| cos.max(0.0));
        hit.score = (1.0 - similar.weight) * hit.score / best + similar.weight * cos / nearest;
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
fn resolve(store: &Store, query: &Query, hits: Vec<Hit>, words: &std::rc::Rc<Vec<Weighed>>, most: usize) -> Result<Vec<Ranked>> {
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
