//! Pages of known sessions that no record names: an earlier recall wrote a page before it recorded it, and could be killed in between; or they
//! outlived an earlier index, and their sessions were read again.

use std::collections::{BTreeSet, HashMap, HashSet};

use anyhow::Result;

use crate::app::orphans;
use crate::config::Config;
use crate::model::page_path;
use crate::store::Writer;
use crate::store::pages::PageRecord;

/// Records them, so that they are replaced or removed like any page that its session has left, and their notes move along.
///
/// A page of a session that the index does not know stays as it is: it may be all that is left of it.
pub(super) fn record(config: &Config, store: &Writer) -> Result<()> {
    record_of(&store.digested_or_dirty()?.into_iter().collect(), config, store)
}

/// The same of these sessions alone.
pub(super) fn record_of(sessions: &BTreeSet<i64>, config: &Config, store: &Writer) -> Result<()> {
    let recorded: HashSet<String> = store.pages()?.into_iter().map(|page| page.path).collect();
    let heads = store.session_heads()?.into_iter().filter(|head| sessions.contains(&head.pk));
    let known: HashMap<String, i64> = heads.map(|head| (head.id, head.pk)).collect();
    for page in orphans::pages(config) {
        let Some(path) = page_path::below(&page.file, &config.data_dir).filter(|path| !recorded.contains(path)) else { continue };
        if let (Some(day), Some(session)) = (page.day(), known.get(&page.session)) {
            store.record_page(&PageRecord { path, session: Some(*session), day })?;
        }
    }
    Ok(())
}
