//! Asks a model for its account of a topic, under the same caps as digests: the worst cost of the call is reserved before it is made.

use anyhow::Result;

use super::account::{Sentence, TopicAccount, read, request};
use crate::analyze::eligibility::{Budget, SkipReason};
use crate::config::{Config, SummarizerChoice};
use crate::model::session::short_id;
use crate::privacy::Sanitizer;
use crate::render::topic::{Topic, TopicSource};
use crate::store::Writer;
use crate::store::spend::PlannedCall;
use crate::summarize::{self, ModelAnswer, ModelRequest, ReplyParser, Summarizer, SummaryFailure};
use crate::sys::messages::Ui;
use crate::sys::shutdown;

/// Limit of the sources given to the model, in tokens.
const MAX_SOURCE_TOKENS: usize = 4_000;

/// What is asked, and how long the account may be.
pub(crate) struct AccountRequest<'a> {
    pub(crate) question: &'a str,
    pub(crate) max_tokens: usize,
    pub(crate) choice: SummarizerChoice,
}

/// A model's account, and what it cost.
pub(crate) struct TopicAnswer {
    pub(crate) account: TopicAccount,
    pub(crate) summarizer: &'static str,
    pub(crate) model: String,
    /// In US dollars; `None` when the client did not report it.
    pub(crate) cost_usd: Option<f64>,
}

/// The model's account of the sources; `None`, after telling the user why, where there is none.
pub(crate) fn ask_model(
    config: &Config,
    sources: &[TopicSource],
    asked: &AccountRequest<'_>,
    ui: &Ui,
) -> Result<Option<TopicAnswer>> {
    if !asked.choice.may_ask_model() {
        return Ok(None);
    }
    let sanitizer = config.sanitizer()?;
    let answered_by = Writer::open_existing(&config.database())?.answered_by(&config.digest.model)?;
    let model = match summarize::find(asked.choice, config, &sanitizer, answered_by) {
        Ok(model) => model,
        Err(why) if asked.choice.names_model() => {
            ui.warn(&format!("{why}: showing the passages instead"));
            return Ok(None);
        }
        Err(_) => return Ok(None),
    };
    let given = Topic::of(sources.to_vec(), MAX_SOURCE_TOKENS).sources;
    shutdown::install_handlers();
    let call = ModelCall {
        config,
        model: model.as_ref(),
        request: &request(asked.question, &given, &sanitizer),
        given: &given,
        sanitizer: &sanitizer,
    };
    match call.make()? {
        ModelOutcome::Answered(answer) => {
            let account = TopicAccount::fit(answer.value, &given, asked.max_tokens);
            if account.text.is_empty() {
                ui.note("the model finds no answer in the passages, or there is no room for it: showing the passages instead");
            }
            Ok((!account.text.is_empty()).then_some(TopicAnswer {
                account,
                summarizer: model.word(),
                model: answer.model,
                cost_usd: answer.cost_usd,
            }))
        }
        ModelOutcome::NotAsked(skip) => {
            ui.note(&format!("{skip}: showing the passages instead"));
            Ok(None)
        }
        ModelOutcome::Failed(failure) => {
            let what = sanitizer.name(&failure.to_string()).unwrap_or_else(|| "the model failed".into());
            ui.warn(&format!("{what}: showing the passages instead"));
            Ok(None)
        }
    }
}

/// A call, with what its answer may cite.
struct ModelCall<'a> {
    config: &'a Config,
    model: &'a dyn Summarizer,
    request: &'a ModelRequest,
    given: &'a [TopicSource],
    sanitizer: &'a Sanitizer,
}

/// Outcome of asking the model.
enum ModelOutcome {
    Answered(ModelAnswer<Vec<Sentence>>),
    /// Not asked: over a budget, or the price is unknown.
    NotAsked(SkipReason),
    Failed(SummaryFailure),
}

impl ModelCall<'_> {
    fn make(&self) -> Result<ModelOutcome> {
        let Self { model, request, .. } = self;
        let mut store = Writer::open_existing(&self.config.database())?;
        let name = short_id("topic-", &[&request.system, &request.stdin]);
        // Each higher price is reserved before it is paid; there are only a few.
        loop {
            let answer = |said: &str| read(said, self.given, self.sanitizer);
            let reservation = match self.reserve(&mut store, &name, &answer)? {
                Ok(reservation) => reservation,
                Err(skip) => return Ok(ModelOutcome::NotAsked(skip)),
            };
            let answered = summarize::ask(*model, request, &answer);
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
                    model.replies().forget(request);
                    return Ok(ModelOutcome::Answered(answer));
                }
            }
        }
    }

    /// Reserves the worst cost of the call. A reply to this very request that is already on disk needs no new reservation.
    fn reserve(
        &self,
        store: &mut Writer,
        name: &str,
        read: ReplyParser<'_, Vec<Sentence>>,
    ) -> Result<Result<Option<i64>, SkipReason>> {
        let Self { config, model, request, .. } = self;
        if summarize::has_answer(*model, request, read) {
            return Ok(Ok(store.open_reservation(name)?.map(|reserved| reserved.pk)));
        }
        let Some(worst_usd) = model.worst_cost(request) else {
            return Ok(Err(SkipReason::UnknownPrice(model.name().to_owned())));
        };
        let budget = Budget { run_usd: config.digest.max_cost_usd, day_usd: config.digest.max_cost_usd_per_day };
        let at = config.now();
        let call = PlannedCall { at, day: config.day(at), name, model: model.name(), worst_usd, spent_run: 0.0 };
        Ok(store.reserve(&call, &budget)?.map(|reserved| Some(reserved.pk)))
    }
}
