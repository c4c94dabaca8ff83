//! Makes a digest without a model: from what the user said, how the assistant closed each turn, what was answered, changed, run
//! and left open, and the client's own summaries.

mod asked;
mod decided;
mod done;
mod files;
mod open;
mod statements;

pub use self::asked::{request, title};
use self::decided::decisions;
use self::done::{completed, fixed};
use self::files::{files, investigated};
pub use self::open::closes;
use self::open::{blockers, next_steps};
use self::statements::{Seen, pick, statements};
use crate::digest::{Claim, Digest};
use crate::fixes::failures;
use crate::session::{Entry, Session};
use crate::signal::Topic;

/// Makes the digest of a session on its own; [`closes`] finds the open items of other sessions that it closes.
pub fn extract(session: &Session) -> Digest {
    let pool = statements(session);
    let failures = failures(session);
    let mut seen = Seen::default();
    let request = request(session);
    let next_steps = next_steps(session, &pool, &mut seen);
    let decisions = decisions(session, &pool, &mut seen);
    let completed = completed(session, &pool, &mut seen);
    let mut learned =
        pick(&pool, &mut seen, 7, |s| !s.offer && (s.about(Topic::Cause) || (s.about(Topic::Lesson) && s.weight > 0.5)));
    learned.extend(fixed(&failures));
    Digest {
        title: title(session),
        closes: Vec::new(),
        investigated: investigated(session),
        blockers: blockers(session, &failures, &pool, &mut seen),
        files: files(session),
        questions: Vec::new(),
        request,
        learned,
        completed,
        decisions,
        next_steps,
    }
}

fn claim(text: String, entry: &Entry) -> Claim {
    Claim { text, rows: vec![entry.key] }
}
