//! Whether Claude Code, by its version or by what it wrote, is one that recall was tested with.

use std::collections::BTreeSet;

use super::Finding;
use crate::config::Config;
use crate::privacy::View;
use crate::source::{NEWEST_TESTED, Release};
use crate::store::Memory;
use crate::text::clean::{one_line, shorten, without_controls};

/// Record types that are named; the others are only counted.
const MAX_NAMED: usize = 5;

/// `version` is what the client says of itself. `None` if neither that nor what it wrote is known.
pub(crate) fn finding(config: &Config, version: Option<&str>) -> Option<Finding> {
    let store = Memory::open(&config.database(), &config.policy(View::Owner)).ok();
    let of_index = |store: &Memory| store.client_versions().unwrap_or_default();
    let wrote = store.as_ref().map(of_index).unwrap_or_default();
    let unknown = store.and_then(|store| store.unknown_record_types().ok()).unwrap_or_default();
    let newest = wrote.iter().map(String::as_str).chain(version).filter_map(Release::parse).max()?;
    let tried = if newest > NEWEST_TESTED {
        format!("Claude Code {newest} is newer than {NEWEST_TESTED}, the newest that recall was tried with")
    } else {
        format!("Claude Code {newest}; recall is tested up to {NEWEST_TESTED}")
    };
    if unknown.is_empty() {
        return Some(Finding::ok("client", format!("{tried}; understood all its transcripts")));
    }
    let found = format!("{tried}; not understood in its transcripts: {}", list_types(&unknown));
    let types = unknown.iter().map(|(name, _)| name.as_str()).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join("\n");
    let advice = "upgrade recall: a newer version may know them; until then, digests leave them out";
    Some(Finding::warning("client", found, advice).same_while(types))
}

/// `3 rows of type a, 1 row of type b and 2 more types`
fn list_types(unknown: &[(String, i64)]) -> String {
    let rows = |n: i64| if n == 1 { "1 row".to_owned() } else { format!("{n} rows") };
    let named = unknown
        .iter()
        .take(MAX_NAMED)
        .map(|(name, n)| format!("{} of type {}", rows(*n), shorten(&one_line(&without_controls(name)), 40)));
    let more = unknown.len().saturating_sub(MAX_NAMED);
    let rest = (more > 0).then(|| format!("{more} more types"));
    named.chain(rest).collect::<Vec<_>>().join(", ")
}
