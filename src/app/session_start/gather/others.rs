//! The other sessions, newest first, each with what later ones know of its commits and pull requests.

use std::iter::Peekable;
use std::rc::Rc;

use anyhow::Result;

use super::undigested::UndigestedSession;
use super::{Gatherer, IndexedProject, day};
use crate::analyze::account::{LaterEvidence, SessionAccount, last_reply, longer_reply};
use crate::render::session_start::SessionLine;
use crate::store::recent::RecentSession;
use transcripts::session::Millis;

/// A shorter reply says little of what was done, in characters.
const LITTLE_CHARS: usize = 120;

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
            if let Some((at, reply)) = last_reply(&account.turns) {
                line.made
                    .extend(later.renamed(account).filter(|renamed| renamed.stands_in(&reply.text)).map(|renamed| renamed.text()));
                if let Some(known) = known {
                    let since = known.came_since(one.id(), one.last_at(), &[&reply.text])?;
                    line.made.extend(since.iter().map(|one| one.line(|at| day(at, self.config))));
                }
                line.last_reply.clone_from(&reply.text);
                line.cut_off = reply.cut_off;
                let says_little = reply.text.chars().count() < LITTLE_CHARS;
                let longer = longer_reply(&account.turns[..at]).filter(|_| says_little);
                line.earlier = longer.map(|(at, reply)| (account.turns[at].number, reply.text.clone()));
            }
            later.add(account);
        }
        Ok(line)
    }
}
