//! `recall context --about`: what earlier sessions say on a topic, summarized by a model or quoted from the sessions.
//!
//! Only reads the index, except that a model call reserves its worst cost there first, under the same caps as digests.

use std::io::Write;

use anyhow::{Result, ensure};
use serde::Serialize;

use super::context::folder;
use super::reading::print_lines;
use crate::app::Completion;
use crate::app::asker::Asker;
use crate::app::topic::{
    AccountRequest, OmittedSource, Sentence, Topic, TopicAnswer, TopicRequest, TopicSource, ask_model, find_topic,
};
use crate::cli::args::ContextArgs;
use crate::config::Config;
use crate::model::digest::WITHOUT_MODEL;
use crate::sys::messages;
use crate::sys::messages::Ui;
use text::budget::{ESTIMATE, tokens};
use text::clean::{one_line, shorten, without_controls};

/// Default limit of the answer, in tokens: 300 words and their sources.
const DEFAULT_MAX_TOKENS: usize = 800;

pub(crate) fn run(args: &ContextArgs, topic: &str, config: &Config, out: &mut impl Write) -> Result<Completion> {
    let cwd = folder(args)?;
    ensure!(cwd.to_str().is_some(), "the folder's name is not UTF-8");
    let asker = Asker::in_folder(config, &cwd);
    let project = asker.project();
    let asked = TopicCommand { topic, project, max_tokens: args.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS), as_json: args.json };
    let Some(memory) = asker.memory_if_there()? else {
        return asked.report_nothing_known(": run `recall digest` first", out);
    };
    let found = find_topic(&memory, config, &TopicRequest { words: topic, own: &asked.project, ..TopicRequest::default() })?;
    drop(memory);
    found.notices.iter().for_each(messages::report);
    if found.sources.is_empty() {
        return asked.report_nothing_known("", out);
    }
    let ui = Ui::default();
    let choice = args.summarizer.unwrap_or(config.digest.summarizer);
    let wanted = AccountRequest { question: topic, max_tokens: asked.max_tokens, choice };
    let answer = ask_model(config, &found.sources, &wanted, &ui)?;
    asked.write(found.sources, answer.as_ref(), out)?;
    ui.finish();
    Ok(if ui.warned() { Completion::Partly } else { Completion::Done })
}

struct TopicCommand<'a> {
    topic: &'a str,
    /// The project of the current folder (or `--cwd`): its sessions rank first.
    project: String,
    max_tokens: usize,
    as_json: bool,
}

/// The answer in the format of `--json`.
#[derive(Serialize)]
struct TopicJson<'a> {
    about: &'a str,
    project: &'a str,
    text: &'a str,
    /// Of the text.
    tokens: usize,
    max_tokens: usize,
    estimate: &'static str,
    summarizer: &'static str,
    sources: &'a [TopicSource],
    left_out: &'a [OmittedSource],
    passages_left_out: usize,
    #[serde(flatten)]
    by_model: Option<ByModel<'a>>,
}

/// What a model's account adds.
#[derive(Serialize)]
struct ByModel<'a> {
    model: &'a str,
    cost_usd: Option<f64>,
    sentences: &'a [Sentence],
    sentences_left_out: usize,
}

impl TopicCommand<'_> {
    fn report_nothing_known(&self, hint: &str, out: &mut impl Write) -> Result<Completion> {
        if self.as_json {
            self.write(Vec::new(), None, out)?;
            return Ok(Completion::Done);
        }
        let topic = shorten(&one_line(&without_controls(self.topic)), 80);
        messages::report(format!("nothing is known about `{topic}`{hint}"));
        Ok(Completion::Done)
    }

    fn write(&self, sources: Vec<TopicSource>, answer: Option<&TopicAnswer>, out: &mut impl Write) -> Result<()> {
        let topic = Topic::of(sources, self.max_tokens);
        let text = answer.map_or_else(|| topic.render(), |answer| &answer.account.text);
        if self.as_json {
            writeln!(out, "{}", serde_json::to_string_pretty(&self.json(&topic, text, answer))?)?;
            return Ok(());
        }
        if text.is_empty() {
            let known = topic.sources.len() + topic.left_out.len();
            messages::report(format!("no room for anything in {} tokens: {known} sessions speak of it", self.max_tokens));
        }
        print_lines(text, out)
    }

    fn json<'t>(&'t self, topic: &'t Topic, text: &'t str, answer: Option<&'t TopicAnswer>) -> TopicJson<'t> {
        TopicJson {
            about: self.topic,
            project: &self.project,
            text,
            tokens: tokens(text),
            max_tokens: self.max_tokens,
            estimate: ESTIMATE,
            summarizer: answer.map_or(WITHOUT_MODEL, |answer| answer.summarizer),
            sources: &topic.sources,
            left_out: &topic.left_out,
            passages_left_out: topic.passages_left_out,
            by_model: answer.map(|answer| ByModel {
                model: &answer.model,
                cost_usd: answer.cost_usd,
                sentences: &answer.account.sentences,
                sentences_left_out: answer.account.sentences_left_out,
            }),
        }
    }
}
