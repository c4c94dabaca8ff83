//! Which sessions run now, by their transcripts and by the marks that hooks left. The client is not asked, and what it keeps of running
//! sessions (`sessions/`) is never read.

use std::collections::HashMap;
use std::path::Path;

use crate::config::Config;
use crate::inputs::mark;
use transcripts::session::Millis;

/// A session runs if its transcript was written in this time: clients write down what an agent runs before they run it, and a person may
/// have read for a while before typing.
const LIVE: Millis = 30 * 60_000;

/// How long after its end a client still writes to the transcript: its last lines come after the hook.
const LAST_LINES: Millis = 10_000;

/// The ends of sessions that no digest has read yet.
pub(crate) struct PendingEnds(HashMap<String, Millis>);

impl PendingEnds {
    pub(crate) fn read(config: &Config) -> Self {
        let mut ends = HashMap::new();
        let marks = mark::pending(&config.data_dir).into_iter().filter_map(|(_, mark)| mark);
        for mark in marks.filter(|mark| mark.ends_session()) {
            let last = ends.entry(mark.session).or_insert(mark.at);
            *last = mark.at.max(*last);
        }
        Self(ends)
    }

    /// Was the session's transcript written a short while ago, and has the session not ended since? `ended_at`, as the index knows it.
    pub(crate) fn is_running(&self, session: &str, written: Millis, ended_at: Option<Millis>, now: Millis) -> bool {
        written.abs_diff(now) <= LIVE.unsigned_abs() && !self.has_ended(session, written, ended_at)
    }

    fn has_ended(&self, session: &str, written: Millis, ended_at: Option<Millis>) -> bool {
        self.0.get(session).copied().max(ended_at).is_some_and(|at| at.saturating_add(LAST_LINES) >= written)
    }
}

/// When a transcript was last written; `None` if it is gone.
pub(crate) fn written_at(transcript: &Path) -> Option<Millis> {
    let at = transcript.metadata().and_then(|meta| meta.modified()).ok()?;
    jiff::Timestamp::try_from(at).ok().map(jiff::Timestamp::as_millisecond)
}
