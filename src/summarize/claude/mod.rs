//! The model, through the `claude` command: what a call may cost, when it is retried, and how its answer is read.
//!
//! `call` starts the command, `replies` stores its output, `report` parses it. The output is synced to disk before anything looks at it,
//! because a reply is paid for once.

mod call;
mod limit;
mod replies;
pub(crate) mod report;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::tz::TimeZone;

pub(crate) use self::call::query_client;
use self::call::{SIZE_FLAGS, describe, first_line, is_optional_flag, unknown_flag};
use self::report::{Attempt, session_with};
use super::{ModelAnswer, ModelRequest, ReplyParser, Summarizer, SummaryFailure};
use crate::config::Config;
use crate::model::price::Price;
use crate::model::price::{always_thinks, cost, models_of_alias, price_of};
use crate::model::session::{Millis, Tokens};
use crate::privacy::Sanitizer;
use crate::sys::child_process::which;
use crate::sys::failpoints;
use crate::sys::shutdown;

/// Output limit for the answer, in tokens; the requested JSON takes about 600.
const MAX_ANSWER_TOKENS: u64 = 4_000;
/// Additional output limit, in tokens, for a model that always thinks: thinking is billed and limited as output.
const MAX_THOUGHT_TOKENS: u64 = 8_000;
/// What the client adds to our request, in bytes (measured: 1,236 with 2.1.197, 1,869 with 2.1.330, all flags known).
const CLIENT_OVERHEAD_BYTES: usize = 2_500;
/// What it adds when it does not know the flags that leave out its own instructions and tools, in bytes.
const FULL_CLIENT_OVERHEAD_BYTES: usize = 120_000;
/// The word of its digests.
const WORD: &str = "claude";
/// Waits before each retry of a transient failure.
const BACKOFF: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

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
    replies: PathBuf,
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
            replies: config.data_dir.join("replies"),
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
        let price = |model: &String| price_of(model, &self.prices).map(|rates| cost(&tokens.of_one_message(), &rates));
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

impl Claude {
    /// One attempt: uses the reply on disk if it is an answer, else makes a call.
    fn try_once<T>(&self, request: &ModelRequest, read: ReplyParser<'_, T>) -> Attempt<T> {
        if let Some(answer) = self.stored_answer(request, read) {
            return Attempt::Answered(Box::new(answer));
        }
        let file = self.reply_file(request);
        // Reserves disk space before the call: otherwise a paid answer might not be stored.
        let room = match self.room() {
            Ok(room) => room,
            Err(failure) => return Attempt::Failed(failure),
        };
        let arguments = self.arguments(&request.system);
        failpoints::point("before the call");
        let ran = match self.run(&arguments, request) {
            Ok(ran) => ran,
            Err(failure) => return Attempt::Failed(failure),
        };
        let silent = ran.stdout.iter().all(u8::is_ascii_whitespace);
        // If the client answered in spite of the unknown flag, that call may have been billed.
        if let Some(flag) = unknown_flag(&ran.stderr).filter(|flag| silent && arguments.contains(flag) && is_optional_flag(flag)) {
            let costs_more = SIZE_FLAGS.contains(&flag.as_str());
            self.unknown().push(flag);
            return if costs_more { Attempt::Failed(SummaryFailure::HigherPrice) } else { self.try_once(request, read) };
        }
        if silent {
            return session_with(format!("claude {} without an answer{}", describe(&ran.status), first_line(&ran.stderr)), None);
        }
        failpoints::point("reply arrived");
        // It is paid for: use it even if it could not be stored.
        let _ = room.fill(&file, &ran.stdout);
        failpoints::point("reply stored");
        match self.read_reply(&ran.stdout, &file, read) {
            Attempt::Failed(SummaryFailure::Session { what, cost_usd }) if !ran.status.success() => {
                session_with(format!("{what} (claude {}{})", describe(&ran.status), first_line(&ran.stderr)), cost_usd)
            }
            other => other,
        }
    }

    /// Reads a new reply. Its file stays if it is an answer, or if it may have been billed: a later version may be able to read it.
    fn read_reply<T>(&self, reply: &[u8], file: &Path, read: ReplyParser<'_, T>) -> Attempt<T> {
        let read = report::read(reply, read, &self.model);
        match &read {
            Attempt::Answered(answer) => *lock(&self.answered_by) = Some(answer.model.clone()),
            Attempt::Failed(SummaryFailure::Session { cost_usd, .. }) if *cost_usd != Some(0.0) => {}
            _ => _ = fs::remove_file(file),
        }
        read
    }
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
        let tokens = Tokens { input: (request.bytes() + CLIENT_OVERHEAD_BYTES) as u64 / 4, output: 800, ..Tokens::default() };
        self.costs(tokens).into_iter().next().flatten()
    }

    fn ask(&self, request: &ModelRequest, read: ReplyParser<'_, ()>) -> Result<ModelAnswer<()>, SummaryFailure> {
        let mut waits = BACKOFF.iter();
        loop {
            match self.try_once(request, read) {
                Attempt::Answered(answer) => return Ok(*answer),
                Attempt::Failed(failure) => return Err(failure),
                Attempt::Retry(what) => match waits.next() {
                    Some(wait) if !shutdown::requested() => std::thread::sleep(failpoints::patience(*wait)),
                    _ => return Err(SummaryFailure::Unavailable { what, cost_usd: Some(0.0) }),
                },
            }
        }
    }

    fn has_answer(&self, request: &ModelRequest, read: ReplyParser<'_, ()>) -> bool {
        self.stored_answer(request, read).is_some()
    }

    fn forget_reply(&self, request: &ModelRequest) {
        self.forget(request);
    }

    fn drop_old_replies(&self, now: Millis) {
        self.drop_old(now);
    }

    fn limit_ends_at(&self, said: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
        limit::limit_ends_at(said, now, zone)
    }
}
