//! The model, through the `claude` command: what a call may cost, when it is tried again, and what its answer comes to.
//!
//! `call` starts the command, `replies` keeps what it said, `report` reads it. What it answers is synced to disk before anything looks
//! at it: a reply is paid for once.

mod call;
mod limit;
mod replies;
pub mod report;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use self::call::{SIZE_FLAGS, ask};
use self::call::{can_go_without, describe, first_line, unknown_flag};
pub use self::limit::over_at;
use self::report::{Try, session_with};
use super::{Failure, Input, Made, Request, Summarizer, reply};
use crate::child::which;
use crate::config::{Config, Price};
use crate::fault;
use crate::price::{cost, meanings, price_of, thinks};
use crate::privacy::Gate;
use crate::session::Tokens;
use crate::stop;
use crate::verify::{ground, verify};

/// The most the model may answer, in tokens; the form asks for some 600.
const MAX_ANSWER_TOKENS: u64 = 4_000;
/// Room beside that for a model which thinks whatever it is told, in tokens: what it thinks is paid for and bounded as what it answers.
const MAX_THOUGHT_TOKENS: u64 = 8_000;
/// What the client adds to our request, in bytes (measured: 1,236 with 2.1.197, 1,869 with 2.1.330, all flags known).
const CLIENT_BYTES: usize = 2_500;
/// What it adds when it knows no flag that keeps its own instructions and tools out, in bytes.
const CLIENT_BYTES_FULL: usize = 120_000;
/// Waits before trying again what may pass.
const BACKOFF: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

pub struct Claude {
    command: PathBuf,
    /// As it is asked for: most often by a name that says no version.
    model: String,
    /// The model that answered to that name last, where anybody knows.
    answered_by: Mutex<Option<String>>,
    /// The user's own.
    prices: BTreeMap<String, Price>,
    timeout: Duration,
    child_dir: PathBuf,
    replies: PathBuf,
    /// What the client prints passes it before anything is written or told.
    gate: Gate,
    /// Flags this client turned out not to know.
    unknown: Mutex<Vec<String>>,
}

impl Claude {
    /// The summarizer the config describes, when its command is there. `answered_by` is the model that answered last to the name that
    /// is asked for.
    ///
    /// # Errors
    /// When it is not.
    pub fn find(config: &Config, gate: &Gate, answered_by: Option<String>) -> Result<Self, String> {
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
            gate: gate.clone(),
            unknown: Mutex::default(),
        })
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// The models that may answer, the likeliest first. A name that nobody knows a price of tells nothing.
    fn may_answer(&self) -> Vec<String> {
        match &*locked(&self.answered_by) {
            Some(known) if price_of(known, &self.prices).is_some() => vec![known.clone()],
            _ => meanings(&self.model).into_iter().map(str::to_owned).collect(),
        }
    }

    /// What each of them would ask for so many tokens, in US dollars; `None` where a price is unknown.
    fn costs(&self, tokens: Tokens) -> Vec<Option<f64>> {
        let named = self.prices.contains_key(&self.model).then(|| vec![self.model.clone()]);
        let models = named.unwrap_or_else(|| self.may_answer());
        let price = |model: &String| price_of(model, &self.prices).map(|rates| cost(&tokens.of_one_message(), &rates));
        models.iter().map(price).collect()
    }

    /// The most it may write for an answer, in tokens.
    fn most_answered(&self) -> u64 {
        let thinks = self.may_answer().iter().any(|model| thinks(model));
        if thinks { MAX_ANSWER_TOKENS + MAX_THOUGHT_TOKENS } else { MAX_ANSWER_TOKENS }
    }

    /// The most a call can cost, in US dollars; `None` when the price of a model that may answer is unknown.
    ///
    /// Half a token a byte is more than any text of ours has; all input counts as written to the cache for an hour.
    pub fn worst_cost(&self, request: &Request) -> Option<f64> {
        let lean = !self.unknown().iter().any(|flag| SIZE_FLAGS.contains(&flag.as_str()));
        let bytes = request.bytes() + if lean { CLIENT_BYTES } else { CLIENT_BYTES_FULL };
        let tokens = Tokens { cache_write_hour: bytes as u64 / 2, output: self.most_answered(), ..Tokens::default() };
        self.costs(tokens).into_iter().try_fold(0.0, |most: f64, cost| Some(most.max(cost?)))
    }

    /// What a call will probably cost, for an estimate before a run: four bytes a token, an answer of 800 tokens.
    pub fn likely_cost(&self, request: &Request) -> Option<f64> {
        let tokens = Tokens { input: (request.bytes() + CLIENT_BYTES) as u64 / 4, output: 800, ..Tokens::default() };
        self.costs(tokens).into_iter().next().flatten()
    }

    fn unknown(&self) -> MutexGuard<'_, Vec<String>> {
        locked(&self.unknown)
    }
}

/// What a thread that panicked has left is as good as before.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What makes something of the model's words, or says why they are no answer.
pub type Reader<'r, T> = &'r dyn Fn(&str) -> Result<T, String>;

/// An answer and what it cost.
#[derive(Debug)]
pub struct Answer<T> {
    pub value: T,
    pub model: String,
    /// `None` when the client did not tell.
    pub cost_usd: Option<f64>,
}

impl Claude {
    /// Asks the model; what may pass is tried again. The reply stays on disk until it is forgotten.
    ///
    /// # Errors
    /// When there is no answer, or none that can be read.
    pub fn ask<T>(&self, request: &Request, read: Reader<'_, T>) -> Result<Answer<T>, Failure> {
        let mut waits = BACKOFF.iter();
        loop {
            match self.try_once(request, read) {
                Try::Answered(answer) => return Ok(*answer),
                Try::Failed(failure) => return Err(failure),
                Try::Again(what) => match waits.next() {
                    Some(wait) if !stop::asked() => std::thread::sleep(*wait),
                    _ => return Err(Failure::Model { what, cost_usd: Some(0.0) }),
                },
            }
        }
    }

    /// One try: the reply that is on disk already, where it is an answer, else a new one.
    fn try_once<T>(&self, request: &Request, read: Reader<'_, T>) -> Try<T> {
        if let Some(answer) = self.stored_answer(request, read) {
            return Try::Answered(Box::new(answer));
        }
        let file = self.reply_file(request);
        // Before it is paid for: an answer that cannot be kept may be lost.
        let room = match self.room() {
            Ok(room) => room,
            Err(failure) => return Try::Failed(failure),
        };
        let arguments = self.arguments(&request.system);
        fault::point("before the call");
        let ran = match self.run(&arguments, request) {
            Ok(ran) => ran,
            Err(failure) => return Try::Failed(failure),
        };
        let silent = ran.stdout.iter().all(u8::is_ascii_whitespace);
        // A client that answered all the same may have been paid for that.
        if let Some(flag) = unknown_flag(&ran.stderr).filter(|flag| silent && arguments.contains(flag) && can_go_without(flag)) {
            let costs_more = SIZE_FLAGS.contains(&flag.as_str());
            self.unknown().push(flag);
            return if costs_more { Try::Failed(Failure::CostsMore) } else { self.try_once(request, read) };
        }
        if silent {
            return session_with(format!("claude {} without an answer{}", describe(&ran.status), first_line(&ran.stderr)), None);
        }
        fault::point("reply arrived");
        // Paid for, kept or not: what can be made of it is made.
        let _ = room.fill(&file, &ran.stdout);
        fault::point("reply stored");
        match self.read_reply(&ran.stdout, &file, read) {
            Try::Failed(Failure::Session { what, cost_usd }) if !ran.status.success() => {
                session_with(format!("{what} (claude {}{})", describe(&ran.status), first_line(&ran.stderr)), cost_usd)
            }
            other => other,
        }
    }

    /// What a new reply comes to. Its file stays where it is an answer, and where it may have been paid for: what this version makes
    /// nothing of, a later one may.
    fn read_reply<T>(&self, reply: &[u8], file: &Path, read: Reader<'_, T>) -> Try<T> {
        let read = report::read(reply, read, &self.model);
        match &read {
            Try::Answered(answer) => *locked(&self.answered_by) = Some(answer.model.clone()),
            Try::Failed(Failure::Session { cost_usd, .. }) if *cost_usd != Some(0.0) => {}
            _ => _ = fs::remove_file(file),
        }
        read
    }
}

impl Summarizer for Claude {
    fn summarize(&self, input: &Input) -> Result<Made, Failure> {
        fault::happens("answer-panic", || panic!("asked for by a test"));
        let digest = |said: &str| {
            let mut digest = reply::read(said, &input.request)?;
            ground(&mut digest, &input.session);
            verify(&mut digest, &input.session);
            Ok(digest)
        };
        let Answer { value, model, cost_usd } = self.ask(&input.request, &digest)?;
        Ok(Made { digest: value, model: Some(model), cost_usd })
    }
}

impl Claude {
    /// Does an answer lie on the disk that a digest can be made of?
    pub fn has_digest(&self, input: &Input) -> bool {
        self.has_answer(&input.request, &|said| reply::read(said, &input.request))
    }
}
