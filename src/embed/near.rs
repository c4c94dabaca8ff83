//! What is near to a question in meaning: the question is embedded once, and compared with every vector.

use anyhow::{Result, bail};

use super::fuse::CANDIDATES;
use super::vector::Quantized;
use super::{Endpoint, PROBE, SAME_MODEL, pieces};
use crate::clean::shorten;
use crate::config::Config;
use crate::find::Similar;
use crate::store::Store;
use crate::store::vectors::Space;

/// Filters leave some out, so more are found than count.
const FOUND: usize = 10 * CANDIDATES;

/// What the config's model and this program's way to cut texts can be compared with; `None` where vectors are of another kind.
pub fn space_of(config: &Config, store: &Store) -> Result<Option<Space>> {
    let space = store.vector_space()?;
    Ok(space.filter(|space| space.model == config.embeddings.model && space.pieces == pieces::VERSION))
}

/// Documents near to a text, the nearest first. `None` when the config names no endpoint, or there is nothing to ask for.
///
/// # Errors
/// Why words alone have to do: for people, and no reason to give up.
pub fn near(config: &Config, store: &Store, text: &str) -> Result<Option<Similar>> {
    let settings = &config.embeddings;
    if !settings.is_on() || settings.weight == 0.0 {
        return Ok(None);
    }
    let gate = config.gate()?;
    let asked = shorten(gate.clean(text).trim(), pieces::PIECE);
    if !asked.chars().any(char::is_alphanumeric) {
        return Ok(None);
    }
    let Some(space) = space_of(config, store)?.filter(|space| space.complete) else {
        bail!("not everything is embedded by `{}` yet: `recall digest` goes on with it", settings.model);
    };
    let Some(endpoint) = Endpoint::of(config, gate)? else { return Ok(None) };
    let vectors = endpoint.embed(&[&asked, PROBE])?;
    let [asked, probe] = vectors.as_slice() else { bail!("embeddings endpoint {}: no vectors", endpoint.host()) };
    if !is_of(&space, &Quantized::of(probe)) {
        bail!(
            "`{}` is another model than the one that embedded the index: the next `recall digest` with something new does so anew",
            settings.model
        );
    }
    let docs = store.similar(&space, &Quantized::of(asked).to_query(), FOUND)?;
    Ok(Some(Similar { docs, weight: settings.weight }))
}

/// Did the model that made this vector of the probe make the space's?
pub fn is_of(space: &Space, probe: &Quantized) -> bool {
    space.dims == probe.dims() && space.probe.cosine(probe) >= SAME_MODEL
}
