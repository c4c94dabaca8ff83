//! Day pages as resources: `recall://day/2026-11-17`.

use anyhow::Result;
use jiff::civil::Date;

use super::tools::ToolContext;
use crate::app::day::{DayReader, DaysReply, DaysRequest};
use crate::app::open_memory::OpenMemory;
use crate::model::page_path;

/// Prefix of all our URIs.
const SCHEME: &str = "recall://day/";
/// URI template given to clients.
pub(crate) const TEMPLATE: &str = "recall://day/{date}";
/// Pages listed at once.
const PAGE_SIZE: usize = 50;

pub(crate) fn uri_of(date: Date) -> String {
    format!("{SCHEME}{date}")
}

/// The day of a URI; `None` if the URI is not ours.
fn day_of(uri: &str) -> Option<Date> {
    uri.strip_prefix(SCHEME).and_then(page_path::parse_day)
}

/// Days that have a page, before a given day, newest first.
pub(crate) fn list(site: &ToolContext<'_>, before: Option<Date>) -> Result<DaysReply> {
    reader(site).days(DaysRequest { before, limit: PAGE_SIZE })
}

/// The page of a URI; `None` if the URI is not ours or the day has no page.
///
/// # Errors
/// If the page exists but cannot be read.
pub(crate) fn read(site: &ToolContext<'_>, uri: &str) -> Result<Option<String>> {
    day_of(uri).map_or(Ok(None), |date| reader(site).day(date))
}

fn reader<'a>(site: &'a ToolContext<'_>) -> DayReader<'a, impl FnOnce() -> Result<Option<OpenMemory>>> {
    DayReader { config: site.config, policy: site.policy(), open: || site.memory_if_there() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_are_pages() {
        assert_eq!(day_of("recall://day/2026-11-17").map(uri_of).as_deref(), Some("recall://day/2026-11-17"));
        for uri in [
            "recall://day/../../recall.db", "recall://day/2026-11-17.md", "recall://day/20261117", "recall://day/2026-11-17/",
            "recall://day/2026-11-17%00", "recall://day/", "file:///etc/passwd", "recall://day/+002026-11-17",
            "recall://day/2026-11-17T00:00",
        ] {
            assert_eq!(day_of(uri), None, "{uri}");
        }
    }
}
