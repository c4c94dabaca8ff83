//! Rules that the user says again and again in a project: found among what is remembered, without what is known already, and kept or
//! dismissed by the user. Nothing is written to a file of the user's.

mod diff;
mod written;

use std::collections::HashSet;
use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Serialize;

pub(crate) use self::diff::diff;
use crate::analyze::denied::DeniedStatement;
use crate::analyze::rules::{Mention, Recurring, RuleWords, recurring, statements_of};
use crate::app::contributor::Contributor;
use crate::app::digest::open_to_change;
use crate::app::filter::ProjectFilter;
use crate::app::notes::{Audience, NoteMarks, RememberReply, RememberRequest, remember};
use crate::app::open_memory::OpenMemory;
use crate::app::session_start::client_memory::ClientMemory;
use crate::app::wrong::bring_up_to_date;
use crate::config::Config;
use crate::model::note::NoteKind;
use crate::store::Memory;
use crate::sys::messages::Ui;
use transcripts::session::{Millis, Project, short_id};

/// The most quotations of a rule.
const MAX_QUOTES: usize = 3;

/// What is asked for: the rules of some projects, or of that with this key.
pub(crate) struct RulesRequest<'a> {
    /// As `--project` has it.
    pub(crate) project: Option<&'a str>,
    /// The key of the project of whoever asks.
    pub(crate) own: &'a str,
}

#[derive(Debug, Serialize)]
pub(crate) struct RulesReply {
    /// By project, the one said last first.
    pub(crate) rules: Vec<RuleRecord>,
    /// What the user dismissed.
    pub(crate) dismissed: Vec<RuleRecord>,
}

/// A rule in the user's words.
#[derive(Debug, Serialize)]
pub(crate) struct RuleRecord {
    pub(crate) id: String,
    /// The project's key.
    pub(crate) project: String,
    pub(crate) text: String,
    /// How often it was said.
    pub(crate) times: usize,
    pub(crate) sessions: usize,
    pub(crate) first_day: String,
    pub(crate) last_day: String,
    /// The newest ones, newest first.
    pub(crate) quotes: Vec<RuleQuote>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RuleQuote {
    /// The whole id.
    pub(crate) session: String,
    /// 0 if it is not known.
    pub(crate) turn: usize,
    pub(crate) day: String,
    pub(crate) text: String,
}

/// What recurs in a project and is known nowhere else, and what of it the user dismissed.
#[derive(Default)]
pub(crate) struct ProjectRules {
    pub(crate) standing: Vec<Recurring>,
    dismissed: Vec<Recurring>,
}

/// The id by which a rule is told: that of its first mention.
pub(crate) fn rule_id(rule: &Recurring) -> String {
    id_of(rule.first())
}

fn id_of(mention: &Mention) -> String {
    mention_id(mention).replacen('u', "r", 1)
}

/// The id under which a mention is dismissed.
pub(crate) fn mention_id(mention: &Mention) -> String {
    short_id("u", &[&mention.session, &mention.text])
}

/// The rules of a project that hold, and that neither a note nor a file which Claude Code reads there says, with its `memory` of the project.
pub(crate) fn rules_of(store: &Memory, key: &str, memory: &ClientMemory) -> Result<ProjectRules> {
    let mut all = recurring(&store.rule_mentions(key)?);
    if all.is_empty() {
        return Ok(ProjectRules::default());
    }
    let overtaken = store.overtaken_in(key)?;
    all.retain(|rule| {
        let says = |text: &str| rule.mentions.iter().any(|mention| mention.text == text);
        !overtaken.iter().any(|one| one.later.at > rule.newest().at && says(&one.earlier.text))
    });
    let notes: Vec<(Millis, Vec<RuleWords>)> =
        store.notes_for(key)?.into_iter().map(|note| (note.at, statements_of(&note.text))).collect();
    all.retain(|rule| {
        let contradicts = |(at, said): &(Millis, Vec<RuleWords>)| *at >= rule.newest().at && rule.is_opposed_in(said);
        !notes.iter().any(|note| rule.is_said_in(&note.1) || contradicts(note))
    });
    let dismissed: HashSet<String> = store.dismissed_rules()?.into_iter().collect();
    let (dismissed, mut standing): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|rule| rule.mentions.iter().any(|mention| dismissed.contains(&mention_id(mention))));
    if !standing.is_empty() {
        let written = written::statements(key, memory);
        standing.retain(|rule| !rule.is_said_in(&written));
    }
    Ok(ProjectRules { standing, dismissed })
}

/// # Errors
/// If the index cannot be read.
pub(crate) fn rules(memory: &OpenMemory, config: &Config, asked: &RulesRequest<'_>) -> Result<RulesReply> {
    let mut reply = RulesReply { rules: Vec::new(), dismissed: Vec::new() };
    for project in projects(&memory.0, config, asked)? {
        let found = rules_of(&memory.0, &project.key, &ClientMemory::of(config, &project.key, &project.key))?;
        let record = |rule: &Recurring| record(rule, &project, config);
        reply.rules.extend(found.standing.iter().map(record));
        reply.dismissed.extend(found.dismissed.iter().map(record));
    }
    Ok(reply)
}

/// The projects that are asked for; without `--project` the own one.
fn projects(store: &Memory, config: &Config, asked: &RulesRequest<'_>) -> Result<Vec<Project>> {
    let filter = ProjectFilter::new(asked.project, config)?;
    let is_meant = |project: &Project| if asked.project.is_some() { filter.fits(project) } else { project.key == asked.own };
    let mut all: Vec<Project> = store.projects()?.into_iter().map(|(_, project)| project).filter(is_meant).collect();
    all.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(all)
}

fn record(rule: &Recurring, project: &Project, config: &Config) -> RuleRecord {
    let day = |at: Millis| config.local_time(Some(at), "%Y-%m-%d");
    let quote =
        |one: &Mention| RuleQuote { session: one.session.clone(), turn: one.turn, day: day(one.at), text: one.text.clone() };
    RuleRecord {
        id: rule_id(rule),
        project: project.key.clone(),
        text: rule.telling().text.clone(),
        times: rule.mentions.len(),
        sessions: rule.sessions(),
        first_day: day(rule.first().at),
        last_day: day(rule.newest().at),
        quotes: rule.mentions.iter().rev().take(MAX_QUOTES).map(quote).collect(),
    }
}

/// A rule with the project in which it was said.
pub(crate) struct FoundRule {
    project: String,
    pub(crate) rule: Recurring,
}

/// The rule with this id, in whatever project it was said: one that was dismissed, or one that was not.
///
/// # Errors
/// When there is none.
pub(crate) fn find(memory: &OpenMemory, config: &Config, id: &str, was_dismissed: bool) -> Result<FoundRule> {
    for (_, project) in memory.0.projects()? {
        let found = rules_of(&memory.0, &project.key, &ClientMemory::of(config, &project.key, &project.key))?;
        let rules = if was_dismissed { found.dismissed } else { found.standing };
        let named = rules.into_iter().find(|rule| rule.mentions.iter().any(|mention| id_of(mention) == id));
        if let Some(rule) = named {
            return Ok(FoundRule { project: project.key, rule });
        }
    }
    match was_dismissed {
        true => bail!("no rule was dismissed as `{id}`: `recall rules` lists what was, with ids"),
        false => bail!("no rule `{id}`: `recall rules` lists rule ids, with `--project` for other projects"),
    }
}

/// Keeps a rule as a note of the user's, a convention of its project.
///
/// # Errors
/// As [`remember`].
pub(crate) fn accept(found: &FoundRule, config: &Config) -> Result<RememberReply> {
    let Contributor { author, reach } = Contributor::user();
    let note = RememberRequest {
        marks: NoteMarks::default(),
        text: found.rule.telling().text.clone(),
        kind: Some(NoteKind::Convention.name().to_owned()),
        audience: Audience::ProjectOf(PathBuf::from(&found.project)),
        author,
        reach,
    };
    remember(config, &note)
}

/// Records that a rule is none, by all of its mentions: what is said of it later joins it. `undo` takes that back.
///
/// # Errors
/// When the index cannot be written.
pub(crate) fn dismiss(found: &FoundRule, undo: bool, memory: OpenMemory, config: &Config, ui: &Ui) -> Result<()> {
    let mut heads = Vec::new();
    for mention in &found.rule.mentions {
        heads.push((memory.0.find_session(&mention.session)?, mention_id(mention)));
    }
    drop(memory);
    let mut store = open_to_change(config, ui)?;
    let now = config.now();
    for (head, id) in heads {
        match undo {
            true => store.undeny(&head, &[&id])?,
            false => store.deny(&head, &[DeniedStatement::rule(id)], now)?,
        }
    }
    bring_up_to_date(&mut store, config, ui)
}
