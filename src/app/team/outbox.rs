//! What has to go to the server: computed from what it may have and what it was told, kept before it is sent.
//!
//! ## Invariants
//! A version is given once: what changed after a version was kept gets a higher one, also if nobody knows whether that was sent. What is to be
//! withdrawn goes first.

use std::collections::BTreeSet;

use anyhow::Result;
use team::{Policies, Record};

use super::exchange::record_id;
use super::state::{ItemId, SharedItem, TeamState};
use super::to_share::{SharedText, ToShare};
use transcripts::session::Millis;

/// What the server refused is sent again after so long: an access or a policy may have changed.
const ASK_AGAIN_AFTER: Millis = 86_400_000;

impl TeamState {
    /// Takes note of what changed since the last exchange. Keep the state before anything of it is sent.
    pub(super) fn plan(&mut self, to_share: &ToShare<'_>) {
        for (id, hash) in to_share.hashes() {
            let known = self.shared.get(id);
            if known.is_none_or(|known| known.gone || known.hash != hash) {
                let stands = known.is_some_and(|known| known.arrived || known.stands);
                let version = self.next_version();
                let new = SharedItem { version, hash, gone: false, arrived: false, stands, refused: None, described_by: None };
                self.shared.insert(id.clone(), new);
            }
        }
        let gone: Vec<ItemId> =
            self.shared.iter().filter(|(id, known)| !known.gone && !to_share.contains(id)).map(|(id, _)| id.clone()).collect();
        for id in gone {
            let version = self.next_version();
            let new = SharedItem { version, hash: 0, gone: true, arrived: false, stands: false, refused: None, described_by: None };
            self.shared.insert(id, new);
        }
    }

    fn next_version(&mut self) -> i64 {
        self.last_version += 1;
        self.last_version
    }

    /// What may be shared now. Where that changed, what stayed here is tried again.
    pub(super) fn heard_policies(&mut self, policies: Policies) {
        if self.policies != policies {
            self.policies = policies;
            self.shared.values_mut().for_each(|one| one.refused = None);
        }
    }

    /// Why a policy of the team keeps something here, as far as is known here.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn why_kept(&self, id: &ItemId, to_share: &ToShare<'_>) -> Result<Option<String>> {
        if let Some(why) = self.policies.refusal(&record_id(id)) {
            return Ok(Some(why));
        }
        if !self.policies.limits_size(&record_id(id)) {
            return Ok(None);
        }
        let Some(SharedText { body, search }) = to_share.text(id)? else { return Ok(None) };
        Ok(self.policies.refusal_of(&Record { id: record_id(id), version: 0, body, search }))
    }

    /// Those of these of which the server still has what they said before. They get a new version, for when they may be shared.
    pub(super) fn outdated(&mut self, refused: &[(ItemId, String)]) -> Vec<(ItemId, i64)> {
        let mut all = Vec::new();
        for (id, _) in refused {
            let next = self.last_version + 1;
            let Some(one) = self.shared.get_mut(id).filter(|one| one.stands) else { continue };
            all.push((id.clone(), one.version));
            one.version = next;
            self.last_version = next;
        }
        all
    }

    /// The server has forgotten what these said before.
    pub(super) fn none_stands(&mut self, outdated: &[(ItemId, i64)]) {
        for (id, _) in outdated {
            if let Some(one) = self.shared.get_mut(id) {
                one.stands = false;
            }
        }
    }

    /// What is to be withdrawn from the server.
    pub(super) fn to_withdraw(&self) -> Vec<(ItemId, i64)> {
        self.shared.iter().filter(|(_, one)| one.gone).map(|(id, one)| (id.clone(), one.version)).collect()
    }

    /// What is to be sent; `all`: also what the server refused a short while ago.
    pub(super) fn to_send(&self, now: Millis, all: bool) -> Vec<(ItemId, i64)> {
        let may_ask =
            |one: &SharedItem| one.refused.as_ref().is_none_or(|(_, at)| all || !(*at..*at + ASK_AGAIN_AFTER).contains(&now));
        let waiting = self.shared.iter().filter(|(_, one)| !one.gone && !one.arrived && may_ask(one));
        waiting.map(|(id, one)| (id.clone(), one.version)).collect()
    }

    /// The server forgot these.
    pub(super) fn withdrawn(&mut self, ids: &[(ItemId, i64)]) {
        ids.iter().for_each(|(id, _)| _ = self.shared.remove(id));
    }

    /// The server has these, but for those that it refused. Returns how many it took.
    pub(super) fn sent(&mut self, ids: &BTreeSet<ItemId>, refused: &[(ItemId, String)], now: Millis) -> usize {
        let mut taken = 0;
        for id in ids {
            let Some(one) = self.shared.get_mut(id) else { continue };
            one.refused = refused.iter().find(|(other, _)| other == id).map(|(_, why)| (why.clone(), now));
            one.arrived = one.refused.is_none();
            one.stands &= !one.arrived;
            taken += usize::from(one.arrived);
        }
        taken
    }

    /// What the server has and was given no vectors of by this model.
    pub(super) fn to_describe(&self, model: &str) -> Vec<(ItemId, i64)> {
        let waiting = self.shared.iter().filter(|(_, one)| one.arrived && !one.gone && one.described_by.as_deref() != Some(model));
        waiting.map(|(id, one)| (id.clone(), one.version)).collect()
    }

    /// The server was given vectors of these by this model.
    pub(super) fn described(&mut self, ids: &[(ItemId, i64)], model: &str) {
        for (id, _) in ids {
            if let Some(one) = self.shared.get_mut(id) {
                one.described_by = Some(model.to_owned());
            }
        }
    }

    /// The server keeps no vectors, or none any more.
    pub(super) fn forget_described(&mut self) {
        self.shared.values_mut().for_each(|one| one.described_by = None);
    }
}
