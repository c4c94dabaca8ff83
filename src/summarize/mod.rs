//! Summarizers: who makes a digest by asking a model. Without one, `analyze::without_model` makes it.

mod ask;
pub(crate) mod claude;
mod prompt;
mod replies;
pub(crate) mod reply;

use jiff::tz::TimeZone;

use self::claude::Claude;
use crate::analyze::overtaken::OfferedStatement;
use crate::analyze::verify::{restore_user_words, verify, verify_closings, verify_replacements};
use crate::config::{Config, SummarizerChoice};
use crate::model::digest::{Digest, OpenItem};
use crate::model::finding::Finding;
use crate::sys::failpoints;
use transcripts::privacy::Sanitizer;
use transcripts::session::{Millis, Session};

pub use self::ask::{Attempt, ModelAnswer};
pub(crate) use self::ask::{RawReply, ReplyParser, ask, has_answer};
pub(crate) use self::replies::KeptReplies;
pub(crate) use prompt::request;
pub use prompt::{ModelRequest, instructions};
pub(crate) use reply::object_in;

/// Everything a summarizer works with.
pub(crate) struct SummaryInput {
    pub(crate) session: Session,
    /// What earlier sessions of the project left open by their own records.
    pub(crate) open: Vec<OpenItem>,
    /// What a model is shown of earlier sessions.
    pub(crate) offered: EarlierWords,
    pub(crate) request: ModelRequest,
}

/// What a model is shown of earlier sessions beside a session.
#[derive(Debug, Default)]
pub(crate) struct EarlierWords {
    /// What is open, and may be closed: what earlier sessions left open by their own records, or what a model said of them.
    pub(crate) open: Vec<OpenItem>,
    /// What was said about what the session is about, the best first, and may be overtaken.
    pub(crate) statements: Vec<OfferedStatement>,
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

/// Asks a model, for money. Whoever asks reserves the worst cost of a call first, and lets go of a reply once what it made of it is stored.
pub(crate) trait Summarizer: Sync {
    /// The word that is stored with its digests: that of its choice.
    fn word(&self) -> &'static str;

    /// The model's name, as the config has it.
    fn name(&self) -> &str;

    /// Upper bound on the cost of a call, in US dollars; `None` when the price of a model that may answer is unknown.
    fn worst_cost(&self, request: &ModelRequest) -> Option<f64>;

    /// Expected cost of a call, in US dollars, for the estimate before a run.
    fn likely_cost(&self, request: &ModelRequest) -> Option<f64>;

    /// The replies of this model that are kept.
    fn replies(&self) -> &KeptReplies;

    /// Makes one call. Nothing of what it brings is a secret any more.
    ///
    /// # Errors
    /// When it brought nothing that could be read.
    fn call(&self, request: &ModelRequest) -> Result<RawReply, SummaryFailure>;

    /// What follows from a reply, a new one or one that was kept; `read` parses the model's own words in it.
    fn read(&self, reply: &[u8], read: ReplyParser<'_, ()>) -> Attempt;

    /// The model of this name answered to a call: the next ones are likely to cost what it costs.
    fn note_answering_model(&self, _model: &str) {}

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

/// What the setup of a summarizer looks like, for `recall doctor`. Costs nothing and reaches no model.
pub(crate) struct SummarizerCheck {
    pub(crate) findings: Vec<Finding>,
    /// The version of Claude Code, from a summarizer that asks it.
    pub(crate) client_version: Option<String>,
}

/// Checks the summarizer of this choice.
pub(crate) fn check(choice: SummarizerChoice, config: &Config) -> SummarizerCheck {
    match choice {
        SummarizerChoice::Extract => {
            let found = format!("not needed: `summarizer = \"{}\"`", choice.word());
            SummarizerCheck { findings: vec![Finding::ok(choice.word_of_model(), found)], client_version: None }
        }
        SummarizerChoice::Auto | SummarizerChoice::Claude => claude::check(config),
    }
}

/// Makes a digest of a session.
///
/// # Errors
/// As [`ask`].
pub(crate) fn summarize(model: &dyn Summarizer, input: &SummaryInput) -> Result<Summary, SummaryFailure> {
    failpoints::happens("answer-panic", || panic!("asked for by a test"));
    let digest = |said: &str| {
        let mut digest = reply::read(said, &input.request)?;
        restore_user_words(&mut digest, &input.session);
        // Before other words take the place of the model's.
        verify_replacements(&mut digest, &input.session, &input.offered.statements);
        verify(&mut digest, &input.session);
        verify_closings(&mut digest, &input.session, &input.offered.open);
        Ok(digest)
    };
    let ModelAnswer { value, model, cost_usd } = ask(model, &input.request, &digest)?;
    Ok(Summary { digest: value, model: Some(model), cost_usd })
}

/// Is an answer kept from which the digest of a session can be made?
pub(crate) fn has_digest(model: &dyn Summarizer, input: &SummaryInput) -> bool {
    has_answer(model, &input.request, &|said| reply::read(said, &input.request))
}
