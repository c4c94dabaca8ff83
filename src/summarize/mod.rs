//! Summarizers: who makes a digest by asking a model. Without one, `analyze::without_model` makes it.

pub(crate) mod claude;
mod prompt;
pub(crate) mod reply;

use std::cell::RefCell;

use jiff::tz::TimeZone;

use self::claude::Claude;
use crate::analyze::verify::{restore_user_words, verify, verify_closings};
use crate::config::{Config, SummarizerChoice};
use crate::model::digest::{Digest, OpenItem};
use crate::model::session::{Millis, Session};
use crate::privacy::Sanitizer;
use crate::sys::failpoints;

pub use prompt::{ModelRequest, instructions, request};
pub(crate) use reply::object_in;

/// Everything a summarizer works with.
pub(crate) struct SummaryInput {
    pub(crate) session: Session,
    /// What earlier sessions of the project left open by their own records.
    pub(crate) open: Vec<OpenItem>,
    /// What a model is shown as open, and may close: the same, or what a model said of a session.
    pub(crate) offered: Vec<OpenItem>,
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
    /// The call must be reserved again at a higher price, as when a client does not know a flag that keeps the request small. A summarizer
    /// says so a few times at most.
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

/// Why there is none where the config wants none.
pub(crate) const NOT_ASKED_FOR: &str = "the model was not asked for";

/// Parses the model's reply, or says why it is not an answer.
pub(crate) type ReplyParser<'r, T> = &'r dyn Fn(&str) -> Result<T, String>;

/// An answer and what it cost.
#[derive(Debug)]
pub struct ModelAnswer<T> {
    pub value: T,
    pub model: String,
    /// `None` when the client did not report it.
    pub cost_usd: Option<f64>,
}

/// Asks a model, for money. Whoever asks reserves the worst cost of a call first, and lets go of a reply once what it made of it is stored.
pub(crate) trait Summarizer: Sync {
    /// The word that is stored with its digests, as `model::digest` lists it.
    fn word(&self) -> &'static str;

    /// The model's name, as the config has it.
    fn name(&self) -> &str;

    /// Upper bound on the cost of a call, in US dollars; `None` when the price of a model that may answer is unknown.
    fn worst_cost(&self, request: &ModelRequest) -> Option<f64>;

    /// Expected cost of a call, in US dollars, for the estimate before a run.
    fn likely_cost(&self, request: &ModelRequest) -> Option<f64>;

    /// Asks the model; transient failures are retried. The reply is kept until it is forgotten, because it is paid for once.
    ///
    /// # Errors
    /// When there is no answer, or none that `read` takes for one.
    fn ask(&self, request: &ModelRequest, read: ReplyParser<'_, ()>) -> Result<ModelAnswer<()>, SummaryFailure>;

    /// Is a reply to this request kept, whatever open items it listed, that `read` takes for an answer?
    fn has_answer(&self, request: &ModelRequest, read: ReplyParser<'_, ()>) -> bool;

    /// Deletes the reply once it is used.
    fn forget_reply(&self, request: &ModelRequest);

    /// Deletes replies that no one used: their sessions went on before they could be.
    fn drop_old_replies(&self, now: Millis);

    /// When the limit ends that a failure tells of; `None` where it tells of none.
    fn limit_ends_at(&self, said: &str, now: Millis, zone: &TimeZone) -> Option<Millis>;
}

/// The summarizer of this choice. `answered_by` is the model that last answered to the configured name.
///
/// # Errors
/// Why there is none.
pub(crate) fn find(
    choice: SummarizerChoice,
    config: &Config,
    sanitizer: &Sanitizer,
    answered_by: Option<String>,
) -> Result<Box<dyn Summarizer>, String> {
    match choice {
        SummarizerChoice::Extract => Err(NOT_ASKED_FOR.to_owned()),
        SummarizerChoice::Auto | SummarizerChoice::Claude => Ok(Box::new(Claude::find(config, sanitizer, answered_by)?)),
    }
}

/// Asks the model for what `read` makes of its reply.
///
/// # Errors
/// As [`Summarizer::ask`].
pub(crate) fn ask<T>(
    model: &dyn Summarizer,
    request: &ModelRequest,
    read: ReplyParser<'_, T>,
) -> Result<ModelAnswer<T>, SummaryFailure> {
    let found = RefCell::new(None);
    let keep = |said: &str| read(said).map(|value| *found.borrow_mut() = Some(value));
    let ModelAnswer { model, cost_usd, .. } = model.ask(request, &keep)?;
    let value = found.take().ok_or(SummaryFailure::Session { what: "an answer that nobody read".into(), cost_usd })?;
    Ok(ModelAnswer { value, model, cost_usd })
}

/// Is an answer to this request kept?
pub(crate) fn has_answer<T>(model: &dyn Summarizer, request: &ModelRequest, read: ReplyParser<'_, T>) -> bool {
    model.has_answer(request, &|said| read(said).map(drop))
}

/// Makes a digest of a session.
///
/// # Errors
/// As [`Summarizer::ask`].
pub(crate) fn summarize(model: &dyn Summarizer, input: &SummaryInput) -> Result<Summary, SummaryFailure> {
    failpoints::happens("answer-panic", || panic!("asked for by a test"));
    let digest = |said: &str| {
        let mut digest = reply::read(said, &input.request)?;
        restore_user_words(&mut digest, &input.session);
        verify(&mut digest, &input.session);
        verify_closings(&mut digest, &input.session, &input.offered);
        Ok(digest)
    };
    let ModelAnswer { value, model, cost_usd } = ask(model, &input.request, &digest)?;
    Ok(Summary { digest: value, model: Some(model), cost_usd })
}

/// Is an answer kept from which the digest of a session can be made?
pub(crate) fn has_digest(model: &dyn Summarizer, input: &SummaryInput) -> bool {
    has_answer(model, &input.request, &|said| reply::read(said, &input.request))
}
