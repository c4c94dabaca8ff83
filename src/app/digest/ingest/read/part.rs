//! The part of a session that is kept: its turns before the one in which it came into an excluded folder.

use std::io;
use std::sync::Arc;

use super::file::{FolderOwner, LastFolder};
use super::{PendingFile, TranscriptReader};
use crate::model::session::{Millis, Record, Turn};
use crate::source::delta;
use crate::source::delta::RawLine;
use crate::source::discover::TranscriptFile;
use crate::source::{LineParser, ParsedLine};
use crate::store::ingest::IngestBatch;

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
    /// A file up to where the part ends. Says so and returns `None` if the file cannot be read.
    pub(crate) fn part(&self, file: &TranscriptFile, session: &str, cut: Millis) -> Option<PendingFile> {
        match self.end_of_part(file, session, cut) {
            Ok(end) => {
                let part = Some(Part { session: session.to_owned(), cut, end });
                Some(PendingFile { file: Arc::new(file.clone()), checkpoint: None, conversation: String::new(), part })
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
        let mut lines = delta::open(&file.path, None)?.lines;
        let mut parser = LineParser::of(&file.place, self.sanitizer);
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
