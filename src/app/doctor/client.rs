//! Whether each client, by its version or by what it wrote, is one that recall was tested with.

use std::collections::BTreeSet;

use super::Finding;
use crate::config::Config;
use crate::policy::View;
use crate::store::Memory;
use text::clean::{one_line, shorten, without_controls};
use transcripts::client::Client;
use transcripts::source::{NO_TYPE, Release, source_of};

/// Record types that are named; the others are only counted.
const MAX_NAMED: usize = 5;

/// A finding on each client of which something is known; `version` is what Claude Code says of itself.
pub(crate) fn findings(config: &Config, version: Option<&str>) -> Vec<Finding> {
    let store = Memory::open(&config.database(), &config.policy(View::Owner)).ok();
    Client::ALL.into_iter().filter_map(|client| finding(client, store.as_ref(), version.filter(|_| client.is_usual()))).collect()
}

fn finding(client: Client, store: Option<&Memory>, version: Option<&str>) -> Option<Finding> {
    let wrote = store.and_then(|store| store.client_versions(client).ok()).unwrap_or_default();
    let unknown = store.and_then(|store| store.unknown_record_types_of(client).ok()).unwrap_or_default();
    let newest = wrote.iter().map(String::as_str).chain(version).filter_map(Release::parse).max()?;
    let (name, tested) = (client.name(), source_of(client).newest_tested());
    let tried = if newest > tested {
        format!("{name} {newest} is newer than {tested}, the newest that recall was tested with")
    } else {
        format!("{name} {newest}; recall was tested up to {tested}")
    };
    if unknown.is_empty() {
        return Some(Finding::ok("client", format!("{tried}; recall understood all its transcripts")));
    }
    let found = format!("{tried}; not understood in its transcripts: {}", list_types(&unknown));
    let types = unknown.iter().map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("\n");
    let advice = "digests leave these lines out; a newer recall may read them";
    Some(Finding::warning("client", found, advice).same_while(types))
}

/// `3 lines of type a, 1 line without a type and 2 more types`
fn list_types(unknown: &[(String, i64)]) -> String {
    let rows = |n: i64| if n == 1 { "1 line".to_owned() } else { format!("{n} lines") };
    let named = unknown.iter().take(MAX_NAMED).map(|(name, n)| match name.as_str() {
        NO_TYPE => format!("{} without a type", rows(*n)),
        name => format!("{} of type {}", rows(*n), shorten(&one_line(&without_controls(name)), 40)),
    });
    let more = unknown.len().saturating_sub(MAX_NAMED);
    let rest = (more > 0).then(|| format!("{more} more types"));
    named.chain(rest).collect::<Vec<_>>().join(", ")
}
