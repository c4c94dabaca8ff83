//! Model calls: which ones are made, what they may cost, and how their failures are handled.
//!
//! ## Invariants
//! Whatever the model does, the run continues and every session has a digest at its end. A failure that would hit every call is
//! found by the first few and turns the model off for the rest of the run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::thread::Scope;

use anyhow::Result;

use super::run_state::{PendingCall, Route, RunState};
use crate::analyze::account::{AccountToStore, SessionAccount};
use crate::analyze::eligibility::SkipReason;
use crate::analyze::without_model::{deeds, named_items};
use crate::app::digest::maker::DigestMaker;
use crate::model::session_head::SessionHead;
use crate::store::digests::NewDigest;
use crate::store::last_run::ModelBackoff;
use crate::store::packed::{PackedAccount, PackedDigest};
use crate::store::spend::PlannedCall;
use crate::summarize::Summary;
use crate::summarize::{SummaryFailure, SummaryInput, has_digest, summarize};
use crate::sys::{failpoints, threads};

/// After this many consecutive calls that were killed or returned nothing readable, the client itself counts as broken. Each may
/// have lasted as long as the config allows.
const MAX_UNREADABLE: u32 = 3;

impl DigestMaker<'_> {
    /// Decides who makes this session's digest now. For the model, the worst cost is reserved.
    pub(super) fn route(
        &self,
        run: &mut RunState<'_>,
        head: &SessionHead,
        input: &SummaryInput,
        not_now: Option<SkipReason>,
    ) -> Result<Route> {
        if not_now.as_ref().is_some_and(SkipReason::is_final) || !self.config.digest.summarizer.may_ask_model() {
            return Ok(Route::Extract(None));
        }
        let model = match (&self.model, &run.model_off) {
            (Ok(model), None) => model.as_ref(),
            (_, why) => return Ok(Route::Extract(Some(SkipReason::ModelUnavailable(why.clone().unwrap_or_default())))),
        };
        if let Some(skip) = not_now {
            return Ok(Route::Extract(Some(skip)));
        }
        if has_digest(model, input) {
            // The run that asked was killed; this run settles its reservation.
            let reservation = run.store.open_reservation(&head.id)?;
            run.spent_run += reservation.map_or(0.0, |reserved| reserved.usd);
            return Ok(Route::Call(reservation.map(|reserved| reserved.pk)));
        }
        let Some(worst_usd) = model.worst_cost(&input.request) else {
            return Ok(Route::Extract(Some(SkipReason::UnknownPrice(model.name().to_owned()))));
        };
        // The current time, not the run's start: a run may last into the next day.
        let at = self.config.now();
        let (day, name, model) = (self.config.day(at), head.id.as_str(), model.name());
        let call = PlannedCall { at, day, name, model, worst_usd, spent_run: run.spent_run };
        match run.store.lasting(|store| store.reserve(&call, &run.budget))? {
            Ok(reserved) => {
                failpoints::point("cost reserved");
                run.spent_run += reserved.usd;
                Ok(Route::Call(Some(reserved.pk)))
            }
            Err(skip) => Ok(Route::Extract(Some(skip))),
        }
    }

    pub(super) fn call<'s>(&'s self, scope: &'s Scope<'s, '_>, pending: PendingCall, send: Sender<PendingCall>) {
        let Ok(model) = &self.model else { return };
        threads::spawn_or_do(scope, pending, move |mut pending: PendingCall| {
            // Catch panics: otherwise the receiver would wait for the reply forever.
            pending.made = catch_unwind(AssertUnwindSafe(|| summarize(model.as_ref(), &pending.input))).unwrap_or_else(|_| {
                Err(SummaryFailure::Session { what: "cannot process the answer: please report this".into(), cost_usd: None })
            });
            // The receiver is gone only if the run has already failed.
            let _ = send.send(pending);
        });
    }

    /// Handles a finished call: settles its cost and stores its digest, or one without the model if it failed. Returns the session if
    /// it must be started again.
    pub(super) fn end(&self, run: &mut RunState<'_>, done: PendingCall) -> Result<Option<SessionHead>> {
        let cost = match &done.made {
            Ok(made) => made.cost_usd,
            Err(failure) => failure.cost_usd(),
        };
        if let (Some(reservation), Some(actual)) = (done.reservation, cost) {
            run.spent_run += actual - run.store.settle(reservation, actual)?;
            failpoints::point("cost settled");
        }
        let head = done.head;
        run.unreadable = if cost.is_some() || done.made.is_ok() { 0 } else { run.unreadable + 1 };
        match done.made {
            Ok(made) => self.store_model_digest(run, &head, &done.input, made)?,
            Err(SummaryFailure::Stopped) => {}
            Err(SummaryFailure::HigherPrice) => return Ok(Some(head)),
            Err(failure) => self.give_up(run, &head, &done.input, &failure)?,
        }
        Ok(None)
    }

    /// Stores the digest that the model was paid for, and lets go of its reply.
    fn store_model_digest(&self, run: &mut RunState<'_>, head: &SessionHead, input: &SummaryInput, made: Summary) -> Result<()> {
        let Ok(summarizer) = &self.model else { return Ok(()) };
        let input_hash = input.request.hash(summarizer.word(), summarizer.name());
        if let Some(model) = &made.model {
            run.store.record_answering_model(summarizer.name(), model)?;
        }
        let account = SessionAccount::of(&input.session, false);
        let mut digest = self.passed(made.digest);
        digest.closes.extend(named_items(&deeds(&input.session, &account)));
        digest.closes.sort();
        digest.closes.dedup();
        let account = PackedAccount::new(AccountToStore::new(&input.session, account))?;
        let new = NewDigest {
            summarizer: summarizer.word(),
            model: made.model,
            input_hash,
            made_at: self.now,
            cost_usd: made.cost_usd,
            queued: false,
            interim_until: None,
            basis: None,
            open: &input.offered.open,
            digest: PackedDigest::new(digest, Some(&account))?,
            account: Some(&account),
        };
        // Must be durable: the reply is removed afterwards, and asking again costs money.
        run.store.lasting(|store| store.save_digest(head, &new))?;
        failpoints::point("digest stored");
        summarizer.replies().forget(&input.request);
        failpoints::point("reply removed");
        run.report.model_worked = true;
        run.report.sessions_digested += 1;
        run.report.digests_by_model += 1;
        run.bar.advance(1);
        Ok(())
    }

    fn give_up(&self, run: &mut RunState<'_>, head: &SessionHead, input: &SummaryInput, failure: &SummaryFailure) -> Result<()> {
        let what = self.sanitizer.name(failure.to_string()).unwrap_or_else(|| "the model failed".into());
        run.report.sessions_failed += 1;
        run.report.paid_in_vain |= failure.cost_usd() != Some(0.0);
        run.report.last_failure = Some(what.clone());
        let SummaryFailure::Unavailable { cost_usd, .. } = failure else {
            let declined = matches!(failure, SummaryFailure::Declined { .. });
            self.note_failure(run, head, &what, declined)?;
            let next = if declined { "will ask the model again when the session grows" } else { "a later run tries again" };
            self.ui.warn(&format!("session {}: {what}: digested without the model, {next}", head.id));
            if run.unreadable >= MAX_UNREADABLE {
                self.turn_off(run, format!("{MAX_UNREADABLE} calls in a row without an answer"));
            }
            return self.make_one_without_model(run, head, input, Some(SkipReason::ModelUnavailable(format!("failed: {what}"))));
        };
        // A failure of the model says nothing about this session, so the next ones are not tried either. If the call may have
        // cost money, it counts as a failure of the session, so that it is not retried forever.
        if *cost_usd == Some(0.0) {
            run.store.record_model_unavailable(head.pk, self.now, &what)?;
        } else {
            self.note_failure(run, head, &what, false)?;
        }
        let limit = self.model.as_ref().ok().and_then(|model| model.limit_ends_at(&what, self.now, &self.config.time_zone));
        if let Some(until) = limit {
            run.report.limited = Some(ModelBackoff { until, why: what.clone() });
        }
        self.turn_off(run, what.clone());
        self.make_one_without_model(run, head, input, Some(SkipReason::ModelUnavailable(format!("failed: {what}"))))
    }

    /// The number of failures decides when a session is retried, so it is written durably: it and the cost of the call survive a
    /// power failure.
    fn note_failure(&self, run: &mut RunState<'_>, head: &SessionHead, what: &str, declined: bool) -> Result<()> {
        run.store.lasting(|store| store.note_failure(head.pk, self.now, what, declined))?;
        failpoints::point("failure noted");
        Ok(())
    }

    /// Turns the model off for the rest of this run, and says so once.
    fn turn_off(&self, run: &mut RunState<'_>, why: String) {
        if run.model_off.is_none() {
            let again = match &run.report.limited {
                Some(rest) => {
                    format!("the model is called again after {}", self.config.local_time(Some(rest.until), "%Y-%m-%d %H:%M"))
                }
                None => "the next run tries again".to_owned(),
            };
            self.ui.warn(&format!("{why}: going on without the model, {again}"));
            run.model_off = Some(why);
        }
    }
}
