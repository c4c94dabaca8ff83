//! Why something is as it is: what was said about it, what overtook that, and what stands.

use std::collections::BTreeSet;

use anyhow::Result;
use serde::Serialize;

use crate::analyze::account::{WordKind, without_pasted};
use crate::analyze::prose::sentences_in_any_case;
use crate::app::filter::ProjectFilter;
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::model::since_then::{Overtaken, StatedBy, Statement};
use crate::render::chain::{Chain, ChainLink, OvertakenBy};
use crate::render::quoted::quote;
use crate::store::Memory;
use crate::store::came_since::CameSince;
use crate::store::search::FtsQuery;
use text::clean::{one_line, without_controls};
use text::tokenize::{covered_by, distinctive_words, words_in_any_case};
use transcripts::session::{Millis, Project};

/// The share of the words asked about that a chain has to hold.
const MIN_SHARE: f64 = 0.6;
/// The most sentences of a project, and the most projects, where nothing was overtaken.
const MAX_SAID: usize = 5;
const MAX_TYPED_CHARS: usize = 500;
const MAX_PROJECTS_SAID: usize = 3;
/// The most sessions of a project that are read for answers.
const MAX_SESSIONS_READ: usize = 12;

pub(crate) struct WhyRequest<'a> {
    /// What it is about; all that changed if it is empty.
    pub(crate) words: &'a str,
    /// Only projects that this glob means.
    pub(crate) project: Option<&'a str>,
    /// The key of the project of whoever asks: its chains come first.
    pub(crate) own: &'a str,
}

/// Chains of statements, those of the own project first, then the one that changed last.
#[derive(Debug, Serialize)]
pub(crate) struct WhyReply {
    pub(crate) chains: Vec<Chain>,
    /// Where there is no chain: what was said about it last, by project.
    pub(crate) said: Vec<Chain>,
}

/// # Errors
/// If the index cannot be read, or the project is no glob.
pub(crate) fn why(memory: &OpenMemory, config: &Config, asked: &WhyRequest<'_>) -> Result<WhyReply> {
    let store = &memory.0;
    let words = distinctive_words(&asked.words.to_lowercase());
    let mut chains = Vec::new();
    let filter = ProjectFilter::new(asked.project, config)?;
    for (_, project) in store.projects()?.into_iter().filter(|(_, project)| filter.fits(project)) {
        for links in connected(store.overtaken_in(&project.key)?) {
            let said: String =
                links.iter().flat_map(|one| [&one.earlier.text, " ", &one.later.text, " "]).map(String::from).collect();
            if asked.words.is_empty() || covered_by(&words, &words_in_any_case(&said)) >= MIN_SHARE {
                chains.push(chain(store, config, &project, asked.own, links)?);
            }
        }
    }
    chains.sort_by_key(|chain: &Chain| {
        (chain.elsewhere.is_some(), std::cmp::Reverse(chain.statements.first().map(|newest| newest.at)))
    });
    let mut said = Vec::new();
    if chains.is_empty() && !words.is_empty() {
        for (_, project) in store.projects()?.into_iter().filter(|(_, project)| filter.fits(project)) {
            let about = said_about(store, &project.key, &words)?;
            if !about.is_empty() {
                said.push(chain_of(store, config, &project, asked.own, &about.iter().collect::<Vec<_>>(), &[])?);
            }
        }
        said.sort_by_key(|chain| (chain.elsewhere.is_some(), std::cmp::Reverse(chain.statements.iter().map(|one| one.at).max())));
        said.truncate(MAX_PROJECTS_SAID);
    }
    tell_apart(&mut chains);
    tell_apart(&mut said);
    Ok(WhyReply { chains, said })
}

/// Names projects of one name, as of several people, by their keys as well.
fn tell_apart(chains: &mut [Chain]) {
    let known: BTreeSet<(String, String)> =
        chains.iter().filter_map(|chain| Some((chain.elsewhere.clone()?, chain.project.clone()))).collect();
    for chain in chains {
        let Some(name) = &mut chain.elsewhere else { continue };
        if known.iter().filter(|(other, _)| other == name).count() > 1 {
            *name = format!("{name} ({})", chain.project);
        }
    }
}

/// The sentences of a project that are about these words: notes first, then the user's, then others; the newest of each first.
fn said_about(store: &Memory, project: &str, words: &BTreeSet<String>) -> Result<Vec<Statement>> {
    let rank = |by: &StatedBy| match by {
        StatedBy::Note(..) => 0,
        StatedBy::User(_) => 1,
        _ => 2,
    };
    let came_since = CameSince::new(store);
    let mut found: Vec<Statement> = Vec::new();
    let all = store.statements_since(project, Millis::MIN)?.into_iter();
    // A longer prompt may be pasted for the most part.
    let is_typed = |one: &Statement| !matches!(one.by, StatedBy::User(_)) || one.text.chars().count() <= MAX_TYPED_CHARS;
    for statement in all.filter(is_typed) {
        let sentences = match statement.by {
            StatedBy::User(_) => sentences_in_any_case(&without_pasted(&statement.text)),
            _ => sentences_in_any_case(&statement.text),
        };
        for (at, text) in sentences.iter().enumerate() {
            if !text.ends_with(['?', ':']) && covered_by(words, &words_in_any_case(text)) >= MIN_SHARE {
                let but = sentences.get(at + 1).filter(|next| takes_back(next));
                let text = but.map_or_else(|| text.clone(), |but| format!("{text} {but}"));
                found.push(Statement { text, ..statement.clone() });
            }
        }
    }
    found.extend(answers_about(store, project, words)?);
    found.sort_by_key(|one| (rank(&one.by), std::cmp::Reverse(one.at)));
    let mut told: Vec<Statement> = Vec::new();
    for one in found {
        // What was left to do is done, or what it names is gone.
        let stands = || came_since.of((project, one.by.place()), Some(one.at), [one.text.as_str()]).map(|since| since.is_empty());
        if told.iter().all(|before| before.text != one.text) && stands()? {
            told.push(one);
        }
        if told.len() == MAX_SAID {
            break;
        }
    }
    Ok(told)
}

/// Does a sentence limit what the one before it says?
fn takes_back(next: &str) -> bool {
    let first = next.trim_start_matches(|c: char| !c.is_alphanumeric()).split(|c: char| !c.is_alphanumeric()).next();
    first.is_some_and(|word| ["but", "however", "except", "unless", "though"].contains(&word.to_lowercase().as_str()))
}

/// What the user answered to questions about these words, each with its question. Answers may be words that the assistant proposed: they
/// overtake nothing, and are found here alone.
fn answers_about(store: &Memory, project: &str, words: &BTreeSet<String>) -> Result<Vec<Statement>> {
    let any = words.iter().filter(|word| word.chars().all(char::is_alphanumeric)).map(|word| format!("\"{word}\"")).collect();
    let query = FtsQuery { any, projects: store.project_pk(project)?.map(|pk| vec![pk]), ..FtsQuery::default() };
    if query.any.is_empty() || query.projects.is_none() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let sessions: BTreeSet<i64> = store.ask(&query, MAX_SESSIONS_READ)?.into_iter().filter_map(|hit| hit.session).collect();
    for pk in sessions {
        let Some(account) = store.account_of(pk)? else { continue };
        let id = store.session_head(pk)?.id;
        for word in account.turns.iter().flat_map(|turn| &turn.words) {
            let (Some(at), WordKind::Answered { asked, description }) = (word.at, &word.kind) else { continue };
            if covered_by(words, &words_in_any_case(&format!("{asked} {description} {}", word.text))) >= MIN_SHARE {
                let text = format!("answered {} to {}", quote(&word.text, MAX_TYPED_CHARS), quote(asked, MAX_TYPED_CHARS));
                found.push(Statement { by: StatedBy::User(id.clone()), at, text });
            }
        }
    }
    Ok(found)
}

/// Links that share statements, together.
fn connected(all: Vec<Overtaken>) -> Vec<Vec<Overtaken>> {
    let mut groups: Vec<Vec<Overtaken>> = Vec::new();
    for one in all {
        let touches = |other: &Overtaken| {
            [&other.earlier, &other.later].iter().any(|statement| **statement == one.earlier || **statement == one.later)
        };
        let (mut joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| group.iter().any(touches));
        groups = apart;
        let mut group: Vec<Overtaken> = joined.drain(..).flatten().collect();
        group.push(one);
        groups.push(group);
    }
    groups
}

fn chain(store: &Memory, config: &Config, project: &Project, own: &str, links: Vec<Overtaken>) -> Result<Chain> {
    let mut all: Vec<&Statement> = Vec::new();
    for statement in links.iter().flat_map(|one| [&one.earlier, &one.later]) {
        if !all.contains(&statement) {
            all.push(statement);
        }
    }
    all.sort_by_key(|statement| std::cmp::Reverse(statement.at));
    chain_of(store, config, project, own, &all, &links)
}

fn chain_of(
    store: &Memory,
    config: &Config,
    project: &Project,
    own: &str,
    all: &[&Statement],
    links: &[Overtaken],
) -> Result<Chain> {
    let day = |at: Millis| config.local_time(Some(at), "%Y-%m-%d");
    let link = |statement: &&Statement| {
        let first = links.iter().filter(|one| one.earlier == **statement).min_by_key(|one| one.later.at);
        Ok(ChainLink {
            day: day(statement.at),
            at: statement.at,
            by: statement.by.text(),
            id: statement.by.place().to_owned(),
            turn: turn_of(store, statement)?,
            text: one_line(&without_controls(&statement.text)),
            overtaken: first.map(|one| OvertakenBy { id: one.id.clone(), day: day(one.later.at) }),
        })
    };
    Ok(Chain {
        project: project.key.clone(),
        elsewhere: (project.key != own).then(|| project.name().to_owned()),
        statements: all.iter().map(link).collect::<Result<_>>()?,
    })
}

/// The turn whose words or reply hold a statement.
fn turn_of(store: &Memory, statement: &Statement) -> Result<Option<usize>> {
    let (StatedBy::User(session) | StatedBy::Assistant(session, _)) = &statement.by else { return Ok(None) };
    let Some(account) = store.account_of(store.find_session(session)?.pk)? else { return Ok(None) };
    let at = |turn: &&crate::analyze::account::Turn| {
        let said = turn.words.iter().map(|word| (word.at, word.text.as_str()));
        let replied = turn.reply.iter().map(|reply| (reply.at, reply.text.as_str()));
        said.chain(replied).any(|(at, text)| at == Some(statement.at) || text.contains(&statement.text))
    };
    Ok(account.turns.iter().find(at).map(|turn| turn.number).filter(|number| *number > 0))
}
