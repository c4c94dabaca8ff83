//! Plans a run: which sessions get a digest, made by whom, and why the others get none.

mod price;

use std::collections::HashSet;

use anyhow::Result;

pub(super) use self::price::ModelCost;
use crate::analyze::eligibility::{SessionActivity, SkipReason, check_ready, is_interim_due, may_retry};
use crate::app::digest::maker::DigestMaker;
use crate::config::SummarizerChoice;
use crate::model::digest::is_by_model;
use crate::model::session_head::SessionHead;
use crate::store::Reader;
use crate::store::digests::DigestState;
use transcripts::session::Millis;

/// How a run treats the sessions of the index.
#[derive(Default)]
pub(crate) struct DigestPlan {
    /// Sessions to digest, newest first, each with the reason why the model does not make the digest, if any.
    pub(crate) chosen: Vec<(SessionHead, Option<SkipReason>)>,
    pub(crate) skipped: Vec<(SessionHead, SkipReason)>,
    /// Sessions whose digest is still valid although related records were stored.
    pub(crate) unchanged: Vec<SessionHead>,
    /// Live sessions that are due for an interim digest.
    pub(crate) interim: Vec<SessionHead>,
    /// Sessions that never had a digest, if there are many: digested without the model, which is final until asked again.
    pub(crate) backlog: Vec<SessionHead>,
    /// Sessions that the model was asked for and does not reach in this run; their digest without it stays as it is.
    pub(crate) left: Vec<SessionHead>,
    /// What the model's part costs.
    pub(crate) cost: ModelCost,
}

impl DigestPlan {
    /// Sessions whose digest the model makes, newest first.
    pub(crate) fn for_model(&self) -> impl Iterator<Item = &SessionHead> {
        self.chosen.iter().filter(|(_, not_now)| not_now.is_none()).map(|(head, _)| head)
    }
}

impl DigestMaker<'_> {
    /// Which sessions get a digest, who makes it, and why the others get none. With `newest` the model makes those of the newest sessions
    /// up to that number, of a backlog, too.
    pub(crate) fn plan(&self, store: &Reader, newest: Option<usize>) -> Result<DigestPlan> {
        store.in_snapshot(|| self.planned(store, newest))
    }

    fn planned(&self, store: &Reader, newest: Option<usize>) -> Result<DigestPlan> {
        let mut plan = DigestPlan::default();
        let candidates = self.candidates(store, &mut plan)?;
        let backlog = self.backlog(store, &candidates)?;
        let is_asked = newest.is_some() || self.wanted.names_model();
        let most = newest.unwrap_or(self.config.digest.max_sessions);
        let mut for_model = 0;
        plan.chosen.reserve_exact(candidates.len());
        for (at, head) in candidates.into_iter().enumerate() {
            if at >= self.wanted.limit {
                plan.skipped.push((head, SkipReason::RunLimit));
                continue;
            }
            let not_now = match backlog.contains(&head.pk) && !is_asked {
                true => Some(SkipReason::Backlog),
                false => self.not_for_model(store, &head, for_model >= most)?,
            };
            for_model += usize::from(not_now.is_none());
            plan.chosen.push((head, not_now));
        }
        self.fit_budget(store, &mut plan)?;
        self.leave_backlog(store, &mut plan, &backlog)?;
        Ok(plan)
    }

    /// Whoever asks for a backlog asks for what this run makes of it. The rest does not wait for the model: no later run buys it unasked.
    fn leave_backlog(&self, store: &Reader, plan: &mut DigestPlan, backlog: &HashSet<i64>) -> Result<()> {
        let mut left = HashSet::new();
        for (head, not_now) in &plan.chosen {
            if not_now.is_some() && self.wanted.session.is_none() && self.is_final(store, head)? {
                left.insert(head.pk);
            }
        }
        plan.left.extend(plan.chosen.extract_if(.., |(head, _)| left.contains(&head.pk)).map(|(head, _)| head));
        for (head, not_now) in plan.chosen.iter_mut().filter(|(head, not_now)| not_now.is_some() && backlog.contains(&head.pk)) {
            plan.backlog.push(head.clone());
            *not_now = Some(SkipReason::Backlog);
        }
        Ok(())
    }

    /// Whether a session is only here because the model was asked for: it has its digest without the model, which waits for nothing.
    fn is_final(&self, store: &Reader, head: &SessionHead) -> Result<bool> {
        let is_final = |s: DigestState| !is_by_model(&s.summarizer) && !s.queued && !s.interim;
        Ok(!head.dirty && store.digest_state(head.pk)?.is_some_and(is_final))
    }

    /// Sessions to digest now, in working order. The others are recorded in the plan.
    fn candidates(&self, store: &Reader, plan: &mut DigestPlan) -> Result<Vec<SessionHead>> {
        let only = self.wanted.session.as_deref().map(|id| store.find_session(id)).transpose()?;
        let asked = only.is_some();
        let heads = match only {
            Some(head) => vec![head],
            None => store.waiting_heads(self.wanted.names_model())?,
        };
        let candidate = |head: SessionHead| {
            if !self.is_asked_for(&head) || !self.wants_digest(store, &head, asked)? {
                return Ok(None);
            }
            match self.standing(store, &head).map(|s| check_ready(&s, self.now, if asked { 0 } else { self.wanted.settle }))? {
                Ok(()) if !asked && self.is_unchanged(store, &head)? => plan.unchanged.push(head),
                Ok(()) => return Ok(Some(head)),
                Err(SkipReason::Unsettled(_)) if self.is_interim_due(store, &head)? => plan.interim.push(head),
                Err(skip) => plan.skipped.push((head, skip)),
            }
            Ok(None)
        };
        // In the memory of the list: there may be many.
        let mut candidates: Vec<SessionHead> =
            heads.into_iter().map(candidate).filter_map(Result::transpose).collect::<Result<_>>()?;
        // Newest first, because recent work is asked for first. Sessions on which the model failed come last: if the session is
        // the cause, the others must not wait behind it.
        let in_vain = store.unanswered_sessions()?;
        candidates.sort_by_key(|h| (in_vain.contains(&h.pk), std::cmp::Reverse((h.started_at, h.id.clone()))));
        Ok(candidates)
    }

    /// Candidates that never had a digest, if there are more than `digest.backlog`; otherwise those that an earlier run
    /// put into the backlog. Independent of whether a model is available now: once it is, it would be asked about all of them.
    fn backlog(&self, store: &Reader, candidates: &[SessionHead]) -> Result<HashSet<i64>> {
        let (mut backlog, mut known) = (HashSet::new(), HashSet::new());
        // Naming a session on the command line overrides the backlog.
        if self.wanted.session.is_some() || !self.config.digest.summarizer.may_ask_model() {
            return Ok(backlog);
        }
        for head in candidates.iter().filter(|head| self.config.sources.may_show_model(head.client)) {
            if store.digest_state(head.pk)?.is_none_or(|state| state.interim) {
                if store.skip_of(head.pk)?.is_some_and(|why| why == SkipReason::Backlog.to_string()) {
                    known.insert(head.pk);
                }
                backlog.insert(head.pk);
            }
        }
        Ok(if backlog.len() > self.config.digest.backlog { backlog } else { known })
    }

    /// Why the model is not asked about a session in this run; `is_full`: it is asked about as many as it may be.
    fn not_for_model(&self, store: &Reader, head: &SessionHead, is_full: bool) -> Result<Option<SkipReason>> {
        if !self.config.sources.may_show_model(head.client) {
            return Ok(Some(SkipReason::NotForModel(head.client)));
        }
        if let Err(why) = &self.model {
            return Ok(Some(SkipReason::ModelUnavailable(why.clone())));
        }
        if is_full {
            return Ok(Some(SkipReason::RunLimit));
        }
        let failed = store.failures_of(head.pk)?.filter(|_| self.wanted.session.is_none());
        Ok(failed.and_then(|failed| may_retry(failed, head.grew_at, self.now).err()))
    }

    /// Whether the model's digest was made from exactly the record it would get now. If so, it stays valid whatever else was
    /// stored, and whatever earlier sessions leave open now.
    fn is_unchanged(&self, store: &Reader, head: &SessionHead) -> Result<bool> {
        let Some(state) = store.digest_state(head.pk)?.filter(|s| is_by_model(&s.summarizer)) else { return Ok(false) };
        if head.only_shown {
            return Ok(true);
        }
        // Uses the config's model: a digest that was paid for stays valid even if the model is not available in this run.
        Ok(state.input_hash == self.input_with(store, head, true)?.request.hash(&state.summarizer, &self.config.digest.model))
    }

    fn is_asked_for(&self, head: &SessionHead) -> bool {
        self.wanted.project.fits(&head.project)
            && (head.grew_at >= self.wanted.since || (head.started_at != Millis::MAX && head.started_at >= self.wanted.since))
    }

    fn wants_digest(&self, store: &Reader, head: &SessionHead, asked: bool) -> Result<bool> {
        if head.dirty || asked {
            return Ok(true);
        }
        let Some(state) = store.digest_state(head.pk)? else { return Ok(false) };
        let upgrade = self.wanted.names_model() && !is_by_model(&state.summarizer);
        let downgrade_to_final = self.wanted.asked_for == Some(SummarizerChoice::Extract) && state.queued;
        Ok(self.model.is_ok() && (state.queued || upgrade) || downgrade_to_final)
    }

    fn standing(&self, store: &Reader, head: &SessionHead) -> Result<SessionActivity> {
        // A session with stored digest inputs had both.
        let is_known = head.only_shown && store.digest_inputs_of(head)?.is_some();
        let (has_prompt, has_work) = if is_known { (true, true) } else { store.has_prompt_and_work(head)? };
        Ok(SessionActivity { grew_at: head.grew_at, ended_at: head.ended_at, has_prompt, has_work })
    }

    /// Whether a session that has not settled is due for an interim digest.
    pub(super) fn is_interim_due(&self, store: &Reader, head: &SessionHead) -> Result<bool> {
        let digested = store.digested_up_to(head.pk)?;
        if head.last_at <= digested {
            return Ok(false);
        }
        Ok(store.was_compacted(head.pk)? || is_interim_due(digested, &store.times_since(head, digested)?))
    }
}
