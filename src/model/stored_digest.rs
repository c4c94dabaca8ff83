//! A digest with how it was made.

use crate::model::digest::{Digest, is_by_model};
use transcripts::session::Millis;

/// A stored digest.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDigest {
    pub id: String,
    pub summarizer: String,
    pub model: Option<String>,
    /// Hash of everything the summarizer was given.
    pub input_hash: [u8; 32],
    pub made_at: Millis,
    pub cost_usd: Option<f64>,
    /// It still waits for the model.
    pub queued: bool,
    /// For a digest made while the session was ongoing: the latest timestamp of its records then.
    pub interim_until: Option<Millis>,
    pub digest: Digest,
}

impl StoredDigest {
    pub(crate) fn is_by_model(&self) -> bool {
        is_by_model(&self.summarizer)
    }
}
