//! The summarizer: the `claude` command.

pub(crate) mod claude;
mod prompt;
pub(crate) mod reply;

use crate::model::digest::{Digest, OpenItem};
use crate::model::session::Session;

pub(crate) use claude::{Claude, ModelAnswer};
pub use prompt::{ModelRequest, instructions, request};
pub(crate) use reply::object_in;

/// Everything a summarizer works with.
pub(crate) struct SummaryInput {
    pub(crate) session: Session,
    /// Open items of earlier sessions of the project.
    pub(crate) open: Vec<OpenItem>,
    pub(crate) request: ModelRequest,
}

/// A digest and what it cost.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) digest: Digest,
    pub(crate) model: Option<String>,
    /// `None` when the client did not report it.
    pub(crate) cost_usd: Option<f64>,
}

/// Why there is no digest.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SummaryFailure {
    /// Concerns this session only; the next run may succeed.
    #[error("{what}")]
    Session { what: String, cost_usd: Option<f64> },
    /// Concerns this session only, and the same request would end the same way: refused, cut off at the length of an answer, or over
    /// the client's number of turns.
    #[error("{what}")]
    Declined { what: String, cost_usd: Option<f64> },
    /// The model is unavailable: not logged in, over a limit, or not installed. Further sessions would fail too.
    #[error("{what}")]
    Unavailable { what: String, cost_usd: Option<f64> },
    /// The client does not know a flag that keeps the request small: the call must be reserved again at a higher price.
    #[error("the call costs more than was reserved for it")]
    HigherPrice,
    #[error("stopped")]
    Stopped,
}

impl SummaryFailure {
    /// What the call cost, in US dollars; `None` if that is not known.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        match self {
            Self::Session { cost_usd, .. } | Self::Declined { cost_usd, .. } | Self::Unavailable { cost_usd, .. } => *cost_usd,
            Self::HigherPrice => Some(0.0),
            Self::Stopped => None,
        }
    }
}
