//! What calls of the model cost, before they are made. The run, its question and the dry run all reckon here.

use anyhow::Result;

use super::DigestPlan;
use crate::analyze::eligibility::{Budget, SkipReason, check_budget};
use crate::app::digest::maker::DigestMaker;
use crate::model::session_head::SessionHead;
use crate::store::Reader;
use crate::summarize::{SummaryInput, has_digest};
use crate::sys::shutdown;

/// Calls of the model and their cost at list price, in US dollars; `None` where a price is unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ModelCost {
    pub(crate) calls: usize,
    pub(crate) likely: Option<f64>,
    pub(crate) worst: Option<f64>,
}

impl Default for ModelCost {
    fn default() -> Self {
        Self { calls: 0, likely: Some(0.0), worst: Some(0.0) }
    }
}

impl ModelCost {
    fn add(&mut self, call: CallPrice) {
        self.calls += 1;
        self.likely = self.likely.zip(call.likely).map(|(sum, usd)| sum + usd);
        self.worst = self.worst.zip(call.worst).map(|(sum, usd)| sum + usd);
    }

    /// A run stops at its budget.
    fn cap(&mut self, budget: f64) {
        self.likely = self.likely.map(|usd| usd.min(budget));
        self.worst = self.worst.map(|usd| usd.min(budget));
    }
}

/// One call.
#[derive(Debug, Clone, Copy)]
struct CallPrice {
    likely: Option<f64>,
    worst: Option<f64>,
    /// Its answer is on disk: nothing is paid for it.
    is_paid: bool,
}

impl DigestMaker<'_> {
    /// What the model's digests of these sessions cost, each with a full list of what earlier sessions said. Nothing where there is no model, or
    /// where the run is to stop.
    pub(crate) fn cost_of(&self, store: &Reader, heads: &[SessionHead]) -> Result<ModelCost> {
        let mut cost = ModelCost::default();
        let input = |store: &Reader, head: &SessionHead| {
            let input = self.input_with(store, head, true)?;
            Ok(SummaryInput { request: input.request.with_room_for_earlier_words(), ..input })
        };
        self.prices(store, heads, input)?.into_iter().for_each(|price| cost.add(price));
        Ok(cost)
    }

    fn prices(
        &self,
        store: &Reader,
        heads: &[SessionHead],
        input: impl Fn(&Reader, &SessionHead) -> Result<SummaryInput> + Sync,
    ) -> Result<Vec<CallPrice>> {
        let mut prices = Vec::with_capacity(heads.len());
        let Ok(model) = &self.model else { return Ok(prices) };
        let price = |store: &Reader, head: &SessionHead| {
            let input = input(store, head)?;
            let (likely, worst) = (model.likely_cost(&input.request), model.worst_cost(&input.request));
            Ok(CallPrice { likely, worst, is_paid: has_digest(model.as_ref(), &input) })
        };
        store.map_in_order(shutdown::requested, heads, price, |_, price| {
            prices.push(price?);
            Ok(())
        })?;
        Ok(prices)
    }

    /// Takes from the model what goes over the budget, if calls cost what is likely, and says what the others cost. A run whose calls
    /// cost more ends sooner: what is spent is looked up before every call.
    pub(super) fn fit_budget(&self, store: &Reader, plan: &mut DigestPlan) -> Result<()> {
        let heads: Vec<SessionHead> = plan.for_model().cloned().collect();
        let prices = self.prices(store, &heads, |store, head| self.input(store, head))?;
        let budget = Budget { run_usd: self.config.digest.max_cost_usd, day_usd: self.config.digest.max_cost_usd_per_day };
        let spent_day = store.spent_on(&self.config.day(self.now))?;
        // Calls side by side are reserved at their worst.
        let beside = self.config.digest.parallel_calls.saturating_sub(1);
        let (mut over, mut sums): (_, Vec<(f64, f64)>) = (None, Vec::new());
        let chosen = plan.chosen.iter_mut().filter(|(_, not_now)| not_now.is_none());
        for ((_, not_now), price) in chosen.zip(prices) {
            let Some((likely, worst)) = price.likely.zip(price.worst) else {
                let model = self.model.as_ref().map_or("", |model| model.name());
                *not_now = Some(SkipReason::UnknownPrice(model.to_owned()));
                continue;
            };
            if !price.is_paid {
                let done = sums.len().saturating_sub(beside);
                let spent: f64 = sums[..done].iter().map(|(likely, _)| likely).sum::<f64>()
                    + sums[done..].iter().map(|(_, worst)| worst).sum::<f64>();
                over = over.or_else(|| check_budget(worst, spent, spent_day + spent, &budget).err());
                if over.is_some() {
                    not_now.clone_from(&over);
                    continue;
                }
                sums.push((likely, worst));
            }
            plan.cost.add(if price.is_paid { CallPrice { likely: Some(0.0), worst: Some(0.0), ..price } } else { price });
        }
        plan.cost.cap(budget.run_usd.min(budget.day_usd));
        Ok(())
    }
}
