//! Was the memory worth its tokens? Replays stored sessions: what each would have been told at its start and its first prompts, from what came
//! before it alone, against what it then did and said.

use std::collections::HashMap;
use std::time::Instant;

use anyhow::Result;
use rayon::prelude::*;
use serde::Serialize;

use crate::analyze::account::{SessionAccount, WordKind};
use crate::analyze::use_of_told::{Deeds, ToldText};
use crate::app::filter::{ProjectFilter, parse_since};
use crate::app::hook_state::seen::{SeenLog, ShownAs};
use crate::app::open_memory::OpenMemory;
use crate::app::prompt::said_at;
use crate::app::session_start::{ContextRequest, StartMode, gather};
use crate::config::Config;
use crate::model::session_head::SessionHead;
use crate::model::since_then::Overtaken;
use crate::policy::View;
use crate::sys::progress::Progress;
use text::budget::tokens_in;
use transcripts::session::Millis;

/// How many prompts of a session are replayed: later ones are asked within what the session knows itself.
const MAX_PROMPTS: usize = 3;

pub(crate) struct EvalRequest<'a> {
    /// Only projects that this glob means.
    pub(crate) project: Option<&'a str>,
    /// Only sessions that began since then, as of `--since`.
    pub(crate) since: Option<&'a str>,
}

/// How many of something there were, how many of them an earlier session of the project knew, and how many of these were told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Hits {
    pub(crate) all: usize,
    pub(crate) known: usize,
    pub(crate) told: usize,
}

/// What replaying sessions came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct EvalReply {
    pub(crate) sessions: usize,
    /// Those of which no earlier session of the project had ended: they could be told little.
    pub(crate) first_of_project: usize,
    /// Sessions that were told something.
    pub(crate) told: usize,
    /// Files that they then edited.
    pub(crate) files: Hits,
    /// Checks that they then ran.
    pub(crate) checks: Hits,
    /// Sessions that then said a sentence again that they were told.
    pub(crate) said_again: usize,
    /// Statements that were told though they had been overtaken by then; and those of them that were told alone.
    pub(crate) overtaken: usize,
    pub(crate) overtaken_alone: usize,
    pub(crate) starts: Told,
    pub(crate) prompts: Told,
}

/// What was told at starts, or at prompts. Tokens are estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Told {
    /// Asked.
    pub(crate) all: usize,
    /// Answered with something.
    pub(crate) told: usize,
    pub(crate) tokens: usize,
    pub(crate) most_tokens: usize,
}

impl Told {
    fn add(&mut self, text: &str) {
        self.all += 1;
        if !text.is_empty() {
            let tokens = tokens_in(text.len());
            self.told += 1;
            self.tokens += tokens;
            self.most_tokens = self.most_tokens.max(tokens);
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            told: self.told + other.told,
            tokens: self.tokens + other.tokens,
            most_tokens: self.most_tokens.max(other.most_tokens),
        }
    }
}

impl Hits {
    fn plus(self, other: Self) -> Self {
        Self { all: self.all + other.all, known: self.known + other.known, told: self.told + other.told }
    }
}

impl EvalReply {
    fn plus(self, other: Self) -> Self {
        Self {
            sessions: self.sessions + other.sessions,
            first_of_project: self.first_of_project + other.first_of_project,
            told: self.told + other.told,
            files: self.files.plus(other.files),
            checks: self.checks.plus(other.checks),
            said_again: self.said_again + other.said_again,
            overtaken: self.overtaken + other.overtaken,
            overtaken_alone: self.overtaken_alone + other.overtaken_alone,
            starts: self.starts.plus(other.starts),
            prompts: self.prompts.plus(other.prompts),
        }
    }
}

/// A session to replay.
struct Replayed {
    head: SessionHead,
    began_at: Millis,
    prompts: Vec<String>,
    deeds: Deeds,
}

/// What is known of a project: when each file was first edited and each check first run, by the end of the session that did so.
#[derive(Default)]
struct ProjectPast {
    files: HashMap<String, Millis>,
    checks: HashMap<String, Millis>,
    first_end: Option<Millis>,
}

impl ProjectPast {
    fn add(&mut self, deeds: &Deeds, ended_at: Millis) {
        let earliest = |known: &mut HashMap<String, Millis>, name: &String| {
            known.entry(name.clone()).and_modify(|at| *at = (*at).min(ended_at)).or_insert(ended_at);
        };
        deeds.files.iter().for_each(|file| earliest(&mut self.files, file));
        deeds.checks.iter().for_each(|check| earliest(&mut self.checks, check));
        self.first_end = Some(self.first_end.unwrap_or(ended_at).min(ended_at));
    }
}

/// # Errors
/// If the index cannot be read, or the request's project or time cannot.
pub(crate) fn eval(config: &Config, asked: &EvalRequest<'_>) -> Result<EvalReply> {
    let memory = OpenMemory::of(config, View::Owner)?.0;
    let (filter, since) = (ProjectFilter::new(asked.project, config)?, parse_since(asked.since, config)?);
    let mut past: HashMap<String, ProjectPast> = HashMap::new();
    let mut overtaken: HashMap<String, Vec<Overtaken>> = HashMap::new();
    let mut sessions = Vec::new();
    for head in memory.session_heads()? {
        let Some(account) = memory.account_of(head.pk)? else { continue };
        let deeds = Deeds::of(&account);
        let (began_at, ended_at) = (head.started_at, head.last_at.unwrap_or(head.started_at));
        past.entry(head.project.key.clone()).or_default().add(&deeds, ended_at);
        if began_at == Millis::MAX || began_at < since || !filter.fits(&head.project) {
            continue;
        }
        if !overtaken.contains_key(&head.project.key) {
            overtaken.insert(head.project.key.clone(), memory.overtaken_in(&head.project.key)?);
        }
        sessions.push(Replayed { prompts: prompts(&account), head, began_at, deeds });
    }
    drop(memory);
    let bar = Progress::of("replaying", sessions.len() as u64);
    let replay = |one: &Replayed| {
        let key = &one.head.project.key;
        let result = replay(config, one, &past[key], &overtaken[key]);
        bar.advance(1);
        result
    };
    let all = sessions.par_iter().map(replay).try_reduce(EvalReply::default, |one, other| Ok(one.plus(other)));
    drop(bar);
    all
}

/// The first prompts, in the user's words.
fn prompts(account: &SessionAccount) -> Vec<String> {
    let words = account.turns.iter().flat_map(|turn| &turn.words).filter(|word| word.kind == WordKind::Prompt);
    words.map(|word| word.text.clone()).take(MAX_PROMPTS).collect()
}

fn replay(config: &Config, one: &Replayed, past: &ProjectPast, overtaken: &[Overtaken]) -> Result<EvalReply> {
    let Replayed { head, began_at, prompts, deeds } = one;
    let key = head.project.key.as_str();
    // As the hooks would have been asked then.
    let config = &config.as_of(*began_at);
    let memory = OpenMemory::under(config, &config.policy(View::InFolder(key)).known_before(*began_at))?;
    let request = ContextRequest {
        cwd: key,
        session: Some(&head.id),
        start: StartMode::Blank,
        max_tokens: config.hooks.max_inject_tokens,
        now: *began_at,
        until: Instant::now(),
        count: false,
        notice: None,
        // Today's transcripts say more than was known.
        live: false,
    };
    let start = gather(config, Some(&memory), &request)?;
    let mut reply = EvalReply { sessions: 1, ..EvalReply::default() };
    reply.starts.add(&start.text);
    let mut seen = SeenLog::default();
    seen.add(ShownAs::Start, start.sessions_shown.iter().chain(&start.undigested_shown).map(String::as_str));
    let mut told = start.text;
    for prompt in prompts {
        let injection = said_at(prompt, config, &memory.0, &seen, (&head.id, key))?;
        let text = injection.as_ref().map_or("", |injection| injection.text.as_str());
        reply.prompts.add(text);
        told += text;
        if let Some(injection) = &injection {
            seen.add(injection.how, injection.ids.iter().map(String::as_str));
        }
    }
    let came_before = |at: &Millis| at < began_at;
    reply.first_of_project = usize::from(!past.first_end.as_ref().is_some_and(came_before));
    reply.told = usize::from(!told.is_empty());
    let text = ToldText::new(&told);
    for file in &deeds.files {
        let known = past.files.get(file).is_some_and(came_before);
        let hit = Hits { all: 1, known: usize::from(known), told: usize::from(known && text.names_file(file)) };
        reply.files = reply.files.plus(hit);
    }
    for check in &deeds.checks {
        let known = past.checks.get(check).is_some_and(came_before);
        let hit = Hits { all: 1, known: usize::from(known), told: usize::from(known && text.names_check(check)) };
        reply.checks = reply.checks.plus(hit);
    }
    reply.said_again = usize::from(text.said_again(deeds) > 0);
    for one in overtaken.iter().filter(|one| one.later.at < *began_at && told.contains(&one.earlier.text)) {
        reply.overtaken += 1;
        reply.overtaken_alone += usize::from(!told.contains(&one.later.text));
    }
    Ok(reply)
}
