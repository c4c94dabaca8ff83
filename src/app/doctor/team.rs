//! The server of the user's team: was it reached the last time, and does it take what is shared?

use super::Finding;
use crate::app::team::{health, unknown};
use crate::config::Config;
use text::clean::counted;

const ABOUT: &str = "team";

/// A finding where the user is in a team; the server is not asked.
pub(super) fn findings(config: &Config) -> Vec<Finding> {
    let health = match health(config) {
        Ok(None) => return Vec::new(),
        Ok(Some(health)) => health,
        Err(e) => return vec![Finding::problem(ABOUT, format!("{e:#}"), "until then nothing is shared, withdrawn or received")],
    };
    let server = health.server;
    let mut all = vec![match health.failure {
        Some(why) => Finding::warning(ABOUT, format!("{server}: {why}"), "each digest tries again; `recall team` does so now"),
        None => Finding::ok(ABOUT, format!("{server}: {} shared", counted(health.shared, "record"))),
    }];
    if health.refused > 0 {
        let what = format!("{} not shared with {server}", counted(health.refused, "record"));
        all.push(Finding::warning(ABOUT, what, "`recall team status` says why"));
    }
    match unknown(config) {
        Ok(names) => all.extend(names.iter().map(|name| {
            let what = format!("`[team.{name:?}]` in your config fits no project of this machine");
            Finding::warning(ABOUT, what, "nothing is shared under this name: `recall team status` lists the projects")
        })),
        Err(e) => all.push(Finding::warning(ABOUT, format!("{e:#}"), "cannot tell which project names in your config match")),
    }
    all
}
