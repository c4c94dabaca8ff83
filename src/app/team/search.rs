//! What the server of the team finds: what others shared of projects that the user may read, also of those that are not here.
//!
//! ## Invariants
//! The words of a search leave this machine only as the sanitizer lets them pass, and none do from a folder that the config excludes.

use std::collections::HashSet;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use regex::Regex;
use serde::Serialize;
use team::{Client, Deadlines, Hit, Shared};

use super::PATIENCE;
use super::meaning::{AskedMeaning, joined};
use super::state::TeamState;
use super::to_share::{SESSION, told_kind, without_homes};
use crate::app::asker::Asker;
use crate::config::Config;
use text::clean::{one_line, without_controls};
use transcripts::privacy::Sanitizer;

/// How long before somebody stops to wait everything else has to have ended.
const MARGIN: Duration = Duration::from_millis(100);
/// How many times as many of the nearest are asked for as are told.
const NEAREST_MORE: usize = 3;

/// A search that the server was asked for.
pub(crate) struct AskedTeam {
    answer: Receiver<Result<TeamReply>>,
    /// When nobody waits for it any more.
    until: Instant,
}

/// What the server found.
#[derive(Debug, Default, Serialize)]
pub(crate) struct TeamReply {
    /// Best first.
    pub(crate) results: Vec<TeamHit>,
    /// What keeps this from being all there is.
    pub(crate) notice: Option<String>,
    /// The server found nothing because it was not asked, or gave no answer.
    pub(crate) is_missing: bool,
}

/// Something that a member of the team shared.
#[derive(Debug, Serialize)]
pub(crate) struct TeamHit {
    /// Who shared it: a login of the server.
    pub(crate) team: String,
    /// `convention`, `command`, `session` …
    pub(crate) kind: String,
    /// The id that it has for whoever shared it.
    pub(crate) id: String,
    /// The address of the repository.
    pub(crate) project: String,
    /// `2026-11-19`
    pub(crate) day: String,
    /// One line.
    pub(crate) title: String,
    pub(crate) text: String,
}

impl AskedTeam {
    /// Asks the server, while others look elsewhere.
    ///
    /// # Errors
    /// When the user is in no team, or their config cannot be read.
    pub(crate) fn ask(config: &Config, asker: &Asker<'_>, words: &str, limit: usize) -> Result<Self> {
        let Some(state) = TeamState::load(&config.data_dir)? else {
            bail!("you are in no team: `recall team join URL` joins one");
        };
        let sanitizer = config.sanitizer()?;
        let (found, answer) = channel();
        let until = Instant::now() + PATIENCE;
        let words = match words_to_send(config, asker, &sanitizer, words) {
            Ok(words) => words,
            Err(why) => {
                // The receiver is here.
                let _ = found.send(Err(why));
                return Ok(Self { answer, until });
            }
        };
        let meaning = AskedMeaning::ask(config, &words);
        thread::spawn(move || {
            let tell = |mut reply: TeamReply| {
                // What comes from outside passes as everything does.
                for hit in &mut reply.results {
                    for text in [&mut hit.title, &mut hit.text] {
                        *text = sanitizer.clean(text.as_str());
                    }
                }
                // Nobody may be waiting any more.
                let _ = found.send(Ok(reply));
            };
            if let Err(e) = ask(&state, &words, limit, meaning, until, tell) {
                let _ = found.send(Err(e));
            }
        });
        Ok(Self { answer, until })
    }

    /// What the server found, or why it did not.
    pub(crate) fn reply(self) -> TeamReply {
        let without =
            |why: String| TeamReply { results: Vec::new(), notice: Some(format!("your team's server: {why}")), is_missing: true };
        let mut reply = without(format!("no answer within {} s", PATIENCE.as_secs()));
        // What comes later is better.
        while let Ok(answer) = self.answer.recv_timeout(self.until.saturating_duration_since(Instant::now())) {
            reply = answer.unwrap_or_else(|e| without(one_line(&without_controls(&format!("{e:#}")))));
        }
        reply
    }
}

/// The words of a search as they may leave this machine: without secrets, private blocks and homes.
///
/// # Errors
/// When the folder is excluded, or nothing is left of them.
fn words_to_send(config: &Config, asker: &Asker<'_>, sanitizer: &Sanitizer, words: &str) -> Result<String> {
    static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[REDACTED[^\]]*\]").ok());
    ensure!(!asker.is_excluded(), "not asked: your config excludes this folder");
    let clean = sanitizer.clean(without_homes(words, &config.home.to_string_lossy()));
    // Nobody's record has what stands for a secret.
    let clean = MARK.as_ref().map_or_else(|| clean.clone(), |mark| mark.replace_all(&clean, " ").into_owned());
    ensure!(clean.chars().any(char::is_alphanumeric), "not asked: nothing of these words may leave this machine");
    Ok(clean)
}

/// Tells what has the words, and then once more with what is near to them, if there is a model.
fn ask(
    state: &TeamState,
    words: &str,
    limit: usize,
    meaning: Result<Option<AskedMeaning>>,
    until: Instant,
    tell: impl Fn(TeamReply),
) -> Result<()> {
    let deadlines = Deadlines { ask: PATIENCE, search: PATIENCE - MARGIN, ..Deadlines::default() };
    let mut client = Client::join(&state.url, &state.machine, deadlines)?;
    let readable: Vec<String> = client.listed_projects().iter().filter(|one| one.may_read).map(|one| one.name.clone()).collect();
    let readable: Vec<&str> = readable.iter().map(String::as_str).collect();
    let found = client.search(&readable, words, limit)?;
    let incomplete = (!found.complete).then(|| "your team's server had no time to look for similar words".to_owned());
    let without_meaning = |why: &str| Some(format!("your team's server was searched by words only, not by meaning: {why}"));
    // What is here already is found here.
    let is_here = |hit: &Hit| hit.record.kind != SESSION && state.read_to.contains_key(&hit.project);
    let of_others = |hit: &Hit| hit.record.machine != state.machine && !is_here(hit);
    let tell = |hits: Vec<Hit>, notice: Option<String>| {
        // What two machines of somebody shared is told once.
        let mut known = HashSet::new();
        let mut is_new = |hit: &Hit| {
            let Shared { member, kind, id, .. } = &hit.record;
            known.insert((*member, hit.project.clone(), kind.clone(), id.clone()))
        };
        let results = hits.into_iter().filter(|hit| of_others(hit) && is_new(hit)).filter_map(told).take(limit).collect();
        tell(TeamReply { results, notice: incomplete.clone().or(notice), is_missing: false });
    };
    let asked = match meaning {
        Ok(None) => {
            tell(found.hits, None);
            return Ok(());
        }
        asked => asked.transpose(),
    };
    tell(found.hits.clone(), without_meaning("no vector in time"));
    // More than are told: those of the user are not.
    let near = asked.map(|asked| asked?.nearest(&mut client, &readable, limit.saturating_mul(NEAREST_MORE), until - MARGIN));
    match near.transpose() {
        Ok(near) => {
            let (nearest, weight) = near.unwrap_or_default();
            tell(joined(found, nearest, weight), None);
        }
        Err(e) => tell(found.hits, without_meaning(&one_line(&without_controls(&format!("{e:#}"))))),
    }
    Ok(())
}

/// As it is told: everything in it was written by somebody else.
pub(super) fn told(hit: Hit) -> Option<TeamHit> {
    let body = hit.record.body?;
    let field = |name: &str| body.get(name).and_then(|value| value.as_str()).unwrap_or_default();
    let line = |text: &str| one_line(&without_controls(text));
    let lines = |text: &str| text.lines().map(without_controls).collect::<Vec<_>>().join("\n");
    let title = if hit.record.kind == SESSION { line(field("title")) } else { line(field("text")) };
    Some(TeamHit {
        team: line(hit.record.login.as_deref().unwrap_or("somebody who left")),
        kind: line(told_kind(&hit.record.kind)),
        id: line(&hit.record.id),
        project: line(&hit.project),
        day: line(field("day")),
        title,
        text: lines(field("text")),
    })
}
