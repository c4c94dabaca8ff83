//! What shared records mean: vectors that the model of the user's config makes of them, kept beside them on the team's server and compared by its search.
//! Only where there is a model here, and the server has the extension `vector`.
//!
//! ## Invariants
//! Vectors are made of what is shared, word for word, and of nothing else. Only those of one model are compared.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use team::{Client, Found, Hit, Meaning};

use super::exchange::record_id;
use super::state::{ItemId, TeamState};
use super::to_share::{SharedText, ToShare};
use crate::config::Config;
use crate::search::semantic::score_fusion::fuse_scores;
use crate::search::semantic::{Embedder, TextToEmbed, pieces};
use crate::sys::shutdown;
use text::clean::shorten;

/// The most pieces of a record: the first ones say what it is about.
const MAX_PIECES: usize = 12;
/// A line with fewer words says nothing by itself.
const MIN_WORDS: usize = 3;
/// How many records are made vectors of before these are sent, and how long an exchange does so at most.
const BATCH: usize = 50;
const MAX_DURATION: Duration = Duration::from_secs(120);
/// How a record counts that only looks like the words, beside one that has them all.
const SIMILAR_SHARE: f64 = 0.35;

/// Sends vectors of what the server has and has none of by today's model, as long as there is time. What is left waits for the next exchange.
///
/// # Errors
/// When the server or the model cannot be asked, or what is known of the team cannot be kept.
pub(super) fn describe(config: &Config, to_share: &ToShare<'_>, state: &mut TeamState, client: &mut Client) -> Result<()> {
    let Some(model) = Embedder::model(config) else { return Ok(()) };
    if !client.has_meaning()? {
        state.forget_described();
        return Ok(());
    }
    let waiting = state.to_describe(&model);
    if waiting.is_empty() {
        return Ok(());
    }
    let Some(embedder) = Embedder::of(config, config.sanitizer()?)? else { return Ok(()) };
    let began = Instant::now();
    for batch in waiting.chunks(BATCH) {
        if began.elapsed() >= MAX_DURATION || shutdown::requested() {
            break;
        }
        let mut cut: Vec<(&ItemId, i64, Vec<String>)> = Vec::new();
        for (id, version) in batch {
            cut.push((id, *version, to_share.text(id)?.map(|text| pieces_of(&text)).unwrap_or_default()));
        }
        let texts: Vec<TextToEmbed<'_>> = cut.iter().flat_map(|one| &one.2).map(|text| TextToEmbed::passage(text)).collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for some in texts.chunks(embedder.batch(config)) {
            vectors.extend(embedder.embed(some)?);
        }
        ensure!(vectors.len() == texts.len(), "{}: not a vector for each text", embedder.name());
        let mut vectors = vectors.into_iter();
        let meanings = cut.iter().map(|(id, version, texts)| Meaning {
            id: record_id(id),
            version: *version,
            vectors: vectors.by_ref().take(texts.len()).collect(),
        });
        client.put_meanings(&model, &meanings.collect::<Vec<_>>())?;
        state.described(batch, &model);
        state.save(&config.data_dir)?;
    }
    Ok(())
}

/// The title of a session and each line of what came of it; of a statement as of a note.
fn pieces_of(shared: &SharedText) -> Vec<String> {
    let field = |name: &str| shared.body.get(name).and_then(|value| value.as_str());
    let text = field("text").unwrap_or_default();
    let Some(title) = field("title") else { return pieces::of_note(text) };
    let says = |line: &&str| line.split_whitespace().nth(MIN_WORDS - 1).is_some();
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#')).filter(says);
    [title]
        .into_iter()
        .chain(lines)
        .map(|line| shorten(line, pieces::PIECE_CHARS))
        .filter(|line| !line.is_empty())
        .take(MAX_PIECES)
        .collect()
}

/// The words of a search on their way to become a vector.
pub(super) struct AskedMeaning {
    model: String,
    weight: f64,
    vector: Receiver<Result<Vec<f32>>>,
}

impl AskedMeaning {
    /// Asks the model; `None` if there is none, or meaning is to count for nothing.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub(super) fn ask(config: &Config, words: &str) -> Result<Option<Self>> {
        let weight = config.embeddings.weight;
        let Some(model) = Embedder::model(config).filter(|_| weight > 0.0) else { return Ok(None) };
        let sanitizer = config.sanitizer()?;
        let asked = shorten(sanitizer.clean(words).trim(), pieces::PIECE_CHARS);
        if !asked.chars().any(char::is_alphanumeric) {
            return Ok(None);
        }
        let Some(embedder) = Embedder::of(config, sanitizer)? else { return Ok(None) };
        let (found, vector) = channel();
        thread::spawn(move || {
            let made = embedder.embed(&[TextToEmbed::query(&asked)]).map_err(anyhow::Error::from);
            let one = made.and_then(|all| all.into_iter().next().with_context(|| format!("{}: no vectors", embedder.name())));
            // Nobody may be waiting any more.
            let _ = found.send(one);
        });
        Ok(Some(Self { model, weight, vector }))
    }

    /// What is nearest on the server, and what it counts; nothing if it keeps no vectors.
    ///
    /// # Errors
    /// When the model or the server did not answer in time.
    pub(super) fn nearest(self, client: &mut Client, projects: &[&str], limit: usize, until: Instant) -> Result<(Vec<Hit>, f64)> {
        if !client.has_meaning()? {
            return Ok((Vec::new(), self.weight));
        }
        let left = until.saturating_duration_since(Instant::now());
        let vector = self.vector.recv_timeout(left).context("the model made no vector in time")??;
        Ok((client.search_meaning(projects, &self.model, &vector, limit, until)?, self.weight))
    }
}

/// Joins what is nearest to what has the words, best first. Without any that is near, all stays as it is.
pub(super) fn joined(found: Found, nearest: Vec<Hit>, weight: f64) -> Vec<Hit> {
    if nearest.is_empty() {
        return found.hits;
    }
    let mut places: BTreeMap<(String, i64), i64> = BTreeMap::new();
    let mut all: Vec<Hit> = Vec::new();
    let mut place = |hit: Hit| {
        *places.entry((hit.project.clone(), hit.record.seq)).or_insert_with(|| {
            all.push(hit);
            all.len() as i64 - 1
        })
    };
    let count = found.hits.len().max(1) as f64;
    let mut by_words = Vec::new();
    for (at, hit) in found.hits.into_iter().enumerate() {
        let score = if hit.similar { SIMILAR_SHARE * f64::from(hit.rank) } else { 1.0 - at as f64 / (2.0 * count) };
        by_words.push((place(hit), score));
    }
    let by_meaning: Vec<(i64, f64)> = nearest
        .into_iter()
        .map(|hit| {
            let score = f64::from(hit.rank);
            (place(hit), score)
        })
        .collect();
    let order = fuse_scores(&by_words, &by_meaning, 1.0, weight);
    order.into_iter().filter_map(|(place, _)| all.get(usize::try_from(place).ok()?).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use team::Shared;

    use super::*;

    fn hit(seq: i64, rank: f32, similar: bool) -> Hit {
        let record = Shared {
            member: 1,
            login: None,
            machine: "m".into(),
            kind: "fact".into(),
            id: seq.to_string(),
            version: 1,
            seq,
            body: Some(json!({})),
        };
        Hit { project: "p".into(), record, rank, similar }
    }

    fn order(words: &[Hit], nearest: &[Hit]) -> Vec<i64> {
        let found = Found { hits: words.to_vec(), complete: true };
        joined(found, nearest.to_vec(), 0.3).iter().map(|hit| hit.record.seq).collect()
    }

    #[test]
    fn what_has_the_words_goes_before_what_is_near_and_what_only_looks_like_them_behind() {
        let near = [hit(7, 0.9, false), hit(8, 0.8, false), hit(9, 0.1, false)];
        assert_eq!(order(&[hit(1, 0.2, false)], &near), [1, 7, 8, 9]);
        assert_eq!(order(&[hit(1, 0.5, true)], &near), [7, 8, 1, 9]);
        assert_eq!(order(&[hit(1, 0.2, false), hit(7, 0.1, false)], &near)[..2], [7, 1], "both count");
        assert_eq!(order(&[], &near), [7, 8, 9]);
        assert_eq!(order(&[hit(2, 0.2, false), hit(1, 0.1, true)], &[]), [2, 1]);
    }

    #[test]
    fn a_session_is_cut_into_what_it_says() {
        let text = SharedText {
            body: json!({"title": "Orders vanish", "text": "# Orders vanish\n\n## Done\n- The list pages by key now\n- Yes\n"}),
            search: String::new(),
        };
        assert_eq!(pieces_of(&text), ["Orders vanish", "- The list pages by key now"]);
        let note = SharedText { body: json!({"text": "We use pnpm,\nnever npm"}), search: String::new() };
        assert_eq!(pieces_of(&note), ["We use pnpm,\nnever npm"]);
    }
}
