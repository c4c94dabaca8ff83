//! The calls of the model: which are made, what they may cost, and what becomes of those that fail.
//!
//! Whatever the model does, the run goes on and every session has a digest at its end. What would fail every call alike is found out
//! by the first few and ends the model's part of the run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::thread::Scope;

use anyhow::Result;

use super::make::{Maker, Pending, Route, Run};
use crate::config::SummarizerChoice;
use crate::fault;
use crate::last_run::Rest;
use crate::select::Skip;
use crate::store::load::SessionHead;
use crate::store::money::Call;
use crate::summarize::claude::over_at;
use crate::summarize::{Failure, Input, Summarizer};

/// After so many calls in a row that were killed or left nothing that can be read, the client itself is broken. Each may have lasted
/// as long as the config lets it.
const MAX_UNREADABLE: u32 = 3;

impl Maker<'_> {
    /// Who makes this session's digest now. When it is the model, its worst cost is reserved.
    pub(super) fn route(&self, run: &mut Run<'_>, head: &SessionHead, input: &Input, not_now: Option<Skip>) -> Result<Route> {
        if not_now == Some(Skip::Backlog) || self.config.digest.summarizer == SummarizerChoice::Extract {
            return Ok(Route::Extract(None));
        }
        let claude = match (&self.model, &run.model_off) {
            (Ok(claude), None) => claude,
            (_, why) => return Ok(Route::Extract(Some(Skip::NoModel(why.clone().unwrap_or_default())))),
        };
        if let Some(skip) = not_now {
            return Ok(Route::Extract(Some(skip)));
        }
        if claude.has_digest(input) {
            // The run that asked was killed; what it had reserved is settled by this one.
            let reservation = run.store.open_reservation(&head.id)?;
            run.spent_run += reservation.map_or(0.0, |reserved| reserved.usd);
            return Ok(Route::Call(reservation.map(|reserved| reserved.pk)));
        }
        let Some(worst_usd) = claude.worst_cost(&input.request) else {
            return Ok(Route::Extract(Some(Skip::UnknownPrice(claude.model().to_owned()))));
        };
        // A run may last into the next day.
        let at = self.config.now();
        let (day, name, model) = (self.config.day(at), head.id.as_str(), claude.model());
        let call = Call { at, day, name, model, worst_usd, spent_run: run.spent_run };
        match run.store.lasting(|store| store.reserve(&call, &run.budget))? {
            Ok(reserved) => {
                fault::point("cost reserved");
                run.spent_run += reserved.usd;
                Ok(Route::Call(Some(reserved.pk)))
            }
            Err(skip) => Ok(Route::Extract(Some(skip))),
        }
    }

    /// Likely and worst cost of a call with this input; `None` without a model.
    pub fn price(&self, input: &Input) -> Option<(Option<f64>, Option<f64>)> {
        self.model.as_ref().ok().map(|claude| (claude.likely_cost(&input.request), claude.worst_cost(&input.request)))
    }

    pub(super) fn call<'s>(&'s self, scope: &'s Scope<'s, '_>, mut pending: Pending, send: Sender<Pending>) {
        let Ok(claude) = &self.model else { return };
        scope.spawn(move || {
            // Who waits for the answer would wait for ever.
            pending.made = catch_unwind(AssertUnwindSafe(|| claude.summarize(&pending.input))).unwrap_or_else(|_| {
                Err(Failure::Session { what: "the answer could not be dealt with: please report this".into(), cost_usd: None })
            });
            // The receiver only goes away when the run has failed already.
            let _ = send.send(pending);
        });
    }

    /// A call has ended: its money is settled, its digest stored; without one the session gets an extractive digest. Returns the
    /// session when it has to be begun again.
    pub(super) fn end(&self, run: &mut Run<'_>, done: Pending) -> Result<Option<SessionHead>> {
        let cost = match &done.made {
            Ok(made) => made.cost_usd,
            Err(Failure::Session { cost_usd, .. } | Failure::Model { cost_usd, .. }) => *cost_usd,
            Err(Failure::CostsMore) => Some(0.0),
            Err(Failure::Stopped) => None,
        };
        if let (Some(reservation), Some(actual)) = (done.reservation, cost) {
            run.spent_run += actual - run.store.settle(reservation, actual)?;
            fault::point("cost settled");
        }
        let head = done.head;
        run.unreadable = if cost.is_some() || done.made.is_ok() { 0 } else { run.unreadable + 1 };
        match done.made {
            Ok(made) => self.store_made(run, &head, &done.input, made)?,
            Err(Failure::Stopped) => {}
            Err(Failure::CostsMore) => return Ok(Some(head)),
            Err(failure) => self.give_up(run, &head, &done.input, &failure)?,
        }
        Ok(None)
    }

    fn give_up(&self, run: &mut Run<'_>, head: &SessionHead, input: &Input, failure: &Failure) -> Result<()> {
        let what = self.gate.name(&failure.to_string()).unwrap_or_else(|| "claude failed".into());
        run.report.sessions_failed += 1;
        run.report.paid_in_vain |=
            !matches!(failure, Failure::Session { cost_usd: Some(0.0), .. } | Failure::Model { cost_usd: Some(0.0), .. });
        run.report.last_failure = Some(what.clone());
        let Failure::Model { cost_usd, .. } = failure else {
            self.note_failure(run, head, &what)?;
            self.ui.warn(&format!("session {}: {what}: digested without the model, a later run tries again", head.id));
            if run.unreadable >= MAX_UNREADABLE {
                self.turn_off(run, format!("{MAX_UNREADABLE} calls in a row without an answer"));
            }
            return self.make_one_alone(run, head, input, Some(Skip::NoModel(format!("failed: {what}"))));
        };
        // It says nothing about this session; the next ones are not even tried. What may have been paid for is not tried for ever.
        if *cost_usd == Some(0.0) {
            run.store.note_no_model(head.pk, self.now, &what)?;
        } else {
            self.note_failure(run, head, &what)?;
        }
        if let Some(until) = over_at(&what, self.now, &self.config.time_zone) {
            run.report.limited = Some(Rest { until, why: what.clone() });
        }
        self.turn_off(run, what.clone());
        self.make_one_alone(run, head, input, Some(Skip::NoModel(format!("failed: {what}"))))
    }

    /// How often a session failed decides when it is asked about again; that, and what the call cost, is known after a power failure.
    fn note_failure(&self, run: &mut Run<'_>, head: &SessionHead, what: &str) -> Result<()> {
        run.store.lasting(|store| store.note_failure(head.pk, self.now, what))?;
        fault::point("failure noted");
        Ok(())
    }

    /// The model is not asked any more in this run. It is said once.
    fn turn_off(&self, run: &mut Run<'_>, why: String) {
        if run.model_off.is_none() {
            let again = match &run.report.limited {
                Some(rest) => format!("it is asked again after {}", self.config.local_time(Some(rest.until), "%Y-%m-%d %H:%M")),
                None => "the next run tries again".to_owned(),
            };
            self.ui.warn(&format!("{why}: going on without the model, {again}"));
            run.model_off = Some(why);
        }
    }
}
