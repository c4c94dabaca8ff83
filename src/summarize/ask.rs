//! Asks a summarizer: what was kept of an earlier run first, else by a call, which is made again where it failed for a moment only.
//!
//! A reply is synced to disk before anything looks at it, because it is paid for once.

use std::cell::RefCell;
use std::time::Duration;

use super::{ModelRequest, Summarizer, SummaryFailure};
use crate::sys::{failpoints, shutdown};

/// Waits before each retry of a transient failure.
const BACKOFF: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

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

/// What a call brought, without secrets and not yet read.
pub(crate) struct RawReply {
    pub(crate) bytes: Vec<u8>,
    /// What is told beside the reason where it holds no answer, such as how the client ended.
    pub(crate) remark: Option<String>,
}

/// What follows from a reply.
pub enum Attempt {
    Answered(ModelAnswer<()>),
    Failed(SummaryFailure),
    /// Transient, and it cost nothing.
    Retry(String),
}

/// Asks the model for what `read` makes of its reply; transient failures are retried. The reply is kept until it is forgotten.
///
/// # Errors
/// When there is no answer, or none that `read` takes for one.
pub(crate) fn ask<T>(
    model: &dyn Summarizer,
    request: &ModelRequest,
    read: ReplyParser<'_, T>,
) -> Result<ModelAnswer<T>, SummaryFailure> {
    let found = RefCell::new(None);
    let keep = |said: &str| read(said).map(|value| *found.borrow_mut() = Some(value));
    let ModelAnswer { model, cost_usd, .. } = retry(|| attempt(model, request, &keep))?;
    let value = found.take().ok_or(SummaryFailure::Session { what: "an answer that nobody read".into(), cost_usd })?;
    Ok(ModelAnswer { value, model, cost_usd })
}

/// Is an answer to this request kept?
pub(crate) fn has_answer<T>(model: &dyn Summarizer, request: &ModelRequest, read: ReplyParser<'_, T>) -> bool {
    kept_answer(model, request, &|said| read(said).map(drop)).is_some()
}

fn retry(attempt: impl Fn() -> Attempt) -> Result<ModelAnswer<()>, SummaryFailure> {
    let mut waits = BACKOFF.iter();
    loop {
        match attempt() {
            Attempt::Answered(answer) => return Ok(answer),
            Attempt::Failed(failure) => return Err(failure),
            Attempt::Retry(what) => match waits.next() {
                Some(wait) if !shutdown::requested() => std::thread::sleep(failpoints::patience(*wait)),
                _ => return Err(SummaryFailure::Unavailable { what, cost_usd: Some(0.0) }),
            },
        }
    }
}

/// One attempt: uses the reply on disk if it is an answer, else makes a call.
fn attempt(model: &dyn Summarizer, request: &ModelRequest, read: ReplyParser<'_, ()>) -> Attempt {
    kept_answer(model, request, read).map_or_else(|| call(model, request, read).unwrap_or_else(Attempt::Failed), Attempt::Answered)
}

/// The answer to this request, if it is on disk. An unreadable reply does not count: the call would be made again without a
/// reservation.
fn kept_answer(model: &dyn Summarizer, request: &ModelRequest, read: ReplyParser<'_, ()>) -> Option<ModelAnswer<()>> {
    match model.read(&model.replies().read(request)?, read) {
        Attempt::Answered(answer) => Some(answer),
        Attempt::Failed(_) | Attempt::Retry(_) => None,
    }
}

/// Makes a call and reads its reply, which stays on disk if it is an answer, or if it may have been billed: a later version may be able to
/// read it.
fn call(model: &dyn Summarizer, request: &ModelRequest, read: ReplyParser<'_, ()>) -> Result<Attempt, SummaryFailure> {
    // Reserves disk space before the call: otherwise a paid answer might not be stored.
    let room = model.replies().reserve(request)?;
    failpoints::point("before the call");
    let RawReply { bytes, remark } = model.call(request)?;
    failpoints::point("reply arrived");
    room.keep(&bytes);
    failpoints::point("reply stored");
    let read = model.read(&bytes, read);
    match &read {
        Attempt::Answered(answer) => model.note_answering_model(&answer.model),
        Attempt::Failed(SummaryFailure::Session { cost_usd, .. }) if *cost_usd != Some(0.0) => {}
        _ => model.replies().forget(request),
    }
    Ok(match (read, remark) {
        (Attempt::Failed(SummaryFailure::Session { what, cost_usd }), Some(remark)) => {
            Attempt::Failed(SummaryFailure::Session { what: format!("{what} ({remark})"), cost_usd })
        }
        (read, _) => read,
    })
}
