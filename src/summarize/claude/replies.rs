//! Replies on disk, each under the hash of its request, from their arrival until what was made of them is stored. A reply is paid for
//! once.

use std::fs;
use std::path::PathBuf;

use super::Claude;
use super::report::{self, Attempt};
use crate::model::session::Millis;
use crate::summarize::{ModelAnswer, ModelRequest, ReplyParser, SummaryFailure};
use crate::sys::private_files::ReservedSpace;

/// Disk space reserved before a call, in bytes: for the reply and the digest made from it, with a margin.
const RESERVED_BYTES: usize = 256 << 10;
/// How long a reply is kept for later use, or for a version that can read it.
const MAX_REPLY_AGE: Millis = 30 * 24 * 3_600_000;

impl Claude {
    pub(super) fn reply_file(&self, request: &ModelRequest) -> PathBuf {
        let hash = request.hash(super::WORD, &self.model);
        let name: String = hash[..16].iter().map(|b| format!("{b:02x}")).collect();
        self.replies.join(format!("{name}.json"))
    }

    /// Reserves disk space for a reply.
    pub(super) fn room(&self) -> Result<ReservedSpace, SummaryFailure> {
        ReservedSpace::reserve(&self.replies, RESERVED_BYTES).map_err(|e| {
            let what = format!("cannot keep replies in {}, so none is asked for: {e}", self.replies.display());
            SummaryFailure::Unavailable { what, cost_usd: Some(0.0) }
        })
    }

    /// The answer to this request, if it is on disk. An unreadable reply does not count: the call would be made again without a
    /// reservation.
    pub(super) fn stored_answer<T>(&self, request: &ModelRequest, read: ReplyParser<'_, T>) -> Option<ModelAnswer<T>> {
        match report::read(&fs::read(self.reply_file(request)).ok()?, read, &self.model) {
            Attempt::Answered(answer) => Some(*answer),
            Attempt::Failed(_) | Attempt::Retry(_) => None,
        }
    }

    /// Deletes the reply once it is used.
    pub(super) fn forget(&self, request: &ModelRequest) {
        let _ = fs::remove_file(self.reply_file(request));
    }

    /// Deletes replies that no one used: their sessions continued before they could be.
    pub(super) fn drop_old(&self, now: Millis) {
        let Ok(files) = fs::read_dir(&self.replies) else { return };
        let age = |meta: fs::Metadata| {
            Some(now - meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis() as Millis)
        };
        for file in files.flatten() {
            if file.metadata().ok().and_then(age).is_some_and(|age| age > MAX_REPLY_AGE) {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}
