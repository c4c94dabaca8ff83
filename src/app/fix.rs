//! An error that was met before: where, and what was done before the check passed. Rows are told, and nothing is judged.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use anyhow::Result;
use serde::Serialize;

use crate::analyze::failures::{Asked, Fit};
use crate::app::filter::ProjectFilter;
use crate::app::open_memory::OpenMemory;
use crate::config::Config;
use crate::render::known_failure::{KnownFailure, PassedElsewhere, PassedLater};
use crate::store::Reader;
use crate::store::failures::MetFailure;
use text::clean::{counted, one_line, without_controls};
use transcripts::session::{Millis, Project};
use transcripts::shell::{whole, work_of};

/// The most lines of what is asked about that are looked at: outputs are pasted whole.
const MAX_ASKED_LINES: usize = 400;

pub(crate) struct FixRequest<'a> {
    /// An error line, a part of one, or output that holds some.
    pub(crate) error: &'a str,
    pub(crate) project: Option<&'a str>,
    /// The key of the project of whoever asks: what was met there comes first.
    pub(crate) own: &'a str,
    pub(crate) limit: usize,
}

/// What was met, those of the own project first, then those whose check passed later, then the newest.
#[derive(Debug, Serialize)]
pub(crate) struct FixReply {
    pub(crate) times: usize,
    pub(crate) sessions: usize,
    /// The day on which it was met last.
    pub(crate) last: Option<String>,
    pub(crate) failures: Vec<KnownFailure>,
    /// What was asked says no more than that something failed.
    #[serde(skip)]
    pub(crate) too_general: bool,
}

impl FixReply {
    /// How often it was met; `None` if it never was.
    pub(crate) fn heading(&self) -> Option<String> {
        let (times, sessions) = (counted(self.times, "time"), counted(self.sessions, "session"));
        self.last.as_ref().map(|last| format!("occurred {times} in {sessions}, last on {last}"))
    }
}

/// # Errors
/// If the index cannot be read, or the project's pattern is none.
pub(crate) fn fix(memory: &OpenMemory, config: &Config, asked: &FixRequest<'_>) -> Result<FixReply> {
    let store = &memory.0;
    let projects = ProjectFilter::new(asked.project, config)?;
    let pasted: Vec<&str> = asked.error.lines().filter(|line| !line.trim().is_empty()).take(MAX_ASKED_LINES).collect();
    let lines: Vec<Asked> = (0..pasted.len()).filter_map(|at| Asked::of(&whole(&pasted[at..]))).collect();
    let fits: Vec<(Fit, String)> = store
        .failure_signatures()?
        .into_iter()
        .filter_map(|known| Some((lines.iter().filter_map(|line| line.fit(&known)).max()?, known)))
        .collect();
    // The error itself is known, or what holds it.
    let best = fits.iter().map(|(fit, _)| *fit).max();
    let mut met: Vec<MetFailure> = Vec::new();
    for (_, signature) in fits.iter().filter(|(fit, _)| Some(*fit) == best) {
        met.extend(store.failures_with(signature)?.into_iter().filter(|one| projects.fits(&one.project)));
    }
    met.sort_by_key(|one| one.failure.at);
    // Several lines of one run may fit.
    let is_same = |one: &MetFailure, other: &MetFailure| {
        (&one.session, one.failure.at, &one.failure.command) == (&other.session, other.failure.at, &other.failure.command)
    };
    met.dedup_by(|later, one| is_same(later, one));
    let day = |at: Option<Millis>| config.local_time(at, "%Y-%m-%d");
    let sessions: BTreeSet<&str> = met.iter().map(|one| one.session.as_str()).collect();
    let (times, sessions) = (met.len(), sessions.len());
    let last = met.last().map(|one| day(one.failure.at));
    let mut failures: Vec<KnownFailure> = by_session(met).iter().map(|group| known(group, asked.own, &day)).collect();
    failures.sort_by_key(|one| (one.elsewhere.is_some(), one.passed.is_none(), Reverse(one.at)));
    failures.truncate(asked.limit);
    for one in failures.iter_mut().filter(|one| one.passed.is_none() || one.again_in_turn.is_some()) {
        one.passed_elsewhere = passed_elsewhere(store, one, &day)?;
    }
    Ok(FixReply { times, sessions, last, failures, too_general: lines.is_empty() })
}

/// The newest session that met an error with one of these signatures and whose check was seen to pass in the end, of the own project if there is
/// one; not this `session` itself.
pub(super) fn proven(
    store: &Reader,
    config: &Config,
    signatures: &[String],
    own: &str,
    session: &str,
) -> Result<Option<(String, KnownFailure)>> {
    let day = |at: Option<Millis>| config.local_time(at, "%Y-%m-%d");
    for signature in signatures {
        let mut met = store.failures_with(signature)?;
        met.retain(|one| one.session != session);
        let all = by_session(met).into_iter().map(|group| known(&group, own, &day));
        let proven = all.filter(|one| one.passed.is_some() && one.again_in_turn.is_none());
        if let Some(best) = proven.min_by_key(|one| (one.elsewhere.is_some(), Reverse(one.at))) {
            return Ok(Some((signature.clone(), best)));
        }
    }
    Ok(None)
}

/// The first later session of the project in which the check of a failure ran last and passed: the same, or one that looks at more.
fn passed_elsewhere(
    store: &Reader,
    failure: &KnownFailure,
    day: &impl Fn(Option<Millis>) -> String,
) -> Result<Option<PassedElsewhere>> {
    let root = failure.project.trim_end_matches('/');
    let relative = |path: &str| {
        let inside = path.strip_prefix(root).filter(|inside| inside.is_empty() || inside.starts_with('/'));
        let path = inside.map_or(path, |inside| inside.trim_start_matches('/'));
        path.trim_start_matches("./").trim_end_matches('/').to_owned()
    };
    let failed = work_of(&failure.command, "", relative);
    let (Some(at), Some(project)) = (failure.at, store.project_pk(&failure.project)?) else { return Ok(None) };
    if failed.is_empty() {
        return Ok(None);
    }
    let mut found = None;
    store.for_each_command(project, |session, used| {
        let is_later = used.passed_last && used.at.is_some_and(|then| then > at) && session != failure.session;
        if found.is_some() || !is_later {
            return;
        }
        let passed = work_of(&used.line, &used.folder, relative);
        if failed.iter().all(|check| passed.iter().any(|later| later.covers(check))) {
            let command = one_line(&without_controls(&used.line));
            found = Some(PassedElsewhere { session, day: day(used.at), command });
        }
    })?;
    Ok(found)
}

/// Those with one signature of one session together, in order.
fn by_session(met: Vec<MetFailure>) -> Vec<Vec<MetFailure>> {
    let mut groups: Vec<Vec<MetFailure>> = Vec::new();
    for one in met {
        let is_same =
            |group: &&mut Vec<MetFailure>| group[0].session == one.session && group[0].failure.signature == one.failure.signature;
        match groups.iter_mut().find(is_same) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// One that stands for all of its session: the first one before the run that passed last, which all that was done lies behind.
fn known(group: &[MetFailure], own: &str, day: &impl Fn(Option<Millis>) -> String) -> KnownFailure {
    let passed_at = |one: &MetFailure| one.failure.passed.as_ref().map(|passed| passed.at);
    let last_pass = group.iter().rev().find_map(passed_at);
    let newest = &group[group.len() - 1];
    let shown = group.iter().find(|one| last_pass.is_some() && passed_at(one) == last_pass).unwrap_or(newest);
    let plain = |text: &str| one_line(&without_controls(text));
    let MetFailure { project, session, failure } = shown;
    let Project { key } = project;
    KnownFailure {
        project: key.clone(),
        elsewhere: (key != own).then(|| project.name().to_owned()),
        session: session.clone(),
        turn: failure.turn,
        day: day(failure.at),
        at: failure.at,
        times: group.len(),
        in_turns: (group[0].failure.turn, newest.failure.turn),
        error: plain(&failure.line),
        command: plain(&failure.command),
        passed_elsewhere: None,
        again_in_turn: (last_pass.is_some() && newest.failure.passed.is_none()).then_some(newest.failure.turn),
        passed: failure.passed.as_ref().map(|passed| PassedLater {
            command: plain(&passed.command),
            turn: passed.turn,
            at: passed.at,
            changed: plain(&passed.between.changed),
            ran: plain(&passed.between.ran),
        }),
    }
}
