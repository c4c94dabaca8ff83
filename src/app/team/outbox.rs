//! What has to go to the server: computed from what it may have and what it was told, kept before it is sent.
//!
//! ## Invariants
//! A version is given once: what changed after a version was kept gets a higher one, also if nobody knows whether that was sent. What is to be
//! withdrawn goes first.

use std::collections::BTreeSet;

use super::state::{ItemId, SharedItem, TeamState};
use super::to_share::ToShare;
use crate::model::session::Millis;

/// What the server refused is sent again after so long: an access or a policy may have changed.
const ASK_AGAIN_AFTER: Millis = 86_400_000;

impl TeamState {
    /// Takes note of what changed since the last exchange. Keep the state before anything of it is sent.
    pub(super) fn plan(&mut self, to_share: &ToShare<'_>) {
        for (id, hash) in to_share.hashes() {
            if self.shared.get(id).is_none_or(|known| known.gone || known.hash != hash) {
                let version = self.next_version();
                self.shared.insert(
                    id.clone(),
                    SharedItem { version, hash, gone: false, arrived: false, refused: None, described_by: None },
                );
            }
        }
        let gone: Vec<ItemId> =
            self.shared.iter().filter(|(id, known)| !known.gone && !to_share.contains(id)).map(|(id, _)| id.clone()).collect();
        for id in gone {
            let version = self.next_version();
            self.shared.insert(id, SharedItem { version, hash: 0, gone: true, arrived: false, refused: None, described_by: None });
        }
    }

    fn next_version(&mut self) -> i64 {
        self.last_version += 1;
        self.last_version
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
