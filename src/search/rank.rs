//! Ranks documents: by words, then by score fusion with semantic matches, then with a bonus for the own project and recent work.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;

use super::SearchOptions;
use super::query::{Filters, Query};
use crate::analyze::stranger::only_states;
use crate::config::ProjectMatcher;
use crate::model::section::Section;
use crate::model::team_file::{TeamFile, is_team_file};
use crate::search::semantic::score_fusion::{MAX_CANDIDATES, fuse_scores};
use crate::search::weights::{QueryWords, WeightedWord};
use crate::store::Reader;
use crate::store::search::{DocumentHit, FtsQuery};
use text::tokenize::{index_names, index_text};
use transcripts::session::{Millis, Project};

/// This many words always rank; they also find documents as long as they are rare enough together.
const RANKING_WORDS: usize = 8;
/// The most words that find and rank, if those beyond the first are rare.
const MAX_WORDS: usize = 24;
/// The score of a document that holds every word, as a multiple of the sum of the words' scores. Tuned on the tuning questions of
/// `tests/quality`.
const FULL_COVERAGE_FACTOR: f64 = 2.0;
/// The bonus of a result of today over an old one, and its half-life in milliseconds.
const RECENCY_BONUS: f64 = 0.15;
const HALF_LIFE_MS: f64 = 60.0 * 86_400_000.0;
/// The factor for results of the own project.
const OWN_PROJECT_FACTOR: f64 = 1.3;
/// The bonus of a session for each other session in which an agent looked it up, and for how many of them.
const LOOKED_UP_BONUS: f64 = 0.05;
const LOOKED_UP_MOST: u32 = 2;
/// The bonus of a result whose user said the query's words together, and for how many of the best results it is looked up: what the user
/// said is the rule that others merely speak of. The largest with which the tuning questions of `tests/quality` lose no more than one place.
const OWN_WORDS_BONUS: f64 = 0.3;
const OWN_WORDS_RESULTS: usize = 10;
/// How many of the query's rarest words are looked up for that: each two of them together.
const OWN_WORDS_LOOKED_UP: usize = 4;
/// The most words between two that were said together.
const OWN_WORDS_APART: usize = 6;
/// The bonus of a document in which all neighbours of the query stand next to each other, too, if they are rare: so a name, an error or a title
/// is found as it was typed. Words that nearly half of all documents hold (this rarity) stand together by chance. Looked up for so many of the
/// best documents, and for so many pairs. Tuned on half of the questions of `docs/src/search.md`.
const VERBATIM_BONUS: f64 = 3.0;
const VERBATIM_MIN_RARITY: f64 = 0.15;
const VERBATIM_RESULTS: usize = 20;
const VERBATIM_PAIRS: usize = 12;
/// The bonus of a result that answers the query's question by the word of the model that read it; the least share of the query's words, by
/// weight, that one question must hold; and for how many of the best results that is looked up.
const ANSWERS_BONUS: f64 = 2.0;
const ANSWERS_MIN_SHARE: f64 = 0.5;
const ANSWERS_RESULTS: usize = 40;
/// The bonus where the question is the query.
const SAME_QUESTION_BONUS: f64 = 9.0;

/// Semantic matches, best first, each a document with its cosine, and their weight against words: 0 to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SemanticMatches {
    pub(crate) docs: Vec<(i64, f64)>,
    pub(crate) weight: f64,
}

/// The matching documents, best first.
pub(super) struct RankedHits {
    pub(crate) words: QueryWords,
    pub(crate) hits: Vec<DocumentHit>,
}

pub(super) fn rank(store: &Reader, query: &Query, wanted: &SearchOptions<'_>) -> Result<Option<RankedHits>> {
    if query.is_empty() {
        return Ok(None);
    }
    let words = QueryWords::of(store, query)?;
    let projects = store.projects()?;
    let asked = conditions(query, &projects);
    let own = wanted.own.and_then(|own| projects.iter().find(|(_, project)| project.key == own)).map(|(pk, _)| *pk);
    let except = wanted.except.map(|id| store.session_pk(id)).transpose()?.flatten();
    let most = MAX_CANDIDATES.max(wanted.skip + wanted.limit);
    let mut hits = by_words(store, &asked, &words, most, wanted.telling_only)?;
    if let Some(own) = own.filter(|_| asked.projects.is_none() && hits.len() >= most) {
        add_new(
            &mut hits,
            by_words(store, &FtsQuery { projects: Some(vec![own]), ..asked.clone() }, &words, MAX_CANDIDATES, wanted.telling_only)?,
        );
    }
    prefer_verbatim(store, &mut hits, query, &words)?;
    for hit in &mut hits {
        // Before fusion: where meaning decides, results lie so close together that this would outweigh it.
        hit.score *= recency(hit, wanted.now);
    }
    if let Some(similar) = wanted.similar {
        add_semantic(store, &asked, &mut hits, &words, similar)?;
    }
    let untold = if wanted.without_memory_files { untold_files(store, &hits)? } else { BTreeSet::new() };
    let is_untold = |hit: &DocumentHit| hit.memory_file.is_some_and(|file| untold.contains(&file));
    hits.retain(|hit| (except.is_none() || hit.session != except) && !is_untold(hit));
    let lookups = store.lookups()?;
    for hit in &mut hits {
        let is_own = own == Some(hit.project);
        hit.score *= if is_own { OWN_PROJECT_FACTOR } else { 1.0 } * found_useful(hit, &lookups);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    prefer_own_words(store, &mut hits, &words)?;
    prefer_answers(store, &mut hits, query, &words)?;
    Ok(Some(RankedHits { words, hits }))
}

/// Memory files among the results that are told to nobody who did not ask: Claude's own, which it reads itself, and those of a team that do more than
/// state something.
fn untold_files(store: &Reader, hits: &[DocumentHit]) -> Result<BTreeSet<i64>> {
    let mut untold = BTreeSet::new();
    for pk in hits.iter().filter_map(|hit| hit.memory_file).collect::<BTreeSet<i64>>() {
        let file = store.memory_file(pk)?;
        if !is_team_file(&file.path) || !only_states(&TeamFile::read(&file.text).text) {
            untold.insert(pk);
        }
    }
    Ok(untold)
}

/// Moves those of the best documents up that hold words of the query next to each other, in its order. Two rare words say most by that.
fn prefer_verbatim(store: &Reader, hits: &mut [DocumentHit], query: &Query, words: &QueryWords) -> Result<()> {
    if hits.is_empty() {
        return Ok(());
    }
    let indexed = index_text(&query.text);
    let typed: Vec<&str> = indexed.split_whitespace().collect();
    let best: Vec<i64> = hits.iter().take(VERBATIM_RESULTS).map(|hit| hit.doc).collect();
    let mut held: HashMap<i64, f64> = HashMap::new();
    let pairs = typed.windows(2).take(VERBATIM_PAIRS);
    let count = pairs.len().max(1) as f64;
    for pair in pairs {
        let rarity = pair.iter().map(|word| words.rarity(word)).fold(f64::INFINITY, f64::min);
        if rarity >= VERBATIM_MIN_RARITY {
            for doc in store.matching_of(&best, &format!("\"{}\"", pair.join(" ")))? {
                *held.entry(doc).or_default() += rarity / count;
            }
        }
    }
    for hit in hits.iter_mut() {
        hit.score *= 1.0 + VERBATIM_BONUS * held.get(&hit.doc).copied().unwrap_or_default();
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(())
}

/// Moves those of the best results up whose user said words of the query together.
fn prefer_own_words(store: &Reader, hits: &mut [DocumentHit], words: &QueryWords) -> Result<()> {
    let best: Vec<i64> = hits.iter().take(OWN_WORDS_RESULTS).map(|hit| hit.doc).collect();
    let known: Vec<&WeightedWord> = words.telling().take(OWN_WORDS_LOOKED_UP).collect();
    let mut together: HashMap<i64, BTreeSet<usize>> = HashMap::new();
    for (at, one) in known.iter().enumerate() {
        for (then, other) in known.iter().enumerate().skip(at + 1) {
            for doc in store.said_together(&best, [one.alone(), other.alone()], OWN_WORDS_APART)? {
                together.entry(doc).or_default().extend([at, then]);
            }
        }
    }
    let total: f64 = words.weighed.iter().map(|word| word.weight).sum();
    for hit in hits.iter_mut() {
        let said: f64 = together.get(&hit.doc).into_iter().flatten().map(|at| known[*at].weight).sum();
        hit.score *= 1.0 + OWN_WORDS_BONUS * said / total.max(f64::MIN_POSITIVE);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(())
}

/// Moves those of the best results up of which a model wrote that they answer a question with most of the query's words.
fn prefer_answers(store: &Reader, hits: &mut [DocumentHit], query: &Query, words: &QueryWords) -> Result<()> {
    for hit in hits.iter_mut().take(ANSWERS_RESULTS) {
        let Some(session) = hit.session else { continue };
        let Some(stored) = store.digest_of(session)?.filter(|stored| stored.is_by_model()) else { continue };
        let questions = stored.digest.findable().filter(|(section, _)| *section == Section::Questions);
        let bonus = |question: &str| match words.share_in(question) {
            share if share < ANSWERS_MIN_SHARE => 0.0,
            // Asked word for word: it has no other words either.
            share if share > 0.999 && Query::from_words(question).terms.len() == query.terms.len() => SAME_QUESTION_BONUS,
            share => ANSWERS_BONUS * share * share,
        };
        hit.score *= 1.0 + questions.map(|(_, question)| bonus(&question.text)).fold(0.0, f64::max);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(())
}

/// At most `most` documents by words: by distinctive words first, then by common words among the newest documents.
fn by_words(store: &Reader, asked: &FtsQuery, words: &QueryWords, most: usize, telling_only: bool) -> Result<Vec<DocumentHit>> {
    let telling: Vec<&WeightedWord> = words.telling().collect();
    let common: Vec<&WeightedWord> = words.weighed.iter().filter(|word| word.df > words.limit).collect();
    let (any, rank) = split_expressions(&telling, words.limit);
    // Without distinctive words, the conditions select alone if the query has no words at all, or if it requires phrases or names and has
    // no common words.
    let alone = words.weighed.is_empty() || !asked.all.is_empty() && common.is_empty();
    let mut hits = if any.is_empty() && !alone { Vec::new() } else { store.ask(&FtsQuery { any, rank, ..asked.clone() }, most)? };
    let common: Vec<String> = common.iter().take(RANKING_WORDS).map(|word| format!("({})", word.expression)).collect();
    // Too common to rank by: the newest documents that hold all of them, then those that hold any.
    let joined = if common.len() > 1 { &[" AND ", " OR "][..] } else { &[" OR "] };
    for joined in joined {
        if hits.len() < most && !common.is_empty() && !telling_only {
            let any = vec![common.join(joined)];
            add_new(&mut hits, store.ask(&FtsQuery { any, newest: true, ..asked.clone() }, most)?);
        }
    }
    let below = hits.iter().map(|hit| hit.score).filter(|score| *score > 0.0).fold(1.0, f64::min);
    for (place, hit) in hits.iter_mut().filter(|hit| hit.score == 0.0).enumerate() {
        hit.score = below * (0.9 - 0.001 * place.min(500) as f64);
    }
    Ok(hits)
}

/// The expressions that select documents, and those that rank the selection if it takes more words (empty if they are the same).
fn split_expressions(telling: &[&WeightedWord], limit: u64) -> (Vec<String>, Vec<String>) {
    let counts = |(at, word): &(usize, &&WeightedWord)| *at < RANKING_WORDS || *at < MAX_WORDS && word.df * 4 <= limit;
    let rank: Vec<&&WeightedWord> = telling.iter().enumerate().filter(counts).map(|(_, word)| word).collect();
    let mut total = 0;
    let within = |word: &&&&WeightedWord| {
        total += word.df;
        total <= limit
    };
    let found = rank.iter().take_while(within).count().max(1).min(rank.len());
    let expressions = |words: &[&&WeightedWord]| words.iter().map(|word| word.expression.clone()).collect::<Vec<_>>();
    (expressions(&rank[..found]), if found < rank.len() { expressions(&rank) } else { Vec::new() })
}

fn add_new(hits: &mut Vec<DocumentHit>, more: Vec<DocumentHit>) {
    for hit in more {
        if !hits.iter().any(|known| known.doc == hit.doc) {
            hits.push(hit);
        }
    }
}

/// The query's conditions as FTS5 expressions and keys.
fn conditions(query: &Query, projects: &[(i64, Project)]) -> FtsQuery {
    let filters = &query.filters;
    // A name without a letter or digit matches nothing.
    let named = |column: &str, name: &str| format!("{{{column}}} : \"{}\"", index_names(name));
    let phrases = query.phrases.iter().map(|phrase| format!("\"{}\"", index_text(phrase)));
    let files = filters.files.iter().map(|file| named("files", file));
    let tools = filters.tools.iter().map(|tool| named("tools", tool));
    let branches: Vec<String> = filters.branches.iter().map(|branch| named("branches", branch)).collect();
    let branches = (!branches.is_empty()).then(|| branches.join(" OR "));
    FtsQuery {
        all: phrases.chain(files).chain(tools).chain(branches).collect(),
        columns: filters.kinds.iter().flat_map(|kind| kind.columns()).copied().collect(),
        projects: projects_of(filters, projects),
        clients: filters.clients.clone(),
        since: filters.since,
        before: filters.before,
        only: filters.only(),
        ..FtsQuery::default()
    }
}

/// The projects that any pattern means; if it means none, those whose name it is a part of.
fn projects_of(filters: &Filters, projects: &[(i64, Project)]) -> Option<Vec<i64>> {
    let of = |fits: fn(&ProjectMatcher, &Project) -> bool| -> Vec<i64> {
        let any = |project: &Project| filters.projects.iter().any(|pattern| fits(pattern, project));
        projects.iter().filter(|(_, project)| any(project)).map(|(pk, _)| *pk).collect()
    };
    if filters.projects.is_empty() {
        return None;
    }
    let meant = of(ProjectMatcher::means);
    Some(if meant.is_empty() { of(ProjectMatcher::is_part_of_name) } else { meant })
}

/// The patterns for projects in a query that match none.
pub(crate) fn unmatched_projects(store: &Reader, query: &Query) -> Result<Vec<String>> {
    if query.filters.projects.is_empty() {
        return Ok(Vec::new());
    }
    let projects = store.projects()?;
    let is_known =
        |pattern: &&ProjectMatcher| projects.iter().any(|(_, project)| pattern.means(project) || pattern.is_part_of_name(project));
    Ok(query.filters.projects.iter().filter(|pattern| !is_known(pattern)).map(|pattern| pattern.written().to_owned()).collect())
}

/// Adds semantic matches that meet the filters and reorders all hits by fused score. If phrases, files or kinds are required, semantic
/// matches only reorder: they cannot add hits.
fn add_semantic(
    store: &Reader,
    asked: &FtsQuery,
    hits: &mut Vec<DocumentHit>,
    words: &QueryWords,
    similar: &SemanticMatches,
) -> Result<()> {
    let mut near = Vec::new();
    for (doc, cosine) in &similar.docs {
        if near.len() >= MAX_CANDIDATES {
            break;
        }
        let known = hits.iter().any(|hit| hit.doc == *doc);
        let by_words_alone = !asked.all.is_empty() || !asked.columns.is_empty();
        let more = if known || by_words_alone { None } else { store.matching_document(asked, *doc)? };
        if known || more.is_some() {
            near.push((*doc, *cosine));
        }
        hits.extend(more);
    }
    // If the documents hold few of the query's words, even the best of them is a weak answer.
    let full = FULL_COVERAGE_FACTOR * words.weighed.iter().map(|word| bm25_weight(word.df as f64, words.documents)).sum::<f64>();
    let lexical: Vec<(i64, f64)> = hits.iter().filter(|hit| hit.score > 0.0).map(|hit| (hit.doc, hit.score)).collect();
    let fused: HashMap<i64, f64> = fuse_scores(&lexical, &near, full, similar.weight).into_iter().collect();
    for hit in hits {
        hit.score = fused.get(&hit.doc).copied().unwrap_or_default();
    }
    Ok(())
}

/// The bm25 score FTS5 gives a word of this frequency: next to nothing if most documents hold it, which is common in a small index.
fn bm25_weight(holding: f64, documents: f64) -> f64 {
    ((documents - holding + 0.5) / (holding + 0.5)).ln().max(1e-6)
}

/// What agents looked up before is somewhat more likely to be worth it again.
fn found_useful(hit: &DocumentHit, lookups: &HashMap<i64, u32>) -> f64 {
    let times = hit.session.and_then(|session| lookups.get(&session)).copied().unwrap_or_default();
    1.0 + LOOKED_UP_BONUS * f64::from(times.min(LOOKED_UP_MOST))
}

/// Recent work is what is usually meant.
fn recency(hit: &DocumentHit, now: Millis) -> f64 {
    let age = now.saturating_sub(hit.last_at).max(0) as f64;
    1.0 + RECENCY_BONUS * (-age / HALF_LIFE_MS * std::f64::consts::LN_2).exp()
}
