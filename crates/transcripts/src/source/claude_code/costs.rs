//! The client's own estimate of what a session cost.

use serde::Deserialize;

use super::fields::{Field, LineFields};
use super::{ParsedLine, TranscriptIdentity};
use crate::source::json;

/// One model's cost, in US dollars at list price.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ModelCost {
    #[serde(rename = "costUSD")]
    cost_usd: f64,
    /// Billed per request, which no message reports.
    #[serde(default)]
    web_search_requests: u64,
}

/// Parses a `cost-state` line.
pub(super) fn stated_cost(fields: &LineFields<'_>, place: &TranscriptIdentity) -> ParsedLine {
    let session = fields.id(Field::SessionId).unwrap_or_else(|| place.session.clone());
    let guessed = fields.flag(Field::HasUnknownModelCost);
    let models = fields.raw(Field::ModelUsage).filter(|_| !guessed);
    let models = models.and_then(json::figures_by_name::<ModelCost>);
    let comparable = |model: &ModelCost| model.web_search_requests == 0 && model.cost_usd.is_finite() && model.cost_usd >= 0.0;
    let by_model = models.filter(|models| models.values().all(comparable)).map(|models| {
        models.into_iter().filter_map(|(name, model)| Some((fields.sanitizer.name(&name)?, model.cost_usd))).collect()
    });
    ParsedLine::Cost { session, by_model }
}
