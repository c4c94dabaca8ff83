//! Replies on disk, each under the hash of its request, from their arrival until what was made of them is stored. A reply is paid for
//! once.

use std::fs;
use std::path::PathBuf;

use super::{ModelRequest, SummaryFailure};
use crate::config::Config;
use crate::sys::data_folder;
use crate::sys::private_files::ReservedSpace;
use transcripts::session::{Millis, hex};

/// Disk space reserved before a call, in bytes: for the reply and the digest made from it, with a margin.
const RESERVED_BYTES: usize = 256 << 10;
/// How long a reply is kept for later use, or for a version that can read it.
const MAX_REPLY_AGE: Millis = 30 * 24 * 3_600_000;

/// The replies of one model, asked by one summarizer.
pub(crate) struct KeptReplies {
    folder: PathBuf,
    /// The summarizer's word.
    word: &'static str,
    /// The model's name, as the config has it.
    model: String,
}

impl KeptReplies {
    pub(crate) fn of(config: &Config, word: &'static str) -> Self {
        Self { folder: config.data_dir.join(data_folder::REPLIES), word, model: config.digest.model.clone() }
    }

    fn file(&self, request: &ModelRequest) -> PathBuf {
        let hash = request.hash(self.word, &self.model);
        self.folder.join(format!("{}.json", hex(&hash[..16])))
    }

    /// Reserves disk space for the reply to a request.
    pub(super) fn reserve(&self, request: &ModelRequest) -> Result<RoomForReply, SummaryFailure> {
        let space = ReservedSpace::reserve(&self.folder, RESERVED_BYTES).map_err(|e| {
            let what = format!("cannot keep replies in {}, so none is asked for: {e}", self.folder.display());
            SummaryFailure::Unavailable { what, cost_usd: Some(0.0) }
        })?;
        Ok(RoomForReply { space, file: self.file(request) })
    }

    /// The reply to this request, whatever open items it listed, as it arrived.
    pub(super) fn read(&self, request: &ModelRequest) -> Option<Vec<u8>> {
        fs::read(self.file(request)).ok()
    }

    /// Deletes the reply once it is used.
    pub(crate) fn forget(&self, request: &ModelRequest) {
        let _ = fs::remove_file(self.file(request));
    }

    /// Deletes replies that no one used: their sessions continued before they could be.
    pub(crate) fn drop_old(&self, now: Millis) {
        let Ok(files) = fs::read_dir(&self.folder) else { return };
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

/// Disk space for one reply, and the file it becomes.
pub(super) struct RoomForReply {
    space: ReservedSpace,
    file: PathBuf,
}

impl RoomForReply {
    /// Stores a reply. It is paid for: it is used even if it cannot be stored.
    pub(super) fn keep(self, reply: &[u8]) {
        let _ = self.space.fill(&self.file, reply);
    }
}
