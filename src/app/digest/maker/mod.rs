//! What makes the digests of a run: its settings, its summarizer, its instructions.

mod inputs;
mod instructions;
mod open_items;
mod standing;

use anyhow::{Context, Result};

pub(crate) use self::open_items::{OpenItemsCache, lock_unpoisoned, open_items};
use super::in_hand::SessionsInHand;
use super::request::DigestSelection;
use crate::config::Config;
use crate::model::digest::Digest;
use crate::store::Reader;
use crate::store::last_run::{LastRun, ModelBackoff};
use crate::summarize::Summarizer;
use crate::sys::messages::Ui;
use transcripts::privacy::Sanitizer;
use transcripts::session::Millis;

/// Makes the digests of a run, with or without the model.
pub(crate) struct DigestMaker<'a> {
    pub(crate) config: &'a Config,
    pub(crate) ui: &'a Ui,
    pub(crate) now: Millis,
    pub(crate) wanted: &'a DigestSelection,
    pub(crate) system: String,
    pub(crate) sanitizer: Sanitizer,
    pub(crate) model: Result<Box<dyn Summarizer>, String>,
    pub(crate) left: OpenItemsCache,
    /// Sessions whose pages this run makes.
    pub(crate) in_hand: SessionsInHand,
}

/// Why the model is not asked now although it is available. Naming the model or a session on the command line overrides this; `command` is
/// the one that does.
pub(crate) fn why_model_rests(config: &Config, now: Millis, command: &str) -> Option<String> {
    if let Some(ModelBackoff { until, why }) = LastRun::backoff(&config.data_dir, now) {
        let until = config.local_time(Some(until), "%Y-%m-%d %H:%M");
        let word = config.digest.summarizer.word_of_model();
        return Some(format!("{why}: no model calls until {until} (`recall {command} --summarizer {word}` calls it now)"));
    }
    let hours = config.digest.not_between.filter(|hours| hours.contains(config.local(now).time()))?;
    Some(format!("the model is not asked between {hours}: `digest.not_between`"))
}

impl<'a> DigestMaker<'a> {
    pub(crate) fn new(config: &'a Config, ui: &'a Ui, now: Millis, wanted: &'a DigestSelection, store: &Reader) -> Result<Self> {
        // Few texts per session pass this sanitizer, in many runs none, so it is not worth the milliseconds that building the
        // faster table takes.
        let sanitizer = config.sanitizer()?;
        let is_named = wanted.names_model() || wanted.session.is_some();
        let away = if is_named { None } else { why_model_rests(config, now, "digest") };
        let choice = config.digest.summarizer;
        let model = match &away {
            Some(why) if choice.may_ask_model() => Err(why.clone()),
            _ => crate::summarize::find(choice, config, &sanitizer, store.answered_by(&config.digest.model)?),
        };
        if let (true, Err(why), None) = (choice.names_model(), &model, &away) {
            ui.warn(&format!("{why}: going on without the model"));
        }
        Self::with_model(config, ui, now, wanted, sanitizer, model)
    }

    /// Asks no model, whatever the config says.
    pub(crate) fn without_model(config: &'a Config, ui: &'a Ui, now: Millis, wanted: &'a DigestSelection) -> Result<Self> {
        Self::with_model(config, ui, now, wanted, config.sanitizer()?, Err(crate::summarize::NOT_ASKED_FOR.to_owned()))
    }

    fn with_model(
        config: &'a Config,
        ui: &'a Ui,
        now: Millis,
        wanted: &'a DigestSelection,
        sanitizer: Sanitizer,
        model: Result<Box<dyn Summarizer>, String>,
    ) -> Result<Self> {
        let own = config.prompt_override();
        let system = match std::fs::read_to_string(&own) {
            Ok(text) => crate::summarize::instructions(Some(&text)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => crate::summarize::instructions(None),
            Err(e) => return Err(e).with_context(|| format!("cannot read {}", own.display())),
        };
        let (left, in_hand) = (OpenItemsCache::default(), SessionsInHand::default());
        Ok(Self { config, ui, now, wanted, system, sanitizer, model, left, in_hand })
    }

    /// Passes a digest through the sanitizer, whoever made it.
    pub(crate) fn passed(&self, mut digest: Digest) -> Digest {
        digest.pass(|text| self.sanitizer.clean(text));
        digest
    }
}
