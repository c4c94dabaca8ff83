//! What changes while a run makes its digests.

use crate::analyze::eligibility::{Budget, SkipReason};
use crate::app::digest::report::Report;
use crate::model::session_head::SessionHead;
use crate::store::Writer;
use crate::summarize::{Summary, SummaryFailure, SummaryInput};
use crate::sys::progress::Progress;

/// Mutable state of a run.
pub(super) struct RunState<'r> {
    pub(super) store: &'r mut Writer,
    pub(super) report: &'r mut Report,
    pub(super) bar: Progress,
    /// Why the model is no longer asked.
    pub(super) model_off: Option<String>,
    /// Consecutive calls whose cost is unknown.
    pub(super) unreadable: u32,
    pub(super) budget: Budget,
    pub(super) spent_run: f64,
}

/// How a session's digest is made.
pub(super) enum Route {
    /// By the model. Holds the reservation of the worst cost; `None` if a reply is already on disk.
    Call(Option<i64>),
    /// Without the model. Holds the reason if the config wants the model.
    Extract(Option<SkipReason>),
}

/// A model call in flight.
pub(super) struct PendingCall {
    pub(super) head: SessionHead,
    pub(super) input: SummaryInput,
    pub(super) reservation: Option<i64>,
    pub(super) made: Result<Summary, SummaryFailure>,
}
