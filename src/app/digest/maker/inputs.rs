//! Inputs of a digest: the session, and the items that earlier sessions had left open when it began.

use anyhow::Result;

use super::{lock_unpoisoned, open_items};
use crate::analyze::without_model::left_open;
use crate::app::digest::maker::DigestMaker;
use crate::model::digest::OpenItem;
use crate::model::session_head::SessionHead;
use crate::policy::View;
use crate::store::Reader;
use crate::summarize::{EarlierWords, ModelRequest, SummaryInput, request};
use transcripts::session::Millis;

impl DigestMaker<'_> {
    /// Everything that a session's digest depends on.
    pub(crate) fn input(&self, store: &Reader, head: &SessionHead) -> Result<SummaryInput> {
        let mut input = self.input_with(store, head, self.model.is_ok())?;
        if self.model.is_ok() {
            input.offered.statements = self.standing_statements(store, head, &input.session)?;
            input.request.list_statements(&input.offered.statements, &self.sanitizer);
            input.request.list_instructions(&self.known_instructions(store, head, &input.session)?, &self.sanitizer);
        }
        Ok(input)
    }

    /// Like [`Self::input`], with or without the model's request, which takes time to build and is not always needed. It lists nothing that
    /// earlier sessions said: its hash does not depend on them.
    pub(crate) fn input_with(&self, store: &Reader, head: &SessionHead, with_request: bool) -> Result<SummaryInput> {
        let session = store.load_session(head)?;
        let open = self.open_before(store, head, session.began_at())?;
        if !with_request {
            return Ok(SummaryInput { session, open, offered: EarlierWords::default(), request: ModelRequest::default() });
        }
        let offered = EarlierWords { open: self.offered(store, head, session.began_at())?, statements: Vec::new() };
        let request = request(&session, &offered.open, &self.system, self.config.digest.input_chars, &self.sanitizer);
        Ok(SummaryInput { session, open, offered, request })
    }

    /// Items that earlier sessions had left open when this one began, those of the newest first. Derived from their records, never from
    /// their digests.
    pub(crate) fn open_before(&self, store: &Reader, head: &SessionHead, began: Option<Millis>) -> Result<Vec<OpenItem>> {
        self.open_of_earlier(store, head, began, |earlier, began| self.left_open(store, earlier, began))
    }

    /// The same for a model, with what a model said of a session in place of the session's own. Only digests of earlier runs count, so that a
    /// run asks what its dry run says, in whatever order its answers come in.
    fn offered(&self, store: &Reader, head: &SessionHead, began: Option<Millis>) -> Result<Vec<OpenItem>> {
        self.open_of_earlier(store, head, began, |earlier, began| {
            if !self.config.sources.may_show_model(earlier.client) {
                return Ok(Vec::new());
            }
            let has_ended = earlier.last_at.is_some_and(|last| last < began);
            match has_ended.then(|| store.claimed_open_items(earlier, self.now)).transpose()?.flatten() {
                Some(claimed) => Ok(claimed),
                None => self.left_open(store, earlier, began),
            }
        })
    }

    fn open_of_earlier(
        &self,
        store: &Reader,
        head: &SessionHead,
        began: Option<Millis>,
        open_of: impl Fn(&SessionHead, Millis) -> Result<Vec<OpenItem>>,
    ) -> Result<Vec<OpenItem>> {
        let Some(began) = began else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for earlier in store.earlier_sessions(head)? {
            if !self.is_isolated_from(store, &earlier, head)? {
                all.extend(open_of(&earlier, began)?);
            }
        }
        Ok(all)
    }

    /// Was the earlier session in an isolated folder that is not of the other's project?
    pub(super) fn is_isolated_from(&self, store: &Reader, earlier: &SessionHead, head: &SessionHead) -> Result<bool> {
        if self.config.isolate.is_empty() {
            return Ok(false);
        }
        let policy = self.config.policy(View::InFolder(&head.project.key));
        Ok(store.folders_of(earlier)?.iter().any(|folder| !policy.shows_folder(folder)))
    }

    fn left_open(&self, store: &Reader, head: &SessionHead, until: Millis) -> Result<Vec<OpenItem>> {
        if head.last_at.is_none_or(|last| last >= until) {
            let mut session = store.load_session(head)?;
            session.entries.retain(|e| e.at.is_none_or(|at| at < until));
            return Ok(open_items(left_open(&session), head));
        }
        let left = self.left.of(head.pk);
        let mut known = lock_unpoisoned(&left);
        if known.is_none() {
            *known = Some(match store.recorded_open_items(head)? {
                Some(left) => left,
                None => open_items(left_open(&store.load_session(head)?), head),
            });
        }
        Ok(known.clone().unwrap_or_default())
    }
}
