//! Digests without the model, of any number of sessions: made by all cores, stored by one, the session that began first in front.
//!
//! In this order what a session had left open is known, mostly, when a later one asks for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use indicatif::ProgressBar;

use super::make::{Maker, Run};
use super::report::Report;
use crate::config::SummarizerChoice;
use crate::digest::{Digest, OpenItem};
use crate::extract::extract;
use crate::fault;
use crate::select::Skip;
use crate::session::digest_of;
use crate::stop;
use crate::store::Store;
use crate::store::basis::Basis;
use crate::store::crew::PART;
use crate::store::digests::{DigestState, NewDigest};
use crate::store::load::SessionHead;
use crate::summarize::{Input, Request, finish};

/// So many sessions' open items are held at most. Asked for are those of the last days.
const MAX_LEFT: usize = 4096;

/// What whole sessions left open, by session. Each is found out once, by whoever asks first; others wait for it.
#[derive(Default)]
pub(super) struct Left(Mutex<HashMap<i64, LeftOpen>>);

/// `None` until it is found out.
type LeftOpen = Arc<Mutex<Option<Vec<OpenItem>>>>;

impl Left {
    pub(super) fn of(&self, session: i64) -> LeftOpen {
        let mut all = locked(&self.0);
        if all.len() >= MAX_LEFT {
            all.clear();
        }
        all.entry(session).or_default().clone()
    }
}

/// What a thread that panicked has left is as good as before.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The open items of a digest.
pub(super) fn left_by(digest: &Digest, head: &SessionHead) -> Vec<OpenItem> {
    digest.open_items(&head.id).map(|(id, _, claim)| OpenItem { id, text: claim.text.clone(), session: head.pk }).collect()
}

/// A digest on its way into the index.
pub(super) struct Extracted {
    input_hash: [u8; 32],
    /// `None`: the one that is stored holds.
    digest: Option<Digest>,
    /// `None`: what is on record of that holds, too.
    basis: Option<Basis>,
}

impl Maker<'_> {
    /// Is it known from the start that the model is not asked about a session?
    pub(super) fn goes_alone(&self, not_now: Option<&Skip>) -> bool {
        self.config.digest.summarizer == SummarizerChoice::Extract || self.model.is_err() || not_now.is_some()
    }

    /// Why the model, which stays wanted, does not make the digest of such a session; `None` when it is not wanted.
    fn why_alone(&self, not_now: Option<Skip>) -> Option<Skip> {
        match &self.model {
            _ if not_now == Some(Skip::Backlog) || self.config.digest.summarizer == SummarizerChoice::Extract => None,
            Err(why) => Some(Skip::NoModel(why.clone())),
            Ok(_) => not_now,
        }
    }

    pub(super) fn make_alone(&self, run: &mut Run<'_>, sessions: Vec<(SessionHead, Option<Skip>)>) -> Result<()> {
        let mut sessions: Vec<_> = sessions.into_iter().map(|(head, not_now)| (head, self.why_alone(not_now))).collect();
        sessions.sort_by(|(a, _), (b, _)| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        let (store, report, bar) = (&*run.store, &mut *run.report, &run.bar);
        let make = |store: &Store, (head, skip): &(SessionHead, Option<Skip>)| self.made_alone(store, head, skip.is_some());
        sessions.chunks(PART).try_for_each(|part| {
            store.each_in_order(stop::asked, part, make, |(head, skip), made| {
                let (open, made) = made?;
                self.store_extracted(store, report, bar, head, skip.as_ref(), (&open, made))
            })
        })
    }

    /// A session's digest, with what it was shown as open.
    fn made_alone(&self, store: &Store, head: &SessionHead, queued: bool) -> Result<(Vec<OpenItem>, Extracted)> {
        if head.only_shown && self.is_shown_the_same(store, head, queued)? {
            return Ok((Vec::new(), Extracted { input_hash: [0; 32], digest: None, basis: None }));
        }
        let left = self.left.of(head.pk);
        // Who asks what the session left open waits until that is known, and no longer: nobody waits for anybody's whole digest.
        let mut known = locked(&left);
        let session = store.load_session(head)?;
        let digest = extract(&session);
        *known = Some(left_by(&digest, head));
        drop(known);
        let open = self.open_before(store, head, session.began_at())?;
        let input = Input { session, open, request: Request::default() };
        let made = self.extracted(store, head, &input, queued, digest)?;
        Ok((input.open, made))
    }

    /// Does the digest of a session of which nothing changed hold, because the sessions before it left open what they had?
    fn is_shown_the_same(&self, store: &Store, head: &SessionHead, queued: bool) -> Result<bool> {
        let Some(basis) = store.basis_of(head)? else { return Ok(false) };
        let holds = store.digest_state(head.pk)?.is_some_and(|state| state.summarizer == "extract" && state.queued == queued);
        let shown = self.open_before(store, head, basis.began)?;
        Ok(holds && shown.iter().map(|item| &item.id).eq(&basis.shown))
    }

    /// Makes a digest without the model and stores it; `skip` is why the model, which stays wanted, did not make it.
    pub(super) fn make_one_alone(&self, run: &mut Run<'_>, head: &SessionHead, input: &Input, skip: Option<Skip>) -> Result<()> {
        let made = self.extracted(run.store, head, input, skip.is_some(), extract(&input.session))?;
        self.store_extracted(run.store, run.report, &run.bar, head, skip.as_ref(), (&input.open, made))
    }

    /// What becomes of a digest that knows nothing yet of the sessions before.
    fn extracted(&self, store: &Store, head: &SessionHead, input: &Input, queued: bool, mut digest: Digest) -> Result<Extracted> {
        let input_hash = hash_of(input)?;
        let basis = Some(Basis::new(input.session.began_at(), &input.open, &left_by(&digest, head)));
        let state = store.digest_state(head.pk)?;
        let holds = |s: &DigestState| s.summarizer == "extract" && !s.interim && s.input_hash == input_hash && s.queued == queued;
        let same = state.as_ref().is_some_and(holds);
        let paid = state.is_some_and(|s| s.summarizer == "claude") && !head.dirty;
        if same || paid && self.wanted.asked_for != Some(SummarizerChoice::Extract) {
            return Ok(Extracted { input_hash, digest: None, basis });
        }
        finish(&mut digest, input);
        Ok(Extracted { input_hash, digest: Some(self.passed(digest)), basis })
    }

    fn store_extracted(
        &self,
        store: &Store,
        report: &mut Report,
        bar: &ProgressBar,
        head: &SessionHead,
        skip: Option<&Skip>,
        (open, made): (&[OpenItem], Extracted),
    ) -> Result<()> {
        match made.digest {
            None => {
                store.refresh_pages(head.pk)?;
                made.basis.iter().try_for_each(|basis| store.note_basis(head.pk, basis))?;
            }
            Some(digest) => {
                let new = NewDigest {
                    summarizer: "extract",
                    model: None,
                    input_hash: made.input_hash,
                    made_at: self.now,
                    cost_usd: None,
                    queued: skip.is_some(),
                    interim_until: None,
                    open,
                    basis: made.basis,
                    digest,
                };
                store.save_digest(head, &new)?;
                fault::point("extract stored");
                report.sessions_digested += 1;
            }
        }
        if let Some(skip) = skip {
            store.note_skip(head.pk, &skip.to_string())?;
        }
        bar.inc(1);
        Ok(())
    }
}

/// Of everything an extractive digest depends on.
fn hash_of(input: &Input) -> Result<[u8; 32]> {
    let mut bytes = Vec::new();
    for entry in &input.session.entries {
        bytes.extend_from_slice(&entry.key.0);
        serde_json::to_writer(&mut bytes, &(&entry.at, &entry.agent, &entry.item, &entry.outcome))?;
    }
    let open: Vec<&str> = input.open.iter().map(|o| o.id.as_str()).collect();
    Ok(digest_of(&[b"extract", env!("CARGO_PKG_VERSION").as_bytes(), &bytes, open.join(" ").as_bytes()]))
}
