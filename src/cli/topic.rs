//! `recall context --about`: what earlier sessions say on a topic, summarized by a model or quoted from the sessions.
//!
//! Only reads the index, except that a model call reserves its worst cost there first, under the same caps as digests.

use std::io::Write;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::context::folder;
use crate::analyze::eligibility::{Budget, SkipReason};
use crate::app::Completion;
use crate::app::topic::{Asker, Sentence, TopicAccount, candidates, read, request};
use crate::cli::args::ContextArgs;
use crate::config::{Config, SummarizerChoice};
use crate::model::session::short_id;
use crate::privacy::{Sanitizer, View};
use crate::render::topic::{Topic, TopicSource};
use crate::search::prompt::wants_decisions;
use crate::search::{Query, SearchOptions, fallback_message, falls_back_to_words};
use crate::store::spend::PlannedCall;
use crate::store::{Memory, Store};
use crate::summarize::claude::{ReplyParser, SIZE_FLAGS};
use crate::summarize::{Claude, ModelAnswer, ModelRequest, SummaryFailure};
use crate::sys::messages;
use crate::sys::messages::Ui;
use crate::sys::shutdown;
use crate::text::budget::ESTIMATE;

/// Default limit of the answer, in tokens: 300 words and their sources.
const DEFAULT_MAX_TOKENS: usize = 800;
/// Limit of the sources given to the model, in tokens.
const MAX_SOURCE_TOKENS: usize = 4_000;

pub(crate) fn run(args: &ContextArgs, topic: &str, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let cwd = folder(args)?;
    let project = config.project_keys().key_of(cwd.to_str().context("the folder's name is not UTF-8")?);
    let asked = TopicCommand { topic, config, project, max_tokens: args.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS) };
    let policy = config.policy(View::InFolder(&cwd.to_string_lossy()));
    let Some(store) = Memory::open_if_there(&config.database(), &policy)? else {
        return asked.report_nothing_known(args.json, ": run `recall digest` first", out);
    };
    let query = Query::parse(topic, &config.query_context());
    let asking = Asker { own: Some(&asked.project), session: None, decisions: wants_decisions(topic) };
    let sources = candidates(&store, config, &query, &asking)?;
    if !sources.is_empty() && falls_back_to_words(&store, &query, &SearchOptions { now: config.now(), ..SearchOptions::default() })?
    {
        messages::report(fallback_message(&query));
    }
    if sources.is_empty() {
        return asked.report_nothing_known(args.json, "", out);
    }
    drop(store);
    let ui = Ui::default();
    let choice = args.summarizer.unwrap_or(config.digest.summarizer);
    let account = if choice == SummarizerChoice::Extract { None } else { asked.account(&sources, choice, &ui)? };
    asked.write(sources, account, args.json, out)?;
    ui.finish();
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

struct TopicCommand<'a> {
    topic: &'a str,
    config: &'a Config,
    /// The project of the current folder (or `--cwd`): its sessions rank first.
    project: String,
    max_tokens: usize,
}

/// A model's answer, and what it cost.
struct TopicAnswer {
    account: TopicAccount,
    model: String,
    cost_usd: Option<f64>,
}

impl TopicCommand<'_> {
    fn report_nothing_known(&self, as_json: bool, hint: &str, out: &mut impl Write) -> Result<Completion> {
        if as_json {
            let topic = serde_json::to_value(Topic::of(Vec::new(), self.max_tokens))?;
            return self.write_json(topic, "", None, out).map(|()| Completion::Done);
        }
        let topic =
            crate::text::clean::shorten(&crate::text::clean::one_line(&crate::text::clean::without_controls(self.topic)), 80);
        messages::report(format!("nothing is known about `{topic}`{hint}"));
        Ok(Completion::Done)
    }

    /// The model's account of the sources; `None`, after telling the user why, where there is none.
    fn account(&self, sources: &[TopicSource], choice: SummarizerChoice, ui: &Ui) -> Result<Option<TopicAnswer>> {
        let gate = self.config.gate()?;
        let answered_by = Store::open_existing(&self.config.database())?.answered_by(&self.config.digest.model)?;
        let claude = match Claude::find(self.config, &gate, answered_by) {
            Ok(claude) => claude,
            Err(why) if choice == SummarizerChoice::Claude => {
                ui.warn(&format!("{why}: these are the passages themselves"));
                return Ok(None);
            }
            Err(_) => return Ok(None),
        };
        let given = Topic::of(sources.to_vec(), MAX_SOURCE_TOKENS).sources;
        let request = request(self.topic, &given, &gate);
        shutdown::install_handlers();
        match self.ask(&claude, &request, &given, &gate)? {
            ModelOutcome::Answered(answer) => {
                let account = TopicAccount::fit(answer.value, &given, self.max_tokens);
                if account.text.is_empty() {
                    ui.note(
                        "the model finds no answer in the passages, or there is no room for it: these are the passages themselves",
                    );
                }
                Ok((!account.text.is_empty()).then_some(TopicAnswer { account, model: answer.model, cost_usd: answer.cost_usd }))
            }
            ModelOutcome::NotAsked(skip) => {
                ui.note(&format!("{skip}: these are the passages themselves"));
                Ok(None)
            }
            ModelOutcome::Failed(failure) => {
                let what = gate.name(&failure.to_string()).unwrap_or_else(|| "claude failed".into());
                ui.warn(&format!("{what}: these are the passages themselves"));
                Ok(None)
            }
        }
    }

    /// Asks the model, after reserving the worst cost of the call.
    fn ask(&self, claude: &Claude, request: &ModelRequest, given: &[TopicSource], gate: &Sanitizer) -> Result<ModelOutcome> {
        let mut store = Store::open_existing(&self.config.database())?;
        let name = short_id("topic-", &[&request.system, &request.stdin]);
        // A client that rejects a flag makes the call more expensive, so it is reserved again. It rejects one flag at a time.
        for _ in 0..=SIZE_FLAGS.len() {
            let answer = |said: &str| read(said, given, gate);
            let reservation = match self.reserve(&mut store, claude, request, &name, &answer)? {
                Ok(reservation) => reservation,
                Err(skip) => return Ok(ModelOutcome::NotAsked(skip)),
            };
            let answered = claude.ask(request, &answer);
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
                    store.record_answering_model(claude.model(), &answer.model)?;
                    claude.forget_reply(request);
                    return Ok(ModelOutcome::Answered(answer));
                }
            }
        }
        Ok(ModelOutcome::Failed(SummaryFailure::HigherPrice))
    }

    /// Reserves the worst cost of the call. A reply to this very request that is already on disk needs no new reservation.
    fn reserve(
        &self,
        store: &mut Store,
        claude: &Claude,
        request: &ModelRequest,
        name: &str,
        read: ReplyParser<'_, Vec<Sentence>>,
    ) -> Result<Result<Option<i64>, SkipReason>> {
        if claude.has_answer(request, read) {
            return Ok(Ok(store.open_reservation(name)?.map(|reserved| reserved.pk)));
        }
        let Some(worst_usd) = claude.worst_cost(request) else {
            return Ok(Err(SkipReason::UnknownPrice(claude.model().to_owned())));
        };
        let digest = &self.config.digest;
        let budget = Budget { run_usd: digest.max_cost_usd, day_usd: digest.max_cost_usd_per_day };
        let at = self.config.now();
        let call = PlannedCall { at, day: self.config.day(at), name, model: claude.model(), worst_usd, spent_run: 0.0 };
        Ok(store.reserve(&call, &budget)?.map(|reserved| Some(reserved.pk)))
    }

    fn write(&self, sources: Vec<TopicSource>, told: Option<TopicAnswer>, as_json: bool, out: &mut impl Write) -> Result<()> {
        let topic = Topic::of(sources, self.max_tokens);
        let text = told.as_ref().map_or_else(|| topic.render().to_owned(), |told| told.account.text.clone());
        if as_json {
            return self.write_json(serde_json::to_value(&topic)?, &text, told, out);
        }
        if text.is_empty() {
            let known = topic.sources.len() + topic.left_out.len();
            messages::report(format!("no room for anything in {} tokens: {known} sessions speak of it", self.max_tokens));
        }
        out.write_all(text.as_bytes())?;
        Ok(())
    }

    fn write_json(&self, mut topic: Value, text: &str, told: Option<TopicAnswer>, out: &mut impl Write) -> Result<()> {
        let more = json!({
            "about": self.topic,
            "project": self.project,
            "text": text,
            "tokens": crate::text::budget::tokens(text),
            "estimate": ESTIMATE,
            "summarizer": if told.is_some() { "claude" } else { "extract" },
        });
        let model = told.map(|told| {
            let sentences: Vec<Sentence> = told.account.sentences;
            json!({
                "model": told.model, "cost_usd": told.cost_usd, "sentences": sentences,
                "sentences_left_out": told.account.sentences_left_out,
            })
        });
        if let Value::Object(all) = &mut topic {
            all.extend([Some(more), model].into_iter().flatten().filter_map(|v| v.as_object().cloned()).flatten());
        }
        writeln!(out, "{}", serde_json::to_string_pretty(&topic)?)?;
        Ok(())
    }
}

/// Outcome of asking the model.
enum ModelOutcome {
    Answered(ModelAnswer<Vec<Sentence>>),
    /// Not asked: over a budget, or the price is unknown.
    NotAsked(SkipReason),
    Failed(SummaryFailure),
}
