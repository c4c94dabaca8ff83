//! What a run takes out of the index by the config of today, before anything is made of it, and that no trace of it is left.

use anyhow::{Context, Result};

use super::report::Report;
use crate::config::Config;
use crate::session::Millis;
use crate::store::Store;
use crate::store::forget::{Doomed, Lasting};
use crate::ui::Ui;

/// Takes out what is stored of projects that the config has come to leave out.
pub fn leave_out_excluded(config: &Config, store: &mut Store, report: &mut Report) -> Result<()> {
    if config.exclude_projects.is_empty() {
        return Ok(());
    }
    let projects = config.project_keys();
    let doomed = store.find_places(|folder| config.excludes_folder(folder, &projects))?;
    report.sessions_excluded = doomed.sessions().len() as u64;
    for session in &doomed.whole {
        store.exclude_session(*session)?;
    }
    if doomed.is_empty() { Ok(()) } else { store.take_out(&doomed, Lasting::UntilItGoesOn) }
}

/// Cleans what is stored, where that was done by other rules than today's.
pub fn clean_again(config: &Config, ui: &Ui, store: &mut Store, report: &mut Report) -> Result<()> {
    let rules = config.rules();
    if store.is_cleaned_by(&rules)? {
        return Ok(());
    }
    let cleaned = store.clean(&config.gate()?, &rules).context("cannot clean what is stored by the new rules")?;
    if cleaned > 0 {
        ui.note(&format!("the rules for what is kept have changed: {cleaned} stored texts were cleaned"));
    }
    report.texts_cleaned = cleaned;
    Ok(())
}

/// Forgets sessions that are older than the config wants them kept, before anything is made of them.
pub fn forget_old(config: &Config, now: Millis, store: &mut Store, report: &mut Report) -> Result<()> {
    let Some(oldest) = config.retention.oldest(now) else { return Ok(()) };
    let doomed = Doomed { whole: store.inactive_since(oldest)?, ..Doomed::default() };
    report.sessions_forgotten = doomed.whole.len() as u64;
    if doomed.is_empty() { Ok(()) } else { store.take_out(&doomed, Lasting::UntilItGoesOn) }
}

/// Writes the index anew when something was taken out of it since that was done last.
pub fn scrub(store: &Store, ui: &Ui) -> Result<()> {
    // Without the room to write it anew there is room for all else; the next run tries again.
    if store.wants_scrub()?
        && let Err(e) = store.scrub()
    {
        ui.warn(&format!(
            "{:#}: until the index can be written anew, traces of what was taken out may be left in its file",
            store.explained(e)
        ));
    }
    Ok(())
}
