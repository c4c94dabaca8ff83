//! Makes a digest without a model: from what the user said, how the assistant closed each turn, what was answered, changed, run
//! and left open, and the client's own summaries.

pub(crate) mod completed;
pub(crate) mod decisions;
mod files;
pub(crate) mod open_items;
pub(crate) mod request;
mod statements;

use self::files::{files, investigated};
use self::statements::{SeenStatements, pick, statements};
use crate::analyze::extract::completed::{completed, fixes};
use crate::analyze::extract::decisions::decisions;
pub use crate::analyze::extract::open_items::closed_items;
use crate::analyze::extract::open_items::{blockers, next_steps};
pub use crate::analyze::extract::request::{request, title};
use crate::analyze::failures::failures;
use crate::analyze::signal::SentenceTopic;
use crate::model::digest::{Claim, Digest};
use crate::model::session::{Entry, Session};

/// Makes the digest of a session on its own; [`closed_items`] finds the open items of other sessions that it closes.
pub fn extract(session: &Session) -> Digest {
    let pool = statements(session);
    let failures = failures(session);
    let mut seen = SeenStatements::default();
    let request = request(session);
    let next_steps = next_steps(session, &pool, &mut seen);
    let decisions = decisions(session, &pool, &mut seen);
    let completed = completed(session, &pool, &mut seen);
    let mut learned = pick(&pool, &mut seen, 7, |s| {
        !s.offer && (s.about(SentenceTopic::Cause) || (s.about(SentenceTopic::Lesson) && s.weight > 0.5))
    });
    learned.extend(fixes(&failures));
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
