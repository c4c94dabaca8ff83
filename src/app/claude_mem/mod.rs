//! Imports what claude-mem remembers: each of its sessions becomes one of ours, with its prompts and a digest that says who said so.
//!
//! ## Invariants
//! A session that is known stays as it is, and one that was forgotten or belongs to an excluded project does not come in. All text passes the
//! sanitizer whole, before any of it is cut or split.

mod mapping;
mod place;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use self::mapping::exported;
use self::place::Places;
use crate::app::transfer::into_memory;
use crate::config::Config;
use crate::inputs::claude_mem::{BadRows, ClaudeMem, ClaudeMemSession, check};
use crate::store::Writer;
use crate::sys::messages::Ui;
use text::clean::counted;
use transcripts::privacy::Sanitizer;
use transcripts::session::Millis;

/// What became of claude-mem's sessions.
#[derive(Debug, Default)]
pub(crate) struct ClaudeMemSummary {
    pub(crate) sessions: usize,
    /// Sessions that the memory had already.
    pub(crate) known: usize,
    /// Sessions of excluded projects.
    pub(crate) excluded: usize,
    /// Sessions that were forgotten here, or that are older than what is kept.
    pub(crate) forgotten: usize,
    /// Sessions of which nothing was said, or nothing that may be kept.
    pub(crate) empty: usize,
    /// Projects of imported sessions of which no folder is known.
    pub(crate) named_only: BTreeSet<String>,
}

/// Stores what the database at a path holds.
///
/// # Errors
/// When it is no database of claude-mem, a run is under way, or the index cannot be written.
pub(crate) fn import(path: &Path, config: &Config, ui: &Ui) -> Result<ClaudeMemSummary> {
    check(path)?;
    // Of folders that are excluded, too: before the index is locked.
    let places = Places::known(config);
    into_memory(config, ui, |store, sanitizer| {
        let database = ClaudeMem::open(path, &config.data_dir)?;
        let missing = database.missing()?;
        if !missing.is_empty() {
            ui.note(&format!("the database is of another version of claude-mem: {}", missing.join(", ")));
        }
        let mut taken = ClaudeMemSummary::default();
        let bad = database.each_session(|session| taken.session(&session, store, sanitizer, &places, config))?;
        warn_of(&bad, ui);
        Ok(taken)
    })
}

impl ClaudeMemSummary {
    fn session(
        &mut self,
        told: &ClaudeMemSession,
        store: &mut Writer,
        sanitizer: &Sanitizer,
        places: &Places<'_>,
        config: &Config,
    ) -> Result<()> {
        let place = places.of(told);
        let Some(session) = exported(told, &place, sanitizer) else {
            self.empty += 1;
            return Ok(());
        };
        let is_too_old = |oldest: Millis| session.grew_at < oldest;
        let mut keys = session.sources.iter().flat_map(|source| &source.rows).map(|row| row.key);
        if store.holds_session(&session.session)? {
            self.known += 1;
        } else if places.excludes(told, &place) || store.is_excluded(&session.session)? {
            self.excluded += 1;
        } else if store.is_shut_out(&session.session)?
            || store.has_read_transcript_of(&session.session)?
            || config.retention.oldest(config.now()).is_some_and(is_too_old)
            || keys.try_fold(false, |any, key| Ok::<_, anyhow::Error>(any || store.is_forgotten_row(key)?))?
        {
            self.forgotten += 1;
        } else {
            drop(keys);
            if !place.is_folder() {
                self.named_only.insert(session.project.clone());
            }
            let new = store.import_session(session)?;
            self.sessions += usize::from(new);
            self.known += usize::from(!new);
        }
        Ok(())
    }
}

fn warn_of(bad: &BadRows, ui: &Ui) {
    let tables = [
        ("sdk_sessions", bad.sessions),
        ("session_summaries", bad.summaries),
        ("observations", bad.observations),
        ("user_prompts", bad.prompts),
    ];
    for (table, count) in tables.into_iter().filter(|(_, count)| *count > 0) {
        ui.warn(&format!("{table}: {} cannot be read, skipped", counted(count, "row")));
    }
}
