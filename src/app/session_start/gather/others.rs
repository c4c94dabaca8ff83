//! The other sessions, newest first, each with what later ones know of its commits and pull requests.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::rc::Rc;

use anyhow::Result;

use super::undigested::UndigestedSession;
use super::{Gatherer, IndexedProject, day};
use crate::analyze::account::{PullRequest, SessionAccount, longer_reply};
use crate::model::session::Millis;
use crate::render::quoted;
use crate::render::session_start::SessionLine;
use crate::store::recent::RecentSession;

/// The most pull requests of a session's line.
const MAX_PULL_REQUESTS: usize = 2;

/// A shorter reply says little of what was done, in characters.
const LITTLE_CHARS: usize = 120;
/// A shorter subject may be that of another commit, in characters.
const TELLING_SUBJECT_CHARS: usize = 12;

/// A session as far as it is known.
pub(super) enum Candidate {
    Digested(RecentSession),
    Undigested(Box<UndigestedSession>),
}

impl Candidate {
    fn last_at(&self) -> Millis {
        match self {
            Self::Digested(one) => one.last_at,
            Self::Undigested(one) => one.last_at,
        }
    }
}

/// All sessions, newest first; one with an end that no digest covers is told once, with that end. Both lists are newest first.
pub(super) fn candidates(
    undigested: Vec<UndigestedSession>,
    digested: impl Iterator<Item = RecentSession>,
) -> impl Iterator<Item = Candidate> {
    let known: Vec<String> = undigested.iter().map(|one| one.session.clone()).collect();
    Merged {
        undigested: undigested.into_iter().map(|one| Candidate::Undigested(Box::new(one))).peekable(),
        digested: digested.filter(move |one| !known.contains(&one.id)).map(Candidate::Digested).peekable(),
    }
}

struct Merged<A: Iterator<Item = Candidate>, B: Iterator<Item = Candidate>> {
    undigested: Peekable<A>,
    digested: Peekable<B>,
}

impl<A: Iterator<Item = Candidate>, B: Iterator<Item = Candidate>> Iterator for Merged<A, B> {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        match (self.undigested.peek(), self.digested.peek()) {
            (Some(fresh), Some(other)) if fresh.last_at() < other.last_at() => self.digested.next(),
            (Some(_), _) => self.undigested.next(),
            (None, _) => self.digested.next(),
        }
    }
}

/// What the sessions so far, all later than the next one, know of commits and pull requests.
#[derive(Default)]
pub(super) struct LaterEvidence {
    /// Hashes by subject.
    commits: HashMap<String, String>,
    merged: HashSet<String>,
}

impl LaterEvidence {
    /// Gives an earlier session's commits the hashes that they have now, and marks the pull requests that were merged since.
    pub(super) fn amend(&self, account: &mut SessionAccount) {
        for commit in account.commits.iter_mut().filter(|commit| commit.subject.chars().count() >= TELLING_SUBJECT_CHARS) {
            let Some(hash) = self.commits.get(&commit.subject) else { continue };
            let is_same = !commit.hash.is_empty() && (hash.starts_with(&commit.hash) || commit.hash.starts_with(hash.as_str()));
            if !is_same {
                commit.hash.clone_from(hash);
            }
            commit.hash_is_stale = false;
        }
        for pr in account.pull_requests.iter_mut().filter(|pr| self.merged.contains(&pr.number)) {
            pr.merged = true;
        }
    }

    pub(super) fn add(&mut self, account: &SessionAccount) {
        let own = account.commits.iter().filter(|commit| !commit.hash.is_empty() && !commit.hash_is_stale);
        let own = own.map(|commit| (&commit.subject, &commit.hash));
        // What was made comes first: what was shown may be older.
        for (subject, hash) in own.chain(account.seen.iter().map(|seen| (&seen.subject, &seen.hash))) {
            self.commits.entry(subject.clone()).or_insert_with(|| hash.clone());
        }
        self.merged.extend(account.seen.iter().filter_map(|seen| seen.merged()).map(str::to_owned));
        self.merged.extend(account.pull_requests.iter().filter(|pr| pr.merged).map(|pr| pr.number.clone()));
    }
}

/// The hash of the commit that the title names, and the pull requests that it made.
fn shipped(account: &SessionAccount) -> Vec<String> {
    let commit = account.main_commit().filter(|commit| !commit.hash_is_stale && !commit.hash.is_empty());
    let told = |pr: &PullRequest| format!("PR #{}{}", pr.number, if pr.merged { " merged" } else { "" });
    let prs = account.pull_requests.iter().rev().filter(|pr| pr.made).take(MAX_PULL_REQUESTS).map(told);
    commit.map(|commit| format!("commit {}", commit.hash)).into_iter().chain(prs).collect()
}

impl Gatherer<'_> {
    pub(super) fn line(
        &self,
        known: Option<&IndexedProject<'_>>,
        one: &Candidate,
        later: &mut LaterEvidence,
    ) -> Result<SessionLine> {
        let (session, account, title, goes_on) = match (one, known) {
            (Candidate::Undigested(one), _) => (&one.session, Some(Rc::new(one.account.clone())), None, false),
            (Candidate::Digested(one), None) => (&one.id, None, one.title.clone(), one.goes_on),
            (Candidate::Digested(one), Some(known)) => {
                let account = known.account(one.pk)?;
                let is_named = account.as_ref().is_some_and(|account| quoted::title(account).is_some());
                let title = match &one.title {
                    Some(title) if one.by_model || !is_named => Some(title.clone()),
                    None if !is_named => known.store.title_of(one.pk)?,
                    _ => None,
                };
                (&one.id, account, title, one.goes_on)
            }
        };
        let mut line = SessionLine {
            session: session.clone(),
            when: day(one.last_at(), self.config),
            goes_on,
            undigested: matches!(one, Candidate::Undigested(_)),
            ..SessionLine::default()
        };
        if let Some(account) = &account {
            let mut amended = SessionAccount::clone(account);
            later.amend(&mut amended);
            line.shipped = shipped(&amended);
            later.add(account);
            let replied = account.turns.iter().rposition(|turn| turn.reply.is_some());
            if let Some((at, reply)) = replied.and_then(|at| Some((at, account.turns[at].reply.as_ref()?))) {
                line.last_reply.clone_from(&reply.text);
                line.cut_off = reply.cut_off;
                let says_little = reply.text.chars().count() < LITTLE_CHARS;
                let longer = longer_reply(&account.turns[..at]).filter(|_| says_little).map(|at| &account.turns[at]);
                line.earlier = longer.and_then(|turn| Some((turn.number, turn.reply.as_ref()?.text.clone())));
            }
        }
        line.title = title.or_else(|| account.as_deref().and_then(quoted::title)).unwrap_or_default();
        Ok(line)
    }
}
