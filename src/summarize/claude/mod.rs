//! The model, through the `claude` command: what a call may cost, when it is retried, and how its answer is read.
//!
//! `call` starts the command, `report` parses its output, `check` says whether it is there and logged in.

mod call;
mod check;
mod limit;
pub(crate) mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::tz::TimeZone;

use self::call::{SIZE_FLAGS, describe, first_line, is_optional_flag, unknown_flag};
pub(crate) use self::check::check;
use super::{Attempt, KeptReplies, ModelRequest, RawReply, ReplyParser, Summarizer, SummaryFailure};
use crate::config::{Config, SummarizerChoice};
use crate::model::price::Price;
use crate::model::price::{always_thinks, cost, models_of_alias, of_one_message, price_of};
use crate::sys::child_process::which;
use transcripts::privacy::Sanitizer;
use transcripts::session::{Millis, Tokens};

/// Output limit for the answer, in tokens; the requested JSON takes about 600.
const MAX_ANSWER_TOKENS: u64 = 4_000;
/// Additional output limit, in tokens, for a model that always thinks: thinking is billed and limited as output.
const MAX_THOUGHT_TOKENS: u64 = 8_000;
/// What the client adds to our request, in bytes (measured: 1,236 with 2.1.197, 1,869 with 2.1.330, all flags known).
const CLIENT_OVERHEAD_BYTES: usize = 2_500;
/// What it adds when it does not know the flags that leave out its own instructions and tools, in bytes.
const FULL_CLIENT_OVERHEAD_BYTES: usize = 120_000;
/// The word of its digests.
const WORD: &str = SummarizerChoice::Claude.word();

pub(crate) struct Claude {
    command: PathBuf,
    /// As requested: usually an alias without a version.
    model: String,
    /// The model that last answered to that name, if known.
    answered_by: Mutex<Option<String>>,
    /// The user's own prices.
    prices: BTreeMap<String, Price>,
    timeout: Duration,
    child_dir: PathBuf,
    replies: KeptReplies,
    /// Redacts the client's output before any of it is written or shown.
    sanitizer: Sanitizer,
    /// Flags this client turned out not to know.
    unknown: Mutex<Vec<String>>,
}

impl Claude {
    /// The summarizer the config describes. `answered_by` is the model that last answered to the configured name.
    ///
    /// # Errors
    /// When the command is not found.
    pub(crate) fn find(config: &Config, sanitizer: &Sanitizer, answered_by: Option<String>) -> Result<Self, String> {
        let name = &config.digest.claude;
        let command = which(name, &config.search_path).ok_or_else(|| format!("`{name}` was not found on the PATH"))?;
        Ok(Self {
            command,
            model: config.digest.model.clone(),
            answered_by: Mutex::new(answered_by),
            prices: config.prices.clone(),
            timeout: Duration::from_secs(config.digest.timeout_seconds),
            child_dir: config.child_dir(),
            replies: KeptReplies::of(config, WORD),
            sanitizer: sanitizer.clone(),
            unknown: Mutex::default(),
        })
    }

    /// The models that may answer, most likely first. A model that answered before is ignored when its price is unknown.
    fn candidate_models(&self) -> Vec<String> {
        match &*lock(&self.answered_by) {
            Some(known) if price_of(known, &self.prices).is_some() => vec![known.clone()],
            _ => models_of_alias(&self.model).into_iter().map(str::to_owned).collect(),
        }
    }

    /// Cost of these tokens for each model that may answer, in US dollars; `None` where its price is unknown.
    fn costs(&self, tokens: Tokens) -> Vec<Option<f64>> {
        let named = self.prices.contains_key(&self.model).then(|| vec![self.model.clone()]);
        let models = named.unwrap_or_else(|| self.candidate_models());
        let price = |model: &String| price_of(model, &self.prices).map(|rates| cost(&of_one_message(tokens, model), &rates));
        models.iter().map(price).collect()
    }

    /// Output limit of a call, in tokens.
    fn max_output_tokens(&self) -> u64 {
        let thinks = self.candidate_models().iter().any(|model| always_thinks(model));
        if thinks { MAX_ANSWER_TOKENS + MAX_THOUGHT_TOKENS } else { MAX_ANSWER_TOKENS }
    }

    fn unknown(&self) -> MutexGuard<'_, Vec<String>> {
        lock(&self.unknown)
    }
}

/// What is behind these locks stays valid when a thread panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Summarizer for Claude {
    fn word(&self) -> &'static str {
        WORD
    }

    fn name(&self) -> &str {
        &self.model
    }

    /// Counts half a token per byte, which is more than any of our texts has, and all input as written to the one-hour cache.
    fn worst_cost(&self, request: &ModelRequest) -> Option<f64> {
        let lean = !self.unknown().iter().any(|flag| SIZE_FLAGS.contains(&flag.as_str()));
        let bytes = request.bytes() + if lean { CLIENT_OVERHEAD_BYTES } else { FULL_CLIENT_OVERHEAD_BYTES };
        let tokens = Tokens { cache_write_hour: bytes as u64 / 2, output: self.max_output_tokens(), ..Tokens::default() };
        self.costs(tokens).into_iter().try_fold(0.0, |most: f64, cost| Some(most.max(cost?)))
    }

    /// Four bytes per token, 800 tokens of output.
    fn likely_cost(&self, request: &ModelRequest) -> Option<f64> {
        let tokens = Tokens { input: (request.bytes() + CLIENT_OVERHEAD_BYTES) as u64 / 4, output: 860, ..Tokens::default() };
        self.costs(tokens).into_iter().next().flatten()
    }

    fn replies(&self) -> &KeptReplies {
        &self.replies
    }

    fn call(&self, request: &ModelRequest) -> Result<RawReply, SummaryFailure> {
        loop {
            let arguments = self.arguments(&request.system);
            let ran = self.run(&arguments, request)?;
            let ended = || format!("claude {}", describe(&ran.status));
            if !ran.stdout.iter().all(u8::is_ascii_whitespace) {
                let remark = (!ran.status.success()).then(|| ended() + &first_line(&ran.stderr));
                return Ok(RawReply { bytes: ran.stdout, remark });
            }
            // If the client answered in spite of the unknown flag, that call may have been billed.
            let Some(flag) = unknown_flag(&ran.stderr).filter(|flag| arguments.contains(flag) && is_optional_flag(flag)) else {
                let what = format!("{} without an answer{}", ended(), first_line(&ran.stderr));
                return Err(SummaryFailure::Session { what, cost_usd: None });
            };
            let costs_more = SIZE_FLAGS.contains(&flag.as_str());
            self.unknown().push(flag);
            if costs_more {
                return Err(SummaryFailure::HigherPrice);
            }
        }
    }

    fn read(&self, reply: &[u8], read: ReplyParser<'_, ()>) -> Attempt {
        report::read(reply, read, &self.model)
    }

    fn note_answering_model(&self, model: &str) {
        *lock(&self.answered_by) = Some(model.to_owned());
    }

    fn limit_ends_at(&self, said: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
        limit::limit_ends_at(said, now, zone)
    }
}
