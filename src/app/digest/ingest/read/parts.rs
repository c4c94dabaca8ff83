//! What a session said before it came into an excluded folder: its turns before the one in which it did. They are read again once the
//! session is out, up to there and no further.
//!
//! An interrupted run leaves the session out whole, and the next one begins anew.

use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;

use super::file::{FolderOwner, LastFolder};
use super::{PendingFile, TranscriptReader};
use crate::app::digest::report::Report;
use crate::app::digest::request::DigestRequest;
use crate::config::Config;
use crate::store::Writer;
use crate::store::ingest::IngestBatch;
use crate::sys::messages::Ui;
use crate::sys::{failpoints, shutdown};
use transcripts::session::{Millis, ParserState, Record, Turn};
use transcripts::source::delta::RawLine;
use transcripts::source::discover::{TranscriptFile, discover};
use transcripts::source::{self, ParsedLine, looked_into, parser_of, source_of};

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
    due.retain(|(.., files)| files.iter().any(|file| source::is_there(Path::new(file))));
    if due.is_empty() {
        return Ok(());
    }
    let (sanitizer, projects) = (config.sanitizer()?, config.project_keys());
    let reader = TranscriptReader::new(config, &sanitizer, &projects, request.jobs, now, ui);
    let transcripts = transcripts(config, now);
    for (session, cut, _) in due {
        let own = transcripts.iter().filter(|file| source_of(file.place.client).is_of(&file.place, &session));
        let Some(pending) = reader.parts(own, &session, cut) else { continue };
        store.begin_part(&session)?;
        let read_before = report.files_read;
        reader.run(&pending, store, report)?;
        store.ingested();
        failpoints::point("part read");
        if shutdown::requested() {
            return Ok(());
        }
        let read = report.files_read - read_before;
        // They are no files that had something new, or count as that already.
        report.files_read = read_before;
        if read == pending.len() as u64 {
            store.end_part(&session, cut)?;
        }
    }
    Ok(())
}

/// The transcripts of sessions themselves. What subagents did in files of their own is not read: no file says whether it was for the turn in
/// which the session moved.
fn transcripts(config: &Config, now: Millis) -> Vec<TranscriptFile> {
    let oldest = config.retention.oldest(now);
    let mut files = discover(&config.client_folders(), &config.exclude_transcripts).files;
    files.retain(|file| file.place.agent.is_none() && oldest.is_none_or(|oldest| file.mtime() >= oldest));
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    files
}

/// What is read of a file for the part of a session that is kept.
#[derive(Debug)]
pub(super) struct Part {
    session: String,
    /// When the session was first in an excluded folder.
    cut: Millis,
    /// The offset at which the part ends in this file.
    pub(super) end: u64,
}

impl TranscriptReader<'_> {
    /// Files of a session, each up to where the part ends that is kept of it. `None` where there are none, or one cannot be read.
    fn parts<'f>(&self, files: impl Iterator<Item = &'f TranscriptFile>, session: &str, cut: Millis) -> Option<Vec<PendingFile>> {
        let parts: Option<Vec<PendingFile>> = files.map(|file| self.part(file, session, cut)).collect();
        parts.filter(|parts| !parts.is_empty())
    }

    /// A file up to where the part ends. Says so and returns `None` if the file cannot be read.
    fn part(&self, file: &TranscriptFile, session: &str, cut: Millis) -> Option<PendingFile> {
        let file = looked_into(file.clone());
        match self.end_of_part(&file, session, cut) {
            Ok(end) => {
                let part = Some(Part { session: session.to_owned(), cut, end });
                Some(PendingFile { file: Arc::new(file), known: None, part })
            }
            Err(e) => {
                self.ui.warn(&format!("cannot read {}: {e}", file.path.display()));
                None
            }
        }
    }

    /// The offset at which the turn begins in which the session moved. In doubt that is the last one before the cut: a subagent may have been
    /// elsewhere, or the turn have gone on in another file.
    fn end_of_part(&self, file: &TranscriptFile, session: &str, cut: Millis) -> io::Result<u64> {
        let mut lines = source::open(&file.place, &file.path, None)?.lines;
        let mut parser = parser_of(&file.place, self.sanitizer, &ParserState::default());
        let mut folder = LastFolder::default();
        let mut turn = 0;
        while let Some((from, _, piece)) = lines.next_line()? {
            let (RawLine::Complete(line) | RawLine::Tail(line)) = piece else { continue };
            let ParsedLine::Record(row) = parser.read(line) else { continue };
            let is_own = row.session == session;
            let begins = is_own && row.agent.is_none() && matches!(row.turn, Turn::Begins | Turn::BeginsPrivate);
            let is_out = matches!(self.whose(&mut folder, row.cwd.as_deref()), FolderOwner::Excluded);
            if is_out || is_own && row.at.is_some_and(|at| at >= cut) {
                return Ok(if is_out && begins && row.at == Some(cut) { from } else { turn });
            }
            if begins {
                turn = from;
            }
        }
        Ok(turn)
    }
}

impl Part {
    /// Leaves in a batch what is certain to be of the part. A record that names no time or no folder may be about what came later: titles,
    /// what the client counts over the whole session, messages in its queue.
    pub(super) fn narrow(&self, batch: &mut IngestBatch) {
        let is_own = |session: &String| *session == self.session;
        let is_before = |at: Option<Millis>| at.is_some_and(|at| at < self.cut);
        let is_kept = |row: &Record| is_own(&row.session) && is_before(row.at) && row.cwd.is_some();
        batch.rows.retain(|(_, row)| is_kept(row));
        batch.asked.retain(|(session, asked)| is_own(session) && is_before(asked.at));
        batch.fenced.retain(|fenced| is_own(&fenced.session));
        batch.brought.retain(|(session, _)| is_own(session));
        batch.boundaries.retain(|boundary| is_own(&boundary.session));
        batch.starts.retain(|session, at| is_own(session) && *at < self.cut);
        batch.folders.retain(|session, _| is_own(session));
        batch.client_costs.clear();
        batch.excluded.clear();
        batch.bad.clear();
        batch.unknown.clear();
        batch.grew_at = batch.grew_at.min(self.cut);
        batch.is_part = true;
    }
}
