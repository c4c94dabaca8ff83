//! The other sessions, newest first, each with what later ones know of its commits and pull requests.

use std::collections::HashMap;
use std::iter::Peekable;
use std::rc::Rc;

use anyhow::Result;

use super::undigested::UndigestedSession;
use super::{Gatherer, IndexedProject, day};
use crate::analyze::account::SessionAccount;
use crate::model::session::Millis;
use crate::render::quoted;
use crate::render::session_start::SessionLine;
use crate::store::recent::RecentSession;

/// The most pull requests of a session's line.
const MAX_PULL_REQUESTS: usize = 2;

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
    merged: Vec<String>,
}

impl LaterEvidence {
    /// The last commit that stands and the pull requests of a session, as they are known now.
    fn shipped(&self, account: &SessionAccount) -> Vec<String> {
        let hash = account.commits.last().and_then(|commit| {
            let own = Some(&commit.hash).filter(|hash| !commit.hash_is_stale && !hash.is_empty());
            self.commits.get(&commit.subject).or(own)
        });
        let number = |pr: &crate::analyze::account::PullRequest| {
            let merged = if pr.merged || self.merged.contains(&pr.number) { " merged" } else { "" };
            format!("PR #{}{merged}", pr.number)
        };
        let prs = account.pull_requests.iter().rev().take(MAX_PULL_REQUESTS).map(number);
        hash.map(|hash| format!("commit {hash}")).into_iter().chain(prs).collect()
    }

    fn add(&mut self, account: &SessionAccount) {
        for commit in account.commits.iter().filter(|commit| !commit.hash.is_empty() && !commit.hash_is_stale) {
            self.commits.entry(commit.subject.clone()).or_insert_with(|| commit.hash.clone());
        }
        self.merged.extend(account.pull_requests.iter().filter(|pr| pr.merged).map(|pr| pr.number.clone()));
    }
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
            line.shipped = later.shipped(account);
            later.add(account);
            if let Some(reply) = account.turns.iter().rev().find_map(|turn| turn.reply.as_ref()) {
                line.last_reply.clone_from(&reply.text);
                line.cut_off = reply.cut_off;
            }
        }
        line.title = title.or_else(|| account.as_deref().and_then(quoted::title)).unwrap_or_default();
        Ok(line)
    }
}
