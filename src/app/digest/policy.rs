//! Applies today's policy to the index before anything is derived from it: deletes what is excluded or too old, cleans the rest
//! again, and erases the traces. Pages whose sessions the index does not know follow at the end of a run.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use crate::app::digest::report::Report;
use crate::app::orphans::{self, SessionPage};
use crate::config::Config;
use crate::store::forget::{Permanence, RemovalPlan};
use crate::store::{Maintenance, Writer};
use crate::sys::messages::Ui;
use crate::sys::shutdown;
use transcripts::session::Millis;

/// Deletes what is stored of projects that the config now excludes, with every session that has a part in one. Whatever of such a session
/// took place elsewhere may tell of that part. What it said before is read again: see [`super::ingest::parts`]. Of clients and teams it deletes
/// also the memory files that the config excludes by their paths.
pub(crate) fn delete_excluded(config: &Config, store: &mut Writer, report: &mut Report) -> Result<()> {
    let projects = config.project_keys();
    let is_out = |folder: &str| config.excludes_folder(folder, &projects);
    let mut doomed = match config.exclude_projects.is_empty() {
        true => RemovalPlan::default(),
        false => store.find_in_folders(is_out)?,
    };
    for session in &doomed.whole {
        store.keep_folders(*session)?;
    }
    store.exclude_by_folder(is_out)?;
    if !config.exclude_projects.is_empty() {
        doomed.memory_files = store.memory_files_out(is_out)?;
    }
    if !config.exclude_transcripts.is_empty() {
        doomed.memory_files.extend(store.memory_files_at(|path| config.exclude_transcripts.is_match(path))?);
    }
    for session in std::mem::take(&mut doomed.whole) {
        if !store.is_part(session)? {
            doomed.whole.insert(session);
        }
    }
    report.sessions_excluded += doomed.sessions().len() as u64;
    if doomed.is_empty() { Ok(()) } else { store.take_out(&doomed, Permanence::WhileExcluded) }
}

/// Resanitizes stored texts if they were cleaned by other rules than today's.
pub(crate) fn resanitize(config: &Config, ui: &Ui, store: &mut Writer, report: &mut Report) -> Result<()> {
    let rules = config.sanitizer_rules();
    if store.is_sanitized_by(&rules)? {
        return Ok(());
    }
    let cleaned = store.clean(&config.sanitizer()?, &rules).context("cannot apply the new rules to what is stored")?;
    if cleaned > 0 {
        ui.note(&format!("the rules for what is kept have changed: {cleaned} stored texts were cleaned"));
    }
    report.texts_cleaned = cleaned;
    Ok(())
}

/// Forgets sessions past the configured retention.
pub(crate) fn forget_expired(config: &Config, now: Millis, store: &mut Writer, report: &mut Report) -> Result<()> {
    let Some(oldest) = config.retention.oldest(now) else { return Ok(()) };
    let doomed = RemovalPlan { whole: store.inactive_since(oldest)?, ..RemovalPlan::default() };
    report.sessions_forgotten += doomed.whole.len() as u64;
    if doomed.is_empty() { Ok(()) } else { store.take_out(&doomed, Permanence::UntilResumed) }
}

/// The orphan pages that the config does not keep: those of an excluded project, and those that are too old by what their heads say. Looks at
/// all pages where the index does not know that none is orphaned.
pub(crate) fn unwanted_orphans(config: &Config, now: Millis, store: &Writer, report: &mut Report) -> Result<Vec<SessionPage>> {
    let (oldest, projects) = (config.retention.oldest(now), config.project_keys());
    if oldest.is_none() && config.exclude_projects.is_empty() || store.has_no_orphans()? {
        return Ok(Vec::new());
    }
    let orphans = orphans::find(config, store)?;
    if orphans.is_empty() && orphans::are_recorded(config, store)? {
        store.record_no_orphans()?;
    }
    let (excluded, others): (Vec<_>, Vec<_>) =
        orphans.into_iter().partition(|page| config.excludes_folder(&page.project.key, &projects));
    let is_too_old = |page: &SessionPage| oldest.is_some_and(|oldest| page.is_older_than(oldest, &config.time_zone));
    let too_old: Vec<_> = others.into_iter().filter(is_too_old).collect();
    let sessions = |pages: &[SessionPage]| pages.iter().map(|page| &page.session).collect::<BTreeSet<_>>().len() as u64;
    report.sessions_excluded += sessions(&excluded);
    report.sessions_forgotten += sessions(&too_old);
    Ok([excluded, too_old].concat())
}

/// Deletes them at the end of a run: until all transcripts are read, a session that went on may look too old.
pub(crate) fn delete_orphans(config: &Config, now: Millis, store: &mut Writer, ui: &Ui, report: &mut Report) -> Result<()> {
    if shutdown::requested() {
        return Ok(());
    }
    let unwanted = unwanted_orphans(config, now, store, report)?;
    orphans::remove(&unwanted, config, store, ui)
}

/// Secure erase: rewrites the index if something was deleted from it since the last rewrite.
pub(crate) fn secure_erase(store: &Maintenance, ui: &Ui) -> Result<()> {
    // Only a warning: a full disk may have no room for the rewrite but for everything else. The next run tries again.
    if store.needs_secure_erase()?
        && let Err(e) = store.secure_erase()
    {
        ui.warn(&format!("{:#}: until the index can be rewritten, its file may hold traces of deleted data", store.explained(e)));
    }
    Ok(())
}
