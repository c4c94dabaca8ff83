//! The model for embeddings, if there is one: whether it answers, whether its model is the one that embedded the index, and how much
//! is embedded.

use super::Finding;
use crate::config::Config;
use crate::model::vector::QuantizedVector;
use crate::search::semantic::{Embedder, PROBE, TextToEmbed, matches_probe, space_of};
use crate::store::WholeIndex;

const ABOUT: &str = "embeddings";

pub(crate) fn findings(config: &Config) -> Option<Finding> {
    let model = Embedder::model(config)?;
    let embedder = match config.sanitizer().map(|sanitizer| Embedder::of(config, sanitizer)) {
        Ok(Ok(embedder)) => embedder?,
        Ok(Err(failure)) => return Some(Finding::warning(ABOUT, failure.to_string(), "set it where the digest runs, too")),
        // An invalid rule is reported by another check.
        Err(_) => return None,
    };
    let probe = match embedder.embed(&[TextToEmbed::passage(PROBE)]) {
        Ok(vectors) => QuantizedVector::of(vectors.first()?),
        Err(failure) => {
            let advice = "until it answers, search uses words only; check `[embeddings]` in the config";
            return Some(Finding::warning(ABOUT, failure.to_string(), advice));
        }
    };
    let store = WholeIndex::open_if_there(&config.database()).ok().flatten()?;
    let answers = format!("{} answers", embedder.name());
    let anew = "`recall digest` embeds everything; until then search goes by words alone";
    let Some(space) = space_of(config, &store).ok()? else {
        return Some(Finding::warning(ABOUT, format!("{answers}, nothing is embedded by {model} yet"), anew));
    };
    if !matches_probe(&space, &probe) {
        return Some(Finding::warning(
            ABOUT,
            format!("{answers}, but {model} is another model than the one that embedded the index"),
            anew,
        ));
    }
    let (embedded, of) = store.count_embedded().ok()?;
    let found = format!("{answers}, {embedded} of {of} sessions and notes embedded by {model}");
    Some(if space.complete { Finding::ok(ABOUT, found) } else { Finding::warning(ABOUT, found, anew) })
}
