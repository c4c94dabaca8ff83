//! Asks a model for its account of a topic, under the same caps as digests: the worst cost of the call is reserved before it is made.

use anyhow::Result;

use super::account::{TopicAccount, read, request};
use crate::app::model_call::{ModelCall, ModelOutcome, tell_not_asked};
use crate::config::{Config, SummarizerChoice};
use crate::render::topic::{Topic, TopicSource};
use crate::store::Writer;
use crate::summarize;
use crate::sys::messages::Ui;
use crate::sys::shutdown;
use text::clean::counted;
use transcripts::session::short_id;

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
    let mut shown = sources.to_vec();
    shown.retain(|source| config.sources.may_show_model(source.client));
    if shown.len() < sources.len() {
        let withheld = counted(sources.len() - shown.len(), "session");
        ui.note(&format!(
            "the model does not get {withheld} of other agents: you can allow it for an agent under `[sources]` in the config"
        ));
    }
    let given = Topic::of(shown, MAX_SOURCE_TOKENS).sources;
    shutdown::install_handlers();
    let request = request(asked.question, &given, &sanitizer);
    let name = short_id("topic-", &[&request.system, &request.stdin]);
    let call = ModelCall { config, model: model.as_ref(), request: &request, name };
    match call.make(&|said: &str| read(said, &given, &sanitizer), &|_| {})? {
        ModelOutcome::Answered(answer) => {
            model.replies().forget(&request);
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
        ModelOutcome::NotAsked(not_asked) => {
            tell_not_asked(asked.choice, &format!("{}: showing the passages instead", not_asked.why), ui);
            Ok(None)
        }
        ModelOutcome::Failed(failure) => {
            let what = sanitizer.name(failure.to_string()).unwrap_or_else(|| "the model failed".into());
            ui.warn(&format!("{what}: showing the passages instead"));
            Ok(None)
        }
    }
}
