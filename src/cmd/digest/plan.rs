//! Which sessions of the index want a digest now, by whom, and why the others get none.

use std::collections::HashSet;

use anyhow::{Context, Result};

use super::make::Maker;
use crate::cli::DigestArgs;
use crate::cmd::filter::{ProjectFilter, since};
use crate::config::{Config, SummarizerChoice};
use crate::moment::duration;
use crate::select::{Skip, Standing, deserves, may_retry};
use crate::session::Millis;
use crate::store::Store;
use crate::store::load::SessionHead;

/// What the command line asks for.
pub struct Wanted {
    pub since: Millis,
    pub project: ProjectFilter,
    pub session: Option<String>,
    pub limit: usize,
    pub asked_for: Option<SummarizerChoice>,
    pub settle: Millis,
}

impl Wanted {
    pub fn of(args: &DigestArgs, config: &Config) -> Result<Self> {
        Ok(Self {
            since: since(args.since.as_deref(), config)?,
            project: ProjectFilter::new(args.project.as_deref(), config)?,
            session: args.session.clone(),
            limit: args.limit.unwrap_or(usize::MAX),
            asked_for: args.summarizer,
            settle: match &args.settle {
                Some(text) => duration(text).context("--settle")?,
                None => config.digest.settle_minutes as Millis * 60_000,
            },
        })
    }
}

/// How the sessions of a run are to be digested.
#[derive(Default)]
pub struct Plan {
    /// Sessions that want a digest, newest first, and why the model is not to make it.
    pub chosen: Vec<(SessionHead, Option<Skip>)>,
    pub skipped: Vec<(SessionHead, Skip)>,
    /// Sessions whose digest holds although something around them was stored.
    pub unchanged: Vec<SessionHead>,
    /// Sessions that go on and want a digest so far.
    pub interim: Vec<SessionHead>,
    /// Many sessions at once that never had a digest: without the model, and final until asked again.
    pub backlog: Vec<SessionHead>,
}

impl Maker<'_> {
    /// Which sessions want a digest, who makes it, and why others get none.
    pub fn plan(&self, store: &Store) -> Result<Plan> {
        let mut plan = Plan::default();
        let candidates = self.candidates(store, &mut plan)?;
        plan.backlog = self.backlog(store, &candidates)?;
        let backlog: HashSet<i64> = plan.backlog.iter().map(|head| head.pk).collect();
        let mut for_model = 0;
        for (at, head) in candidates.into_iter().enumerate() {
            if at >= self.wanted.limit {
                plan.skipped.push((head, Skip::Limit));
                continue;
            }
            let not_now = self.not_for_model(store, &head, &backlog, for_model)?;
            for_model += usize::from(not_now.is_none());
            plan.chosen.push((head, not_now));
        }
        Ok(plan)
    }

    /// The sessions that want a digest now, in the order in which they get one. What becomes of the others is noted in the plan.
    fn candidates(&self, store: &Store, plan: &mut Plan) -> Result<Vec<SessionHead>> {
        let only = self.wanted.session.as_deref().map(|id| store.find_session(id)).transpose()?;
        let mut candidates: Vec<SessionHead> = Vec::new();
        let asked = only.is_some();
        let heads = match only {
            Some(head) => vec![head],
            None => store.waiting_heads(self.wanted.asked_for == Some(SummarizerChoice::Claude))?,
        };
        for head in heads {
            if !self.is_asked_for(&head) || !self.wants_digest(store, &head, asked)? {
                continue;
            }
            match self.standing(store, &head).map(|s| deserves(&s, self.now, if asked { 0 } else { self.wanted.settle }))? {
                Ok(()) if !asked && self.is_unchanged(store, &head)? => plan.unchanged.push(head),
                Ok(()) => candidates.push(head),
                Err(Skip::Unsettled(_)) if self.is_interim_due(store, &head)? => plan.interim.push(head),
                Err(skip) => plan.skipped.push((head, skip)),
            }
        }
        // Newest first: what was done last is asked for first. But what the model failed on comes last: if the session itself is what it
        // fails on, the others must not wait behind it.
        let in_vain = store.tried_in_vain()?;
        candidates.sort_by_key(|h| (in_vain.contains(&h.pk), std::cmp::Reverse((h.started_at, h.id.clone()))));
        Ok(candidates)
    }

    /// Those among the candidates that never had a digest; of few enough for the model those that an earlier run found among more. Whether
    /// there is a model now does not matter: it would be asked about them all once it is there.
    fn backlog(&self, store: &Store, candidates: &[SessionHead]) -> Result<Vec<SessionHead>> {
        let mut backlog = Vec::new();
        // Who names the model or a session means it.
        let meant = self.wanted.asked_for == Some(SummarizerChoice::Claude) || self.wanted.session.is_some();
        if meant || self.config.digest.summarizer == SummarizerChoice::Extract {
            return Ok(backlog);
        }
        let mut known = Vec::new();
        for head in candidates {
            if store.digest_state(head.pk)?.is_none_or(|state| state.interim) {
                if store.skip_of(head.pk)?.is_some_and(|why| why == Skip::Backlog.to_string()) {
                    known.push(head.clone());
                }
                backlog.push(head.clone());
            }
        }
        Ok(if backlog.len() > self.config.digest.backlog { backlog } else { known })
    }

    /// Why the model is not asked about a session in this run.
    fn not_for_model(&self, store: &Store, head: &SessionHead, backlog: &HashSet<i64>, taken: usize) -> Result<Option<Skip>> {
        if backlog.contains(&head.pk) {
            return Ok(Some(Skip::Backlog));
        }
        if let Err(why) = &self.model {
            return Ok(Some(Skip::NoModel(why.clone())));
        }
        if taken >= self.config.digest.max_sessions {
            return Ok(Some(Skip::Limit));
        }
        let failed = store.failures_of(head.pk)?.filter(|_| self.wanted.session.is_none());
        Ok(failed.and_then(|(times, last)| may_retry(times, last, head.grew_at, self.now).err()))
    }

    /// Is the model's digest made from just what it would be given now? Then it holds, whatever was stored around it.
    fn is_unchanged(&self, store: &Store, head: &SessionHead) -> Result<bool> {
        let Some(state) = store.digest_state(head.pk)?.filter(|s| s.summarizer == "claude") else { return Ok(false) };
        // What was paid for holds, whether the model can be had in this run or not.
        Ok(state.input_hash == self.input_with(store, head, true)?.request.hash(&self.config.digest.model))
    }

    fn is_asked_for(&self, head: &SessionHead) -> bool {
        self.wanted.project.fits(&head.project)
            && (head.grew_at >= self.wanted.since || (head.started_at != Millis::MAX && head.started_at >= self.wanted.since))
    }

    fn wants_digest(&self, store: &Store, head: &SessionHead, asked: bool) -> Result<bool> {
        if head.dirty || asked {
            return Ok(true);
        }
        let Some(state) = store.digest_state(head.pk)? else { return Ok(false) };
        let upgrade = self.wanted.asked_for == Some(SummarizerChoice::Claude) && state.summarizer == "extract";
        let downgrade_to_final = self.wanted.asked_for == Some(SummarizerChoice::Extract) && state.queued;
        Ok(self.model.is_ok() && (state.queued || upgrade) || downgrade_to_final)
    }

    fn standing(&self, store: &Store, head: &SessionHead) -> Result<Standing> {
        // What its digest was made of is there, and is both.
        let is_known = head.only_shown && store.basis_of(head)?.is_some();
        let (has_prompt, has_work) = if is_known { (true, true) } else { store.has_prompt_and_work(head)? };
        Ok(Standing { grew_at: head.grew_at, ended_at: head.ended_at, has_prompt, has_work })
    }
}
