//! The other sessions, newest first, each with what later ones know of its commits and pull requests.

use std::collections::{HashMap, HashSet};
use std::iter::Peekable;
use std::rc::Rc;

use anyhow::Result;

use super::undigested::UndigestedSession;
use super::{Gatherer, IndexedProject, day};
use crate::analyze::account::{Commit, PullRequest, SessionAccount, last_reply, longer_reply};
use crate::model::session::Millis;
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
    Undigested(UndigestedSession),
}

impl Candidate {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Digested(one) => &one.id,
            Self::Undigested(one) => &one.session,
        }
    }

    pub(super) fn last_at(&self) -> Millis {
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
        undigested: undigested.into_iter().map(Candidate::Undigested).peekable(),
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
        for commit in &mut account.commits {
            let Some(hash) = self.hash_of(commit).map(str::to_owned) else { continue };
            (commit.hash, commit.hash_is_stale) = (hash, false);
        }
        for pr in &mut account.pull_requests {
            pr.merged |= self.merged.contains(&pr.number);
        }
    }

    /// The hash that a commit has now, if a later session knows it: its own where that is the same one.
    fn hash_of<'c>(&'c self, commit: &'c Commit) -> Option<&'c str> {
        let hash = self.commits.get(&commit.subject).filter(|_| commit.subject.chars().count() >= TELLING_SUBJECT_CHARS)?;
        let own = Some(&commit.hash).filter(|own| !own.is_empty() && (hash.starts_with(*own) || own.starts_with(hash.as_str())));
        Some(own.unwrap_or(hash))
    }

    /// The hash of the commit that a session's title names, and the pull requests that it made, as they are known now.
    fn made(&self, account: &SessionAccount) -> Vec<String> {
        let hash = account.main_commit().and_then(|commit| {
            let own = Some(commit.hash.as_str()).filter(|hash| !commit.hash_is_stale && !hash.is_empty());
            self.hash_of(commit).or(own)
        });
        let is_merged = |pr: &PullRequest| pr.merged || self.merged.contains(&pr.number);
        let told = |pr: &PullRequest| format!("PR #{}{}", pr.number, if is_merged(pr) { " merged" } else { "" });
        let prs = account.pull_requests.iter().rev().filter(|pr| pr.made).take(MAX_PULL_REQUESTS).map(told);
        hash.map(|hash| format!("commit {hash}")).into_iter().chain(prs).collect()
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

impl Gatherer<'_> {
    pub(super) fn account(&self, known: Option<&IndexedProject<'_>>, of: &Candidate) -> Result<Option<Rc<SessionAccount>>> {
        match (of, known) {
            (Candidate::Undigested(one), _) => Ok(Some(Rc::clone(&one.account))),
            (Candidate::Digested(one), Some(known)) => known.account(one.pk),
            (Candidate::Digested(_), None) => Ok(None),
        }
    }

    pub(super) fn line(
        &self,
        known: Option<&IndexedProject<'_>>,
        one: &Candidate,
        later: &mut LaterEvidence,
    ) -> Result<SessionLine> {
        let account = self.account(known, one)?;
        let named = account.as_deref().and_then(|account| account.title.text());
        let (title, goes_on) = match one {
            Candidate::Undigested(_) => (None, false),
            Candidate::Digested(one) => (one.title.clone().filter(|_| one.by_model || named.is_none()), one.goes_on),
        };
        let title = match (title.or(named), one, known) {
            (None, Candidate::Digested(one), Some(known)) => known.store.title_of(one.pk)?,
            (title, ..) => title,
        };
        let mut line = SessionLine {
            session: one.id().to_owned(),
            when: day(one.last_at(), self.config),
            title: title.unwrap_or_default(),
            goes_on,
            undigested: matches!(one, Candidate::Undigested(_)),
            ..SessionLine::default()
        };
        if let Some(account) = &account {
            line.made = later.made(account);
            later.add(account);
            if let Some((at, reply)) = last_reply(&account.turns) {
                line.last_reply.clone_from(&reply.text);
                line.cut_off = reply.cut_off;
                let says_little = reply.text.chars().count() < LITTLE_CHARS;
                let longer = longer_reply(&account.turns[..at]).filter(|_| says_little);
                line.earlier = longer.map(|(at, reply)| (account.turns[at].number, reply.text.clone()));
            }
        }
        Ok(line)
    }
}
