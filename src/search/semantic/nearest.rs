//! Semantic search: embeds the question once and compares it with every stored vector.

use anyhow::{Result, bail};

use super::{Embedder, PROBE, SAME_MODEL_COSINE, TextToEmbed, pieces};
use crate::config::Config;
use crate::model::vector::QuantizedVector;
use crate::search::SemanticMatches;
use crate::search::semantic::score_fusion::MAX_CANDIDATES;
use crate::store::Reader;
use crate::store::vectors::VectorSpace;
use text::clean::shorten;

/// How many documents to retrieve: more than are used, because filters drop some.
const MAX_RETRIEVED: usize = 10 * MAX_CANDIDATES;

/// The vector space that matches the configured model and `pieces::VERSION`; `None` if the stored vectors are of another kind.
pub(crate) fn space_of(config: &Config, store: &Reader) -> Result<Option<VectorSpace>> {
    let (space, model) = (store.vector_space()?, Embedder::model(config));
    Ok(space.filter(|space| Some(&space.model) == model.as_ref() && space.pieces == pieces::VERSION))
}

/// The documents most similar to a text, best first. `None` if there is no model or the text holds nothing to search for.
///
/// # Errors
/// Why semantic search is unavailable. Callers show it and go on with words alone.
pub(crate) fn semantic_matches(config: &Config, store: &Reader, text: &str) -> Result<Option<SemanticMatches>> {
    let settings = &config.embeddings;
    let Some(model) = Embedder::model(config).filter(|_| settings.weight > 0.0) else { return Ok(None) };
    let sanitizer = config.sanitizer()?;
    let asked = shorten(sanitizer.clean(text).trim(), pieces::PIECE_CHARS);
    if !asked.chars().any(char::is_alphanumeric) {
        return Ok(None);
    }
    let Some(space) = space_of(config, store)?.filter(|space| space.complete) else {
        bail!("not everything is embedded by `{model}` yet: `recall digest` goes on with it");
    };
    let Some(embedder) = Embedder::of(config, sanitizer)? else { return Ok(None) };
    let vectors = embedder.embed(&[TextToEmbed::query(&asked), TextToEmbed::passage(PROBE)])?;
    let [asked, probe] = vectors.as_slice() else { bail!("{}: no vectors", embedder.name()) };
    if !matches_probe(&space, &QuantizedVector::of(probe)) {
        bail!(
            "`{model}` is another model than the one that embedded the index: the next `recall digest` that reads something new embeds everything again"
        );
    }
    let docs = store.similar(&space, &QuantizedVector::of(asked).to_query(), MAX_RETRIEVED)?;
    Ok(Some(SemanticMatches { docs, weight: settings.weight }))
}

/// Was this probe vector made by the model that made the space?
pub(crate) fn matches_probe(space: &VectorSpace, probe: &QuantizedVector) -> bool {
    space.dims == probe.dims() && space.probe.cosine(probe) >= SAME_MODEL_COSINE
}
