//! Standing instructions that a model named in earlier sessions of a project, so that it uses the same words for what the user says again.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;

use super::DigestMaker;
use crate::app::rules::mention_id;
use crate::model::session_head::SessionHead;
use crate::store::Reader;
use transcripts::session::Session;

impl DigestMaker<'_> {
    /// Their wordings, the newest first. Only digests of earlier runs count, so that a run asks what its dry run says.
    pub(super) fn known_instructions(&self, store: &Reader, head: &SessionHead, session: &Session) -> Result<Vec<String>> {
        let Some(began) = session.began_at() else { return Ok(Vec::new()) };
        let mut mentions = store.rule_mentions_before(&head.project.key, self.now)?;
        mentions.retain(|one| one.at < began && one.session != head.id && one.wording.is_some());
        if mentions.is_empty() {
            return Ok(Vec::new());
        }
        mentions.sort();
        let dismissed: BTreeSet<String> = store.dismissed_rules()?.into_iter().collect();
        let (mut wordings, mut may_show) = (Vec::new(), HashMap::new());
        for mention in mentions.into_iter().rev().filter(|one| !dismissed.contains(&mention_id(one))) {
            let is_shown = match may_show.get(&mention.session) {
                Some(is_shown) => *is_shown,
                None => {
                    let earlier = store.find_session(&mention.session)?;
                    let is_shown =
                        self.config.sources.may_show_model(earlier.client) && !self.is_isolated_from(store, &earlier, head)?;
                    may_show.insert(mention.session, is_shown);
                    is_shown
                }
            };
            wordings.extend(mention.wording.filter(|wording| is_shown && !wordings.contains(wording)));
        }
        Ok(wordings)
    }
}
