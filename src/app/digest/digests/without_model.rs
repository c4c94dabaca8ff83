//! Digests without a model, for any number of sessions.
//!
//! All cores make them; one thread stores, earliest session first. In this order the open items of earlier sessions are mostly
//! known by the time a later session needs them.

use anyhow::Result;

use super::SESSIONS_TOGETHER;
use super::run_state::RunState;
use crate::analyze::account::{ACCOUNT_RULES, AccountToStore, SessionAccount};
use crate::analyze::eligibility::SkipReason;
use crate::analyze::without_model::{closed_items, deeds, digest, left_open};
use crate::app::digest::in_hand::SessionInHand;
use crate::app::digest::maker::{DigestMaker, lock_unpoisoned, open_items};
use crate::app::digest::report::Report;
use crate::config::SummarizerChoice;
use crate::model::digest::{Digest, OpenItem, WITHOUT_MODEL, is_by_model};
use crate::model::session_head::SessionHead;
use crate::store::digest_inputs::DigestInputs;
use crate::store::digests::{DigestState, NewDigest};
use crate::store::packed::{PackedAccount, PackedDigest};
use crate::store::search::{DocumentBatch, MadeDocument};
use crate::store::worker_pool::BATCH_SESSIONS;
use crate::store::{Reader, Writer};
use crate::summarize::{EarlierWords, ModelRequest, SummaryInput};
use crate::sys::failpoints;
use crate::sys::progress::Progress;
use crate::sys::shutdown;
use transcripts::session::hash_parts;

/// Roughly how many items the sessions of one transaction may have.
const BATCH_ITEMS: usize = 20_000;

/// What is stored in one transaction. Where it is lost, it is made again from the same records.
#[derive(Default)]
struct DigestBatch {
    made: Vec<(SessionHead, Option<SkipReason>, Vec<OpenItem>, MadeDigest)>,
    items: usize,
    /// Of these sessions, stored with the digests.
    documents: DocumentBatch,
}

impl DigestBatch {
    fn add(&mut self, head: &SessionHead, skip: Option<&SkipReason>, (open, mut made): (Vec<OpenItem>, MadeDigest)) {
        self.items += made.items;
        if let Some(document) = made.document.take() {
            self.documents.add(head.clone(), document);
        }
        self.made.push((head.clone(), skip.cloned(), open, made));
    }

    fn is_full(&self) -> bool {
        self.made.len() >= SESSIONS_TOGETHER || self.items >= BATCH_ITEMS || self.documents.is_full()
    }
}

/// A digest ready to be stored.
pub(super) struct MadeDigest {
    input_hash: [u8; 32],
    /// `None`: the stored digest is still valid.
    digest: Option<(PackedDigest, PackedAccount)>,
    /// `None`: the stored digest inputs are still valid.
    basis: Option<DigestInputs>,
    /// Number of items of its session, if it is new.
    items: usize,
    /// The session's search document with this digest, if it is new and the session was at hand whole.
    document: Option<MadeDocument>,
    /// The session's whole account and its bytes of JSON, if it is new and there is room for the session until its page is made.
    whole: Option<(SessionAccount, usize)>,
}

impl MadeDigest {
    /// The stored digest is still valid; `basis` replaces its inputs.
    fn as_stored(input_hash: [u8; 32], basis: Option<DigestInputs>) -> Self {
        Self { input_hash, digest: None, basis, items: 0, document: None, whole: None }
    }
}

/// What becomes of a session without the model.
pub(crate) struct MadeWithoutModel {
    /// Else the stored digest is still valid.
    pub(crate) is_new: bool,
    /// It waits for the model.
    pub(crate) is_queued: bool,
}

impl DigestMaker<'_> {
    /// Whether it is already known that the model is not asked about a session.
    pub(super) fn goes_without_model(&self, not_now: Option<&SkipReason>) -> bool {
        !self.config.digest.summarizer.may_ask_model() || self.model.is_err() || not_now.is_some()
    }

    /// Why the digest is made without the model although the config wants it; `None` if the config does not.
    fn why_without_model(&self, not_now: Option<SkipReason>) -> Option<SkipReason> {
        match &self.model {
            _ if not_now.as_ref().is_some_and(SkipReason::is_final) || !self.config.digest.summarizer.may_ask_model() => None,
            Err(why) => Some(SkipReason::ModelUnavailable(why.clone())),
            Ok(_) => not_now,
        }
    }

    /// What a run makes of a session without the model; `None` where the model makes its digest.
    pub(crate) fn would_make_without_model(
        &self,
        store: &Reader,
        head: &SessionHead,
        not_now: Option<&SkipReason>,
    ) -> Result<Option<MadeWithoutModel>> {
        if !self.goes_without_model(not_now) {
            return Ok(None);
        }
        let would_wait = self.why_without_model(not_now.cloned()).is_some();
        let Some(before) = store.digest_state(head.pk)? else {
            return Ok(Some(MadeWithoutModel { is_new: true, is_queued: would_wait }));
        };
        let is_new = self.made_without_model(store, head, would_wait)?.1.digest.is_some();
        Ok(Some(MadeWithoutModel { is_new, is_queued: if is_new { would_wait } else { before.queued } }))
    }

    pub(super) fn make_without_model(
        &self,
        run: &mut RunState<'_>,
        sessions: Vec<(SessionHead, Option<SkipReason>)>,
    ) -> Result<()> {
        let mut sessions: Vec<_> = sessions.into_iter().map(|(head, not_now)| (head, self.why_without_model(not_now))).collect();
        sessions.sort_by(|(a, _), (b, _)| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
        let (store, report, bar) = (&*run.store, &mut *run.report, &run.bar);
        let seen = store.others_version()?;
        let mut put = |batch| self.store_batch(store, seen, report, bar, batch);
        let make =
            |store: &Reader, (head, skip): &(SessionHead, Option<SkipReason>)| self.made_without_model(store, head, skip.is_some());
        sessions.chunks(BATCH_SESSIONS).try_for_each(|part| {
            let mut batch = DigestBatch::default();
            let made = store.map_in_order(shutdown::requested, part, make, |(head, skip), made| {
                batch.add(head, skip.as_ref(), made?);
                if batch.is_full() { put(std::mem::take(&mut batch)) } else { Ok(()) }
            });
            // Those before one that cannot be read are stored, too.
            let stored = put(batch);
            made.and(stored)
        })
    }

    /// Stores digests, with their documents while the index is as others left it when these were made: `seen` is its version then.
    fn store_batch(&self, store: &Writer, seen: i64, report: &mut Report, bar: &Progress, batch: DigestBatch) -> Result<()> {
        if batch.made.is_empty() {
            return Ok(());
        }
        failpoints::point("digests ready");
        store.in_transaction(|| {
            batch
                .made
                .into_iter()
                .try_for_each(|(head, skip, open, made)| self.put_made(store, report, bar, &head, skip.as_ref(), (&open, made)))?;
            // The user may have taken out what a document says.
            if store.others_version()? == seen { batch.documents.enter(store) } else { Ok(()) }
        })?;
        failpoints::point("digests stored");
        Ok(())
    }

    /// Makes a session's digest; also returns the open items it was given.
    fn made_without_model(&self, store: &Reader, head: &SessionHead, queued: bool) -> Result<(Vec<OpenItem>, MadeDigest)> {
        if head.only_shown
            && let Some(holds) = self.reuse_if_valid(store, head, queued)?
        {
            return Ok((Vec::new(), holds));
        }
        let left = self.left.of(head.pk);
        // Hold the lock only until the open items are known: other workers wait for those, not for the whole digest.
        let mut known = lock_unpoisoned(&left);
        let session = store.load_session(head)?;
        *known = Some(open_items(left_open(&session), head));
        drop(known);
        let open = self.open_before(store, head, session.began_at())?;
        let input = SummaryInput { session, open, offered: EarlierWords::default(), request: ModelRequest::default() };
        let mut made = self.made(store, head, &input, queued)?;
        if let Some((account, bytes)) = made.whole.take() {
            self.in_hand.put(head.pk, bytes, SessionInHand { session: input.session, account });
        }
        Ok((input.open, made))
    }

    /// The digest of a session whose own records are unchanged, if it is still valid: either the earlier sessions left the same
    /// items open, or the session closes exactly the same ones of what they left open now.
    fn reuse_if_valid(&self, store: &Reader, head: &SessionHead, queued: bool) -> Result<Option<MadeDigest>> {
        let Some(basis) = store.digest_inputs_of(head)? else { return Ok(None) };
        let Some(stored) = store.digest_of(head.pk)?.filter(|s| !s.is_by_model() && s.queued == queued) else {
            return Ok(None);
        };
        let open = self.open_before(store, head, basis.began)?;
        if open.iter().map(|item| &item.id).eq(&basis.shown) {
            return Ok(Some(MadeDigest::as_stored(stored.input_hash, None)));
        }
        let session = store.load_session(head)?;
        if closed_items(&open, &deeds(&session, &SessionAccount::of(&session, false))) != stored.digest.closes {
            return Ok(None);
        }
        let input = SummaryInput { session, open, offered: EarlierWords::default(), request: ModelRequest::default() };
        Ok(Some(MadeDigest::as_stored(hash_of(&input)?.0, Some(basis.with_shown(&input.open)))))
    }

    /// Makes a digest without the model and stores it. `skip` says why the model did not make it although the config wants it.
    pub(super) fn make_one_without_model(
        &self,
        run: &mut RunState<'_>,
        head: &SessionHead,
        input: &SummaryInput,
        skip: Option<SkipReason>,
    ) -> Result<()> {
        let made = self.made(run.store, head, input, skip.is_some())?;
        let (store, report, bar) = (&*run.store, &mut *run.report, &run.bar);
        store.in_transaction(|| self.put_made(store, report, bar, head, skip.as_ref(), (&input.open, made)))?;
        failpoints::point("digest stored");
        Ok(())
    }

    /// A digest, or that the stored one is still valid.
    fn made(&self, store: &Reader, head: &SessionHead, input: &SummaryInput, queued: bool) -> Result<MadeDigest> {
        let (input_hash, bytes) = hash_of(input)?;
        let left = open_items(left_open(&input.session), head);
        let basis = Some(DigestInputs::new(input.session.began_at(), &input.open, &left));
        let state = store.digest_state(head.pk)?;
        let holds =
            |s: &DigestState| s.summarizer == WITHOUT_MODEL && !s.interim && s.input_hash == input_hash && s.queued == queued;
        let same = state.as_ref().is_some_and(holds);
        let paid = state.is_some_and(|s| is_by_model(&s.summarizer)) && !head.dirty;
        if same || paid && self.wanted.asked_for != Some(SummarizerChoice::Extract) {
            return Ok(MadeDigest::as_stored(input_hash, basis));
        }
        let account = SessionAccount::of(&input.session, false);
        let digest = self.digest_of(input, &account);
        let document = store.document_at_hand(head, &input.session, &digest)?;
        let whole = self.in_hand.has_room().then(|| (account.clone(), bytes));
        let account = PackedAccount::new(AccountToStore::new(&input.session, account))?;
        let digest = Some((PackedDigest::new(digest, Some(&account))?, account));
        Ok(MadeDigest { input_hash, digest, basis, items: input.session.entries.len(), document, whole })
    }

    /// The digest of a session with this account, with the open items of earlier sessions that it closes.
    pub(super) fn digest_of(&self, input: &SummaryInput, account: &SessionAccount) -> Digest {
        let closes = closed_items(&input.open, &deeds(&input.session, account));
        self.passed(Digest { closes, ..digest(&input.session, account) })
    }

    /// Stores within a transaction of the caller's.
    fn put_made(
        &self,
        store: &Writer,
        report: &mut Report,
        bar: &Progress,
        head: &SessionHead,
        skip: Option<&SkipReason>,
        (open, made): (&[OpenItem], MadeDigest),
    ) -> Result<()> {
        match made.digest {
            None => {
                store.refresh_pages(head.pk)?;
                made.basis.iter().try_for_each(|basis| store.record_digest_inputs(head.pk, &made.input_hash, basis))?;
            }
            Some((digest, account)) => {
                let new = NewDigest {
                    summarizer: WITHOUT_MODEL,
                    model: None,
                    input_hash: made.input_hash,
                    made_at: self.now,
                    cost_usd: None,
                    queued: skip.is_some(),
                    interim_until: None,
                    open,
                    basis: made.basis,
                    digest,
                    account: Some(&account),
                };
                store.put_digest(head, &new)?;
                report.sessions_digested += 1;
                report.digests_without_model += 1;
            }
        }
        if let Some(skip) = skip {
            store.record_skip(head.pk, &skip.to_string())?;
        }
        bar.advance(1);
        Ok(())
    }
}

/// Hash of everything that a digest without a model depends on, and the bytes of the session's JSON.
fn hash_of(input: &SummaryInput) -> Result<([u8; 32], usize)> {
    let mut bytes = Vec::new();
    for entry in &input.session.entries {
        bytes.extend_from_slice(&entry.key.0);
        serde_json::to_writer(&mut bytes, &(&entry.at, &entry.agent, &entry.item, &entry.outcome))?;
    }
    let open: Vec<&str> = input.open.iter().map(|o| o.id.as_str()).collect();
    Ok((hash_parts(&[b"extract", &ACCOUNT_RULES.to_le_bytes(), &bytes, open.join(" ").as_bytes()]), bytes.len()))
}
