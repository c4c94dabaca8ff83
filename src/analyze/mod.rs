//! What a session was about: pure functions of a session and its text. Knows no store.

pub(crate) mod account;
pub(crate) mod condense;
pub(crate) mod distinct;
pub(crate) mod eligibility;
pub(crate) mod extract;
pub(crate) mod failures;
pub(crate) mod minhash;
pub(crate) mod prose;
pub(crate) mod shell;
pub(crate) mod signal;
pub(crate) mod verify;

use crate::analyze::extract::extract;
use crate::analyze::verify::verify;
use crate::model::digest::Digest;
use crate::model::session::Session;

/// A digest extracted from the session's records and verified against them.
pub(crate) fn extracted_digest(session: &Session) -> Digest {
    let mut digest = extract(session);
    verify(&mut digest, session);
    digest
}
