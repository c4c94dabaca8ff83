//! The places where the user's machines meet: can they be reached, and who is there?

use super::Finding;
use crate::app::sync::{PlacesNow, look};
use crate::config::Config;

const ABOUT: &str = "sync";

/// A finding for each place; none where none is set up.
pub(super) fn findings(config: &Config) -> Vec<Finding> {
    let PlacesNow { me, places } = match look(config) {
        Ok(places) => places,
        Err(e) => return vec![Finding::problem(ABOUT, format!("{e:#}"), "until then this machine exchanges with no other")],
    };
    let finding = |(address, found): (String, anyhow::Result<Vec<String>>)| match found {
        Ok(machines) if machines.is_empty() => {
            Finding::ok(ABOUT, format!("{address}: no other machine yet; this machine is called {me}"))
        }
        Ok(machines) => {
            Finding::ok(ABOUT, format!("{address}: exchanges with {}; this machine is called {me}", machines.join(", ")))
        }
        Err(e) => Finding::warning(ABOUT, format!("{address}: {e:#}"), "each digest tries again; `recall sync` does so now"),
    };
    places.into_iter().map(finding).collect()
}
