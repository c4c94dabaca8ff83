//! Who compresses a session into a digest: the model through `claude`, or nobody but ourselves.

pub mod claude;
mod prompt;
pub mod reply;

use crate::digest::{Digest, OpenItem};
use crate::extract::{closes, extract};
use crate::session::Session;
use crate::verify::verify;

pub use claude::{Answer, Claude};
pub use prompt::{Request, SHIPPED, request};
pub use reply::object_in;

/// What a summarizer gets to work with.
pub struct Input {
    pub session: Session,
    /// What earlier sessions of the project left open.
    pub open: Vec<OpenItem>,
    pub request: Request,
}

/// A digest and what it cost.
#[derive(Debug)]
pub struct Made {
    pub digest: Digest,
    pub model: Option<String>,
    /// `None` when the client did not tell.
    pub cost_usd: Option<f64>,
}

/// Why there is no digest.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    /// It concerns this session only; the next run may succeed.
    #[error("{what}")]
    Session { what: String, cost_usd: Option<f64> },
    /// The model cannot be had now: not logged in, over a limit, not installed. Asking for more sessions is no use.
    #[error("{what}")]
    Model { what: String, cost_usd: Option<f64> },
    /// The client lacks a flag that keeps the request small: the call has to be paid for at another price.
    #[error("the call costs more than was reserved for it")]
    CostsMore,
    #[error("stopped")]
    Stopped,
}

/// Makes a digest of a session.
pub trait Summarizer: Sync {
    fn summarize(&self, input: &Input) -> Result<Made, Failure>;
}

/// Has a digest that was made from its session alone say what it closes, and checks it.
pub fn finish(digest: &mut Digest, input: &Input) {
    digest.closes = closes(&input.open, &digest.completed, &input.session);
    verify(digest, &input.session);
}

/// The summarizer without a model: always there.
pub struct Extract;

impl Summarizer for Extract {
    fn summarize(&self, input: &Input) -> Result<Made, Failure> {
        let mut digest = extract(&input.session);
        finish(&mut digest, input);
        Ok(Made { digest, model: None, cost_usd: None })
    }
}
