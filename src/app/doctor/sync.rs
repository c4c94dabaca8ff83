//! The places where the user's machines meet: can they be reached, who is there, and do they keep what is deleted?

use super::Finding;
use crate::app::sync::{PlaceNow, PlacesNow, look, way_out};
use crate::config::Config;

const ABOUT: &str = "sync";

/// A finding for each place; none where none is set up.
pub(super) fn findings(config: &Config) -> Vec<Finding> {
    let PlacesNow { me, places } = match look(config) {
        Ok(places) => places,
        Err(e) => return vec![Finding::problem(ABOUT, format!("{e:#}"), "until then this machine exchanges with no other")],
    };
    let finding = |(address, found): (String, anyhow::Result<PlaceNow>)| match found {
        Ok(PlaceNow { history: Some(history), is_accepted: false, .. }) => Finding::warning(
            ABOUT,
            format!("{address}: {history}: what you forget stays in its history"),
            format!("{}. `recall sync add {address} --keeps-history` accepts it", way_out(&history)),
        ),
        Ok(PlaceNow { machines, .. }) => {
            let with =
                if machines.is_empty() { "no other machine yet".into() } else { format!("exchanges with {}", machines.join(", ")) };
            Finding::ok(ABOUT, format!("{address}: {with}; this machine is called {me}"))
        }
        Err(e) => Finding::warning(ABOUT, format!("{address}: {e:#}"), "each digest tries again; `recall sync` does so now"),
    };
    places.into_iter().map(finding).collect()
}
