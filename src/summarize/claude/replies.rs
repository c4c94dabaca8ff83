//! Replies on disk: each under what was asked, from the moment it came until what was made of it is stored. A reply is paid for once.

use std::fs;
use std::path::PathBuf;

use super::report::{self, Try};
use super::{Answer, Claude, Reader};
use crate::private::Room;
use crate::session::Millis;
use crate::summarize::{Failure, Request};

/// Room that is taken on the disk before a reply is asked for, in bytes: for it and the digest that is made of it, with some to spare.
const ROOM: usize = 256 << 10;
/// How long a reply waits to be used, or for a version that can read it.
const KEEP_REPLIES: Millis = 30 * 24 * 3_600_000;

impl Claude {
    pub(super) fn reply_file(&self, request: &Request) -> PathBuf {
        let hash = request.hash(&self.model);
        let name: String = hash[..16].iter().map(|b| format!("{b:02x}")).collect();
        self.replies.join(format!("{name}.json"))
    }

    /// Takes room for a reply that is to come.
    pub(super) fn room(&self) -> Result<Room, Failure> {
        Room::take(&self.replies, ROOM).map_err(|e| {
            let what = format!("cannot keep replies in {}, so none is asked for: {e}", self.replies.display());
            Failure::Model { what, cost_usd: Some(0.0) }
        })
    }

    /// The answer to this very request that lies on the disk. A reply that cannot be read is none: it would be asked for again, and
    /// nothing be reserved for that.
    pub(super) fn stored_answer<T>(&self, request: &Request, read: Reader<'_, T>) -> Option<Answer<T>> {
        match report::read(&fs::read(self.reply_file(request)).ok()?, read, &self.model) {
            Try::Answered(answer) => Some(*answer),
            Try::Failed(_) | Try::Again(_) => None,
        }
    }

    /// Was this very request answered before, and the answer not used yet?
    pub fn has_answer<T>(&self, request: &Request, read: Reader<'_, T>) -> bool {
        self.stored_answer(request, read).is_some()
    }

    /// The reply is used: its file has done its work.
    pub fn forget_reply(&self, request: &Request) {
        let _ = fs::remove_file(self.reply_file(request));
    }

    /// Replies nobody came for: their sessions went on before they could be used.
    pub fn drop_old_replies(&self, now: Millis) {
        let Ok(files) = fs::read_dir(&self.replies) else { return };
        let age = |meta: fs::Metadata| {
            Some(now - meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis() as Millis)
        };
        for file in files.flatten() {
            if file.metadata().ok().and_then(age).is_some_and(|age| age > KEEP_REPLIES) {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}
