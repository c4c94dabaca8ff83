//! What a session said before it came into an excluded folder: it is read again once the session is out, up to there and no further.
//!
//! An interrupted run leaves the session out whole, and the next one begins anew.

use std::path::Path;

use anyhow::Result;

use super::read::{PendingFile, TranscriptReader};
use crate::app::digest::report::Report;
use crate::app::digest::request::DigestRequest;
use crate::config::Config;
use crate::model::session::Millis;
use crate::source::discover::{TranscriptFile, discover};
use crate::store::Writer;
use crate::sys::messages::Ui;
use crate::sys::{failpoints, shutdown};

/// Reads the parts that are due, of sessions whose own transcripts are still there.
pub(in crate::app::digest) fn read(
    request: &DigestRequest,
    config: &Config,
    ui: &Ui,
    now: Millis,
    store: &mut Writer,
    report: &mut Report,
) -> Result<()> {
    let mut due = store.parts_due()?;
    due.retain(|(.., files)| files.iter().any(|file| Path::new(file).exists()));
    if due.is_empty() {
        return Ok(());
    }
    let (sanitizer, projects) = (config.sanitizer()?, config.project_keys());
    let reader = TranscriptReader::new(config, &sanitizer, &projects, request.jobs, now, ui);
    let transcripts = transcripts(config, now);
    for (session, cut, _) in due {
        let own = transcripts.iter().filter(|file| file.place.session == session);
        let Some(pending) = reader.parts(own, &session, cut) else { continue };
        store.begin_part(&session)?;
        let read_before = report.files_read;
        reader.run(&pending, store, report)?;
        store.ingested();
        failpoints::point("part read");
        if shutdown::requested() {
            return Ok(());
        }
        if report.files_read == read_before + pending.len() as u64 {
            store.end_part(&session, cut)?;
        }
    }
    Ok(())
}

/// The transcripts of sessions themselves. What subagents did in files of their own is not read: no file says whether it was for the turn in
/// which the session moved.
fn transcripts(config: &Config, now: Millis) -> Vec<TranscriptFile> {
    let oldest = config.retention.oldest(now);
    let mut files = discover(&config.claude_dirs, &config.exclude_transcripts).files;
    files.retain(|file| file.place.agent.is_none() && oldest.is_none_or(|oldest| file.mtime() >= oldest));
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    files
}

impl TranscriptReader<'_> {
    /// Files of a session, each up to where the part ends that is kept of it. `None` where there are none, or one cannot be read.
    fn parts<'f>(&self, files: impl Iterator<Item = &'f TranscriptFile>, session: &str, cut: Millis) -> Option<Vec<PendingFile>> {
        let parts: Option<Vec<PendingFile>> = files.map(|file| self.part(file, session, cut)).collect();
        parts.filter(|parts| !parts.is_empty())
    }
}
