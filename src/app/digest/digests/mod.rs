//! Digest phase.
//!
//! ## Invariants
//! - Cost is reserved before it is spent.
//! - Every session's digest is one transaction.
//! - What a session is given of earlier ones comes from their records as they were when it began, never from their digests, so
//!   the result does not depend on the order of reading or digesting. Only a model is shown as open what a model said earlier, in a digest
//!   of an earlier run; an answer is found again, and stays valid, whatever it was shown.
//!
//! The model works newest session first, with several calls at once.

pub(crate) mod accounts;
mod interim;
mod model_calls;
mod run_state;
mod without_model;

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};

use anyhow::{Context, Result};

use self::run_state::{PendingCall, Route, RunState};
use crate::analyze::eligibility::{Budget, SkipReason};
use crate::app::consent;
use crate::app::digest::maker::DigestMaker;
use crate::app::digest::report::{Report, WaitingForModel, usd};
use crate::app::digest::select::DigestPlan;
use crate::model::session_head::SessionHead;
use crate::store::{Reader, Writer};
use crate::summarize::{SummaryFailure, SummaryInput};
use crate::sys::progress::Progress;
use crate::sys::{failpoints, shutdown};

/// How many sessions of a backlog are offered to the model first: those that the next days ask for most, for a few cents.
pub(crate) const FIRST_OFFER: usize = 20;
/// How many sessions are stored in one transaction where no model is paid: each transaction waits for the disk.
const SESSIONS_TOGETHER: usize = 200;

impl DigestMaker<'_> {
    pub(crate) fn run(&self, store: &mut Writer, report: &mut Report) -> Result<()> {
        let mut plan = self.plan(store, self.wanted.newest)?;
        if self.wanted.may_ask
            && let Some(offer) = self.offer(store, &plan)?
        {
            let (count, price) = (offer.backlog.len() + offer.cost.calls, usd(offer.cost.likely));
            let question =
                format!("There are {count} sessions. Digest the newest {} with the model, for about {price}?", offer.cost.calls);
            if consent::accepts(&question)? {
                plan = offer;
            }
        }
        failpoints::point("sessions chosen");
        report.sessions_skipped = plan.skipped.iter().filter(|(_, skip)| skip.is_for_good()).count() as u64;
        report.sessions_waiting = plan.skipped.len() as u64 - report.sessions_skipped;
        for some in plan.skipped.chunks(SESSIONS_TOGETHER) {
            store.in_transaction(|| some.iter().try_for_each(|(head, skip)| record_skip(store, head, skip)))?;
        }
        for some in plan.unchanged.chunks(SESSIONS_TOGETHER) {
            store.in_transaction(|| some.iter().try_for_each(|head| store.refresh_pages(head.pk)))?;
        }
        self.make_interims(store, report, &plan.interim)?;
        report.left_without_model = (plan.backlog.len() + plan.left.len()) as u64;
        if !plan.chosen.is_empty() {
            self.digest(store, report, plan)?;
        }
        self.count_waiting(store, report)
    }

    /// The plan that a person is offered: the newest sessions of a backlog by the model. `None` without a larger backlog or a model.
    pub(crate) fn offer(&self, store: &Reader, plan: &DigestPlan) -> Result<Option<DigestPlan>> {
        if plan.backlog.len() <= FIRST_OFFER || self.model.is_err() {
            return Ok(None);
        }
        let offer = self.plan(store, Some(FIRST_OFFER.min(self.config.digest.max_sessions)))?;
        Ok(Some(offer).filter(|offer| offer.cost.calls > 0))
    }

    fn digest(&self, store: &mut Writer, report: &mut Report, plan: DigestPlan) -> Result<()> {
        if !plan.backlog.is_empty() {
            // Record them as backlog now, so that the next run knows it even if this one is interrupted.
            store.in_transaction(|| {
                plan.backlog.iter().try_for_each(|head| store.record_skip(head.pk, &SkipReason::Backlog.to_string()))
            })?;
            self.tell_backlog(store, &plan)?;
        }
        if plan.chosen.iter().any(|(_, not_now)| *not_now == Some(SkipReason::DayBudget)) {
            store.lasting(|store| store.record_day(self.now, &self.config.day(self.now)))?;
        }
        let bar = Progress::of("digesting", plan.chosen.len() as u64);
        let budget = Budget { run_usd: self.config.digest.max_cost_usd, day_usd: self.config.digest.max_cost_usd_per_day };
        let mut run =
            RunState { store, report, bar, model_off: self.model.as_ref().err().cloned(), budget, unreadable: 0, spent_run: 0.0 };
        // Digest without the model first: these can then be found while the model is asked.
        let mut alone = plan.chosen;
        let for_model: VecDeque<_> = alone.extract_if(.., |(_, not_now)| !self.goes_without_model(not_now.as_ref())).collect();
        self.make_without_model(&mut run, alone)?;
        if !for_model.is_empty() {
            // The model may be slow; what is new can be found meanwhile. Failures are reported when the rest is written, at the end.
            run.store.write_documents()?;
        }
        self.work(&mut run, for_model)?;
        if let Ok(model) = &self.model {
            model.replies().drop_old(self.now);
        }
        run.report.cost_usd = run.spent_run;
        Ok(())
    }

    /// Says that a backlog goes without the model, and what it would cost with it. Where there is none, nothing can be recommended.
    fn tell_backlog(&self, store: &Reader, plan: &DigestPlan) -> Result<()> {
        let count = plan.backlog.len();
        let with_it = match &self.model {
            Ok(model) => {
                let cost = self.cost_of(store, &plan.backlog)?;
                // A run that was asked to stop has priced only some of them.
                let price = cost.likely.filter(|_| cost.calls == count);
                format!(
                    ", because there are many; with it they would cost about {} at list price (`recall digest --summarizer {} --newest {FIRST_OFFER}`)",
                    usd(price),
                    model.word()
                )
            }
            Err(why) => format!(": {why}"),
        };
        self.ui.note(&format!("{count} sessions are digested without the model{with_it}"));
        Ok(())
    }

    /// Counts what waits for the model, and what later runs spend on it.
    fn count_waiting(&self, store: &Reader, report: &mut Report) -> Result<()> {
        let waiting = store.heads_for_model()?;
        report.waiting = Some(self.waiting(store, &waiting)?);
        Ok(())
    }

    /// What is told of sessions that wait for the model.
    pub(crate) fn waiting(&self, store: &Reader, heads: &[SessionHead]) -> Result<WaitingForModel> {
        let cost = self.cost_of(store, heads)?;
        Ok(WaitingForModel {
            waiting_for_model: heads.len() as u64,
            waiting_cost_usd: cost.likely.filter(|_| cost.calls == heads.len()),
            is_wanted: self.config.digest.summarizer.may_ask_model(),
            day_usd: self.config.digest.max_cost_usd_per_day,
        })
    }

    /// Works through the sessions with at most `parallel_calls` model calls in flight.
    fn work(&self, run: &mut RunState<'_>, mut ready: VecDeque<(SessionHead, Option<SkipReason>)>) -> Result<()> {
        std::thread::scope(|scope| {
            let (send, receive): (Sender<PendingCall>, Receiver<PendingCall>) = channel();
            let mut under_way = 0;
            loop {
                // The first call runs alone, so that a failure that would hit every call is paid for once.
                let at_once = if run.report.model_worked { self.config.digest.parallel_calls } else { 1 };
                while under_way < at_once && !shutdown::requested() {
                    let Some((head, not_now)) = ready.pop_front() else { break };
                    if let Some((input, reservation)) = self.begin(run, &head, not_now)? {
                        self.call(
                            scope,
                            PendingCall { head, input, reservation, made: Err(SummaryFailure::Stopped) },
                            send.clone(),
                        );
                        under_way += 1;
                    }
                }
                if under_way == 0 {
                    return Ok(());
                }
                let done = receive.recv().context("no result came back from a call to the model")?;
                under_way -= 1;
                if let Some(again) = self.end(run, done)? {
                    ready.push_front((again, None));
                }
            }
        })
    }

    /// Digests a session without the model, or prepares the model call and reserves its worst cost.
    fn begin(
        &self,
        run: &mut RunState<'_>,
        head: &SessionHead,
        not_now: Option<SkipReason>,
    ) -> Result<Option<(SummaryInput, Option<i64>)>> {
        let input = self.input(run.store, head)?;
        match self.route(run, head, &input, not_now)? {
            Route::Call(reservation) => return Ok(Some((input, reservation))),
            Route::Extract(skip) => self.make_one_without_model(run, head, &input, skip)?,
        }
        Ok(None)
    }
}

/// Records why a session is skipped, so that one that cannot be digested as it is is not examined again until it grows.
fn record_skip(store: &Writer, head: &SessionHead, skip: &SkipReason) -> Result<()> {
    if skip.is_for_good() {
        store.drop_digest(head.pk)?;
    }
    store.record_skip(head.pk, &skip.in_common())
}
