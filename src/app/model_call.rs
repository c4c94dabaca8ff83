//! A call of a model that is no digest's, under the same caps: the worst cost of the call is reserved before it is made, in the ledger that
//! digests keep, and settled after it.

use anyhow::Result;

use crate::analyze::eligibility::{Budget, SkipReason, check_budget};
use crate::config::{Config, SummarizerChoice};
use crate::store::Writer;
use crate::store::spend::PlannedCall;
use crate::summarize::{self, ModelAnswer, ModelRequest, ReplyParser, Summarizer, SummaryFailure};
use crate::sys::messages::Ui;

/// A call that somebody asked for.
pub(crate) struct ModelCall<'a> {
    pub(crate) config: &'a Config,
    pub(crate) model: &'a dyn Summarizer,
    pub(crate) request: &'a ModelRequest,
    /// By this the ledger knows it.
    pub(crate) name: String,
}

/// Outcome of asking the model.
pub(crate) enum ModelOutcome<T> {
    Answered(ModelAnswer<T>),
    /// Over a budget, or the price is unknown.
    NotAsked(NotAsked),
    Failed(SummaryFailure),
}

/// Why a call is not made, and by which sums, in US dollars.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NotAsked {
    pub(crate) why: SkipReason,
    /// The most that the call can cost; `None` if that is unknown.
    pub(crate) worst_usd: Option<f64>,
    pub(crate) spent_day: f64,
}

/// Tells why no model is asked. Who names one gets something else than they asked for, which is a warning; `auto` leaves it to the caps.
pub(crate) fn tell_not_asked(choice: SummarizerChoice, why: &str, ui: &Ui) {
    if choice.names_model() { ui.warn(why) } else { ui.note(why) }
}

impl ModelCall<'_> {
    /// Makes the call, unless its answer is kept. `before` is told the most that a call can cost, once that is reserved.
    ///
    /// # Errors
    /// When the index cannot be read or written.
    pub(crate) fn make<T>(&self, read: ReplyParser<'_, T>, before: &dyn Fn(f64)) -> Result<ModelOutcome<T>> {
        let Self { model, request, .. } = self;
        let mut store = Writer::open_existing(&self.config.database())?;
        // Each higher price is reserved before it is paid; there are only a few.
        loop {
            let reservation = match self.reserve(&mut store, read, before)? {
                Ok(reservation) => reservation,
                Err(not_asked) => return Ok(ModelOutcome::NotAsked(not_asked)),
            };
            let answered = summarize::ask(*model, request, read);
            let cost = match &answered {
                Ok(answer) => answer.cost_usd,
                Err(failure) => failure.cost_usd(),
            };
            if let (Some(reservation), Some(actual)) = (reservation, cost) {
                store.settle(reservation, actual)?;
            }
            match answered {
                Err(SummaryFailure::HigherPrice) => {}
                Err(failure) => return Ok(ModelOutcome::Failed(failure)),
                Ok(answer) => {
                    store.record_answering_model(model.name(), &answer.model)?;
                    return Ok(ModelOutcome::Answered(answer));
                }
            }
        }
    }

    /// Would the call be made now? Changes nothing.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn check(&self) -> Result<Result<(), NotAsked>> {
        let store = Writer::open_existing(&self.config.database())?;
        let worst_usd = self.model.worst_cost(self.request);
        let spent_day = store.spent_on(&self.config.day(self.config.now()))?;
        let fits = match worst_usd {
            Some(worst) => check_budget(worst, 0.0, spent_day, &self.budget()),
            None => Err(self.unknown_price()),
        };
        Ok(fits.map_err(|why| NotAsked { why, worst_usd, spent_day }))
    }

    fn budget(&self) -> Budget {
        Budget { run_usd: self.config.digest.max_cost_usd, day_usd: self.config.digest.max_cost_usd_per_day }
    }

    fn unknown_price(&self) -> SkipReason {
        SkipReason::UnknownPrice(self.model.name().to_owned())
    }

    /// Reserves the worst cost of the call. A reply to this very request that is already on disk needs no new reservation.
    fn reserve<T>(
        &self,
        store: &mut Writer,
        read: ReplyParser<'_, T>,
        before: &dyn Fn(f64),
    ) -> Result<Result<Option<i64>, NotAsked>> {
        let Self { config, model, request, name } = self;
        if summarize::has_answer(*model, request, read) {
            return Ok(Ok(store.open_reservation(name)?.map(|reserved| reserved.pk)));
        }
        let at = config.now();
        let day = config.day(at);
        let worst = model.worst_cost(request);
        let refused = match worst {
            Some(worst_usd) => {
                let call = PlannedCall { at, day: day.clone(), name, model: model.name(), worst_usd, spent_run: 0.0 };
                match store.reserve(&call, &self.budget())? {
                    Ok(reserved) => {
                        before(reserved.usd);
                        return Ok(Ok(Some(reserved.pk)));
                    }
                    Err(why) => why,
                }
            }
            None => self.unknown_price(),
        };
        Ok(Err(NotAsked { why: refused, worst_usd: worst, spent_day: store.spent_on(&day)? }))
    }
}
