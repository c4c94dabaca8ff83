//! Prices: whether the client computes the same costs as we do.

use anyhow::Result;

use super::Finding;
use crate::config::Config;
use crate::model::price::{compare_costs, costs_by_model, price_list_date};
use crate::policy::View;
use crate::store::Memory;

/// Number of sessions compared, newest first, because a changed price shows in those.
const MAX_SESSIONS: usize = 200;
/// Tolerated difference of two sums, as a fraction of the larger and in US dollars. Both sums are rounded, and the client's
/// includes requests of its own.
const TOLERANCE: f64 = 0.02;
const TOLERANCE_USD: f64 = 0.01;

/// Sessions whose cost by the client differs from ours. An unreadable index is reported by another check.
pub(crate) fn findings(config: &Config) -> Option<Finding> {
    find_differing(config).ok().flatten()
}

fn find_differing(config: &Config) -> Result<Option<Finding>> {
    let Some(store) = Memory::open_if_there(&config.database(), &config.policy(View::Owner))? else { return Ok(None) };
    let mut apart = Vec::new();
    for session in store.client_cost_reports(MAX_SESSIONS)? {
        let own = costs_by_model(&session.usage, &config.prices);
        let sums = compare_costs(&session.client, &own).filter(|(client, own)| differs(*client, *own));
        apart.extend(sums.map(|(client, own)| (session.id, client, own)));
    }
    let Some((id, client, own)) = apart.first() else { return Ok(None) };
    let more = match apart.len() - 1 {
        0 => String::new(),
        1 => "; the same for 1 other session".to_owned(),
        n => format!("; the same for {n} other sessions"),
    };
    let found = format!("Claude Code counts ${client:.2} for session {id}, recall ${own:.2}{more}");
    let advice = format!(
        "prices may have changed since {} (set them under `[prices]` in the config), or Claude Code made requests that are in no transcript",
        price_list_date().unwrap_or("the list was made")
    );
    Ok(Some(Finding::warning("prices", found, advice)))
}

fn differs(client: f64, own: f64) -> bool {
    let apart = (client - own).abs();
    apart > TOLERANCE_USD && apart > TOLERANCE * client.max(own)
}
