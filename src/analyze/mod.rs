//! What a session was about: pure functions of a session and its text. Knows no store.

pub mod condense;
pub mod distinct;
pub mod eligibility;
pub mod extract;
pub mod failures;
pub mod highlights;
pub mod minhash;
pub mod prose;
pub mod signal;
pub mod verify;

use crate::analyze::extract::extract;
use crate::analyze::verify::verify;
use crate::model::digest::Digest;
use crate::model::session::Session;

/// A digest extracted from the session's records and verified against them.
pub fn extracted_digest(session: &Session) -> Digest {
    let mut digest = extract(session);
    verify(&mut digest, session);
    digest
}
